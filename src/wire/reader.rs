//! Bytes of one answer in, a [`Reading`] out.

use super::answer::Answer;
use super::chunk::error_message;
use super::encoding::{Decoder, EncodingError};
use super::sse::{MAX_EVENT, SseItem, SseReader, TooLong};
use super::{Api, Ending, ErrorKind, Failure, Head, Next, Outcome, Reading, TokenSource, Warning, json};
use crate::units::Nanos;

/// Decoded bytes that one answer may have: a million tokens of long events.
const MAX_ANSWER: u64 = 256 << 20;

/// Gaps that room is made for ahead of time.
const MAX_ROOM: usize = 2048;

/// Bytes of an error's body that are looked at.
const MAX_ERROR_BODY: usize = 64 << 10;

/// Reads one answer to a streaming request, incrementally. It holds one unfinished event, the sums, and a gap for each token.
#[derive(Debug)]
pub struct AnswerReader {
    api: Api,
    status: u16,
    html: bool,
    usage_asked: bool,
    decoder: Result<Decoder, EncodingError>,
    body: Body,
    /// Reads with bytes in them, and when the last one was.
    reads: u64,
    last_read: Nanos,
    /// Why nothing more can be read.
    hopeless: Option<String>,
}

/// What the decoded bytes go into.
#[derive(Debug, Default)]
struct Body {
    sse: SseReader,
    answer: Answer,
    /// Lines outside of any event, and the body of an HTTP error: bounded.
    stray: Vec<u8>,
    decoded: u64,
}

impl AnswerReader {
    /// A reader for the answer with this head.
    #[must_use]
    pub fn new(api: Api, head: &Head<'_>) -> Self {
        let html = head.content_type.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html"));
        let decoder = Decoder::new(head.content_encoding);
        let hopeless = decoder.as_ref().err().map(ToString::to_string);
        let body = Body::default();
        Self { api, status: head.status, html, usage_asked: false, decoder, body, reads: 0, last_read: Nanos::ZERO, hopeless }
    }

    /// Whether the request asked for usage, so that its absence is worth a warning.
    #[must_use]
    pub fn asked_for_usage(mut self, asked: bool) -> Self {
        self.usage_asked = asked;
        self
    }

    /// Makes room for the gaps of an answer of some `tokens` tokens, so that none has to be made while they come.
    #[must_use]
    pub fn expecting(mut self, tokens: u64) -> Self {
        let room = usize::try_from(tokens).unwrap_or(usize::MAX).min(MAX_ROOM);
        self.body.answer.gaps.reserve(room);
        self
    }

    /// Every event by the full parser.
    #[cfg(test)]
    pub(super) fn in_full(mut self) -> Self {
        self.body.answer.reads_in_full = true;
        self
    }

    /// Reads on: the bytes of one read of the transport, and when it returned.
    pub fn push(&mut self, bytes: &[u8], at: Nanos) -> Next {
        let error = !self.is_success();
        if let (Ok(decoder), false, None) = (&mut self.decoder, bytes.is_empty(), &self.hopeless) {
            self.reads += 1;
            self.last_read = at;
            let (api, read, body) = (self.api, self.reads, &mut self.body);
            let mut failed = None;
            let decoded = decoder.push(bytes, |bytes| {
                failed = if error { body.keep_error(bytes) } else { body.take(api, bytes, at, read) };
                failed.is_none()
            });
            self.hopeless = failed.or(decoded.err().map(|error| error.to_string()));
        }
        self.next()
    }

    /// What the client should do now.
    #[must_use]
    pub fn next(&self) -> Next {
        let answer = &self.body.answer;
        match () {
            () if self.hopeless.is_some() => Next::Stop,
            () if answer.done.is_some() || answer.error.is_some() => Next::Linger,
            () => Next::Read,
        }
    }

    /// Token-bearing events so far. Comments, heartbeats and empty deltas are none.
    #[must_use]
    pub fn token_events(&self) -> u64 {
        self.body.answer.events
    }

    /// When the last token-bearing event arrived.
    #[must_use]
    pub fn last_token(&self) -> Option<Nanos> {
        self.body.answer.last_token
    }

