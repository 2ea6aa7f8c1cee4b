//! `run`: measure only.

use super::measure::{self, RUN_FILE};
use super::{Error, Exit, Format, LoadOptions, SpecOptions, load, publish};
use crate::console::Console;
use crate::record::EndReason;
use crate::report::Report;
use crate::summary::{self, Lens};

/// What `run` was asked for.
#[derive(Debug, Clone)]
pub struct Run {
    /// Which spec.
    pub spec: SpecOptions,
    /// How the load is sent.
    pub load: LoadOptions,
    /// What goes to stdout.
    pub format: Format,
}

/// Measures, and writes the run file.
///
/// # Errors
/// Whatever stops it before anything was measured.
pub fn run(request: &Run, console: &Console) -> Result<Exit, Error> {
    let options = (&request.spec, &request.load);
    let prepared = measure::prepare(options, false, console)?;
    prepared.announce(&request.load, None, console)?;
    let (measured, source, _out) = prepared.measure(options, |_, _, _| Ok(None), console)?;
    let recording = measured.recording;
    let spec = source.spec();
    let tables = summary::of(&recording, &Lens::new(&spec.slo, &spec.buckets)).tables();

    let none_measured = !recording.requests.iter().any(|request| request.round.is_some() && request.is_ok());
    let all_unusable = !recording.requests.is_empty() && recording.requests.iter().all(load::is_unusable);
    let exit = match recording.end.as_ref().map(|end| end.reason) {
        Some(EndReason::Interrupted) => Exit::Interrupted,
        _ if all_unusable => Exit::Target,
        _ if none_measured => Exit::Invalid,
        _ => Exit::Pass,
    };
    let constraints = spec.slo.request.iter().map(|constraint| constraint.text.clone()).collect();
    let mut report = Report::new(None, exit.code(), tables, recording.conditions.clone(), constraints);
    let mut failures: Vec<Error> = Vec::new();
    match measured.failure {
        Some(failure) => failures.push(Error::Output(failure)),
        None => report.files.push(request.load.out.join(RUN_FILE).display().to_string()),
    }
    if let Err(error) = console.result(&publish::text(&report, request.format, console)) {
        failures.push(Error::Stdout(error));
    }
    for failure in &failures {
        super::show(failure, console);
    }
    Ok(if failures.is_empty() { exit } else { exit.worst(Exit::Output) })
}
