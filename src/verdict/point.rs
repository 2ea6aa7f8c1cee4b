//! `confidence: point`: bare estimates against absolute limits.

use super::absolute::{Line, Pooled, breaches};
use super::evidence::{self, Judged};
use super::{Method, Status, why};
use crate::metric::{Better, Metric, Per};
use crate::spec::Rule;
use crate::summary::{Level, Scope};
use crate::units::Unit;

/// FAIL iff the bare estimate breaks the limit, else PASS; a percentile with fewer samples than it takes to have one is
/// INCONCLUSIVE. `None` without data.
pub(super) fn judge(rule: &Rule, line: Line, level: &Level, headroom: Option<(f64, f64)>) -> Option<Judged> {
    let scope = Scope::of(rule);
    let (unit, value, limit, samples, enough) = if let Some(least) = line.share_of_rounds {
        let cells = breaches(rule, line, level)?;
        let (broken, rounds) = cells.iter().fold((0.0, 0.0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1));
        (Unit::Share, 1.0 - broken / rounds, least, evidence::count(rounds), true)
    } else {
        let (value, samples, enough) = estimate(rule, level, &scope, headroom)?;
        (rule.metric.row().unit, value, line.value, samples, enough)
    };
    let holds = if line.share_of_rounds.is_some() { value >= limit - 1e-12 } else { line.cmp.holds(rounded(rule, value), limit) };
    let status = match (enough, holds) {
        (false, _) => Status::Inconclusive,
        (true, true) => Status::Pass,
        (true, false) => Status::Fail,
    };
    let judged = Judged {
        status,
        method: Method::Point,
        limit: Some(limit),
        samples,
        ..Judged::shown(unit, Some(value).filter(|value| value.is_finite()), None, None)
    };
    Some(Judged { why: why::point(rule, line, &judged), ..judged })
}

/// The estimate, its samples, and whether they are enough to have it.
fn estimate(rule: &Rule, level: &Level, scope: &Scope, headroom: Option<(f64, f64)>) -> Option<(f64, u64, bool)> {
    let requests: u64 = level.requests(scope).iter().sum();
    match rule.metric.row().per {
        Per::Request | Per::Session | Per::Gap => {
            if rule.metric.row().per != Per::Gap {
                evidence::samples(level, rule.metric, scope)?;
            }
            let q = rule.stat?.fraction();
            let pooled = Pooled::of(rule, level, scope);
            let beyond = if rule.metric.row().better == Better::Low { 1.0 - q } else { q };
            let enough = pooled.len() as f64 * beyond >= 1.0 - 1e-9;
            Some((pooled.at(q)?, pooled.len() as u64, enough))
        }
        Per::Ratio => {
            let cells = level.cells(rule.metric, scope);
            let whole: f64 = cells.iter().map(|cell| cell.whole).sum();
            let share = cells.iter().map(|cell| cell.part).sum::<f64>() / whole;
            let value = if rule.metric == Metric::Goodput { 1.0 - share } else { share };
            (whole > 0.0).then_some((value, requests, true))
        }
        Per::Rate => {
            if scope.is_everything() {
                return whole_window(rule.metric, level).map(|rate| (rate, requests, true));
            }
            let rates = level.rates(rule.metric, scope);
            let seconds: f64 = rates.iter().map(|rate| rate.seconds).sum();
            let amount: f64 = rates.iter().map(|rate| rate.amount).sum();
            (seconds > 0.0).then_some((amount / seconds, requests, true))
        }
        Per::Search => headroom.map(|(low, _)| (low, 0, true)),
    }
}

/// A rate over the whole measured window, which every report shows.
fn whole_window(metric: Metric, level: &Level) -> Option<f64> {
    match metric {
        Metric::GoodputRps => level.table.goodput_rps,
        Metric::GoodputTps => level.table.goodput_tps,
        Metric::ThroughputRps => level.table.throughput_rps,
        Metric::ThroughputTps => level.table.throughput_tps,
        _ => None,
    }
}

/// Shares such as 1 − 0.05 are off by a rounding; it must not decide.
fn rounded(rule: &Rule, value: f64) -> f64 {
    if rule.metric.row().unit == Unit::Share { (value * 1e12).round() / 1e12 } else { value }
}
