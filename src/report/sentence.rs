//! The one sentence of a measurement, and the one sentence of a verdict.

use crate::record::Conditions;
use crate::summary::LevelTable;
use crate::verdict::Verdict;

/// The measurement of one level in one sentence: latencies, under what, goodput against what, headroom.
#[must_use]
pub fn measured_sentence(level: &LevelTable, conditions: &Conditions, constraints: &[String], headroom: Option<f64>) -> String {
    let _ = (level, conditions, constraints, headroom);
    String::new()
}

/// The verdict in one sentence: which rule, by how much, and what to do next.
#[must_use]
pub fn verdict_sentence(verdict: &Verdict) -> String {
    verdict.name.clone()
}
