//! What a client asks of the simulated server.

use serde_json::Value;

/// Tokens that a chat template adds to a prompt, and that a bare prompt gets for its beginning.
const CHAT_TEMPLATE: u64 = 10;
const BEGINNING: u64 = 1;
/// Tokens generated where a request sets no limit.
const DEFAULT_OUTPUT: u64 = 128;

/// Which of the two protocols a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/completions`.
    Text,
}

/// A request that the server understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) form: Form,
    pub(super) model: Option<String>,
    pub(super) prompt_tokens: u64,
    pub(super) max_tokens: u64,
    min_tokens: u64,
    ignore_eos: bool,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
}

impl Request {
    /// Reads a request's JSON.
    ///
    /// # Errors
    /// The text for the server's error object.
    pub(super) fn read(form: Form, body: &[u8]) -> Result<Self, String> {
        let body: Value = serde_json::from_slice(body).map_err(|error| format!("the body is no JSON: {error}"))?;
        let words = match form {
            Form::Chat => messages(&body["messages"])?,
            Form::Text => text(&body["prompt"]).ok_or("`prompt` must be a string or a list of strings")?,
        };
        let count = |key: &str| match &body[key] {
            Value::Null => Ok(None),
            value => value.as_u64().map(Some).ok_or_else(|| format!("`{key}` must be a whole number")),
        };
        let max_tokens = count("max_completion_tokens")?.or(count("max_tokens")?).unwrap_or(DEFAULT_OUTPUT);
        let min_tokens = count("min_tokens")?.unwrap_or(0);
        if max_tokens == 0 || min_tokens > max_tokens {
            return Err("`max_tokens` must be at least 1 and at least `min_tokens`".to_owned());
        }
        Ok(Self {
            form,
            model: body["model"].as_str().map(str::to_owned),
            prompt_tokens: words + if form == Form::Chat { CHAT_TEMPLATE } else { BEGINNING },
            max_tokens,
            min_tokens,
            ignore_eos: body["ignore_eos"].as_bool().unwrap_or(false),
            stream: body["stream"].as_bool().unwrap_or(false),
            include_usage: body["stream_options"]["include_usage"].as_bool().unwrap_or(false),
        })
    }

    /// Tokens to generate by a model that would stop by itself after `natural`, or never where that is 0.
    pub(super) fn output_tokens(&self, natural: u64) -> u64 {
        if natural == 0 || self.ignore_eos { self.max_tokens } else { natural.clamp(self.min_tokens.max(1), self.max_tokens) }
    }
}

fn messages(messages: &Value) -> Result<u64, String> {
    let messages = messages.as_array().filter(|list| !list.is_empty()).ok_or("`messages` must be a list with one message")?;
    Ok(messages.iter().map(|message| text(&message["content"]).unwrap_or(0)).sum())
}

/// Words of a string, of a list of strings, or of a list of parts with `text`.
fn text(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => Some(text.split_whitespace().count() as u64),
        Value::Array(parts) => Some(parts.iter().map(|part| text(part).or_else(|| text(&part["text"])).unwrap_or(0)).sum()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: Form, body: &str) -> Request {
        Request::read(form, body.as_bytes()).unwrap()
    }

    #[test]
    fn a_word_is_a_token_and_the_template_adds_its_own() {
        let chat = r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"one two"}]}]}"#;
        assert_eq!(read(Form::Chat, chat).prompt_tokens, 14);
        assert_eq!(read(Form::Text, r#"{"prompt":" one two three"}"#).prompt_tokens, 4);
    }

    #[test]
    fn an_answer_is_as_long_as_asked_or_as_the_model_likes() {
        let open = read(Form::Text, r#"{"prompt":"a","max_tokens":50}"#);
        assert_eq!((open.output_tokens(0), open.output_tokens(20), open.output_tokens(80)), (50, 20, 50));
        let least = read(Form::Text, r#"{"prompt":"a","max_tokens":50,"min_tokens":30}"#);
        assert_eq!(least.output_tokens(20), 30);
        let exact = read(Form::Text, r#"{"prompt":"a","max_completion_tokens":50,"ignore_eos":true}"#);
        assert_eq!(exact.output_tokens(20), 50);
    }

    #[test]
    fn nonsense_is_refused_in_words() {
        for body in ["", "{}", r#"{"messages":[]}"#, r#"{"messages":[{"content":"a"}],"max_tokens":0}"#] {
            assert!(!Request::read(Form::Chat, body.as_bytes()).unwrap_err().is_empty());
        }
        assert!(Request::read(Form::Text, br#"{"prompt":"a","max_tokens":2,"min_tokens":3}"#).is_err());
    }
}
