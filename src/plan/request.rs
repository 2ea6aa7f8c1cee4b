//! One request, before it is sent.

use crate::units::Nanos;

/// One request as planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// Its number in the run, from 0, over all levels and warm-ups. Rounds beyond the planned ones continue their own level's
    /// numbers, which the next level's may then repeat: who sends such rounds numbers them anew.
    pub id: u64,
    /// The workload part it belongs to, where the workload has named parts.
    pub part: Option<String>,
    /// Its session, where there are several turns.
    pub session: Option<u64>,
    /// Index into the plan's levels.
    pub level: usize,
    /// The round within its level, from 0; `None` for warm-up.
    pub round: Option<u32>,
    /// The turn within its session, from 0.
    pub turn: u32,
    /// Turns that come after it in its session.
    pub turns_left: u32,
    /// How long after the end of the turn before it is due.
    pub think: Nanos,
    /// Its place, from 0, among its level's counted requests, or among its level's warm-up.
    pub index: u64,
    /// Its place, from 0, among those of `index` that are of its part.
    pub draw: u64,
    /// Open loop: when it is due, from its level's start. `None` in a closed loop, where it is due when a slot becomes free.
    pub due: Option<Nanos>,
    /// Input tokens asked for, as the server counts them; 0 where unknown: prompts from a file are sent as they stand.
    pub asked_input: u64,
    /// Output tokens asked for.
    pub asked_output: u64,
}

/// What a request says.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// One user message, or a bare prompt.
    Text(String),
    /// Whole chat messages, as JSON objects.
    Messages(Vec<serde_json::Value>),
}
