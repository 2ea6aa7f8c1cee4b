//! No text panics; what is printed reads back.

use super::source;
use crate::metric::{Better, CATALOGUE, Per};
use crate::spec::grammar::{constraint, rule};
use crate::spec::{Permissions, RuleKind, Test, parse, parse_what_if};
use crate::units::Unit;
use proptest::prelude::*;

fn check(text: &str) {
    match parse(&source(text), &Permissions::default()) {
        Ok(checked) => {
            assert!(!crate::spec::explain(&checked).is_empty());
        }
        Err(error) => {
            let problems = error.problems();
            assert!(!problems.issues.is_empty());
            assert!(!problems.render(false).is_empty());
        }
    }
}

const WORDS: &[&str] = &[
    "ttft",
    "goodput",
    "itl",
    "speed",
    "p99",
    "p5",
    "p99.9",
    "<=",
    ">=",
    "<",
    "rises",
    "drops",
    "500ms",
    "95%",
    "2pp",
    "30 tok/s",
    "12/s",
    "or",
    "when",
    "input_tokens",
    "turn",
    "in",
    "1k..8k",
    "90%",
    "of",
    "rounds",
    "and",
    "at",
    "2x",
    "for",
    "chat",
    "300",
    "é",
    "..",
    "%",
    "-1",
    "1e9",
];

/// A line that the grammar takes, of any metric.
fn line() -> impl Strategy<Value = (String, RuleKind)> {
    let rows = CATALOGUE.len();
    (0..rows, 1u32..999, 1u32..9999, any::<bool>(), any::<bool>(), 0usize..4).prop_map(|(row, stat, value, strict, regression, tail)| {
        let row = &CATALOGUE[row];
        let stat =
            if matches!(row.per, Per::Request | Per::Session | Per::Gap) { format!(" p{}", f64::from(stat) / 10.0) } else { String::new() };
        let value = f64::from(value) / 100.0;
        let (low, verb) = if row.better == Better::Low { ("<", "rises") } else { (">", "drops") };
        let amount = match row.unit {
            Unit::Ms => format!("{value}s"),
            Unit::TokensPerSecond => format!("{value} tok/s"),
            Unit::PerSecond => format!("{value}/s"),
            _ => format!("{value}%"),
        };
        let tail = ["", " when input_tokens in 1k..8k and turn > 1", " when output_tokens < 300 at 2x", " for chat"][tail];
        let eq = if strict { "" } else { "=" };
        if regression {
            let change = if row.unit == Unit::Share { format!("{value}pp") } else { format!("{}% or {amount}", value / 2.0) };
            (format!("{}{stat} {verb} <= {change}{tail}", row.name), RuleKind::Regression)
        } else {
            (format!("{}{stat} {low}{eq} {amount}{tail}", row.name), RuleKind::Require)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        check(&text);
        let _ = parse_what_if(&text);
    }

    #[test]
    fn no_value_panics(key in prop::sample::select(crate::spec::keys::KEYS), value in "[ -~é\\n]{0,40}") {
        let path: Vec<&str> = key.path.split('.').collect();
        let text = path.iter().rev().fold(value, |inner, name| format!("{{ {name}: {inner} }}"));
        check(&text);
        check(&format!("{{ name: a, {} }}", text.trim_matches(['{', '}'])));
    }

    #[test]
    fn no_line_panics(words in prop::collection::vec(prop::sample::select(WORDS), 0..12)) {
        let line = words.join(" ");
        for kind in [RuleKind::Require, RuleKind::Regression, RuleKind::Advise] {
            if let Err(wrong) = rule(&line, kind) {
                prop_assert!(wrong.span.end <= line.len() && wrong.span.start <= wrong.span.end);
                prop_assert!(!wrong.help.is_empty());
            }
        }
        let _ = constraint(&line);
    }

    #[test]
    fn a_printed_rule_reads_back_as_itself((line, kind) in line()) {
        // Values out of range are refused, which is not this test's matter.
        if let Ok(first) = rule(&line, kind) {
            let printed = first.to_string();
            let second = rule(&printed, kind).unwrap_or_else(|wrong| panic!("{line} → {printed}: {}", wrong.message));
            prop_assert_eq!(second.to_string(), printed.clone());
            prop_assert_eq!((first.metric, first.stat, &first.when, &first.level, &first.part), (second.metric, second.stat, &second.when, &second.level, &second.part));
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
            let same = match (first.test, second.test) {
                (Test::Absolute { cmp: a, value: x, .. }, Test::Absolute { cmp: b, value: y, .. }) => a == b && close(x, y),
                (Test::Change { limit: a }, Test::Change { limit: b }) => {
                    close(a.relative.unwrap_or(-1.0), b.relative.unwrap_or(-1.0)) && close(a.absolute.unwrap_or(-1.0), b.absolute.unwrap_or(-1.0))
                }
                _ => false,
            };
            prop_assert!(same, "{} → {}", line, printed);
        }
    }

    #[test]
    fn milliseconds_and_seconds_are_one(ms in 1u32..100_000_000) {
        let (whole, thousandths) = (ms / 1000, ms % 1000);
        let a = constraint(&format!("ttft <= {ms}ms")).unwrap().value;
        let b = constraint(&format!("ttft <= {whole}.{thousandths:03}s")).unwrap().value;
        prop_assert_eq!(a.to_bits(), b.to_bits());
    }
}
