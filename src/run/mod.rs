//! When, how many, until: the load itself. It takes what to send from a channel and how to send it as a function; it knows no
//! protocol and prints nothing. Every instant comes from one monotonic clock, tokio's, so that tests own it.

mod alarm;
mod health;
mod level;
mod rounds;
mod sessions;

pub use health::Health;
pub use level::{Level, Pace, run_level};

use crate::record::{ClientSample, EndReason, Request, RoundEnd};
use std::time::Duration;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Go,
    /// End this level: send no more, let what is in flight end, go on with the next level.
    EndLevel,
    /// End the run in the same way.
    Stop(EndReason),
}

/// What the load tells while it runs, in order, from one task. Slow observers delay sends: hand heavy work to another thread.
pub trait Observer {
    /// A request has ended; called once for each, warm-up included.
    fn ended(&mut self, request: &Request) -> Flow;
    /// The next round in order is whole. `requests` are its own, and whatever warm-up ended before it.
    fn round(&mut self, end: RoundEnd, requests: Vec<Request>) -> Flow;
    /// What ended outside of any whole round, at a level's end.
    fn rest(&mut self, requests: Vec<Request>);
    /// A second of the client's own health.
    fn health(&mut self, sample: ClientSample);
    /// Some five times a second: time since the run's start, requests in flight.
    fn tick(&mut self, elapsed: Duration, in_flight: usize);
}

/// How a level ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelOutcome {
    /// What was asked for last: [`Flow::Go`] where all of the plan was done.
    pub flow: Flow,
    /// Rounds that were whole, counted from the first without a hole.
    pub whole_rounds: u32,
    /// Requests that were given up unfinished, because a signal or an unusable target left them no time.
    pub abandoned: usize,
}

#[cfg(test)]
mod tests;
