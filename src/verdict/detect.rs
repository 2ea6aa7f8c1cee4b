//! What stored runs say of the site: how much its runs differ, and the smallest change that a run beside them can find.

use super::regression::{as_shown, harm_sign, limits};
use crate::compare::{self, Comparison, Estimates, Scale};
use crate::metric::Metric;
use crate::spec::{Condition, Confidence, Limit, Rule, RuleKind, Slo, Test};
use crate::stats::{self, Change, Proportion};
use crate::summary::{Level, Scope, Summary};
use crate::units::{Quantile, Unit};

/// With this probability a change is found.
pub const POWER: f64 = 0.8;
/// More rounds than this are no answer.
const MOST_ROUNDS: u32 = 100_000;

/// Rounds of a rule's level, in stored runs and in the run that is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundsOf {
    /// That all stored runs have.
    pub stored: u32,
    /// That are planned.
    pub planned: u32,
}

/// The smallest change that a rule finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Detectable {
    /// As written.
    pub rule: String,
    /// Its level's label.
    pub level: String,
    /// The smallest harm found with a probability of [`POWER`], signed like a change: a fraction, or a difference in `unit`.
    pub smallest: f64,
    /// [`Unit::Change`], [`Unit::Points`] or [`Unit::Ms`].
    pub unit: Unit,
    /// How many rounds, here and in the stored runs, find the wanted change; `None` where no change was asked for, or it is of another
    /// unit.
    pub wanted: Option<Reach>,
}

/// Whether rounds can find a wanted change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// So many rounds find it.
    Rounds(u32),
    /// It is not beyond the rule's own limit, so the rule allows it.
    Allowed,
    /// Runs differ by too much among themselves: no number of rounds finds it.
    Never,
}

/// For each regression rule of `slo` that `comparison` has estimates for: what it finds. `comparison` is a stored run beside all stored
/// runs. `wanted` is a change as a fraction. M rules share the error as in a verdict (Holm's first step). `None` for bare estimates.
#[must_use]
pub fn detectable(
    slo: &Slo,
    comparison: &Comparison,
    rounds: impl Fn(&Rule) -> Option<RoundsOf>,
    wanted: Option<f64>,
) -> Option<Vec<Detectable>> {
    let Confidence::Level(confidence) = slo.confidence else { return None };
    let with_baseline = |index: usize| matches!(comparison.rows.get(index), Some(Some(Ok(_))));
    let tests = (0..slo.rules.len()).filter(|index| slo.rules[*index].kind == RuleKind::Regression && with_baseline(*index)).count();
    let alpha = (1.0 - confidence) / tests.max(1) as f64;
    let rules = slo.rules.iter().zip(&comparison.rows).filter(|(rule, _)| rule.kind == RuleKind::Regression);
    let found = rules.filter_map(|(rule, row)| {
        let Test::Change { limit } = rule.test else { return None };
        let estimates = row.as_ref()?.as_ref().ok()?;
        let rounds = rounds(rule)?;
        let limits = limits(rule.metric, limit, estimates.scale, estimates.center, slo.rule_out);
        let sign = harm_sign(rule.metric);
        let at = |rounds_run: u32| {
            over_rounds(estimates, comparison.stored, rounds.stored, rounds_run).smallest_detectable(limits.fail, alpha, POWER)
        };
        let wanted = wanted.filter(|_| estimates.scale == Scale::Log).map(|wanted| {
            let harm = if sign > 0.0 { wanted.ln_1p() } else { -(-wanted).ln_1p() };
            reach(harm, limits.fail, rounds.planned, at)
        });
        let smallest = as_shown(sign * at(rounds.planned.min(rounds.stored)), estimates, limits);
        Some(Detectable { rule: rule.text.clone(), level: rule.level.clone(), smallest, unit: limits.unit, wanted })
    });
    Some(found.collect())
}

/// The change's error if all runs had `run` rounds and not `stored`: what differs between runs stays, what rounds show shrinks.
fn over_rounds(estimates: &Estimates, runs: usize, stored: u32, run: u32) -> Change {
    let change = estimates.change;
    let between = change.tau.powi(2) * (1.0 + 1.0 / runs.max(1) as f64);
    let inside = (change.se.powi(2) - between).max(0.0) * f64::from(stored.max(1)) / f64::from(run.max(1));
    Change { se: (between + inside).sqrt(), ..change }
}

