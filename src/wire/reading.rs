//! What one streamed answer held.

use super::{Outcome, TokenSource, Warning};
use crate::units::Nanos;

/// What one streamed answer held. Instants are on the clock of the `at` that the reader was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// How it ended.
    pub outcome: Outcome,
    /// First event with generated text.
    pub first_token: Option<Nanos>,
    /// First event with generated text that is not reasoning.
    pub first_answer: Option<Nanos>,
    /// Last event with generated text.
    pub last_token: Option<Nanos>,
    /// Gaps between successive token-bearing events of one choice, in order of arrival.
    pub gaps: Vec<Nanos>,
    /// Token-bearing events.
    pub events: u64,
    /// Distinct reads in which token-bearing events arrived.
    pub reads: u64,
    /// `usage.prompt_tokens`.
    pub input_tokens: Option<u64>,
    /// `usage.completion_tokens`, else the count of token-bearing events.
    pub output_tokens: Option<u64>,
    /// `usage.prompt_tokens_details.cached_tokens`.
    pub cached_tokens: Option<u64>,
    /// Where `output_tokens` comes from.
    pub token_source: Option<TokenSource>,
    /// The last finish reason given.
    pub finish_reason: Option<String>,
    /// When the terminator came.
    pub done: Option<Nanos>,
    /// What was odd, each once.
    pub warnings: Vec<Warning>,
}
