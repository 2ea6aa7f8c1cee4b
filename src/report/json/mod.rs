//! `verdict.json`: a versioned copy of the model.

pub mod v1;

use super::Report;
use super::text::is_deceptive;
use serde_json::Value;

/// Spells `report` as `verdict.json`, with a line break at its end. Characters that fool terminals are written as `\u…`, which every
/// reader of JSON turns back.
#[must_use]
pub fn render(report: &Report) -> String {
    spell(&v1::Document::from(report))
}

/// Any document of ours, spelt the same way.
pub(super) fn spell(document: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(document).expect("plain structs with string keys are always JSON");
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c != '\n' && is_deceptive(c) {
            let mut units = [0_u16; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}

/// The JSON Schema (2020-12) of `verdict.json`.
#[must_use]
pub fn verdict_schema() -> Value {
    schemars::schema_for!(v1::Document).to_value()
}
