use super::*;
use crate::metric::Metric;
use crate::record::{EndReason, Request};
use crate::spec::{Cmp, Confidence, Rule};
use crate::summary::made::{Dice, Made, buffer, regression, require, slo};
use crate::units::Nanos;

fn rules() -> Slo {
    slo(Vec::new(), vec![require(Metric::Ttft, Some(99.0), Cmp::AtMost, 900.0), require(Metric::Tpot, Some(50.0), Cmp::AtMost, 900.0)])
}

fn checked(run: &Recording, check: &str) -> (ValidityStatus, VerdictStatus) {
    let verdict = judge(run, &rules());
    (row(&verdict, check).status, verdict.status)
}

fn every(run: &mut Recording, nth: usize, change: impl Fn(&mut Request)) {
    run.requests.iter_mut().step_by(nth).for_each(change);
}

const INVALID: (ValidityStatus, VerdictStatus) = (ValidityStatus::Invalid, VerdictStatus::Invalid);
const WARN: (ValidityStatus, VerdictStatus) = (ValidityStatus::Warn, VerdictStatus::Pass);
const OK: (ValidityStatus, VerdictStatus) = (ValidityStatus::Ok, VerdictStatus::Pass);

#[test]
fn a_sound_run_passes_every_check() {
    let verdict = judge(&Made::default().recording(), &rules());
    assert_eq!(verdict.status, VerdictStatus::Pass);
    for check in &verdict.validity {
        assert_eq!(check.status, ValidityStatus::Ok, "{}: {}", check.check, check.text);
        assert!(!check.text.is_empty());
    }
    assert_eq!(verdict.warnings, Vec::<String>::new());
}

#[test]
fn an_empty_recording_is_invalid() {
    let run = Made { rounds: 0, ..Made::default() }.recording();
    assert_eq!(checked(&run, "data"), INVALID);
    let mut point = rules();
    point.confidence = Confidence::Point;
    assert_eq!(judge(&run, &point).status, VerdictStatus::Invalid);
}

#[test]
fn a_run_in_which_all_fail_is_invalid() {
    let run = Made { fails_every: 1, ..Made::default() }.recording();
    assert_eq!(checked(&run, "all_failed"), INVALID);
    assert!(row(&judge(&run, &rules()), "all_failed").text.contains("1000 x timeout"));
}

#[test]
fn fewer_than_twelve_rounds_bear_no_interval() {
    assert_eq!(checked(&Made { rounds: 11, per_round: 100, ..Made::default() }.recording(), "rounds"), INVALID);
    assert_eq!(checked(&Made { rounds: 12, per_round: 100, ..Made::default() }.recording(), "rounds"), OK);
    let mut none_whole = Made { rounds: 12, ..Made::default() }.recording();
    none_whole.rounds.clear();
    assert_eq!(checked(&none_whole, "rounds"), INVALID);
}

#[test]
fn a_level_that_did_not_run_is_no_pass() {
    let at = |level: &str| slo(Vec::new(), vec![Rule { level: level.to_owned(), ..require(Metric::Ttft, Some(50.0), Cmp::AtMost, 900.0) }]);
    let mut run = Made::default().recording();
    let verdict = judge(&run, &at("2x"));
    assert_eq!((verdict.rules[0].status, verdict.status), (Status::Invalid, VerdictStatus::Invalid));
    // Where an earlier level was decided, later ones are skipped.
    let mut second = run.conditions.load.levels[0].clone();
    second.label = "2x".to_owned();
    run.conditions.load.levels.push(second);
    run.end.as_mut().unwrap().reason = EndReason::Decided;
    assert_eq!(judge(&run, &at("2x")).rules[0].status, Status::Skipped);
}

#[test]
fn a_late_client_voids_the_run() {
    let mut late = Made::default().recording();
    every(&mut late, 50, |request| request.sent = request.scheduled + Nanos::from_ms(6.0));
    assert_eq!(checked(&late, "client_lag"), INVALID);
    let mut jammed = Made::default().recording();
    for sample in &mut jammed.client {
        sample.loop_lag_p99 = Nanos::from_ms(8.0);
    }
    assert_eq!(checked(&jammed, "client_lag"), INVALID);
    let mut busy = Made::default().recording();
    for sample in &mut busy.client {
        sample.cpu_share = Some(0.9);
    }
    assert_eq!(checked(&busy, "cpu_share"), WARN);
}

