//! What every place of named files can do, a folder here or a branch elsewhere.

use super::{Folder, StoreError};

/// A place of named files.
pub trait Place {
    /// Names of its files that end in `suffix`, in order; none where there is no such place yet.
    ///
    /// # Errors
    /// Where it is there and cannot be read.
    fn list(&self, suffix: &str) -> Result<Vec<String>, StoreError>;

    /// A file's bytes, at most `limit`.
    ///
    /// # Errors
    /// Where it cannot be read or is longer.
    fn get(&self, name: &str, limit: u64) -> Result<Vec<u8>, StoreError>;

    /// Puts a new file, whole or not at all, and tells where it is, for people.
    ///
    /// # Errors
    /// Where it exists, or cannot be written.
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<String, StoreError>;

    /// Removes a file.
    ///
    /// # Errors
    /// Where it cannot be removed.
    fn remove(&self, name: &str) -> Result<(), StoreError>;

    /// What people call it.
    fn label(&self) -> String;
}

impl Place for Folder {
    fn list(&self, suffix: &str) -> Result<Vec<String>, StoreError> {
        Self::list(self, suffix)
    }

    fn get(&self, name: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
        Self::get(self, name, limit)
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<String, StoreError> {
        Self::put_new(self, name, bytes).map(|path| path.display().to_string())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        Self::remove(self, name)
    }

    fn label(&self) -> String {
        self.path().display().to_string()
    }
}
