//! One line to a constraint or a rule.

use super::condition::condition;
use super::token::{Token, Wrong, tokens};
use super::value::{amount, change, example, limit};
use crate::metric::{Better, CATALOGUE, Metric, Per};
use crate::spec::issue::meant;
use crate::spec::quantity::{share, split, times};
use crate::spec::{Cmp, Condition, Constraint, Limit, Rule, RuleKind, Test};
use crate::units::Quantile;
use std::ops::Range;

/// The words of one line, from left to right.
pub(super) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    length: usize,
}

impl<'t> Parser<'t> {
    fn new(line: &'t str) -> Result<Self, Wrong> {
        Ok(Self { tokens: tokens(line)?, at: 0, length: line.len() })
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    /// The place of the next word, or of the end.
    pub(super) fn here(&self) -> Range<usize> {
        self.peek().map_or(self.length..self.length, |token| token.span())
    }

    pub(super) const fn end(&self) -> usize {
        self.length
    }

    /// The next word; a problem that says what is missing at the end.
    pub(super) fn next(&mut self, wanted: &str) -> Result<Token<'t>, Wrong> {
        let token = self.peek().ok_or_else(|| {
            let last = self.tokens.last().map_or(0..self.length, Token::span);
            Wrong::new("incomplete", format!("the line ends where {wanted} should follow"), format!("add {wanted}"), last)
        })?;
        self.at += 1;
        Ok(token)
    }

    /// The words from the given one on, as one would write them.
    fn words_from(&self, index: usize) -> String {
        let words: Vec<&str> = self.tokens.iter().skip(index).map(|token| token.text).collect();
        words.join(" ")
    }

    /// Whether the next word is `word`, which is then taken.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.text == word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), Wrong> {
        let token = self.next(&format!("`{word}`"))?;
        if token.text == word {
            return Ok(());
        }
        Err(Wrong::new(
            "unexpected-word",
            format!("`{word}` is expected here, not `{}`", token.text),
            format!("write `{word}`"),
            token.span(),
        ))
    }

    fn amount(&mut self, metric: Metric) -> Result<super::value::Amount<'t>, Wrong> {
        let token = self.next(&format!("a limit such as {}", example(metric)))?;
        let (amount, took_next) = amount(token, self.peek(), example(metric))?;
        self.at += usize::from(took_next);
        Ok(amount)
    }
}

/// A line of `slo.request`, or of `--what-if`.
pub(in crate::spec) fn constraint(line: &str) -> Result<Constraint, Wrong> {
    let mut parser = Parser::new(line)?;
    let (metric, place) = metric(&mut parser)?;
    one_request(metric, place)?;
    if let Some(token) = parser.peek().filter(|token| stat_word(token.text)) {
        let message = "a constraint speaks of one request, which has no percentile";
        let rest = parser.words_from(parser.at + 1);
        let rest = if rest.is_empty() { format!("{} …", direction_sign(metric)) } else { rest };
        let help = format!("write `{} {rest}`, or move the line to `require`", metric.name());
        return Err(Wrong::new("stat-in-constraint", message, help, token.span()));
    }
    if let Some(token) = parser.peek().filter(|token| matches!(token.text, "rises" | "drops")) {
        return Err(Wrong::new("regression-elsewhere", "one request has no baseline", "move the line to `slo.regression`", token.span()));
    }
    let cmp = comparison(&mut parser, metric)?;
    let amount = parser.amount(metric)?;
    let value = limit(metric, cmp, &amount)?;
    let tail = tail(&mut parser, &["when", "for"])?;
    Ok(Constraint { text: line.trim().to_owned(), metric, cmp, value, when: tail.when, part: tail.part })
}

/// A line of `slo.require`, `slo.regression` or `slo.advise`; its level is as written and not yet looked up.
pub(in crate::spec) fn rule(line: &str, kind: RuleKind) -> Result<Rule, Wrong> {
    let mut parser = Parser::new(line)?;
    let (metric, _) = metric(&mut parser)?;
    let stat = stat(&mut parser, metric)?;
    let verb = parser.peek().filter(|token| matches!(token.text, "rises" | "drops" | "falls" | "grows" | "increases" | "decreases"));
    let (mut test, allowed): (Test, &[&str]) = match verb {
        Some(verb) if kind == RuleKind::Require => {
            let message = format!("`{}` compares with a baseline", verb.text);
            return Err(Wrong::new("regression-elsewhere", message, "move the line to `slo.regression`", verb.span()));
        }
        Some(_) => (Test::Change { limit: changes(&mut parser, metric)? }, &["when", "at", "for"]),
        None if kind == RuleKind::Regression => {
            let verb = direction_verb(metric);
            let help = format!("write `{}{} {verb} <= …`, or move the line to `slo.require`", metric.name(), stat_text(stat));
            return Err(Wrong::new("no-change", "a regression rule says by how much a metric may get worse", help, parser.here()));
        }
        None => {
            let cmp = comparison(&mut parser, metric)?;
            let amount = parser.amount(metric)?;
            (Test::Absolute { cmp, value: limit(metric, cmp, &amount)?, share_of_rounds: None }, &["in", "when", "at", "for"])
        }
    };
    let tail = tail(&mut parser, allowed)?;
    if let Test::Absolute { share_of_rounds, .. } = &mut test {
        *share_of_rounds = tail.share_of_rounds;
    }
    let level = tail.level.unwrap_or_else(|| "1x".to_owned());
    Ok(Rule { text: line.trim().to_owned(), kind, metric, stat, test, when: tail.when, level, part: tail.part })
}

