//! The JSON Schema of a spec, for editors: made from the table of keys and the catalogue of metrics.

use super::keys::{self, Key, Shape};
use super::schema_lines::{line_doc, line_pattern};
use serde_json::{Map, Value, json};

/// The schema. Editors find it by the first line of a preset: `# yaml-language-server: $schema=goodput-gate.schema.json`.
#[must_use]
pub fn schema() -> Value {
    let mut root = object("");
    let extra = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "goodput-gate spec",
        "description": "One gate over an LLM service: where it is, what is sent, how much, and what must hold.",
        "required": ["name", "slo"],
    });
    if let (Value::Object(root), Value::Object(extra)) = (&mut root, extra) {
        root.extend(extra);
    }
    root
}

fn object(path: &str) -> Value {
    let mut properties = Map::new();
    for row in keys::below(path) {
        let name = row.path.rsplit('.').next().unwrap_or(row.path);
        properties.insert(name.to_owned(), property(row));
    }
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn property(row: &Key) -> Value {
    let mut value = match row.shape {
        Shape::Map => object(row.path),
        Shape::Open => json!({ "type": "object" }),
        Shape::TextOrMap => json!({ "oneOf": [{ "type": "string" }, object(row.path)] }),
        Shape::MapOrList => {
            let one = object(row.path);
            json!({ "oneOf": [one, { "type": "array", "minItems": 1, "items": one }] })
        }
        Shape::Text => json!({ "type": "string", "minLength": 1 }),
        Shape::Pattern(pattern) => pattern_value(row.path, pattern),
        Shape::Choice(words) => choice(words),
        Shape::Integer(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Number => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Texts(pattern) => json!({ "type": "array", "minItems": 1, "items": { "type": ["string", "integer"], "pattern": pattern } }),
        Shape::Lines(grammar) => json!({
            "type": "array", "minItems": 1,
            "items": { "type": "string", "pattern": line_pattern(grammar), "description": line_doc(grammar) },
        }),
    };
    if let Value::Object(map) = &mut value {
        map.insert("description".to_owned(), row.doc.into());
        if let Some(default) = default_value(row) {
            map.insert("default".to_owned(), default);
        }
    }
    value
}

/// Bare whole numbers of these keys are numbers to YAML.
fn pattern_value(path: &str, pattern: &str) -> Value {
    let numeric = matches!(
        path,
        "workload.max_input" | "workload.max_output" | "workload.turns" | "workload.shared_prefix" | "load.rounds" | "budget.tokens"
    );
    if numeric {
        json!({ "type": ["string", "integer"], "pattern": pattern, "minimum": 0 })
    } else {
        json!({ "type": "string", "pattern": pattern })
    }
}

fn choice(words: &[&str]) -> Value {
    if words.contains(&"true") { json!({ "enum": ["auto", true, false] }) } else { json!({ "type": "string", "enum": words }) }
}

fn default_value(row: &Key) -> Option<Value> {
    let text = row.default;
    match row.shape {
        _ if text.is_empty() => None,
        Shape::Integer(..) => text.parse::<u64>().ok().map(Value::from),
        Shape::Open => Some(json!({})),
        Shape::Lines(_) => None,
        Shape::Texts(_) => {
            let items = text.trim_matches(['[', ']']).split(", ");
            Some(Value::Array(items.map(|item| item.parse::<u64>().map_or_else(|_| item.into(), Value::from)).collect()))
        }
        _ => Some(text.parse::<u64>().map_or_else(|_| text.into(), Value::from)),
    }
}
