//! Markdown for pull requests and job summaries.
use super::Report;
/// Spells `report` in at most `limit` bytes.
#[must_use]
pub fn render(report: &Report, limit: usize) -> String {
    let _ = limit;
    report.summary.clone()
}
