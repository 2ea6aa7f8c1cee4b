//! The verdict on a run: every rule, every validity check, and what they come to.

use super::absolute::{self, Demand, Line};
use super::evidence::{Judged, empty_row};
use super::regression::{self, By};
use super::{BaselineInfo, RuleResult, Status, Validity, ValidityStatus, Verdict, VerdictStatus, early, floor, point, validity, why};
use crate::compare::{Comparison, Obstacle};
use crate::metric::{Metric, Per};
use crate::record::{EndReason, Recording};
use crate::spec::{Confidence, Rule, RuleKind, Slo};
use crate::summary::{Level, Summary};
use crate::units::show;
use std::time::Duration;

/// All that a verdict is made of.
#[derive(Debug, Clone)]
pub struct Inputs<'a> {
    /// The spec's name.
    pub name: &'a str,
    /// What must hold.
    pub slo: &'a Slo,
    /// The run's figures.
    pub summary: &'a Summary,
    /// The run itself: conditions, end, client samples.
    pub recording: &'a Recording,
    /// Figures of the stored runs it is compared with; empty without a baseline.
    pub stored: &'a [Summary],
    /// The run beside them, by [`crate::compare::against`] with `slo.rules`, or beside the other side, by
    /// [`crate::compare::beside`]; `None` without a baseline.
    pub comparison: Option<&'a Comparison>,
    /// The baseline's side, where both were loaded at once.
    pub beside: Option<Beside<'a>>,
    /// What is shown of the baseline.
    pub baseline: BaselineInfo,
    /// The largest start lag or loop lag P99 of a valid run.
    pub client_lag: Duration,
    /// Whether the spec demands exact output lengths (`exact_output: true`).
    pub exact_output: bool,
    /// Tokens that every prompt has in common, chat template included, where known.
    pub shared_tokens: Option<u64>,
    /// Lower and upper bracket of the headroom, where the capacity search ran.
    pub headroom: Option<(f64, f64)>,
}

/// The other side of a run side by side.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    /// Its figures.
    pub summary: &'a Summary,
    /// Its recording: what is invalid there is invalid here.
    pub recording: &'a Recording,
}

/// The verdict: every rule's row, every validity check, and what they come to (statistics D, `check:`).
#[must_use]
pub fn decide(inputs: &Inputs<'_>) -> Verdict {
    let changes = regression::rows(&inputs.slo.rules, inputs.comparison, |rule| match demand(inputs, &rule.level) {
        Some(Demand { alpha, rule_out }) => By::Interval { alpha, rule_out, apart: look(inputs, &rule.level).is_some() },
        None => By::Point,
    });
    let mut rows: Vec<RuleResult> = inputs
        .slo
        .rules
        .iter()
        .zip(changes)
        .map(|(rule, change)| match change {
            Some(row) => ran(inputs, rule).unwrap_or(row),
            None => absolute_row(inputs, rule),
        })
        .collect();
    skip_headroom(inputs, &mut rows);
    hold_back(inputs, &mut rows);
    let validity = validity::checks(inputs, &rows);
    Verdict {
        name: inputs.name.to_owned(),
        status: overall(&rows, &validity),
        warnings: warnings(&rows, &validity),
        rules: rows,
        validity,
        baseline: inputs.baseline.clone(),
        early: early::saved(inputs.recording),
    }
}

/// No search is made after a FAIL: at the target load the SLO is broken already.
fn skip_headroom(inputs: &Inputs<'_>, rows: &mut [RuleResult]) {
    let failed = rows.iter().any(|row| row.kind != RuleKind::Advise && row.status == Status::Fail);
    for (rule, row) in inputs.slo.rules.iter().zip(rows).filter(|(rule, _)| rule.metric == Metric::Headroom) {
        if inputs.headroom().is_none() {
            let status = if failed { Status::Skipped } else { Status::Invalid };
            *row = empty_row(rule, status, why::no_search(failed));
        }
    }
}

/// The rows of a headroom rule by itself, for a search that has no run at the target load beside it.
#[must_use]
pub fn headroom(slo: &Slo, bracket: (f64, f64)) -> Vec<RuleResult> {
    let rules = slo.rules.iter().filter(|rule| rule.metric == Metric::Headroom);
    rules.filter_map(|rule| Some(floor::headroom(rule, Line::of(rule)?, Some(bracket))?.into_row(rule))).collect()
}

impl<'a> Inputs<'a> {
    /// The bracket of the headroom: given, or found after the run.
    fn headroom(&self) -> Option<(f64, f64)> {
        self.headroom.or(self.recording.headroom)
    }

    /// The same question asked of the baseline's side, for the checks that it must stand too.
    pub(super) fn other_side(&self) -> Option<Self> {
        let Beside { summary, recording } = self.beside?;
        Some(Inputs { summary, recording, beside: None, comparison: None, ..self.clone() })
    }
}

/// INVALID if a check or a judged rule is; else FAIL if a judged rule fails; else INCONCLUSIVE if one is; else PASS. Where nothing
/// was judged at all, nothing has passed.
fn overall(rows: &[RuleResult], validity: &[Validity]) -> VerdictStatus {
    let judged: Vec<Status> = rows
        .iter()
        .filter(|row| row.kind != RuleKind::Advise && !matches!(row.status, Status::NoBaseline | Status::Skipped))
        .map(|row| row.status)
        .collect();
    let is_any = |status: Status| judged.contains(&status);
    if is_any(Status::Invalid) || validity.iter().any(|check| check.status == ValidityStatus::Invalid) {
        VerdictStatus::Invalid
    } else if is_any(Status::Fail) {
        VerdictStatus::Fail
    } else if is_any(Status::Inconclusive) || judged.is_empty() {
        VerdictStatus::Inconclusive
    } else {
        VerdictStatus::Pass
    }
}

