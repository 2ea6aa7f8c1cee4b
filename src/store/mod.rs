//! Bytes at rest: bounded reads, confined paths, atomic replacement, folders of named files. It does not know what bytes mean.

mod confine;
mod error;
mod folder;
mod place;
mod presets;
mod run_file;

pub use confine::confine;
pub use error::StoreError;
pub use folder::Folder;
pub use place::Place;
pub use presets::{PRESETS, preset};
pub use run_file::RunFile;

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

/// The most bytes of a file of pairs or prompts that is read.
pub const DATA_LIMIT: u64 = 256 << 20;
/// The most bytes of a run file that is read.
pub const RUN_LIMIT: u64 = 4 << 30;
/// The most bytes of a spec that is read; a little over what the spec room accepts, so that it can say so itself.
pub const SPEC_LIMIT: u64 = 1 << 20;

/// Reads a whole file of at most `limit` bytes. Devices, pipes and folders are refused.
///
/// # Errors
/// Where it cannot be read, is no plain file, or is longer.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let wrap = |source| StoreError::Read { path: path.to_owned(), source };
    // Asked before it is opened: opening a pipe would wait for somebody to write into it.
    if !fs::metadata(path).map_err(wrap)?.is_file() {
        return Err(StoreError::NoFile { path: path.to_owned() });
    }
    let file = fs::File::open(path).map_err(wrap)?;
    read_bounded(file, limit, path)
}

/// Reads standard input to its end, at most `limit` bytes.
///
/// # Errors
/// Where it cannot be read or is longer.
pub fn read_stdin(limit: u64) -> Result<Vec<u8>, StoreError> {
    read_bounded(std::io::stdin().lock(), limit, Path::new("-"))
}

fn read_bounded(reader: impl Read, limit: u64, path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes).map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Replaces `folder/name` in one step: a reader sees the old bytes or the new ones, never a part.
///
/// # Errors
/// Where the folder cannot be made or written to.
pub fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let path = folder.join(name);
    let wrap = |source| StoreError::Write { path: path.clone(), source };
    fs::create_dir_all(folder).map_err(wrap)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(wrap)?;
    file.write_all(bytes).map_err(wrap)?;
    share(file.as_file()).map_err(wrap)?;
    file.persist(&path).map_err(|error| wrap(error.error))?;
    Ok(())
}

/// Temporary files are private to their owner; what is published has the mode of any other new file.
#[cfg(unix)]
fn share(file: &fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn share(_: &fs::File) -> std::io::Result<()> {
    Ok(())
}

/// A folder for outputs that nobody else writes to while this is held.
#[derive(Debug)]
pub struct Out {
    _lock: Option<fs::File>,
}

/// Makes `folder`, proves that it can be written to, so that a bad path fails before any load, and keeps other processes of this
/// tool out of it.
///
/// # Errors
/// Where it cannot be made or written to, or another process writes to it now.
pub fn open_out(folder: &Path) -> Result<Out, StoreError> {
    let wrap = |source| StoreError::Write { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(wrap)?;
    tempfile::NamedTempFile::new_in(folder).map_err(wrap)?;
    // The folder itself carries the lock, so that no lock file is left. Where a system cannot lock folders, nothing is locked.
    let lock = fs::File::open(folder).ok();
    match lock.as_ref().map(fs::File::try_lock) {
        Some(Err(fs::TryLockError::WouldBlock)) => Err(StoreError::Busy { path: folder.to_owned() }),
        _ => Ok(Out { _lock: lock }),
    }
}

/// Removes `folder/name` where it exists.
///
/// # Errors
/// Where it exists and cannot be removed.
pub fn remove(folder: &Path, name: &str) -> Result<(), StoreError> {
    let path = folder.join(name);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(StoreError::Write { path, source }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