#[test]
fn a_clock_that_jumped_warns_and_then_voids_the_run() {
    for (step, expected) in [(20.0, ValidityStatus::Ok), (-300.0, ValidityStatus::Warn), (2500.0, ValidityStatus::Invalid)] {
        let mut run = Made::default().recording();
        run.client[3].clock_step_ms = Some(step);
        let verdict = judge(&run, &rules());
        let clock = row(&verdict, "clock");
        assert_eq!(clock.status, expected, "{}", clock.text);
        assert_eq!(verdict.status == VerdictStatus::Invalid, expected == ValidityStatus::Invalid);
    }
    let mut run = Made::default().recording();
    run.client.iter_mut().for_each(|sample| sample.clock_step_ms = None);
    assert!(judge(&run, &rules()).validity.iter().all(|check| check.check != "clock"), "older runs did not watch it");
}

#[test]
fn load_that_was_not_delivered_voids_an_open_loop() {
    let open = Made { rate: Some(100.0), ..Made::default() };
    assert_eq!(checked(&open.recording(), "load_delivered"), OK);
    let mut short = open.recording();
    short.conditions.load.levels[0].round_requests = vec![26; 40];
    assert_eq!(checked(&short, "load_delivered"), INVALID);
    let mut slow = open.recording();
    every(&mut slow, 1, |request| request.sent = Nanos(request.scheduled.0 * 103 / 100));
    assert_eq!(checked(&slow, "load_delivered"), INVALID);
    assert!(judge(&Made::default().recording(), &rules()).validity.iter().all(|row| row.check != "load_delivered"));
}

#[test]
fn lengths_that_are_off_void_the_run() {
    let mut output = Made::default().recording();
    every(&mut output, 50, |request| request.asked_output = 11);
    assert_eq!(checked(&output, "exact_output"), INVALID);
    let not_demanded = judge_with(&output, &[], &rules(), |inputs| inputs.exact_output = false);
    assert_eq!(not_demanded.status, VerdictStatus::Pass);
    let mut input = Made::default().recording();
    every(&mut input, 50, |request| request.asked_input = 501);
    assert_eq!(checked(&input, "input_lengths"), INVALID);
    input.conditions.calibrated = false;
    assert_eq!(checked(&input, "input_lengths"), OK);
}

#[test]
fn cache_hits_must_be_those_offered() {
    let with_cached = |cached: u64| {
        let mut run = Made::default().recording();
        every(&mut run, 1, |request| request.cached_tokens = Some(cached));
        run
    };
    assert_eq!(checked(&with_cached(0), "cache_hits"), OK);
    assert_eq!(checked(&with_cached(32), "cache_hits"), OK, "a chat template of two blocks");
    assert_eq!(checked(&with_cached(400), "cache_hits"), INVALID);
    let told = judge_with(&with_cached(400), &[], &rules(), |inputs| inputs.shared_tokens = Some(410));
    assert_eq!(row(&told, "cache_hits").status, ValidityStatus::Ok);
    let unused = judge_with(&with_cached(1), &[], &rules(), |inputs| inputs.shared_tokens = Some(24));
    assert_eq!(row(&unused, "cache_hits").status, ValidityStatus::Ok, "a template may be cached and need not be");
    let mut offered = with_cached(0);
    offered.conditions.workload.prefix_hit = 0.5;
    assert_eq!(checked(&offered, "cache_hits"), INVALID, "offered reuse that did not happen");
}

#[test]
fn buffering_warns_and_then_voids_rules_on_pace() {
    let buffered = |nth| {
        let mut run = Made::default().recording();
        every(&mut run, nth, buffer);
        run
    };
    assert_eq!(checked(&buffered(50), "buffered"), WARN);
    assert_eq!(checked(&buffered(1), "buffered"), INVALID);
    let ttft_only = slo(Vec::new(), vec![require(Metric::Ttft, Some(99.0), Cmp::AtMost, 900.0)]);
    assert_eq!(judge(&buffered(1), &ttft_only).status, VerdictStatus::Pass);
}

#[test]
fn several_tokens_an_event_are_told() {
    let mut run = Made::default().recording();
    every(&mut run, 1, |request| request.events = 5);
    assert_eq!(checked(&run, "tokens_per_event"), WARN);
}

