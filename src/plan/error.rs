//! Why no plan could be made.

use std::path::PathBuf;

/// Why no plan could be made. Messages about files give line numbers, never text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Neither concurrency nor rate.
    #[error("the spec says neither concurrency nor rate")]
    NoLoad,
    /// A word of the contract that this build does not know yet.
    #[error("{what} is not supported yet")]
    NotYet {
        /// The key and its value.
        what: String,
    },
    /// No bundled sample has this name.
    #[error("no bundled workload is named '{name}'")]
    UnknownLengths {
        /// As written.
        name: String,
    },
    /// A file that the spec names was not handed in.
    #[error("{} was not read", path.display())]
    Missing {
        /// As written in the spec.
        path: PathBuf,
    },
    /// A file that holds no usable row.
    #[error("{} holds no usable row: {bad_rows} rows could not be read{}", path.display(), at_lines(lines))]
    NoRows {
        /// As written in the spec.
        path: PathBuf,
        /// Rows that could not be read.
        bad_rows: u64,
        /// The first of their line numbers.
        lines: Vec<u64>,
    },
    /// A CSV whose header names no known pair of columns.
    #[error("{}:1: the header names no columns for input and output tokens", path.display())]
    Header {
        /// As written in the spec.
        path: PathBuf,
    },
    /// Every pair was too long.
    #[error("all {dropped} pairs of lengths are longer than max_input, max_output or the served context allows{}", in_part(part))]
    AllDropped {
        /// The workload part, where it has a name.
        part: Option<String>,
        /// How many there were.
        dropped: u64,
    },
    /// A formula or a load that no plan can be made of.
    #[error("{what} can't be planned: {why}")]
    Impossible {
        /// The key and its value.
        what: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// More requests than the gate will plan.
    #[error("the plan has more than {most} requests")]
    TooMany {
        /// The most that are planned.
        most: u64,
    },
}

impl PlanError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoLoad => "write `load: { concurrency: N }` or `load: { rate: N/s }`, or give --concurrency or --rate".to_owned(),
            Self::NotYet { .. } => "leave it out, or use a release that knows it".to_owned(),
            Self::UnknownLengths { .. } => {
                let names: Vec<_> = super::workloads().iter().map(|workload| workload.name).collect();
                format!("the bundled ones are {}; `goodput-gate workloads` describes them", names.join(", "))
            }
            Self::Missing { .. } => "name a file at or below the spec's folder, or allow its folder with --allow-path".to_owned(),
            Self::NoRows { .. } => "give one pair of token counts of at least 1 a row, or one prompt a row".to_owned(),
            Self::Header { .. } => {
                "name the columns input_tokens,output_tokens or prompt_tokens,completion_tokens or ContextTokens,GeneratedTokens \
                 or input_length,output_length"
                    .to_owned()
            }
            Self::AllDropped { .. } => "raise max_input or max_output, take shorter lengths, or serve a longer context".to_owned(),
            Self::Impossible { .. } => "write other numbers".to_owned(),
            Self::TooMany { .. } => "lower rounds, round, min_time, rate or the number of levels".to_owned(),
        }
    }
}

/// ` (lines 3, 7, …)`, or nothing.
pub(crate) fn at_lines(lines: &[u64]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let numbers: Vec<_> = lines.iter().map(u64::to_string).collect();
    format!(" (lines {})", numbers.join(", "))
}

/// ` in part NAME`, or nothing.
pub(crate) fn in_part(part: &Option<String>) -> String {
    part.as_ref().map_or_else(String::new, |name| format!(" in part {name}"))
}
