//! The load of a run from its first request to its last line: level after level, on one side or two.

use super::lookout::Lookout;
use super::target::Ready;
use super::watcher::{Seat, Watcher};
use super::writer::Writer;
use super::{Error, signals};
use crate::client::{Client, Prepared};
use crate::console::Console;
use crate::plan::{Pace, Plan, Planned};
use crate::record::{Conditions, End, EndReason, LevelEnd, Recording, Request, Side};
use crate::run::{self, Flow, Health, Level, LevelOutcome, run_level};
use crate::spec::Constraint;
use crate::store::{RunFile, StoreError};
use crate::wire::{ErrorKind, Outcome};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) use super::watcher::Limits;

/// Bodies that are built ahead of the requests that carry them.
const AHEAD: usize = 64;

/// What came of a load.
pub(super) struct Loaded {
    pub recording: Recording,
    /// The other side, where there was one.
    pub beside: Option<Recording>,
    /// What could not be written of a run file.
    pub failure: Option<StoreError>,
}

/// One side, ready to be loaded.
pub(super) struct Loading {
    pub ready: Ready,
    pub conditions: Conditions,
    pub file: RunFile,
}

/// Where one side's requests go.
struct Way {
    side: Side,
    ready: Ready,
    /// Ids for rounds beyond the planned ones.
    beyond: Arc<AtomicU64>,
}

impl Loading {
    fn split(self, side: Side) -> (Way, (Conditions, RunFile)) {
        let beyond = Arc::new(AtomicU64::new(self.ready.plan.total_requests()));
        (Way { side, ready: self.ready, beyond }, (self.conditions, self.file))
    }
}

/// What all loads of a run share.
struct Run<'a, 'w> {
    watcher: &'a RefCell<Watcher<'w>>,
    stop: &'a CancellationToken,
    epoch: Instant,
}

/// Sends all of the plan, to the other side too where there is one: both at once, or in turns where its levels take turns.
pub(super) async fn send(
    own: Loading,
    other: Option<Loading>,
    limits: (Limits, &[Constraint], Option<Lookout>),
    epoch: Instant,
    console: &Console,
) -> Result<Loaded, Error> {
    let (own, kept) = own.split(Side::Candidate);
    let (other, other_kept) = other.map(|other| other.split(Side::Baseline)).unzip();
    let writer = Writer::start(kept, other_kept).map_err(Error::Runtime)?;
    let stop = signals::watch();
    let mut healths = (Health::watch(epoch), other.is_some().then(|| Health::watch(epoch)));
    let mut watcher = RefCell::new(Watcher::new(&writer, limits, other.is_some(), console.progress(), epoch));
    let plan = &own.ready.plan;
    let (mut ends, mut other_ends) = (Vec::new(), Vec::new());
    let mut reason = EndReason::Complete;
    for index in 0..plan.levels.len() {
        watcher.get_mut().begin(plan, index);
        let run = Run { watcher: &watcher, stop: &stop, epoch };
        let outcomes = level(&run, (&own, other.as_ref()), index, (&mut healths.0, healths.1.as_mut())).await;
        let together = together(outcomes);
        let (end, flow) = watcher.get_mut().end(plan, index, together).await;
        let of_side = |outcome: LevelOutcome| LevelEnd { whole_rounds: outcome.whole_rounds, ..end.clone() };
        other_ends.extend(outcomes.1.map(of_side));
        ends.push(of_side(outcomes.0));
        if together.abandoned > 0 {
            console.note(&format!("{} requests in flight were given up and are in no figure", together.abandoned));
        }
        if let Flow::Stop(why) = flow {
            reason = why;
            break;
        }
    }
    if reason == EndReason::Complete && ends.iter().any(LevelEnd::is_early) {
        reason = EndReason::Decided;
    }
    let watcher = watcher.into_inner();
    watcher.progress.finish();
    let end = |side: Side, levels: Vec<LevelEnd>| {
        let tally = watcher.tally(side);
        let (at, ended) = (epoch.elapsed().into(), jiff::Timestamp::now().to_string());
        End { at, ended, reason, requests: tally.ended, errors: tally.errors, levels }
    };
    let (own_end, other_end) = (end(Side::Candidate, ends), end(Side::Baseline, other_ends));
    drop(watcher);
    let (own, other) = writer.finish().end(own_end, other_end);
    let (beside, failure) = other.map(|other| (other.recording, other.failure)).unzip();
    Ok(Loaded { recording: own.recording, beside, failure: own.failure.or(failure.flatten()) })
}

/// One level, on both sides where there are two.
async fn level(
    run: &Run<'_, '_>,
    (own, other): (&Way, Option<&Way>),
    index: usize,
    (health, other_health): (&mut Health, Option<&mut Health>),
) -> (LevelOutcome, Option<LevelOutcome>) {
    let (Some(other), Some(other_health)) = (other, other_health) else {
        return (whole_level(run, own, index, health).await, None);
    };
    let (own, other) = if own.ready.plan.levels[index].takes_turns() {
        turns(run, (own, other), index, health).await
    } else {
        tokio::join!(whole_level(run, own, index, health), whole_level(run, other, index, other_health))
    };
    (own, Some(other))
}

