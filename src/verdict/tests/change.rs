use super::*;
use crate::metric::Metric;
use crate::spec::{Cmp, Condition, Field, Rule, RuleKind};
use crate::summary::made::{Dice, Made, constraint, fail, regression, slo};
use crate::units::{Nanos, Unit};
use rstest::rstest;

/// Stored runs 1 to `count`, each off by a little as runs are.
fn stored(count: u64) -> Vec<Recording> {
    (1..=count)
        .map(|seed| Made { seed, ttft_ms: 200.0 * (0.02 * Dice::new(seed + 77).normal()).exp(), ..Made::default() }.recording())
        .collect()
}

fn ttft_p95(limit: f64) -> Rule {
    regression(Metric::Ttft, Some(95.0), Some(limit), None)
}

fn candidate(factor: f64) -> Recording {
    Made { seed: 50, ttft_ms: 200.0 * factor, ..Made::default() }.recording()
}

#[rstest]
#[case(1, 1.0, Status::Pass)]
#[case(1, 1.5, Status::Fail)]
#[case(1, 1.15, Status::Inconclusive)]
#[case(5, 1.0, Status::Pass)]
#[case(5, 1.5, Status::Fail)]
#[case(5, 0.5, Status::Pass)]
fn a_change_is_proven_ruled_out_or_undecided(#[case] runs: u64, #[case] factor: f64, #[case] expected: Status) {
    let verdict = judge_against(&candidate(factor), &stored(runs), &slo(Vec::new(), vec![ttft_p95(0.1)]));
    let row = &verdict.rules[0];
    assert_eq!(row.status, expected, "{}", row.why);
    assert!((row.change.unwrap() - (factor - 1.0)).abs() < 0.08, "{}", row.why);
    assert!(row.change_low < row.change && row.change < row.change_high);
    assert_eq!((row.change_unit, row.change_limit, row.method), (Some(Unit::Change), Some(0.1), Some(Method::Change)));
    assert_eq!(verdict.fails_regression(), expected == Status::Fail);
    if expected == Status::Inconclusive {
        assert!(row.why.contains("--against") && row.why.contains("more stored runs") && row.why.contains("rule_out: "), "{}", row.why);
    }
}

#[test]
fn a_pass_beyond_its_limit_says_so() {
    let verdict = judge_against(&candidate(1.13), &stored(5), &slo(Vec::new(), vec![ttft_p95(0.1)]));
    let row = &verdict.rules[0];
    assert_eq!((row.status, row.warnings.as_slice()), (Status::Pass, &["beyond_limit_unproven".to_owned()][..]), "{}", row.why);
    assert!(verdict.warnings[0].contains("not proven"), "{:?}", verdict.warnings);
}

#[test]
fn a_drop_is_harm_where_more_is_better() {
    let slow = Made { seed: 50, tpot_ms: 40.0, ..Made::default() }.recording();
    let rules = slo(Vec::new(), vec![regression(Metric::Speed, Some(50.0), Some(0.1), None)]);
    let verdict = judge_against(&slow, &stored(5), &rules);
    assert_eq!((verdict.rules[0].status, verdict.rules[0].change_limit), (Status::Fail, Some(-0.1)));
    assert!((verdict.rules[0].change.unwrap() + 0.5).abs() < 0.05);
    let fast = Made { seed: 50, tpot_ms: 10.0, ..Made::default() }.recording();
    assert_eq!(judge_against(&fast, &stored(5), &rules).rules[0].status, Status::Pass);
}

#[test]
fn the_larger_of_two_limits_holds_and_a_lone_one_is_shown_in_its_unit() {
    let or = regression(Metric::Ttft, Some(95.0), Some(0.05), Some(200.0));
    let lone = regression(Metric::Ttft, Some(95.0), None, Some(10.0));
    let verdict = judge_against(&candidate(1.5), &stored(5), &slo(Vec::new(), vec![or, lone]));
    assert_eq!(verdict.rules[0].status, Status::Pass, "half more is less than 200 ms: {}", verdict.rules[0].why);
    assert_eq!(
        (verdict.rules[1].status, verdict.rules[1].change_unit, verdict.rules[1].change_limit),
        (Status::Fail, Some(Unit::Ms), Some(10.0))
    );
    let change = verdict.rules[1].change.unwrap();
    assert!((100.0..140.0).contains(&change), "{change} ms");
}

