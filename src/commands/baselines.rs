//! Stored runs: finding those that a run is compared with, and keeping new ones.

use super::{BaselineOptions, Error};
use crate::console::Console;
use crate::history;
use crate::plan::{LevelPlan, Plan};
use crate::record::{self, Conditions, LoadInfo, Recording};
use crate::store::{self, Folder};
use crate::verdict::BaselineInfo;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where baselines lie unless a flag says otherwise.
const ROOT: &str = ".goodput/baselines";
/// Runs kept for each name.
const KEPT: usize = 10;
const SUFFIX: &str = ".jsonl.zst";

/// Stored runs, read but not yet held against anything.
pub(super) struct Stored {
    runs: Vec<Recording>,
    /// Files that could not be read, each with why.
    unreadable: Vec<String>,
    /// Whether the caller named them or requires them.
    must_fit: bool,
    place: String,
    force: bool,
}

/// The stored runs that count.
pub(super) struct Chosen {
    pub runs: Vec<Recording>,
    pub info: BaselineInfo,
}

/// The folder of a name's baselines.
pub(super) fn folder(name: &str) -> Folder {
    Folder::at(Path::new(ROOT).join(name))
}

/// Where a run of `name` is kept: a folder that `options` name, else the default one.
pub(super) fn home(name: &str, options: &BaselineOptions) -> Folder {
    let named = options.from.as_deref().map(Path::new).filter(|path| path.is_dir());
    named.map_or_else(|| folder(name), Folder::at)
}

/// Reads what `options` name, or the default folder of `name`.
///
/// Fails where a named one is missing or unreadable, or a required one is not there.
pub(super) fn read(name: &str, options: &BaselineOptions, console: &Console) -> Result<Stored, Error> {
    let named = options.from.as_deref();
    let must_fit = options.require || named.is_some_and(|named| named != "none");
    if named == Some("none") {
        if options.require {
            return Err(Error::usage("--require-baseline and --baseline none exclude each other", "drop one of them"));
        }
        return Ok(Stored { runs: Vec::new(), unreadable: Vec::new(), must_fit: false, place: String::new(), force: options.force });
    }
    let path = named.map_or_else(|| folder(name).path().to_owned(), PathBuf::from);
    let place = path.display().to_string();
    let files: Vec<PathBuf> = if path.is_file() {
        vec![path]
    } else {
        let names = Folder::at(&path).list(SUFFIX).map_err(|error| refused(error.to_string()))?;
        names.into_iter().map(|name| path.join(name)).collect()
    };
    if files.is_empty() && must_fit {
        return Err(Error::Baseline {
            why: format!("there is none at {place}"),
            help: format!("save one from a passing run: goodput-gate check SPEC --save-baseline (default folder {ROOT}/{name})"),
        });
    }
    let mut stored = Stored { runs: Vec::new(), unreadable: Vec::new(), must_fit, place, force: options.force };
    for file in files {
        match read_one(&file) {
            Ok(run) => stored.runs.push(run),
            Err(why) if must_fit => return Err(refused(why)),
            Err(why) => {
                console.warn(&format!("a stored run is left out: {why}"));
                stored.unreadable.push(why);
            }
        }
    }
    Ok(stored)
}

fn refused(why: String) -> Error {
    Error::Baseline { why, help: "it is left as it is; name another with --baseline, or remove it with `baseline rm`".to_owned() }
}

/// A stored run; damaged ones are refused, since half a baseline is another baseline.
pub(super) fn read_one(path: &Path) -> Result<Recording, String> {
    let bytes = store::read(path, store::RUN_LIMIT).map_err(|error| error.to_string())?;
    let run = record::decode(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    match run.damage.first() {
        Some(damage) => Err(format!("{} is damaged: {damage}", path.display())),
        None if run.end.is_none() => Err(format!("{} was cut before its last line", path.display())),
        None => Ok(run),
    }
}

impl Stored {
    /// Conditions of the newest.
    pub(super) fn newest(&self) -> Option<&Conditions> {
        self.runs.iter().map(|run| &run.conditions).max_by(|a, b| a.started.cmp(&b.started))
    }

    /// How long `plan` takes at the pace of the newest run that offered the same load; `None` where there is none.
    pub(super) fn time(&self, plan: &Plan) -> Option<Duration> {
        let offered =
            |load: &LoadInfo| load.levels.iter().map(|level| (level.concurrency, level.rate.map(f64::to_bits))).collect::<Vec<_>>();
        let wanted = offered(&plan.load_info());
        let alike = self.runs.iter().filter(|run| offered(&run.conditions.load) == wanted);
        let newest = alike.max_by(|a, b| a.conditions.started.cmp(&b.conditions.started))?;
        let time = |(index, requests): (usize, u64)| {
            Duration::try_from_secs_f64(history::seconds_a_request(newest, index)? * requests as f64).ok()
        };
        plan.levels.iter().map(LevelPlan::requests).enumerate().map(time).sum()
    }

    /// Those that a run under `conditions` is compared with.
    ///
    /// Fails where one had to be there and none is comparable.
    pub(super) fn choose(self, conditions: &Conditions) -> Result<Chosen, Error> {
        let mut selection = history::select(self.runs.clone(), conditions);
        let mut differences: Vec<String> = self.unreadable;
        if self.force && selection.runs.is_empty() && !self.runs.is_empty() {
            let lines =
                selection.left_out.iter().flat_map(|left| left.why.iter().map(|why| format!("forced although not comparable: {why}")));
            differences.extend(lines);
            selection.runs = self.runs;
        } else {
            differences.extend(selection.left_out.iter().flat_map(|left| left.why.iter().map(|why| format!("{}: {why}", left.run_id))));
        }
        if selection.runs.is_empty() && self.must_fit {
            return Err(Error::Baseline {
                why: format!("none at {} is comparable\n  {}", self.place, differences.join("\n  ")),
                help: "measure under the same conditions, save a new one, or go on with --force".to_owned(),
            });
        }
        let newest = selection.runs.last().map(|run| &run.conditions);
        let info = BaselineInfo {
            runs: selection.runs.iter().map(|run| run.conditions.run_id.clone()).collect(),
            newest: newest.map(|newest| newest.started.clone()),
            commit: newest.and_then(|newest| newest.commit.clone()),
            changed_limits: newest.map(|newest| history::changed_limits(newest, conditions)).unwrap_or_default(),
            differences: if selection.runs.is_empty() || self.force { differences } else { Vec::new() },
        };
        Ok(Chosen { runs: selection.runs, info })
    }
}

/// Keeps `run` under its name, folded, and lets go of all but the last ten.
pub(super) fn keep(run: &Recording, folder: &Folder) -> Result<PathBuf, Error> {
    let output = |source| Error::Output(source);
    let bytes = record::encode(&history::fold(run))
        .map_err(|source| output(store::StoreError::Write { path: folder.path().to_owned(), source }))?;
    let path = folder.put_new(&file_name(&run.conditions.run_id), &bytes).map_err(output)?;
    let names = folder.list(SUFFIX).map_err(output)?;
    for old in names.iter().rev().skip(KEPT) {
        folder.remove(old).map_err(output)?;
    }
    Ok(path)
}

/// A stored run's file name. A run id from elsewhere may hold anything; only plain characters reach the file system.
pub(super) fn file_name(run_id: &str) -> String {
    let plain: String = run_id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(80).collect();
    format!("{plain}{SUFFIX}")
}
