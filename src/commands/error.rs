//! What stops a command: each kind chooses its exit code and says what to do.

use super::Exit;
use crate::client::{ClientError, TargetError};
use crate::plan::PlanError;
use crate::record::RecordError;
use crate::sim::SimError;
use crate::spec::SpecError;
use crate::store::StoreError;
use std::io;
use std::path::PathBuf;

/// What stops a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spec has problems, or names a host that was not allowed.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// A flag or argument that makes no sense here.
    #[error("{message}")]
    Usage {
        /// What.
        message: String,
        /// What to do.
        help: String,
    },
    /// A file that was named could not be read, before anything was sent.
    #[error("could not read what was asked for")]
    Input(#[source] StoreError),
    /// A file that was named is no run file.
    #[error("could not read the run {}", path.display())]
    Run {
        /// Which.
        path: PathBuf,
        /// Why.
        source: RecordError,
    },
    /// The spec cannot be planned.
    #[error("could not plan the load")]
    Plan(#[from] PlanError),
    /// The address of the simulated server is wrong.
    #[error("could not start the simulated server")]
    Sim(#[from] SimError),
    /// The simulated server could not listen.
    #[error("could not start the simulated server")]
    SimListen(#[source] io::Error),
    /// The client's settings are wrong.
    #[error("could not set up the client")]
    Client(#[from] ClientError),
    /// The target could not be used.
    #[error("could not use the target")]
    Target(#[source] Box<TargetError>),
    /// A baseline that was named or required cannot be used.
    #[error("could not use the baseline: {why}")]
    Baseline {
        /// Why, one line each.
        why: String,
        /// What to do.
        help: String,
    },
    /// The folder for the outputs cannot be written to; found before anything was sent.
    #[error("could not open the folder for the outputs")]
    Out(#[source] StoreError),
    /// An output could not be written.
    #[error("could not write an output")]
    Output(#[source] StoreError),
    /// The result could not be written to stdout.
    #[error("could not write to stdout")]
    Stdout(#[source] io::Error),
    /// Stopped by a signal.
    #[error("stopped by a signal")]
    Interrupted,
    /// The runtime could not be started.
    #[error("could not start the runtime")]
    Runtime(#[source] io::Error),
}

impl From<TargetError> for Error {
    fn from(error: TargetError) -> Self {
        Self::Target(Box::new(error))
    }
}

impl Error {
    /// A usage error.
    pub(super) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }

    /// What the process ends with.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Spec(SpecError::Problems(_))
            | Self::Usage { .. }
            | Self::Input(_)
            | Self::Run { .. }
            | Self::Plan(_)
            | Self::Sim(_)
            | Self::Client(_)
            | Self::Out(_) => Exit::Usage,
            Self::Spec(SpecError::HostRefused(_)) | Self::SimListen(_) => Exit::Target,
            Self::Target(error) if error.is_unusable() => Exit::Target,
            Self::Target(_) => Exit::Invalid,
            Self::Baseline { .. } => Exit::Baseline,
            Self::Output(_) | Self::Stdout(_) => Exit::Output,
            Self::Interrupted => Exit::Interrupted,
            Self::Runtime(_) => Exit::Bug,
        }
    }

    /// What to do about it; `None` where the message says it all.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Spec(_) | Self::Interrupted => None,
            Self::Usage { help, .. } | Self::Baseline { help, .. } => Some(help.clone()),
            Self::Input(error) | Self::Out(error) | Self::Output(error) => Some(error.help()),
            Self::Run { source, .. } => Some(source.help()),
            Self::Plan(error) => Some(error.help()),
            Self::Sim(error) => Some(error.help()),
            Self::SimListen(_) => Some("it listens on a free port of 127.0.0.1; is loopback there?".to_owned()),
            Self::Client(error) => Some(error.help()),
            Self::Target(error) => Some(error.help()),
            Self::Stdout(_) => Some("is the disk full?".to_owned()),
            Self::Runtime(_) => Some("are threads and file descriptors left on this machine?".to_owned()),
        }
    }
}
