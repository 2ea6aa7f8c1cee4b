//! Rules against a baseline (statistics D, side by side E): FAIL where the harm is proven beyond the limit, PASS where the rule-out limit is.

use super::evidence::empty_row;
use super::{Method, RuleResult, Status, why};
use crate::compare::{Comparison, Estimates, Obstacle, Scale};
use crate::metric::{Better, Metric};
use crate::spec::{Limit, Rule, RuleKind, Test};
use crate::stats;
use crate::units::Unit;

/// How a change is judged: by intervals at a chance of error, or by the bare estimate.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    /// `apart` where a look ended the rule's level: rules of other levels were then decided before it, or not yet.
    Interval {
        alpha: f64,
        rule_out: f64,
        apart: bool,
    },
    Point,
}

/// A rule's limits on the scale of its estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// The allowed change as written, in [`Limits::unit`], without sign.
    pub(super) written: f64,
    /// The unit of a change as shown.
    pub(super) unit: Unit,
    /// The allowed change relative to the baseline, or in shares: x.
    pub(super) x: f64,
    /// The limit of a FAIL: d.
    pub(super) fail: f64,
    /// What a PASS must rule out: D.
    pub(super) rule_out: f64,
}

/// x, d and D of `limit` for a metric whose baseline is `center` on `scale`.
pub(super) fn limits(metric: Metric, limit: Limit, scale: Scale, center: f64, r: f64) -> Limits {
    if scale == Scale::Share {
        let x = limit.absolute.or(limit.relative).unwrap_or(0.0);
        return Limits { written: x, unit: Unit::Points, x, fail: x, rule_out: r * x };
    }
    let typical = center.exp();
    let from_absolute = limit.absolute.map(|value| value / typical);
    let x = limit.relative.unwrap_or(0.0).max(from_absolute.unwrap_or(0.0));
    let (written, unit) = match (limit.relative, limit.absolute) {
        (None, Some(value)) => (value, metric.row().unit),
        _ => (x, Unit::Change),
    };
    let log = |x: f64| match metric.row().better {
        Better::Low => x.ln_1p(),
        Better::High if x < 1.0 => -(-x).ln_1p(),
        Better::High => f64::INFINITY,
    };
    Limits { written, unit, x, fail: log(x), rule_out: log(r * x) }
}

/// 1 where a rise is harm, −1 where a drop is.
pub(super) fn harm_sign(metric: Metric) -> f64 {
    match metric.row().better {
        Better::Low => 1.0,
        Better::High => -1.0,
    }
}

/// One change rule with what is known of it.
struct Case<'a> {
    rule: &'a Rule,
    estimates: &'a Estimates,
    limits: Limits,
    by: By,
    p: f64,
}

/// The rows of all change rules among `rules`, by position; `by` says how a rule's level is judged. Holm's correction is over the
/// `regression` rules alone, of all levels; those that another look decided count as not rejected.
pub(super) fn rows(rules: &[Rule], comparison: Option<&Comparison>, by: impl Fn(&Rule) -> By) -> Vec<Option<RuleResult>> {
    let Some(comparison) = comparison.filter(|comparison| comparison.stored > 0) else {
        return rules.iter().map(|rule| is_change(rule).then(|| no_baseline(rule))).collect();
    };
    let cases: Vec<Option<Case<'_>>> = rules
        .iter()
        .enumerate()
        .map(|(index, rule)| {
            let Test::Change { limit } = rule.test else { return None };
            let estimates = comparison.rows.get(index)?.as_ref()?.as_ref().ok()?;
            let by = by(rule);
            let r = if let By::Interval { rule_out, .. } = by { rule_out } else { 1.0 };
            let limits = limits(rule.metric, limit, estimates.scale, estimates.center, r);
            let p = estimates.change.p_worse(harm_sign(rule.metric), limits.fail);
            Some(Case { rule, estimates, limits, by, p })
        })
        .collect();
    let deciding: Vec<usize> =
        (0..rules.len()).filter(|index| rules[*index].kind == RuleKind::Regression && cases[*index].is_some()).collect();
    let tests = planned_tests(rules, comparison);
    let rejected = |index: usize, case: &Case<'_>| match case.by {
        By::Point => case.estimates.change.harm(harm_sign(case.rule.metric)) > case.limits.fail,
        By::Interval { alpha, .. } if !deciding.contains(&index) => case.p < alpha,
        By::Interval { alpha, apart, .. } => {
            let family = deciding.iter().filter_map(|other| Some((*other, cases[*other].as_ref()?)));
            let family: Vec<_> = family.filter(|(_, other)| !apart || other.rule.level == case.rule.level).collect();
            let p_values: Vec<f64> = family.iter().map(|(_, other)| other.p).collect();
            let at = family.iter().position(|(other, _)| *other == index);
            at.is_some_and(|at| stats::holm(&p_values, alpha, tests)[at])
        }
    };
    rules
        .iter()
        .enumerate()
        .map(|(index, rule)| match &cases[index] {
            Some(case) => Some(row(case, rejected(index, case), comparison)),
            None if is_change(rule) => Some(match comparison.rows.get(index) {
                Some(Some(Err(obstacle))) => without_estimate(rule, *obstacle),
                _ => no_baseline(rule),
            }),
            None => None,
        })
        .collect()
}

