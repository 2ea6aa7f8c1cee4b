//! The load of a run from its first request to its last line: level after level, whole rounds on disk, progress on the terminal.

use super::lookout::Lookout;
use super::target::Ready;
use super::writer::{Piece, Writer};
use super::{Error, signals};
use crate::client::{Client, Prepared};
use crate::console::{Console, Progress, ProgressUpdate};
use crate::plan::{Pace, Plan, Planned};
use crate::record::{ClientSample, Conditions, End, EndReason, LevelEnd, Recording, Request, RoundEnd};
use crate::run::{self, Flow, Health, Level, LevelOutcome, Observer, run_level};
use crate::spec::{Budget, Constraint};
use crate::store::{RunFile, StoreError};
use crate::summary::Live;
use crate::units::Nanos;
use crate::verdict;
use crate::wire::{ErrorKind, Outcome};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Bodies that are built ahead of the requests that carry them.
const AHEAD: usize = 64;

/// What came of a load.
pub(super) struct Loaded {
    pub recording: Recording,
    /// What could not be written of the run file.
    pub failure: Option<StoreError>,
}

/// When to stop before the plan's end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    pub budget: Budget,
    /// The price of an hour of the target, for `budget.cost`.
    pub price_per_hour: Option<f64>,
    /// Stop when the first so many requests all found the target unusable.
    pub unusable_after: Option<u64>,
}

/// Sends all of the plan.
pub(super) async fn send(
    ready: &Ready,
    conditions: Conditions,
    file: RunFile,
    (limits, constraints, lookout): (Limits, &[Constraint], Option<Lookout>),
    epoch: Instant,
    console: &Console,
) -> Result<Loaded, Error> {
    let writer = Writer::start(conditions, file).map_err(Error::Runtime)?;
    let stop = signals::watch();
    let mut health = Health::watch(epoch);
    let mut watcher = Watcher::new(&writer, limits, constraints, console.progress(), epoch);
    watcher.lookout = lookout;
    let beyond = Arc::new(AtomicU64::new(ready.plan.total_requests()));
    let mut ends = Vec::new();
    let mut reason = EndReason::Complete;
    for index in 0..ready.plan.levels.len() {
        watcher.begin(&ready.plan, index);
        let outcome = level(ready, (index, &beyond), epoch, &mut watcher, &mut health, &stop).await;
        let (end, flow) = watcher.end(&ready.plan, index, outcome).await;
        ends.push(end);
        if outcome.abandoned > 0 {
            console.note(&format!("{} requests in flight were given up and are in no figure", outcome.abandoned));
        }
        if let Flow::Stop(why) = flow {
            reason = why;
            break;
        }
    }
    if reason == EndReason::Complete && ends.iter().any(LevelEnd::is_early) {
        reason = EndReason::Decided;
    }
    watcher.progress.finish();
    let (requests, errors) = (watcher.ended, watcher.errors);
    let end = End { at: epoch.elapsed().into(), ended: jiff::Timestamp::now().to_string(), reason, requests, errors, levels: ends };
    let (recording, failure) = writer.finish().end(end);
    Ok(Loaded { recording, failure })
}

/// One level, its bodies built by a thread of their own ahead of time.
async fn level(
    ready: &Ready,
    (index, beyond): (usize, &Arc<AtomicU64>),
    epoch: Instant,
    watcher: &mut Watcher<'_>,
    health: &mut Health,
    stop: &CancellationToken,
) -> LevelOutcome {
    let plan = &ready.plan.levels[index];
    let (feeder, feed) = mpsc::channel(AHEAD.max(usize::try_from(plan.info.concurrency.unwrap_or(0)).unwrap_or(AHEAD).min(4 * AHEAD)));
    let (whole, client) = (ready.plan.clone(), ready.client.clone());
    let beyond = (!plan.min_time.is_zero()).then(|| Arc::clone(beyond));
    let thread = std::thread::spawn(move || prepare(&whole, &client, index, beyond.as_deref(), &feeder));
    let pace = match plan.pace {
        Pace::Closed { concurrency } => run::Pace::Closed { concurrency: usize::try_from(concurrency).unwrap_or(usize::MAX) },
        Pace::Open { .. } => run::Pace::Open,
    };
    let sizes = &plan.info.round_requests;
    let last = sizes.last().copied().unwrap_or(0);
    let round_size = move |round: u32| sizes.get(round as usize).copied().unwrap_or(last);
    let load = Level { index, pace, rounds: plan.info.rounds, round_size: &round_size, min_time: plan.min_time, feed };
    let client = ready.client.clone();
    let send = move |prepared, scheduled| {
        let client = client.clone();
        async move { client.send(prepared, scheduled).await }
    };
    let outcome = run_level(load, epoch, send, watcher, health, stop).await;
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
    outcome
}

/// Builds bodies in order until nobody takes them any more. Rounds beyond the plan, which `min_time` may need, take their ids from
/// `beyond`, since the planned ids go on in the next level.
fn prepare(plan: &Plan, client: &Client, level: usize, beyond: Option<&AtomicU64>, feeder: &mpsc::Sender<(Planned, Prepared)>) {
    let rounds = plan.levels[level].info.rounds;
    let added = (rounds..).map(|round| plan.round_requests(level, round)).take_while(|round| !round.is_empty()).flatten();
    let added =
        beyond.into_iter().flat_map(|ids| added.clone().map(|planned| Planned { id: ids.fetch_add(1, Ordering::Relaxed), ..planned }));
    for planned in plan.requests(level).chain(added) {
        let prepared = client.prepare_as(&planned, &plan.prompt(&planned), plan.exact_output(&planned));
        if feeder.blocking_send((planned, prepared)).is_err() {
            return;
        }
    }
}

