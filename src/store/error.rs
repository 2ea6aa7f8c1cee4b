//! What can go wrong with files.

use std::io;
use std::path::PathBuf;

/// A file that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It could not be read.
    #[error("could not read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It could not be written.
    #[error("could not write {}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder, device or pipe.
    #[error("{} is not a plain file", path.display())]
    NoFile {
        /// Which.
        path: PathBuf,
    },
    /// Longer than is read.
    #[error("{} is longer than {limit} bytes", path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
        /// The limit, bytes.
        limit: u64,
    },
    /// It already exists.
    #[error("{} exists already", path.display())]
    Exists {
        /// Which.
        path: PathBuf,
    },
    /// Another process writes there now.
    #[error("another goodput-gate writes to {} now", path.display())]
    Busy {
        /// Which folder.
        path: PathBuf,
    },
    /// A place elsewhere could not be used.
    #[error("could not use {place}: {why}")]
    Remote {
        /// Which.
        place: String,
        /// Why.
        why: String,
    },
    /// A path that a spec names lies outside of what the spec may reach.
    #[error("{} lies outside of the spec's folder", path.display())]
    Outside {
        /// As written.
        path: PathBuf,
    },
}

impl StoreError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path; it is taken from the working directory".to_owned()
            }
            Self::Read { .. } => "check that it exists and may be read".to_owned(),
            Self::Write { .. } => "check that the folder exists, may be written to, and has room".to_owned(),
            Self::NoFile { .. } => "give a plain file".to_owned(),
            Self::TooLarge { .. } => "give a shorter file".to_owned(),
            Self::Remote { .. } => "check the token, its permissions, and that GitHub answers".to_owned(),
            Self::Exists { .. } => "remove it first, or choose another name".to_owned(),
            Self::Busy { .. } => "give each its own folder with --out".to_owned(),
            Self::Outside { .. } => {
                "a spec may name files at or below its own folder; the caller releases others with `--allow-path DIR`".to_owned()
            }
        }
    }
}
