//! From a checked spec to a plan.

use super::bundled;
use super::error::PlanError;
use super::fit::Fit;
use super::lengths;
use super::level;
use super::prefix::Prefix;
use super::prompts;
use super::schedule::{PartPlan, Plan};
use super::sessions::{Limits, Sessions};
use super::warning::PlanWarning;
use super::words::Words;
use crate::spec::{Lengths, Offered, Part, Prompts, Spec, Turns};
use crate::units::Nanos;
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
        asked: Vec::new(),
        first_rows: Vec::new(),
    };
    plan.asked = plan.levels.iter().map(|level| (level.info.warmup, level.info.round_requests.first().copied().unwrap_or(1))).collect();
    if plan.has_sessions() && matches!(spec.load.offered, Some(Offered::Rate { .. })) {
        return Err(PlanError::NotYet { what: "a load.rate for sessions of several turns".to_owned() });
    }
    if plan.has_sessions() && !spec.load.min_time.is_zero() {
        return Err(PlanError::NotYet { what: "load.min_time for sessions of several turns".to_owned() });
    }
    plan.align()?;
    plan.place_rows();
    Ok(plan)
}

fn part_plan(part: &Part, number: u64, inputs: &Inputs, seed: u64) -> Result<(PartPlan, Vec<PlanWarning>), PlanError> {
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
    let mut sessions = match (&part.lengths, part.turns) {
        (Lengths::Bundled(name), _) if name == "agent-coding" => Sessions::Recorded(bundled::sessions()),
        (_, Turns::Fixed(1)) => Sessions::Single,
        (_, turns) => Sessions::Drawn(turns),
    };
    sessions.retain(&Limits { input: max_input, output: max_output, context: u64::MAX, least: 1 });
    if sessions.are_none() {
        return Err(PlanError::AllDropped { part: part.name.clone(), dropped });
    }
    let plan = PartPlan {
        name: part.name.clone(),
        share: part.share,
        label: label(part),
        pairs,
        dropped,
        content,
        exact_output: part.exact_output,
        prefix: Prefix::new(part),
        sessions,
        think: part.think.map(Nanos::from),
        most: (max_input, max_output),
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
    let mut prefix = match part.shared_prefix {
        0 => String::new(),
        tokens => format!(", the first {tokens} tokens shared"),
    };
    if part.prefix_hit > 0.0 {
        prefix.push_str(&format!(", {:.0} % of each prompt shared", part.prefix_hit * 100.0));
    }
    if part.prefix_groups > 1 && !prefix.is_empty() {
        prefix.push_str(&format!(" in {} groups", part.prefix_groups));
    }
    let turns = match (&part.lengths, part.turns) {
        (Lengths::Bundled(name), _) if name == "agent-coding" => "recorded sessions".to_owned(),
        (_, Turns::Fixed(1)) => "one turn".to_owned(),
        (_, Turns::Fixed(turns)) => format!("{turns} turns, recorded history"),
        (_, Turns::Geometric { mean }) => format!("{mean} turns in the mean, recorded history"),
    };
    match &part.name {
        Some(name) => format!("{name} ({:.0} %): {lengths}, {prompts}{prefix}, {turns}", part.share * 100.0),
        None => format!("{lengths}, {prompts}{prefix}, {turns}"),
    }
}
