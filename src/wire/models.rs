//! `GET /models`: which models a server has.

use super::json::count;
use serde_json::Value;

/// One model of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name in requests.
    pub id: String,
    /// Prompt and answer together may have this many tokens: vLLM's and SGLang's `max_model_len`, llama.cpp's `meta.n_ctx`, others'
    /// `context_length`.
    pub max_model_len: Option<u64>,
}

/// The models in an answer to `GET /models`; empty where it is no such answer.
#[must_use]
pub fn parse_models(bytes: &[u8]) -> Vec<ModelInfo> {
    let Ok(answer) = serde_json::from_slice::<Value>(bytes) else { return Vec::new() };
    let list = answer.get("data").unwrap_or(&answer).as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(model).collect()
}

fn model(value: &Value) -> Option<ModelInfo> {
    let id = value.get("id")?.as_str()?.to_owned();
    let own = ["max_model_len", "context_length", "max_context_length", "context_window"].into_iter().find_map(|key| value.get(key));
    let length = own.or_else(|| value.get("meta")?.get("n_ctx")).and_then(count).filter(|length| *length > 0);
    Some(ModelInfo { id, max_model_len: length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_of_models_has_none() {
        for text in ["", "{}", "[]", "not json", r#"{"data": null}"#, r#"{"data": [{"name": "m"}, 3]}"#] {
            assert_eq!(parse_models(text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn a_context_length_of_any_server_is_found() {
        let text = br#"{"data": [{"id": "a", "max_model_len": 512}, {"id": "b", "meta": {"n_ctx": 2048}}, {"id": "c", "meta": null}]}"#;
        let model = |id: &str, max_model_len| ModelInfo { id: id.to_owned(), max_model_len };
        assert_eq!(parse_models(text), [model("a", Some(512)), model("b", Some(2048)), model("c", None)]);
    }
}
