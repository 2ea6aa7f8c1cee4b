use super::{all, at_rate, counted, lengths, moments, plan};
use crate::plan::{Inputs, Pace, PlanError, build};
use crate::spec::{Arrival, RoundLength, Rounds, WarmUp};
use crate::units::Nanos;
use std::time::Duration;

fn gaps(arrival: Arrival) -> Vec<f64> {
    let mut spec = at_rate(20.0, arrival);
    spec.load.round = RoundLength::Requests(20_000);
    spec.load.rounds = Rounds { min: 1, max: 1 };
    let due: Vec<_> = counted(&plan(&spec), 0).iter().map(|planned| planned.due.unwrap().as_secs()).collect();
    due.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn arrivals_have_the_rate_and_the_spread_of_their_process() {
    // Of each: the coefficient of variation and the kurtosis of its gaps (gamma: 3 + 6 / shape).
    for (arrival, cv, kurtosis) in
        [(Arrival::Poisson, 1.0, 9.0), (Arrival::Gamma { shape: 0.25 }, 2.0, 27.0), (Arrival::Gamma { shape: 4.0 }, 0.5, 4.5)]
    {
        let gaps = gaps(arrival);
        let root = (gaps.len() as f64).sqrt();
        let (mean, sd) = moments(&gaps);
        assert!((mean * 20.0 - 1.0).abs() < 5.0 * cv / root, "{arrival:?}: mean gap {mean}");
        let error = cv * ((kurtosis - 1.0) / 4.0_f64).sqrt() / root;
        assert!((sd * 20.0 - cv).abs() < 5.0 * error + 5.0 * cv * cv / root, "{arrival:?}: cv {}", sd * 20.0);
    }
    let (mean, sd) = moments(&gaps(Arrival::Constant));
    assert!((mean - 0.05).abs() < 1e-9 && sd < 1e-8);
}

#[test]
fn due_times_ascend_through_warm_up_and_rounds_and_none_lies_beyond_the_end() {
    for arrival in [Arrival::Poisson, Arrival::Constant, Arrival::Gamma { shape: 0.1 }] {
        let plan = plan(&at_rate(30.0, arrival));
        let Pace::Open { due } = &plan.levels[0].pace else { panic!("closed") };
        assert_eq!(due.len() as u64, plan.total_requests());
        assert!(due.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(due.last().unwrap() <= &plan.levels[0].end.unwrap());
        assert_eq!(&all(&plan).iter().map(|planned| planned.due.unwrap()).collect::<Vec<_>>(), due);
        assert_eq!(plan.estimated_time(), plan.levels[0].end.map(Duration::from));
    }
}

#[test]
fn the_rounds_of_an_open_loop_keep_their_gaps_whatever_the_warm_up() {
    let gaps = |warmup: u32| {
        let mut spec = at_rate(30.0, Arrival::Poisson);
        spec.load.warmup = WarmUp::Requests(warmup);
        let plan = plan(&spec);
        let requests = counted(&plan, 0);
        let first = requests[0].due.unwrap();
        let gaps: Vec<_> = requests.iter().map(|planned| planned.due.unwrap().since(first).0 / 1000).collect();
        (gaps, lengths(&requests), plan.digest())
    };
    let (one, two) = (gaps(0), gaps(40));
    assert!(one.0.iter().zip(&two.0).all(|(a, b)| a.abs_diff(*b) <= 1));
    assert_eq!((one.1, one.2), (two.1, two.2));
}

#[test]
fn the_arrival_process_enters_the_digest_and_the_rate_does_not() {
    let digest = |rate: f64, arrival: Arrival| plan(&at_rate(rate, arrival)).digest();
    assert_eq!(digest(10.0, Arrival::Poisson), digest(20.0, Arrival::Poisson));
    assert_ne!(digest(10.0, Arrival::Poisson), digest(10.0, Arrival::Gamma { shape: 0.5 }));
    let mut closed = at_rate(10.0, Arrival::Poisson);
    closed.load.offered = Some(crate::spec::Offered::Concurrency(10));
    assert_ne!(digest(10.0, Arrival::Poisson), plan(&closed).digest());
}

#[test]
fn a_constant_rate_fills_each_timed_round_with_exactly_its_requests() {
    let mut spec = at_rate(10.0, Arrival::Constant);
    spec.load.round = RoundLength::Time(Duration::from_secs(20));
    let plan = plan(&spec);
    assert_eq!(plan.levels[0].info.round_requests, [200; 40]);
    assert_eq!(plan.levels[0].end, Some(Nanos::from(Duration::from_secs(802))));
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
}

#[test]
fn timed_rounds_hold_what_arrives_within_them_and_none_is_empty() {
    let mut spec = at_rate(2.0, Arrival::Gamma { shape: 0.2 });
    spec.load.round = RoundLength::Time(Duration::from_secs(1));
    spec.load.warmup = WarmUp::Requests(0);
    let plan = plan(&spec);
    let requests = counted(&plan, 0);
    assert_eq!(plan.levels[0].info.rounds, 40);
    for round in 0..40 {
        let due: Vec<_> = requests.iter().filter(|planned| planned.round == Some(round)).map(|planned| planned.due.unwrap()).collect();
        let windows: Vec<_> = due.iter().map(|due| due.0 / 1_000_000_000).collect();
        assert!(!windows.is_empty());
        assert!(windows.iter().all(|window| *window == windows[0]), "round {round}: {windows:?}");
    }
    let lengths: u64 = plan.levels[0].info.round_requests.iter().map(|requests| u64::from(*requests)).sum();
    assert_eq!(lengths, requests.len() as u64);
}

#[test]
fn whole_rounds_are_added_until_min_time_is_planned() {
    let mut spec = at_rate(10.0, Arrival::Constant);
    spec.load.rounds = Rounds { min: 2, max: 2 };
    spec.load.min_time = Duration::from_secs(60);
    let level = &plan(&spec).levels[0];
    assert_eq!(level.info.round_requests, [25; 24]);
    assert_eq!(level.info.rounds, 24);
    assert_eq!(level.min_rounds, 2);
}

#[test]
fn a_round_beyond_the_plan_goes_on_where_the_plan_ended() {
    let mut spec = at_rate(10.0, Arrival::Poisson);
    let long = plan(&spec);
    spec.load.rounds = Rounds { min: 3, max: 3 };
    let short = plan(&spec);
    for round in [0, 2, 3, 17] {
        assert_eq!(short.round_requests(0, round), long.round_requests(0, round), "round {round}");
    }
    assert!(long.round_requests(1, 0).is_empty());
}

#[test]
fn what_no_open_loop_can_be_made_of_is_an_error() {
    for (rate, arrival) in [
        (0.0, Arrival::Poisson),
        (-1.0, Arrival::Poisson),
        (f64::NAN, Arrival::Poisson),
        (f64::INFINITY, Arrival::Poisson),
        (1e-9, Arrival::Poisson),
        (1.0, Arrival::Gamma { shape: 0.0 }),
        (1.0, Arrival::Gamma { shape: f64::NAN }),
    ] {
        let error = build(&at_rate(rate, arrival), &Inputs::default(), 0).unwrap_err();
        assert!(matches!(error, PlanError::Impossible { .. }), "{rate} {arrival:?}: {error}");
    }
    let trace = build(&at_rate(1.0, Arrival::Trace), &Inputs::default(), 0).unwrap_err();
    assert_eq!(trace.to_string(), "load.arrival: trace is not supported yet");
    let mut long = at_rate(1e6, Arrival::Constant);
    long.load.min_time = Duration::from_secs(600);
    assert!(matches!(build(&long, &Inputs::default(), 0), Err(PlanError::TooMany { .. })));
}

#[test]
fn the_pinned_seed_gives_the_pinned_arrivals() {
    let plan = plan(&at_rate(10.0, Arrival::Gamma { shape: 0.5 }));
    let micros: Vec<_> = counted(&plan, 0)[..5].iter().map(|planned| (planned.due.unwrap().0 + 500) / 1000).collect();
    assert_eq!(micros, [1_600_586, 1_611_844, 1_612_198, 1_658_498, 1_697_945]);
    assert_eq!(plan.digest(), "a96e9a7da0c89a8a457c28592ec64f6446305caaf390b5ee3ebe1c99d674487d");
}
