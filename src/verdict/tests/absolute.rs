use super::*;
use crate::metric::Metric;
use crate::spec::{Cmp, Condition, Confidence, Field, Rule, RuleKind, Test};
use crate::summary::made::{Made, buffer, constraint, fail, regression, request, require, slo};
use crate::units::{Nanos, Unit};
use proptest::prelude::*;

fn ttft_p99(limit: f64) -> Rule {
    require(Metric::Ttft, Some(99.0), Cmp::AtMost, limit)
}

/// A run in which exactly the first `over` requests of each round of 25 take a second.
fn with_over(rounds: u32, over: usize) -> Recording {
    let mut run = Made { rounds, spread: 0.0, ..Made::default() }.recording();
    for round in run.requests.chunks_mut(25) {
        for slow in round.iter_mut().take(over) {
            slow.first_token = Some(Nanos::from_ms(1000.0));
            slow.last_token = Some(Nanos::from_ms(1180.0));
        }
    }
    run
}

#[test]
fn a_percentile_is_kept_broken_or_undecided() {
    let run = Made::default().recording();
    let kept = judge(&run, &slo(Vec::new(), vec![ttft_p99(500.0)]));
    assert_eq!((kept.status, kept.rules[0].status), (VerdictStatus::Pass, Status::Pass));
    let rule = &kept.rules[0];
    assert!(rule.low.unwrap() < rule.observed.unwrap() && rule.observed.unwrap() < rule.high.unwrap());
    assert_eq!((rule.method, rule.samples, rule.unit), (Some(Method::Proportion), 1000, Unit::Ms));

    let broken = judge(&run, &slo(Vec::new(), vec![ttft_p99(220.0)]));
    assert_eq!((broken.status, broken.rules[0].status), (VerdictStatus::Fail, Status::Fail));
    assert!(broken.fails_absolute() && !broken.fails_regression());

    let short = Made { rounds: 12, per_round: 5, ..Made::default() }.recording();
    let undecided = judge(&short, &slo(Vec::new(), vec![ttft_p99(500.0)]));
    assert_eq!(undecided.status, VerdictStatus::Inconclusive);
    assert!(undecided.rules[0].why.contains("more requests like these would decide"), "{}", undecided.rules[0].why);
    assert!(undecided.rules[0].why.contains("rule_out: "), "{}", undecided.rules[0].why);
}

#[test]
fn the_share_over_decides_by_a_limit_and_a_wider_one() {
    let p90 = require(Metric::Ttft, Some(90.0), Cmp::AtMost, 500.0);
    // One of 25 is 4 %, allowed 10 %: kept. Two are 8 %, below 10 % and surely below 21.7 %. Four are 16 %: broken.
    let status = |over| judge(&with_over(40, over), &slo(Vec::new(), vec![p90.clone()])).rules[0].status;
    assert_eq!([1, 2, 4].map(status), [Status::Pass, Status::Pass, Status::Fail]);
    // With r = 1 a pass must be proven: 8 % of 300 requests may be 10 %.
    let mut proven = slo(Vec::new(), vec![p90]);
    proven.rule_out = 1.0;
    assert_eq!(judge(&with_over(12, 2), &proven).rules[0].status, Status::Inconclusive);
}

#[test]
fn a_value_equal_to_a_strict_limit_breaks_it() {
    let run = Made { spread: 0.0, ..Made::default() }.recording();
    let status = |cmp| judge(&run, &slo(Vec::new(), vec![require(Metric::Ttft, Some(50.0), cmp, 200.0)])).rules[0].status;
    assert_eq!((status(Cmp::AtMost), status(Cmp::Below)), (Status::Pass, Status::Fail));
    let gaps = |cmp| judge(&run, &slo(Vec::new(), vec![require(Metric::Itl, Some(50.0), cmp, 20.0)])).rules[0].status;
    assert_eq!((gaps(Cmp::AtMost), gaps(Cmp::Below)), (Status::Pass, Status::Fail));
}

