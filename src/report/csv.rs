//! Request lines as CSV.
use crate::record::Recording;
/// Spells the requests of `recording`.
#[must_use]
pub fn render(recording: &Recording) -> String {
    recording.conditions.name.clone()
}
