//! `baseline` and its actions.

use super::args::BaselineArgs;
use super::environment;
use super::sending::Allow;
use crate::commands::{Baseline, BaselineOptions, Error};
use crate::github::Context;
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(super) enum BaselineAction {
    /// Keep a run that passes.
    Save {
        /// The run file.
        run: PathBuf,
        /// The spec to judge it by.
        #[arg(long)]
        spec: String,
        #[command(flatten)]
        baseline: BaselineArgs,
        #[command(flatten)]
        allow: Allow,
    },
    /// Keep a run whatever its verdict.
    Accept {
        /// The run file.
        run: PathBuf,
        /// Why; kept with it.
        #[arg(long)]
        reason: String,
        /// Its folder or `branch:NAME`, in place of `.goodput/baselines/NAME`.
        #[arg(long)]
        dir: Option<String>,
    },
    /// Name the stored runs.
    List {
        /// The spec's `name`.
        name: String,
        /// Their folder or `branch:NAME`, in place of `.goodput/baselines/NAME`.
        #[arg(long)]
        dir: Option<String>,
    },
    /// Show one, or the newest.
    Show {
        /// The spec's `name`.
        name: String,
        /// Its run id.
        run: Option<String>,
        /// Their folder or `branch:NAME`, in place of `.goodput/baselines/NAME`.
        #[arg(long)]
        dir: Option<String>,
    },
    /// Remove one.
    Rm {
        /// The spec's `name`.
        name: String,
        /// Its run id.
        run: String,
        /// Their folder or `branch:NAME`, in place of `.goodput/baselines/NAME`.
        #[arg(long)]
        dir: Option<String>,
    },
}

impl BaselineAction {
    pub(super) fn request(self) -> Result<Baseline, Error> {
        Ok(match self {
            Self::Save { run, spec, baseline, allow } => {
                Baseline::Save { run, spec: Box::new(allow.options(&spec, true)), baseline: baseline.options(false, false) }
            }
            Self::Accept { run, reason, dir } => Baseline::Accept { run, reason, at: stored_at(dir) },
            Self::List { name, dir } => Baseline::List { name, at: stored_at(dir) },
            Self::Show { name, run, dir } => Baseline::Show { name, run, at: stored_at(dir) },
            Self::Rm { name, run, dir } => Baseline::Rm { name, run, at: stored_at(dir) },
        })
    }
}

/// Where stored runs lie; GitHub's variables are read only where a branch is named.
pub(super) fn stored_at(from: Option<String>) -> BaselineOptions {
    let on_branch = from.as_deref().is_some_and(|from| from.starts_with("branch:"));
    let github = if on_branch { environment::github() } else { Context::default() };
    BaselineOptions { from, github, ..BaselineOptions::default() }
}
