//! One model, several spellings. Nothing here computes a number that is not in the model.

use crate::record::Conditions;
use crate::summary::LevelTable;
use crate::verdict::Verdict;

/// All that a report shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The verdict; `None` for a run that was only measured.
    pub verdict: Option<Verdict>,
    /// The process's exit code.
    pub exit_code: u8,
    /// The verdict in one sentence.
    pub summary: String,
    /// The figures of each level.
    pub levels: Vec<LevelTable>,
    /// Under what the run was made.
    pub conditions: Conditions,
    /// Show the other convention of TPOT beside ours.
    pub both_conventions: bool,
}