#[test]
fn goodput_and_errors_change_in_points() {
    let limit = vec![constraint(Metric::Ttft, Cmp::AtMost, 300.0)];
    let rules = slo(limit, vec![regression(Metric::Goodput, None, None, Some(0.02)), regression(Metric::Errors, None, None, Some(0.02))]);
    let same = judge_against(&candidate(1.0), &stored(5), &rules);
    assert_eq!(same.rules.iter().map(|row| row.status).collect::<Vec<_>>(), [Status::Pass, Status::Pass]);
    let failing = Made { seed: 50, fails_every: 5, ..Made::default() }.recording();
    let worse = judge_against(&failing, &stored(5), &rules);
    assert_eq!(worse.rules.iter().map(|row| row.status).collect::<Vec<_>>(), [Status::Fail, Status::Fail]);
    assert_eq!((worse.rules[0].change_unit, worse.rules[0].change_limit), (Some(Unit::Points), Some(-0.02)));
    assert!((worse.rules[0].change.unwrap() + 0.2).abs() < 0.01 && (worse.rules[1].change.unwrap() - 0.2).abs() < 0.01);
}

#[test]
fn no_baseline_decides_nothing_and_says_how_to_save_one() {
    let verdict = judge(&candidate(1.0), &slo(Vec::new(), vec![ttft_p95(0.1)]));
    assert_eq!(verdict.rules[0].status, Status::NoBaseline);
    assert!(verdict.rules[0].why.contains("--save-baseline"));
    assert!(verdict.wants_baseline() && verdict.status != VerdictStatus::Pass);
}

#[test]
fn failures_beyond_trimming_fail_against_a_healthy_baseline_and_void_a_sick_one() {
    let mut sick = candidate(1.0);
    for request in sick.requests.iter_mut().filter(|request| request.round.unwrap() % 4 == 0) {
        fail(request);
    }
    let rules = slo(Vec::new(), vec![ttft_p95(0.1)]);
    let verdict = judge_against(&sick, &stored(2), &rules);
    assert_eq!((verdict.rules[0].status, verdict.rules[0].change, verdict.rules[0].observed), (Status::Fail, None, None));
    assert_eq!(judge_against(&candidate(1.0), &[sick], &rules).rules[0].status, Status::Invalid);
    let mut hardly = candidate(1.0);
    for request in hardly.requests.iter_mut().filter(|request| request.round.unwrap() % 8 == 0) {
        fail(request);
    }
    assert_eq!(judge_against(&hardly, &stored(2), &rules).rules[0].status, Status::Pass, "up to a fifth of rounds is trimmed away");
}

#[test]
fn a_scope_needs_twelve_blocks_of_twenty() {
    let mark = |mut run: Recording, every: usize| {
        for request in run.requests.iter_mut().step_by(every) {
            request.input_tokens = Some(4000);
            request.asked_input = 4000;
        }
        run
    };
    let long = Condition { clauses: vec![(Field::InputTokens, 4000, 4000)] };
    let rules = slo(Vec::new(), vec![Rule { when: long, ..ttft_p95(0.1) }]);
    let of = |every| {
        judge_against(&mark(candidate(1.0), every), &[mark(Made { seed: 3, ..Made::default() }.recording(), every)], &rules).rules[0]
            .clone()
    };
    assert_eq!(of(2).status, Status::Pass, "{}", of(2).why);
    let few = of(10);
    assert_eq!(few.status, Status::Inconclusive);
    assert!(few.why.contains("12 are needed"), "{}", few.why);
}

#[test]
fn a_far_percentile_needs_a_long_tail() {
    let p99 = regression(Metric::Ttft, Some(99.0), Some(0.2), None);
    let thin = Made { seed: 50, rounds: 39, ..Made::default() }.recording();
    let verdict = judge_against(&thin, &stored(2), &slo(Vec::new(), vec![p99.clone()]));
    assert_eq!(verdict.rules[0].status, Status::Inconclusive);
    assert!(verdict.rules[0].why.contains("1000 in all"), "{}", verdict.rules[0].why);
    assert_eq!(judge_against(&candidate(1.0), &stored(2), &slo(Vec::new(), vec![p99])).rules[0].status, Status::Pass);
}

#[test]
fn a_noisy_site_turns_a_pass_into_inconclusive_and_leaves_a_fail() {
    let noisy: Vec<Recording> = [150.0, 260.0, 190.0, 240.0]
        .iter()
        .zip(1..)
        .map(|(ttft_ms, seed)| Made { seed, ttft_ms: *ttft_ms, ..Made::default() }.recording())
        .collect();
    let rules = slo(Vec::new(), vec![ttft_p95(0.1)]);
    let better = judge_against(&candidate(0.5), &noisy, &rules);
    assert_eq!((better.rules[0].status, row(&better, "site_noise").status), (Status::Inconclusive, ValidityStatus::Inconclusive));
    assert!(better.rules[0].why.contains("could hold a limit of"), "{}", better.rules[0].why);
    assert_eq!(judge_against(&candidate(4.0), &noisy, &rules).status, VerdictStatus::Fail);
}

