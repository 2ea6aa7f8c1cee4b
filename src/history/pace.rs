//! How fast a run went.

use crate::record::Recording;

/// Seconds between two requests that left, over all of level `index` of `recording`, warm-up included. In a closed loop this is the
/// server's pace; times the number of requests it is how long such a level takes. `None` for fewer than two requests.
#[must_use]
pub fn seconds_a_request(recording: &Recording, index: usize) -> Option<f64> {
    let sent = || recording.requests.iter().filter(|request| request.level == index).map(|request| request.sent);
    let (first, last, count) = (sent().min()?, sent().max()?, sent().count());
    (count > 1).then(|| last.since(first).as_secs() / (count as f64 - 1.0))
}
