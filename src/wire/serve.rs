//! The server's side of both protocols: events spelled, requests understood. The simulated server speaks through it.

use super::Api;
use super::json::{count, text};
use serde_json::{Value, json};

/// The terminator.
pub const DONE: &[u8] = b"data: [DONE]\n\n";

/// Spells the events of one answer as OpenAI's API and vLLM do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    api: Api,
    id: String,
    model: String,
    created: u64,
}

impl Spelling {
    /// The events of the answer `id` of `model`, `created` at this second of the Unix epoch.
    #[must_use]
    pub fn new(api: Api, id: impl Into<String>, model: impl Into<String>, created: u64) -> Self {
        Self { api, id: id.into(), model: model.into(), created }
    }

    /// The first event of a chat, which carries a role and no text; nothing for completions.
    #[must_use]
    pub fn role(&self) -> Vec<u8> {
        match self.api {
            Api::Chat => self.choice(json!({ "index": 0, "delta": { "role": "assistant", "content": "" }, "finish_reason": null })),
            Api::Completions => Vec::new(),
        }
    }

    /// An event that carries this text.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<u8> {
        match self.api {
            Api::Chat => self.choice(json!({ "index": 0, "delta": { "content": text }, "finish_reason": null })),
            Api::Completions => self.choice(json!({ "index": 0, "text": text, "logprobs": null, "finish_reason": null })),
        }
    }

    /// A chat's event that carries reasoning; completions know none, so it is text there.
    #[must_use]
    pub fn reasoning(&self, text: &str) -> Vec<u8> {
        match self.api {
            Api::Chat => self.choice(json!({ "index": 0, "delta": { "reasoning_content": text }, "finish_reason": null })),
            Api::Completions => self.tokens(text),
        }
    }

    /// The event with the finish reason (`stop`, `length`) and no text.
    #[must_use]
    pub fn finish(&self, reason: &str) -> Vec<u8> {
        match self.api {
            Api::Chat => self.choice(json!({ "index": 0, "delta": {}, "finish_reason": reason })),
            Api::Completions => self.choice(json!({ "index": 0, "text": "", "logprobs": null, "finish_reason": reason })),
        }
    }

    /// The event with the usage, in tokens, and no choices.
    #[must_use]
    pub fn usage(&self, prompt: u64, completion: u64, cached: Option<u64>) -> Vec<u8> {
        let mut usage =
            json!({ "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt.saturating_add(completion) });
        if let (Some(cached), Some(fields)) = (cached, usage.as_object_mut()) {
            fields.insert("prompt_tokens_details".to_owned(), json!({ "cached_tokens": cached }));
        }
        self.event(json!([]), Some(usage))
    }

    /// The event of an error in the stream.
    #[must_use]
    pub fn error(&self, code: u16, message: &str) -> Vec<u8> {
        spell(&error_object(code, message))
    }

    /// The body of an HTTP error.
    #[must_use]
    pub fn error_body(code: u16, message: &str) -> Vec<u8> {
        error_object(code, message).to_string().into_bytes()
    }

    fn choice(&self, choice: Value) -> Vec<u8> {
        self.event(Value::Array(vec![choice]), None)
    }

    fn event(&self, choices: Value, usage: Option<Value>) -> Vec<u8> {
        let kind = match self.api {
            Api::Chat => "chat.completion.chunk",
            Api::Completions => "text_completion",
        };
        let mut event = json!({ "id": self.id, "object": kind, "created": self.created, "model": self.model });
        if let Some(fields) = event.as_object_mut() {
            fields.insert("choices".to_owned(), choices);
            fields.extend(usage.map(|usage| ("usage".to_owned(), usage)));
        }
        spell(&event)
    }
}

fn error_object(code: u16, message: &str) -> Value {
    let kind = if code < 500 { "invalid_request_error" } else { "server_error" };
    json!({ "error": { "message": message, "type": kind, "code": code } })
}

fn spell(event: &Value) -> Vec<u8> {
    format!("data: {event}\n\n").into_bytes()
}

/// What a request asks for, as far as a simulated server cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The model's name; empty where none was given.
    pub model: String,
    /// Words of the prompt, or of all messages together.
    pub prompt_words: u64,
    /// The most tokens to generate: `max_completion_tokens`, else `max_tokens`.
    pub max_tokens: Option<u64>,
    /// At least so many: `min_tokens`.
    pub min_tokens: Option<u64>,
    /// `ignore_eos`.
    pub ignore_eos: bool,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// `stream_options.include_usage`.
    pub include_usage: bool,
}

