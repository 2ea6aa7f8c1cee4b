//! Stored runs: finding those that a run is compared with, and keeping new ones.

use super::home::{self, Home, ROOT};
use super::{BaselineOptions, Error};
use crate::console::Console;
use crate::history;
use crate::plan::{LevelPlan, Plan};
use crate::record::{self, Conditions, LoadInfo, Recording};
use crate::store::{self, Folder, Place};
use crate::verdict::BaselineInfo;
use std::path::Path;
use std::time::Duration;

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
    /// By run id, how far a run's commit lies from the one under test.
    distances: Vec<(String, String)>,
}

/// The runs that a run is compared with.
#[derive(Default)]
pub(super) struct Chosen {
    /// The stored runs that count.
    pub runs: Vec<Recording>,
    /// In their place, one run that was named and whose own validity counts too: the other side of the same run, or any other.
    pub beside: Option<Recording>,
    pub info: BaselineInfo,
    /// What differs of runs that are used by `--force` all the same.
    pub forced: Vec<String>,
}

impl Chosen {
    /// One run in the place of stored ones.
    pub(super) fn beside(run: Recording, candidate: &Conditions, differences: Vec<String>) -> Self {
        let info = BaselineInfo {
            runs: vec![run.conditions.run_id.clone()],
            newest: Some(run.conditions.started.clone()),
            commit: run.conditions.commit.clone(),
            distance: None,
            changed_limits: history::changed_limits(&run.conditions, candidate),
            differences,
        };
        Self { beside: Some(run), info, ..Self::default() }
    }

    /// Whether there is nothing to compare with.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.beside.is_none()
    }
}

/// Reads what `options` name, or the default folder of `name`.
///
/// Fails where a named one is missing or unreadable, or a required one is not there.
pub(super) fn read(name: &str, options: &BaselineOptions, console: &Console) -> Result<Stored, Error> {
    let named = options.from.as_deref();
    let on_branch = home::branch(name, named, &options.github)?;
    // The first run of a repository finds no branch, and a changed spec finds no comparable run there: neither may block for ever.
    let must_fit = options.require || named.is_some_and(|named| named != "none") && on_branch.is_none();
    let mut stored =
        Stored { runs: Vec::new(), unreadable: Vec::new(), must_fit, place: String::new(), force: options.force, distances: Vec::new() };
    if named == Some("none") {
        if options.require {
            return Err(Error::usage("--require-baseline and --baseline none exclude each other", "drop one of them"));
        }
        stored.must_fit = false;
        return Ok(stored);
    }
    let (home, files) = match on_branch {
        Some(home) => {
            let names = list(home.place())?;
            let files = home.related(names, console)?;
            (home, files)
        }
        None => in_folder(name, named)?,
    };
    stored.place = home.place().label();
    if files.is_empty() && must_fit {
        return Err(Error::Baseline {
            why: format!("there is none at {}", stored.place),
            help: format!("save one from a passing run: goodput-gate check SPEC --save-baseline (default folder {ROOT}/{name})"),
        });
    }
    for (file, distance) in files {
        match read_one(home.place(), &file) {
            Ok(run) => {
                stored.distances.extend(distance.map(|distance| (run.conditions.run_id.clone(), home.words(distance))));
                stored.runs.push(run);
            }
            Err(why) if must_fit => return Err(refused(why)),
            Err(why) => {
                console.warn(&format!("a stored run is left out: {why}"));
                stored.unreadable.push(why);
            }
        }
    }
    Ok(stored)
}

type Files = Vec<(String, Option<usize>)>;

/// One file, or those of a folder.
fn in_folder(name: &str, named: Option<&str>) -> Result<(Home, Files), Error> {
    let path = named.map_or_else(|| home::folder(name).path().to_owned(), |named| Path::new(named).to_owned());
    if let (true, Some(file)) = (path.is_file(), path.file_name()) {
        let folder = path.parent().map_or_else(|| Path::new("").to_owned(), Path::to_path_buf);
        return Ok((Home::Folder(Folder::at(folder)), vec![(file.to_string_lossy().into_owned(), None)]));
    }
    let folder = Folder::at(path);
    let names = list(&folder)?;
    Ok((Home::Folder(folder), names.into_iter().map(|name| (name, None)).collect()))
}

