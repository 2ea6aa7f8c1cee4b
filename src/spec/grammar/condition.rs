//! `when …`: which requests a line speaks of.

use super::parser::Parser;
use super::token::Wrong;
use crate::spec::quantity::{count, tokens};
use crate::spec::{Condition, Field};

const FIELDS: &[(&str, Field)] = &[("input_tokens", Field::InputTokens), ("output_tokens", Field::OutputTokens), ("turn", Field::Turn)];

impl Field {
    /// Its word in specs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InputTokens => "input_tokens",
            Self::OutputTokens => "output_tokens",
            Self::Turn => "turn",
        }
    }
}

/// The clauses behind `when`, joined by `and`.
pub(super) fn condition(parser: &mut Parser<'_>) -> Result<Condition, Wrong> {
    let from = parser.here().start;
    let mut clauses = vec![clause(parser)?];
    while parser.take("and") {
        clauses.push(clause(parser)?);
    }
    for (_, field) in FIELDS {
        let lows = clauses.iter().filter(|clause| clause.0 == *field).map(|clause| clause.1).max();
        let highs = clauses.iter().filter(|clause| clause.0 == *field).map(|clause| clause.2).min();
        if lows.zip(highs).is_some_and(|(low, high)| low > high) {
            let message = format!("no request has such a {}", field.name());
            let end = parser.here().start.max(from + 1).min(parser.end());
            return Err(Wrong::new("contradictory", message, "the clauses of `when` must all hold at once", from..end));
        }
    }
    Ok(Condition { clauses })
}

fn clause(parser: &mut Parser<'_>) -> Result<(Field, u64, u64), Wrong> {
    let word = parser.next("input_tokens, output_tokens or turn")?;
    let field = FIELDS.iter().find(|(name, _)| *name == word.text).map(|(_, field)| *field).ok_or_else(|| {
        let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        let message = format!("`when` cannot speak of `{}`", word.text);
        Wrong::new("unknown-field", message, crate::spec::issue::meant(word.text, &names), word.span())
    })?;
    if parser.take("in") {
        return range(parser, field);
    }
    let comparison = parser.next("<, <=, >, >= or `in A..B`")?;
    let value = parser.next("a number of tokens")?;
    let number = read(field, value.text).map_err(|bad| Wrong::from_bad(bad, value.span()))?;
    let empty = || {
        let message = format!("no request has {} {} {}", field.name(), comparison.text, value.text);
        Wrong::new("contradictory", message, "a scope must be able to hold a request", comparison.start..value.span().end)
    };
    Ok(match comparison.text {
        "<=" => (field, 0, number),
        "<" => (field, 0, number.checked_sub(1).ok_or_else(empty)?),
        ">=" => (field, number, u64::MAX),
        ">" => (field, number + 1, u64::MAX),
        other => {
            let message = format!("`{other}` is no comparison of `when`");
            return Err(Wrong::new("unknown-comparison", message, "write <, <=, >, >= or `in A..B`", comparison.span()));
        }
    })
}

fn range(parser: &mut Parser<'_>, field: Field) -> Result<(Field, u64, u64), Wrong> {
    let word = parser.next("a range, as `1k..8k`")?;
    let wrong = |message: String| Wrong::new("not-a-range", message, "write `1k..8k`; both ends are in", word.span());
    let (low, high) = word.text.split_once("..").ok_or_else(|| wrong(format!("`{}` is no range", word.text)))?;
    let low = read(field, low).map_err(|bad| wrong(bad.message))?;
    let high = read(field, high).map_err(|bad| wrong(bad.message))?;
    if low > high {
        return Err(wrong(format!("`{}` runs backwards", word.text)));
    }
    Ok((field, low, high))
}

fn read(field: Field, text: &str) -> Result<u64, crate::spec::quantity::Bad> {
    if field == Field::Turn { count(text) } else { tokens(text) }
}
