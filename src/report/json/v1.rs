//! `goodput-gate/verdict/1`. Fields are only ever added. What is unknown is null, never 0.
//!
//! Numbers of a rule are in its `unit`: where `unit` is `%` they are per cent (97.3), `pp` percentage points, `ms` milliseconds. In
//! `levels`, shares are fractions (0.973) and times are in `…_ms`.

mod conditions;
mod level;

use crate::report::{Report, WhatIfRow};
use crate::units::Unit;
use crate::verdict::{BaselineInfo, EarlyLevel, RuleResult, Validity};
pub(in crate::report) use conditions::Conditions;
use level::Level;
use schemars::JsonSchema;
use serde::Serialize;

/// The verdict on one run, or the figures of a run that was only measured (`verdict` is null then).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "goodput-gate verdict")]
pub struct Document {
    /// The format and its version.
    #[schemars(extend("const" = "goodput-gate/verdict/1"))]
    schema: &'static str,
    /// The spec's name.
    name: String,
    /// Null where the run was only measured.
    #[schemars(extend("enum" = ["pass", "fail", "inconclusive", "invalid", null]))]
    verdict: Option<&'static str>,
    /// The process's exit code.
    exit_code: u8,
    /// One sentence.
    summary: String,
    /// Every rule with its evidence, in the order of the spec.
    rules: Vec<Rule>,
    /// The figures of each level, over ok requests, errors beside them.
    levels: Vec<Level>,
    /// What is wrong and where to look.
    diagnosis: Vec<Diagnosis>,
    /// Whether the measurement may be judged.
    validity: Vec<Check>,
    /// Levels that ended at an early look or were skipped after one, and what that saved.
    early: Vec<Early>,
    /// Warnings about the whole, each a sentence.
    warnings: Vec<String>,
    /// The lines of `slo.request`: what goodput was counted against.
    constraints: Vec<String>,
    /// Capacity over target load, less one, as a fraction; null where no search ran.
    headroom: Option<f64>,
    /// Goodput under other constraints on the same run; null where none was asked for.
    what_if: Option<WhatIf>,
    /// Under what the run was made.
    conditions: Conditions,
    /// The baseline used.
    baseline: Baseline,
}

/// One rule with its evidence.
#[derive(Debug, Serialize, JsonSchema)]
struct Rule {
    /// As written.
    rule: String,
    #[schemars(extend("enum" = ["require", "regression", "advise"]))]
    kind: &'static str,
    level: String,
    /// Its `when` and `for`; null where it speaks of every request.
    scope: Option<String>,
    #[schemars(extend("enum" = ["pass", "fail", "inconclusive", "invalid", "no_baseline", "skipped"]))]
    status: &'static str,
    /// Null where a percentile is unbounded because too many requests failed, and where there are no data.
    observed: Option<f64>,
    /// The unit of `observed`, `low`, `high`, `limit` and `baseline`; where it is `%` they are per cent, not fractions.
    #[schemars(extend("enum" = ["ms", "%", "pp", "/s", "tok/s", "tokens"]))]
    unit: &'static str,
    /// The lower one-sided bound that decided; null in regression rows.
    low: Option<f64>,
    /// The upper one-sided bound that decided; null in regression rows.
    high: Option<f64>,
    limit: Option<f64>,
    baseline: Option<f64>,
    /// The change of the typical round, positive upwards, in `change_unit`.
    change: Option<f64>,
    change_low: Option<f64>,
    change_high: Option<f64>,
    #[schemars(extend("enum" = ["ms", "%", "pp", "/s", "tok/s", "tokens", null]))]
    change_unit: Option<&'static str>,
    /// The allowed change in `change_unit`, signed like `change`.
    change_limit: Option<f64>,
    samples: u64,
    /// Samples over the design effect.
    n_eff: Option<f64>,
    #[schemars(extend("enum" = ["A", "B", "D", "E", "count", "point", null]))]
    method: Option<&'static str>,
    why: String,
    warnings: Vec<String>,
}

/// What is wrong, and where to look.
#[derive(Debug, Serialize, JsonSchema)]
struct Diagnosis {
    code: String,
    text: String,
    evidence: serde_json::Map<String, serde_json::Value>,
}

/// One validity check.
#[derive(Debug, Serialize, JsonSchema)]
struct Check {
    check: &'static str,
    #[schemars(extend("enum" = ["ok", "warn", "inconclusive", "invalid"]))]
    status: &'static str,
    text: String,
}

/// A level that ended early, and what that saved.
#[derive(Debug, Serialize, JsonSchema)]
struct Early {
    level: String,
    /// Rounds that were judged; null where the level was skipped.
    rounds: Option<u32>,
    planned_rounds: u32,
    /// The one-sided chance of error of its last look.
    alpha: Option<f64>,
    requests_saved: u64,
    /// At the pace of this run.
    seconds_saved: Option<f64>,
}

/// Goodput under other constraints on the same run.
#[derive(Debug, Serialize, JsonSchema)]
struct WhatIf {
    constraints: Vec<String>,
    levels: Vec<WhatIfLevel>,
}

