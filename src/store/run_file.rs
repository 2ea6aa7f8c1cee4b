//! A file that grows by whole pieces while a run goes on.

use super::StoreError;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file that grows by whole pieces. It is made, or emptied, by the first piece, so that nothing is lost before anything was measured.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    file: Option<File>,
}

impl RunFile {
    /// The file `folder/name`, not yet touched.
    #[must_use]
    pub fn at(folder: &Path, name: &str) -> Self {
        Self { path: folder.join(name), file: None }
    }

    /// The file `folder/name` as it stands, to be added to.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn more(folder: &Path, name: &str) -> Result<Self, StoreError> {
        let path = folder.join(name);
        let file = File::options().append(true).open(&path).map_err(|source| StoreError::Write { path: path.clone(), source })?;
        Ok(Self { path, file: Some(file) })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a piece at the end and hands it to the system.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn append(&mut self, piece: &[u8]) -> Result<(), StoreError> {
        let wrap = |source| StoreError::Write { path: self.path.clone(), source };
        let file = match self.file.as_mut() {
            Some(file) => file,
            None => self.file.insert(File::create(&self.path).map_err(wrap)?),
        };
        file.write_all(piece).and_then(|()| file.flush()).map_err(wrap)
    }

    /// Waits until the disk has it.
    ///
    /// # Errors
    /// Where the disk does not take it.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        match &self.file {
            Some(file) => file.sync_all().map_err(|source| StoreError::Write { path: self.path.clone(), source }),
            None => Ok(()),
        }
    }
}
