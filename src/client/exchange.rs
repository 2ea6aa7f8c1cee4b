//! One request and its answer.

use super::{Client, Config};
use crate::plan::Prompt;
use crate::units::Nanos;
use crate::wire::{ErrorKind, Failure, Outcome, Reading};
use bytes::Bytes;

/// What became of one request. Instants count from the client's epoch.
pub(super) struct Exchange {
    /// When sending began.
    pub(super) sent: Nanos,
    /// How long its own connection took to open.
    pub(super) connect: Option<Nanos>,
    /// When the answer's head was there.
    pub(super) headers: Option<Nanos>,
    /// End of the body, or when it was given up.
    pub(super) closed: Nanos,
    /// The answer's status.
    pub(super) status: Option<u16>,
    /// What the answer held.
    pub(super) reading: Reading,
}

/// A request's body.
pub(super) fn body(config: &Config, prompt: &Prompt, max_tokens: u64, exact: bool) -> Bytes {
    let _ = (config, prompt, max_tokens, exact);
    Bytes::new()
}

/// Sends `body` and follows the answer to its end.
pub(super) async fn post(client: &Client, body: Bytes) -> Exchange {
    let sent = client.now();
    let _ = body;
    let reading = Reading {
        outcome: Outcome::Error(Failure::new(ErrorKind::Malformed, "this build cannot read answers yet")),
        first_token: None,
        first_answer: None,
        last_token: None,
        gaps: Vec::new(),
        events: 0,
        reads: 0,
        input_tokens: None,
        output_tokens: None,
        cached_tokens: None,
        token_source: None,
        finish_reason: None,
        done: None,
        warnings: Vec::new(),
    };
    Exchange { sent, connect: None, headers: None, closed: client.now(), status: None, reading }
}

/// An error with its causes, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}
