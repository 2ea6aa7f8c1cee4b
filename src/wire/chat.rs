//! `/chat/completions`: where a choice of a chunk carries generated text.

use super::chunk::Carried;
use super::json::{is_falsy, text};
use serde_json::Value;

/// The names under which servers send reasoning. One delta may fill several with the same text.
const REASONING: [&str; 6] = ["reasoning_content", "reasoning", "reasoning_text", "reasoning_details", "thinking", "thinking_blocks"];

/// What a delta, or a whole message, carries.
pub(super) fn carried(delta: &Value) -> Carried {
    let mut carried = Carried::default();
    for key in REASONING {
        carried.reasoning |= delta.get(key).is_some_and(|value| parts(value).any());
    }
    if let Some(content) = delta.get("content") {
        carried.add(parts(content));
    }
    if text(delta.get("refusal")).is_some() {
        carried.refusal = true;
    }
    let calls = delta.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for call in calls.iter().filter_map(|call| call.get("function").or_else(|| call.get("custom"))).chain(delta.get("function_call")) {
        let arguments = call.get("arguments").or_else(|| call.get("input"));
        carried.answer |= arguments.is_some_and(|arguments| match arguments {
            Value::String(text) => !text.is_empty(),
            other => !is_falsy(other),
        });
        carried.tool_name |= text(call.get("name")).is_some();
    }
    carried
}

/// Text in a string, in a part, or in a list of parts: Mistral and others pack thinking and text into one array.
fn parts(value: &Value) -> Carried {
    match value {
        Value::String(text) => Carried { answer: !text.is_empty(), ..Carried::default() },
        Value::Array(items) => items.iter().map(parts).fold(Carried::default(), |mut all, part| {
            all.add(part);
            all
        }),
        Value::Object(part) => {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
            let mut found = Carried::default();
            for (key, value) in part {
                let inner = match key.as_str() {
                    "text" | "content" | "summary" | "refusal" | "thinking" | "reasoning" => parts(value),
                    _ => continue,
                };
                let thought = key == "thinking" || key == "reasoning" || kind.contains("thinking") || kind.contains("reasoning");
                found.refusal |= inner.any() && key == "refusal";
                found.reasoning |= inner.reasoning || inner.any() && thought;
                found.answer |= inner.answer && !thought;
            }
            found
        }
        _ => Carried::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kinds(delta: Value) -> &'static str {
        let carried = carried(&delta);
        match (carried.reasoning, carried.answer, carried.refusal) {
            (false, false, false) => "nothing",
            (true, false, false) => "reasoning",
            (false, true, false) => "answer",
            (true, true, false) => "both",
            (_, _, true) => "refusal",
        }
    }

    #[test]
    fn only_generated_text_counts() {
        for (delta, expected) in [
            (json!(null), "nothing"),
            (json!({}), "nothing"),
            (json!({"role": "assistant", "content": ""}), "nothing"),
            (json!({"content": null}), "nothing"),
            (json!({"content": " "}), "answer"),
            (json!({"content": [{"type": "text", "text": ""}]}), "nothing"),
            (json!({"content": [{"type": "text", "text": "x"}]}), "answer"),
            (json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}]}), "reasoning"),
            (json!({"content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "y"}]}), "both"),
            (json!({"content": [{"type": "image_url", "image_url": {"url": "x"}}]}), "nothing"),
            (json!({"reasoning": "x", "reasoning_content": "x"}), "reasoning"),
            (json!({"reasoning": null, "content": "x"}), "answer"),
            (json!({"reasoning_details": [{"type": "reasoning.text", "text": "x"}]}), "reasoning"),
            (json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}), "nothing"),
            (json!({"refusal": "no"}), "refusal"),
            (json!({"refusal": null}), "nothing"),
            (json!({"tool_calls": [{"function": {"name": "f", "arguments": ""}}]}), "nothing"),
            (json!({"tool_calls": [{"function": {"arguments": "{"}}]}), "answer"),
            (json!({"tool_calls": [{"function": {"arguments": {"a": 1}}}]}), "answer"),
            (json!({"tool_calls": null}), "nothing"),
            (json!({"function_call": {"arguments": "{"}}), "answer"),
        ] {
            assert_eq!(kinds(delta.clone()), expected, "{delta}");
        }
    }
}
