//! Whether the measurement may be judged at all: each check with its figure and its limit.

mod client;
mod data;
mod steady;
mod workload;

use super::{Inputs, RuleResult, Validity, ValidityStatus};
use crate::metric::Metric;
use crate::spec::{Rule, RuleKind};
use crate::summary::Level;

pub(super) use steady::unsteady_levels;
pub(super) use workload::is_crowded;

/// Every check that applies, of both sides where there are two. `rows` are the rules' rows, in the order of `inputs.slo.rules`.
pub(super) fn checks(inputs: &Inputs<'_>, rows: &[RuleResult]) -> Vec<Validity> {
    let mut checks = vec![data::rules(rows, inputs)];
    checks.extend(of_side(inputs));
    checks.extend(steady::site_noise(rows));
    if let Some(other) = inputs.other_side() {
        let said = of_side(&other).into_iter();
        checks.extend(said.map(|check| Validity { text: format!("baseline's side: {}", check.text), ..check }));
    }
    checks
}

/// The checks that each side must stand by itself.
fn of_side(inputs: &Inputs<'_>) -> Vec<Validity> {
    let mut checks = vec![data::all_failed(inputs)];
    checks.extend(data::rounds(inputs));
    checks.push(data::complete(inputs));
    checks.push(client::lag(inputs));
    checks.extend(client::cpu(inputs));
    checks.extend(client::clock(inputs));
    checks.extend(client::load(inputs));
    checks.extend(workload::exact_output(inputs));
    checks.extend(workload::input_lengths(inputs));
    checks.extend(workload::impossible_counts(inputs));
    checks.push(workload::cache(inputs));
    checks.push(workload::buffered(inputs));
    checks.extend(workload::tokens_per_event(inputs));
    checks.extend(workload::crowded_reads(inputs));
    checks.extend(steady::row(inputs));
    checks
}

fn check(check: &'static str, status: ValidityStatus, text: String) -> Validity {
    Validity { check, status, text }
}

/// Rules that can decide.
fn deciding<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Rule> {
    inputs.slo.rules.iter().filter(|rule| rule.kind != RuleKind::Advise)
}

/// Whether a rule that can decide speaks of one of `metrics`.
fn is_ruled(inputs: &Inputs<'_>, metrics: &[Metric]) -> bool {
    deciding(inputs).any(|rule| metrics.contains(&rule.metric))
}

/// Levels that ran and that a deciding rule speaks of.
fn judged_levels<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Level> {
    inputs.summary.levels.iter().filter(|level| deciding(inputs).any(|rule| rule.level == level.table.level))
}

/// ` at 2x` where there are several levels.
fn at(inputs: &Inputs<'_>, level: &str) -> String {
    if inputs.recording.conditions.load.levels.len() > 1 { format!(" at {level}") } else { String::new() }
}
