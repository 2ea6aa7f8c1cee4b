//! What is watched while a load runs: counts, limits, progress, looks; every piece goes on to the writer.

use super::load::is_unusable;
use super::lookout::Lookout;
use super::writer::{Piece, Writer};
use crate::console::{Progress, ProgressUpdate};
use crate::plan::Plan;
use crate::record::{ClientSample, EndReason, LevelEnd, Request, RoundEnd, Side};
use crate::run::{Flow, LevelOutcome, Observer};
use crate::spec::{Budget, Constraint};
use crate::summary::Live;
use crate::units::Nanos;
use crate::verdict;
use std::cell::RefCell;
use std::time::Duration;
use tokio::time::Instant;

/// When to stop before the plan's end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limits {
    pub budget: Budget,
    /// The price of an hour of the target, for `budget.cost`.
    pub price_per_hour: Option<f64>,
    /// Stop when the first so many requests of a side all found it unusable.
    pub unusable_after: Option<u64>,
}

/// What one side did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    /// Requests that ended, warm-up included, over all levels.
    pub ended: u64,
    pub errors: u64,
    all_unusable: bool,
    /// Whole rounds of this level.
    rounds: u32,
}

/// Counts what ends, hands it to the writer, shows it, and says when to stop.
pub(super) struct Watcher<'a> {
    writer: &'a Writer,
    limits: Limits,
    pub progress: Progress,
    constraints: &'a [Constraint],
    epoch: Instant,
    /// The candidate's figures.
    live: Live,
    update: ProgressUpdate,
    level_began: Duration,
    /// The candidate's side, and the other one where there is one.
    sides: [Option<Tally>; 2],
    tokens: u64,
    /// What one side was told holds for the other too.
    told: Flow,
    /// Decides at planned looks whether to go on; `None` where every round is sent.
    lookout: Option<Lookout>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(
        writer: &'a Writer,
        (limits, constraints, lookout): (Limits, &'a [Constraint], Option<Lookout>),
        two_sides: bool,
        progress: Progress,
        epoch: Instant,
    ) -> Self {
        let tally = Tally { ended: 0, errors: 0, all_unusable: true, rounds: 0 };
        Self {
            writer,
            limits,
            progress,
            constraints,
            epoch,
            live: Live::new(constraints),
            update: ProgressUpdate::default(),
            level_began: Duration::ZERO,
            sides: [Some(tally), two_sides.then_some(tally)],
            tokens: 0,
            told: Flow::Go,
            lookout,
        }
    }

    pub(super) fn begin(&mut self, plan: &Plan, index: usize) {
        let level = &plan.levels[index];
        self.live = Live::new(self.constraints);
        self.level_began = self.epoch.elapsed();
        self.told = Flow::Go;
        self.sides.iter_mut().flatten().for_each(|tally| tally.rounds = 0);
        if let Some(lookout) = &mut self.lookout {
            lookout.begin(index, level);
        }
        self.update = ProgressUpdate {
            level: level.info.label.clone(),
            level_number: index + 1,
            level_count: plan.levels.len(),
            planned: level.requests() * self.sides.iter().flatten().count() as u64,
            rounds_planned: level.info.rounds,
            ..ProgressUpdate::default()
        };
    }

    /// What the run file keeps of a level, and whether to go on with the next one. Of two sides the rounds that both have are judged.
    pub(super) async fn end(&mut self, plan: &Plan, index: usize, outcome: LevelOutcome) -> (LevelEnd, Flow) {
        let rounds = (plan.levels[index].info.rounds, outcome.whole_rounds);
        let Some(lookout) = &mut self.lookout else { return (verdict::level_end(index, rounds, None), outcome.flow) };
        let is_last = index + 1 == plan.levels.len();
        lookout.end(index, rounds, (outcome.flow, is_last), |look| self.writer.send(Piece::Look(look))).await
    }

    /// What a side did so far.
    pub(super) fn tally(&self, side: Side) -> Tally {
        self.sides[place(side)].unwrap_or(Tally { ended: 0, errors: 0, all_unusable: false, rounds: 0 })
    }

    fn is_over_budget(&self) -> bool {
        let budget = &self.limits.budget;
        let elapsed = self.epoch.elapsed();
        let cost = self.limits.price_per_hour.map(|price| price * elapsed.as_secs_f64() / 3600.0);
        budget.time.is_some_and(|limit| elapsed >= limit)
            || budget.tokens.is_some_and(|limit| self.tokens >= limit)
            || budget.cost.zip(cost).is_some_and(|(limit, cost)| cost >= limit)
    }

    fn ended(&mut self, side: Side, request: &Request) -> Flow {
        if side == Side::Candidate {
            self.live.add(request);
        }
        self.update.done += 1;
        self.update.errors += u64::from(!request.is_ok());
        self.tokens += request.input_tokens.unwrap_or(request.asked_input) + request.output_tokens.unwrap_or(0);
        let mut gone = false;
        if let Some(tally) = &mut self.sides[place(side)] {
            tally.ended += 1;
            tally.errors += u64::from(!request.is_ok());
            tally.all_unusable &= is_unusable(request);
            gone = tally.all_unusable && self.limits.unusable_after.is_some_and(|after| tally.ended >= after);
        }
        if self.told == Flow::Go {
            self.told = if gone {
                Flow::Stop(EndReason::Unusable)
            } else if self.is_over_budget() {
                Flow::Stop(EndReason::Budget)
            } else {
                self.lookout.as_mut().map_or(Flow::Go, Lookout::answer)
            };
        }
        self.told
    }

    /// Rounds that are whole on every side.
    fn whole(&self) -> u32 {
        self.sides.iter().flatten().map(|tally| tally.rounds).min().unwrap_or(0)
    }

    fn round(&mut self, side: Side, end: RoundEnd, requests: Vec<Request>) {
        let before = self.whole();
        if let Some(tally) = &mut self.sides[place(side)] {
            tally.rounds = end.round + 1;
        }
        self.writer.send(Piece::Round(side, end, requests));
        let whole = self.whole();
        if whole == before {
            return;
        }
        self.update.rounds_done = whole;
        let elapsed = self.epoch.elapsed().saturating_sub(self.level_began);
        if let Some(look) = self.lookout.as_mut().and_then(|lookout| lookout.round(whole, elapsed)) {
            self.writer.send(Piece::Look(look));
        }
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

fn place(side: Side) -> usize {
    match side {
        Side::Candidate => 0,
        Side::Baseline => 1,
    }
}

/// The watcher as one side's load sees it. Both run on one thread, and neither keeps it over a wait.
pub(super) struct Seat<'a, 'w> {
    pub watcher: &'a RefCell<Watcher<'w>>,
    pub side: Side,
}

impl Observer for Seat<'_, '_> {
    fn ended(&mut self, request: &Request) -> Flow {
        self.watcher.borrow_mut().ended(self.side, request)
    }

    fn round(&mut self, end: RoundEnd, requests: Vec<Request>) -> Flow {
        self.watcher.borrow_mut().round(self.side, end, requests);
        Flow::Go
    }

    fn rest(&mut self, requests: Vec<Request>) {
        self.watcher.borrow().writer.send(Piece::Rest(self.side, requests));
    }

    fn health(&mut self, sample: ClientSample) {
        self.watcher.borrow().writer.send(Piece::Health(self.side, sample));
    }

    fn tick(&mut self, elapsed: Duration, in_flight: usize) {
        self.watcher.borrow_mut().tick(elapsed, in_flight);
    }
}
