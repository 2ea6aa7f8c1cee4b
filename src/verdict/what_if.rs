//! Goodput of the same run under other constraints.

use crate::spec::Constraint;
use crate::summary::{Summary, good};

/// Goodput of one level under other constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The level's label.
    pub level: String,
    /// All its counted requests.
    pub requests: u64,
    /// The good ones under the spec's own constraints.
    pub was: u64,
    /// The good ones under the others.
    pub would_be: u64,
    /// Length of the measured window, seconds, where it is known.
    pub window_s: Option<f64>,
}

/// Goodput of each level of `summary` if `constraints` were all that a request must meet.
#[must_use]
pub fn what_if(summary: &Summary, constraints: &[Constraint]) -> Vec<WhatIf> {
    let count = |flags: &mut dyn Iterator<Item = bool>| flags.filter(|good| *good).count() as u64;
    summary
        .levels
        .iter()
        .map(|level| WhatIf {
            level: level.table.level.clone(),
            requests: level.facts.len() as u64,
            was: count(&mut level.facts.iter().map(|fact| fact.good)),
            would_be: count(&mut level.facts.iter().map(|fact| good(fact, constraints))),
            window_s: level.table.window_s,
        })
        .collect()
}
