//! Floors on rates and on cache hits (statistics B), and on headroom.

use super::absolute::{Demand, Line};
use super::evidence::Judged;
use super::{Method, Status, why};
use crate::compare::{self, Obstacle};
use crate::spec::{Cmp, Rule};
use crate::stats;
use crate::summary::{Level, Scope, Subject};
use crate::units::Unit;

/// A floor on a rate: FAIL iff its upper bound is below the limit, PASS iff its lower one is not, else INCONCLUSIVE.
///
/// # Errors
/// An [`Obstacle`] where there are no rates, or too few blocks of the rule's scope.
pub(super) fn rate(rule: &Rule, line: Line, level: &Level, demand: Demand) -> Result<Judged, Obstacle> {
    let (estimate, blocks) = compare::rate_estimate(level, &Subject::of(rule))?;
    let (low, high) = estimate.bounds(demand.alpha);
    let (low, high) = (low.exp(), high.exp());
    let samples: u64 = level.requests(&Scope::of(rule)).iter().sum();
    let judged = Judged {
        status: by_bounds(low, high, line),
        method: Method::Rounds,
        limit: Some(line.value),
        samples,
        ..Judged::shown(rule.metric.row().unit, Some(estimate.theta.exp()), Some(low), Some(high))
    };
    Ok(Judged { why: why::floor(rule, line, &judged, blocks), ..judged })
}

/// A floor on the share of cached input tokens; `None` where no request reports it.
pub(super) fn cache_hit(rule: &Rule, line: Line, level: &Level, demand: Demand) -> Option<Judged> {
    let cells: Vec<(f64, f64)> = level.cells(rule.metric, &Scope::of(rule)).iter().map(|cell| (cell.part, cell.whole)).collect();
    let rounds = cells.iter().filter(|(_, whole)| *whole > 0.0).count();
    let (p, variance) = stats::ratio_cells(&cells)?;
    let reach = stats::t_quantile(1.0 - demand.alpha, rounds as f64 - 1.0) * variance.sqrt();
    let (low, high) = ((p - reach).max(0.0), (p + reach).min(1.0));
    let samples: u64 = level.requests(&Scope::of(rule)).iter().sum();
    let judged = Judged {
        status: by_bounds(low, high, line),
        method: Method::Rounds,
        limit: Some(line.value),
        samples,
        ..Judged::shown(Unit::Share, Some(p), Some(low), Some(high))
    };
    Some(Judged { why: why::floor(rule, line, &judged, rounds), ..judged })
}

/// PASS iff the search's lower bracket reaches the limit, FAIL iff its upper one doesn't; `None` where no search ran.
pub(super) fn headroom(rule: &Rule, line: Line, bracket: Option<(f64, f64)>) -> Option<Judged> {
    let (low, high) = bracket?;
    let judged = Judged {
        status: by_bounds(low, high, line),
        method: Method::Count,
        limit: Some(line.value),
        ..Judged::shown(Unit::Share, Some(low), Some(low), Some(high))
    };
    Some(Judged { why: why::headroom(rule, line, &judged), ..judged })
}

/// For `>=` and `>`, the only comparisons that these metrics take; an upper limit would be mirrored.
fn by_bounds(low: f64, high: f64, line: Line) -> Status {
    let (worst, best) = match line.cmp {
        Cmp::AtLeast | Cmp::Above => (low, high),
        Cmp::AtMost | Cmp::Below => (high, low),
    };
    if !line.cmp.holds(best, line.value) {
        Status::Fail
    } else if line.cmp.holds(worst, line.value) {
        Status::Pass
    } else {
        Status::Inconclusive
    }
}
