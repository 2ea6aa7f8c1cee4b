//! What a request says.

use super::Api;
use serde_json::{Map, Value, json};

/// Keys of a request's body that the gate sets itself, and a spec's `target.body` may not.
pub const OWNED_KEYS: [&str; 11] = [
    "messages",
    "prompt",
    "input",
    "model",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "min_tokens",
    "ignore_eos",
    "n",
];

/// What is asked about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prompt<'a> {
    /// One text: a single user message in a chat.
    Text(&'a str),
    /// Messages as the chat API has them. The completions API gets their texts, a line each.
    Messages(&'a [Value]),
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ask<'a> {
    /// The model's name.
    pub model: &'a str,
    /// What is asked about.
    pub prompt: Prompt<'a>,
    /// The most tokens to generate.
    pub output_tokens: Option<u64>,
    /// Exactly that many: `min_tokens` and `ignore_eos`, which vLLM, SGLang and llama.cpp (`ignore_eos` only) know.
    pub exact: bool,
    /// Ask for usage at the stream's end.
    pub usage: bool,
    /// `target.body`; keys of [`OWNED_KEYS`] in it are ignored here and refused by the spec.
    pub extra: &'a Map<String, Value>,
}

/// Where the request goes, to be appended to the base URL.
#[must_use]
pub fn path(api: Api) -> &'static str {
    match api {
        Api::Chat => "/chat/completions",
        Api::Completions => "/completions",
    }
}

/// The request's JSON body.
///
/// The length is asked for by `max_tokens`, not by OpenAI's newer `max_completion_tokens`: every server of the field knows the first,
/// while several ignore the second without a word, and then every answer is as long as the model likes.
#[must_use]
pub fn body(api: Api, ask: &Ask<'_>) -> Vec<u8> {
    let mut body: Map<String, Value> =
        ask.extra.iter().filter(|(key, _)| !OWNED_KEYS.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone())).collect();
    let (key, prompt) = match (api, ask.prompt) {
        (Api::Chat, Prompt::Text(text)) => ("messages", json!([{ "role": "user", "content": text }])),
        (Api::Chat, Prompt::Messages(messages)) => ("messages", messages.into()),
        (Api::Completions, Prompt::Text(text)) => ("prompt", text.into()),
        (Api::Completions, Prompt::Messages(messages)) => {
            let texts: Vec<&str> = messages.iter().filter_map(|message| message.get("content")?.as_str()).collect();
            ("prompt", texts.join("\n").into())
        }
    };
    body.insert(key.to_owned(), prompt);
    body.insert("model".to_owned(), ask.model.into());
    body.insert("stream".to_owned(), true.into());
    if ask.usage {
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    if let Some(tokens) = ask.output_tokens {
        body.insert("max_tokens".to_owned(), tokens.into());
        if ask.exact {
            body.insert("min_tokens".to_owned(), tokens.into());
            body.insert("ignore_eos".to_owned(), true.into());
        }
    }
    Value::Object(body).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(api: Api, ask: &Ask<'_>) -> Value {
        serde_json::from_slice(&body(api, ask)).unwrap()
    }

    #[test]
    fn a_body_says_what_was_asked_and_no_more() {
        let extra = Map::new();
        let ask = Ask { model: "m", prompt: Prompt::Text("hi \"you\""), output_tokens: Some(7), exact: false, usage: true, extra: &extra };
        assert_eq!(
            built(Api::Chat, &ask),
            json!({"model": "m", "messages": [{"role": "user", "content": "hi \"you\""}], "stream": true,
                   "stream_options": {"include_usage": true}, "max_tokens": 7})
        );
        assert_eq!(
            built(Api::Completions, &Ask { usage: false, output_tokens: None, exact: true, ..ask }),
            json!({"model": "m", "prompt": "hi \"you\"", "stream": true})
        );
    }

    #[test]
    fn exact_lengths_need_three_keys() {
        let extra = Map::new();
        let messages = [json!({"role": "system", "content": "be brief"}), json!({"role": "user", "content": "hi"})];
        let prompt = Prompt::Messages(&messages);
        let ask = Ask { model: "m", prompt, output_tokens: Some(7), exact: true, usage: false, extra: &extra };
        assert_eq!(
            built(Api::Chat, &ask),
            json!({"model": "m", "messages": messages, "stream": true, "max_tokens": 7, "min_tokens": 7, "ignore_eos": true})
        );
        assert_eq!(built(Api::Completions, &ask)["prompt"], "be brief\nhi");
    }

    #[test]
    fn what_the_gate_owns_cannot_be_overridden() {
        let Value::Object(extra) = json!({"temperature": 0, "max_tokens": 1, "n": 4, "stream": false, "model": "other"}) else { panic!() };
        let ask = Ask { model: "m", prompt: Prompt::Text("hi"), output_tokens: Some(7), exact: false, usage: false, extra: &extra };
        assert_eq!(built(Api::Completions, &ask), json!({"model": "m", "prompt": "hi", "stream": true, "max_tokens": 7, "temperature": 0}));
    }
}
