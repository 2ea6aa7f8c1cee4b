//! What the simulated server says.

use crate::wire::{Api, DONE, Spelling};
use serde_json::{Value, json};

/// One answer.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    api: Api,
    model: String,
    spelling: Spelling,
    /// Whether usage is told, and its counts.
    usage: Option<Usage>,
}

/// What an answer tells of its counts beside the tokens generated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) prompt: u64,
    pub(super) cached: u64,
}

impl Answer {
    pub(super) fn new(api: Api, number: u64, model: &str, usage: Option<Usage>) -> Self {
        Self { api, model: model.to_owned(), spelling: Spelling::new(api, format!("sim-{number}"), model, 0), usage }
    }

    /// The event that holds a role and no text; nothing where the protocol has none.
    pub(super) fn role(&self) -> Vec<u8> {
        self.spelling.role()
    }

    /// An event with `tokens` tokens, the first of which is the answer's token number `first`.
    pub(super) fn tokens(&self, first: u64, tokens: u64) -> Vec<u8> {
        self.spelling.tokens(&text(first, tokens))
    }

    /// An error in the stream.
    pub(super) fn error(&self) -> Vec<u8> {
        self.spelling.error(500, "simulated failure")
    }

    /// The events that end a stream of `output` tokens.
    pub(super) fn end(&self, reason: &str, output: u64) -> Vec<u8> {
        let mut events = self.spelling.finish(reason);
        if let Some(Usage { prompt, cached }) = self.usage {
            events.extend(self.spelling.usage(prompt, output, Some(cached)));
        }
        events.extend(DONE);
        events
    }

    /// A whole answer to a request that asked for no stream.
    pub(super) fn whole(&self, output: u64, reason: &str) -> Value {
        let text = text(0, output);
        let (object, choice) = match self.api {
            Api::Chat => {
                let message = json!({ "role": "assistant", "content": text });
                ("chat.completion", json!({ "index": 0, "message": message, "finish_reason": reason }))
            }
            Api::Completions => ("text_completion", json!({ "index": 0, "text": text, "finish_reason": reason })),
        };
        let usage = self.usage.map(|Usage { prompt, cached }| {
            let details = json!({ "cached_tokens": cached });
            json!({ "prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output, "prompt_tokens_details": details })
        });
        json!({ "id": "sim", "object": object, "created": 0, "model": self.model, "choices": [choice], "usage": usage })
    }
}

/// Words for tokens `first` to `first + tokens`.
fn text(first: u64, tokens: u64) -> String {
    const WORDS: [&str; 8] = [" the", " gate", " opens", " when", " every", " token", " comes", " soon"];
    (first..first.saturating_add(tokens)).map(|index| WORDS[usize::try_from(index % 8).unwrap_or(0)]).collect()
}
