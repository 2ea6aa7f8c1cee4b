//! What editors check of a rule: a pattern and a description for each list of lines, from the catalogue of metrics.

use super::keys::Grammar;
use crate::metric::{Better, CATALOGUE, Per, Row};
use crate::units::Unit;

const NUMBER: &str = r"[0-9]+(\.[0-9]+)?";
const TIME: &str = "(us|µs|ms|s|m|min|h)";
const REQUESTS: &str = "(/s|req/s|requests/s)";
const TOKENS: &str = r"[0-9]+(\.[0-9]+)?k?";

/// The units of a limit on a metric.
fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ms => TIME,
        Unit::Share | Unit::Points | Unit::Change => "%",
        Unit::PerSecond => REQUESTS,
        Unit::TokensPerSecond => "tok/s",
        Unit::Tokens => "",
    }
}

fn fits(row: &Row, grammar: Grammar) -> bool {
    match row.per {
        Per::Request | Per::Session => true,
        Per::Search => matches!(grammar, Grammar::Require | Grammar::Advise),
        _ => grammar != Grammar::Constraint,
    }
}

/// A pattern of ECMA-262 for one line. It knows which units, percentiles and directions a metric takes, so that an editor marks the
/// slip; the parser explains it. Contradictions and names of levels and parts are left to the parser.
pub(super) fn line_pattern(grammar: Grammar) -> String {
    let mut forms: Vec<String> = Vec::new();
    for (names, stat, row) in classes(grammar) {
        let head = format!("({}){}", names.join("|"), if stat { r" +p[0-9]{1,2}(\.[0-9]+)?" } else { "" });
        if grammar != Grammar::Regression {
            let sign = if row.better == Better::Low { "<=?" } else { ">=?" };
            forms.push(format!("{head} *{sign} *{NUMBER} *{}{}", unit(row.unit), tail(grammar, true)));
        }
        if matches!(grammar, Grammar::Regression | Grammar::Advise) {
            let verb = if row.better == Better::Low { "rises" } else { "drops" };
            let amount = if row.unit == Unit::Share { format!("{NUMBER} *pp") } else { either(row.unit) };
            forms.push(format!("{head} +{verb} *<= *{amount}{}", tail(grammar, false)));
        }
    }
    format!("^ *({}) *$", forms.join("|"))
}

/// A relative change, an amount, or both.
fn either(of: Unit) -> String {
    let one = format!("{NUMBER} *(%|{})", unit(of));
    format!("{one}( +or +{one})?")
}

/// Metrics that are written alike, whether they need a percentile, and one of them.
fn classes(grammar: Grammar) -> Vec<(Vec<&'static str>, bool, &'static Row)> {
    let mut classes: Vec<(Vec<&'static str>, bool, &'static Row)> = Vec::new();
    for row in CATALOGUE.iter().filter(|row| fits(row, grammar)) {
        let stat = grammar != Grammar::Constraint && matches!(row.per, Per::Request | Per::Session | Per::Gap);
        match classes.iter_mut().find(|(_, other, first)| (*other, first.unit, first.better) == (stat, row.unit, row.better)) {
            Some((names, ..)) => names.push(row.name),
            None => classes.push((vec![row.name], stat, row)),
        }
    }
    classes
}

/// What may follow the limit, in any order.
fn tail(grammar: Grammar, absolute: bool) -> String {
    let clause = format!(r"(input_tokens|output_tokens|turn) *((<=?|>=?) *{TOKENS}| in +{TOKENS}\.\.{TOKENS})");
    let mut parts = vec![format!("when +{clause}( +and +{clause})*"), "for +[a-z0-9-]+".to_owned()];
    if grammar != Grammar::Constraint {
        parts.push(format!("at +{NUMBER}x"));
        if absolute {
            parts.push(format!("in +{NUMBER}% +of +rounds"));
        }
    }
    format!("( +({}))*", parts.join("|"))
}

/// The form of a line, and every metric it may begin with.
pub(super) fn line_doc(grammar: Grammar) -> String {
    let form = match grammar {
        Grammar::Constraint => "METRIC CMP VALUE [when …] [for NAME]",
        Grammar::Require => "METRIC [STAT] CMP VALUE [in SHARE of rounds] [when …] [at LEVEL] [for NAME]",
        Grammar::Regression => "METRIC [STAT] (rises|drops) <= VALUE [or VALUE] [when …] [at LEVEL] [for NAME]",
        Grammar::Advise => "a line as in require or as in regression",
    };
    let known = |row: &&Row| grammar != Grammar::Constraint || matches!(row.per, Per::Request | Per::Session);
    let docs = CATALOGUE.iter().filter(known).map(|row| format!("{} ({}): {}", row.name, row.unit.name(), row.doc));
    format!("{form}\n\n{}", docs.collect::<Vec<_>>().join("\n"))
}