/// One level's goodput under the spec's constraints and under those that were tried, as fractions and requests per second.
#[derive(Debug, Serialize, JsonSchema)]
struct WhatIfLevel {
    level: String,
    spec_goodput: Option<f64>,
    spec_goodput_rps: Option<f64>,
    goodput: Option<f64>,
    goodput_rps: Option<f64>,
}

/// The stored runs used as a baseline, or why none was.
#[derive(Debug, Serialize, JsonSchema)]
struct Baseline {
    runs: Vec<String>,
    /// RFC 3339.
    newest: Option<String>,
    commit: Option<String>,
    /// Lines of `slo` that differ from the baseline's.
    changed_limits: Vec<String>,
    /// Why a baseline that was found was not used.
    differences: Vec<String>,
}

impl From<&Report> for Document {
    fn from(report: &Report) -> Self {
        let verdict = report.verdict.as_ref();
        Self {
            schema: "goodput-gate/verdict/1",
            name: verdict.map_or(&report.conditions.name, |verdict| &verdict.name).clone(),
            verdict: verdict.map(|verdict| verdict.status.name()),
            exit_code: report.exit_code,
            summary: report.summary.clone(),
            rules: verdict.iter().flat_map(|verdict| &verdict.rules).map(Rule::from).collect(),
            levels: report.levels.iter().map(|level| Level::new(level, report.both_conventions)).collect(),
            diagnosis: Vec::new(),
            validity: verdict.iter().flat_map(|verdict| &verdict.validity).map(Check::from).collect(),
            early: verdict.iter().flat_map(|verdict| &verdict.early).map(Early::from).collect(),
            warnings: verdict.map(|verdict| verdict.warnings.clone()).unwrap_or_default(),
            constraints: report.constraints.clone(),
            headroom: finite(report.headroom),
            what_if: report.what_if.as_ref().map(|what_if| WhatIf {
                constraints: what_if.constraints.clone(),
                levels: what_if.rows.iter().map(WhatIfLevel::from).collect(),
            }),
            conditions: Conditions::from(&report.conditions),
            baseline: verdict.map_or_else(|| Baseline::from(&BaselineInfo::default()), |verdict| Baseline::from(&verdict.baseline)),
        }
    }
}

impl From<&RuleResult> for Rule {
    fn from(of: &RuleResult) -> Self {
        let spelt = |value| in_unit(value, of.unit);
        let changed = |value| of.change_unit.and_then(|unit| in_unit(value, unit));
        Self {
            rule: of.rule.clone(),
            kind: of.kind.name(),
            level: of.level.clone(),
            scope: of.scope.clone(),
            status: of.status.name(),
            observed: spelt(of.observed),
            unit: of.unit.name(),
            low: spelt(of.low),
            high: spelt(of.high),
            limit: spelt(of.limit),
            baseline: spelt(of.baseline),
            change: changed(of.change),
            change_low: changed(of.change_low),
            change_high: changed(of.change_high),
            change_unit: of.change_unit.map(Unit::name),
            change_limit: changed(of.change_limit),
            samples: of.samples,
            n_eff: finite(of.n_eff),
            method: of.method.map(crate::verdict::Method::name),
            why: of.why.clone(),
            warnings: of.warnings.clone(),
        }
    }
}

impl From<&EarlyLevel> for Early {
    fn from(of: &EarlyLevel) -> Self {
        Self {
            level: of.level.clone(),
            rounds: of.rounds,
            planned_rounds: of.planned_rounds,
            alpha: finite(of.alpha),
            requests_saved: of.requests_saved,
            seconds_saved: finite(of.seconds_saved),
        }
    }
}

impl From<&Validity> for Check {
    fn from(of: &Validity) -> Self {
        Self { check: of.check, status: of.status.name(), text: of.text.clone() }
    }
}

impl From<&WhatIfRow> for WhatIfLevel {
    fn from(of: &WhatIfRow) -> Self {
        Self {
            level: of.level.clone(),
            spec_goodput: finite(of.spec),
            spec_goodput_rps: finite(of.spec_rps),
            goodput: finite(of.tried),
            goodput_rps: finite(of.tried_rps),
        }
    }
}

impl From<&BaselineInfo> for Baseline {
    fn from(of: &BaselineInfo) -> Self {
        Self {
            runs: of.runs.clone(),
            newest: of.newest.clone(),
            commit: of.commit.clone(),
            changed_limits: of.changed_limits.clone(),
            differences: of.differences.clone(),
        }
    }
}

/// A value as `unit` names it: shares become per cent or points. The noise of the multiplication (97.30000000000001) is rounded off.
fn in_unit(value: Option<f64>, unit: Unit) -> Option<f64> {
    let value = finite(value)?;
    match unit {
        Unit::Share | Unit::Change | Unit::Points => Some((value * 1e14).round() / 1e12).filter(|value| value.is_finite()),
        Unit::Ms | Unit::PerSecond | Unit::TokensPerSecond | Unit::Tokens => Some(value),
    }
}

/// JSON has no other numbers, and a zero has no sign.
fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite()).map(|value| value + 0.0)
}
