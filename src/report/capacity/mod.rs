//! The report of a capacity search: the capacity first, then the knee and both peaks, then every point.

mod json;
mod sentence;
mod spellings;
#[cfg(test)]
mod tests;

pub use json::{render as json, schema};
pub use spellings::{markdown, terminal};

use crate::record::Conditions;
use crate::search::{Axis, Findings, Point};
use crate::verdict::RuleResult;

/// All that the report of a search shows.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityReport {
    /// The spec's name.
    pub name: String,
    /// The process's exit code.
    pub exit_code: u8,
    /// The findings in one sentence.
    pub summary: String,
    /// Which load was varied.
    pub axis: Axis,
    /// What was found.
    pub findings: Findings,
    /// Every point in the order measured, with its run file below `--out`, where one was written.
    pub points: Vec<(Point, Option<String>)>,
    /// The rules that had to hold at each load, as written.
    pub rules: Vec<String>,
    /// Lines of `slo.request` as written: what goodput was counted against.
    pub constraints: Vec<String>,
    /// Rules on headroom, judged by the bracket.
    pub headroom: Vec<RuleResult>,
    /// Under what the first point was made; `None` where none was.
    pub conditions: Option<Conditions>,
    /// Files that were written, as the user would name them; only the terminal shows them.
    pub files: Vec<String>,
}

impl CapacityReport {
    /// A report with its sentence made from `findings`.
    #[must_use]
    pub fn new(name: String, axis: Axis, findings: Findings, points: Vec<(Point, Option<String>)>) -> Self {
        Self {
            summary: sentence::of(axis, &findings, points.len()),
            name,
            exit_code: 0,
            axis,
            findings,
            points,
            rules: Vec::new(),
            constraints: Vec::new(),
            headroom: Vec::new(),
            conditions: None,
            files: Vec::new(),
        }
    }
}
