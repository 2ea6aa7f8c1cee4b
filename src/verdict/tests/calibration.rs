//! Error rates of the verdict on runs whose truth is known, with the run-to-run noise of a usual site. Bounds are what is promised
//! plus three binomial standard deviations; the seeds are fixed.

use super::*;
use crate::metric::Metric;
use crate::spec::Cmp;
use crate::summary::made::{Dice, Made, constraint, regression, require, slo};

/// Log standard deviation between runs.
const RUN_NOISE: f64 = 0.03;

fn noisy(seed: u64, factor: f64) -> Recording {
    let effect = (RUN_NOISE * Dice::new(seed).normal()).exp();
    Made { seed, ttft_ms: 200.0 * factor * effect, tpot_ms: 20.0 * factor * effect, spread: 0.3, tokens: 4, ..Made::default() }.recording()
}

/// How many of `checks` end as fail and as inconclusive, each with five stored runs of its own.
fn outcomes(checks: u64, factor: f64, slo: &Slo) -> (u64, u64) {
    let (mut fails, mut undecided) = (0, 0);
    for check in 0..checks {
        let stored: Vec<Recording> = (0..5).map(|run| noisy(1000 + check * 6 + run, 1.0)).collect();
        let status = judge_against(&noisy(1005 + check * 6, factor), &stored, slo).status;
        fails += u64::from(status == VerdictStatus::Fail);
        undecided += u64::from(status == VerdictStatus::Inconclusive);
    }
    (fails, undecided)
}

fn bound(promise: f64, checks: u64) -> f64 {
    let n = checks as f64;
    promise * n + 3.0 * (promise * (1.0 - promise) * n).sqrt()
}

fn five_rules() -> Slo {
    slo(
        vec![constraint(Metric::Ttft, Cmp::AtMost, 450.0)],
        vec![
            regression(Metric::Goodput, None, None, Some(0.02)),
            regression(Metric::Ttft, Some(50.0), Some(0.1), None),
            regression(Metric::Ttft, Some(95.0), Some(0.1), None),
            regression(Metric::Tpot, Some(95.0), Some(0.1), None),
            regression(Metric::E2e, Some(50.0), Some(0.1), None),
        ],
    )
}

#[test]
fn an_unchanged_server_hardly_ever_fails() {
    let checks = 120;
    let (fails, undecided) = outcomes(checks, 1.0, &five_rules());
    assert!(fails as f64 <= bound(0.01, checks), "{fails} of {checks} fail");
    assert!(undecided as f64 <= bound(0.25, checks), "{undecided} of {checks} are inconclusive");
}

#[test]
fn half_more_is_found() {
    let checks = 40;
    let (fails, _) = outcomes(checks, 1.5, &five_rules());
    assert!((checks - fails) as f64 <= bound(0.05, checks), "{fails} of {checks} fail");
}

#[test]
fn a_percentile_truly_at_its_limit_fails_at_most_as_promised() {
    // P99 of a lognormal with spread .3: 200·exp(.3·2.3263).
    let limit = 200.0 * (0.3 * 2.326_347_874_f64).exp();
    let rules = slo(Vec::new(), vec![require(Metric::Ttft, Some(99.0), Cmp::AtMost, limit)]);
    let checks = 300;
    let fails = (0..checks)
        .filter(|seed| {
            let run = Made { seed: 9000 + seed, spread: 0.3, tokens: 2, ..Made::default() }.recording();
            judge(&run, &rules).status == VerdictStatus::Fail
        })
        .count();
    assert!(fails as f64 <= bound(0.07, checks), "{fails} of {checks} fail");
}