/// The names of the stored runs, oldest first.
pub(super) fn list(place: &dyn Place) -> Result<Vec<String>, Error> {
    let mut names = place.list(SUFFIX).map_err(|error| refused(error.to_string()))?;
    names.sort_by(|a, b| own_name(a).cmp(own_name(b)));
    Ok(names)
}

/// A stored file's name without the commit before it: it begins with the time of its run.
fn own_name(name: &str) -> &str {
    home::split(name).map_or(name, |(_, own)| own)
}

/// The stored file of a run, among `names`.
pub(super) fn find(names: &[String], run_id: &str) -> Option<String> {
    let wanted = file_name(run_id);
    names.iter().find(|name| **name == wanted || own_name(name) == wanted).cloned()
}

fn refused(why: String) -> Error {
    Error::Baseline { why, help: "it is left as it is; name another with --baseline, or remove it with `baseline rm`".to_owned() }
}

/// A stored run; damaged ones are refused, since half a baseline is another baseline.
pub(super) fn read_one(place: &dyn Place, name: &str) -> Result<Recording, String> {
    let bytes = place.get(name, store::RUN_LIMIT).map_err(|error| error.to_string())?;
    let path = Path::new(&place.label()).join(name);
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

    /// Those that a run under `conditions` is compared with. `limits` are those it is judged by, which may not be those it was made
    /// with.
    ///
    /// Fails where one had to be there and none is comparable.
    pub(super) fn choose(self, conditions: &Conditions, limits: &[String]) -> Result<Chosen, Error> {
        let mut selection = history::select(self.runs.clone(), conditions);
        let mut differences: Vec<String> = self.unreadable;
        differences.extend(selection.left_out.iter().flat_map(|left| left.why.iter().map(|why| format!("{}: {why}", left.run_id))));
        let mut forced = Vec::new();
        if self.force && selection.runs.is_empty() && !self.runs.is_empty() {
            forced = std::mem::take(&mut differences);
            selection.runs = self.runs;
        }
        if selection.runs.is_empty() && self.must_fit {
            return Err(Error::Baseline {
                why: format!("none at {} is comparable\n  {}", self.place, differences.join("\n  ")),
                help: "measure under the same conditions, save a new one, or go on with --force".to_owned(),
            });
        }
        let judged = Conditions { limits: limits.to_vec(), ..conditions.clone() };
        let newest = selection.runs.last().map(|run| &run.conditions);
        let info = BaselineInfo {
            runs: selection.runs.iter().map(|run| run.conditions.run_id.clone()).collect(),
            newest: newest.map(|newest| newest.started.clone()),
            commit: newest.and_then(|newest| newest.commit.clone()),
            distance: newest.and_then(|newest| distance(&self.distances, newest)),
            changed_limits: newest.map(|newest| history::changed_limits(newest, &judged)).unwrap_or_default(),
            differences: if selection.runs.is_empty() { differences } else { Vec::new() },
        };
        Ok(Chosen { runs: selection.runs, beside: None, info, forced })
    }
}

/// How far away, and how old.
fn distance(distances: &[(String, String)], newest: &Conditions) -> Option<String> {
    let (_, words) = distances.iter().find(|(run_id, _)| *run_id == newest.run_id)?;
    let started: Option<jiff::Timestamp> = newest.started.parse().ok();
    let days = started.map(|started| jiff::Timestamp::now().duration_since(started).as_hours() / 24);
    Some(match days {
        Some(days @ 1..) => format!("{words}, {days} {} old", if days == 1 { "day" } else { "days" }),
        _ => words.clone(),
    })
}

/// Keeps `run` under its name, folded, and lets go of all but the last ten. Gives where it is.
pub(super) fn keep(run: &Recording, home: &Home) -> Result<String, Error> {
    let output = |source| Error::Output(source);
    let place = home.place();
    let bytes =
        record::encode(&history::fold(run)).map_err(|source| output(store::StoreError::Write { path: place.label().into(), source }))?;
    let name = format!("{}{}", home.prefix(run)?, file_name(&run.conditions.run_id));
    let put = place.put_new(&name, &bytes).map_err(output)?;
    for old in list(place)?.iter().rev().skip(KEPT) {
        place.remove(old).map_err(output)?;
    }
    Ok(put)
}

/// A stored run's file name. A run id from elsewhere may hold anything; only plain characters reach the file system.
pub(super) fn file_name(run_id: &str) -> String {
    let plain: String = run_id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(80).collect();
    format!("{plain}{SUFFIX}")
}
