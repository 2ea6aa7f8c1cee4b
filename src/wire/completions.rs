//! `/completions`: where a choice of a chunk carries generated text.

use super::chunk::Carried;
use super::json::text;
use serde_json::Value;

/// What a choice with a `text` carries.
pub(super) fn carried(choice: &Value) -> Carried {
    Carried { answer: text(choice.get("text")).is_some(), ..Carried::default() }
}
