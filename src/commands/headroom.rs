//! What `check` does for rules on headroom: after its levels, a search that measures only the loads that such rules ask for.

use super::decide::Judged;
use super::load::Loaded;
use super::measure::RUN_FILE;
use super::{Error, LoadOptions, SpecOptions, search};
use crate::console::Console;
use crate::metric::Metric;
use crate::record::{Batch, EndReason};
use crate::search::{Goal, Settings, Stop};
use crate::spec::{RuleKind, Spec, Test};
use crate::store::{RunFile, StoreError};
use crate::verdict::Status;

/// Points of such a search: one a rule and its repeats, and some to spare.
const POINTS: usize = 12;

/// Searches where a rule asks for it and none has failed, and keeps the bracket with the run. Gives whether it did.
pub(super) fn after(
    (options, load): (&SpecOptions, &LoadOptions),
    spec: &Spec,
    judged: &Judged,
    loaded: &mut Loaded,
    console: &Console,
) -> Result<bool, Error> {
    let asked: Vec<f64> = spec.slo.rules.iter().filter(|rule| rule.metric == Metric::Headroom).filter_map(limit).collect();
    if asked.is_empty() || !is_due(judged, loaded) {
        return Ok(false);
    }
    let bench = search::open((options, load), console)?;
    let (axis, target) = bench.axis();
    console.note(&format!("headroom: measuring {}", asked.iter().map(|x| format!("{:.2}x", 1.0 + x)).collect::<Vec<_>>().join(", ")));
    let around = Settings::around(axis, target);
    let settings = Settings {
        goal: Goal::Loads(asked.iter().map(|headroom| target * (1.0 + headroom)).collect()),
        bounds: crate::search::Bounds { points: POINTS, ..around.bounds },
        ..around
    };
    let searched = bench.search((options, load), &settings, &load.out.join("headroom"), console)?;
    if searched.findings.stop == Stop::Interrupted {
        return Err(Error::Interrupted);
    }
    // At the target load the SLO holds: the levels said so.
    let (low, high) = searched.findings.headroom;
    let bracket = (low.max(0.0), high.max(0.0));
    loaded.recording.headroom = Some(bracket);
    if loaded.failure.is_none() {
        loaded.failure = append(load, bracket).err();
    }
    Ok(true)
}

/// What a rule on headroom asks for, as a share of the target load.
fn limit(rule: &crate::spec::Rule) -> Option<f64> {
    match rule.test {
        Test::Absolute { value, .. } => Some(value.max(0.0)),
        Test::Change { .. } => None,
    }
}

/// Whether every other rule that decides passes or has nothing to compare with, and nothing ended the run before its end.
fn is_due(judged: &Judged, loaded: &Loaded) -> bool {
    let whole = loaded.recording.end.as_ref().is_some_and(|end| matches!(end.reason, EndReason::Complete | EndReason::Decided));
    let rows = judged.report.verdict.iter().flat_map(|verdict| &verdict.rules);
    let mut others = rows.filter(|row| row.kind != RuleKind::Advise && !row.rule.trim_start().starts_with(Metric::Headroom.name()));
    whole && others.all(|row| !matches!(row.status, Status::Fail | Status::Invalid | Status::Skipped))
}

/// Adds the bracket to the run file, behind its last line.
fn append(load: &LoadOptions, bracket: (f64, f64)) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    batch.headroom(bracket);
    let path = load.out.join(RUN_FILE);
    let frame = batch.into_frame().map_err(|source| StoreError::Write { path, source })?;
    let mut file = RunFile::more(&load.out, RUN_FILE)?;
    file.append(&frame)?;
    file.sync()
}
