//! junit.
use super::Report;
/// Spells `report`.
#[must_use]
pub fn render(report: &Report) -> String {
    report.summary.clone()
}
