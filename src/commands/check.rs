//! `check`: load, measure, compare with the baseline, judge, report.

use super::baselines::{self, Chosen};
use super::decide::{self, Judged, Judging};
use super::home::{self, Because, Home};
use super::lookout::Lookout;
use super::measure;
use super::reporting::{self, GithubOptions, Outcome};
use super::{BaselineOptions, Error, Exit, Format, LoadOptions, SpecOptions, beside, headroom, publish};
use crate::console::Console;
use crate::record::{EndReason, Recording};
use crate::report::Report;
use crate::verdict::{ValidityStatus, VerdictStatus};
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
    /// Report to GitHub, too.
    pub github: Option<GithubOptions>,
}

/// Runs the main job.
///
/// # Errors
/// Whatever stops it before a verdict.
pub fn check(request: &Check, console: &Console) -> Result<Exit, Error> {
    let outcome = judged(request, console);
    if let Some(options) = &request.github {
        let out = request.load.out.as_path();
        let outcome = match &outcome {
            Ok((exit, report)) => Outcome::Judged { exit: *exit, report, out },
            Err(error) => Outcome::Stopped { error, spec: &request.spec.spec },
        };
        reporting::report(options, &outcome, console);
    }
    outcome.map(|(exit, _)| exit)
}

fn judged(request: &Check, console: &Console) -> Result<(Exit, Report), Error> {
    let options = (&request.spec, &request.load);
    let prepared = measure::prepare(options, true, console)?;
    let name = prepared.source.spec().name.clone();
    let stored = match &request.load.against {
        Some(_) => None,
        None => Some(baselines::read(&name, &request.baseline, console)?),
    };
    prepared.announce(&request.load, stored.as_ref(), console)?;

    let slo = prepared.source.spec().slo.clone();
    let spec = prepared.source.spec().clone();
    let mut judging = None;
    let (mut loaded, _, _out) = prepared.measure(
        options,
        |conditions, ready, other| {
            let found = match (other, stored) {
                (Some(other), _) => beside::ahead(conditions, other, request.baseline.force)?,
                (None, Some(stored)) => stored.choose(conditions, &conditions.limits)?,
                (None, None) => Chosen::default(),
            };
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

    let mut judged = judging.report(&loaded.recording, loaded.beside.as_ref());
    if headroom::after(options, &spec, &judged, &mut loaded, console)? {
        judged = judging.report(&loaded.recording, loaded.beside.as_ref());
    }
    let mut failures: Vec<Error> = loaded.failure.map(Error::Output).into_iter().collect();
    if failures.is_empty() {
        let names = std::iter::once(measure::RUN_FILE).chain(loaded.beside.is_some().then_some(beside::FILE));
        judged.report.files.extend(names.map(|name| request.load.out.join(name).display().to_string()));
    }
    if request.baseline.save {
        match save(&loaded.recording, &judged, &home::of(&name, &request.baseline)?) {
            Ok(Ok(place)) => {
                if judged.exit == Exit::Baseline {
                    console.warn(&format!("nothing was compared: this run is the first baseline, {place}; the next check decides"));
                }
                judged.report.files.push(place);
            }
            Ok(Err(why)) => console.note(&format!("not saved as a baseline: {why}")),
            Err(error) => failures.push(error),
        }
    }
    Ok(publish::publish(judged.report, &request.load.out, request.format, failures, console))
}

/// Keeps a run that passed, or the very first one of a spec whose rules all compare with a baseline. Gives where it is, or why not.
fn save(recording: &Recording, judged: &Judged, home: &Home) -> Result<Result<String, String>, Error> {
    let failed = || Ok(Err("the run did not pass".to_owned()));
    let Some(verdict) = &judged.report.verdict else { return failed() };
    let is_sound = verdict.validity.iter().all(|check| matches!(check.status, ValidityStatus::Ok | ValidityStatus::Warn));
    let is_first = decide::judges_nothing(verdict) && is_sound;
    if verdict.status != VerdictStatus::Pass && !is_first {
        return failed();
    }
    if let Some(why) = home.refuses(Because::Passed) {
        return Ok(Err(why));
    }
    baselines::keep(recording, home).map(Ok)
}
