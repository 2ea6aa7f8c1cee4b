//! Lines and what they mean.

use super::{constraint, rule};
use crate::metric::Metric;
use crate::spec::{Cmp, Condition, Field, Limit, RuleKind, Test};

#[test]
fn a_line_prints_in_one_spelling() {
    let table = [
        (RuleKind::Require, "ttft  p99<=0.8s", "ttft p99 <= 800ms"),
        (RuleKind::Require, "goodput >= 99.5%", "goodput >= 99.5%"),
        (RuleKind::Require, "goodput >= 29% in 90% of rounds", "goodput >= 29% in 90% of rounds"),
        (RuleKind::Require, "throughput_tps > 900 tok/s at 2x", "throughput_tps > 900tok/s at 2x"),
        (
            RuleKind::Require,
            "e2e p99 <= 3 s when output_tokens < 300 and turn >= 2",
            "e2e p99 <= 3000ms when output_tokens <= 299 and turn >= 2",
        ),
        (RuleKind::Regression, "tpot p95 rises <= 1ms or 10%", "tpot p95 rises <= 10% or 1ms"),
        (RuleKind::Regression, "goodput drops <= 2pp for chat", "goodput drops <= 2pp for chat"),
        (RuleKind::Advise, "itl p99.9 <= 60ms", "itl p99.9 <= 60ms"),
        (RuleKind::Advise, "speed p5 drops <= 10%", "speed p5 drops <= 10%"),
    ];
    for (kind, line, printed) in table {
        let rule = rule(line, kind).unwrap_or_else(|wrong| panic!("{line}: {}", wrong.message));
        assert_eq!(rule.to_string(), printed);
        assert_eq!(rule.text, line);
    }
    assert_eq!(constraint("e2e <= 2s when input_tokens in 1k..8k").unwrap().to_string(), "e2e <= 2000ms when input_tokens in 1024..8192");
}

#[test]
fn a_range_holds_both_its_ends() {
    let line = constraint("ttft < 1s when input_tokens in 1k..8k and output_tokens > 300").unwrap();
    assert_eq!((line.metric, line.cmp, line.value), (Metric::Ttft, Cmp::Below, 1000.0));
    assert_eq!(line.when, Condition { clauses: vec![(Field::InputTokens, 1024, 8192), (Field::OutputTokens, 301, u64::MAX)] });
}

#[test]
fn a_lone_amount_is_a_limit_of_a_change_too() {
    let line = rule("ttft p95 rises <= 1ms", RuleKind::Regression).unwrap();
    assert_eq!(line.test, Test::Change { limit: Limit { relative: None, absolute: Some(1.0) } });
}
