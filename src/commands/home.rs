//! Where stored runs lie: a folder here, or the folder of a data branch of the repository.

use super::{BaselineOptions, Error};
use crate::console::Console;
use crate::github::{self, Context, DataBranch, Event, GithubError};
use crate::record::Recording;
use crate::store::{Folder, Place};
use std::collections::BTreeMap;
use std::path::Path;

/// Where baselines lie unless a flag says otherwise.
pub(super) const ROOT: &str = ".goodput/baselines";
/// What a baseline on a branch begins with on the command line.
pub(super) const BRANCH: &str = "branch:";
/// The branch, where the flag names none.
const DEFAULT_BRANCH: &str = "goodput-gate-data";
/// Stored runs that are compared with at most.
const MOST: usize = 10;

/// Where stored runs lie.
#[derive(Debug)]
pub(super) enum Home {
    Folder(Folder),
    Branch { branch: Box<DataBranch>, event: Event },
}

/// How a run comes to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Because {
    /// It passed.
    Passed,
    /// Somebody said so.
    Accepted,
}

/// The folder of a name's baselines.
pub(super) fn folder(name: &str) -> Folder {
    Folder::at(Path::new(ROOT).join(name))
}

/// The data branch that `from` names, if it names one.
pub(super) fn branch(name: &str, from: Option<&str>, context: &Context) -> Result<Option<Home>, Error> {
    let Some(branch) = from.and_then(|from| from.strip_prefix(BRANCH)) else { return Ok(None) };
    let branch = if branch.is_empty() { DEFAULT_BRANCH } else { branch };
    let event = context.event().map_err(|error| refused(&error))?;
    if event.default_branch.as_deref() == Some(branch) {
        return Err(Error::usage("the default branch holds code, not baselines", format!("name another: {BRANCH}{DEFAULT_BRANCH}")));
    }
    let branch = DataBranch::open(context, branch, format!("baselines/{name}")).map_err(|error| refused(&error))?;
    Ok(Some(Home::Branch { branch: Box::new(branch), event }))
}

/// Where a run of `name` is kept: what `options` name, else the default folder.
pub(super) fn of(name: &str, options: &BaselineOptions) -> Result<Home, Error> {
    if let Some(home) = branch(name, options.from.as_deref(), &options.github)? {
        return Ok(home);
    }
    let named = options.from.as_deref().map(Path::new).filter(|path| path.is_dir());
    Ok(Home::Folder(named.map_or_else(|| folder(name), Folder::at)))
}

fn refused(error: &GithubError) -> Error {
    Error::Baseline {
        why: error.to_string(),
        help: format!("`{BRANCH}NAME` needs GITHUB_TOKEN and GITHUB_REPOSITORY, and `permissions: contents: read`"),
    }
}

impl Home {
    pub(super) fn place(&self) -> &dyn Place {
        match self {
            Self::Folder(folder) => folder,
            Self::Branch { branch, .. } => branch.as_ref(),
        }
    }

    /// Why a run may not be kept here, where it may not: on a branch what is kept judges everybody's next pull request.
    pub(super) fn refuses(&self, because: Because) -> Option<String> {
        let Self::Branch { event, .. } = self else { return None };
        let of_pull = event.pull.is_some() || event.from_fork || event.wants_pull() || event.name.starts_with("pull_request");
        match because {
            _ if of_pull => Some("a pull request cannot write the baseline it is judged by".to_owned()),
            Because::Passed if !event.is_default_branch() => {
                Some("a passing run becomes the branch's baseline on the default branch only".to_owned())
            }
            Because::Passed | Because::Accepted => None,
        }
    }

    /// What stands before a run's own name: the commit, on a branch, by which it is found again.
    pub(super) fn prefix(&self, run: &Recording) -> Result<String, Error> {
        let Self::Branch { event, .. } = self else { return Ok(String::new()) };
        let commit = event.head_sha.as_ref().or(run.conditions.commit.as_ref());
        commit.map(|commit| format!("{commit}-")).ok_or_else(|| {
            Error::usage("the commit of this run is not known", "on a branch a baseline is found by its commit: set GITHUB_SHA")
        })
    }

    /// Those of `names` that the code under test grew out of, each with how many commits lie between; all of a folder's.
    pub(super) fn related(&self, names: Vec<String>, console: &Console) -> Result<Vec<(String, Option<usize>)>, Error> {
        let Self::Branch { branch, event } = self else { return Ok(names.into_iter().map(|name| (name, None)).collect()) };
        let mut by_commit: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in names {
            if let Some((commit, _)) = split(&name) {
                by_commit.entry(commit.to_owned()).or_default().push(name);
            }
        }
        if by_commit.is_empty() {
            console.note(&format!("no baseline yet: {}", branch.label()));
            return Ok(Vec::new());
        }
        let found = github::ancestors(branch.api(), event, MOST, |sha| by_commit.contains_key(sha)).map_err(|error| refused(&error))?;
        match found.first() {
            Some(nearest) => console.note(&format!(
                "baseline: commit {}, {}",
                nearest.sha.get(..12).unwrap_or(&nearest.sha),
                apart(nearest.distance, event.is_default_branch())
            )),
            None => console.note(&format!("no baseline: none of {} belongs to an ancestor of this commit", branch.label())),
        }
        let with_distance = |ancestor: &github::Ancestor| {
            let names = by_commit.get(&ancestor.sha).cloned().unwrap_or_default();
            names.into_iter().map(|name| (name, Some(ancestor.distance))).collect::<Vec<_>>()
        };
        Ok(found.iter().flat_map(with_distance).take(MOST).collect())
    }

    /// A distance in words.
    pub(super) fn words(&self, distance: usize) -> String {
        apart(distance, matches!(self, Self::Branch { event, .. } if event.is_default_branch()))
    }
}

fn apart(distance: usize, on_default_branch: bool) -> String {
    let from = if on_default_branch { "this commit" } else { "the merge base" };
    match distance {
        0 => format!("which is {from}"),
        1 => format!("1 commit before {from}"),
        _ => format!("{distance} commits before {from}"),
    }
}

/// The commit and the run's own name of a stored file on a branch.
pub(super) fn split(name: &str) -> Option<(&str, &str)> {
    let (commit, rest) = name.split_once('-')?;
    (matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| b.is_ascii_hexdigit())).then_some((commit, rest))
}
