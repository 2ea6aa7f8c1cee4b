//! Runs side by side (`--against URL`): the baseline's side and its file.

use super::baselines::Chosen;
use super::source::Loaded as Source;
use super::{Against, BaselineOptions, Error, SpecOptions, judge, writer};
use crate::console::Console;
use crate::history;
use crate::plan::Plan;
use crate::record::{Conditions, Recording};
use crate::spec::{self, Spec};
use std::path::{Path, PathBuf};

/// The run file of the baseline's side, beside that of the candidate's.
pub(super) const FILE: &str = "run-baseline.jsonl.zst";
/// How the flag stands in a run's conditions.
pub(super) const FLAG: &str = "against=";

/// The other side of a stored `run` that was made side by side: the file that `options` name, else the one in the same folder. `None`
/// where the run is to be compared with stored runs; nothing to compare with where its other side is gone, for stored runs are not
/// used side by side.
///
/// `limits` are those that the run is judged by now.
pub(super) fn stored_side(
    (run, path): (&Recording, &Path),
    limits: &[String],
    options: &BaselineOptions,
    console: &Console,
) -> Result<Option<Chosen>, Error> {
    let named = options.from.as_deref().map(PathBuf::from);
    if named.is_none() && !run.conditions.flags.iter().any(|flag| flag.starts_with(FLAG)) {
        return Ok(None);
    }
    let is_named = named.is_some();
    let file = named.unwrap_or_else(|| path.with_file_name(FILE));
    if file.is_file() {
        let other = judge::read(&file, console);
        match other {
            Ok(other) if run.is_beside(&other) => {
                let judged = Conditions { limits: limits.to_vec(), ..run.conditions.clone() };
                return Ok(Some(chosen(&judged, other)));
            }
            Err(error) if !is_named => return Err(error),
            _ => {}
        }
    }
    if is_named {
        return Ok(None);
    }
    console.warn(&format!("this run was made side by side, and {} is not its other side", file.display()));
    Ok(Some(Chosen::default()))
}

/// The other side as what a run under `own` is compared with. What keeps the two from being comparable was forced.
fn chosen(own: &Conditions, other: Recording) -> Chosen {
    let forced = history::comparable(&other.conditions, own).iter().map(ToString::to_string).collect();
    Chosen { forced, ..Chosen::beside(other, own, Vec::new()) }
}

/// The spec, and what the caller allows it, with the baseline's URL in the place of its target. The URL comes from the command line, so
/// load may go there; secrets that were named for another host may not. The spec's `alias` speaks of the target alone.
pub(super) fn side(source: &Source, options: &SpecOptions, against: &Against) -> Result<(Spec, SpecOptions), Error> {
    let mut options = options.clone();
    options.permissions.against = Some(against.url.clone());
    let mut spec = spec::parse(&source.source, &options.permissions)?.spec;
    spec.target.alias = None;
    Ok((spec, options))
}

/// What both sides are sent, in one line.
pub(super) fn announcement(label: &str, plan: &Plan) -> String {
    let blocks: Vec<String> = plan
        .levels
        .iter()
        .filter(|level| level.takes_turns())
        .map(|level| {
            let info = &level.info;
            let size = info.round_requests.first().copied().unwrap_or(0);
            let place = if plan.levels.len() > 1 { format!("{}: ", info.label) } else { String::new() };
            format!("{place}{} pairs of blocks of {size} requests, each begun by {} that are not counted", info.rounds, info.lead)
        })
        .collect();
    if blocks.is_empty() {
        return format!("side by side with {label}: both get the full load at once; half of these requests each");
    }
    format!("in turns with {label} (A B B A): {}", blocks.join("; "))
}

/// What is known of the baseline's side before anything but probes was sent.
///
/// Fails where the sides are not comparable and nobody forced it.
pub(super) fn ahead(own: &Conditions, other: &Conditions, force: bool) -> Result<Chosen, Error> {
    let found = chosen(own, writer::empty(other.clone()));
    if found.forced.is_empty() || force {
        return Ok(found);
    }
    Err(Error::Baseline {
        why: format!("the two sides are not comparable\n  {}", found.forced.join("\n  ")),
        help: "serve the same model on both sides, name it with --model, or go on with --force".to_owned(),
    })
}
