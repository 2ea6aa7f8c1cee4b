use super::*;
use crate::plan::Planned;
use crate::record::Side;
use crate::units::Nanos;
use crate::wire::Outcome;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

fn planned(id: u64, round: Option<u32>, due: Option<Nanos>) -> Planned {
    Planned { id, part: None, session: None, level: 0, round, turn: 0, due, asked_input: 1, asked_output: 1, index: id, draw: id }
}

fn ended(planned: &Planned, scheduled: Nanos, sent: Nanos, closed: Nanos) -> Request {
    Request {
        id: planned.id,
        side: Side::Candidate,
        part: None,
        session: None,
        level: planned.level,
        round: planned.round,
        turn: 0,
        scheduled,
        sent,
        connect: None,
        headers: None,
        first_token: None,
        first_answer: None,
        last_token: None,
        closed: Some(closed),
        input_tokens: None,
        output_tokens: None,
        asked_input: 1,
        asked_output: 1,
        cached_tokens: None,
        token_source: None,
        events: 0,
        gaps: vec![],
        stall: None,
        finish_reason: None,
        outcome: Outcome::Ok,
        http_status: None,
        warnings: vec![],
    }
}

#[derive(Default)]
struct Seen {
    rounds: Vec<(u32, Vec<u64>)>,
    ended: Vec<Request>,
    rest: Vec<u64>,
    health: usize,
    stop_after: Option<(usize, Flow)>,
}

impl Observer for Seen {
    fn ended(&mut self, request: &Request) -> Flow {
        self.ended.push(request.clone());
        match self.stop_after {
            Some((after, flow)) if self.ended.len() >= after => flow,
            _ => Flow::Go,
        }
    }
    fn round(&mut self, end: RoundEnd, requests: Vec<Request>) -> Flow {
        self.rounds.push((end.round, requests.iter().map(|r| r.id).collect()));
        Flow::Go
    }
    fn rest(&mut self, requests: Vec<Request>) {
        self.rest = requests.iter().map(|r| r.id).collect();
    }
    fn health(&mut self, _: ClientSample) {
        self.health += 1;
    }
    fn tick(&mut self, _: Duration, _: usize) {}
}

/// Runs a level whose request `id` takes `service(id)`, in virtual time.
async fn run(
    requests: Vec<Planned>,
    (pace, rounds, min_time): (Pace, u32, Duration),
    service: fn(u64) -> Duration,
    seen: &mut Seen,
    stop: &CancellationToken,
) -> LevelOutcome {
    let (sender, feed) = mpsc::channel(requests.len().max(1));
    for planned in requests {
        sender.try_send((planned.clone(), planned)).unwrap();
    }
    drop(sender);
    let epoch = Instant::now();
    let send = move |planned: Planned, scheduled: Nanos| async move {
        let sent = Nanos::from(epoch.elapsed());
        sleep(service(planned.id)).await;
        ended(&planned, scheduled, sent, Nanos::from(epoch.elapsed()).since(scheduled))
    };
    let mut health = Health::watch(epoch);
    let level = Level { index: 0, first_round: 0, pace, rounds, round_size: &|_| 10, min_time, feed };
    run_level(level, epoch, send, seen, &mut health, stop).await
}

