//! Looks at a run while it goes on: at planned rounds the verdict so far is made, on another thread, and ends a level that is decided.

use super::decide::Judging;
use crate::plan::LevelPlan;
use crate::record::{End, EndReason, LevelEnd, Recording};
use crate::run::Flow;
use crate::spec::{Confidence, RuleKind};
use crate::stats::Look;
use crate::units::Nanos;
use crate::verdict::{self, Looks, Settled};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// A look to be taken at the recording so far, and at that of the other side where there is one.
pub(super) type Ask = Box<dyn FnOnce(&mut Recording, Option<&mut Recording>) + Send>;

/// A look and what it came to.
type Answer = (Look, Option<Settled>);

/// Keeps the looks of the level that runs.
pub(super) struct Lookout {
    judging: Arc<Judging>,
    alpha: f64,
    level: Option<Watched>,
    /// Levels that have ended.
    ends: Vec<LevelEnd>,
    /// Looks asked for and not yet answered, in order.
    asked: VecDeque<oneshot::Receiver<Answer>>,
}

/// The level that runs, where a rule of it decides.
struct Watched {
    index: usize,
    label: String,
    planned: u32,
    min_time: Duration,
    looks: Looks,
    settled: Option<(Look, Settled)>,
}

impl Lookout {
    /// `None` where there is nothing to look for: bare estimates, or regression rules without a baseline, for which this run is the
    /// first one.
    pub(super) fn over(judging: Arc<Judging>) -> Option<Self> {
        let Confidence::Level(confidence) = judging.slo.confidence else { return None };
        let compares = judging.slo.rules.iter().any(|rule| rule.kind == RuleKind::Regression);
        if compares && !judging.has_baseline() {
            return None;
        }
        Some(Self { judging, alpha: 1.0 - confidence, level: None, ends: Vec::new(), asked: VecDeque::new() })
    }

    /// A level begins.
    pub(super) fn begin(&mut self, index: usize, plan: &LevelPlan) {
        self.level = verdict::is_judged(&self.judging.slo, &plan.info.label).then(|| Watched {
            index,
            label: plan.info.label.clone(),
            planned: plan.info.rounds,
            min_time: plan.min_time,
            looks: Looks::new(plan.min_rounds, plan.info.rounds, self.alpha),
            settled: None,
        });
    }

    /// So many rounds are whole: the look that is due now.
    pub(super) fn round(&mut self, whole: u32, elapsed: Duration) -> Option<Ask> {
        let level = self.level.as_mut().filter(|level| elapsed >= level.min_time && level.settled.is_none())?;
        let look = level.looks.due(whole)?;
        self.ask(look)
    }

    fn ask(&mut self, look: Look) -> Option<Ask> {
        let level = self.level.as_ref()?;
        let (judging, label) = (Arc::clone(&self.judging), level.label.clone());
        let (tell, answer) = oneshot::channel();
        let mut ends = self.ends.clone();
        let whole = u32::try_from(look.rounds).unwrap_or(u32::MAX);
        ends.push(verdict::level_end(level.index, (level.planned, whole), Some(look)));
        self.asked.push_back(answer);
        Some(Box::new(move |recording, mut other| {
            if let Some(other) = other.as_deref_mut() {
                other.end = Some(so_far(other, ends.clone()));
            }
            recording.end = Some(so_far(recording, ends));
            let (_, verdict) = judging.verdict(recording, other.as_deref());
            recording.end = None;
            if let Some(other) = other {
                other.end = None;
            }
            // Nobody listens any more where the run was stopped meanwhile.
            let _ = tell.send((look, verdict::settled(&judging.slo, &verdict, &label)));
        }))
    }

    /// What the looks so far say, without waiting.
    pub(super) fn answer(&mut self) -> Flow {
        while let Some(Ok(answer)) = self.asked.front_mut().map(oneshot::Receiver::try_recv) {
            self.asked.pop_front();
            self.take(answer);
        }
        match self.level.as_ref().and_then(|level| level.settled) {
            None => Flow::Go,
            Some((_, Settled::Passed)) => Flow::EndLevel,
            Some((_, Settled::Failed)) => Flow::Stop(EndReason::Decided),
        }
    }

    /// The first look that settles a level is its last, however late its answer comes.
    fn take(&mut self, (look, settled): Answer) {
        if let Some(level) = self.level.as_mut().filter(|level| level.settled.is_none()) {
            level.settled = settled.map(|settled| (look, settled));
        }
    }

    async fn wait(&mut self) {
        while let Some(asked) = self.asked.pop_front() {
            // No answer means that the writer's thread died; that is found when it is joined.
            if let Ok(answer) = asked.await {
                self.take(answer);
            }
        }
    }

    /// Level `index` has ended by `flow` with `(planned, whole)` rounds. What is kept of it, and whether to go on.
    pub(super) async fn end(
        &mut self,
        index: usize,
        rounds: (u32, u32),
        (flow, is_last): (Flow, bool),
        send: impl Fn(Ask),
    ) -> (LevelEnd, Flow) {
        self.wait().await;
        let early = self.level.as_ref().and_then(|level| level.settled);
        let last = self.level.as_ref().filter(|_| rounds.1 > 0).map(|level| level.looks.last(rounds.1));
        // Whether to go on with the next level takes the last look at this one; at the run's end the verdict itself is that look.
        if let (None, Some(look), Flow::Go, false) = (early, last, flow, is_last) {
            if let Some(ask) = self.ask(look) {
                send(ask);
            }
            self.wait().await;
        }
        let settled = self.level.as_ref().and_then(|level| level.settled).map(|(_, settled)| settled);
        let end = verdict::level_end(index, rounds, early.map(|(look, _)| look).or(last));
        self.ends.push(end.clone());
        let flow = match (flow, settled) {
            (Flow::Go | Flow::EndLevel | Flow::Stop(EndReason::Budget), Some(Settled::Failed)) if early.is_some() || !is_last => {
                Flow::Stop(EndReason::Decided)
            }
            (flow, _) => flow,
        };
        (end, flow)
    }
}

/// The end line that the recording would have if it ended at this look.
fn so_far(recording: &Recording, levels: Vec<LevelEnd>) -> End {
    End {
        at: recording.requests.iter().filter_map(|request| Some(request.scheduled + request.closed?)).max().unwrap_or(Nanos::ZERO),
        ended: String::new(),
        reason: EndReason::Complete,
        requests: recording.requests.len() as u64,
        errors: recording.requests.iter().filter(|request| !request.is_ok()).count() as u64,
        levels,
    }
}
