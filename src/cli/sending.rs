//! What the commands share that reach out: what a spec may reach, and how load is sent.

use super::environment;
use crate::commands::{Error, Format, LoadOptions, SpecOptions};
use crate::spec::{Overrides, Permissions};
use crate::units::Secret;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct Allow {
    /// Let the spec name this host: `https://host:port` or `host`.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Let the spec use this variable.
    #[arg(long, value_name = "NAME")]
    allow_env: Vec<String>,
    /// Let the spec's files lie in this folder too.
    #[arg(long, value_name = "DIR")]
    allow_path: Vec<PathBuf>,
    /// Replace a value of the spec: a dotted key and a YAML value; `slo.regression=[]` switches a list off.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
}

impl Allow {
    pub(super) fn options(&self, spec: &str, sends_nothing: bool) -> SpecOptions {
        SpecOptions {
            spec: spec.to_owned(),
            permissions: Permissions {
                allow_hosts: self.allow_host.clone(),
                allow_env: self.allow_env.clone(),
                env: environment::visible(&self.allow_env),
                github_actions: environment::is_github_actions(),
                sends_nothing,
                overrides: Overrides { set: self.set.clone(), ..Overrides::default() },
                ..Permissions::default()
            },
            allow_paths: self.allow_path.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Sending {
    /// A spec file, `-` for standard input, or the name of a bundled preset; a file wins.
    spec: String,
    /// The target's base URL, in place of `target.url`: `http://…/v1` or `sim://…`.
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// In place of `target.model`.
    #[arg(long)]
    model: Option<String>,
    /// In place of `target.api`.
    #[arg(long)]
    api: Option<String>,
    /// In place of `load.concurrency`.
    #[arg(long, value_name = "N", conflicts_with = "rate")]
    concurrency: Option<u64>,
    /// In place of `load.rate`: `12/s`.
    #[arg(long)]
    rate: Option<String>,
    /// In place of `load.rounds`.
    #[arg(long)]
    rounds: Option<String>,
    /// In place of `load.seed`.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    allow: Allow,
    /// The variable that holds the API key, in place of GOODPUT_API_KEY.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Send this header too; it may hold a secret.
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<Secret>,
    /// Wait up to this long until the target is ready: `120s`.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time)]
    wait: Duration,
    /// Send no start-up probes; prompt lengths are then approximate.
    #[arg(long)]
    no_calibrate: bool,
    /// Where the files go.
    #[arg(long, value_name = "DIR", default_value = "goodput-out")]
    out: PathBuf,
    /// Never ask.
    #[arg(long)]
    yes: bool,
    /// What goes to stdout.
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Format,
}

impl Sending {
    pub(super) fn spec(&self) -> SpecOptions {
        let mut options = self.allow.options(&self.spec, false);
        options.permissions.endpoint.clone_from(&self.endpoint);
        options.permissions.overrides = Overrides {
            model: self.model.clone(),
            api: self.api.clone(),
            concurrency: self.concurrency,
            rate: self.rate.clone(),
            rounds: self.rounds.clone(),
            seed: self.seed,
            ..options.permissions.overrides
        };
        options
    }

    pub(super) fn load(&self) -> Result<LoadOptions, Error> {
        Ok(LoadOptions {
            key: environment::key(self.api_key_env.as_deref())?,
            headers: self.header.iter().map(header).collect::<Result<_, _>>()?,
            wait: self.wait,
            flags: self.flags(),
            calibrate: !self.no_calibrate,
            out: self.out.clone(),
            yes: self.yes,
            against: None,
            commit: environment::commit(),
            pull_request: environment::pull_request(),
        })
    }

    /// What was set by flag, as it is kept in the conditions. A URL's user and password are no part of it, nor is a header's value.
    pub(super) fn flags(&self) -> Vec<String> {
        let endpoint = self.endpoint.as_deref().map(without_credentials);
        let mut flags = Vec::new();
        let mut keep = |name: &str, value: Option<String>| flags.extend(value.map(|value| format!("{name}={value}")));
        keep("endpoint", endpoint);
        keep("model", self.model.clone());
        keep("api", self.api.clone());
        keep("concurrency", self.concurrency.map(|n| n.to_string()));
        keep("rate", self.rate.clone());
        keep("rounds", self.rounds.clone());
        keep("seed", self.seed.map(|n| n.to_string()));
        for (key, value) in &self.allow.set {
            keep("set", Some(format!("{key}={value}")));
        }
        for (name, _) in self.header.iter().filter_map(|text| header(text).ok()) {
            keep("header", Some(format!("{name}: ***")));
        }
        keep("no-calibrate", self.no_calibrate.then(|| "true".to_owned()));
        flags
    }
}

/// A URL without user and password; the address of a simulated server as it stands.
pub(super) fn without_credentials(text: &str) -> String {
    match url::Url::parse(text) {
        Ok(url) if url.scheme() != "sim" => url.origin().ascii_serialization(),
        _ => text.to_owned(),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| "write KEY=VALUE".to_owned())
}

/// A header's name and value. The message holds nothing of the text, which may be a secret.
fn header(text: &Secret) -> Result<(String, Secret), Error> {
    let (name, value) = text
        .reveal()
        .split_once(':')
        .ok_or_else(|| Error::Usage { message: "a --header has no colon".to_owned(), help: "write --header 'NAME: VALUE'".to_owned() })?;
    Ok((name.trim().to_ascii_lowercase(), Secret::new(value.trim().to_owned())))
}

fn time(text: &str) -> Result<Duration, String> {
    let parsed: jiff::SignedDuration = text.parse().map_err(|_| "write it with its unit: 90s, 5m".to_owned())?;
    Duration::try_from(parsed).map_err(|_| "a time cannot be negative".to_owned())
}
