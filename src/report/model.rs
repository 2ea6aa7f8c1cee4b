//! What every spelling shows.

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
    /// The verdict in one sentence; of a run that was only measured, the measurement in one sentence.
    pub summary: String,
    /// The figures of each level.
    pub levels: Vec<LevelTable>,
    /// Under what the run was made.
    pub conditions: Conditions,
    /// Show the other convention of TPOT beside ours.
    pub both_conventions: bool,
    /// The lines of `slo.request` as written: what goodput was counted against.
    pub constraints: Vec<String>,
    /// Capacity over target load, less one, as a share; `None` where no search ran.
    pub headroom: Option<f64>,
    /// Goodput under other constraints on the same run.
    pub what_if: Option<WhatIf>,
    /// Files that were written, as the user would name them; only the terminal shows them.
    pub files: Vec<String>,
}

/// Goodput under other constraints than the spec's, on the same run.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The constraints that were tried, as written.
    pub constraints: Vec<String>,
    /// One row a level.
    pub rows: Vec<WhatIfRow>,
}

/// One level's goodput under both sets of constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIfRow {
    /// Its label.
    pub level: String,
    /// Goodput under the spec's constraints, a share.
    pub spec: Option<f64>,
    /// Good requests per second under the spec's constraints.
    pub spec_rps: Option<f64>,
    /// Goodput under the constraints that were tried, a share.
    pub tried: Option<f64>,
    /// Good requests per second under the constraints that were tried.
    pub tried_rps: Option<f64>,
}

impl Report {
    /// A report of a judged run (`verdict` given) or a measured one, its sentence made from what it shows. The other fields
    /// (`both_conventions`, `headroom`, `what_if`, `files`) start empty; set them before rendering.
    #[must_use]
    pub fn new(verdict: Option<Verdict>, exit_code: u8, levels: Vec<LevelTable>, conditions: Conditions, constraints: Vec<String>) -> Self {
        let summary = match &verdict {
            Some(verdict) => super::sentence::judged(verdict, &levels),
            None => main_level(&levels).map_or_else(
                || "nothing was measured".to_owned(),
                |level| super::measured_sentence(level, &conditions, &constraints, None),
            ),
        };
        Self {
            verdict,
            exit_code,
            summary,
            levels,
            conditions,
            both_conventions: false,
            constraints,
            headroom: None,
            what_if: None,
            files: Vec::new(),
        }
    }

    /// The gate's name: that of the spec that judged, else that of the spec that the run was made with.
    #[must_use]
    pub fn name(&self) -> &str {
        self.verdict.as_ref().map_or(&self.conditions.name, |verdict| &verdict.name)
    }

    /// The level that the one sentence speaks of: `1x`, else the first.
    #[must_use]
    pub fn main_level(&self) -> Option<&LevelTable> {
        main_level(&self.levels)
    }
}

fn main_level(levels: &[LevelTable]) -> Option<&LevelTable> {
    levels.iter().find(|level| level.level == "1x").or(levels.first())
}