/// Counts what ends, hands it to the writer, shows it, and says when to stop.
struct Watcher<'a> {
    writer: &'a Writer,
    limits: Limits,
    progress: Progress,
    constraints: &'a [Constraint],
    epoch: Instant,
    live: Live,
    update: ProgressUpdate,
    level_began: Duration,
    /// Requests that ended, warm-up included, over all levels.
    ended: u64,
    errors: u64,
    tokens: u64,
    all_unusable: bool,
    /// Decides at planned looks whether to go on; `None` where every round is sent.
    lookout: Option<Lookout>,
}

impl<'a> Watcher<'a> {
    fn new(writer: &'a Writer, limits: Limits, constraints: &'a [Constraint], progress: Progress, epoch: Instant) -> Self {
        Self {
            writer,
            limits,
            progress,
            constraints,
            epoch,
            live: Live::new(constraints),
            update: ProgressUpdate::default(),
            level_began: Duration::ZERO,
            ended: 0,
            errors: 0,
            tokens: 0,
            all_unusable: true,
            lookout: None,
        }
    }

    fn begin(&mut self, plan: &Plan, index: usize) {
        let level = &plan.levels[index];
        self.live = Live::new(self.constraints);
        self.level_began = self.epoch.elapsed();
        if let Some(lookout) = &mut self.lookout {
            lookout.begin(index, level);
        }
        self.update = ProgressUpdate {
            level: level.info.label.clone(),
            level_number: index + 1,
            level_count: plan.levels.len(),
            planned: level.requests(),
            rounds_planned: level.info.rounds,
            ..ProgressUpdate::default()
        };
    }

    /// What the run file keeps of a level, and whether to go on with the next one.
    async fn end(&mut self, plan: &Plan, index: usize, outcome: LevelOutcome) -> (LevelEnd, Flow) {
        let rounds = (plan.levels[index].info.rounds, outcome.whole_rounds);
        let Some(lookout) = &mut self.lookout else { return (verdict::level_end(index, rounds, None), outcome.flow) };
        let is_last = index + 1 == plan.levels.len();
        lookout.end(index, rounds, (outcome.flow, is_last), |look| self.writer.send(Piece::Look(look))).await
    }

    fn is_over_budget(&self) -> bool {
        let budget = &self.limits.budget;
        let elapsed = self.epoch.elapsed();
        let cost = self.limits.price_per_hour.map(|price| price * elapsed.as_secs_f64() / 3600.0);
        budget.time.is_some_and(|limit| elapsed >= limit)
            || budget.tokens.is_some_and(|limit| self.tokens >= limit)
            || budget.cost.zip(cost).is_some_and(|(limit, cost)| cost >= limit)
    }
}

impl Observer for Watcher<'_> {
    fn ended(&mut self, request: &Request) -> Flow {
        self.live.add(request);
        self.ended += 1;
        self.update.done += 1;
        self.tokens += request.input_tokens.unwrap_or(request.asked_input) + request.output_tokens.unwrap_or(0);
        if !request.is_ok() {
            self.errors += 1;
            self.update.errors += 1;
        }
        self.all_unusable &= is_unusable(request);
        if self.all_unusable && self.limits.unusable_after.is_some_and(|after| self.ended >= after) {
            return Flow::Stop(EndReason::Unusable);
        }
        if self.is_over_budget() {
            return Flow::Stop(EndReason::Budget);
        }
        self.lookout.as_mut().map_or(Flow::Go, Lookout::answer)
    }

    fn round(&mut self, end: RoundEnd, requests: Vec<Request>) -> Flow {
        self.update.rounds_done += 1;
        let whole = end.round + 1;
        self.writer.send(Piece::Round(end, requests));
        let elapsed = self.epoch.elapsed().saturating_sub(self.level_began);
        if let Some(look) = self.lookout.as_mut().and_then(|lookout| lookout.round(whole, elapsed)) {
            self.writer.send(Piece::Look(look));
        }
        Flow::Go
    }

    fn rest(&mut self, requests: Vec<Request>) {
        self.writer.send(Piece::Rest(requests));
    }

    fn health(&mut self, sample: ClientSample) {
        self.writer.send(Piece::Health(sample));
    }

    fn tick(&mut self, elapsed: Duration, in_flight: usize) {
        let level = elapsed.saturating_sub(self.level_began);
        self.update.in_flight = in_flight as u64;
        self.update.elapsed = level;
        self.update.rate = (!level.is_zero()).then(|| self.update.done as f64 / level.as_secs_f64());
        self.update.p99_ttft_ms = self.live.p99_ttft().map(Nanos::as_ms);
        self.progress.update(&self.update);
    }
}

/// Whether a request found a target that no more requests would mend: no connection, or HTTP 401, 403 or 404.
pub(super) fn is_unusable(request: &Request) -> bool {
    let Outcome::Error(failure) = &request.outcome else { return false };
    match failure.kind {
        ErrorKind::Connect => true,
        ErrorKind::HttpStatus => matches!(request.http_status, Some(401 | 403 | 404)),
        _ => false,
    }
}
