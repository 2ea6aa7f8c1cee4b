//! `slo`: what must hold.

use super::{Constraint, Rule};

/// What must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Slo {
    /// Every one must hold for a request to count as good.
    pub request: Vec<Constraint>,
    /// `require`, then `regression`, then `advise`, each in the order written.
    pub rules: Vec<Rule>,
    /// How sure a fail and a pass must be.
    pub confidence: Confidence,
    /// A pass must rule out this multiple of what a rule allows, at least 1.
    pub rule_out: f64,
    /// What an inconclusive verdict does to the exit code.
    pub on_inconclusive: OnInconclusive,
}

/// `slo.confidence`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Confidence {
    /// One-sided, as a fraction: 0.95.
    Level(f64),
    /// Bare estimates.
    Point,
}

/// `slo.on_inconclusive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInconclusive {
    /// Exit 12.
    Fail,
    /// Exit 0, with the warning shown.
    Warn,
}
