//! When a level may end before its last round, and whether it does (statistics F).

use super::{Status, Verdict};
use crate::metric::Metric;
use crate::record::LevelEnd;
use crate::spec::{RuleKind, Slo};
use crate::stats::{self, Look};

/// The looks of one level. A look that is left out, because `min_time` has not passed yet, leaves its error to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks {
    at: Vec<usize>,
    planned: usize,
    alpha: f64,
    /// Rounds behind the last look taken.
    taken: usize,
}

impl Looks {
    /// The looks of a level that runs `least` to `most` rounds, at the one-sided `alpha` in all.
    #[must_use]
    pub fn new(least: u32, most: u32, alpha: f64) -> Self {
        let (least, planned) = (least as usize, most as usize);
        let looks = if least < planned { stats::looks_between(least, planned, alpha) } else { stats::looks(planned, alpha) };
        Self { at: looks.iter().map(|look| look.rounds).collect(), planned, alpha, taken: 0 }
    }

    /// Takes the look that is due after exactly so many whole rounds, where one is. The last one is [`Looks::last`].
    pub fn due(&mut self, rounds: u32) -> Option<Look> {
        let rounds = rounds as usize;
        if rounds <= self.taken || rounds >= self.planned || !self.at.contains(&rounds) {
            return None;
        }
        let alpha = stats::look_alpha(self.taken, rounds, self.planned, self.alpha);
        self.taken = rounds;
        Some(Look { rounds, alpha })
    }

    /// The level's last look, whatever ended it: all of the error that is left.
    #[must_use]
    pub fn last(&self, rounds: u32) -> Look {
        Look { rounds: rounds as usize, alpha: stats::look_alpha(self.taken, self.planned, self.planned, self.alpha) }
    }
}

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Every judged rule of the level is kept: the level ends.
    Passed,
    /// One of them is broken: the level ends, and later ones are skipped.
    Failed,
}

/// Whether a look may end the level with this label: a rule of it decides. Headroom is judged after all levels.
#[must_use]
pub fn is_judged(slo: &Slo, level: &str) -> bool {
    slo.rules.iter().any(|rule| rule.level == level && rule.kind != RuleKind::Advise && rule.metric != Metric::Headroom)
}

/// What the judged rules of one level came to; `None` where it must go on. `advise` neither stops nor delays it.
#[must_use]
pub fn settled(slo: &Slo, verdict: &Verdict, level: &str) -> Option<Settled> {
    let judged: Vec<Status> = slo
        .rules
        .iter()
        .zip(&verdict.rules)
        .filter(|(rule, row)| {
            rule.level == level && rule.kind != RuleKind::Advise && rule.metric != Metric::Headroom && row.status != Status::NoBaseline
        })
        .map(|(_, row)| row.status)
        .collect();
    if judged.contains(&Status::Fail) {
        Some(Settled::Failed)
    } else if !judged.is_empty() && judged.iter().all(|status| *status == Status::Pass) {
        Some(Settled::Passed)
    } else {
        None
    }
}

/// The end of a level at `look`.
#[must_use]
pub fn level_end(level: usize, (planned_rounds, whole_rounds): (u32, u32), look: Option<Look>) -> LevelEnd {
    LevelEnd {
        level,
        planned_rounds,
        whole_rounds,
        look: look.map(|look| u32::try_from(look.rounds).unwrap_or(u32::MAX)),
        alpha: look.map(|look| look.alpha),
    }
}
