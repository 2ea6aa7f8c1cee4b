//! What a verdict is made of.

use crate::spec::RuleKind;
use crate::units::Unit;

/// What became of one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Kept.
    Pass,
    /// Broken.
    Fail,
    /// The data do not decide.
    Inconclusive,
    /// There are no data to judge by.
    Invalid,
    /// A regression rule without a baseline.
    NoBaseline,
    /// Its level did not run, because an earlier one failed.
    Skipped,
}

impl Status {
    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::Invalid => "invalid",
            Self::NoBaseline => "no_baseline",
            Self::Skipped => "skipped",
        }
    }
}

/// The verdict on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerdictStatus {
    /// Every judged rule is kept.
    Pass,
    /// At least one judged rule is broken.
    Fail,
    /// None is broken and at least one is undecided.
    Inconclusive,
    /// The measurement may not be judged.
    Invalid,
}

impl VerdictStatus {
    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::Invalid => "invalid",
        }
    }
}

/// By which section of the statistics a rule was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A: a proportion with a clustered Wilson interval.
    Proportion,
    /// B: a trimmed mean of rounds, for a floor on a rate.
    Rounds,
    /// D: a change against stored runs, by B and C.
    Change,
    /// E: paired rounds of two deployments.
    Paired,
    /// The count alone, where the limit leaves no room.
    Count,
    /// Bare estimates.
    Point,
}

impl Method {
    /// Its letter or word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proportion => "A",
            Self::Rounds => "B",
            Self::Change => "D",
            Self::Paired => "E",
            Self::Count => "count",
            Self::Point => "point",
        }
    }
}

/// One rule's row, with its evidence. Values are in `unit` as held inside: milliseconds, shares from 0 to 1, rates per second.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleResult {
    /// As written.
    pub rule: String,
    /// In which list it stands.
    pub kind: RuleKind,
    /// Its level's label.
    pub level: String,
    /// Its `when` and `for`, as written; `None` where it speaks of every request.
    pub scope: Option<String>,
    /// What became of it.
    pub status: Status,
    /// The estimate; `None` where it is unbounded or unknown.
    pub observed: Option<f64>,
    /// The unit of `observed`, `low`, `high`, `limit` and `baseline`.
    pub unit: Unit,
    /// The lower one-sided bound that decided; `None` for regression rows.
    pub low: Option<f64>,
    /// The upper one-sided bound that decided; `None` for regression rows, and where it is unbounded.
    pub high: Option<f64>,
    /// The limit of an absolute rule.
    pub limit: Option<f64>,
    /// The baseline's pooled value, for regression rows.
    pub baseline: Option<f64>,
    /// The change, positive upwards: a fraction, or a difference in `change_unit`.
    pub change: Option<f64>,
    /// Its lower one-sided bound.
    pub change_low: Option<f64>,
    /// Its upper one-sided bound.
    pub change_high: Option<f64>,
    /// The unit of the change: [`Unit::Change`], [`Unit::Points`] or [`Unit::Ms`].
    pub change_unit: Option<Unit>,
    /// The allowed change in `change_unit`, signed like `change`.
    pub change_limit: Option<f64>,
    /// Samples of the rule's population.
    pub samples: u64,
    /// Samples over the design effect.
    pub n_eff: Option<f64>,
    /// How it was decided.
    pub method: Option<Method>,
    /// One line that a person understands: estimate, interval, limit, samples; for INCONCLUSIVE, what would decide it.
    pub why: String,
    /// Words such as `beyond_limit_unproven`.
    pub warnings: Vec<String>,
}

/// How one validity check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValidityStatus {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Warn,
    /// Turns a pass into inconclusive.
    Inconclusive,
    /// Makes the measurement invalid.
    Invalid,
}

impl ValidityStatus {
    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Inconclusive => "inconclusive",
            Self::Invalid => "invalid",
        }
    }
}

/// One validity check.
#[derive(Debug, Clone, PartialEq)]
pub struct Validity {
    /// Its word: `client_lag`, `rounds`, `data`, …
    pub check: &'static str,
    /// How it came out.
    pub status: ValidityStatus,
    /// Figure, limit and meaning in one line.
    pub text: String,
}

/// The baseline that a verdict used, or why it used none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BaselineInfo {
    /// Ids of the stored runs that were used.
    pub runs: Vec<String>,
    /// Wall-clock start of the newest, RFC 3339.
    pub newest: Option<String>,
    /// Its commit, where known.
    pub commit: Option<String>,
    /// How far its commit lies from the one under test, where that is known.
    pub distance: Option<String>,
    /// Lines of `slo` that differ from the baseline's, each as `was … / is …`.
    pub changed_limits: Vec<String>,
    /// Why none was used, where one was found: what differs.
    pub differences: Vec<String>,
}

/// A level that ended at an early look, or was skipped after one, and what that saved.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlyLevel {
    /// Its label.
    pub level: String,
    /// Rounds that were judged; `None` where the level was skipped.
    pub rounds: Option<u32>,
    /// Rounds that were planned.
    pub planned_rounds: u32,
    /// The one-sided α of its last look.
    pub alpha: Option<f64>,
    /// Planned requests that were not sent, warm-up included.
    pub requests_saved: u64,
    /// How long they would have taken at the pace of this run, seconds; `None` where its pace is unknown.
    pub seconds_saved: Option<f64>,
}

/// The verdict on one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The spec's name.
    pub name: String,
    /// The verdict.
    pub status: VerdictStatus,
    /// Every rule's row: require, regression, advise, in the order written.
    pub rules: Vec<RuleResult>,
    /// Every validity check.
    pub validity: Vec<Validity>,
    /// Warnings about the whole, each a sentence.
    pub warnings: Vec<String>,
    /// The baseline used.
    pub baseline: BaselineInfo,
    /// Levels that ended at an early look or were skipped after one; empty where all that was planned was sent.
    pub early: Vec<EarlyLevel>,
}

impl Verdict {
    /// Whether a `require` rule is broken.
    #[must_use]
    pub fn fails_absolute(&self) -> bool {
        self.has_failed(RuleKind::Require)
    }

    /// Whether a `regression` rule is broken.
    #[must_use]
    pub fn fails_regression(&self) -> bool {
        self.has_failed(RuleKind::Regression)
    }

    /// Whether no deciding rule could be judged for want of a baseline: there are some, and every one is `no_baseline`.
    #[must_use]
    pub fn wants_baseline(&self) -> bool {
        let mut deciding = self.rules.iter().filter(|rule| rule.kind != RuleKind::Advise).peekable();
        deciding.peek().is_some() && deciding.all(|rule| rule.status == Status::NoBaseline)
    }

    fn has_failed(&self, kind: RuleKind) -> bool {
        self.rules.iter().any(|rule| rule.kind == kind && rule.status == Status::Fail)
    }
}
