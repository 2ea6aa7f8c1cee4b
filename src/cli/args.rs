//! The command line.

use super::beside::{AgainstArgs, CompareArgs};
use super::environment;
use super::searching::CapacityArgs;
use super::sending::{Allow, Sending};
use super::stored::{BaselineAction, stored_at};
use crate::commands::{
    BaselineOptions, Check, CommentWhen, EXITS, Error, Format, GithubOptions, Judge, Planning, Run, Show, Simulate, Validate,
};
use crate::console::ColorChoice;
use crate::spec::Overrides;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

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
    /// The highest load that still meets the SLO, the knee, the goodput peak beside the throughput peak.
    Capacity(CapacityArgs),
    /// A verdict from recorded runs; sends nothing.
    Judge(JudgeArgs),
    /// Two stored runs side by side.
    Compare(CompareArgs),
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
    against: AgainstArgs,
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
    pub(super) fn options(&self, require: bool, save: bool) -> BaselineOptions {
        BaselineOptions { require, save, force: self.force, ..stored_at(self.baseline.clone()) }
    }
}

impl CheckArgs {
    pub(super) fn request(&self) -> Result<Check, Error> {
        let mut load = self.sending.load()?;
        self.against.apply(&mut load)?;
        Ok(Check {
            spec: self.sending.spec(),
            load,
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

/// A price, 0 or more.
fn price(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0).ok_or_else(|| "write a number of at least 0".to_owned())
}

/// `20%` as a fraction.
fn per_cent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    number.filter(|number| *number > 0.0 && *number < 1000.0).map(|number| number / 100.0).ok_or_else(|| "write it as 20%".to_owned())
}
