use super::{all, at_rate, formula, lengths, named, plan, spec};
use crate::plan::{Inputs, Pace, PlanError, PlanWarning, build};
use crate::spec::{Arrival, Distribution, Lengths, Offered, RoundLength, Rounds, Spec, WarmUp};
use proptest::prelude::*;
use std::time::Duration;

#[test]
fn a_round_is_the_levels_concurrency_and_at_least_25_and_a_warm_up_at_least_20() {
    for (concurrency, factor, slots, round, warmup) in [
        (16, 1.0, 16, 25, 20),
        (60, 1.0, 60, 60, 60),
        (60, 1.5, 90, 90, 90),
        (10, 1.1, 11, 25, 20),
        (30, 1.01, 31, 31, 31),
        (1, 0.1, 1, 25, 20),
    ] {
        let mut spec = spec();
        spec.load.offered = Some(Offered::Concurrency(concurrency));
        spec.load.levels = vec![("one".to_owned(), factor)];
        let level = plan(&spec).levels[0].clone();
        assert_eq!(level.pace, Pace::Closed { concurrency: slots });
        assert_eq!(level.info.concurrency, Some(slots));
        assert_eq!((level.info.round_requests, level.info.warmup), (vec![round; 40], warmup), "{concurrency} x {factor}");
    }
}

#[test]
fn levels_of_an_open_loop_multiply_the_rate_and_keep_rounds_of_25() {
    let mut spec = at_rate(4.0, Arrival::Poisson);
    spec.load.levels = vec![("1x".to_owned(), 1.0), ("2x".to_owned(), 2.0)];
    let plan = plan(&spec);
    let rates: Vec<_> = plan.levels.iter().map(|level| level.info.rate).collect();
    assert_eq!(rates, [Some(4.0), Some(8.0)]);
    assert!(plan.levels.iter().all(|level| level.info.round_requests == [25; 40] && level.info.warmup == 20));
    let info = plan.load_info();
    assert_eq!((info.rate, info.concurrency, info.arrival.as_str(), info.levels.len()), (Some(4.0), None, "poisson", 2));
}

#[test]
fn ids_number_all_requests_and_rounds_follow_the_warm_up() {
    let mut spec = spec();
    spec.load.levels.push(("2x".to_owned(), 2.0));
    spec.load.rounds = Rounds { min: 2, max: 3 };
    let plan = plan(&spec);
    let requests = all(&plan);
    assert!(requests.iter().enumerate().all(|(place, planned)| planned.id == place as u64));
    assert_eq!(requests.len() as u64, plan.total_requests());
    assert_eq!(plan.total_requests(), 20 + 3 * 25 + 32 + 3 * 32);
    let rounds: Vec<_> = plan.requests(0).map(|planned| planned.round).collect();
    assert_eq!(rounds[..20], [None; 20]);
    assert!((0..3).all(|round| rounds[20 + 25 * round..45 + 25 * round] == [Some(u32::try_from(round).unwrap()); 25]));
    assert_eq!((plan.levels[0].min_rounds, plan.levels[0].info.rounds), (2, 3));
    assert_ne!(lengths(&requests[20..45]), lengths(&requests[127..152]), "levels have an order of their own");
    let tokens = lengths(&requests).iter().fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    assert_eq!(plan.total_tokens(), tokens);
    assert_eq!(plan.estimated_time(), None);
}

#[test]
fn a_closed_loop_has_rounds_beyond_the_planned_ones() {
    let mut spec = spec();
    let long = plan(&spec);
    spec.load.rounds = Rounds { min: 3, max: 3 };
    let short = plan(&spec);
    assert_eq!(short.round_requests(0, 30), long.round_requests(0, 30));
}

#[test]
fn rounds_and_warm_ups_too_small_to_be_steady_are_warned_of() {
    let mut spec = spec();
    spec.load.offered = Some(Offered::Concurrency(60));
    spec.load.round = RoundLength::Requests(50);
    spec.load.warmup = WarmUp::Requests(0);
    let label = "1x".to_owned();
    assert_eq!(
        plan(&spec).warnings,
        [
            PlanWarning::SmallRound { level: label.clone(), requests: 50, least: 60 },
            PlanWarning::SmallWarmUp { level: label.clone(), requests: 0, least: 60 },
        ]
    );
    let mut timed = at_rate(1.0, Arrival::Poisson);
    timed.load.round = RoundLength::Time(Duration::from_secs(10));
    assert_eq!(plan(&timed).warnings, [PlanWarning::SmallRound { level: label, requests: 10, least: 25 }]);
}

#[test]
fn a_timed_round_needs_an_open_loop_and_a_length() {
    let mut spec = spec();
    spec.load.round = RoundLength::Time(Duration::from_secs(5));
    assert!(matches!(build(&spec, &Inputs::default(), 0), Err(PlanError::Impossible { .. })));
    let mut spec = at_rate(1.0, Arrival::Poisson);
    spec.load.round = RoundLength::Time(Duration::ZERO);
    assert!(matches!(build(&spec, &Inputs::default(), 0), Err(PlanError::Impossible { .. })));
}

#[test]
fn a_plan_of_more_than_five_million_requests_is_refused_at_once() {
    for (concurrency, rounds, round) in [(u64::MAX, 40, RoundLength::Times(1.0)), (1, u32::MAX, RoundLength::Requests(u32::MAX))] {
        let mut spec = spec();
        spec.load.offered = Some(Offered::Concurrency(concurrency));
        spec.load.rounds = Rounds { min: 1, max: rounds };
        spec.load.round = round;
        assert!(matches!(build(&spec, &Inputs::default(), 0), Err(PlanError::TooMany { .. })));
    }
}

