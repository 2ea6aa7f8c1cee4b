//! `capacity`: the highest load that still meets the SLO, the knee, the goodput peak beside the throughput peak.

use super::search::{self, Searched};
use super::{Error, Exit, Format, LoadOptions, SpecOptions, publish};
use crate::console::Console;
use crate::report::capacity::{self, CapacityReport};
use crate::search::{Bounds, Settings, Stop};
use crate::spec::{OnInconclusive, RuleKind, Slo};
use crate::store;
use crate::verdict::{self, RuleResult, Status};

/// The files under `--out`.
const FILES: [&str; 2] = ["capacity.json", "capacity.md"];
/// More tokens than this ask first, on a terminal.
const MANY_TOKENS: u64 = 5_000_000;

/// What `capacity` was asked for.
#[derive(Debug, Clone)]
pub struct Capacity {
    /// Which spec.
    pub spec: SpecOptions,
    /// How the load is sent.
    pub load: LoadOptions,
    /// The first load; a quarter of the target where `None`.
    pub from: Option<f64>,
    /// No load above this; 64 times the target where `None`.
    pub to: Option<f64>,
    /// The most points.
    pub points: usize,
    /// What goes to stdout.
    pub format: Format,
}

/// Searches, and writes the report and a run file a point.
///
/// # Errors
/// Whatever stops it before anything was measured.
pub fn capacity(request: &Capacity, console: &Console) -> Result<Exit, Error> {
    if !matches!(request.format, Format::Terminal | Format::Markdown | Format::Json) {
        return Err(Error::usage("`capacity` has no such spelling", "use --format terminal, markdown or json"));
    }
    let options = (&request.spec, &request.load);
    let bench = search::open(options, console)?;
    let _out = store::open_out(&request.load.out).map_err(Error::Out)?;
    FILES.iter().try_for_each(|name| store::remove(&request.load.out, name).map_err(Error::Out))?;
    let settings = settings(request, bench.axis())?;
    announce(request, &bench, &settings, console)?;
    let searched = bench.search(options, &settings, &request.load.out, console)?;

    let slo = &bench.source.spec().slo;
    let headroom = verdict::headroom(slo, searched.findings.headroom);
    let exit = exit(&searched, &headroom, slo);
    let Searched { findings, points, conditions, mut failures, .. } = searched;
    let stop = findings.stop;
    let mut report = CapacityReport {
        exit_code: exit.code(),
        rules: bench.rules(),
        constraints: slo.request.iter().map(|constraint| constraint.text.clone()).collect(),
        headroom,
        conditions,
        ..CapacityReport::new(bench.source.spec().name.clone(), bench.axis().0, findings, points)
    };
    for (name, text) in FILES.iter().zip([capacity::json(&report), capacity::markdown(&report)]) {
        match store::replace(&request.load.out, name, text.as_bytes()) {
            Ok(()) => report.files.push(request.load.out.join(name).display().to_string()),
            Err(error) => failures.push(Error::Output(error)),
        }
    }
    let text = match request.format {
        Format::Markdown => capacity::markdown(&report),
        Format::Json => capacity::json(&report),
        _ => capacity::terminal(&report, console.look()),
    };
    if let Err(error) = console.result(&text) {
        failures.push(Error::Stdout(error));
    }
    if stop == Stop::Interrupted {
        return Err(Error::Interrupted);
    }
    Ok(publish::after(exit, &failures, console))
}

fn settings(request: &Capacity, (axis, target): (crate::search::Axis, f64)) -> Result<Settings, Error> {
    let (from, to) = (request.from, request.to);
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(Error::usage("--from is above --to", "give the lower load with --from"));
    }
    let around = Settings::around(axis, target);
    let bounds = Bounds { points: request.points, ..around.bounds };
    Ok(Settings { from, to, bounds, ..around })
}

/// The first line. On a terminal a search that may be long is asked about.
fn announce(request: &Capacity, bench: &search::Bench, settings: &Settings, console: &Console) -> Result<(), Error> {
    let (requests, tokens) = bench.cost(settings.target)?;
    let budget = bench.source.spec().budget;
    let most = tokens.saturating_mul(settings.bounds.points as u64);
    let most = budget.tokens.map_or(most, |budget| budget.min(most));
    let time = budget.time.map_or_else(String::new, |time| format!(", at most {:.1} minutes (budget)", time.as_secs_f64() / 60.0));
    console.note(&format!(
        "{}: at most {} points of {requests} requests and {tokens} tokens each at the target load{time}",
        bench.source.spec().name,
        settings.bounds.points,
    ));
    if most > MANY_TOKENS && !request.load.yes && console.is_interactive() && !console.confirm("This may be a long search. Start it?") {
        return Err(Error::usage("nothing was sent", "answer y, or give --yes"));
    }
    Ok(())
}

/// 0 where a load holds and every rule on headroom is kept; 10 where the lowest load breaks or such a rule does.
fn exit(searched: &Searched, headroom: &[RuleResult], slo: &Slo) -> Exit {
    let undecided = if slo.on_inconclusive == OnInconclusive::Warn { Exit::Pass } else { Exit::Inconclusive };
    let is_ruled = |status: Status| headroom.iter().any(|row| row.kind != RuleKind::Advise && row.status == status);
    let found = &searched.findings;
    if !searched.answered {
        return if searched.unusable { Exit::Target } else { Exit::Invalid };
    }
    match found.capacity {
        _ if found.stop == Stop::LowestBreaks => Exit::Broken,
        None if found.stop == Stop::Unmeasurable => Exit::Invalid,
        _ if is_ruled(Status::Fail) => Exit::Broken,
        None => undecided,
        Some(_) if is_ruled(Status::Inconclusive) => undecided,
        Some(_) => Exit::Pass,
    }
}
