//! Rules and constraints, once parsed. Values are in the metric's own unit: milliseconds, shares from 0 to 1, per second, tokens per second.

use crate::metric::Metric;
use crate::units::Quantile;

/// `slo.request`: a limit that one request meets or breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// As written.
    pub text: String,
    /// Of one request.
    pub metric: Metric,
    /// The comparison that must hold.
    pub cmp: Cmp,
    /// The limit, in the metric's unit.
    pub value: f64,
    /// Which requests it speaks of.
    pub when: Condition,
    /// Which workload part it speaks of.
    pub part: Option<String>,
}

/// A promise of the service.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// As written.
    pub text: String,
    /// In which list it stands.
    pub kind: RuleKind,
    /// Which metric.
    pub metric: Metric,
    /// Which percentile; `None` for ratios and rates.
    pub stat: Option<Quantile>,
    /// What must hold.
    pub test: Test,
    /// Which requests it speaks of.
    pub when: Condition,
    /// The level it speaks of, by its label in `load.levels`: `1x` unless written.
    pub level: String,
    /// Which workload part it speaks of.
    pub part: Option<String>,
}

/// In which list a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Decides, absolutely.
    Require,
    /// Decides, against a baseline.
    Regression,
    /// Is shown and never decides.
    Advise,
}

impl RuleKind {
    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Require => "require",
            Self::Regression => "regression",
            Self::Advise => "advise",
        }
    }
}

/// What a rule says must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// Against a number.
    Absolute {
        /// The comparison that must hold.
        cmp: Cmp,
        /// The limit, in the metric's unit.
        value: f64,
        /// `in SHARE of rounds`: the share of rounds that must meet the line.
        share_of_rounds: Option<f64>,
    },
    /// Against a baseline, in the harmful direction of the metric.
    Change {
        /// The allowed change; the larger of the two where both are written.
        limit: Limit,
    },
}

/// How much worse than the baseline is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limit {
    /// A relative change, as a fraction: 0.1 for `10%`.
    pub relative: Option<f64>,
    /// A change in the metric's own unit: milliseconds, a rate, or a share for `pp`.
    pub absolute: Option<f64>,
}

/// A comparison that must hold between a value and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cmp {
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

impl Cmp {
    /// Whether `value` keeps the limit.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::AtMost => value <= limit,
            Self::Below => value < limit,
            Self::AtLeast => value >= limit,
            Self::Above => value > limit,
        }
    }
}

/// `when …`: clauses that must all hold; none means every request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Condition {
    /// Each clause: a field and the inclusive range it must lie in.
    pub clauses: Vec<(Field, u64, u64)>,
}

/// What a condition can speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// `input_tokens`
    InputTokens,
    /// `output_tokens`
    OutputTokens,
    /// `turn`, from 1
    Turn,
}

impl Condition {
    /// Whether it speaks of every request.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.clauses.is_empty()
    }
}
