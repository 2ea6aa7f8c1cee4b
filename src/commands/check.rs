//! `check`: load, measure, compare with the baseline, judge, report.

use super::baselines::{self, Stored};
use super::decide::judge;
use super::measure::{self, Measured};
use super::{BaselineOptions, Error, Exit, Format, LoadOptions, SpecOptions, publish};
use crate::console::Console;
use crate::record::EndReason;
use crate::verdict::VerdictStatus;

/// What `check` was asked for.
#[derive(Debug, Clone)]
pub struct Check {
    /// Which spec.
    pub spec: SpecOptions,
    /// How the load is sent.
    pub load: LoadOptions,
    /// Which baseline.
    pub baseline: BaselineOptions,
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
    prepared.announce(&request.load, console)?;

    let mut chosen = None;
    let (measured, source) = prepared.measure(
        options,
        |conditions| {
            chosen = Some(Stored::choose(stored, conditions)?);
            Ok(())
        },
        console,
    )?;
    let Measured { loaded, shared_tokens } = measured;
    let chosen = chosen.ok_or_else(|| Error::usage("no baseline was looked for", "report this as a bug"))?;
    super::require_one(source.spec(), &request.baseline, &chosen)?;
    if loaded.recording.end.as_ref().is_some_and(|end| end.reason == EndReason::Interrupted) {
        console.note(&format!("what was measured is in {}", request.load.out.join(measure::RUN_FILE).display()));
        return Err(Error::Interrupted);
    }

    let mut judged = judge(source.spec(), &loaded.recording, chosen, shared_tokens);
    let mut failures: Vec<Error> = loaded.failure.map(Error::Output).into_iter().collect();
    if failures.is_empty() {
        judged.report.files.push(request.load.out.join(measure::RUN_FILE).display().to_string());
    }
    if request.baseline.save {
        let passed = judged.report.verdict.as_ref().is_some_and(|verdict| verdict.status == VerdictStatus::Pass);
        if passed {
            match baselines::keep(&loaded.recording, &baselines::folder(&name)) {
                Ok(path) => judged.report.files.push(path.display().to_string()),
                Err(error) => failures.push(error),
            }
        } else {
            console.note("the run did not pass and was not saved as a baseline");
        }
    }
    Ok(publish::publish(judged.report, &request.load.out, request.format, failures, console))
}
