//! verdict.json.
use super::Report;
/// Spells `report` as `verdict.json`.
#[must_use]
pub fn render(report: &Report) -> String {
    report.summary.clone()
}
/// The JSON Schema of `verdict.json`.
#[must_use]
pub fn verdict_schema() -> serde_json::Value {
    serde_json::Value::Null
}
