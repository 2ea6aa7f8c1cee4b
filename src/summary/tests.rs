use super::made::{Made, buckets, buffer, constraint, fail, request, slo};
use super::*;
use crate::metric::Metric;
use crate::record::Request;
use crate::spec::{Cmp, Condition, Constraint, Field};
use crate::units::Nanos;
use proptest::prelude::*;

fn ms(value: f64) -> Nanos {
    Nanos::from_ms(value)
}

fn summed(recording: &crate::record::Recording, constraints: Vec<Constraint>) -> Level {
    let lens = Lens::new(&slo(constraints, Vec::new()), &buckets());
    of(recording, &lens).levels.remove(0)
}

/// A run of one whole round that holds `requests`.
fn one_round(requests: Vec<Request>) -> crate::record::Recording {
    let mut recording = Made { rounds: 1, per_round: u32::try_from(requests.len()).unwrap(), ..Made::default() }.recording();
    recording.requests = requests;
    recording
}

fn close(a: Option<f64>, b: f64, within: f64) {
    assert!((a.unwrap() - b).abs() <= within, "{a:?} is not {b}");
}

#[test]
fn one_trace_gives_both_conventions_of_time_per_token() {
    // 500 ms to the first of 100 tokens, 700 ms from first to last.
    let level = summed(&one_round(vec![request(0, ms(500.0), Nanos(700_000_000 / 99), 100)]), Vec::new());
    close(level.table.tpot.p50, 7.07, 0.005);
    close(level.table.e2e_per_token.p50, 12.00, 0.005);
}

#[test]
fn a_worse_ttft_may_still_end_sooner() {
    let one = summed(&one_round(vec![request(0, ms(800.0), ms(40.0), 500)]), Vec::new());
    let other = summed(&one_round(vec![request(0, ms(1100.0), ms(25.0), 500)]), Vec::new());
    close(one.table.e2e.p50, 20_760.0, 1e-6);
    close(other.table.e2e.p50, 13_575.0, 1e-6);
}

#[test]
fn gaps_show_what_no_requests_tpot_does() {
    let mut answer = request(0, ms(100.0), ms(7.0), 521);
    for gap in answer.gaps.iter_mut().take(20) {
        *gap = ms(60.0);
    }
    answer.last_token = Some(ms(100.0 + 500.0 * 7.0 + 20.0 * 60.0));
    let level = summed(&one_round(vec![answer]), Vec::new());
    assert_eq!(level.table.itl.samples, 520);
    close(level.table.itl.mean, 9.04, 0.005);
    close(level.table.itl.p99, 60.0, 0.06);
    close(level.table.itl.max, 60.0, 1e-9);
    close(level.table.tpot.max, 9.04, 0.005);
}

#[test]
fn sixty_of_a_hundred_requests_a_second_are_sixty_good_ones() {
    let requests = (0..1000_u64)
        .map(|id| {
            let mut answer = request(id, ms(if id % 10 < 6 { 100.0 } else { 900.0 }), ms(10.0), 10);
            answer.scheduled = Nanos(id * 10_000_000);
            answer
        })
        .collect();
    let mut recording = one_round(requests);
    recording.conditions.load.levels[0].rate = Some(100.0);
    let level = summed(&recording, vec![constraint(Metric::Ttft, Cmp::AtMost, 500.0)]);
    close(level.table.goodput, 0.6, 1e-12);
    close(level.table.throughput_rps, 100.0, 1e-9);
    close(level.table.goodput_rps, 60.0, 1e-9);
    close(level.table.goodput_tps, 600.0, 1e-9);
    assert_eq!(level.table.broken_constraints[0].1, 400);
}

#[test]
fn a_buffered_or_failed_answer_is_not_good_and_a_single_token_has_no_pace() {
    let mut requests: Vec<Request> = (0..4).map(|id| request(id, ms(100.0), ms(10.0), 10)).collect();
    buffer(&mut requests[1]);
    fail(&mut requests[2]);
    requests[3] = request(3, ms(100.0), ms(10.0), 1);
    let level = summed(&one_round(requests), vec![constraint(Metric::Tpot, Cmp::AtMost, 15.0)]);
    assert_eq!(level.facts.iter().map(|fact| fact.good).collect::<Vec<_>>(), [true, false, false, true]);
    close(level.table.buffered, 0.5, 1e-12);
    let tpot = level.samples(Metric::Tpot, &Scope::default());
    assert_eq!(tpot.rounds, [[10.0, f64::INFINITY, f64::INFINITY]]);
    let speed = level.samples(Metric::Speed, &Scope::default());
    assert_eq!(speed.rounds, [[0.0, 0.0, 100.0]]);
}

#[test]
fn a_failed_request_lies_in_the_scope_of_the_lengths_that_were_asked_for() {
    let mut requests = vec![request(0, ms(100.0), ms(10.0), 10), request(1, ms(100.0), ms(10.0), 10)];
    requests[1].asked_output = 400;
    fail(&mut requests[1]);
    let long = Scope { when: Condition { clauses: vec![(Field::OutputTokens, 300, u64::MAX)] }, part: None };
    let level = summed(&one_round(requests), Vec::new());
    assert_eq!(level.samples(Metric::Ttft, &long).rounds, [[f64::INFINITY]]);
    assert_eq!(level.requests(&long), [1]);
}

#[test]
fn partial_rounds_and_warm_up_are_in_no_population() {
    let mut recording = Made { rounds: 3, ..Made::default() }.recording();
    recording.requests[0].round = None;
    recording.rounds[0].requests = 24;
    recording.rounds.truncate(2);
    let level = summed(&recording, Vec::new());
    assert_eq!((level.whole_rounds, level.facts.len()), (2, 49));
    // A round that lost a line of its file is not whole either.
    recording.requests.retain(|request| request.id != 30);
    assert_eq!(summed(&recording, Vec::new()).whole_rounds, 1);
}

