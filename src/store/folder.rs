//! A folder of named files.

use super::{StoreError, read};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of named files. Nothing is made until something is put.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`, which need not exist.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of its files that end in `suffix`, in order; none where the folder does not exist. Hidden files are left out.
    ///
    /// # Errors
    /// Where it exists and cannot be read.
    pub fn list(&self, suffix: &str) -> Result<Vec<String>, StoreError> {
        let wrap = |source| StoreError::Read { path: self.path.clone(), source };
        let entries = match fs::read_dir(&self.path) {
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(wrap)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(wrap)?.file_name().to_string_lossy().into_owned();
            if name.ends_with(suffix) && !name.starts_with('.') {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// A file's bytes, at most `limit`.
    ///
    /// # Errors
    /// Where it cannot be read or is longer.
    pub fn get(&self, name: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
        read(&self.path.join(name), limit)
    }

    /// Puts a new file, whole or not at all; an existing one is never overwritten.
    ///
    /// # Errors
    /// Where it exists, or cannot be written.
    pub fn put_new(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        let wrap = |source| StoreError::Write { path: path.clone(), source };
        fs::create_dir_all(&self.path).map_err(wrap)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.path).map_err(wrap)?;
        file.write_all(bytes).map_err(wrap)?;
        file.as_file().sync_all().map_err(wrap)?;
        super::share(file.as_file()).map_err(wrap)?;
        file.persist_noclobber(&path).map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => StoreError::Exists { path: path.clone() },
            _ => wrap(error.error),
        })?;
        Ok(path)
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Where it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path.join(name);
        fs::remove_file(&path).map_err(|source| StoreError::Write { path, source })
    }
}