#[test]
fn slow_users_are_at_the_low_end_of_speed() {
    let run = Made { fails_every: 4, ..Made::default() }.recording();
    let speed = |percent, value| judge(&run, &slo(Vec::new(), vec![require(Metric::Speed, Some(percent), Cmp::AtLeast, value)]));
    assert_eq!(speed(5.0, 10.0).rules[0].status, Status::Fail, "a quarter has no speed at all");
    assert_eq!(speed(50.0, 30.0).rules[0].status, Status::Pass);
    assert_eq!(speed(50.0, 60.0).rules[0].status, Status::Fail);
}

#[test]
fn limits_without_room_are_decided_by_the_count() {
    let clean = Made::default().recording();
    let one_error = Made { fails_every: 1000, ..Made::default() }.recording();
    let of = |run: &Recording, rule: Rule| {
        let verdict = judge(run, &slo(vec![constraint(Metric::Ttft, Cmp::AtMost, 900.0)], vec![rule]));
        (verdict.rules[0].status, verdict.rules[0].method)
    };
    let count = Some(Method::Count);
    assert_eq!(of(&clean, require(Metric::Errors, None, Cmp::AtMost, 0.0)), (Status::Pass, count));
    assert_eq!(of(&one_error, require(Metric::Errors, None, Cmp::AtMost, 0.0)), (Status::Fail, count));
    assert_eq!(of(&one_error, require(Metric::Errors, None, Cmp::AtMost, 1.0)), (Status::Pass, count));
    assert_eq!(of(&clean, require(Metric::Goodput, None, Cmp::AtLeast, 1.0)), (Status::Pass, count));
    assert_eq!(of(&one_error, require(Metric::Goodput, None, Cmp::AtLeast, 1.0)), (Status::Fail, count));
    assert_eq!(of(&one_error, require(Metric::Errors, None, Cmp::AtMost, 0.01)).0, Status::Pass);
}

#[test]
fn exactly_the_allowed_share_is_kept_whatever_the_rounding() {
    for (limit, over) in [(0.92, 2), (0.88, 3), (0.8, 5)] {
        let rule = require(Metric::Goodput, None, Cmp::AtLeast, limit);
        let verdict = judge(&with_over(40, over), &slo(vec![constraint(Metric::Ttft, Cmp::AtMost, 500.0)], vec![rule]));
        assert_eq!(verdict.rules[0].status, Status::Pass, "{limit}");
    }
}

#[test]
fn failed_requests_leave_a_percentile_unbounded() {
    let run = Made { fails_every: 10, ..Made::default() }.recording();
    let verdict = judge(&run, &slo(Vec::new(), vec![ttft_p99(5000.0)]));
    assert_eq!((verdict.rules[0].status, verdict.rules[0].observed, verdict.rules[0].high), (Status::Fail, None, None));
    assert!(verdict.rules[0].why.contains("unbounded"), "{}", verdict.rules[0].why);
    let itl = judge(&run, &slo(Vec::new(), vec![require(Metric::Itl, Some(99.5), Cmp::AtMost, 5000.0)]));
    assert_eq!((itl.rules[0].status, itl.rules[0].samples), (Status::Fail, 900 * 9 + 100), "an error is one more gap over the limit");
}

#[test]
fn two_errors_of_two_thousand_count_into_the_percentile_over_all_requests() {
    let mut run = Made { rounds: 40, per_round: 50, ..Made::default() }.recording();
    for id in [77, 1500] {
        fail(&mut run.requests[id]);
    }
    let verdict = judge(&run, &slo(Vec::new(), vec![require(Metric::Ttft, Some(99.0), Cmp::AtMost, 400.0)]));
    let rule = &verdict.rules[0];
    assert_eq!((rule.status, rule.samples), (Status::Pass, 2000));
    assert!(rule.why.contains("2 of 2000 requests break it"), "{}", rule.why);
    // The percentile is that of all 2,000, failures ranked last: with two more beyond it, it lies a little higher.
    let healthy = judge(
        &Made { rounds: 40, per_round: 50, ..Made::default() }.recording(),
        &slo(Vec::new(), vec![require(Metric::Ttft, Some(99.0), Cmp::AtMost, 400.0)]),
    );
    assert!(rule.observed.unwrap() >= healthy.rules[0].observed.unwrap());
}

