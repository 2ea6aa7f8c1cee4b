//! One request and its answer.

use super::connect::Opened;
use super::stamp::Stamps;
use super::{Client, Config};
use crate::plan::Prompt;
use crate::units::Nanos;
use crate::wire::{self, AnswerReader, Ask, Ending, ErrorKind, Failure, Head, Next, Outcome, Reading};
use ::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use bytes::Bytes;
use reqwest::Response;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

mod wait;
use wait::Wait;

/// How long after an answer's terminator the body's end is waited for, so that the connection can be used again.
const GRACE: Duration = Duration::from_millis(200);
/// Bytes of one answer, as they come over the wire.
const MAX_ANSWER: usize = 256 << 20;

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
    let prompt = match prompt {
        Prompt::Text(text) => wire::Prompt::Text(text),
        Prompt::Messages(messages) => wire::Prompt::Messages(messages),
    };
    let ask = Ask { model: &config.model, prompt, output_tokens: Some(max_tokens), exact, usage: true, extra: &config.body };
    wire::body(config.api, &ask).into()
}

/// Sends `body` and follows the answer, of some `tokens` tokens, to its end.
pub(super) async fn post(client: &Client, body: Bytes, tokens: u64) -> Exchange {
    let url = client.url(wire::path(client.config.api));
    let request = client.http.post(url).headers(client.headers.clone()).body(body);
    let opened = Opened::default();
    let sent = client.now();
    let first = Deadline::first(client, sent);
    let answer = timeout_at(first.at, opened.measure(request.send())).await;
    let headers = client.now();
    let connect = opened.nanos().map(Nanos);
    match answer {
        Ok(Ok(response)) => {
            let status = Some(response.status().as_u16());
            let reading = follow(client, sent, tokens, response).await;
            Exchange { sent, connect, headers: Some(headers), closed: client.now(), status, reading }
        }
        Ok(Err(error)) => {
            let kind = if error.is_connect() { ErrorKind::Connect } else { ErrorKind::Disconnect };
            let reading = failed(Failure::new(kind, &chain(&error.without_url())));
            Exchange { sent, connect, headers: None, closed: headers, status: None, reading }
        }
        Err(_) => {
            let reading = failed(Failure::new(ErrorKind::Timeout, first.words));
            Exchange { sent, connect, headers: None, closed: headers, status: None, reading }
        }
    }
}

/// Reads an answer to its end, each read stamped before anything looks into it.
async fn follow(client: &Client, sent: Nanos, tokens: u64, mut response: Response) -> Reading {
    let mut reader = {
        let text = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
        let status = response.status().as_u16();
        let head = Head { status, content_type: text(CONTENT_TYPE), content_encoding: text(CONTENT_ENCODING) };
        AnswerReader::new(client.config.api, &head).asked_for_usage(true).expecting(tokens)
    };
    let mut stamps = Stamps::default();
    let mut size = 0_usize;
    let mut lingering = None;
    let mut wait = Wait::until(Deadline::first(client, sent).at);
    let ending = loop {
        let deadline = Deadline::next(client, sent, reader.last_token(), lingering);
        wait.set(deadline.at);
        let asked = client.now();
        match wait.on(response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let at = stamps.stamp(asked, client.now());
                size += bytes.len();
                if size > MAX_ANSWER {
                    break Ending::Broken("the answer is larger than 256 MiB".to_owned());
                }
                match reader.push(&bytes, at) {
                    Next::Read => {}
                    Next::Linger => lingering = lingering.or(Some(at)),
                    Next::Stop => break Ending::Stopped,
                }
            }
            Ok(Ok(None)) => break Ending::Clean,
            Ok(Err(error)) => break Ending::Broken(chain(&error.without_url())),
            Err(_) if lingering.is_some() => break Ending::Stopped,
            Err(_) => break Ending::TimedOut(deadline.words.to_owned()),
        }
    };
    reader.finish(ending)
}

/// When a request is given up, and which limit that is.
struct Deadline {
    at: Instant,
    words: &'static str,
}

impl Deadline {
    /// Before the first token.
    fn first(client: &Client, sent: Nanos) -> Self {
        let timeouts = client.config.timeouts;
        let start = client.epoch + Duration::from(sent);
        Self { at: later(start, timeouts.first_token), words: "no first token within `timeout.first_token`" }
            .or_total(later(start, timeouts.total))
    }

    /// While the answer comes.
    fn next(client: &Client, sent: Nanos, last_token: Option<Nanos>, lingering: Option<Nanos>) -> Self {
        let timeouts = client.config.timeouts;
        let instant = |at: Nanos| client.epoch + Duration::from(at);
        let nearest = match (lingering, last_token) {
            (Some(done), _) => Self { at: later(instant(done), GRACE), words: "" },
            (None, Some(last)) => {
                Self { at: later(instant(last), timeouts.between_tokens), words: "no further token within `timeout.between_tokens`" }
            }
            (None, None) => return Self::first(client, sent),
        };
        nearest.or_total(later(instant(sent), timeouts.total))
    }

    fn or_total(self, at: Instant) -> Self {
        if at < self.at { Self { at, words: "not finished within `timeout.total`" } } else { self }
    }
}

/// `span` after `start`; a span beyond what the clock can hold is as good as a year.
pub(super) fn later(start: Instant, span: Duration) -> Instant {
    start.checked_add(span).unwrap_or(start + Duration::from_secs(365 * 86_400))
}

/// A reading of no answer at all.
fn failed(failure: Failure) -> Reading {
    Reading {
        outcome: Outcome::Error(failure),
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
    }
}

/// An error with its causes, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}
