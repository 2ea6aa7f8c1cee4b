//! What is known of a rule once it was judged, before it becomes a row.

use super::{Method, RuleResult, Status};
use crate::metric::Metric;
use crate::spec::Rule;
use crate::summary::{Level, Samples, Scope};
use crate::units::Unit;

/// What is known of a rule once it was judged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) status: Status,
    pub(super) method: Method,
    pub(super) unit: Unit,
    pub(super) observed: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) limit: Option<f64>,
    pub(super) samples: u64,
    pub(super) n_eff: Option<f64>,
    pub(super) why: String,
}

impl Judged {
    /// An estimate and its bounds, not yet judged.
    pub(super) fn shown(unit: Unit, observed: Option<f64>, low: Option<f64>, high: Option<f64>) -> Self {
        Self {
            status: Status::Inconclusive,
            method: Method::Proportion,
            unit,
            observed,
            low,
            high,
            limit: None,
            samples: 0,
            n_eff: None,
            why: String::new(),
        }
    }

    /// The row of an absolute rule.
    pub(super) fn into_row(self, rule: &Rule) -> RuleResult {
        RuleResult {
            status: self.status,
            observed: self.observed,
            unit: self.unit,
            low: self.low,
            high: self.high,
            limit: self.limit,
            samples: self.samples,
            n_eff: self.n_eff,
            method: Some(self.method),
            why: self.why,
            ..empty_row(rule, self.status, String::new())
        }
    }
}

/// A row without figures.
pub(super) fn empty_row(rule: &Rule, status: Status, why: String) -> RuleResult {
    RuleResult {
        rule: rule.text.clone(),
        kind: rule.kind,
        level: rule.level.clone(),
        scope: scope_text(rule),
        status,
        observed: None,
        unit: rule.metric.row().unit,
        low: None,
        high: None,
        limit: match rule.test {
            crate::spec::Test::Absolute { value, .. } => Some(value),
            crate::spec::Test::Change { .. } => None,
        },
        baseline: None,
        change: None,
        change_low: None,
        change_high: None,
        change_unit: None,
        change_limit: None,
        samples: 0,
        n_eff: None,
        method: None,
        why,
        warnings: Vec::new(),
    }
}

/// A rule's `when` and `for`, as written.
fn scope_text(rule: &Rule) -> Option<String> {
    let words = rule.text.split_whitespace().skip_while(|word| *word != "when").take_while(|word| *word != "at" && *word != "for");
    let mut words: Vec<&str> = words.collect();
    if let Some(part) = &rule.part {
        words.extend(["for", part]);
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// Samples of a per-request metric; `None` where there are none, or where no answer has a value although it should.
pub(super) fn samples(level: &Level, metric: Metric, scope: &Scope) -> Option<Samples> {
    let samples = level.samples(metric, scope);
    let unmeasured = samples.known == 0 && samples.errored < samples.len() as u64 && !level.facts.iter().any(|fact| fact.buffered);
    (!samples.is_empty() && !unmeasured).then_some(samples)
}

/// A count held as a number.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value is a whole count")]
pub(super) fn count(value: f64) -> u64 {
    value.round().max(0.0) as u64
}
