//! What is legal and yet told.

use super::{source, with_line};
use crate::spec::{Permissions, parse};

fn warned(text: &str) -> Vec<&'static str> {
    let checked = parse(&source(text), &Permissions::default()).unwrap_or_else(|error| panic!("{}", error.problems().render(false)));
    checked.warnings.iter().map(|issue| issue.code).collect()
}

#[test]
fn slow_users_are_at_the_low_percentiles_of_speed() {
    assert_eq!(warned(&with_line("require", "speed p95 >= 30 tok/s")), ["fast-users"]);
    assert_eq!(warned(&with_line("require", "speed p5 >= 30 tok/s")), [""; 0]);
}

#[test]
fn a_small_relative_limit_asks_for_a_baseline_in_the_same_weather() {
    let text = |limit: &str| {
        with_line("regression", &format!("ttft p95 rises <= {limit}\n    - goodput drops <= 2pp\n  request:\n    - ttft <= 1s"))
    };
    assert_eq!(warned(&text("5%")), ["small-change"]);
    assert_eq!(warned(&text("10%")), [""; 0]);
    assert_eq!(warned(&text("5% or 20ms")), [""; 0]);
}

#[test]
fn typical_rounds_alone_are_blind_to_stalls() {
    assert_eq!(warned(&with_line("regression", "ttft p95 rises <= 10%")), ["blind-to-stalls"]);
    assert_eq!(warned(&with_line("regression", "ttft p95 rises <= 10%\n    - errors rises <= 1pp")), [""; 0]);
    assert_eq!(warned(&with_line("regression", "ttft p95 rises <= 10%\n  require:\n    - ttft p99 <= 2s")), [""; 0]);
}

#[test]
fn a_warm_up_below_the_concurrency_counts_the_stampede() {
    let load = |load: &str| format!("name: a\nload: {load}\nslo: {{ require: [errors <= 1%] }}\n");
    assert_eq!(warned(&load("{ concurrency: 60, warmup: 20 requests }")), ["short-warmup"]);
    assert_eq!(warned(&load("{ concurrency: 60, warmup: 0.5x }")), ["short-warmup"]);
    assert_eq!(warned(&load("{ concurrency: 60, round: 25 requests }")), ["short-round"]);
    assert_eq!(warned(&load("{ concurrency: 60, round: 60 requests, warmup: 60 requests }")), [""; 0]);
    assert_eq!(warned(&load("{ concurrency: 60, rounds: 5 }")), ["few-rounds"]);
}

#[test]
fn lines_that_say_the_same_twice_are_told() {
    assert_eq!(warned(&with_line("require", "ttft p99 <= 1s\n    - ttft p99 <= 1000ms")), ["redundant-rule"]);
    assert_eq!(warned(&with_line("require", "ttft p99 <= 1s\n    - ttft p99 <= 2s")), ["redundant-rule"]);
    assert_eq!(warned(&with_line("require", "ttft p99 <= 1s\n    - ttft p99 <= 2s at 2x")), [""; 0]);
    assert_eq!(warned(&with_line("request", "ttft <= 1s\n    - ttft <= 2s")), ["redundant-rule"]);
}

#[test]
fn goodput_needs_limits_and_a_rate_cannot_beat_its_arrivals() {
    assert_eq!(warned(&with_line("require", "goodput >= 95%")), ["goodput-without-limits"]);
    let rate = |limit: &str| format!("name: a\nload: {{ rate: 10/s }}\nslo: {{ require: [throughput_rps >= {limit}/s] }}\n");
    assert_eq!(warned(&rate("12")), ["cannot-pass"]);
    assert_eq!(warned(&rate("9")), [""; 0]);
}

#[test]
fn a_warning_renders_as_one() {
    let checked = parse(&source(&with_line("require", "speed p95 >= 30 tok/s")), &Permissions::default()).unwrap();
    insta::assert_snapshot!(checked.warnings().unwrap().render(false), @"
    warning[fast-users]: `speed p95 >=` speaks of the fastest users
     --> gate.yaml:5:7
      |
    5 |     - speed p95 >= 30 tok/s
      |       ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: slow users are at p5: write `speed p5 >= …`
    ");
}