#[test]
fn three_per_cent_of_errors_leave_p99_unbounded_and_broken_and_say_why() {
    let run = Made { rounds: 40, per_round: 50, fails_every: 33, ..Made::default() }.recording();
    let verdict = judge(&run, &slo(Vec::new(), vec![require(Metric::Ttft, Some(99.0), Cmp::AtMost, 4000.0)]));
    let rule = &verdict.rules[0];
    assert_eq!((verdict.status, rule.status, rule.observed), (VerdictStatus::Fail, Status::Fail, None));
    assert!(rule.why.contains("unbounded") && rule.why.contains("failed"), "{}", rule.why);
}

#[test]
fn a_perfect_run_passes_against_a_perfect_baseline_without_a_number_that_is_none() {
    let perfect = |seed| Made { seed, spread: 0.0, ..Made::default() }.recording();
    let rules = vec![
        require(Metric::Goodput, None, Cmp::AtLeast, 0.95),
        require(Metric::Errors, None, Cmp::AtMost, 0.01),
        require(Metric::Ttft, Some(99.0), Cmp::AtMost, 400.0),
        regression(Metric::Goodput, None, None, Some(0.02)),
        regression(Metric::Ttft, Some(95.0), Some(0.10), None),
        regression(Metric::ThroughputRps, None, Some(0.10), None),
    ];
    let constraints = vec![constraint(Metric::Ttft, Cmp::AtMost, 400.0)];
    for stored in [0, 1, 5] {
        let stored: Vec<Recording> = (0..stored).map(|seed| perfect(10 + seed)).collect();
        let verdict = judge_against(&perfect(1), &stored, &slo(constraints.clone(), rules.clone()));
        assert_eq!(verdict.status, VerdictStatus::Pass, "{:#?}", verdict.rules);
        for row in &verdict.rules {
            let figures = [row.observed, row.low, row.high, row.baseline, row.change, row.change_low, row.change_high, row.n_eff];
            assert!(figures.iter().flatten().all(|figure| figure.is_finite()), "{row:?}");
            assert!(!row.why.contains("NaN"), "{}", row.why);
        }
    }
}

#[test]
fn a_share_of_rounds_is_counted_in_rounds() {
    let mut run = Made { spread: 0.0, ..Made::default() }.recording();
    for slow in run.requests.iter_mut().filter(|request| request.round < Some(20)) {
        slow.first_token = Some(Nanos::from_ms(199.0));
    }
    let in_rounds = |share| {
        let test = Test::Absolute { cmp: Cmp::AtMost, value: 199.5, share_of_rounds: Some(share) };
        let verdict = judge(&run, &slo(Vec::new(), vec![Rule { test, ..ttft_p99(0.0) }]));
        (verdict.rules[0].status, verdict.rules[0].observed, verdict.rules[0].unit, verdict.rules[0].samples)
    };
    assert_eq!(in_rounds(0.9), (Status::Fail, Some(0.5), Unit::Share, 40));
    assert_eq!(in_rounds(0.2).0, Status::Pass);
}

#[test]
fn a_scope_holds_its_own_requests_alone() {
    let mut run = Made { spread: 0.0, ..Made::default() }.recording();
    for long in run.requests.iter_mut().step_by(2) {
        long.input_tokens = Some(5000);
        long.asked_input = 5000;
        long.first_token = Some(Nanos::from_ms(900.0));
        long.last_token = Some(Nanos::from_ms(1080.0));
    }
    let when = |low, high| Condition { clauses: vec![(Field::InputTokens, low, high)] };
    let rules = vec![
        Rule {
            when: when(0, 1023),
            text: "ttft p95 <= 300ms when input_tokens < 1k".to_owned(),
            ..require(Metric::Ttft, Some(95.0), Cmp::AtMost, 300.0)
        },
        Rule { when: when(1024, 8192), ..require(Metric::Ttft, Some(95.0), Cmp::AtMost, 300.0) },
        Rule { when: when(9000, 9999), ..require(Metric::Ttft, Some(95.0), Cmp::AtMost, 300.0) },
    ];
    let verdict = judge(&run, &slo(Vec::new(), rules));
    assert_eq!(verdict.rules.iter().map(|row| row.status).collect::<Vec<_>>(), [Status::Pass, Status::Fail, Status::Invalid]);
    assert_eq!(verdict.rules[0].scope.as_deref(), Some("when input_tokens < 1k"));
    assert_eq!(verdict.status, VerdictStatus::Invalid, "a rule without data is no pass, and no mere fail either");
}