    /// The transport ended; what the answer was.
    #[must_use]
    pub fn finish(mut self, ending: Ending) -> Reading {
        if self.is_success() && self.hopeless.is_none() {
            self.flush(&ending);
        }
        let failure = self.failure(&ending);
        let mut answer = self.body.answer;
        let output = answer.usable_output();
        let output_tokens = output.or((answer.events > 0).then_some(answer.events));
        if failure.is_none() {
            warn_of_oddities(&mut answer, output, self.usage_asked);
        }
        Reading {
            outcome: failure.map_or(Outcome::Ok, Outcome::Error),
            first_token: answer.first_token,
            first_answer: answer.first_answer,
            last_token: answer.last_token,
            gaps: answer.gaps,
            events: answer.events,
            reads: answer.reads,
            input_tokens: answer.usage.input,
            output_tokens,
            cached_tokens: answer.usage.cached,
            token_source: output_tokens.map(|_| if output.is_some() { TokenSource::Usage } else { TokenSource::Chunks }),
            finish_reason: answer.finish_reason,
            done: answer.done,
            warnings: answer.warnings.into_iter().map(Warning).collect(),
        }
    }

    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// What a stream without its last blank line, or a body that is no stream, still holds. An unfinished event counts only where the
    /// transport says that nothing is missing.
    fn flush(&mut self, ending: &Ending) {
        let whole = matches!(ending, Ending::Clean | Ending::Stopped);
        let (api, at, read) = (self.api, self.last_read, self.reads);
        let Body { sse, answer, stray, .. } = &mut self.body;
        let flushed = sse.finish(|item| match item {
            SseItem::Event { name, data } if whole || data.trim_ascii() == b"[DONE]" => {
                let done_already = answer.done.is_some();
                answer.event(api, (name, data), at, read);
                if !done_already {
                    answer.warnings.insert("unterminated_event");
                }
            }
            SseItem::Event { .. } => {}
            SseItem::Stray(line) => stray.extend_from_slice(line),
        });
        if let Err(error) = flushed {
            self.hopeless = Some(error.to_string());
        }
        self.read_stray();
        self.body.answer.count_bare_tool_call();
        if whole && self.hopeless.is_none() {
            self.check_encoding();
        }
    }

    fn check_encoding(&mut self) {
        if let Ok(decoder) = &mut self.decoder
            && let Err(error) = decoder.finish()
        {
            let answer = &mut self.body.answer;
            if answer.done.is_some() {
                answer.warnings.insert("incomplete_encoding");
            } else {
                self.hopeless = Some(error.to_string());
            }
        }
    }

    /// Bare JSON outside of events: an error that a server wrote into its stream, or an answer that is no stream at all.
    fn read_stray(&mut self) {
        let Body { answer, stray, .. } = &mut self.body;
        let whole = stray.trim_ascii();
        if whole.is_empty() || answer.error.is_some() || answer.done.is_some() {
            return;
        }
        let lines = whole.split(|byte| *byte == b'\n');
        let objects = match json::parse(whole) {
            Some((value, _)) => vec![value],
            None => lines.filter_map(json::parse).map(|(value, _)| value).collect(),
        };
        let objects: Vec<_> = objects.into_iter().filter(serde_json::Value::is_object).collect();
        if answer.objects {
            // A stream was read: beside it only an error is believed.
            if let Some(error) = objects.iter().find_map(|object| object.get("error").filter(|error| !json::is_falsy(error))) {
                answer.error = Some(error_message(error));
            } else {
                answer.warnings.insert("stray_lines");
            }
            return;
        }
        for object in &objects {
            answer.object(self.api, object, false, self.last_read, self.reads);
        }
        if answer.events > 0 {
            answer.warnings.insert("not_streamed");
        }
    }

    /// The one kind of failure, if any: what the server said goes before what the transport did, and that before what is missing.
    fn failure(&mut self, ending: &Ending) -> Option<Failure> {
        if !self.is_success() {
            return Some(Failure::new(ErrorKind::HttpStatus, &self.status_message()));
        }
        let answer = &mut self.body.answer;
        if let Some(message) = &answer.error {
            return Some(Failure::new(ErrorKind::ServerErrorInStream, message));
        }
        if let Some(message) = &self.hopeless {
            return Some(Failure::new(ErrorKind::Malformed, message));
        }
        match (ending, answer.done.is_some()) {
            (Ending::TimedOut(which), false) => return Some(Failure::new(ErrorKind::Timeout, which)),
            (Ending::Broken(how), false) => return Some(Failure::new(ErrorKind::Disconnect, how)),
            (Ending::Broken(_), true) => {
                answer.warnings.insert("incomplete_chunked_body");
            }
            (Ending::TimedOut(_) | Ending::Stopped, true) => {
                answer.warnings.insert("connection_left_open");
            }
            (Ending::Clean, _) | (Ending::Stopped, false) => {}
        }
        self.lack()
    }

