//! Rules against a number that are judged as shares (statistics A): goodput, errors, every percentile limit, and shares of rounds.

use super::evidence::{self, Judged};
use super::{Method, Status};
use crate::metric::{Better, Metric, Per};
use crate::spec::{Cmp, Rule, Test};
use crate::stats::{self, Proportion};
use crate::summary::{GapRound, Gaps, Level, Scope};
use crate::units::Unit;

/// Shares closer than this are the same: limits such as 1 − 0.9 are off by a rounding.
const SAME: f64 = 1e-12;

/// An absolute rule, taken apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) cmp: Cmp,
    pub(super) value: f64,
    pub(super) share_of_rounds: Option<f64>,
}

impl Line {
    /// `None` for a rule on a change.
    pub(super) fn of(rule: &Rule) -> Option<Self> {
        match rule.test {
            Test::Absolute { cmp, value, share_of_rounds } => Some(Self { cmp, value, share_of_rounds }),
            Test::Change { .. } => None,
        }
    }

    fn is_strict(self) -> bool {
        matches!(self.cmp, Cmp::Below | Cmp::Above)
    }
}

/// How sure a verdict must be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    /// The chance of error allowed, one-sided.
    pub(super) alpha: f64,
    /// What a pass must rule out, as a multiple.
    pub(super) rule_out: f64,
}

/// Judges a rule of statistics A on `level`; `stored` are the baseline's levels, whose design effect counts too. `None` without data.
pub(super) fn judge(rule: &Rule, line: Line, level: &Level, stored: &[&Level], demand: Demand) -> Option<Judged> {
    let share = share_of(rule, line, level, stored)?;
    let allowed = allowed(rule, line)?;
    // A percentile's strictness was spent on its samples; a ratio's is still to come.
    let strict = line.is_strict() && rule.metric.row().per == Per::Ratio && line.share_of_rounds.is_none();
    let (status, method) = decide(&share, allowed, strict, demand);
    let judged = Judged {
        status,
        method,
        samples: evidence::count(share.total),
        n_eff: Some(share.n_eff),
        ..shown(rule, line, level, &share, demand.alpha)
    };
    Some(Judged { why: super::why::share(rule, line, &judged, &share, allowed, demand), ..judged })
}

/// FAIL iff L > a; else PASS iff p ≤ a and U ≤ a_D; else INCONCLUSIVE. By the count alone where a is 0 or 1.
pub(super) fn decide(share: &Proportion, allowed: f64, strict: bool, demand: Demand) -> (Status, Method) {
    let within = if strict { share.p < allowed - SAME } else { share.p <= allowed + SAME };
    if allowed <= SAME || allowed >= 1.0 - SAME {
        return (if within { Status::Pass } else { Status::Fail }, Method::Count);
    }
    let (low, high) = share.bounds(demand.alpha);
    let status = if low > allowed + SAME {
        Status::Fail
    } else if within && high <= stats::rule_out_share(allowed, demand.rule_out) + SAME {
        Status::Pass
    } else {
        Status::Inconclusive
    };
    (status, Method::Proportion)
}

/// The share that may break the rule; `None` where the rule is no matter of statistics A.
pub(super) fn allowed(rule: &Rule, line: Line) -> Option<f64> {
    if let Some(share) = line.share_of_rounds {
        return Some(1.0 - share);
    }
    match (rule.metric.row().per, rule.metric) {
        (Per::Request | Per::Session | Per::Gap, metric) => {
            let q = rule.stat?.fraction();
            Some(if metric.row().better == Better::Low { 1.0 - q } else { q })
        }
        (Per::Ratio, Metric::Goodput) => Some(1.0 - line.value),
        (Per::Ratio, Metric::Errors) => Some(line.value),
        (Per::Ratio | Per::Rate | Per::Search, _) => None,
    }
}

fn share_of(rule: &Rule, line: Line, level: &Level, stored: &[&Level]) -> Option<Proportion> {
    let own = breaches(rule, line, level)?;
    let history: Vec<Proportion> = stored.iter().filter_map(|level| stats::proportion(&breaches(rule, line, level)?, None)).collect();
    stats::proportion(&own, stats::history_deff(&history))
}