#[test]
fn gaps_of_crowded_reads_decide_nothing() {
    let mut run = Made::default().recording();
    every(&mut run, 1, |request| {
        for gap in request.gaps.iter_mut().step_by(2) {
            *gap = Nanos::ZERO;
        }
    });
    let itl = slo(Vec::new(), vec![require(Metric::Itl, Some(90.0), Cmp::AtMost, 900.0)]);
    let verdict = judge(&run, &itl);
    assert_eq!((verdict.rules[0].status, row(&verdict, "crowded_reads").status), (Status::Inconclusive, ValidityStatus::Inconclusive));
}

#[test]
fn a_warm_up_that_was_not_over_is_inconclusive_and_a_fail_stands() {
    let mut run = Made::default().recording();
    for request in run.requests.iter_mut().filter(|request| request.round < Some(13)) {
        let longer = request.first_token.unwrap().as_ms() * 1.5;
        request.first_token = Some(Nanos::from_ms(longer));
        request.last_token = Some(Nanos::from_ms(longer + 180.0));
    }
    assert_eq!(checked(&run, "warm_up"), (ValidityStatus::Inconclusive, VerdictStatus::Inconclusive));
    let strict = slo(Vec::new(), vec![require(Metric::Ttft, Some(99.0), Cmp::AtMost, 210.0)]);
    assert_eq!(judge(&run, &strict).status, VerdictStatus::Fail);
    // Without any noise only the distance of the thirds is left to judge by.
    let mut exact = Made { spread: 0.0, ..Made::default() }.recording();
    for request in exact.requests.iter_mut().filter(|request| request.round < Some(13)) {
        request.first_token = Some(Nanos::from_ms(220.0));
    }
    assert_eq!(checked(&exact, "warm_up").0, ValidityStatus::Inconclusive);
}

#[test]
fn a_cut_run_is_judged_by_its_whole_rounds_and_says_so() {
    let mut cut = Made::default().recording();
    cut.end = None;
    cut.rounds.truncate(30);
    assert_eq!(checked(&cut, "complete"), WARN);
    cut.damage.push("line 7: not JSON".to_owned());
    assert!(row(&judge(&cut, &rules()), "complete").text.contains("1 damaged lines"));
    cut.rounds.truncate(5);
    assert_eq!(judge(&cut, &rules()).status, VerdictStatus::Invalid);
    let mut unusable = Made::default().recording();
    unusable.end.as_mut().unwrap().reason = EndReason::Unusable;
    assert_eq!(checked(&unusable, "complete"), INVALID);
}

#[test]
fn garbage_gives_a_verdict_and_no_panic() {
    let mut dice = Dice::new(3);
    for seed in 0..30_u32 {
        let mut run = Made { seed: seed.into(), rounds: 13, per_round: 4, ..Made::default() }.recording();
        for request in &mut run.requests {
            if dice.uniform() < 0.3 {
                request.output_tokens = [None, Some(0), Some(u64::MAX)][seed as usize % 3];
            }
            if dice.uniform() < 0.3 {
                request.last_token = None;
            }
            if dice.uniform() < 0.3 {
                (request.cached_tokens, request.input_tokens) = (Some(u64::MAX / 1000), Some(0));
            }
            if dice.uniform() < 0.2 {
                request.scheduled = Nanos(u64::MAX);
            }
            if dice.uniform() < 0.2 {
                request.round = Some(u32::MAX);
            }
        }
        let all = [Metric::Ttft, Metric::Tpot, Metric::Stall, Metric::E2e, Metric::Speed, Metric::Itl];
        let mut every: Vec<Rule> = all.iter().map(|metric| regression(*metric, Some(95.0), Some(0.1), None)).collect();
        every.extend([Metric::ThroughputRps, Metric::GoodputTps].map(|metric| regression(metric, None, Some(0.1), None)));
        every.extend([Metric::CacheHit, Metric::Goodput].map(|metric| regression(metric, None, None, Some(0.1))));
        let verdict = judge_against(&run, &[run.clone()], &slo(Vec::new(), every));
        assert!(verdict.rules.iter().all(|row| row.change.is_none_or(f64::is_finite)));
    }
}
