//! `baseline save|accept|list|show|rm`: the store of runs that later ones are compared with.

use super::baselines::{self, Chosen};
use super::decide::judge as decide;
use super::home::{self, BRANCH, Because, Home};
use super::{BaselineOptions, Error, Exit, SpecOptions, judge, measure, source};
use crate::console::Console;
use crate::history;
use crate::record::Recording;
use crate::spec;
use crate::store::{Folder, Place};
use crate::summary::{self, Lens, LevelTable, Summary};
use crate::units::{Unit, show};
use crate::verdict::{VerdictStatus, detect};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What `baseline` was asked for.
#[derive(Debug, Clone)]
pub enum Baseline {
    /// Keep a run that passes.
    Save {
        /// The run file.
        run: PathBuf,
        /// Which spec judges it.
        spec: Box<SpecOptions>,
        /// Which baseline its regression rules are judged against.
        baseline: BaselineOptions,
    },
    /// Keep a run whatever its verdict.
    Accept {
        /// The run file.
        run: PathBuf,
        /// Why; kept with it.
        reason: String,
        /// Where; the default folder of its name without it.
        at: BaselineOptions,
    },
    /// Name the stored runs.
    List {
        /// The spec's name.
        name: String,
        /// Where; the default folder without it.
        at: BaselineOptions,
    },
    /// Show one, or the newest.
    Show {
        /// The spec's name.
        name: String,
        /// Its run id; the newest without it.
        run: Option<String>,
        /// Where; the default folder without it.
        at: BaselineOptions,
    },
    /// Remove one.
    Rm {
        /// The spec's name.
        name: String,
        /// Its run id.
        run: String,
        /// Where; the default folder without it.
        at: BaselineOptions,
    },
}

/// Looks after the stored runs.
///
/// # Errors
/// Where a run, the spec or the store cannot be used.
pub fn baseline(request: &Baseline, console: &Console) -> Result<Exit, Error> {
    match request {
        Baseline::Save { run, spec, baseline } => save(run, spec, baseline, console),
        Baseline::Accept { run, reason, at } => accept(run, reason, at, console),
        Baseline::List { name, at } => list(place(name, at)?.place(), console),
        Baseline::Show { name, run, at } => show_one(place(name, at)?.place(), run.as_deref(), console),
        Baseline::Rm { name, run, at } => remove(place(name, at)?.place(), run, console),
    }
}

fn place(name: &str, at: &BaselineOptions) -> Result<Home, Error> {
    let plain = !name.is_empty() && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let from = at.from.as_deref();
    match (plain, home::branch(name, from.filter(|_| plain), &at.github)?, from.filter(|from| !from.starts_with(BRANCH))) {
        (_, Some(home), _) => Ok(home),
        (_, None, Some(dir)) => Ok(Home::Folder(Folder::at(dir))),
        (true, None, None) => Ok(Home::Folder(home::folder(name))),
        (false, None, None) => Err(Error::usage("that is no spec's name", "names hold a-z, 0-9 and -; give a folder with --dir")),
    }
}

fn save(run: &Path, options: &SpecOptions, baseline: &BaselineOptions, console: &Console) -> Result<Exit, Error> {
    let source = source::load(options, console)?;
    source.need(spec::needs_rules(source.spec()))?;
    let recording = judge::read(run, console)?;
    if recording.stopped_early() {
        return Err(Error::usage(
            "this run stopped early, which favours extreme figures",
            "measure one to its end: `goodput-gate check SPEC --save-baseline`",
        ));
    }
    let stored = baselines::read(&source.spec().name, baseline, console)?;
    let chosen: Chosen = stored.choose(&recording.conditions, &measure::limits(source.spec()))?;
    let judged = decide(source.spec(), &recording, chosen, None);
    if judged.report.verdict.as_ref().is_none_or(|verdict| verdict.status != VerdictStatus::Pass) {
        console.error(
            &format!("not saved: {}", judged.report.summary),
            Some("a baseline is a passing run; `baseline accept RUN --reason …` keeps any"),
        );
        return Ok(if judged.exit == Exit::Pass { Exit::Inconclusive } else { judged.exit });
    }
    kept(&recording, &home::of(&source.spec().name, baseline)?, Because::Passed, console)
}

fn accept(run: &Path, reason: &str, at: &BaselineOptions, console: &Console) -> Result<Exit, Error> {
    let mut recording = judge::read(run, console)?;
    let whole = recording.damage.is_empty() && recording.end.is_some() && !recording.stopped_early();
    if !whole || recording.rounds.is_empty() {
        return Err(Error::usage("this run was cut, stopped early, or has no whole round", "a baseline needs a run that went to its end"));
    }
    let home = place(&recording.conditions.name, at)?;
    recording.conditions.flags.push(format!("accepted={reason}"));
    kept(&recording, &home, Because::Accepted, console)
}

fn kept(recording: &Recording, home: &Home, because: Because, console: &Console) -> Result<Exit, Error> {
    if let Some(why) = home.refuses(because) {
        return Err(Error::Baseline { why, help: "run this for a commit of the default branch".to_owned() });
    }
    let place = baselines::keep(recording, home)?;
    console.result(&format!("saved {place}\n")).map_err(Error::Stdout)?;
    Ok(Exit::Pass)
}

