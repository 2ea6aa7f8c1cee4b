use super::*;
use crate::metric::Metric;
use crate::spec::Rule;
use crate::summary::made::{Made, buckets, regression, slo};
use crate::summary::{self, Lens, Summary};
use proptest::prelude::*;
use std::ops::Range;

fn summed(made: &Made) -> Summary {
    summary::of(&made.recording(), &Lens::new(&slo(Vec::new(), Vec::new()), &buckets()))
}

fn rules() -> Vec<Rule> {
    let mut rules: Vec<Rule> = [Metric::Ttft, Metric::Tpot, Metric::E2e, Metric::Stall, Metric::Speed, Metric::Itl]
        .map(|metric| regression(metric, Some(50.0), Some(0.1), None))
        .to_vec();
    rules.push(regression(Metric::ThroughputTps, None, Some(0.1), None));
    rules.push(regression(Metric::Errors, None, None, Some(0.02)));
    rules
}

#[test]
fn blocks_hold_enough_on_every_side_and_keep_what_is_left() {
    assert_eq!(blocks(&[vec![10, 10, 10, 10, 10]], 20), [0..2, 2..5]);
    assert_eq!(blocks(&[vec![30, 30, 30], vec![5, 20, 5]], 20), vec![Range { start: 0, end: 3 }]);
    assert_eq!(blocks(&[vec![1, 0, 1]], 1), [0..1, 1..3]);
    assert!(blocks(&[vec![1, 2]], 20).is_empty());
    assert!(blocks(&[], 1).is_empty());
    assert_eq!(in_blocks(&[1, 2, 3], &[0..1, 1..3], |block| block.iter().sum::<i32>()), [1, 5]);
}

#[test]
fn without_stored_runs_nothing_is_said() {
    let comparison = against(&summed(&Made::default()), &[], &rules());
    assert_eq!(comparison.stored, 0);
    assert!(comparison.rows.iter().all(|row| *row == Some(Err(Obstacle::NoBaselineData))));
}

#[test]
fn a_run_against_itself_has_not_changed() {
    let run = summed(&Made { fails_every: 30, ..Made::default() });
    for row in against(&run, std::slice::from_ref(&run), &rules()).rows {
        let estimates = row.unwrap().unwrap();
        assert!(estimates.change.difference.abs() < 1e-12);
        assert_eq!(estimates.observed, estimates.baseline);
    }
}

#[test]
fn a_metric_that_was_not_measured_has_no_estimate() {
    let run = summed(&Made::default());
    let hits = [regression(Metric::CacheHit, None, None, Some(0.02))];
    assert_eq!(against(&run, std::slice::from_ref(&run), &hits).rows, [Some(Err(Obstacle::NoData))]);
    let elsewhere = [Rule { level: "2x".to_owned(), ..rules()[0].clone() }];
    assert_eq!(against(&run, std::slice::from_ref(&run), &elsewhere).rows, [Some(Err(Obstacle::NoBaselineData))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn swapping_the_sides_flips_the_sign(a in 1_u64..100, b in 1_u64..100, factor in 0.5..2.0_f64, fails_every in 5_u64..60) {
        let one = summed(&Made { seed: a, rounds: 12, ..Made::default() });
        let other = summed(&Made { seed: b, rounds: 12, ttft_ms: 200.0 * factor, tpot_ms: 20.0 * factor, fails_every, ..Made::default() });
        let there = against(&one, std::slice::from_ref(&other), &rules());
        let back = against(&other, std::slice::from_ref(&one), &rules());
        for (there, back) in there.rows.into_iter().zip(back.rows) {
            let (there, back) = (there.unwrap().unwrap(), back.unwrap().unwrap());
            prop_assert!((there.change.difference + back.change.difference).abs() < 1e-9);
            prop_assert_eq!(there.observed, back.baseline);
        }
    }
}
