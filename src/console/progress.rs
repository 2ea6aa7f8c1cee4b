//! How far a run is.

use std::time::Duration;

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgressUpdate {
    /// The running level's label.
    pub level: String,
    /// Its place among the levels, from 1.
    pub level_number: usize,
    /// How many levels there are.
    pub level_count: usize,
    /// Requests of this level that have ended.
    pub done: u64,
    /// Requests planned for this level.
    pub planned: u64,
    /// Whole rounds.
    pub rounds_done: u32,
    /// Rounds planned.
    pub rounds_planned: u32,
    /// Errored requests.
    pub errors: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Finished requests per second.
    pub rate: Option<f64>,
    /// The running P99 of TTFT, milliseconds.
    pub p99_ttft_ms: Option<f64>,
    /// Since the level began.
    pub elapsed: Duration,
}

/// Shows how far a run is. Dropping it removes the bar.
#[derive(Debug)]
pub struct Progress {}

impl Progress {
    /// Shows `update`; cheap, may be called for every request.
    pub fn update(&self, update: &ProgressUpdate) {
        let _ = update;
    }

    /// Removes the bar.
    pub fn finish(&self) {}
}