#[test]
fn a_floor_on_a_rate_is_kept_broken_or_undecided() {
    let mut run = Made::default().recording();
    // Rounds of 0.2 to 0.3 s: 83 to 125 requests a second, 100 at the middle.
    let mut at = 0_i64;
    for (index, round) in run.requests.chunks_mut(25).enumerate() {
        let step = 10_000_000 + [0, 2_000_000, 1_000_000, 0, -2_000_000][index % 5];
        for request in round {
            request.scheduled = Nanos(u64::try_from(at).unwrap());
            request.sent = request.scheduled;
            at += step;
        }
    }
    let floor = |value| judge(&run, &slo(Vec::new(), vec![require(Metric::ThroughputRps, None, Cmp::AtLeast, value)])).rules[0].clone();
    assert_eq!((floor(90.0).status, floor(110.0).status, floor(98.0).status), (Status::Pass, Status::Fail, Status::Inconclusive));
    assert_eq!(floor(90.0).method, Some(Method::Rounds));
    assert!(floor(90.0).low < floor(90.0).observed && floor(90.0).observed < floor(90.0).high);
    assert!(floor(98.0).why.contains("more rounds"), "{}", floor(98.0).why);
}

#[test]
fn cache_hits_and_headroom_need_to_be_known() {
    let mut run = Made::default().recording();
    let rules =
        slo(Vec::new(), vec![require(Metric::CacheHit, None, Cmp::AtLeast, 0.3), require(Metric::Headroom, None, Cmp::AtLeast, 0.2)]);
    let unknown = judge(&run, &rules);
    assert_eq!(unknown.rules.iter().map(|row| row.status).collect::<Vec<_>>(), [Status::Invalid, Status::Invalid]);
    run.conditions.workload.prefix_hit = 0.4;
    for request in &mut run.requests {
        request.cached_tokens = Some(200);
    }
    let known = judge_with(&run, &[], &rules, |inputs| inputs.headroom = Some((0.1, 0.3)));
    assert_eq!(known.rules.iter().map(|row| row.status).collect::<Vec<_>>(), [Status::Pass, Status::Inconclusive]);
}

#[test]
fn bare_estimates_need_no_rounds_but_enough_samples() {
    let mut rules =
        slo(vec![constraint(Metric::Ttft, Cmp::AtMost, 900.0)], vec![require(Metric::Goodput, None, Cmp::AtLeast, 0.95), ttft_p99(500.0)]);
    rules.confidence = Confidence::Point;
    let status = |run: &Recording| judge(run, &rules).rules.iter().map(|row| row.status).collect::<Vec<_>>();
    let few = Made { rounds: 1, per_round: 99, ..Made::default() }.recording();
    assert_eq!(status(&few), [Status::Pass, Status::Inconclusive]);
    let enough = Made { rounds: 1, per_round: 100, ..Made::default() }.recording();
    assert_eq!((status(&enough), judge(&enough, &rules).status), (vec![Status::Pass, Status::Pass], VerdictStatus::Pass));
    let failing = Made { rounds: 1, per_round: 100, fails_every: 10, ..Made::default() }.recording();
    assert_eq!(status(&failing), [Status::Fail, Status::Fail]);
    assert_eq!(judge(&enough, &rules).rules[0].low, None);
}

#[test]
fn what_is_advised_never_decides() {
    let advice = Rule { kind: RuleKind::Advise, ..ttft_p99(1.0) };
    let verdict = judge(&Made::default().recording(), &slo(Vec::new(), vec![ttft_p99(500.0), advice]));
    assert_eq!((verdict.rules[1].status, verdict.status), (Status::Fail, VerdictStatus::Pass));
}

#[test]
fn buffered_answers_are_over_the_limit_and_single_tokens_are_outside() {
    let mut run = Made { spread: 0.0, ..Made::default() }.recording();
    for round in run.requests.chunks_mut(25) {
        for answer in round.iter_mut().take(3) {
            buffer(answer);
        }
        let single = &mut round[5];
        *single = crate::record::Request {
            round: single.round,
            scheduled: single.scheduled,
            sent: single.sent,
            ..request(single.id, Nanos::from_ms(200.0), Nanos(1), 1)
        };
    }
    let verdict = judge(&run, &slo(Vec::new(), vec![require(Metric::Tpot, Some(95.0), Cmp::AtMost, 50.0)]));
    assert_eq!((verdict.rules[0].status, verdict.rules[0].samples), (Status::Fail, 960));
}

