//! What a summary must look at: the constraints that make a request good, and the scopes that rules speak of.

use crate::metric::Metric;
use crate::spec::{Buckets, Condition, Constraint, Rule, Slo};
use crate::units::Quantile;

/// What a summary must look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Lens {
    /// Every one must hold for a request to count as good.
    pub constraints: Vec<Constraint>,
    /// Inner edges of the length buckets.
    pub buckets: Buckets,
    /// Scopes for which gap histograms are kept, besides all requests together.
    pub gap_scopes: Vec<Scope>,
}

impl Lens {
    /// The lens of a spec's `slo` and `buckets`.
    #[must_use]
    pub fn new(slo: &Slo, buckets: &Buckets) -> Self {
        let mut gap_scopes: Vec<Scope> = Vec::new();
        for rule in slo.rules.iter().filter(|rule| rule.metric == Metric::Itl) {
            let scope = Scope::of(rule);
            if !scope.is_everything() && !gap_scopes.contains(&scope) {
                gap_scopes.push(scope);
            }
        }
        Self { constraints: slo.request.clone(), buckets: buckets.clone(), gap_scopes }
    }
}

/// Which requests a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// By lengths and turn.
    pub when: Condition,
    /// By workload part.
    pub part: Option<String>,
}

impl Scope {
    /// The scope of `rule`.
    #[must_use]
    pub fn of(rule: &Rule) -> Self {
        Self { when: rule.when.clone(), part: rule.part.clone() }
    }

    /// Whether it speaks of every request.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.when.is_everything() && self.part.is_none()
    }
}

/// What a rule speaks of, without what it says: its metric, percentile, scope and level.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Which metric.
    pub metric: Metric,
    /// Which percentile; `None` for ratios and rates.
    pub stat: Option<Quantile>,
    /// Which requests.
    pub scope: Scope,
    /// The label of its level.
    pub level: String,
}

impl Subject {
    /// The subject of `rule`.
    #[must_use]
    pub fn of(rule: &Rule) -> Self {
        Self { metric: rule.metric, stat: rule.stat, scope: Scope::of(rule), level: rule.level.clone() }
    }
}
