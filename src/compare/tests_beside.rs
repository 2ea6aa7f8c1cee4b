//! Two sides loaded at once: their rounds in pairs.

use super::*;
use crate::metric::Metric;
use crate::record::Recording;
use crate::spec::{Condition, Field, Rule};
use crate::summary::made::{Dice, Made, buckets, regression, slo};
use crate::summary::{self, Lens, Summary};
use crate::units::Nanos;

fn summed(run: &Recording) -> Summary {
    summary::of(run, &Lens::new(&slo(Vec::new(), Vec::new()), &buckets()))
}

/// A run in which each round has a weather of its own, the same for the same `weather`.
fn weathered(seed: u64, weather: u64, factor: f64) -> Recording {
    let mut run = Made { seed, ttft_ms: 200.0 * factor, ..Made::default() }.recording();
    let mut dice = Dice::new(weather);
    let rounds: Vec<f64> = (0..40).map(|_| (0.4 * dice.normal()).exp()).collect();
    for request in &mut run.requests {
        let round = request.round.unwrap_or(0) as usize;
        request.first_token = request.first_token.map(|at| Nanos::from_ms(at.as_ms() * rounds[round]));
    }
    run
}

fn ttft() -> Rule {
    regression(Metric::Ttft, Some(50.0), Some(0.1), None)
}

fn estimates(comparison: &Comparison, row: usize) -> Estimates {
    comparison.rows[row].clone().unwrap().unwrap()
}

#[test]
fn weather_that_both_sides_share_cancels_and_needs_no_run_to_run_term() {
    let (own, other) = (summed(&weathered(1, 7, 1.25)), summed(&weathered(2, 7, 1.0)));
    let paired = estimates(&beside(&own, &other, &[ttft()]), 0);
    let stored = estimates(&against(&own, std::slice::from_ref(&other), &[ttft()]), 0);
    assert!((paired.change.difference - 1.25_f64.ln()).abs() < 0.03, "{:?}", paired.change);
    assert!((paired.change.tau, paired.blocks) == (0.0, 40) && paired.change.se < 0.02, "{:?}", paired.change);
    assert!(stored.change.se > 3.0 * paired.change.se, "{:?} {:?}", stored.change, paired.change);
}

#[test]
fn swapping_the_sides_flips_the_sign_and_keeps_the_error() {
    let rules = [
        ttft(),
        regression(Metric::Itl, Some(95.0), Some(0.1), None),
        regression(Metric::ThroughputTps, None, Some(0.1), None),
        regression(Metric::Errors, None, None, Some(0.02)),
    ];
    let one = summed(&Made { seed: 3, fails_every: 40, tpot_ms: 22.0, ..Made::default() }.recording());
    let other = summed(&Made { seed: 4, fails_every: 17, ..Made::default() }.recording());
    let (there, back) = (beside(&one, &other, &rules), beside(&other, &one, &rules));
    for row in 0..rules.len() {
        let (there, back) = (estimates(&there, row), estimates(&back, row));
        assert!((there.change.difference + back.change.difference).abs() < 1e-9, "row {row}: {there:?} {back:?}");
        assert_eq!((there.observed, there.baseline), (back.baseline, back.observed));
        if row < 3 {
            assert!((there.change.se - back.change.se).abs() < 1e-9, "row {row}");
        }
    }
}

#[test]
fn sides_that_are_the_same_in_every_round_differ_by_nothing_and_are_no_nan() {
    let run = summed(&Made { fails_every: 30, ..Made::default() }.recording());
    let rules = [ttft(), regression(Metric::Goodput, None, None, Some(0.02)), regression(Metric::Errors, None, None, Some(0.02))];
    let comparison = beside(&run, &run, &rules);
    assert!((comparison.paired, comparison.stored) == (true, 1));
    for row in 0..2 {
        let change = estimates(&comparison, row).change;
        assert!(change.difference.abs() < 1e-12 && change.se.is_finite() && change.df >= 2.0, "{change:?}");
    }
    assert!(estimates(&comparison, 2).change.se > 0.0, "an errors row keeps the least variance of a share");
}

#[test]
fn a_scope_is_merged_at_the_same_rounds_on_both_sides_and_the_longer_side_is_cut() {
    let scoped = Rule { when: Condition { clauses: vec![(Field::InputTokens, 600, u64::MAX)] }, ..ttft() };
    let mut own = Made::default().recording();
    let mut other = Made { seed: 9, rounds: 60, ..Made::default() }.recording();
    // The candidate has five such requests a round, the baseline ten: blocks of four rounds hold 20 on both.
    for (run, every) in [(&mut own, 5), (&mut other, 2)] {
        for request in run.requests.iter_mut().filter(|request| request.id % every == 0) {
            request.input_tokens = Some(700);
        }
    }
    let comparison = beside(&summed(&own), &summed(&other), &[scoped, ttft()]);
    assert_eq!(comparison.rows[0], Some(Err(Obstacle::FewBlocks { blocks: 10 })));
    assert_eq!(estimates(&comparison, 1).blocks, 40);
}

#[test]
fn a_side_without_figures_is_named() {
    let run = Made { rounds: 12, ..Made::default() }.recording();
    let dead = Made { rounds: 12, fails_every: 1, ..Made::default() }.recording();
    let rows = |own: &Recording, other: &Recording| beside(&summed(own), &summed(other), &[ttft()]).rows[0].clone().unwrap();
    assert_eq!(rows(&run, &dead), Err(Obstacle::BaselineUnbounded));
    assert!(rows(&dead, &run).unwrap().change.difference.is_infinite());
}
