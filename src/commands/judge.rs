//! `judge`: a verdict from recorded runs; nothing is sent.

use super::decide::{Judged, judge as decide};
use super::reporting::{self, GithubOptions, Outcome};
use super::{BaselineOptions, Error, Exit, Format, SpecOptions, baselines, beside, measure, publish, source};
use crate::console::Console;
use crate::record::{self, Recording};
use crate::report::{Report, WhatIf, WhatIfRow};
use crate::spec::{self, Constraint};
use crate::store;
use crate::verdict;
use std::path::{Path, PathBuf};

/// What `judge` was asked for.
#[derive(Debug, Clone)]
pub struct Judge {
    /// The run files.
    pub runs: Vec<PathBuf>,
    /// Which spec.
    pub spec: SpecOptions,
    /// Which baseline.
    pub baseline: BaselineOptions,
    /// Other constraints to show goodput under.
    pub what_if: Vec<String>,
    /// Show both conventions of TPOT.
    pub both_conventions: bool,
    /// Where the files go.
    pub out: PathBuf,
    /// What goes to stdout.
    pub format: Format,
    /// Report to GitHub, too: the worst of them.
    pub github: Option<GithubOptions>,
}

/// Judges each run and gives the worst code.
///
/// # Errors
/// Where a run, the spec or a named baseline cannot be used.
pub fn judge(request: &Judge, console: &Console) -> Result<Exit, Error> {
    let outcome = judge_all(request, console);
    if let Some(options) = &request.github {
        let outcome = match &outcome {
            Ok(worst) => Outcome::Judged { exit: worst.exit, report: &worst.report, out: &worst.out },
            Err(error) => Outcome::Stopped { error, spec: &request.spec.spec },
        };
        reporting::report(options, &outcome, console);
    }
    outcome.map(|worst| worst.exit)
}

/// The worst of the runs that were judged.
struct Worst {
    exit: Exit,
    report: Report,
    out: PathBuf,
}

fn judge_all(request: &Judge, console: &Console) -> Result<Worst, Error> {
    let source = source::load(&request.spec, console)?;
    source.need(spec::needs_rules(source.spec()))?;
    let what_if: Vec<Constraint> =
        request.what_if.iter().map(|text| spec::parse_what_if(text)).collect::<Result<_, _>>().map_err(|issue| {
            Error::usage(format!("--what-if: {}", issue.message), issue.help.unwrap_or_else(|| "write it as in slo.request".to_owned()))
        })?;
    let runs: Vec<Recording> = request.runs.iter().map(|path| read(path, console)).collect::<Result<_, _>>()?;
    let _out = store::open_out(&request.out).map_err(Error::Out)?;
    let limits = measure::limits(source.spec());
    let mut worst: Option<Worst> = None;
    for (number, (run, path)) in runs.iter().zip(&request.runs).enumerate() {
        if run.conditions.name != source.spec().name {
            console.warn(&format!("the run was made by the spec `{}` and is judged by `{}`", run.conditions.name, source.spec().name));
        }
        let chosen = match beside::stored_side((run, path), &limits, &request.baseline, console)? {
            Some(chosen) => chosen,
            None => baselines::read(&source.spec().name, &request.baseline, console)?.choose(&run.conditions, &limits)?,
        };
        super::require_one(&source.spec().slo, &request.baseline, &chosen)?;
        let mut judged = decide(source.spec(), run, chosen, None);
        judged.report.both_conventions = request.both_conventions;
        judged.report.what_if = tried(&judged, &what_if);
        let out = if runs.len() == 1 { request.out.clone() } else { request.out.join((number + 1).to_string()) };
        // Several JSON documents are one array, which a parser can read.
        let is_array = request.format == Format::Json && runs.len() > 1;
        if is_array {
            console.result(if number == 0 { "[\n" } else { ",\n" }).map_err(Error::Stdout)?;
        }
        let (exit, report) = publish::publish(judged.report, &out, request.format, Vec::new(), console);
        if is_array && number + 1 == runs.len() {
            console.result("]\n").map_err(Error::Stdout)?;
        }
        match &worst {
            Some(before) if before.exit.worst(exit) == before.exit => {}
            _ => worst = Some(Worst { exit, report, out }),
        }
    }
    worst.ok_or_else(|| Error::usage("no run was named", "name a run file"))
}

/// A run file, with what is damaged of it shown.
pub(super) fn read(path: &Path, console: &Console) -> Result<Recording, Error> {
    let bytes = store::read(path, store::RUN_LIMIT).map_err(Error::Input)?;
    let recording = record::decode(&bytes).map_err(|source| Error::Run { path: path.to_owned(), source })?;
    for damage in &recording.damage {
        console.warn(&format!("{}: {damage}", path.display()));
    }
    Ok(recording)
}

fn tried(judged: &Judged, constraints: &[Constraint]) -> Option<WhatIf> {
    if constraints.is_empty() {
        return None;
    }
    let share = |good: u64, all: u64| (all > 0).then(|| good as f64 / all as f64);
    let rate = |good: u64, window: Option<f64>| window.filter(|window| *window > 0.0).map(|window| good as f64 / window);
    let rows = verdict::what_if(&judged.summary, constraints)
        .into_iter()
        .map(|row| WhatIfRow {
            spec: share(row.was, row.requests),
            spec_rps: rate(row.was, row.window_s),
            tried: share(row.would_be, row.requests),
            tried_rps: rate(row.would_be, row.window_s),
            level: row.level,
        })
        .collect();
    Some(WhatIf { constraints: constraints.iter().map(|constraint| constraint.text.clone()).collect(), rows })
}
