//! What the caller asked for, once flags and environment were read. Every command gets its part of it.

use crate::github::Context;
use crate::spec::Permissions;
use crate::units::Secret;
use std::path::PathBuf;
use std::time::Duration;

/// Which spec, and what it may reach.
#[derive(Debug, Clone, Default)]
pub struct SpecOptions {
    /// A file, `-`, or a preset's name.
    pub spec: String,
    /// What the caller allows it, and the flags that replace its values.
    pub permissions: Permissions,
    /// Folders that its files may lie in, besides its own.
    pub allow_paths: Vec<PathBuf>,
}

/// How the load is sent.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The API key.
    pub key: Option<Secret>,
    /// More headers; they may hold secrets.
    pub headers: Vec<(String, Secret)>,
    /// How long to wait until the target is ready.
    pub wait: Duration,
    /// Flags that changed something, as `flag=value`, secrets redacted; kept in the conditions.
    pub flags: Vec<String>,
    /// Whether the start-up probes are sent.
    pub calibrate: bool,
    /// Where the files go.
    pub out: PathBuf,
    /// Never ask.
    pub yes: bool,
    /// The baseline's side, where there is one.
    pub against: Option<Against>,
    /// The commit under test, where known.
    pub commit: Option<String>,
    /// The pull request under test, where known.
    pub pull_request: Option<u64>,
}

/// The deployment that serves the baseline, side by side with the target.
#[derive(Debug, Clone)]
pub struct Against {
    /// Its base URL; the caller named it.
    pub url: String,
    /// Its own API key; without one it gets the target's where its host was named for that.
    pub key: Option<Secret>,
    /// Whether the two share hardware and take turns.
    pub alternate: bool,
}

/// Which baseline.
#[derive(Debug, Clone, Default)]
pub struct BaselineOptions {
    /// `FILE`, `DIR`, `branch:NAME` or `none`; without it the default folder of the spec's name.
    pub from: Option<String>,
    /// Whose branch; empty where none is named.
    pub github: Context,
    /// A comparable one must be there.
    pub require: bool,
    /// Keep this run as one, once it passed.
    pub save: bool,
    /// Compare what is not comparable.
    pub force: bool,
}

/// Which spelling of a report goes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For a person at a terminal.
    #[default]
    Terminal,
    /// For a pull request.
    Markdown,
    /// One self-contained page.
    Html,
    /// verdict.json.
    Json,
    /// For CI systems' test views.
    Junit,
    /// The request lines of a run.
    Csv,
}
