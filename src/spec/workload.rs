//! `workload`: what is sent.

use std::path::PathBuf;
use std::time::Duration;

/// What is sent: one or several parts by share.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// At least one; an unnamed workload is one part without a name.
    pub parts: Vec<Part>,
}

/// One kind of traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name, where the workload is a list.
    pub name: Option<String>,
    /// Its share of the requests; the shares of all parts sum to 1.
    pub share: f64,
    /// How long prompts and answers are.
    pub lengths: Lengths,
    /// What the prompts say.
    pub prompts: Prompts,
    /// Longer pairs are dropped, in tokens.
    pub max_input: Option<u64>,
    /// Longer pairs are dropped, in tokens.
    pub max_output: Option<u64>,
    /// Whether exactly that many tokens are asked for.
    pub exact_output: ExactOutput,
    /// Turns a session.
    pub turns: Turns,
    /// From a turn's end to the next; `None`: as recorded, or at once.
    pub think: Option<Duration>,
    /// Tokens every prompt has in common.
    pub shared_prefix: u64,
    /// Offered prefix-cache reuse, a share of the input tokens.
    pub prefix_hit: f64,
    /// Groups of prompts, each with a shared beginning of its own.
    pub prefix_groups: u32,
    /// How unequal the groups are: group g is drawn in proportion to g^−zipf.
    pub zipf: f64,
}

/// How long prompts and answers are.
#[derive(Debug, Clone, PartialEq)]
pub enum Lengths {
    /// A bundled sample, by name.
    Bundled(String),
    /// Pairs from a file at or below the spec's folder: the path as written.
    File(PathBuf),
    /// Independent formulas.
    Formula {
        /// Input tokens.
        input: Distribution,
        /// Output tokens.
        output: Distribution,
    },
}

/// A formula for lengths, in tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Always N.
    Constant(u64),
    /// A to B, both in.
    Uniform(u64, u64),
    /// Normal, drawn again while below 1.
    Normal {
        /// Mean, tokens.
        mean: f64,
        /// Standard deviation, tokens.
        sd: f64,
    },
    /// Log-normal, by the mean and standard deviation of the lengths themselves.
    Lognormal {
        /// Mean, tokens.
        mean: f64,
        /// Standard deviation, tokens.
        sd: f64,
    },
}

/// What the prompts say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompts {
    /// Words that no other prompt of any run has in that order.
    Unique,
    /// Rows of a JSONL file at or below the spec's folder: the path as written.
    File(PathBuf),
}

/// `exact_output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactOutput {
    /// Where the probes showed that the server takes it.
    Auto,
    /// Always; counts that are off make the run invalid.
    Always,
    /// Never.
    Never,
}

/// Turns a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Turns {
    /// Always N; 1 is no session at all.
    Fixed(u32),
    /// Geometric with this mean.
    Geometric {
        /// The mean.
        mean: f64,
    },
}
