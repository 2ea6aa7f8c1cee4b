//! The tables of the spec's reference, as Markdown, from the table of keys and the catalogue of metrics.

use super::keys::KEYS;
use crate::metric::{Better, CATALOGUE, Per};
use std::fmt::Write as _;

/// Every key with its default and meaning: a Markdown table.
#[must_use]
pub fn keys_table() -> String {
    let mut table = "| key | default | meaning |\n| --- | --- | --- |\n".to_owned();
    for key in KEYS {
        let default = if key.default.is_empty() { String::new() } else { format!("`{}`", cell(key.default)) };
        let _ = writeln!(table, "| `{}` | {default} | {} |", key.path, cell(key.doc));
    }
    table
}

/// Every metric with its unit, direction and definition: a Markdown table.
#[must_use]
pub fn metrics_table() -> String {
    let mut table = "| metric | a value per | in a rule | better | meaning |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for row in CATALOGUE {
        let (per, spelt) = match row.per {
            Per::Request => ("request", "with a percentile; also in `request`"),
            Per::Session => ("session", "with a percentile; also in `request`"),
            Per::Gap => ("gap", "with a percentile"),
            Per::Ratio => ("service, a share", "bare"),
            Per::Rate => ("service, a rate", "bare"),
            Per::Search => ("service, by search", "bare"),
        };
        let better = if row.better == Better::Low { "low: `<=`, `rises`" } else { "high: `>=`, `drops`" };
        let _ = writeln!(table, "| `{}` | {per} | {spelt} | {better} | {} |", row.name, cell(row.doc));
    }
    table
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
