//! The form in which a run is kept for comparison.

use crate::record::{Recording, Request, RoundEnd};
use crate::summary;
use crate::wire::Outcome;

/// `recording` as a baseline keeps it: requests without their gaps but with their longest one, a gap histogram for each round (over
/// the answers of the run's side), and no text that a server sent.
#[must_use]
pub fn fold(recording: &Recording) -> Recording {
    let mut folded = recording.clone();
    for round in &mut folded.rounds {
        if let Some(gaps) = gaps_of(recording, round) {
            round.gaps = Some(gaps);
        }
    }
    for request in &mut folded.requests {
        request.stall = request.stall.or_else(|| request.gaps.iter().max().copied());
        request.gaps = Vec::new();
        if let Outcome::Error(failure) = &mut request.outcome {
            failure.message = String::new();
        }
    }
    folded
}

/// `None` where the requests keep no gaps, as in a run that was folded before.
fn gaps_of(recording: &Recording, round: &RoundEnd) -> Option<Vec<(u64, u64)>> {
    let side = recording.side();
    let is_of = |request: &&Request| request.level == round.level && request.round == Some(round.round) && request.side == side;
    let answers: Vec<&Request> = recording.requests.iter().filter(is_of).filter(|request| request.is_ok()).collect();
    if round.gaps.is_some() && answers.iter().all(|request| request.gaps.is_empty()) {
        return None;
    }
    Some(summary::histogram(answers.iter().flat_map(|request| request.gaps.iter().copied())).pairs)
}
