//! What a reader of the plan should know before trusting what it measures.

use super::error::{at_lines, in_part};
use std::fmt;
use std::path::PathBuf;

/// What a reader of the plan should know before trusting what it measures.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanWarning {
    /// All requests are equally long.
    EqualLengths {
        /// The workload part, where it has a name.
        part: Option<String>,
        /// Tokens of every prompt.
        input: u64,
        /// Tokens of every answer.
        output: u64,
    },
    /// Rows of a file that could not be read.
    BadRows {
        /// As written in the spec.
        path: PathBuf,
        /// How many.
        count: u64,
        /// The first of their line numbers, from 1.
        lines: Vec<u64>,
    },
    /// Pairs over `max_input` or `max_output`, dropped.
    TooLong {
        /// The workload part, where it has a name.
        part: Option<String>,
        /// How many.
        dropped: u64,
        /// Of how many.
        of: u64,
    },
    /// Pairs over the served context, dropped.
    OverContext {
        /// The workload part, where it has a name.
        part: Option<String>,
        /// How many.
        dropped: u64,
        /// Of how many.
        of: u64,
        /// The served context in tokens.
        context: u64,
    },
    /// Prompts asked shorter than the chat template and one word; they are that long instead.
    BelowTemplate {
        /// The workload part, where it has a name.
        part: Option<String>,
        /// How many pairs.
        pairs: u64,
        /// The shortest prompt the server can count, in tokens.
        least: u64,
    },
    /// The server's tokenizer splits words of the list, and lengths follow a fitted line.
    ApproximateLengths {
        /// Tokens a word.
        slope: f64,
    },
    /// A round too short to be steady.
    SmallRound {
        /// The level's label.
        level: String,
        /// Requests a round.
        requests: u64,
        /// The least that is steady.
        least: u64,
    },
    /// A warm-up too short to reach the steady state.
    SmallWarmUp {
        /// The level's label.
        level: String,
        /// Requests of the warm-up.
        requests: u64,
        /// The least that is steady.
        least: u64,
    },
    /// Prompts that are sent more than once.
    RepeatedPrompts {
        /// As written in the spec.
        path: PathBuf,
        /// Prompts there are.
        rows: u64,
        /// Requests that need one.
        requests: u64,
    },
    /// Prompts from a file, which every run sends again.
    FixedPrompts {
        /// As written in the spec.
        path: PathBuf,
    },
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EqualLengths { part, input, output } => write!(
                f,
                "every request{} has {input} input and {output} output tokens: real lengths vary, and equal ones overstated \
                 the load a server can carry 1.1 to 7.9 times; use a bundled workload or your own pairs",
                in_part(part)
            ),
            Self::BadRows { path, count, lines } => {
                write!(f, "{}: {count} rows could not be read and are left out{}", path.display(), at_lines(lines))
            }
            Self::TooLong { part, dropped, of } => {
                write!(f, "{dropped} of {of} pairs{} are over max_input or max_output and were dropped", in_part(part))
            }
            Self::OverContext { part, dropped, of, context } => {
                write!(f, "{dropped} of {of} pairs{} do not fit the served context of {context} tokens and were dropped", in_part(part))
            }
            Self::BelowTemplate { part, pairs, least } => write!(
                f,
                "{pairs} pairs{} ask for fewer than the {least} input tokens that the chat template and one word take; \
                 they are sent with {least}",
                in_part(part)
            ),
            Self::ApproximateLengths { slope } => {
                write!(f, "input lengths are approximate: the server counts {slope:.3} tokens a word where 1 was expected")
            }
            Self::SmallRound { level, requests, least } => {
                write!(f, "level {level}: rounds of {requests} requests are too short to be steady; take at least {least} (`round: 1x`)")
            }
            Self::SmallWarmUp { level, requests, least } => write!(
                f,
                "level {level}: after a warm-up of {requests} requests the starting stampede is still counted; take at least \
                 {least} (`warmup: 1x`)"
            ),
            Self::RepeatedPrompts { path, rows, requests } => write!(
                f,
                "{}: {requests} requests share {rows} prompts; a repeated prompt may be answered from the prefix cache",
                path.display()
            ),
            Self::FixedPrompts { path } => {
                write!(f, "{}: each run sends the same prompts; a prefix cache that outlives a run flatters the next", path.display())
            }
        }
    }
}