/// How many of how many break the rule, round by round; `None` without data.
pub(super) fn breaches(rule: &Rule, line: Line, level: &Level) -> Option<Vec<(f64, f64)>> {
    let scope = Scope::of(rule);
    let cells: Vec<(f64, f64)> = if line.share_of_rounds.is_some() {
        let each = round_values(rule, level, &scope)?.into_iter();
        each.map(|value| value.map_or((0.0, 0.0), |value| (f64::from(u8::from(!line.cmp.holds(value, line.value))), 1.0))).collect()
    } else {
        match rule.metric.row().per {
            Per::Request | Per::Session => {
                let samples = evidence::samples(level, rule.metric, &scope)?;
                let over = |round: &Vec<f64>| round.iter().filter(|value| !line.cmp.holds(**value, line.value)).count() as f64;
                samples.rounds.iter().map(|round| (over(round), round.len() as f64)).collect()
            }
            Per::Gap => {
                let over = |round: &GapRound| (round.gaps.over(line.value, line.is_strict()) + round.errored) as f64;
                level.gaps(&scope)?.iter().map(|round| (over(round), (round.gaps.count() + round.errored) as f64)).collect()
            }
            Per::Ratio => level.cells(rule.metric, &scope).iter().map(|cell| (cell.part, cell.whole)).collect(),
            Per::Rate | Per::Search => return None,
        }
    };
    (cells.iter().map(|(_, whole)| whole).sum::<f64>() > 0.0).then_some(cells)
}

/// Each round's own figure, for `in SHARE of rounds`; `None` inside where a round holds nothing of the scope.
fn round_values(rule: &Rule, level: &Level, scope: &Scope) -> Option<Vec<Option<f64>>> {
    let q = rule.stat.map_or(0.5, |stat| stat.fraction());
    Some(match rule.metric.row().per {
        Per::Request | Per::Session => {
            evidence::samples(level, rule.metric, scope)?.rounds.iter().map(|round| stats::quantile(round, q)).collect()
        }
        Per::Gap => level.gaps(scope)?.iter().map(|round| round.gaps.quantile(q, round.errored)).collect(),
        Per::Ratio => {
            let good = rule.metric == Metric::Goodput;
            let value = |part: f64, whole: f64| if good { 1.0 - part / whole } else { part / whole };
            level.cells(rule.metric, scope).iter().map(|cell| (cell.whole > 0.0).then(|| value(cell.part, cell.whole))).collect()
        }
        Per::Rate => level.rates(rule.metric, scope).iter().map(|rate| Some(rate.amount / rate.seconds)).collect(),
        Per::Search => return None,
    })
}

/// The estimate and its bounds in the rule's own unit.
fn shown(rule: &Rule, line: Line, level: &Level, share: &Proportion, alpha: f64) -> Judged {
    let (low, high) = share.bounds(alpha);
    let mirrored = Judged::shown(Unit::Share, Some(1.0 - share.p), Some(1.0 - high), Some(1.0 - low));
    if let Some(least) = line.share_of_rounds {
        return Judged { limit: Some(least), ..mirrored };
    }
    let judged = match rule.metric.row().per {
        Per::Ratio if rule.metric == Metric::Goodput => mirrored,
        Per::Ratio | Per::Rate | Per::Search => Judged::shown(Unit::Share, Some(share.p), Some(low), Some(high)),
        Per::Request | Per::Session | Per::Gap => percentile(rule, level, share, alpha),
    };
    Judged { limit: Some(line.value), ..judged }
}

/// The observed percentile with Woodruff's interval. What leans on a failed request is unbounded.
fn percentile(rule: &Rule, level: &Level, share: &Proportion, alpha: f64) -> Judged {
    let q = rule.stat.map_or(0.5, |stat| stat.fraction());
    let (below, above) = stats::woodruff(q, share.n_eff, share.df, alpha);
    let scope = Scope::of(rule);
    let pooled = Pooled::of(rule, level, &scope);
    let bound = |level: f64| pooled.at(level).filter(|_| level.min(1.0 - level) * share.total >= 0.5);
    // A failed request is infinitely slow: +∞ where less is better, and 0 as a speed.
    let is_speed = rule.metric.row().better == Better::High;
    let bounded = |value: Option<f64>| value.filter(|value| value.is_finite() && !(is_speed && *value <= 0.0));
    Judged::shown(rule.metric.row().unit, bounded(pooled.at(q)), bounded(bound(below)), bounded(bound(above)))
}

/// All samples of a rule together.
pub(super) enum Pooled {
    /// Sorted values.
    Values(Vec<f64>),
    /// A histogram, and how many lie above all of it.
    Gaps(Gaps, u64),
}

impl Pooled {
    pub(super) fn of(rule: &Rule, level: &Level, scope: &Scope) -> Self {
        if rule.metric.row().per == Per::Gap {
            let rounds = level.gaps(scope).unwrap_or_default();
            return Self::Gaps(Gaps::pool(rounds.iter().map(|round| &round.gaps)), rounds.iter().map(|round| round.errored).sum());
        }
        Self::Values(level.samples(rule.metric, scope).pooled())
    }

    /// The value at quantile `q`; infinite, or 0 for what is better high, where it leans on a failed request.
    pub(super) fn at(&self, q: f64) -> Option<f64> {
        match self {
            Self::Values(values) => stats::quantile(values, q),
            Self::Gaps(gaps, above) => gaps.quantile(q, *above),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Gaps(gaps, above) => usize::try_from(gaps.count() + above).unwrap_or(usize::MAX),
        }
    }
}
