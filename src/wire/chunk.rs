//! One event's JSON, of either API: what its choices carry, its usage, or the error it is.

use super::json::{count, is_falsy, text};
use super::{Api, chat, completions};
use serde_json::Value;

/// Which kinds of generated text something carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) reasoning: bool,
    pub(super) answer: bool,
    pub(super) refusal: bool,
    /// A tool's name, which is no text of its own.
    pub(super) tool_name: bool,
}

impl Carried {
    pub(super) fn any(self) -> bool {
        self.reasoning || self.answer || self.refusal
    }

    pub(super) fn add(&mut self, other: Self) {
        self.reasoning |= other.reasoning;
        self.answer |= other.answer;
        self.refusal |= other.refusal;
        self.tool_name |= other.tool_name;
    }
}

/// One choice of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which of the answers it belongs to.
    pub(super) index: u64,
    pub(super) carried: Carried,
    /// What the whole `message` carries, where there is no delta: counts only for a choice that had no delta either.
    pub(super) message: Carried,
    pub(super) finish_reason: Option<String>,
}

/// The last `usage` that was really there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cached: Option<u64>,
}

/// What one event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chunk {
    /// The server gave up, in its own words.
    Error(String),
    /// Part of an answer.
    Part { pieces: Vec<Piece>, usage: Option<Usage> },
}

/// Reads one event's object. `error_event`: the event was named `error`.
pub(super) fn read(api: Api, object: &Value, error_event: bool) -> Chunk {
    if let Some(message) = server_error(object, error_event) {
        return Chunk::Error(message);
    }
    let choices = object.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut pieces = Vec::with_capacity(choices.len());
    for (position, choice) in (0..).zip(choices) {
        if let Some(error) = choice.get("error").filter(|error| !is_falsy(error)) {
            return Chunk::Error(error_message(error));
        }
        let piece = piece(api, choice, position);
        if piece.finish_reason.as_deref() == Some("error") {
            return Chunk::Error("finish_reason is error".to_owned());
        }
        pieces.push(piece);
    }
    let nested = choices.iter().filter_map(|choice| choice.get("usage"));
    let groq = object.get("x_groq").and_then(|groq| groq.get("usage"));
    let usage = object.get("usage").into_iter().chain(groq).chain(nested).find_map(usage);
    Chunk::Part { pieces, usage }
}

fn piece(api: Api, choice: &Value, position: u64) -> Piece {
    let delta = choice.get("delta").filter(|delta| delta.is_object());
    let carried = match (api, delta) {
        // Gateways answer one API in the other's words; the text is as real.
        (Api::Chat | Api::Completions, Some(delta)) => chat::carried(delta),
        (Api::Chat | Api::Completions, None) => completions::carried(choice),
    };
    let message = match (delta, choice.get("message")) {
        (None, Some(message)) => chat::carried(message),
        _ => Carried::default(),
    };
    let finish_reason = text(choice.get("finish_reason")).map(|reason| reason.chars().take(64).collect());
    Piece { index: choice.get("index").and_then(count).unwrap_or(position), carried, message, finish_reason }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |keys: [&str; 2]| keys.into_iter().find_map(|key| value.get(key).and_then(count));
    let details = ["prompt_tokens_details", "input_tokens_details"].into_iter().find_map(|key| value.get(key)?.get("cached_tokens"));
    let usage = Usage {
        input: number(["prompt_tokens", "input_tokens"]),
        output: number(["completion_tokens", "output_tokens"]),
        cached: details.or_else(|| value.get("prompt_cache_hit_tokens")).and_then(count),
    };
    (usage != Usage::default()).then_some(usage)
}

/// The server's words where this object reports an error: `error` in many shapes (falsy ones are none), a list of `errors`, an event
/// named `error`, an object that calls itself an error, or a bare message with a code.
fn server_error(object: &Value, error_event: bool) -> Option<String> {
    if let Some(error) = object.get("error").filter(|error| !is_falsy(error)) {
        return Some(error_message(if error.is_boolean() || error.is_number() { object } else { error }));
    }
    if let Some(errors) = object.get("errors").filter(|errors| !is_falsy(errors)) {
        return Some(error_message(errors.get(0).unwrap_or(errors)));
    }
    let calls_itself = ["object", "type"].into_iter().any(|key| object.get(key).and_then(Value::as_str) == Some("error"));
    let bare = object.get("choices").is_none()
        && (text(object.get("detail")).is_some()
            || text(object.get("message")).is_some()
                && ["code", "status", "statusCode", "status_code", "error_code"].into_iter().any(|key| object.get(key).is_some()));
    (error_event && !is_falsy(object) || calls_itself || bare).then(|| error_message(object))
}