#[test]
fn what_would_be_is_counted_on_the_same_run() {
    let run = with_over(12, 5);
    let lens = Lens::new(&slo(vec![constraint(Metric::Ttft, Cmp::AtMost, 500.0)], Vec::new()), &buckets());
    let other = what_if(&summary::of(&run, &lens), &[constraint(Metric::Tpot, Cmp::AtMost, 15.0)]);
    assert_eq!((other[0].requests, other[0].was, other[0].would_be), (300, 240, 0));
}

#[test]
fn a_rule_that_cannot_pass_is_named_with_what_it_needs() {
    let rules = slo(
        Vec::new(),
        vec![ttft_p99(1.0), require(Metric::Ttft, Some(95.0), Cmp::AtMost, 1.0), require(Metric::Errors, None, Cmp::AtMost, 0.0)],
    );
    let of = |rounds, requests| power::cannot_pass(&rules, |_| Some(power::Planned { rounds, requests }));
    assert_eq!(of(40, 1000), []);
    let weak = of(20, 100);
    assert_eq!(weak.len(), 1);
    assert_eq!((weak[0].needed_requests, weak[0].needed_rounds), (125, 25));
    assert_eq!(of(4, 1000)[0].needed_rounds, 12, "fewer than 12 rounds bear no interval");
    // What is named is enough indeed.
    let run = Made { rounds: 25, per_round: 5, ..Made::default() }.recording();
    assert_eq!(judge(&run, &slo(Vec::new(), vec![ttft_p99(900.0)])).rules[0].status, Status::Pass);
    let run = Made { rounds: 24, per_round: 5, ..Made::default() }.recording();
    assert_eq!(judge(&run, &slo(Vec::new(), vec![ttft_p99(900.0)])).rules[0].status, Status::Inconclusive);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn slower_requests_never_turn_a_fail_into_a_pass(seed in 0_u64..500, limit in 180.0..300.0_f64, slower in 1.0..1.5_f64, which in 1_usize..9) {
        let run = Made { seed, rounds: 14, spread: 0.2, ..Made::default() }.recording();
        let mut worse = run.clone();
        for request in worse.requests.iter_mut().step_by(which) {
            let longer = request.first_token.unwrap().as_ms() * slower;
            request.first_token = Some(Nanos::from_ms(longer));
            request.last_token = Some(Nanos::from_ms(longer + 180.0));
        }
        for failed in worse.requests.iter_mut().step_by(97) {
            fail(failed);
        }
        let rules = slo(vec![constraint(Metric::Ttft, Cmp::AtMost, limit)], vec![
            require(Metric::Ttft, Some(90.0), Cmp::AtMost, limit),
            require(Metric::Goodput, None, Cmp::AtLeast, 0.9),
        ]);
        let (before, after) = (judge(&run, &rules), judge(&worse, &rules));
        for (before, after) in before.rules.iter().zip(&after.rules) {
            prop_assert!(!(before.status == Status::Fail && after.status == Status::Pass));
        }
    }

    #[test]
    fn a_tie_is_decided_like_its_limit(value in 1.0..1000.0_f64) {
        let run = Made { rounds: 12, ttft_ms: value, spread: 0.0, ..Made::default() }.recording();
        let exact = run.requests[0].first_token.unwrap().as_ms();
        for percent in [1.0, 50.0, 99.0] {
            let kept = judge(&run, &slo(Vec::new(), vec![require(Metric::Ttft, Some(percent), Cmp::AtMost, exact)]));
            prop_assert_eq!(kept.rules[0].status, Status::Pass);
            let broken = judge(&run, &slo(Vec::new(), vec![require(Metric::Ttft, Some(percent), Cmp::AtMost, exact * 0.99)]));
            prop_assert_eq!(broken.rules[0].status, if percent > 1.0 { Status::Fail } else { broken.rules[0].status });
        }
    }
}
