//! `check`: load, measure, compare with the baseline, judge, report.

use super::baselines::{self, Stored};
use super::decide::{self, Judged, Judging};
use super::lookout::Lookout;
use super::measure;
use super::{BaselineOptions, Error, Exit, Format, LoadOptions, SpecOptions, publish};
use crate::console::Console;
use crate::record::{EndReason, Recording};
use crate::store::Folder;
use crate::verdict::{ValidityStatus, VerdictStatus};
use std::path::PathBuf;
use std::sync::Arc;

/// What `check` was asked for.
#[derive(Debug, Clone)]
pub struct Check {
    /// Which spec.
    pub spec: SpecOptions,
    /// How the load is sent.
    pub load: LoadOptions,
    /// Which baseline.
    pub baseline: BaselineOptions,
    /// End a level at the first planned look that decides it.
    pub early_stop: bool,
    /// What goes to stdout.
    pub format: Format,
}

/// Runs the main job.
///
/// # Errors
/// Whatever stops it before a verdict.
pub fn check(request: &Check, console: &Console) -> Result<Exit, Error> {
    let options = (&request.spec, &request.load);
    let prepared = measure::prepare(options, true, console)?;
    let name = prepared.source.spec().name.clone();
    let stored = baselines::read(&name, &request.baseline, console)?;
    prepared.announce(&request.load, Some(&stored), console)?;

    let slo = prepared.source.spec().slo.clone();
    let spec = prepared.source.spec().clone();
    let mut judging = None;
    let (loaded, _) = prepared.measure(
        options,
        |conditions, ready| {
            let found = Stored::choose(stored, conditions)?;
            super::require_one(&slo, &request.baseline, &found)?;
            let bench = Arc::new(Judging::new(&spec, found, ready.shared_tokens));
            judging = Some(Arc::clone(&bench));
            Ok(if request.baseline.save || !request.early_stop { None } else { Lookout::over(bench) })
        },
        console,
    )?;
    let judging = judging.ok_or_else(|| Error::usage("no baseline was looked for", "report this as a bug"))?;
    if loaded.recording.end.as_ref().is_some_and(|end| end.reason == EndReason::Interrupted) {
        console.note(&format!("what was measured is in {}", request.load.out.join(measure::RUN_FILE).display()));
        return Err(Error::Interrupted);
    }

    let mut judged = judging.report(&loaded.recording);
    let mut failures: Vec<Error> = loaded.failure.map(Error::Output).into_iter().collect();
    if failures.is_empty() {
        judged.report.files.push(request.load.out.join(measure::RUN_FILE).display().to_string());
    }
    if request.baseline.save {
        match save(&loaded.recording, &judged, &baselines::home(&name, &request.baseline)) {
            Ok(Some(path)) => judged.report.files.push(path.display().to_string()),
            Ok(None) => console.note("the run did not pass and was not saved as a baseline"),
            Err(error) => failures.push(error),
        }
    }
    Ok(publish::publish(judged.report, &request.load.out, request.format, failures, console))
}

/// Keeps a run that passed, or the very first one of a spec whose rules all compare with a baseline.
fn save(recording: &Recording, judged: &Judged, folder: &Folder) -> Result<Option<PathBuf>, Error> {
    let Some(verdict) = &judged.report.verdict else { return Ok(None) };
    let is_sound = verdict.validity.iter().all(|check| matches!(check.status, ValidityStatus::Ok | ValidityStatus::Warn));
    let is_first = decide::judges_nothing(verdict) && is_sound;
    if verdict.status != VerdictStatus::Pass && !is_first {
        return Ok(None);
    }
    baselines::keep(recording, folder).map(Some)
}
