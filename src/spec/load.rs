//! `load`: how much is sent, and how it is cut into rounds.

use std::time::Duration;

/// How much is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The target load at 1x; `None` where the spec names none.
    pub offered: Option<Offered>,
    /// Multiples of the target load, in the order they run; labels as written (`1x`, `1.5x`).
    pub levels: Vec<(String, f64)>,
    /// How many rounds.
    pub rounds: Rounds,
    /// How long a round is.
    pub round: RoundLength,
    /// What is sent before a level's first round.
    pub warmup: WarmUp,
    /// A level lasts at least this long.
    pub min_time: Duration,
    /// The seed of lengths, arrivals and shared text.
    pub seed: u64,
}

/// The target load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Offered {
    /// Closed loop: this many in flight.
    Concurrency(u64),
    /// Open loop: this many requests per second, whatever the answers do.
    Rate {
        /// Requests per second.
        per_second: f64,
        /// How their arrivals are spaced.
        arrival: Arrival,
    },
}

/// How open-loop arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrival {
    /// Exponential gaps.
    Poisson,
    /// Equal gaps.
    Constant,
    /// Gamma gaps; a shape below 1 is bursty.
    Gamma {
        /// The shape.
        shape: f64,
    },
    /// The gaps of the trace file, scaled.
    Trace,
}

/// `load.rounds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// At least.
    pub min: u32,
    /// At most; equal to `min` where one number was written.
    pub max: u32,
}

/// `load.round`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RoundLength {
    /// A multiple of the level's concurrency, at least 25 requests; in open loop of 25 requests.
    Times(f64),
    /// This many requests.
    Requests(u32),
    /// This long; open loop only.
    Time(Duration),
}

/// `load.warmup`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WarmUp {
    /// A multiple of the level's concurrency, at least 20 requests; in open loop of 20 requests.
    Times(f64),
    /// This many requests.
    Requests(u32),
}