/// How sure a level's rules must be; `None` for bare estimates. The α of the look that ended the level, where one did.
fn demand(inputs: &Inputs<'_>, label: &str) -> Option<Demand> {
    let Confidence::Level(confidence) = inputs.slo.confidence else { return None };
    Some(Demand { alpha: look(inputs, label).unwrap_or(1.0 - confidence).min(1.0 - confidence), rule_out: inputs.slo.rule_out })
}

/// The α of the look that ended a level, where one did.
fn look(inputs: &Inputs<'_>, label: &str) -> Option<f64> {
    let index = inputs.recording.conditions.load.levels.iter().position(|level| level.label == label)?;
    inputs.recording.end.iter().flat_map(|end| &end.levels).filter(|end| end.level == index).find_map(|end| end.alpha)
}

/// The row of a rule whose level did not run: skipped where the run was decided before, else invalid. `None` where it ran.
fn ran(inputs: &Inputs<'_>, rule: &Rule) -> Option<RuleResult> {
    if inputs.summary.level(&rule.level).is_some() {
        return None;
    }
    let decided = inputs.recording.end.as_ref().is_some_and(|end| end.reason == EndReason::Decided);
    let planned = inputs.recording.conditions.load.levels.iter().any(|level| level.label == rule.level);
    Some(if decided && planned {
        empty_row(rule, Status::Skipped, format!("level {} was skipped, because an earlier one failed", rule.level))
    } else {
        empty_row(rule, Status::Invalid, format!("no data: level {} did not run", rule.level))
    })
}

fn absolute_row(inputs: &Inputs<'_>, rule: &Rule) -> RuleResult {
    let (Some(line), Some(level)) = (Line::of(rule), inputs.summary.level(&rule.level)) else {
        return ran(inputs, rule).unwrap_or_else(|| empty_row(rule, Status::Invalid, why::no_data(rule)));
    };
    let judged = match demand(inputs, &rule.level) {
        None => point::judge(rule, line, level, inputs.headroom()),
        Some(demand) => match by_interval(inputs, rule, line, level, demand) {
            Ok(judged) => judged,
            Err(obstacle) => {
                let few = matches!(obstacle, Obstacle::FewBlocks { .. });
                let status = if few { Status::Inconclusive } else { Status::Invalid };
                return empty_row(rule, status, why::obstacle(rule, obstacle));
            }
        },
    };
    judged.map_or_else(|| empty_row(rule, Status::Invalid, why::no_data(rule)), |judged| judged.into_row(rule))
}

fn by_interval(inputs: &Inputs<'_>, rule: &Rule, line: Line, level: &Level, demand: Demand) -> Result<Option<Judged>, Obstacle> {
    if line.share_of_rounds.is_none() {
        match (rule.metric.row().per, rule.metric) {
            (Per::Rate, _) => return floor::rate(rule, line, level, demand).map(Some),
            (Per::Search, _) => return Ok(floor::headroom(rule, line, inputs.headroom())),
            (Per::Ratio, Metric::CacheHit) => return Ok(floor::cache_hit(rule, line, level, demand)),
            _ => {}
        }
    }
    let stored: Vec<&Level> = inputs.stored.iter().filter_map(|summary| summary.level(&rule.level)).collect();
    Ok(absolute::judge(rule, line, level, &stored, demand))
}

/// Turns passes that rest on unsteady ground into INCONCLUSIVE; a FAIL stands.
fn hold_back(inputs: &Inputs<'_>, rows: &mut [RuleResult]) {
    let unsteady = validity::unsteady_levels(inputs);
    let beside = inputs.other_side().map(|inputs| validity::unsteady_levels(&inputs)).unwrap_or_default();
    for (row, rule) in rows.iter_mut().zip(&inputs.slo.rules).filter(|(row, _)| row.status == Status::Pass) {
        let crowded = rule.metric == Metric::Itl && inputs.summary.level(&rule.level).is_some_and(validity::is_crowded);
        let reason = if unsteady.contains(&row.level) {
            "the warm-up was not over: a longer load.warmup would decide"
        } else if row.change_unit.is_some() && beside.contains(&row.level) {
            "the warm-up of the baseline's side was not over: a longer load.warmup would decide"
        } else if crowded {
            "half the reads carried several events, so gaps are the network's: use stall or tpot"
        } else {
            continue;
        };
        row.status = Status::Inconclusive;
        row.why = format!("{}; {reason}", row.why);
    }
}

/// Sentences about the whole: what passed beyond its limit, what was compared with nothing.
fn warnings(rows: &[RuleResult], validity: &[Validity]) -> Vec<String> {
    let mut warnings = Vec::new();
    for row in rows.iter().filter(|row| row.warnings.iter().any(|word| word == "beyond_limit_unproven") && row.status == Status::Pass) {
        let spelt = |value: Option<f64>| value.zip(row.change_unit).map_or_else(String::new, |(value, unit)| show(value, unit));
        warnings.push(format!(
            "«{}» passes although the change is {}: beyond {} is likely but not proven",
            row.rule,
            spelt(row.change),
            spelt(row.change_limit)
        ));
    }
    let without = rows.iter().filter(|row| row.status == Status::NoBaseline).count();
    if without > 0 {
        warnings.push(format!(
            "{without} of the rules found no baseline and decided nothing: `check SPEC --save-baseline` saves one from a passing run"
        ));
    }
    let worth = validity.iter().filter(|check| check.status == ValidityStatus::Warn);
    warnings.extend(worth.map(|check| format!("{}: {}", check.check, check.text)));
    warnings
}
