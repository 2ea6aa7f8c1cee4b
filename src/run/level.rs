//! One level: a closed or an open loop over one continuous load.

use super::rounds::Rounds;
use super::{Flow, Health, LevelOutcome, Observer};
use crate::plan::Planned;
use crate::record::{EndReason, Request};
use crate::units::Nanos;
use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long requests in flight may go on after a signal.
const DRAIN: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(200);

/// One level of the load.
pub struct Level<'a, P> {
    /// Its index.
    pub index: usize,
    /// Its first round: 0, or a later one where the level is sent block by block.
    pub first_round: u32,
    /// Closed or open.
    pub pace: Pace,
    /// Rounds planned.
    pub rounds: u32,
    /// Requests of a round; asked for rounds beyond the planned ones where `min_time` needs them.
    pub round_size: &'a dyn Fn(u32) -> u32,
    /// It lasts at least this long; whole rounds are added in a closed loop.
    pub min_time: Duration,
    /// What to send, in order, with the body built: warm-up first, then round by round. Its end is the level's end.
    pub feed: mpsc::Receiver<(Planned, P)>,
}

/// What decides when the next request leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A free slot: this many in flight.
    Closed {
        /// Slots.
        concurrency: usize,
    },
    /// Its due time, whatever the answers do.
    Open,
}

/// Runs one level to its end. `epoch` is the run's start; `send` sends one request that was due at the given offset from it.
pub async fn run_level<P, F>(
    level: Level<'_, P>,
    epoch: Instant,
    send: impl Fn(P, Nanos) -> F,
    observer: &mut impl Observer,
    health: &mut Health,
    stop: &CancellationToken,
) -> LevelOutcome
where
    F: Future<Output = Request> + Send + 'static,
{
    let start = Nanos::from(epoch.elapsed());
    let slots = match level.pace {
        Pace::Closed { concurrency } => std::iter::repeat_n(start, concurrency).collect(),
        Pace::Open => VecDeque::new(),
    };
    let rounds = Rounds::new(level.index, level.first_round);
    let running =
        Running { level, epoch, start, slots, rounds, next: None, fed: false, flow: Flow::Go, give_up: None, flights: JoinSet::new() };
    running.go(send, observer, health, stop).await
}

struct Running<'a, P> {
    level: Level<'a, P>,
    epoch: Instant,
    start: Nanos,
    /// Closed loop: when each free slot became free, longest free first.
    slots: VecDeque<Nanos>,
    rounds: Rounds,
    next: Option<(Planned, P)>,
    /// Nothing more will be sent.
    fed: bool,
    flow: Flow,
    give_up: Option<Instant>,
    flights: JoinSet<Request>,
}

impl<P> Running<'_, P> {
    async fn go<F>(
        mut self,
        send: impl Fn(P, Nanos) -> F,
        observer: &mut impl Observer,
        health: &mut Health,
        stop: &CancellationToken,
    ) -> LevelOutcome
    where
        F: Future<Output = Request> + Send + 'static,
    {
        let mut ticks = interval(TICK);
        loop {
            self.launch(&send);
            if self.fed && self.flights.is_empty() {
                break;
            }
            let give_up = self.give_up;
            let (due, waiting) = (self.next_due(), self.is_waiting_for_due());
            tokio::select! {
                biased;
                () = stop.cancelled(), if self.give_up.is_none() => self.halt(Flow::Stop(EndReason::Interrupted)),
                () = sleep_until(give_up.unwrap_or(self.epoch)), if give_up.is_some() => break,
                Some(ended) = self.flights.join_next() => self.landed(ended, observer),
                () = sleep_until(due), if waiting => {}
                fed = self.level.feed.recv(), if self.next.is_none() && !self.fed => self.accept(fed),
                Some(mut sample) = health.next() => {
                    sample.in_flight = self.flights.len() as u64;
                    observer.health(sample);
                }
                _ = ticks.tick() => observer.tick(self.epoch.elapsed(), self.flights.len()),
            }
        }
        let abandoned = self.flights.len();
        self.flights.shutdown().await;
        let whole_rounds = self.rounds.whole();
        observer.rest(self.rounds.rest());
        LevelOutcome { flow: self.flow, whole_rounds, abandoned }
    }

    /// Sends all that may leave now.
    fn launch<F>(&mut self, send: &impl Fn(P, Nanos) -> F)
    where
        F: Future<Output = Request> + Send + 'static,
    {
        while !self.fed {
            if self.next.is_none() {
                match self.level.feed.try_recv() {
                    Ok(item) => self.accept(Some(item)),
                    Err(mpsc::error::TryRecvError::Empty) => return,
                    Err(mpsc::error::TryRecvError::Disconnected) => self.accept(None),
                }
                continue;
            }
            let Some(scheduled) = self.may_leave() else { return };
            if let Some((_, prepared)) = self.next.take() {
                self.flights.spawn(send(prepared, scheduled));
            }
        }
    }

    /// When the next request was due, if that is now or past.
    fn may_leave(&mut self) -> Option<Nanos> {
        match self.level.pace {
            Pace::Closed { .. } => self.slots.pop_front(),
            Pace::Open => {
                let due = self.start + self.next.as_ref()?.0.due?;
                (Nanos::from(self.epoch.elapsed()) >= due).then_some(due)
            }
        }
    }

    fn is_waiting_for_due(&self) -> bool {
        self.level.pace == Pace::Open && self.next.is_some() && !self.fed
    }

    fn next_due(&self) -> Instant {
        let due = self.next.as_ref().and_then(|(planned, _)| planned.due).unwrap_or_default();
        self.epoch + Duration::from(self.start + due)
    }

    /// Takes the next request from the feed, unless the level has had all its rounds and its time.
    fn accept(&mut self, fed: Option<(Planned, P)>) {
        let Some((planned, prepared)) = fed else {
            self.fed = true;
            return;
        };
        let beyond = planned.round.is_some_and(|round| round >= self.level.rounds);
        if beyond {
            let elapsed = Duration::from(Nanos::from(self.epoch.elapsed()).since(self.start));
            if elapsed >= self.level.min_time {
                self.fed = true;
                return;
            }
            self.level.rounds += 1;
        }
        self.next = Some((planned, prepared));
    }

    fn landed(&mut self, ended: Result<Request, tokio::task::JoinError>, observer: &mut impl Observer) {
        let request = match ended {
            Ok(request) => request,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => return,
        };
        if matches!(self.level.pace, Pace::Closed { .. }) {
            // The slot is free from the moment its answer ended, not from when this loop noticed: the difference is our own lateness.
            self.slots.push_back(request.scheduled + request.closed.unwrap_or_default());
        }
        let flow = observer.ended(&request);
        self.rounds.add(request);
        self.obey(flow);
        while let Some((end, requests)) = self.rounds.take_whole(self.level.round_size) {
            let flow = observer.round(end, requests);
            self.obey(flow);
        }
    }

    fn obey(&mut self, flow: Flow) {
        if self.flow == Flow::Go && flow != Flow::Go {
            self.halt(flow);
        }
    }

    /// Sends no more. Requests in flight may end by themselves, but after a signal or on an unusable target only for [`DRAIN`].
    fn halt(&mut self, flow: Flow) {
        self.flow = flow;
        self.fed = true;
        self.next = None;
        if matches!(flow, Flow::Stop(EndReason::Interrupted | EndReason::Unusable)) {
            self.give_up = Some(Instant::now() + DRAIN);
        }
    }
}