/// Why a request is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// The body is no JSON object.
    #[error("the request body is not a JSON object")]
    NotJson,
    /// The key that this API needs is missing or of the wrong type.
    #[error("{0} is missing or of the wrong type")]
    Missing(&'static str),
    /// A count of tokens is not a positive whole number.
    #[error("{0} must be a whole number of at least 1")]
    NotPositive(&'static str),
}

/// Understands a request's body.
///
/// # Errors
/// [`BadRequest`], which a server answers with HTTP 400.
pub fn parse_request(api: Api, body: &[u8]) -> Result<Asked, BadRequest> {
    let body: Value = serde_json::from_slice(body).map_err(|_| BadRequest::NotJson)?;
    if !body.is_object() {
        return Err(BadRequest::NotJson);
    }
    let prompt_words = match api {
        Api::Chat => body
            .get("messages")
            .and_then(Value::as_array)
            .filter(|messages| !messages.is_empty())
            .map(|messages| messages.iter().filter_map(|message| message.get("content")).map(words).sum()),
        Api::Completions => body.get("prompt").filter(|prompt| prompt.is_string() || prompt.is_array()).map(words),
    };
    let key = match api {
        Api::Chat => "messages",
        Api::Completions => "prompt",
    };
    let tokens = |key: &'static str| match body.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => count(value).filter(|tokens| *tokens > 0).map(Some).ok_or(BadRequest::NotPositive(key)),
    };
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool).unwrap_or(false);
    Ok(Asked {
        model: text(body.get("model")).unwrap_or_default().to_owned(),
        prompt_words: prompt_words.ok_or(BadRequest::Missing(key))?,
        max_tokens: tokens("max_completion_tokens")?.or(tokens("max_tokens")?),
        min_tokens: tokens("min_tokens")?,
        ignore_eos: flag(body.get("ignore_eos")),
        stream: flag(body.get("stream")),
        include_usage: flag(body.get("stream_options").and_then(|options| options.get("include_usage"))),
    })
}

/// The prompt of a request cut into blocks of `block` tokens, a word being one and `before` more coming first: a hash of each whole
/// block and all that comes before it, so that equal hashes mean equal beginnings. Nothing where the request is none.
#[must_use]
pub fn prompt_blocks(api: Api, body: &[u8], before: u64, block: u64) -> Vec<u64> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    let mut texts = Vec::new();
    match api {
        Api::Chat => {
            let messages = body.get("messages").and_then(Value::as_array);
            messages.into_iter().flatten().filter_map(|message| message.get("content")).for_each(|content| gather(content, &mut texts));
        }
        Api::Completions => body.get("prompt").into_iter().for_each(|prompt| gather(prompt, &mut texts)),
    }
    let (mut hash, mut tokens, mut blocks) = (0xCBF2_9CE4_8422_2325_u64, before, Vec::new());
    for word in texts.into_iter().flat_map(str::split_whitespace) {
        // FNV-1a, each word closed by a byte that no text holds.
        hash = word.bytes().chain([0xFF]).fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        tokens += 1;
        if tokens.is_multiple_of(block.max(1)) {
            blocks.push(hash);
        }
    }
    blocks
}

/// The texts that [`words`] counts.
fn gather<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(parts) => parts.iter().for_each(|part| gather(part, texts)),
        Value::Object(part) => part.get("text").into_iter().for_each(|text| gather(text, texts)),
        _ => {}
    }
}

/// Words in a text, or in the texts of a list of parts.
fn words(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.split_whitespace().count() as u64,
        Value::Array(parts) => parts.iter().map(words).sum(),
        Value::Object(part) => part.get("text").map_or(0, words),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ask, Prompt, body};

    #[test]
    fn what_the_client_side_asks_the_server_side_understands() {
        let extra = serde_json::Map::new();
        let prompt = Prompt::Text("three short words");
        let ask = Ask { model: "m", prompt, output_tokens: Some(9), exact: true, usage: true, extra: &extra };
        for api in [Api::Chat, Api::Completions] {
            let expected = Asked {
                model: "m".to_owned(),
                prompt_words: 3,
                max_tokens: Some(9),
                min_tokens: Some(9),
                ignore_eos: true,
                stream: true,
                include_usage: true,
            };
            assert_eq!(parse_request(api, &body(api, &ask)), Ok(expected));
        }
    }

    #[test]
    fn a_request_that_is_none_is_refused() {
        for (api, body, expected) in [
            (Api::Chat, "", BadRequest::NotJson),
            (Api::Chat, "[]", BadRequest::NotJson),
            (Api::Chat, "{}", BadRequest::Missing("messages")),
            (Api::Chat, r#"{"messages": []}"#, BadRequest::Missing("messages")),
            (Api::Completions, r#"{"messages": [{}]}"#, BadRequest::Missing("prompt")),
            (Api::Completions, r#"{"prompt": "x", "max_tokens": 0}"#, BadRequest::NotPositive("max_tokens")),
            (Api::Completions, r#"{"prompt": "x", "min_tokens": -1}"#, BadRequest::NotPositive("min_tokens")),
        ] {
            assert_eq!(parse_request(api, body.as_bytes()), Err(expected), "{body}");
        }
    }

    #[test]
    fn words_are_counted_over_messages_and_parts() {
        let body =
            br#"{"messages": [{"role": "system", "content": "be  brief"}, {"content": [{"type": "text", "text": "hi you"}, {}]}, 3]}"#;
        assert_eq!(parse_request(Api::Chat, body).unwrap().prompt_words, 4);
    }
}