#[test]
fn milliseconds_and_seconds_give_the_same_verdict() {
    let scale = |run: &Recording, factor: u64| {
        let mut run = run.clone();
        for request in &mut run.requests {
            for at in [&mut request.first_token, &mut request.first_answer, &mut request.last_token].into_iter().flatten() {
                at.0 *= factor;
            }
        }
        run
    };
    let rules = slo(Vec::new(), vec![ttft_p95(0.1)]);
    let baseline = stored(3);
    let in_ms = judge_against(&candidate(1.1), &baseline, &rules);
    let thousandfold: Vec<Recording> = baseline.iter().map(|run| scale(run, 1000)).collect();
    let in_s = judge_against(&scale(&candidate(1.1), 1000), &thousandfold, &rules);
    assert_eq!(in_ms.rules[0].status, in_s.rules[0].status);
    let apart = |of: fn(&RuleResult) -> Option<f64>| (of(&in_ms.rules[0]).unwrap() - of(&in_s.rules[0]).unwrap()).abs();
    assert!(apart(|row| row.change) < 1e-9 && apart(|row| row.change_low) < 1e-9 && apart(|row| row.change_high) < 1e-9);
}

#[test]
fn all_slower_by_a_factor_never_turns_a_fail_into_a_pass() {
    let rules = slo(Vec::new(), vec![ttft_p95(0.1), regression(Metric::E2e, Some(50.0), Some(0.05), None)]);
    let baseline = stored(2);
    let mut worst = [0, 0];
    for step in 0..12 {
        let verdict = judge_against(&candidate(1.0 + 0.05 * f64::from(step)), &baseline, &rules);
        for (worst, row) in worst.iter_mut().zip(&verdict.rules) {
            let rank = match row.status {
                Status::Pass => 0,
                Status::Inconclusive => 1,
                _ => 2,
            };
            assert!(rank >= *worst, "step {step}: {}", row.why);
            *worst = rank;
        }
    }
    assert_eq!(worst, [2, 2]);
}

#[test]
fn both_sides_are_cut_to_the_rounds_they_share() {
    let mut late = Made { seed: 9, rounds: 60, ..Made::default() }.recording();
    for request in late.requests.iter_mut().filter(|request| request.round >= Some(40)) {
        request.first_token = Some(Nanos::from_ms(9000.0));
    }
    let verdict = judge_against(&candidate(1.0), &[late], &slo(Vec::new(), vec![ttft_p95(0.1)]));
    assert_eq!(verdict.rules[0].status, Status::Pass, "{}", verdict.rules[0].why);
}

#[test]
fn more_rules_make_each_harder_to_break_and_advice_does_not() {
    // A change whose p value lies between α/5 and α fails alone and not among five.
    let baseline = stored(3);
    let advice = Rule { kind: RuleKind::Advise, ..ttft_p95(0.1) };
    let alone = |factor: f64| {
        judge_against(
            &candidate(factor),
            &baseline,
            &slo(Vec::new(), vec![ttft_p95(0.1), advice.clone(), advice.clone(), advice.clone(), advice.clone()]),
        )
    };
    let quiet = |metric| regression(metric, Some(50.0), Some(0.5), None);
    let others = [Metric::Tpot, Metric::E2e, Metric::Stall, Metric::Itl].map(quiet);
    let among = |factor: f64| {
        judge_against(&candidate(factor), &baseline, &slo(Vec::new(), std::iter::once(ttft_p95(0.1)).chain(others.clone()).collect()))
    };
    let first_fail = |judge: &dyn Fn(f64) -> Verdict| {
        (0..60).map(|step| 1.1 + 0.01 * f64::from(step)).find(|factor| judge(*factor).rules[0].status == Status::Fail).unwrap()
    };
    assert!(first_fail(&alone) < first_fail(&among));
}

#[test]
fn a_rate_drops_against_its_baseline() {
    let paced = |seed: u64, step_ms: f64| {
        let mut run = Made { seed, ..Made::default() }.recording();
        for request in &mut run.requests {
            request.scheduled = Nanos::from_ms(request.id as f64 * step_ms);
            request.sent = request.scheduled;
        }
        run
    };
    let rules = slo(Vec::new(), vec![regression(Metric::ThroughputRps, None, Some(0.1), None)]);
    let of = |step| judge_against(&paced(50, step), &[paced(1, 10.0), paced(2, 10.0)], &rules).rules[0].clone();
    assert_eq!((of(10.0).status, of(20.0).status), (Status::Pass, Status::Fail));
    assert!((of(20.0).observed.unwrap() - 50.0).abs() < 0.1 && (of(20.0).baseline.unwrap() - 100.0).abs() < 0.1);
}