fn reach(wanted: f64, allowed: f64, planned: u32, smallest: impl Fn(u32) -> f64) -> Reach {
    if wanted.is_nan() || wanted <= allowed {
        return Reach::Allowed;
    }
    if smallest(MOST_ROUNDS) > wanted {
        return Reach::Never;
    }
    let (mut low, mut high) = (11, planned.clamp(12, MOST_ROUNDS));
    while smallest(high) > wanted {
        low = high;
        high = high.saturating_mul(2).min(MOST_ROUNDS);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if smallest(middle) > wanted { low = middle } else { high = middle }
    }
    Reach::Rounds(high)
}

/// What stored runs say of one metric at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteNoise {
    /// `ttft p95`.
    pub metric: String,
    /// The run-to-run deviation τ̃, as a fraction.
    pub tau: f64,
    /// Its upper 80 % bound.
    pub upper: f64,
    /// The smallest limit that such a site can hold: twice the bound.
    pub holds: f64,
    /// The smallest change beyond a limit of 10 % that is found with a probability of [`POWER`] at α = .05, signed, as a fraction.
    pub smallest: f64,
}

/// What `stored` runs, oldest first, say of the usual metrics at `level`.
#[must_use]
pub fn site_noise(stored: &[Summary], level: &str) -> Vec<SiteNoise> {
    let Some(newest) = stored.last() else { return Vec::new() };
    let rules: Vec<Rule> = USUAL.iter().map(|(metric, percent)| usual(*metric, *percent, level)).collect();
    let comparison = compare::against(newest, stored, &rules);
    let rows = rules.iter().zip(&comparison.rows);
    rows.filter_map(|(rule, row)| {
        let estimates = row.as_ref()?.as_ref().ok()?;
        let limit = limits(rule.metric, Limit { relative: Some(0.10), absolute: None }, estimates.scale, estimates.center, 1.0);
        let sign = harm_sign(rule.metric);
        let upper = stats::tau_upper(estimates.change.tau, stored.len());
        Some(SiteNoise {
            metric: rule.text.clone(),
            tau: estimates.change.tau,
            upper,
            holds: (2.0 * upper).exp_m1(),
            smallest: as_shown(sign * estimates.change.smallest_detectable(limit.fail, 0.05, POWER), estimates, limit),
        })
    })
    .collect()
}

/// What is asked of every site.
const USUAL: [(Metric, Option<f64>); 6] = [
    (Metric::Ttft, Some(50.0)),
    (Metric::Ttft, Some(95.0)),
    (Metric::Tpot, Some(50.0)),
    (Metric::Tpot, Some(95.0)),
    (Metric::E2e, Some(95.0)),
    (Metric::ThroughputRps, None),
];

fn usual(metric: Metric, percent: Option<f64>, level: &str) -> Rule {
    let stat = percent.and_then(Quantile::from_percent);
    let text = stat.map_or_else(|| metric.name().to_owned(), |stat| format!("{} {stat}", metric.name()));
    let test = Test::Change { limit: Limit { relative: Some(0.10), absolute: None } };
    Rule { text, kind: RuleKind::Regression, metric, stat, test, when: Condition::default(), level: level.to_owned(), part: None }
}

/// The design effect of the requests that are slower to their first token than all but one in a hundred: by how much rounds that share
/// their weather make them weigh less. `None` where the stored runs do not tell.
#[must_use]
pub fn tail_design_effect(stored: &[Summary], level: &str) -> Option<f64> {
    let levels: Vec<&Level> = stored.iter().filter_map(|summary| summary.level(level)).collect();
    let samples: Vec<_> = levels.iter().map(|level| level.samples(Metric::Ttft, &Scope::default())).collect();
    let mut pooled: Vec<f64> = samples.iter().flat_map(|side| side.rounds.iter().flatten().copied()).collect();
    pooled.sort_by(f64::total_cmp);
    let limit = stats::quantile(&pooled, 0.99)?;
    let over = |round: &Vec<f64>| (round.iter().filter(|value| **value > limit).count() as f64, round.len() as f64);
    let shares: Vec<Proportion> =
        samples.iter().filter_map(|side| stats::proportion(&side.rounds.iter().map(over).collect::<Vec<_>>(), None)).collect();
    stats::history_deff(&shares)
}
