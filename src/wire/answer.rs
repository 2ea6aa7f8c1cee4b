//! What the events of one answer add up to: instants, gaps, counts, finish reasons.

use super::chunk::{self, Carried, Chunk, Piece, Usage};
use super::{Api, fast, json};
use crate::units::Nanos;
use std::collections::BTreeSet;

/// Choices that are told apart; more than any server allows. What lies beyond is counted with the last.
const MAX_CHOICES: usize = 256;

/// The sums of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) first_token: Option<Nanos>,
    pub(super) first_answer: Option<Nanos>,
    pub(super) last_token: Option<Nanos>,
    pub(super) gaps: Vec<Nanos>,
    pub(super) events: u64,
    pub(super) reads: u64,
    last_read: Option<u64>,
    pub(super) usage: Usage,
    /// Usage that came in the same event as the first token.
    pub(super) first_usage: Option<u64>,
    /// Token-bearing events that had a usage of their own.
    usage_on_tokens: u64,
    usage_changed: bool,
    pub(super) finish_reason: Option<String>,
    pub(super) done: Option<Nanos>,
    pub(super) choices: Vec<Choice>,
    /// The server's own error.
    pub(super) error: Option<String>,
    /// Whether any JSON object came.
    pub(super) objects: bool,
    /// The first event that should have been JSON and was not, before any finish reason.
    pub(super) undecodable: Option<String>,
    pub(super) warnings: BTreeSet<&'static str>,
    tool_name: Option<Nanos>,
    /// Every event by the full parser, which is what the short way is tested against.
    pub(super) reads_in_full: bool,
}

/// One of the answers to a request.
#[derive(Debug)]
pub(super) struct Choice {
    index: u64,
    last_token: Option<Nanos>,
    finished: bool,
}

impl Answer {
    /// One event of the stream, completed by the `read`th read at `at`.
    pub(super) fn event(&mut self, api: Api, (name, data): (&[u8], &[u8]), at: Nanos, read: u64) {
        let data = data.trim_ascii();
        if self.done.is_some() {
            self.warnings.insert("data_after_done");
        } else if data == b"[DONE]" {
            self.done = Some(at);
        } else if data.is_empty() || self.error.is_some() {
            // An event without a payload is a heartbeat. After an error only the terminator is of interest.
        } else {
            self.payload(api, name == b"error", data, at, read);
        }
    }

    fn payload(&mut self, api: Api, error_event: bool, data: &[u8], at: Nanos, read: u64) {
        if !error_event
            && !self.reads_in_full
            && let Some(piece) = fast::piece(data)
        {
            self.objects = true;
            self.piece(piece, at, read);
            return;
        }
        match json::parse(data) {
            Some((value @ serde_json::Value::Object(_), repaired)) => {
                if repaired {
                    self.warnings.insert("json_repaired");
                }
                self.object(api, &value, error_event, at, read);
            }
            Some((serde_json::Value::Array(values), _)) if values.iter().all(serde_json::Value::is_object) => {
                for value in &values {
                    self.object(api, value, error_event, at, read);
                }
            }
            _ if error_event => self.error = Some(String::from_utf8_lossy(data).into_owned()),
            _ => {
                self.warnings.insert("undecodable_event");
                // Broken JSON may have been a token or the finish; a bare word (`ping`, `DONE`) was neither.
                if data.starts_with(b"{") && !self.all_finished() && self.undecodable.is_none() {
                    self.undecodable = Some(String::from_utf8_lossy(&data[..data.len().min(120)]).into_owned());
                }
            }
        }
    }

    /// One object, from an event or instead of a stream.
    pub(super) fn object(&mut self, api: Api, value: &serde_json::Value, error_event: bool, at: Nanos, read: u64) {
        self.objects = true;
        match chunk::read(api, value, error_event) {
            Chunk::Error(message) => self.error = Some(message),
            Chunk::Part { pieces, usage } => {
                let before = self.events;
                for piece in pieces {
                    self.piece(piece, at, read);
                }
                if let Some(usage) = usage {
                    self.take_usage(usage, before);
                }
            }
        }
    }

    fn take_usage(&mut self, usage: Usage, events_before: u64) {
        if let (true, Some(output)) = (self.events > events_before, usage.output) {
            self.usage_on_tokens += 1;
            if events_before == 0 {
                self.first_usage = Some(output);
            }
        }
        self.usage_changed |= usage.output.is_some() && self.usage.output.is_some_and(|was| Some(was) != usage.output);
        self.usage.input = usage.input.or(self.usage.input);
        self.usage.output = usage.output.or(self.usage.output);
        self.usage.cached = usage.cached.or(self.usage.cached);
    }

    fn piece(&mut self, piece: Piece, at: Nanos, read: u64) {
        let slot = self.slot(piece.index);
        let choice = &mut self.choices[slot];
        let mut carried = piece.carried;
        if !carried.any() && choice.last_token.is_none() && piece.message.any() {
            self.warnings.insert("not_streamed");
            carried = piece.message;
        }
        if piece.carried.tool_name || piece.message.tool_name {
            self.tool_name.get_or_insert(at);
        }
        if carried.any() {
            if choice.finished {
                self.warnings.insert("early_finish_reason");
            }
            if let Some(last) = choice.last_token.replace(at) {
                self.gaps.push(at.since(last));
            }
            self.token(carried, at, read);
        }
        if let Some(reason) = piece.finish_reason {
            let choice = &mut self.choices[slot];
            if choice.finished && !carried.any() {
                self.warnings.insert("duplicate_finish");
            }
            choice.finished = true;
            if reason == "content_filter" {
                self.warnings.insert("content_filter");
            }
            self.finish_reason = Some(reason);
        }
    }

    fn token(&mut self, carried: Carried, at: Nanos, read: u64) {
        self.events += 1;
        self.first_token.get_or_insert(at);
        self.last_token = Some(at);
        if carried.answer || carried.refusal {
            self.first_answer.get_or_insert(at);
        }
        if carried.refusal {
            self.warnings.insert("refusal");
        }
        if self.last_read.replace(read) != Some(read) {
            self.reads += 1;
        }
    }

    fn slot(&mut self, index: u64) -> usize {
        if let Some(slot) = self.choices.iter().position(|choice| choice.index == index) {
            return slot;
        }
        if self.choices.len() < MAX_CHOICES {
            self.choices.push(Choice { index, last_token: None, finished: false });
        }
        self.choices.len() - 1
    }

    /// Whether every choice that began gave a finish reason, and at least one did.
    pub(super) fn all_finished(&self) -> bool {
        !self.choices.is_empty() && self.choices.iter().all(|choice| choice.finished)
    }

    /// Whether any choice gave a finish reason.
    pub(super) fn any_finished(&self) -> bool {
        self.choices.iter().any(|choice| choice.finished)
    }

    /// A tool call without arguments has no text at all: then its name is the one event.
    pub(super) fn count_bare_tool_call(&mut self) {
        if let (0, Some(at), true) = (self.events, self.tool_name, self.any_finished()) {
            self.token(Carried { answer: true, ..Carried::default() }, at, 0);
        }
    }

    /// `usage.completion_tokens` where it can be meant: not 0 beside visible text, and not the count of a single chunk, which an old
    /// vLLM put on every one.
    pub(super) fn usable_output(&self) -> Option<u64> {
        let output = self.usage.output?;
        let per_chunk = self.usage_on_tokens >= 2 && !self.usage_changed && output < self.events;
        (!per_chunk && (output > 0 || self.events == 0)).then_some(output)
    }
}