#[test]
fn a_round_lasts_until_the_next_one_begins() {
    let recording = Made { rounds: 3, per_round: 10, ..Made::default() }.recording();
    let rates = summed(&recording, Vec::new()).rates(Metric::ThroughputRps, &Scope::default());
    assert_eq!(rates.len(), 3);
    for rate in rates {
        close(Some(rate.amount / rate.seconds), 100.0, 1e-9);
    }
}

#[test]
fn a_session_belongs_to_the_round_in_which_it_began() {
    let mut recording = Made { rounds: 2, per_round: 2, spread: 0.0, ..Made::default() }.recording();
    for (request, turn) in recording.requests.iter_mut().zip([0, 0, 1, 1]) {
        request.session = Some(request.id % 2);
        request.turn = turn;
    }
    fail(&mut recording.requests[3]);
    let level = summed(&recording, Vec::new());
    assert_eq!(level.samples(Metric::SessionTtft, &Scope::default()).rounds, [vec![400.0, f64::INFINITY], Vec::new()]);
    close(level.samples(Metric::SessionE2e, &Scope::default()).rounds[0].first().copied(), 760.0, 1e-9);
}

#[test]
fn buckets_are_labelled_and_filled_by_their_edges() {
    let lengths = [1023, 1024, 8192, 8193];
    let requests = lengths.iter().zip(0..).map(|(input, id)| Request { input_tokens: Some(*input), ..request(id, ms(100.0), ms(1.0), 10) });
    let level = summed(&one_round(requests.collect()), Vec::new());
    let input: Vec<(&str, u64)> = level
        .table
        .buckets
        .iter()
        .filter(|row| row.by == "input_tokens")
        .map(|row| (row.label.as_str(), row.percentiles.samples))
        .collect();
    assert_eq!(input, [("<1k", 1), ("1k–8k", 2), (">8k", 1)]);
}

#[test]
fn a_histogram_keeps_three_digits_and_its_limit() {
    let gaps = histogram([50.0, 50.0, 50.1, 20_000.0].into_iter().map(ms));
    assert_eq!(gaps.count(), 4);
    assert_eq!((gaps.over(50.0, false), gaps.over(50.0, true)), (2, 4));
    assert_eq!(Gaps::collect(gaps.pairs.iter().copied()), gaps, "pairs are read back as they were written");
    assert_eq!(gaps.quantile(0.99, 1), Some(f64::INFINITY));
    assert_eq!(Gaps::default().quantile(0.5, 0), None);
}

#[test]
fn the_live_view_agrees_with_the_summary() {
    let recording = Made { fails_every: 50, ..Made::default() }.recording();
    let constraints = vec![constraint(Metric::Ttft, Cmp::AtMost, 220.0)];
    let mut live = Live::new(&constraints);
    assert_eq!((live.goodput(), live.p99_ttft()), (None, None));
    for request in &recording.requests {
        live.add(request);
    }
    let table = summed(&recording, constraints).table;
    assert_eq!((live.requests(), live.errors(), live.goodput()), (table.requests, table.errors, table.goodput));
    close(live.p99_ttft().map(Nanos::as_ms), table.ttft.p99.unwrap(), 2.0);
}

#[test]
fn an_empty_recording_has_no_levels() {
    let recording = Made { rounds: 0, ..Made::default() }.recording();
    assert!(of(&recording, &Lens::new(&slo(Vec::new(), Vec::new()), &buckets())).levels.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn e2e_is_ttft_and_the_pace_of_all_further_tokens(ttft in 1.0..5000.0_f64, gap in 0.1..200.0_f64, tokens in 2_u64..800) {
        let answer = request(0, ms(ttft), ms(gap), tokens);
        let e2e = answer.last_token.unwrap().as_ms();
        let sum = answer.first_token.unwrap().as_ms() + answer.tpot().unwrap() / 1e6 * (tokens - 1) as f64;
        prop_assert!((e2e - sum).abs() < 1e-6);
    }

    #[test]
    fn three_forms_of_goodput_agree(seed in 0_u64..1000, limit in 150.0..260.0_f64, fails_every in 2_u64..30) {
        let recording = Made { seed, rounds: 4, fails_every, ..Made::default() }.recording();
        let level = summed(&recording, vec![constraint(Metric::Ttft, Cmp::AtMost, limit)]);
        let table = &level.table;
        let good = level.facts.iter().filter(|fact| fact.good).count() as f64;
        prop_assert!((table.goodput.unwrap() * table.requests as f64 - good).abs() < 1e-9);
        prop_assert!((table.goodput_rps.unwrap() * table.window_s.unwrap() - good).abs() < 1e-9);
        prop_assert!((table.goodput_tps.unwrap() * table.window_s.unwrap() - good * 10.0).abs() < 1e-6);
    }

    #[test]
    fn the_order_of_requests_within_a_round_is_irrelevant(seed in 0_u64..1000) {
        let recording = Made { seed, rounds: 3, fails_every: 7, ..Made::default() }.recording();
        let mut turned = recording.clone();
        for round in turned.requests.chunks_mut(25) {
            round.reverse();
        }
        let (a, b) = (summed(&recording, Vec::new()), summed(&turned, Vec::new()));
        prop_assert_eq!(a.samples(Metric::E2e, &Scope::default()), b.samples(Metric::E2e, &Scope::default()));
        prop_assert_eq!(a.cells(Metric::Errors, &Scope::default()), b.cells(Metric::Errors, &Scope::default()));
        prop_assert_eq!(a.table.ttft.p99, b.table.ttft.p99);
    }
}