fn metric(parser: &mut Parser<'_>) -> Result<(Metric, Range<usize>), Wrong> {
    let word = parser.next("a metric, such as ttft or goodput")?;
    if let Some(second) = parser.peek().filter(|second| stat_word(word.text) && Metric::by_name(second.text).is_some()) {
        let help = format!("write `{} {} {}`", second.text, word.text, parser.words_from(parser.at + 1));
        return Err(Wrong::new("stat-first", "the percentile stands behind its metric", help, word.span()));
    }
    let found = Metric::by_name(word.text).ok_or_else(|| {
        let names: Vec<&str> = CATALOGUE.iter().map(|row| row.name).collect();
        let help = match word.text.to_lowercase().as_str() {
            "latency" | "e2el" | "request_latency" => "did you mean `e2e`?".to_owned(),
            "inter_token_latency" | "tbt" => "did you mean `tpot` (of one request) or `itl` (all gaps, pooled)?".to_owned(),
            "error_rate" | "failures" => "did you mean `errors`?".to_owned(),
            "throughput" => "did you mean `throughput_rps` or `throughput_tps`?".to_owned(),
            "rps" | "qps" => "did you mean `throughput_rps` or `goodput_rps`?".to_owned(),
            lower => meant(lower, &names),
        };
        Wrong::new("unknown-metric", format!("`{}` is no metric", word.text), help, word.span())
    })?;
    Ok((found, word.span()))
}

/// Constraints speak of one request only.
fn one_request(metric: Metric, place: Range<usize>) -> Result<(), Wrong> {
    let name = metric.name();
    match metric.row().per {
        Per::Request | Per::Session => Ok(()),
        Per::Gap => Err(Wrong::new(
            "pooled-metric",
            "itl pools the gaps of all answers, and one request has no such value",
            "of one request: `stall` is its longest gap, `tpot` its mean gap; `itl p99` may stand in `require`",
            place,
        )),
        Per::Ratio | Per::Rate | Per::Search => Err(Wrong::new(
            "service-metric",
            format!("{name} is of the whole service, not of one request"),
            "move the line to `require`",
            place,
        )),
    }
}

fn stat_word(text: &str) -> bool {
    let percentile = text.strip_prefix(['p', 'P']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    percentile || matches!(text, "mean" | "avg" | "average" | "median" | "max" | "min" | "std" | "sum")
}

fn stat(parser: &mut Parser<'_>, metric: Metric) -> Result<Option<Quantile>, Wrong> {
    let row = metric.row();
    let needed = matches!(row.per, Per::Request | Per::Session | Per::Gap);
    let tail = if row.better == Better::Low { "p95" } else { "p5" };
    let Some(token) = parser.peek().filter(|token| stat_word(token.text)) else {
        if needed {
            let message = format!("{} is a value of each {}: a rule needs a percentile of it", row.name, of_each(row.per));
            return Err(Wrong::new(
                "missing-stat",
                message,
                format!("write `{} {tail} {} …`", row.name, direction_sign(metric)),
                parser.here(),
            ));
        }
        return Ok(None);
    };
    parser.at += 1;
    if !needed {
        let message = format!("{} is one value of the whole service and has no `{}`", row.name, token.text);
        return Err(Wrong::new("stat-on-ratio", message, format!("write `{} {} …`", row.name, direction_sign(metric)), token.span()));
    }
    let percent = token.text.strip_prefix('p').and_then(split).filter(|(_, unit)| unit.is_empty());
    let quantile = percent.and_then(|(number, _)| number.parse().ok()).and_then(Quantile::from_percent);
    quantile.map(Some).ok_or_else(|| {
        let (message, help) = match token.text {
            "mean" | "avg" | "average" => {
                ("a mean cannot be a rule: a few slow requests hide in it", format!("write `{} p50` or `{} p95`", row.name, row.name))
            }
            "median" => ("the median is written `p50`", format!("write `{} p50`", row.name)),
            "max" | "min" => {
                ("an extreme of a sample is no property of the service", format!("write `{} p99` or `{} p99.9`", row.name, row.name))
            }
            _ => ("percentiles run from p0.1 to p99.9", format!("write `{} {tail}`", row.name)),
        };
        Wrong::new("unknown-stat", message, help, token.span())
    })
}

fn of_each(per: Per) -> &'static str {
    match per {
        Per::Session => "session",
        Per::Gap => "gap",
        _ => "request",
    }
}

fn stat_text(stat: Option<Quantile>) -> String {
    stat.map_or(String::new(), |stat| format!(" {stat}"))
}

