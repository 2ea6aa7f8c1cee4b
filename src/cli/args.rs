//! The command line.

use super::environment;
use crate::commands::{
    Baseline, BaselineOptions, Check, CommentWhen, EXITS, Error, Format, GithubOptions, Judge, LoadOptions, Planning, Run, Show, Simulate,
    SpecOptions, Validate,
};
use crate::console::ColorChoice;
use crate::github::Context;
use crate::spec::{Overrides, Permissions};
use crate::units::Secret;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A CI/CD gate over LLM serving goodput: one YAML spec, a measured endpoint, a verdict.
#[derive(Debug, Parser)]
#[command(name = "goodput-gate", version, after_help = exit_codes(), max_term_width = 110)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Colour the output.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub color: ColorChoice,
    /// No progress and no notes; warnings and errors stay.
    #[arg(long, global = true)]
    pub quiet: bool,
}

fn exit_codes() -> String {
    EXITS.iter().fold("Exit codes:\n".to_owned(), |text, (exit, meaning)| format!("{text}  {:>3}  {meaning}\n", exit.code()))
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The main job: load, measure, compare with the baseline, judge, report.
    Check(CheckArgs),
    /// Measure only; writes a run file.
    Run(RunArgs),
    /// A verdict from recorded runs; sends nothing.
    Judge(JudgeArgs),
    /// What a check would send, how long it takes, what it costs, and what it can decide; sends nothing.
    Plan(PlanArgs),
    /// Prove that this build can block: made runs that must give 0, 6, 10 and 11.
    Selftest,
    /// The store of runs that later ones are compared with.
    Baseline {
        #[command(subcommand)]
        action: BaselineAction,
    },
    /// A stored run in any spelling.
    Report(ReportArgs),
    /// Check specs; every problem at its place.
    Validate(ValidateArgs),
    /// The simulated server alone, on a loopback port.
    Simulate(SimulateArgs),
    /// The bundled workloads: percentiles, sources, licences.
    Workloads {
        /// Only this one.
        name: Option<String>,
    },
    /// JSON Schemas, for editors and scripts.
    Schema {
        /// Which.
        #[arg(value_enum, default_value_t)]
        of: SchemaOf,
    },
    /// Shell completions.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// The man page.
    Man,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum SchemaOf {
    #[default]
    Spec,
    Verdict,
}

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
    fn options(&self, spec: &str, sends_nothing: bool) -> SpecOptions {
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
    format: Format,
}

impl Sending {
    fn spec(&self) -> SpecOptions {
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

    fn load(&self) -> Result<LoadOptions, Error> {
        Ok(LoadOptions {
            key: environment::key(self.api_key_env.as_deref())?,
            headers: self.header.iter().map(header).collect::<Result<_, _>>()?,
            wait: self.wait,
            flags: self.flags(),
            calibrate: !self.no_calibrate,
            out: self.out.clone(),
            yes: self.yes,
            commit: environment::commit(),
            pull_request: environment::pull_request(),
        })
    }

    /// What was set by flag, as it is kept in the conditions. A URL's user and password are no part of it, nor is a header's value.
    fn flags(&self) -> Vec<String> {
        let endpoint = self.endpoint.as_deref().map(|text| match url::Url::parse(text) {
            Ok(url) if url.scheme() != "sim" => url.origin().ascii_serialization(),
            _ => text.to_owned(),
        });
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

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    sending: Sending,
    #[command(flatten)]
    baseline: BaselineArgs,
    /// Exit 5 unless a comparable baseline is there.
    #[arg(long)]
    require_baseline: bool,
    /// Keep this run as a baseline if it passes, or if it is the first of a spec that only compares (exit 5: nothing was judged). All
    /// of its rounds are sent.
    #[arg(long)]
    save_baseline: bool,
    /// Send every round, even when an earlier look would decide.
    #[arg(long)]
    no_early_stop: bool,
    #[command(flatten)]
    github: GithubArgs,
}

#[derive(Debug, Args)]
pub(super) struct GithubArgs {
    /// Report to GitHub, too: comment, step summary, outputs, annotations, commit status. Where, GitHub Actions' variables tell.
    #[arg(long)]
    github: bool,
    /// When the pull request gets a comment.
    #[arg(long, value_enum, default_value_t, requires = "github")]
    github_comment: CommentWhen,
}

impl GithubArgs {
    fn options(&self) -> Option<GithubOptions> {
        self.github.then(|| GithubOptions { context: environment::github(), comment: self.github_comment })
    }
}

#[derive(Debug, Args)]
pub(super) struct BaselineArgs {
    /// A stored run, a folder of them, a data branch of the repository on GitHub (`branch:` is goodput-gate-data), or `none`; by
    /// default `.goodput/baselines/NAME`.
    #[arg(long, value_name = "FILE|DIR|branch:NAME|none")]
    baseline: Option<String>,
    /// Compare although the conditions differ; the report says so.
    #[arg(long)]
    force: bool,
}

impl BaselineArgs {
    fn options(&self, require: bool, save: bool) -> BaselineOptions {
        BaselineOptions { require, save, force: self.force, ..stored_at(self.baseline.clone()) }
    }
}

impl CheckArgs {
    pub(super) fn request(&self) -> Result<Check, Error> {
        Ok(Check {
            spec: self.sending.spec(),
            load: self.sending.load()?,
            baseline: self.baseline.options(self.require_baseline, self.save_baseline),
            early_stop: !self.no_early_stop,
            format: self.sending.format,
            github: self.github.options(),
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    sending: Sending,
}

impl RunArgs {
    pub(super) fn request(&self) -> Result<Run, Error> {
        Ok(Run { spec: self.sending.spec(), load: self.sending.load()?, format: self.sending.format })
    }
}

#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    /// The run files.
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// The spec to judge by.
    #[arg(long)]
    spec: String,
    #[command(flatten)]
    baseline: BaselineArgs,
    /// One stored run to compare with, in place of --baseline.
    #[arg(long, value_name = "RUN", conflicts_with = "baseline")]
    against: Option<PathBuf>,
    /// Exit 5 unless a comparable baseline is there.
    #[arg(long)]
    require_baseline: bool,
    /// Show goodput under this constraint in place of the spec's: 'tpot <= 15ms'.
    #[arg(long, value_name = "CONSTRAINT")]
    what_if: Vec<String>,
    /// Show the other convention of TPOT beside ours.
    #[arg(long, value_enum, default_value_t)]
    conventions: Conventions,
    #[command(flatten)]
    allow: Allow,
    /// Where the files go.
    #[arg(long, value_name = "DIR", default_value = "goodput-out")]
    out: PathBuf,
    /// What goes to stdout.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    github: GithubArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Conventions {
    #[default]
    Ours,
    Both,
}

impl JudgeArgs {
    pub(super) fn request(&self) -> Result<Judge, Error> {
        let mut baseline = self.baseline.options(self.require_baseline, false);
        if let Some(against) = &self.against {
            baseline.from = Some(against.display().to_string());
        }
        Ok(Judge {
            runs: self.runs.clone(),
            spec: self.allow.options(&self.spec, true),
            baseline,
            what_if: self.what_if.clone(),
            both_conventions: self.conventions == Conventions::Both,
            out: self.out.clone(),
            format: self.format,
            github: self.github.options(),
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// A spec file, `-` for standard input, or the name of a bundled preset; a file wins.
    spec: String,
    #[command(flatten)]
    baseline: BaselineArgs,
    /// The price of a million input tokens.
    #[arg(long, value_name = "PRICE", value_parser = price)]
    price_in: Option<f64>,
    /// The price of a million output tokens.
    #[arg(long, value_name = "PRICE", value_parser = price)]
    price_out: Option<f64>,
    /// Say how many rounds would find this regression: `20%`.
    #[arg(long, value_name = "CHANGE", value_parser = per_cent)]
    detect: Option<f64>,
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
}

impl PlanArgs {
    pub(super) fn request(&self) -> Result<Planning, Error> {
        let mut spec = self.allow.options(&self.spec, true);
        spec.permissions.overrides = Overrides {
            concurrency: self.concurrency,
            rate: self.rate.clone(),
            rounds: self.rounds.clone(),
            seed: self.seed,
            ..spec.permissions.overrides
        };
        Ok(Planning {
            spec,
            baseline: self.baseline.options(false, false),
            price_in: self.price_in,
            price_out: self.price_out,
            detect: self.detect,
        })
    }
}

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

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The run file.
    run: PathBuf,
    /// Judge it by this spec, too.
    #[arg(long)]
    spec: Option<String>,
    #[command(flatten)]
    allow: Allow,
    /// Show the other convention of TPOT beside ours.
    #[arg(long, value_enum, default_value_t)]
    conventions: Conventions,
    /// What goes to stdout.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl ReportArgs {
    pub(super) fn request(&self) -> Result<Show, Error> {
        Ok(Show {
            run: self.run.clone(),
            spec: self.spec.as_ref().map(|spec| self.allow.options(spec, true)),
            format: self.format,
            both_conventions: self.conventions == Conventions::Both,
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    /// Spec files, `-`, or presets' names.
    #[arg(required = true)]
    specs: Vec<String>,
    /// Print every key with its value, and whether it is a default.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    allow: Allow,
}

impl ValidateArgs {
    pub(super) fn request(&self) -> Result<Validate, Error> {
        Ok(Validate { specs: self.specs.iter().map(|spec| self.allow.options(spec, true)).collect(), explain: self.explain })
    }
}

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// What to simulate.
    #[arg(default_value = "sim://steady?ttft=200ms&tpot=20ms")]
    profile: String,
    /// Where to listen; loopback only. Port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

impl SimulateArgs {
    pub(super) fn request(&self) -> Simulate {
        Simulate { profile: self.profile.clone(), listen: self.listen }
    }
}

/// Where stored runs lie; GitHub's variables are read only where a branch is named.
fn stored_at(from: Option<String>) -> BaselineOptions {
    let on_branch = from.as_deref().is_some_and(|from| from.starts_with("branch:"));
    let github = if on_branch { environment::github() } else { Context::default() };
    BaselineOptions { from, github, ..BaselineOptions::default() }
}

/// A price, 0 or more.
fn price(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0).ok_or_else(|| "write a number of at least 0".to_owned())
}

/// `20%` as a fraction.
fn per_cent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    number.filter(|number| *number > 0.0 && *number < 1000.0).map(|number| number / 100.0).ok_or_else(|| "write it as 20%".to_owned())
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