fn any_arrival() -> impl Strategy<Value = Arrival> {
    prop_oneof![Just(Arrival::Poisson), Just(Arrival::Constant), (0.05..20.0).prop_map(|shape| Arrival::Gamma { shape })]
}

fn any_offered() -> impl Strategy<Value = Offered> {
    prop_oneof![
        (1_u64..200).prop_map(Offered::Concurrency),
        (0.05..500.0, any_arrival()).prop_map(|(per_second, arrival)| Offered::Rate { per_second, arrival })
    ]
}

fn any_round() -> impl Strategy<Value = RoundLength> {
    prop_oneof![
        (0.1..4.0).prop_map(RoundLength::Times),
        (1_u32..80).prop_map(RoundLength::Requests),
        (50_u64..2000).prop_map(|ms| RoundLength::Time(Duration::from_millis(ms)))
    ]
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        (1_u64..10_000).prop_map(Distribution::Constant),
        (1_u64..1000, 0_u64..1000).prop_map(|(from, more)| Distribution::Uniform(from, from + more)),
        (1.0..2000.0, 0.0..500.0).prop_map(|(mean, sd)| Distribution::Normal { mean, sd }),
        (1.0..2000.0, 0.0..500.0).prop_map(|(mean, sd)| Distribution::Lognormal { mean, sd }),
    ]
}

prop_compose! {
    fn any_spec()(
        offered in any_offered(), round in any_round(), factors in prop::collection::vec(0.1..3.0, 1..3), max in 1_u32..20,
        warmup in prop_oneof![(0_u32..60).prop_map(WarmUp::Requests), (0.1..3.0).prop_map(WarmUp::Times)],
        input in any_distribution(), output in any_distribution(), share in 0.0..1.0, shared_prefix in 0_u64..100, seed: u64,
    ) -> Spec {
        let mut spec = spec();
        let closed = matches!(offered, Offered::Concurrency(_));
        let timed = matches!(round, RoundLength::Time(_));
        spec.load.round = if closed && timed { RoundLength::Times(1.0) } else { round };
        spec.load.offered = Some(offered);
        spec.load.levels = factors.iter().map(|factor| (format!("{factor}x"), *factor)).collect();
        spec.load.rounds = Rounds { min: max.div_ceil(2), max };
        spec.load.warmup = warmup;
        spec.load.seed = seed;
        spec.workload.parts =
            vec![named("own", share, formula(input, output)), named("chat", 1.0 - share, Lengths::Bundled("chat".to_owned()))];
        spec.workload.parts[0].shared_prefix = shared_prefix;
        spec
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_valid_spec_builds_and_every_round_has_a_request(spec in any_spec()) {
        let plan = plan(&spec);
        let requests = all(&plan);
        prop_assert_eq!(requests.len() as u64, plan.total_requests());
        for (number, level) in plan.levels.iter().enumerate() {
            prop_assert_eq!(level.info.rounds as usize, level.info.round_requests.len());
            prop_assert!(level.info.round_requests.iter().all(|requests| *requests >= 1));
            let last = level.info.rounds - 1;
            let of_last: Vec<_> = requests.iter().filter(|each| each.level == number && each.round == Some(last)).cloned().collect();
            prop_assert_eq!(plan.round_requests(number, last), of_last);
        }
        prop_assert!(requests.iter().all(|planned| planned.asked_input >= 1 && planned.asked_output >= 1));
        prop_assert!(requests.iter().enumerate().all(|(place, planned)| planned.id == place as u64));
    }
}

#[test]
fn sides_that_take_turns_have_blocks_begun_by_uncounted_requests() {
    let mut spec = spec();
    spec.load.rounds = Rounds { min: 5, max: 5 };
    spec.load.warmup = WarmUp::Requests(99);
    let plan = crate::plan::build_turns(&spec, &Inputs::default(), 1).unwrap();
    let info = &plan.levels[0].info;
    // max(round, 2 x concurrency), at least 12 pairs, one concurrency before each, and no warm-up besides.
    assert_eq!((info.round_requests.as_slice(), info.rounds, info.lead, info.warmup), (&[32; 12][..], 12, 16, 0));
    assert_eq!(plan.total_requests(), 12 * 48);
    let all: Vec<_> = plan.requests(0).collect();
    let blocks: Vec<_> = (0..12).flat_map(|round| plan.block(0, round)).collect();
    assert_eq!(all, blocks);
    let rounds: Vec<_> = plan.block(0, 3).iter().map(|request| request.round).collect();
    assert_eq!(rounds, [vec![None; 16], vec![Some(3); 32]].concat());
    let texts: std::collections::BTreeSet<String> = all.iter().map(|request| format!("{:?}", plan.prompt(request))).collect();
    assert_eq!(texts.len(), all.len(), "no prompt is like any other");
}

#[test]
fn blocks_of_an_open_loop_are_due_from_their_own_start() {
    let mut spec = at_rate(10.0, Arrival::Poisson);
    spec.load.rounds = Rounds { min: 12, max: 12 };
    let plan = crate::plan::build_turns(&spec, &Inputs::default(), 1).unwrap();
    let info = &plan.levels[0].info;
    assert_eq!((info.round_requests.as_slice(), info.lead, info.warmup), (&[50; 12][..], 20, 0));
    for round in [0, 7] {
        let due: Vec<_> = plan.block(0, round).iter().map(|request| request.due.unwrap()).collect();
        assert!(due.len() == 70 && due[0] == crate::units::Nanos::ZERO && due.is_sorted(), "{due:?}");
    }
}