fn list(folder: &dyn Place, console: &Console) -> Result<Exit, Error> {
    let mut text = String::new();
    let names = baselines::list(folder)?;
    for name in &names {
        match baselines::read_one(folder, name) {
            Ok(run) => {
                let conditions = &run.conditions;
                let commit = conditions.commit.as_deref().map_or_else(String::new, |commit| format!("  commit {}", cut(commit, 12)));
                let _ = writeln!(
                    text,
                    "{}  {}  {} requests  {}{commit}",
                    conditions.run_id,
                    conditions.started,
                    run.requests.len(),
                    conditions.target.model
                );
            }
            Err(why) => {
                let _ = writeln!(text, "{name}  unreadable: {why}");
            }
        }
    }
    if names.is_empty() {
        let _ = writeln!(text, "no baseline at {}", folder.label());
    }
    console.result(&harmless(&text)).map_err(Error::Stdout)?;
    Ok(Exit::Pass)
}

fn cut(text: &str, at: usize) -> &str {
    text.char_indices().nth(at).map_or(text, |(at, _)| &text[..at])
}

fn show_one(folder: &dyn Place, run: Option<&str>, console: &Console) -> Result<Exit, Error> {
    let names = baselines::list(folder)?;
    let name = match run {
        Some(run) => baselines::find(&names, run).ok_or_else(|| missing(folder))?,
        None => names.last().cloned().ok_or_else(|| missing(folder))?,
    };
    let run = baselines::read_one(folder, &name).map_err(|why| Error::Baseline { why, help: "see `baseline list`".to_owned() })?;
    let conditions = &run.conditions;
    let lens = Lens {
        constraints: Vec::new(),
        buckets: spec::Buckets { input: vec![1024, 8192], output: vec![300, 1000] },
        gap_scopes: Vec::new(),
    };
    let mut text = String::new();
    let _ = writeln!(text, "{}  started {}  {}", conditions.run_id, conditions.started, conditions.tool);
    let _ = writeln!(text, "target {}  model {}  {}", conditions.target.label, conditions.target.model, conditions.workload.label);
    for flag in &conditions.flags {
        let _ = writeln!(text, "{flag}");
    }
    for table in summary::of(&run, &lens).tables() {
        let _ = writeln!(text, "{}", line(&table));
    }
    text.push_str(&noise(folder, &run, &lens));
    let _ = writeln!(text, "limits it was made with:");
    for limit in &conditions.limits {
        let _ = writeln!(text, "  {limit}");
    }
    console.result(&harmless(&text)).map_err(Error::Stdout)?;
    Ok(Exit::Pass)
}

/// What this run and those that are comparable with it say of the site, a line a metric.
fn noise(folder: &dyn Place, shown: &Recording, lens: &Lens) -> String {
    let mut conditions = shown.conditions.clone();
    // The shown run is one of them.
    conditions.run_id = String::new();
    let names = folder.list(".jsonl.zst").unwrap_or_default();
    let stored: Vec<Recording> = names.iter().filter_map(|name| baselines::read_one(folder, name).ok()).collect();
    let runs = history::select(stored, &conditions).runs;
    let summaries: Vec<Summary> = runs.iter().map(|run| summary::of(run, lens)).collect();
    let mut text = String::new();
    for level in &conditions.load.levels {
        let rows = detect::site_noise(&summaries, &level.label);
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(text, "what {} comparable stored runs say of this site at {}:", summaries.len(), level.label);
        for row in rows {
            let change = |value: f64| show(value, Unit::Change);
            let share = |value: f64| show(value, Unit::Share);
            let _ = writeln!(
                text,
                "  {}: runs differ by {} (sd; at most {} at 80 % confidence), so a limit of {} can be held; \
                 beside a limit of 10 % a change of {} is found in 80 % of checks",
                row.metric,
                share(row.tau),
                share(row.upper),
                share(row.holds),
                change(row.smallest)
            );
        }
        if let Some(deff) = detect::tail_design_effect(&summaries, &level.label) {
            let _ = writeln!(text, "  slow requests come together: design effect {deff:.2} for the slowest hundredth");
        }
    }
    text
}

fn line(table: &LevelTable) -> String {
    let ms = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| show(value, Unit::Ms));
    format!(
        "{}: {} requests in {} rounds, {} errors, TTFT P50 {} P95 {} P99 {}, TPOT P50 {} P95 {}",
        table.level,
        table.requests,
        table.rounds,
        table.errors,
        ms(table.ttft.p50),
        ms(table.ttft.p95),
        ms(table.ttft.p99),
        ms(table.tpot.p50),
        ms(table.tpot.p95)
    )
}

fn missing(folder: &dyn Place) -> Error {
    Error::Baseline { why: format!("there is none at {}", folder.label()), help: "see `baseline list`".to_owned() }
}

fn remove(folder: &dyn Place, run: &str, console: &Console) -> Result<Exit, Error> {
    let name = baselines::find(&baselines::list(folder)?, run).ok_or_else(|| Error::Baseline {
        why: format!("{} holds no run {run}", folder.label()),
        help: "`baseline list NAME` names those it holds".to_owned(),
    })?;
    folder.remove(&name).map_err(Error::Output)?;
    console.result(&format!("removed {}\n", Path::new(&folder.label()).join(&name).display())).map_err(Error::Stdout)?;
    Ok(Exit::Pass)
}

/// Stored files may come from elsewhere: nothing in them reaches the terminal as more than text.
fn harmless(text: &str) -> String {
    text.lines().fold(String::new(), |all, line| all + &crate::report::visible(line) + "\n")
}
