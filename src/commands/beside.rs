//! Runs side by side (`--against URL`): the baseline's side and its file.

use super::baselines::Chosen;
use super::{BaselineOptions, Error, judge};
use crate::console::Console;
use crate::history;
use crate::record::Recording;
use std::path::{Path, PathBuf};

/// The run file of the baseline's side, beside that of the candidate's.
pub(super) const FILE: &str = "run-baseline.jsonl.zst";
/// How the flag stands in a run's conditions.
pub(super) const FLAG: &str = "against=";

/// The other side of a stored `run` that was made side by side: the file that `options` name, else the one in the same folder. `None`
/// where the run is to be compared with stored runs; nothing to compare with where its other side is gone, for stored runs are not
/// used side by side.
pub(super) fn stored_side(run: &Recording, path: &Path, options: &BaselineOptions, console: &Console) -> Result<Option<Chosen>, Error> {
    let named = options.from.as_deref().map(PathBuf::from);
    if named.is_none() && !run.conditions.flags.iter().any(|flag| flag.starts_with(FLAG)) {
        return Ok(None);
    }
    let is_named = named.is_some();
    let file = named.unwrap_or_else(|| path.with_file_name(FILE));
    if file.is_file() {
        let other = judge::read(&file, console);
        match other {
            Ok(other) if run.is_beside(&other) => return Ok(Some(chosen(run, other))),
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

/// The other side as what `run` is compared with.
pub(super) fn chosen(run: &Recording, other: Recording) -> Chosen {
    let differences = history::comparable(&other.conditions, &run.conditions).iter().map(ToString::to_string).collect();
    Chosen::beside(other, &run.conditions, differences)
}
