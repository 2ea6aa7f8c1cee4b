//! What is kept of one request once it has been looked at.

use super::Scope;
use crate::metric::Metric;
use crate::record::Request;
use crate::spec::{Condition, Field};
use crate::units::Nanos;
use crate::wire::TokenSource;

/// One request's value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    /// In the metric's own unit.
    Value(f64),
    /// It counts as over any limit: an errored request, or one whose tokens all came in one read.
    Worst,
    /// The metric says nothing of it: a pace of fewer than two tokens. It is in no population and breaks no constraint.
    Outside,
    /// It should have a value and the recording holds none (imported files). It never helps a rule to pass.
    Unknown,
}

/// What is kept of one counted request. Latencies are in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Position of its round among the level's kept rounds.
    pub round: usize,
    /// Its workload part.
    pub part: Option<String>,
    /// The turn within its session, from 1 as in `when turn`.
    pub turn: u32,
    /// Whether it is an answer and not an error.
    pub ok: bool,
    /// Whether it meets every constraint.
    pub good: bool,
    /// Input tokens for `when`: measured, or asked for where it failed or the server gave no count.
    pub input: u64,
    /// Output tokens for `when`, by the same rule.
    pub output: u64,
    /// Generated tokens that count in rates; 0 where it failed.
    pub tokens: u64,
    /// Cached and input tokens, where the server reports both.
    pub cached: Option<(u64, u64)>,
    /// Whether all of two or more tokens came in one read.
    pub buffered: bool,
    /// Whether it is the first turn recorded of its session, or has none.
    pub opens_session: bool,
    pub(super) ttft: Sample,
    pub(super) ttfa: Sample,
    pub(super) tpot: Sample,
    pub(super) stall: Sample,
    pub(super) e2e: Sample,
    pub(super) session_ttft: Sample,
    pub(super) session_e2e: Sample,
    pub(super) scheduled: Nanos,
}

impl Fact {
    /// What is kept of `request`; whether it is good is not yet known, nor what its session came to.
    #[must_use]
    pub(super) fn of(request: &Request, round: usize) -> Self {
        let ok = request.is_ok();
        let (ttft, e2e) = (latency(request, request.first_token), latency(request, request.last_token));
        Self {
            round,
            part: request.part.clone(),
            turn: request.turn.saturating_add(1),
            ok,
            good: ok,
            input: if ok { request.input_tokens.unwrap_or(request.asked_input) } else { request.asked_input },
            output: if ok { request.output_tokens.unwrap_or(request.asked_output) } else { request.asked_output },
            tokens: if ok { request.output_tokens.unwrap_or(0) } else { 0 },
            cached: request.cached_tokens.zip(request.input_tokens),
            buffered: ok && request.is_buffered(),
            opens_session: true,
            ttft,
            ttfa: latency(request, request.first_answer),
            tpot: pace(request, request.tpot().map(|ns| ns / 1e6)),
            stall: stall(request),
            e2e,
            session_ttft: ttft,
            session_e2e: e2e,
            scheduled: request.scheduled,
        }
    }

    /// Its value of a per-request or per-session metric; [`Sample::Outside`] for every other metric.
    #[must_use]
    pub fn sample(&self, metric: Metric) -> Sample {
        match metric {
            Metric::Ttft => self.ttft,
            Metric::Ttfa => self.ttfa,
            Metric::Tpot => self.tpot,
            Metric::Stall => self.stall,
            Metric::E2e => self.e2e,
            Metric::Speed => match self.tpot {
                Sample::Value(ms) => Sample::Value(1000.0 / ms),
                other => other,
            },
            Metric::SessionTtft => self.session_ttft,
            Metric::SessionE2e => self.session_e2e,
            Metric::Itl
            | Metric::Goodput
            | Metric::Errors
            | Metric::CacheHit
            | Metric::GoodputRps
            | Metric::GoodputTps
            | Metric::ThroughputRps
            | Metric::ThroughputTps
            | Metric::Headroom => Sample::Outside,
        }
    }

    /// Whether it lies in `scope`.
    #[must_use]
    pub fn is_in(&self, scope: &Scope) -> bool {
        self.meets(&scope.when) && self.is_of(scope.part.as_deref())
    }

    /// Whether it belongs to `part`; without a part every request does.
    #[must_use]
    pub fn is_of(&self, part: Option<&str>) -> bool {
        part.is_none_or(|part| self.part.as_deref() == Some(part))
    }

    /// Whether every clause of `when` holds for it.
    #[must_use]
    pub fn meets(&self, when: &Condition) -> bool {
        when.clauses.iter().all(|(field, low, high)| {
            let value = match field {
                Field::InputTokens => self.input,
                Field::OutputTokens => self.output,
                Field::Turn => u64::from(self.turn),
            };
            (*low..=*high).contains(&value)
        })
    }
}

/// Whether the tokens of `request` were counted by events, an estimate.
pub(super) fn is_estimated(request: &Request) -> bool {
    request.token_source == Some(TokenSource::Chunks)
}

fn latency(request: &Request, at: Option<Nanos>) -> Sample {
    match at {
        _ if !request.is_ok() => Sample::Worst,
        Some(at) => Sample::Value(at.as_ms()),
        None => Sample::Unknown,
    }
}

/// A metric of decoding pace: nothing to say below two tokens, the worst where they all came in one read (metrics.md, `tpot`).
fn pace(request: &Request, value: Option<f64>) -> Sample {
    if !request.is_ok() || request.is_buffered() {
        return Sample::Worst;
    }
    match (request.output_tokens, value) {
        (_, Some(value)) => Sample::Value(value),
        (Some(0 | 1), None) => Sample::Outside,
        (_, None) => Sample::Unknown,
    }
}

/// The longest gap; an answer of one event has none, and then the same holds as for pace.
fn stall(request: &Request) -> Sample {
    let longest = request.stall.or_else(|| request.gaps.iter().max().copied());
    match pace(request, longest.map(Nanos::as_ms)) {
        Sample::Unknown if request.events == 1 => Sample::Outside,
        sample => sample,
    }
}
