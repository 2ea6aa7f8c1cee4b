//! From a checked spec to a plan.

use super::error::PlanError;
use super::fit::Fit;
use super::lengths;
use super::level;
use super::prompts;
use super::schedule::{PartPlan, Plan};
use super::warning::PlanWarning;
use super::words::Words;
use crate::spec::{Lengths, Part, Prompts, Spec, Turns};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was read of the files that a spec names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// Their text by their path as written in the spec.
    pub files: BTreeMap<PathBuf, String>,
}

impl Inputs {
    /// # Errors
    /// [`PlanError::Missing`].
    pub(super) fn text(&self, path: &Path) -> Result<&str, PlanError> {
        self.files.get(path).map(String::as_str).ok_or_else(|| PlanError::Missing { path: path.to_owned() })
    }
}

/// What `spec` sends. The `salt` is the run's own, so that its unique prompts meet no cached prefix of another run; lengths, arrivals
/// and shared text depend on the spec's seed alone. Who builds several plans in one run, as a capacity search does, gives each a salt
/// of its own: prompts are told apart by salt, level and place only.
///
/// # Errors
/// Where the spec offers no load, names what this build does not know, or its files hold no usable row.
pub fn build(spec: &Spec, inputs: &Inputs, salt: u64) -> Result<Plan, PlanError> {
    built(spec, inputs, salt, false)
}

/// The same for two sides that take turns on shared hardware: each round is a block of at least twice the concurrency (open loop: 50),
/// begun by one concurrency (open loop: 20) of uncounted requests in the place of the warm-up; there are at least 12.
///
/// # Errors
/// As [`build`].
pub fn build_turns(spec: &Spec, inputs: &Inputs, salt: u64) -> Result<Plan, PlanError> {
    built(spec, inputs, salt, true)
}

fn built(spec: &Spec, inputs: &Inputs, salt: u64, turns: bool) -> Result<Plan, PlanError> {
    let (levels, mut warnings) = level::levels(&spec.load, turns)?;
    let mut parts = Vec::new();
    for (number, part) in spec.workload.parts.iter().enumerate() {
        let (part, odd) = part_plan(part, number as u64, inputs, spec.load.seed)?;
        parts.push(part);
        warnings.extend(odd);
    }
    if parts.is_empty() {
        return Err(PlanError::Impossible { what: "workload".to_owned(), why: "it has no part" });
    }
    let mut plan = Plan {
        levels,
        warnings,
        seed: spec.load.seed,
        salt,
        offered: spec.load.offered,
        parts,
        words: Words::without(&[]),
        fit: Fit::default(),
        first_rows: Vec::new(),
    };
    plan.place_rows();
    Ok(plan)
}

fn part_plan(part: &Part, number: u64, inputs: &Inputs, seed: u64) -> Result<(PartPlan, Vec<PlanWarning>), PlanError> {
    if part.turns != Turns::Fixed(1) {
        return Err(PlanError::NotYet { what: "workload.turns above 1".to_owned() });
    }
    if part.prefix_hit > 0.0 {
        return Err(PlanError::NotYet { what: "workload.prefix_hit above 0%".to_owned() });
    }
    let (mut pairs, bad_rows) = lengths::pairs(&part.lengths, inputs, seed, number)?;
    let mut warnings: Vec<_> = bad_rows.into_iter().collect();
    let (content, odd) = prompts::content(part, inputs, seed)?;
    warnings.extend(odd);
    let before = pairs.len() as u64;
    let (max_input, max_output) = (part.max_input.unwrap_or(u64::MAX), part.max_output.unwrap_or(u64::MAX));
    // Prompts from a file are as long as they are: the pair's input is not used then.
    let input_counts = part.prompts == Prompts::Unique;
    pairs.retain(|(input, output)| (!input_counts || *input <= max_input) && *output <= max_output);
    let dropped = before - pairs.len() as u64;
    let Some(&(input, output)) = pairs.first() else {
        return Err(PlanError::AllDropped { part: part.name.clone(), dropped });
    };
    if dropped > 0 {
        warnings.push(PlanWarning::TooLong { part: part.name.clone(), dropped, of: before });
    }
    if input_counts && pairs.iter().all(|pair| *pair == (input, output)) {
        warnings.push(PlanWarning::EqualLengths { part: part.name.clone(), input, output });
    }
    let plan = PartPlan {
        name: part.name.clone(),
        share: part.share,
        label: label(part),
        pairs,
        dropped,
        content,
        exact_output: part.exact_output,
        shared_prefix: part.shared_prefix,
    };
    Ok((plan, warnings))
}

/// `chat lengths, unique prompts, one turn`.
fn label(part: &Part) -> String {
    let lengths = match &part.lengths {
        Lengths::Bundled(name) => format!("{name} lengths"),
        Lengths::File(path) => format!("lengths from {}", path.display()),
        Lengths::Formula { .. } => "lengths by formula".to_owned(),
    };
    let prompts = match &part.prompts {
        Prompts::Unique => "unique prompts".to_owned(),
        Prompts::File(path) => format!("prompts from {}", path.display()),
    };
    let prefix = match part.shared_prefix {
        0 => String::new(),
        tokens => format!(", the first {tokens} tokens shared"),
    };
    match &part.name {
        Some(name) => format!("{name} ({:.0} %): {lengths}, {prompts}{prefix}, one turn", part.share * 100.0),
        None => format!("{lengths}, {prompts}{prefix}, one turn"),
    }
}
