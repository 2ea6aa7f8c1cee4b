//! The verdict on a run: every rule, every validity check, and what they come to.

use super::{BaselineInfo, Validity, Verdict, VerdictStatus};
use crate::compare::Comparison;
use crate::record::Recording;
use crate::spec::Slo;
use crate::summary::Summary;
use std::time::Duration;

/// All that a verdict is made of.
#[derive(Debug, Clone)]
pub struct Inputs<'a> {
    /// The spec's name.
    pub name: &'a str,
    /// What must hold.
    pub slo: &'a Slo,
    /// The run's figures.
    pub summary: &'a Summary,
    /// The run itself: conditions, end, client samples.
    pub recording: &'a Recording,
    /// Figures of the stored runs it is compared with; empty without a baseline.
    pub stored: &'a [Summary],
    /// The run beside them, by [`crate::compare::against`] with `slo.rules`; `None` without a baseline.
    pub comparison: Option<&'a Comparison>,
    /// What is shown of the baseline.
    pub baseline: BaselineInfo,
    /// The largest start lag or loop lag P99 of a valid run.
    pub client_lag: Duration,
    /// Whether the spec demands exact output lengths (`exact_output: true`).
    pub exact_output: bool,
    /// Tokens that every prompt has in common, chat template included, where known.
    pub shared_tokens: Option<u64>,
    /// Lower and upper bracket of the headroom, where the capacity search ran.
    pub headroom: Option<(f64, f64)>,
}

/// The verdict.
#[must_use]
pub fn decide(inputs: &Inputs<'_>) -> Verdict {
    Verdict {
        name: inputs.name.to_owned(),
        status: VerdictStatus::Invalid,
        rules: Vec::new(),
        validity: Vec::<Validity>::new(),
        warnings: Vec::new(),
        baseline: inputs.baseline.clone(),
    }
}
