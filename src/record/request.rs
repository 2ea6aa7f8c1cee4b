//! One request as it happened.

use crate::units::Nanos;
use crate::wire::{Outcome, TokenSource};

/// Which deployment a request went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Side {
    /// The spec's target.
    #[default]
    Candidate,
    /// The deployment given by `--against`.
    Baseline,
}

/// One request as it happened. `scheduled` and `sent` count from the run's start, the other instants from `scheduled`.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its number in the run, from 0, in planned order.
    pub id: u64,
    /// Where it went.
    pub side: Side,
    /// The workload part it belongs to, where the workload has named parts.
    pub part: Option<String>,
    /// The session it belongs to, where there are several turns.
    pub session: Option<u64>,
    /// Index into [`super::Conditions::load`]'s levels.
    pub level: usize,
    /// The round within its level, from 0; `None` for warm-up.
    pub round: Option<u32>,
    /// The turn within its session, from 0.
    pub turn: u32,
    /// When the plan says that it should leave.
    pub scheduled: Nanos,
    /// When the client started to send it.
    pub sent: Nanos,
    /// How long opening its connection took, where it opened one.
    pub connect: Option<Nanos>,
    /// When the answer's head was there.
    pub headers: Option<Nanos>,
    /// First event with generated text.
    pub first_token: Option<Nanos>,
    /// First event with generated text that is not reasoning.
    pub first_answer: Option<Nanos>,
    /// Last event with generated text.
    pub last_token: Option<Nanos>,
    /// End of the body, or when the request was given up.
    pub closed: Option<Nanos>,
    /// Input tokens as the server counts them.
    pub input_tokens: Option<u64>,
    /// Output tokens; see `token_source`.
    pub output_tokens: Option<u64>,
    /// Input tokens the workload asked for.
    pub asked_input: u64,
    /// Output tokens the workload asked for.
    pub asked_output: u64,
    /// Input tokens read from the prefix cache, where the server tells.
    pub cached_tokens: Option<u64>,
    /// Where `output_tokens` comes from.
    pub token_source: Option<TokenSource>,
    /// Token-bearing events.
    pub events: u64,
    /// Gaps between successive token-bearing events. Empty in a baseline, whose rounds keep a histogram instead.
    pub gaps: Vec<Nanos>,
    /// The longest of the gaps, kept where they themselves are not.
    pub stall: Option<Nanos>,
    /// The last finish reason given.
    pub finish_reason: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The answer's HTTP status, where one came.
    pub http_status: Option<u16>,
    /// What was odd about it, each word once.
    pub warnings: Vec<String>,
}

impl Request {
    /// Whether it is an answer and not an error.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }

    /// The client's own lateness, `sent − scheduled`.
    #[must_use]
    pub fn start_lag(&self) -> Nanos {
        self.sent.since(self.scheduled)
    }

    /// Time per output token in nanoseconds, `(last − first) / (output − 1)`; `None` below two tokens, and where all of two or
    /// more arrived in one read.
    #[must_use]
    pub fn tpot(&self) -> Option<f64> {
        let tokens = self.output_tokens.filter(|tokens| *tokens >= 2)?;
        let span = self.last_token?.since(self.first_token?);
        (span > Nanos::ZERO).then(|| span.0 as f64 / (tokens - 1) as f64)
    }

    /// Whether all of two or more tokens arrived in one read, so that nothing can be said of its decoding.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.output_tokens.is_some_and(|tokens| tokens >= 2) && self.first_token.is_some() && self.first_token == self.last_token
    }
}