/// An error's code and message, as far as they can be found.
pub(super) fn error_message(error: &Value) -> String {
    let words = ["message", "msg", "detail", "error", "description"].into_iter().find_map(|key| match error.get(key) {
        Some(Value::String(words)) if !words.is_empty() => Some(words.clone()),
        Some(inner @ (Value::Object(_) | Value::Array(_))) if !is_falsy(inner) => Some(error_message(inner)),
        _ => None,
    });
    let code = ["code", "http_status_code", "status_code", "statusCode", "status"].into_iter().find_map(|key| match error.get(key) {
        Some(Value::Number(code)) => Some(code.to_string()),
        Some(Value::String(code)) if !code.is_empty() => Some(code.clone()),
        _ => None,
    });
    match (code, words, error) {
        (Some(code), Some(words), _) => format!("{code}: {words}"),
        (None, Some(words), _) | (Some(words), None, _) => words,
        (None, None, Value::String(words)) => words.clone(),
        (None, None, Value::Array(items)) if !items.is_empty() => error_message(&items[0]),
        (None, None, other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_are_found_in_every_shape_and_falsy_ones_are_none() {
        for (object, expected) in [
            (json!({"error": {"code": 502, "message": "gone"}}), Some("502: gone")),
            (json!({"error": {"http_status_code": 422, "message": "too large"}}), Some("422: too large")),
            (json!({"error": "gone"}), Some("gone")),
            (json!({"error": true, "message": "gone"}), Some("gone")),
            (json!({"error": {"message": {"detail": "deep"}}}), Some("deep")),
            (json!({"errors": [{"code": 7, "message": "gone"}], "success": false}), Some("7: gone")),
            (json!({"object": "error", "message": "gone", "code": 400}), Some("400: gone")),
            (json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}), Some("busy")),
            (json!({"detail": "Not Found"}), Some("Not Found")),
            (json!({"message": "gone", "status": "UNAVAILABLE"}), Some("UNAVAILABLE: gone")),
            (json!({"choices": [{"error": {"message": "gone"}, "finish_reason": "error"}]}), Some("gone")),
            (json!({"choices": [{"delta": {}, "finish_reason": "error"}]}), Some("finish_reason is error")),
            (json!({"error": {}}), None),
            (json!({"error": ""}), None),
            (json!({"error": null}), None),
            (json!({"error": false, "errors": []}), None),
            (json!({"choices": [], "message": "fine", "code": 0}), None),
            (json!({"message": "hello"}), None),
        ] {
            let found = match read(Api::Chat, &object, false) {
                Chunk::Error(message) => Some(message),
                Chunk::Part { .. } => None,
            };
            assert_eq!(found.as_deref(), expected, "{object}");
        }
        assert_eq!(read(Api::Chat, &json!({"message": "gone"}), true), Chunk::Error("gone".to_owned()));
    }

    #[test]
    fn usage_is_found_wherever_it_stands() {
        let full = Usage { input: Some(9), output: Some(4), cached: None };
        for (object, expected) in [
            (json!({"usage": {"prompt_tokens": 9, "completion_tokens": 4}}), Some(full)),
            (json!({"usage": {"prompt_tokens": "9", "completion_tokens": "4"}}), Some(full)),
            (json!({"usage": {"input_tokens": 9, "output_tokens": 4.0}}), Some(full)),
            (json!({"usage": null, "x_groq": {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}}), Some(full)),
            (json!({"choices": [{"delta": {}, "usage": {"prompt_tokens": 9, "completion_tokens": 4}}]}), Some(full)),
            (
                json!({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 8}}}),
                Some(Usage { cached: Some(8), ..full }),
            ),
            (
                json!({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 8}}),
                Some(Usage { cached: Some(8), ..full }),
            ),
            (json!({"usage": {"completion_tokens": -1}}), None),
            (json!({"usage": null}), None),
            (json!({}), None),
        ] {
            let Chunk::Part { usage, .. } = read(Api::Chat, &object, false) else { panic!("{object}") };
            assert_eq!(usage, expected, "{object}");
        }
    }
}