/// M: all regression rules with a baseline, of all levels, whether they were measured or not.
fn planned_tests(rules: &[Rule], comparison: &Comparison) -> usize {
    let has_baseline = |index: usize| !matches!(comparison.rows.get(index), Some(Some(Err(Obstacle::NoBaselineData))) | None);
    (0..rules.len()).filter(|index| rules[*index].kind == RuleKind::Regression && has_baseline(*index)).count()
}

fn is_change(rule: &Rule) -> bool {
    matches!(rule.test, Test::Change { .. })
}

fn row(case: &Case<'_>, rejected: bool, comparison: &Comparison) -> RuleResult {
    let stored = comparison.stored;
    let Case { rule, estimates, limits, by, .. } = case;
    let sign = harm_sign(rule.metric);
    let harm = estimates.change.harm(sign);
    let status = match by {
        _ if rejected => Status::Fail,
        By::Point => Status::Pass,
        By::Interval { alpha, .. } if estimates.change.harm_at_most(sign, *alpha) <= limits.rule_out => Status::Pass,
        By::Interval { .. } => Status::Inconclusive,
    };
    let method = match by {
        By::Point => Method::Point,
        By::Interval { .. } if comparison.paired => Method::Paired,
        By::Interval { .. } => Method::Change,
    };
    let alpha = if let By::Interval { alpha, .. } = by { *alpha } else { 0.5 };
    let (low, high) = estimates.change.bounds(alpha);
    let shown = |difference: f64| Some(as_shown(difference, estimates, *limits)).filter(|value| value.is_finite());
    let mut result = RuleResult {
        observed: estimates.observed,
        baseline: estimates.baseline,
        change: shown(estimates.change.difference),
        change_low: shown(low).filter(|_| method != Method::Point),
        change_high: shown(high).filter(|_| method != Method::Point),
        change_unit: Some(limits.unit),
        change_limit: Some(sign * limits.written),
        samples: estimates.samples,
        method: Some(method),
        ..empty_row(rule, status, String::new())
    };
    if status == Status::Pass && harm > limits.fail {
        result.warnings.push("beyond_limit_unproven".to_owned());
    }
    result.why = why::change(&result, estimates, *limits, *by, &why::beside_what(comparison));
    // A FAIL stands; a pass on a site whose runs differ by as much as the limit is no pass.
    if status == Status::Pass && method == Method::Change && is_too_noisy(estimates, *limits, stored) {
        result.status = Status::Inconclusive;
        result.warnings.push("site_noise".to_owned());
        result.why = format!("{}; {}", result.why, why::site_noise(estimates, *limits, stored));
    }
    result
}

/// Whether the run-to-run deviation may be above half the limit (statistics, INVALID and INCONCLUSIVE).
pub(super) fn is_too_noisy(estimates: &Estimates, limits: Limits, stored: usize) -> bool {
    stats::tau_upper(estimates.change.tau, stored) > limits.fail / 2.0
}

/// A difference on the estimate's scale in the unit that is shown.
pub(super) fn as_shown(difference: f64, estimates: &Estimates, limits: Limits) -> f64 {
    match (estimates.scale, limits.unit) {
        (Scale::Share, _) => difference,
        (Scale::Log, Unit::Change) => difference.exp_m1(),
        (Scale::Log, _) => difference.exp_m1() * estimates.center.exp(),
    }
}

fn no_baseline(rule: &Rule) -> RuleResult {
    let why = "no baseline to compare with; `goodput-gate check SPEC --save-baseline` saves one from a passing run";
    empty_row(rule, Status::NoBaseline, why.to_owned())
}

fn without_estimate(rule: &Rule, obstacle: Obstacle) -> RuleResult {
    let status = match obstacle {
        Obstacle::NoLevel | Obstacle::NoData | Obstacle::BaselineUnbounded => Status::Invalid,
        Obstacle::NoBaselineData => Status::NoBaseline,
        Obstacle::FewBlocks { .. } | Obstacle::ThinTail { .. } => Status::Inconclusive,
    };
    empty_row(rule, status, why::obstacle(rule, obstacle))
}
