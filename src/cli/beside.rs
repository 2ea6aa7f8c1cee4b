//! Two sides: `check --against` and `compare`.

use super::environment;
use super::sending::{Allow, without_credentials};
use crate::commands::{Against, Compare, Error, Format, LoadOptions};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct AgainstArgs {
    /// Judge changes side by side with the baseline that this URL serves, in place of stored runs: both get the full load at once, and
    /// rounds are compared in pairs. For two deployments on hardware of their own.
    #[arg(long, value_name = "URL", conflicts_with_all = ["baseline", "require_baseline", "save_baseline"])]
    against: Option<String>,
    /// The variable that holds the API key for --against. Without it the target's key goes there only where scheme, host and port are
    /// those of --endpoint or of an --allow-host, and so do --header values in any case.
    #[arg(long, value_name = "NAME", requires = "against")]
    against_api_key_env: Option<String>,
    /// For two deployments that share hardware: load them in turns, block by block (A B B A), never both at once.
    #[arg(long, requires = "against")]
    alternate: bool,
}

impl AgainstArgs {
    /// Adds what was asked for to `load`, and to the flags that its conditions keep.
    pub(super) fn apply(&self, load: &mut LoadOptions) -> Result<(), Error> {
        let Some(url) = &self.against else { return Ok(()) };
        let key = match &self.against_api_key_env {
            Some(name) => environment::key(Some(name))?,
            None => None,
        };
        load.flags.push(format!("against={}", without_credentials(url)));
        load.flags.extend(self.alternate.then(|| "alternate=true".to_owned()));
        load.against = Some(Against { url: url.clone(), key, alternate: self.alternate });
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// The run that is compared with.
    base: PathBuf,
    /// The run in question.
    candidate: PathBuf,
    /// Compare by this spec's `regression` rules; without it by the usual figures, 10 % (goodput and errors 2 pp) each.
    #[arg(long)]
    spec: Option<String>,
    /// Exit 11 where a rule fails, 6 where the measurement may not be judged.
    #[arg(long)]
    fail: bool,
    /// Compare although the conditions differ; the report says so.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    allow: Allow,
    /// The reports go to `compare` in this folder.
    #[arg(long, value_name = "DIR", default_value = "goodput-out")]
    out: PathBuf,
    /// What goes to stdout.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl CompareArgs {
    pub(super) fn request(&self) -> Compare {
        Compare {
            base: self.base.clone(),
            candidate: self.candidate.clone(),
            spec: self.spec.as_ref().map(|spec| self.allow.options(spec, true)),
            fail: self.fail,
            force: self.force,
            out: self.out.clone(),
            format: self.format,
        }
    }
}
