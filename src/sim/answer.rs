//! What the simulated server says, as JSON.

use super::request::{Form, Request};
use serde_json::{Value, json};

/// One answer's constant parts.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    form: Form,
    id: String,
    model: String,
    prompt_tokens: u64,
    cached_tokens: u64,
}

impl Answer {
    pub(super) fn new(request: &Request, number: u64, model: &str, cached_tokens: u64) -> Self {
        Self {
            form: request.form,
            id: format!("sim-{number}"),
            model: model.to_owned(),
            prompt_tokens: request.prompt_tokens,
            cached_tokens: cached_tokens.min(request.prompt_tokens),
        }
    }

    /// Whether it is a chat's.
    pub(super) fn is_chat(&self) -> bool {
        self.form == Form::Chat
    }

    fn chunk(&self, choices: &Value) -> Value {
        let object = match self.form {
            Form::Chat => "chat.completion.chunk",
            Form::Text => "text_completion",
        };
        json!({ "id": self.id, "object": object, "created": 0, "model": self.model, "choices": choices })
    }

    /// The event that holds a role and no text.
    pub(super) fn role(&self) -> String {
        event(&self.chunk(&json!([{ "index": 0, "delta": { "role": "assistant", "content": "" }, "finish_reason": null }])))
    }

    /// An event with `tokens` tokens.
    pub(super) fn tokens(&self, first: u64, tokens: u64) -> String {
        let text = text(first, tokens);
        let choice = match self.form {
            Form::Chat => json!([{ "index": 0, "delta": { "content": text }, "finish_reason": null }]),
            Form::Text => json!([{ "index": 0, "text": text, "finish_reason": null }]),
        };
        event(&self.chunk(&choice))
    }

    /// The events that end a stream.
    pub(super) fn end(&self, reason: &str, usage: Option<u64>) -> String {
        let choice = match self.form {
            Form::Chat => json!([{ "index": 0, "delta": {}, "finish_reason": reason }]),
            Form::Text => json!([{ "index": 0, "text": "", "finish_reason": reason }]),
        };
        let mut text = event(&self.chunk(&choice));
        if let Some(output) = usage {
            let mut last = self.chunk(&json!([]));
            last["usage"] = self.usage(output);
            text.push_str(&event(&last));
        }
        text.push_str("data: [DONE]\n\n");
        text
    }

    /// A whole answer to a request that asked for no stream.
    pub(super) fn whole(&self, output: u64, reason: &str, with_usage: bool) -> Value {
        let text = text(0, output);
        let (object, choice) = match self.form {
            Form::Chat => {
                ("chat.completion", json!({ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": reason }))
            }
            Form::Text => ("text_completion", json!({ "index": 0, "text": text, "finish_reason": reason })),
        };
        let mut answer = json!({ "id": self.id, "object": object, "created": 0, "model": self.model, "choices": [choice] });
        if with_usage {
            answer["usage"] = self.usage(output);
        }
        answer
    }

    fn usage(&self, output: u64) -> Value {
        let cached = json!({ "cached_tokens": self.cached_tokens });
        let total = self.prompt_tokens + output;
        json!({ "prompt_tokens": self.prompt_tokens, "completion_tokens": output, "total_tokens": total, "prompt_tokens_details": cached })
    }
}

/// An error object as servers give it.
pub(super) fn error(message: &str, code: u16) -> Value {
    json!({ "error": { "message": message, "type": "sim_error", "code": code } })
}

/// A server-sent event.
pub(super) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// Words for tokens `first` to `first + tokens`.
fn text(first: u64, tokens: u64) -> String {
    const WORDS: [&str; 8] = [" the", " gate", " opens", " when", " every", " token", " comes", " soon"];
    (first..first + tokens).map(|index| WORDS[usize::try_from(index % 8).unwrap_or(0)]).collect()
}
