//! The files through which a step tells GitHub Actions something. They are appended to, since other steps' lines may stand there.

use crate::store::StoreError;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;

/// The longest summary of a step, bytes. GitHub drops a longer one whole.
pub const SUMMARY_LIMIT: usize = 1 << 20;

/// Bytes that are left in the summary at `path`.
#[must_use]
pub fn summary_room(path: &Path) -> usize {
    let used = fs::metadata(path).map_or(0, |meta| usize::try_from(meta.len()).unwrap_or(usize::MAX));
    // One line break between what stands there and what comes.
    SUMMARY_LIMIT.saturating_sub(used).saturating_sub(2)
}

/// Adds `text` at the end of the step's summary.
///
/// # Errors
/// Where it cannot be written, or would no longer fit.
pub fn append_summary(path: &Path, text: &str) -> Result<(), StoreError> {
    if text.len() > summary_room(path) {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit: SUMMARY_LIMIT as u64 });
    }
    append(path, &format!("\n{text}\n"))
}

/// Adds outputs, each a name and a value.
///
/// # Errors
/// Where they cannot be written.
pub fn append_outputs(path: &Path, outputs: &[(&str, String)]) -> Result<(), StoreError> {
    let lines = outputs.iter().fold(String::new(), |all, (name, value)| all + &output(name, value));
    append(path, &lines)
}

/// One line; a value of several gets a delimiter that nobody can know before.
fn output(name: &str, value: &str) -> String {
    if !value.contains(['\n', '\r']) {
        return format!("{name}={value}\n");
    }
    let delimiter = format!("goodput_{:016x}{:016x}", RandomState::new().hash_one(name), RandomState::new().hash_one(value));
    format!("{name}<<{delimiter}\n{value}\n{delimiter}\n")
}

fn append(path: &Path, text: &str) -> Result<(), StoreError> {
    let wrap = |source| StoreError::Write { path: path.to_owned(), source };
    let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(wrap)?;
    file.write_all(text.as_bytes()).map_err(wrap)
}