    /// What a properly ended answer lacks.
    fn lack(&self) -> Option<Failure> {
        let answer = &self.body.answer;
        if let Some(event) = &answer.undecodable {
            return Some(Failure::new(ErrorKind::Malformed, &format!("an event is no JSON: {event}")));
        }
        if answer.events > 0 {
            let whole = answer.done.is_some() || answer.all_finished();
            let words = "the stream ended without finish reason and terminator";
            return (!whole).then(|| Failure::new(ErrorKind::Truncated, words));
        }
        let nothing_came = self.body.decoded == 0 || !answer.objects && self.body.stray.trim_ascii().is_empty();
        let ended = answer.done.is_some() || answer.any_finished();
        let undecodable = answer.warnings.contains("undecodable_event") && !answer.objects;
        if self.html || undecodable || !self.body.stray.trim_ascii().is_empty() && !ended {
            let start = excerpt(&self.body.stray);
            let kind = if self.html { "an HTML page" } else { "a body that is no event stream" };
            return Some(Failure::new(ErrorKind::Malformed, &format!("{kind} under HTTP {}: {start}", self.status)));
        }
        if ended || nothing_came {
            return Some(Failure::new(ErrorKind::Empty, "the answer has no generated text"));
        }
        Some(Failure::new(ErrorKind::Truncated, "the stream ended before any generated text"))
    }

    fn status_message(&self) -> String {
        let body = self.body.stray.trim_ascii();
        let words = match json::parse(body) {
            Some((value, _)) => match value.get("error").filter(|error| !json::is_falsy(error)) {
                Some(error) if !error.is_boolean() => error_message(error),
                _ => error_message(&value),
            },
            None => excerpt(body),
        };
        let status = self.status;
        let words = words.strip_prefix(&format!("{status}: ")).unwrap_or(&words);
        match words {
            "" if (300..400).contains(&status) => format!("HTTP {status}: a redirect that was not followed"),
            "" => format!("HTTP {status}"),
            words => format!("HTTP {status}: {words}"),
        }
    }
}

impl Body {
    /// Reads on in a stream; why it can't go on.
    fn take(&mut self, api: Api, bytes: &[u8], at: Nanos, read: u64) -> Option<String> {
        self.decoded += bytes.len() as u64;
        if self.decoded > MAX_ANSWER {
            return Some(format!("the answer is longer than {} MiB", MAX_ANSWER >> 20));
        }
        let Self { sse, answer, stray, .. } = self;
        let mut fits = true;
        let read = sse.push(bytes, |item| match item {
            SseItem::Event { name, data } => answer.event(api, (name, data), at, read),
            SseItem::Stray(line) => {
                fits &= stray.len() + line.len() < MAX_EVENT;
                if fits {
                    stray.extend_from_slice(line);
                    stray.push(b'\n');
                }
            }
        });
        read.and(if fits { Ok(()) } else { Err(TooLong) }).err().map(|error| error.to_string())
    }

    /// Keeps the start of an error's body.
    fn keep_error(&mut self, bytes: &[u8]) -> Option<String> {
        let room = MAX_ERROR_BODY - self.stray.len();
        self.stray.extend_from_slice(&bytes[..bytes.len().min(room)]);
        (bytes.len() > room).then(|| "the error's body is long".to_owned())
    }
}

/// The words of a text or an HTML page, without its tags, on one line.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4096)]).into_owned();
    let text = if text.trim_start().starts_with('<') {
        text.split('<').map(|part| part.split_once('>').map_or(part, |(_, words)| words)).collect::<Vec<_>>().join(" ")
    } else {
        text
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

/// What is odd about an answer that counts as `ok`.
fn warn_of_oddities(answer: &mut Answer, usage: Option<u64>, usage_asked: bool) {
    let tokens = usage.unwrap_or(answer.events);
    // A counted end-of-text token has no event: one more token than events, for each choice, is nothing odd.
    let visible = answer.events + answer.choices.len() as u64;
    let odd = [
        ("token_count_estimated", usage.is_none()),
        ("usage_requested_but_absent", usage_asked && answer.usage.output.is_none()),
        ("usage_unusable", usage.is_none() && answer.usage.output.is_some()),
        ("usage_below_events", usage.is_some_and(|usage| usage < answer.events)),
        ("done_missing", answer.done.is_none()),
        ("finish_reason_missing", !answer.any_finished()),
        ("choice_without_finish", answer.any_finished() && !answer.all_finished()),
        ("single_token_event", answer.events == 1 && tokens >= 2),
        ("multi_token_events", answer.events >= 2 && tokens > visible),
        ("first_event_multi_token", answer.events >= 2 && answer.first_usage.is_some_and(|first| first > 1)),
        ("bursty_delivery", answer.events >= 2 && answer.reads == 1),
    ];
    answer.warnings.extend(odd.into_iter().filter(|(_, is)| *is).map(|(word, _)| word));
}

#[cfg(test)]
mod tests;