fn sequence(warmup: u64, rounds: u32) -> Vec<Planned> {
    (0..warmup + u64::from(rounds) * 10)
        .map(|id| planned(id, id.checked_sub(warmup).map(|k| u32::try_from(k / 10).unwrap()), None))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_keeps_its_slots_full_over_all_rounds_without_a_drain() {
    let mut seen = Seen::default();
    let start = Instant::now();
    let stop = CancellationToken::new();
    let outcome =
        run(sequence(5, 4), (Pace::Closed { concurrency: 5 }, 4, Duration::ZERO), |_| Duration::from_secs(1), &mut seen, &stop).await;
    assert_eq!(outcome, LevelOutcome { flow: Flow::Go, whole_rounds: 4, abandoned: 0 });
    assert_eq!(start.elapsed(), Duration::from_secs(9), "45 requests of 1 s through 5 slots");
    assert_eq!(seen.rounds.iter().map(|(round, _)| *round).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(seen.rounds[0].1.len(), 15, "the warm-up is handed on with the first round");
    assert!(seen.ended.iter().all(|r| r.start_lag() == Nanos::ZERO));
    assert!(seen.health >= 8);
}

#[tokio::test(start_paused = true)]
async fn a_slow_round_is_handed_on_in_order_after_those_it_overlaps() {
    let mut seen = Seen::default();
    let stop = CancellationToken::new();
    let service = |id| if id == 3 { Duration::from_secs(30) } else { Duration::from_secs(1) };
    run(sequence(0, 3), (Pace::Closed { concurrency: 4 }, 3, Duration::ZERO), service, &mut seen, &stop).await;
    assert_eq!(seen.rounds.iter().map(|(round, _)| *round).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(seen.ended.last().unwrap().id, 3);
}

#[tokio::test(start_paused = true)]
async fn an_open_loop_sends_when_due_however_slow_the_answers_are() {
    let mut seen = Seen::default();
    let due: Vec<_> = (0..20).map(|id| planned(id, Some(u32::try_from(id / 10).unwrap()), Some(Nanos(id * 100_000_000)))).collect();
    let stop = CancellationToken::new();
    run(due, (Pace::Open, 2, Duration::ZERO), |_| Duration::from_secs(60), &mut seen, &stop).await;
    for request in &seen.ended {
        assert_eq!(request.scheduled, Nanos(request.id * 100_000_000));
        assert_eq!(request.start_lag(), Nanos::ZERO);
    }
    assert_eq!(seen.rounds.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn whole_rounds_are_added_until_the_minimum_time_is_over() {
    let mut seen = Seen::default();
    let stop = CancellationToken::new();
    // 10 requests of 1 s through 5 slots: a round takes 2 s.
    let outcome =
        run(sequence(0, 50), (Pace::Closed { concurrency: 5 }, 2, Duration::from_secs(9)), |_| Duration::from_secs(1), &mut seen, &stop)
            .await;
    assert_eq!(outcome.whole_rounds, 5);
    assert_eq!(seen.ended.len(), 50);
}

#[tokio::test(start_paused = true)]
async fn a_signal_ends_sending_lets_flights_end_for_five_seconds_and_keeps_what_was_measured() {
    let mut seen = Seen::default();
    let stop = CancellationToken::new();
    let canceller = stop.clone();
    tokio::spawn(async move {
        sleep(Duration::from_millis(2500)).await;
        canceller.cancel();
    });
    let service = |id| if id == 14 { Duration::from_secs(100) } else { Duration::from_secs(1) };
    let start = Instant::now();
    let outcome = run(sequence(0, 9), (Pace::Closed { concurrency: 5 }, 9, Duration::ZERO), service, &mut seen, &stop).await;
    assert_eq!(outcome, LevelOutcome { flow: Flow::Stop(EndReason::Interrupted), whole_rounds: 1, abandoned: 1 });
    assert_eq!(start.elapsed(), Duration::from_millis(7500));
    assert_eq!(seen.rounds.len(), 1);
    assert_eq!(seen.rest, [10, 11, 12, 13]);
}

#[tokio::test(start_paused = true)]
async fn an_observer_can_end_the_run_and_the_flights_of_a_budget_end_by_themselves() {
    let mut seen = Seen { stop_after: Some((12, Flow::Stop(EndReason::Budget))), ..Seen::default() };
    let stop = CancellationToken::new();
    let outcome =
        run(sequence(0, 9), (Pace::Closed { concurrency: 5 }, 9, Duration::ZERO), |_| Duration::from_secs(20), &mut seen, &stop).await;
    assert_eq!(outcome.flow, Flow::Stop(EndReason::Budget));
    assert_eq!((seen.ended.len(), outcome.abandoned), (16, 0));
}
