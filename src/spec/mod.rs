//! The spec: text in, a checked [`Spec`] out, or every problem of it at once.

mod expand;
mod explain;
mod grammar;
mod indent;
mod issue;
mod keys;
mod lint;
mod load;
mod overrides;
mod parse;
mod permissions;
mod place;
mod quantity;
mod raw;
mod read_load;
mod read_slo;
mod read_target;
mod read_workload;
mod reference;
mod rule;
mod schema;
mod schema_lines;
mod slo;
mod target;
mod workload;
mod yaml;

#[cfg(test)]
mod tests;

pub use explain::explain;
pub use issue::{Issue, Problems, Severity, Source, SpecError};
pub use lint::{files, needs_rules, needs_target};
pub use parse::{Checked, parse, parse_what_if};
pub use permissions::{Overrides, Permissions, is_link_local, is_loopback, link_local};
pub use reference::{keys_table, metrics_table};
pub use schema::schema;

pub use load::{Arrival, Load, Offered, RoundLength, Rounds, WarmUp};
pub use rule::{Cmp, Condition, Constraint, Field, Limit, Rule, RuleKind, Test};
pub use slo::{Confidence, OnInconclusive, Slo};
pub use target::{ApiChoice, Hardware, MetricsChoice, Target, TargetUrl, Timeouts};
pub use workload::{Distribution, ExactOutput, Lengths, Part, Prompts, Turns, Workload};

use std::time::Duration;

/// A checked spec with every default filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// `[a-z0-9-]`, at most 64 characters; names the baseline too.
    pub name: String,
    /// What the service is for; picks advice, no numbers.
    pub use_case: Option<String>,
    /// Where the load goes; `None` where the spec names no URL (enough for `judge`).
    pub target: Target,
    /// What is sent.
    pub workload: Workload,
    /// How much is sent; `None` where the spec names neither concurrency nor rate (enough for `judge`).
    pub load: Load,
    /// What must hold.
    pub slo: Slo,
    /// Bucket edges, in tokens.
    pub buckets: Buckets,
    /// The largest start lag or loop lag P99 of a valid run.
    pub client_lag: Duration,
    /// Where to stop.
    pub budget: Budget,
    /// SHA-256 of the text, in hex.
    pub digest: String,
}

/// Inner edges of the length buckets, ascending, in tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    /// For metrics by input length; default 1,024 and 8,192.
    pub input: Vec<u64>,
    /// For e2e by output length; default 300 and 1,000.
    pub output: Vec<u64>,
}

/// Where to stop; a reached budget ends the run cleanly.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// Wall time of the load.
    pub time: Option<Duration>,
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Cost in the units of the prices given.
    pub cost: Option<f64>,
}