fn direction_sign(metric: Metric) -> &'static str {
    if metric.row().better == Better::Low { "<=" } else { ">=" }
}

fn direction_verb(metric: Metric) -> &'static str {
    if metric.row().better == Better::Low { "rises" } else { "drops" }
}

fn comparison(parser: &mut Parser<'_>, metric: Metric) -> Result<Cmp, Wrong> {
    let sign = direction_sign(metric);
    let token = parser.next(&format!("`{sign}`"))?;
    let cmp = match token.text {
        "<=" => Cmp::AtMost,
        "<" => Cmp::Below,
        ">=" => Cmp::AtLeast,
        ">" => Cmp::Above,
        other => {
            let message = if token.is_comparison() {
                format!("`{other}` is no comparison")
            } else {
                format!("`{sign}` is expected here, not `{other}`")
            };
            return Err(Wrong::new("unknown-comparison", message, format!("write `{sign}`"), token.span()));
        }
    };
    let low = matches!(cmp, Cmp::AtMost | Cmp::Below);
    if low == (metric.row().better == Better::Low) {
        return Ok(cmp);
    }
    let better = if metric.row().better == Better::Low { "low" } else { "high" };
    let help = format!("write `{sign}`: a limit says how bad it may get");
    Err(Wrong::new(
        "wrong-direction",
        format!("{} is better {better}, so `{}` would demand a worse service", metric.name(), token.text),
        help,
        token.span(),
    ))
}

fn changes(parser: &mut Parser<'_>, metric: Metric) -> Result<Limit, Wrong> {
    let verb = parser.next("`rises` or `drops`")?;
    let right = direction_verb(metric);
    if verb.text != right {
        let better = if metric.row().better == Better::Low { "low" } else { "high" };
        let message = format!("{} is better {better}: what hurts is that it {right}", metric.name());
        return Err(Wrong::new("wrong-direction", message, format!("write `{right}`"), verb.span()));
    }
    let sign = parser.next("`<=`")?;
    if sign.text != "<=" {
        let message = format!("`<=` is expected here, not `{}`", sign.text);
        return Err(Wrong::new(
            "unknown-comparison",
            message,
            format!("write `{right} <= …`: the change that is still allowed"),
            sign.span(),
        ));
    }
    let first = parser.amount(metric)?;
    let mut limit = change(metric, &first)?;
    if parser.take("or") {
        let second = parser.amount(metric)?;
        let other = change(metric, &second)?;
        let merged = Limit { relative: limit.relative.or(other.relative), absolute: limit.absolute.or(other.absolute) };
        if merged.relative.is_none() || merged.absolute.is_none() {
            let help = "`or` joins a share and an amount, as `10% or 1ms`: worse only when beyond both";
            return Err(Wrong::new("same-kind-twice", "both limits are of the same kind", help, second.span));
        }
        limit = merged;
    }
    Ok(limit)
}

#[derive(Default)]
struct Tail {
    share_of_rounds: Option<f64>,
    when: Condition,
    level: Option<String>,
    part: Option<String>,
}

/// What may follow the limit, each once.
fn tail(parser: &mut Parser<'_>, allowed: &[&str]) -> Result<Tail, Wrong> {
    let mut tail = Tail::default();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(token) = parser.peek() {
        parser.at += 1;
        if !allowed.contains(&token.text) {
            return Err(stray(token, allowed));
        }
        if seen.contains(&token.text) {
            return Err(Wrong::new("twice", format!("`{}` is written twice", token.text), "join conditions by `and`", token.span()));
        }
        seen.push(token.text);
        match token.text {
            "in" => tail.share_of_rounds = Some(share_of_rounds(parser)?),
            "when" => tail.when = condition(parser)?,
            "at" => {
                let level = parser.next("a level, such as `2x`")?;
                times(level.text).map_err(|bad| Wrong::from_bad(bad, level.span()))?;
                tail.level = Some(level.text.to_owned());
            }
            _ => tail.part = Some(parser.next("the name of a workload part")?.text.to_owned()),
        }
    }
    Ok(tail)
}

fn stray(token: Token<'_>, allowed: &[&str]) -> Wrong {
    let help = match token.text {
        "and" => "one metric a line; write a second line".to_owned(),
        "or" => "only a regression rule has `or`, between a share and an amount".to_owned(),
        "at" => "a constraint holds at every level".to_owned(),
        "in" => "`in SHARE of rounds` belongs to absolute rules; a range of lengths is `when input_tokens in 1k..8k`".to_owned(),
        other => meant(other, allowed),
    };
    Wrong::new("unexpected-word", format!("`{}` is not understood here", token.text), help, token.span())
}

fn share_of_rounds(parser: &mut Parser<'_>) -> Result<f64, Wrong> {
    let token = parser.next("a share, as `90% of rounds`")?;
    let value = share(token.text).map_err(|bad| Wrong::from_bad(bad, token.span()))?;
    parser.expect("of")?;
    parser.expect("rounds")?;
    if value <= 0.0 {
        return Err(Wrong::new("contradictory", "a share of no rounds says nothing", "write `in 90% of rounds`", token.span()));
    }
    Ok(value)
}
