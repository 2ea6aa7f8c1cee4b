//! How long a level and each of its rounds lasted.

use crate::record::Request;
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Length of the measured window in seconds, over the counted requests of a level (metrics.md). `None` where it has no length.
///
/// Closed loop: from the first `scheduled` to the last `last_token`. Open loop: the arrival window, which N arrivals fill with N
/// gaps: the span of their due times times N/(N−1).
pub(super) fn measured(requests: &[&Request], open_loop: bool) -> Option<f64> {
    let first = requests.iter().map(|request| request.scheduled).min()?;
    let seconds = if open_loop {
        stretched(requests)?
    } else {
        let last = requests.iter().filter_map(|request| request.last_token.map(|at| request.scheduled + at)).max()?;
        last.since(first).as_secs()
    };
    (seconds > 0.0).then_some(seconds)
}

/// Seconds of each round in `rounds`, in order: to the first `scheduled` of the round after it in `starts`. What follows the last
/// round may be missing; its end is then estimated as one mean gap after its last `scheduled`, which is when the next request would
/// have been due. (To take its last token instead would count the drain, and make the last round look slow.)
pub(super) fn of_rounds(rounds: &[(u32, Vec<&Request>)], starts: &BTreeMap<u32, Nanos>) -> Vec<Option<f64>> {
    rounds
        .iter()
        .map(|(number, requests)| {
            let own = requests.iter().map(|request| request.scheduled).min()?;
            let next = number.checked_add(1).and_then(|next| starts.get(&next)).map(|start| start.since(own).as_secs());
            next.or_else(|| stretched(requests)).filter(|seconds| *seconds > 0.0)
        })
        .collect()
}

fn stretched(requests: &[&Request]) -> Option<f64> {
    let first = requests.iter().map(|request| request.scheduled).min()?;
    let last = requests.iter().map(|request| request.scheduled).max()?;
    let count = requests.len() as f64;
    (requests.len() > 1).then(|| last.since(first).as_secs() * count / (count - 1.0))
}