/// What the two sides' level came to: the rounds that both have, and the sooner end.
fn together((own, other): (LevelOutcome, Option<LevelOutcome>)) -> LevelOutcome {
    let Some(other) = other else { return own };
    LevelOutcome {
        flow: if own.flow == Flow::Go { other.flow } else { own.flow },
        whole_rounds: own.whole_rounds.min(other.whole_rounds),
        abandoned: own.abandoned + other.abandoned,
    }
}

/// Blocks of both sides in turns, A B B A, the other one idle: each ends with its last answer before the next begins.
async fn turns(run: &Run<'_, '_>, (own, other): (&Way, &Way), index: usize, health: &mut Health) -> (LevelOutcome, LevelOutcome) {
    let nothing = LevelOutcome { flow: Flow::Go, whole_rounds: 0, abandoned: 0 };
    let mut outcomes = (nothing, nothing);
    for round in 0..own.ready.plan.levels[index].info.rounds {
        let order = if round % 2 == 0 { [other, own] } else { [own, other] };
        for way in order {
            let plan = way.ready.plan.clone();
            let block = move |feed: &dyn Fn(Planned) -> bool| {
                let _ = plan.block(index, round).into_iter().all(feed);
            };
            let outcome = one_load(run, way, (index, round), block, health).await;
            let sum = if way.side == Side::Candidate { &mut outcomes.0 } else { &mut outcomes.1 };
            *sum = LevelOutcome { abandoned: sum.abandoned + outcome.abandoned, ..outcome };
            if outcome.flow != Flow::Go {
                return outcomes;
            }
        }
    }
    outcomes
}

/// One side's level in one continuous load. Rounds beyond the plan, which `min_time` may need, take their ids from `beyond`, since the
/// planned ids go on in the next level.
async fn whole_level(run: &Run<'_, '_>, way: &Way, index: usize, health: &mut Health) -> LevelOutcome {
    let plan = way.ready.plan.clone();
    let beyond = (!plan.levels[index].min_time.is_zero()).then(|| Arc::clone(&way.beyond));
    let all = move |feed: &dyn Fn(Planned) -> bool| {
        let rounds = plan.levels[index].info.rounds;
        let added = (rounds..).map(|round| plan.round_requests(index, round)).take_while(|round| !round.is_empty()).flatten();
        let added =
            beyond.iter().flat_map(|ids| added.clone().map(|planned| Planned { id: ids.fetch_add(1, Ordering::Relaxed), ..planned }));
        let _ = plan.requests(index).chain(added).all(feed);
    };
    one_load(run, way, (index, 0), all, health).await
}

/// One continuous load on one side, from round `first_round` on: what `requests` hands to its argument until that is `false`. Bodies
/// are built by a thread of their own ahead of time.
async fn one_load(
    run: &Run<'_, '_>,
    way: &Way,
    (index, first_round): (usize, u32),
    requests: impl FnOnce(&dyn Fn(Planned) -> bool) + Send + 'static,
    health: &mut Health,
) -> LevelOutcome {
    let plan = &way.ready.plan.levels[index];
    let (feeder, feed) = mpsc::channel(AHEAD.max(usize::try_from(plan.info.concurrency.unwrap_or(0)).unwrap_or(AHEAD).min(4 * AHEAD)));
    let (whole, client) = (way.ready.plan.clone(), way.ready.client.clone());
    let thread = std::thread::spawn(move || requests(&|planned| prepare(&whole, &client, planned, &feeder)));
    let pace = match plan.pace {
        Pace::Closed { concurrency } => run::Pace::Closed { concurrency: usize::try_from(concurrency).unwrap_or(usize::MAX) },
        Pace::Open { .. } => run::Pace::Open,
    };
    let sizes = &plan.info.round_requests;
    let last = sizes.last().copied().unwrap_or(0);
    let round_size = move |round: u32| sizes.get(round as usize).copied().unwrap_or(last);
    let load = Level { index, first_round, pace, rounds: plan.info.rounds, round_size: &round_size, min_time: plan.min_time, feed };
    let client = way.ready.client.clone();
    let send = move |prepared, scheduled| {
        let client = client.clone();
        async move { client.send(prepared, scheduled).await }
    };
    let mut seat = Seat { watcher: run.watcher, side: way.side };
    let outcome = run_level(load, run.epoch, send, &mut seat, health, run.stop).await;
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
    outcome
}

/// Builds one body; `false` where nobody takes them any more.
fn prepare(plan: &Plan, client: &Client, planned: Planned, feeder: &mpsc::Sender<(Planned, Prepared)>) -> bool {
    let prepared = client.prepare(&planned, &plan.prompt(&planned));
    feeder.blocking_send((planned, prepared)).is_ok()
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
