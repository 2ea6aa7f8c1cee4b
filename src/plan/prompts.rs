//! What a part's prompts say: words of an exact count, or the rows of a file.

use super::build::Inputs;
use super::error::PlanError;
use super::random::Random;
use super::request::Prompt;
use super::rows::{self, Row};
use super::warning::PlanWarning;
use crate::spec::{Part, Prompts};
use serde_json::Value;
use std::path::PathBuf;

/// What a part's prompts say.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Words of the list.
    Words,
    /// Rows of a file, in the order they are walked.
    Rows {
        path: PathBuf,
        rows: Vec<Prompt>,
        /// The mean of their lengths in tokens, guessed from their bytes.
        mean_tokens: u64,
    },
}

/// The content of `part`, and what was odd about its file.
pub(super) fn content(part: &Part, inputs: &Inputs, seed: u64) -> Result<(Content, Vec<PlanWarning>), PlanError> {
    let Prompts::File(path) = &part.prompts else {
        return Ok((Content::Words, Vec::new()));
    };
    let read = rows::prompts(inputs.text(path)?);
    let mine = |row: &Row| row.part.is_none() || row.part == part.name;
    let rows: Vec<_> = read.rows.into_iter().filter(mine).map(|row| row.prompt).collect();
    if rows.is_empty() {
        return Err(PlanError::NoRows { path: path.clone(), bad_rows: read.bad, lines: read.bad_lines });
    }
    let mut warnings = vec![PlanWarning::FixedPrompts { path: path.clone() }];
    if read.bad > 0 {
        warnings.push(PlanWarning::BadRows { path: path.clone(), count: read.bad, lines: read.bad_lines });
    }
    let order = Random::stream(seed, "shared", &[]).permutation(rows.len());
    let rows: Vec<_> = order.into_iter().map(|place| rows[place].clone()).collect();
    let bytes: u64 = rows.iter().map(text_bytes).sum();
    let mean_tokens = (bytes / rows.len() as u64).div_ceil(4);
    Ok((Content::Rows { path: path.clone(), rows, mean_tokens }, warnings))
}

fn text_bytes(prompt: &Prompt) -> u64 {
    match prompt {
        Prompt::Text(text) => text.len() as u64,
        Prompt::Messages(messages) => messages.iter().map(value_bytes).sum(),
    }
}

/// Bytes of the texts in a message; pictures and other parts behind a URL are not counted.
fn value_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(parts) => parts.iter().map(value_bytes).sum(),
        Value::Object(fields) => ["content", "text"].iter().filter_map(|name| fields.get(*name)).map(value_bytes).sum(),
        _ => 0,
    }
}
