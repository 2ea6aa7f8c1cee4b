//! A whole run.

use super::{Conditions, Request, Side};
use crate::units::Nanos;

/// A level as it was planned.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelInfo {
    /// `1x`, `1.5x`.
    pub label: String,
    /// The multiple of the target load.
    pub factor: f64,
    /// Closed loop: requests in flight.
    pub concurrency: Option<u64>,
    /// Open loop: requests per second.
    pub rate: Option<f64>,
    /// Rounds planned.
    pub rounds: u32,
    /// Requests in each planned round.
    pub round_requests: Vec<u32>,
    /// Uncounted requests before the first round.
    pub warmup: u64,
    /// Uncounted requests at the start of each round, where two sides take turns (`--alternate`) and each round is a block of its own;
    /// 0 in one continuous load.
    pub lead: u32,
}

/// A round whose every request has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundEnd {
    /// Index of its level.
    pub level: usize,
    /// Its number within the level, from 0.
    pub round: u32,
    /// Requests in it.
    pub requests: u32,
    /// Where the requests' own gaps are not kept: `(gap in microseconds, count)` pairs of an HDR histogram with 3 digits.
    pub gaps: Option<Vec<(u64, u64)>>,
}

/// The client's own health, a sample a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientSample {
    /// When, from the run's start.
    pub at: Nanos,
    /// How late the worst 1 ms timer of that second fired.
    pub loop_lag_max: Nanos,
    /// The 99th percentile of that lateness within the second.
    pub loop_lag_p99: Nanos,
    /// Share of one core that this process used, where the system tells.
    pub cpu_share: Option<f64>,
    /// Requests in flight.
    pub in_flight: u64,
    /// By how many milliseconds the wall clock moved against the monotonic one within this second; where it was not watched, `None`.
    pub clock_step_ms: Option<f64>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// All that was planned was done.
    Complete,
    /// The spec's budget was reached.
    Budget,
    /// A signal.
    Interrupted,
    /// The first requests all failed in a way that no more requests would mend.
    Unusable,
    /// Every rule was decided before the last round.
    Decided,
}

impl EndReason {
    /// Every reason.
    pub const ALL: [Self; 5] = [Self::Complete, Self::Budget, Self::Interrupted, Self::Unusable, Self::Decided];

    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Budget => "budget",
            Self::Interrupted => "interrupted",
            Self::Unusable => "unusable",
            Self::Decided => "decided",
        }
    }

    /// The reason with this word.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// What the end line keeps of a level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelEnd {
    /// Index of the level.
    pub level: usize,
    /// Rounds that were planned.
    pub planned_rounds: u32,
    /// Rounds that were whole at its end.
    pub whole_rounds: u32,
    /// Rounds at the look that ended it, where a look did.
    pub look: Option<u32>,
    /// The α of that look, where a look ended it.
    pub alpha: Option<f64>,
}

impl LevelEnd {
    /// Whether a look ended it before its last planned round.
    #[must_use]
    pub fn is_early(&self) -> bool {
        self.look.is_some_and(|look| look < self.planned_rounds)
    }
}

/// The run's last line.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// When, from the run's start.
    pub at: Nanos,
    /// Wall-clock end, RFC 3339.
    pub ended: String,
    /// Why.
    pub reason: EndReason,
    /// Requests sent, warm-up included.
    pub requests: u64,
    /// Of these, errored.
    pub errors: u64,
    /// What became of each level that was begun.
    pub levels: Vec<LevelEnd>,
}

/// A whole run, as far as it got.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Under what it was made.
    pub conditions: Conditions,
    /// Every request that ended, warm-up included, by id.
    pub requests: Vec<Request>,
    /// Every whole round.
    pub rounds: Vec<RoundEnd>,
    /// The client's own health.
    pub client: Vec<ClientSample>,
    /// The last line; `None` where the run was cut.
    pub end: Option<End>,
    /// Lower and upper bracket of the headroom, as shares, where a search was made after the run; the upper one is infinite where no
    /// load broke the SLO.
    pub headroom: Option<(f64, f64)>,
    /// Where it was read from a file: lines that could not be read, with why.
    pub damage: Vec<String>,
}

/// What the run id of a baseline's side has behind that of the candidate's.
const BASELINE: &str = "-baseline";

impl Recording {
    /// Whether a level of it ended at an early look, which favours extreme figures: such a run is no baseline.
    #[must_use]
    pub fn stopped_early(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.reason == EndReason::Decided || end.levels.iter().any(LevelEnd::is_early))
    }

    /// The rounds of level `index` that are judged, where a look ended it: what came in later is in no figure.
    #[must_use]
    pub fn look(&self, index: usize) -> Option<u32> {
        self.end.iter().flat_map(|end| &end.levels).filter(|end| end.level == index).find_map(|end| end.look)
    }

    /// Whose requests these are: a run side by side keeps a file for each side.
    #[must_use]
    pub fn side(&self) -> Side {
        let is_baseline = !self.requests.is_empty() && self.requests.iter().all(|request| request.side == Side::Baseline);
        if is_baseline { Side::Baseline } else { Side::Candidate }
    }

    /// Whether `other` is the baseline's side of this run, loaded at the same time.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        other.conditions.run_id == baseline_id(&self.conditions.run_id)
    }
}

/// The run id of the baseline's side of the run `id`.
#[must_use]
pub fn baseline_id(id: &str) -> String {
    format!("{id}{BASELINE}")
}
