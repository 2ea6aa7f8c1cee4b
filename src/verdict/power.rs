//! What a run of a given size can decide at all.

use crate::metric::{Better, Metric, Per};
use crate::spec::{Confidence, Rule, RuleKind, Slo, Test};
use crate::stats;

/// A `require` rule that could not pass even if every request were good.
#[derive(Debug, Clone, PartialEq)]
pub struct CannotPass {
    /// As written.
    pub rule: String,
    /// Its level's label.
    pub level: String,
    /// Requests that the plan holds for it.
    pub requests: u64,
    /// Requests it would need.
    pub needed_requests: u64,
    /// Rounds that the plan holds.
    pub rounds: u32,
    /// Rounds it would need, of the same length.
    pub needed_rounds: u32,
}

/// How much of a rule's population is planned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// Rounds of its level.
    pub rounds: u32,
    /// Requests in its scope over all of these.
    pub requests: u64,
}

/// The `require` rules of `slo` that cannot pass even if every request were good, by what `planned` holds for each. A rule whose
/// level is not planned gives `None` there and is passed over.
#[must_use]
pub fn cannot_pass(slo: &Slo, planned: impl Fn(&Rule) -> Option<Planned>) -> Vec<CannotPass> {
    let Confidence::Level(confidence) = slo.confidence else { return Vec::new() };
    let rules = slo.rules.iter().filter(|rule| rule.kind == RuleKind::Require);
    rules
        .filter_map(|rule| {
            let allowed = allowed_share(rule)?;
            let plan = planned(rule)?;
            let by_rounds = matches!(rule.test, Test::Absolute { share_of_rounds: Some(_), .. });
            let size = if by_rounds { u64::from(plan.rounds) } else { plan.requests };
            let (requests, rounds) = needed(allowed, slo.rule_out, 1.0 - confidence, plan, size)?;
            Some(CannotPass {
                rule: rule.text.clone(),
                level: rule.level.clone(),
                requests: plan.requests,
                needed_requests: requests,
                rounds: plan.rounds,
                needed_rounds: rounds,
            })
        })
        .collect()
}

/// The n_eff that `rule` needs to pass even if every request is good, in a run of `rounds`; `None` where statistics A does not judge
/// it, or the count alone decides.
#[must_use]
pub fn needed_n_eff(slo: &Slo, rule: &Rule, rounds: u32) -> Option<f64> {
    let Confidence::Level(confidence) = slo.confidence else { return None };
    let df = (f64::from(rounds) - 1.0).max(2.0);
    Some(stats::needed_n_eff_at(allowed_share(rule)?, slo.rule_out, 1.0 - confidence, df))
}

/// The share that may break `rule`; `None` where statistics A does not judge it, where the count alone decides, and for itl, whose
/// gaps are far more than its requests.
fn allowed_share(rule: &Rule) -> Option<f64> {
    let Test::Absolute { value, share_of_rounds, .. } = rule.test else { return None };
    let allowed = match (share_of_rounds, rule.metric.row().per) {
        (Some(share), _) => 1.0 - share,
        (None, Per::Request | Per::Session) => {
            let q = rule.stat?.fraction();
            if rule.metric.row().better == Better::Low { 1.0 - q } else { q }
        }
        (None, Per::Ratio) => match rule.metric {
            Metric::Goodput => 1.0 - value,
            Metric::Errors => value,
            _ => return None,
        },
        (None, Per::Gap | Per::Rate | Per::Search) => return None,
    };
    (allowed > 0.0 && allowed < 1.0).then_some(allowed)
}

/// Requests and rounds needed, where `size` observations in the planned rounds are not enough.
fn needed(allowed: f64, rule_out: f64, alpha: f64, plan: Planned, size: u64) -> Option<(u64, u32)> {
    let per_round = (size as f64 / f64::from(plan.rounds.max(1))).max(1e-9);
    let enough = |rounds: u32| {
        let df = (f64::from(rounds) - 1.0).max(2.0);
        rounds >= 12 && per_round * f64::from(rounds) >= stats::needed_n_eff_at(allowed, rule_out, alpha, df)
    };
    if size > 0 && enough(plan.rounds) {
        return None;
    }
    if size == 0 {
        let requests = stats::needed_n_eff(allowed, rule_out, alpha);
        return Some((whole(requests), u32::MAX));
    }
    // More rounds only ever help, so the first that is enough is found by halving.
    let (mut low, mut high) = (plan.rounds.max(11), plan.rounds.max(12));
    while !enough(high) && high < u32::MAX / 2 {
        low = high;
        high *= 2;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    let requests = plan.requests as f64 / f64::from(plan.rounds.max(1)) * f64::from(high);
    Some((whole(requests), high))
}

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value is a rounded count")]
fn whole(value: f64) -> u64 {
    value.ceil().max(0.0) as u64
}
