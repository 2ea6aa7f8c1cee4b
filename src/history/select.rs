//! Which stored runs a run is compared with.

use super::comparable;
use crate::record::{Conditions, EndReason, Recording, RoundEnd};

/// Fewer whole rounds than this bear no interval.
const LEAST_ROUNDS: u32 = 12;

/// The stored runs that count, and those that don't.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selection {
    /// Oldest first.
    pub runs: Vec<Recording>,
    /// The others, each with why.
    pub left_out: Vec<LeftOut>,
}

/// A stored run that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its id.
    pub run_id: String,
    /// Why: one line an entry.
    pub why: Vec<String>,
}

/// Those of `stored` that a run under `candidate` is compared with: comparable ones, each run once, none that stopped early or is too
/// short, and never the run itself.
#[must_use]
pub fn select(stored: Vec<Recording>, candidate: &Conditions) -> Selection {
    let mut selection = Selection::default();
    let mut stored = stored;
    stored.sort_by(|a, b| (&a.conditions.started, &a.conditions.run_id).cmp(&(&b.conditions.started, &b.conditions.run_id)));
    for run in stored {
        let why = obstacles(&run, candidate, &selection.runs);
        if why.is_empty() {
            selection.runs.push(run);
        } else {
            selection.left_out.push(LeftOut { run_id: run.conditions.run_id.clone(), why });
        }
    }
    selection
}

fn obstacles(run: &Recording, candidate: &Conditions, kept: &[Recording]) -> Vec<String> {
    if run.conditions.run_id == candidate.run_id {
        return vec!["it is this run itself".to_owned()];
    }
    let is_same = |other: &Recording| other.conditions.run_id == run.conditions.run_id || other.requests == run.requests;
    if let Some(twin) = kept.iter().find(|other| is_same(other)) {
        return vec![format!("the same run as {}, which counts once", twin.conditions.run_id)];
    }
    if run.stopped_early() {
        return vec!["it stopped early, which favours extreme figures".to_owned()];
    }
    if run.end.as_ref().is_some_and(|end| end.reason == EndReason::Unusable) {
        return vec!["its target could not be used".to_owned()];
    }
    let differences: Vec<String> = comparable(&run.conditions, candidate).iter().map(ToString::to_string).collect();
    if differences.is_empty() { too_short(run, candidate) } else { differences }
}

/// Levels at which the stored run has too few whole rounds to be compared over, unless the candidate plans no more itself.
fn too_short(run: &Recording, candidate: &Conditions) -> Vec<String> {
    let levels = candidate.load.levels.iter().enumerate();
    levels
        .filter_map(|(index, level)| {
            let needed = LEAST_ROUNDS.min(level.rounds).max(1) as usize;
            let whole = run.rounds.iter().filter(|round| round.level == index && is_there(run, round)).count();
            (whole < needed).then(|| format!("it has {whole} whole rounds at {}, and {needed} are needed", level.label))
        })
        .collect()
}

/// Whether the requests that a round's line speaks of are in the file.
fn is_there(run: &Recording, round: &RoundEnd) -> bool {
    let held = run.requests.iter().filter(|request| request.level == round.level && request.round == Some(round.round)).count();
    held >= round.requests as usize && held > 0
}
