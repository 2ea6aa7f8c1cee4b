//! The descriptive table of a level, as every report shows it. Percentiles are over ok requests; the errors stand beside them.

use crate::wire::ErrorKind;

/// P50, P90, P95 and P99 (type 7), with mean and maximum. Milliseconds. `None` where there is no sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Percentiles {
    /// Samples.
    pub samples: u64,
    /// The median.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The mean; never shown alone.
    pub mean: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

/// One bucket of a metric by length.
#[derive(Debug, Clone, PartialEq)]
pub struct BucketRow {
    /// The metric's word: `ttft` by input length, `e2e` by output length.
    pub metric: &'static str,
    /// What it is cut by: `input_tokens` or `output_tokens`.
    pub by: &'static str,
    /// `<1k`, `1k–8k`, `>8k`.
    pub label: String,
    /// Its requests' percentiles, milliseconds.
    pub percentiles: Percentiles,
}

/// The figures of one named part of the workload at one level. Percentiles are over its ok requests.
#[derive(Debug, Clone, PartialEq)]
pub struct PartRow {
    /// Its name.
    pub part: String,
    /// Its requests, errored ones included.
    pub requests: u64,
    /// Of these, errored.
    pub errors: u64,
    /// Good over all; `None` where the spec has no constraint.
    pub goodput: Option<f64>,
    /// Cached over input tokens, where requests report it.
    pub cache_hit: Option<f64>,
    /// Time to first token.
    pub ttft: Percentiles,
    /// Time per output token.
    pub tpot: Percentiles,
    /// End to end.
    pub e2e: Percentiles,
}

/// The figures of one level.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelTable {
    /// `1x`.
    pub level: String,
    /// Closed loop: requests in flight.
    pub concurrency: Option<u64>,
    /// Open loop: requests per second offered.
    pub offered_rps: Option<f64>,
    /// Whole rounds.
    pub rounds: u64,
    /// Requests of the measured window, errored ones included.
    pub requests: u64,
    /// Of these, errored.
    pub errors: u64,
    /// Errors by kind, where there are any, most frequent first.
    pub error_kinds: Vec<(ErrorKind, u64)>,
    /// HTTP statuses of the errors of kind `http_status`, most frequent first.
    pub error_statuses: Vec<(u16, u64)>,
    /// Length of the measured window, seconds.
    pub window_s: Option<f64>,
    /// Good over all; `None` where the spec has no constraint, or nothing was measured.
    pub goodput: Option<f64>,
    /// Good requests per second of the window.
    pub goodput_rps: Option<f64>,
    /// Output tokens of good requests per second of the window.
    pub goodput_tps: Option<f64>,
    /// Finished requests per second of the window.
    pub throughput_rps: Option<f64>,
    /// Output tokens per second of the window.
    pub throughput_tps: Option<f64>,
    /// Cached over input tokens, where requests report it.
    pub cache_hit: Option<f64>,
    /// Time to first token, queueing included.
    pub ttft: Percentiles,
    /// Time to first answer token.
    pub ttfa: Percentiles,
    /// Time per output token, `(e2e − ttft) / (n − 1)`.
    pub tpot: Percentiles,
    /// The other convention, `e2e / n` (LLMPerf's inter-token latency), shown beside tpot on request.
    pub e2e_per_token: Percentiles,
    /// Gaps between events, pooled.
    pub itl: Percentiles,
    /// The longest gap of each answer.
    pub stall: Percentiles,
    /// End to end.
    pub e2e: Percentiles,
    /// Generated tokens per token-bearing event.
    pub tokens_per_event: Option<f64>,
    /// Share of ok requests with two or more tokens that all came in one read.
    pub buffered: Option<f64>,
    /// Share of requests that opened a connection.
    pub opened_connection: Option<f64>,
    /// Requests whose output tokens are an estimate (counted events).
    pub estimated_tokens: u64,
    /// P50 and P95 of the input tokens measured.
    pub input_tokens_p50_p95: Option<(f64, f64)>,
    /// By part of the workload, where it has named parts.
    pub parts: Vec<PartRow>,
    /// By length.
    pub buckets: Vec<BucketRow>,
    /// How many requests broke each constraint, as written, errored ones not counted among them.
    pub broken_constraints: Vec<(String, u64)>,
    /// How many of each of [`Self::broken_constraints`] broke it only because all their tokens came in one read, in the same order.
    pub broken_in_one_read: Vec<u64>,
}

impl LevelTable {
    /// What the errors were, most frequent kind first: `300 x HTTP 503`, `7 x timeout`. Statuses stand for their kind where they are
    /// known of all of it.
    #[must_use]
    pub fn errors_spelt(&self) -> Vec<String> {
        let mut spelt = Vec::new();
        for (kind, count) in &self.error_kinds {
            let known = self.error_statuses.iter().map(|(_, count)| count).sum::<u64>();
            if *kind == ErrorKind::HttpStatus && known == *count {
                spelt.extend(self.error_statuses.iter().map(|(status, count)| format!("{count} x HTTP {status}")));
            } else {
                spelt.push(format!("{count} x {}", kind.name()));
            }
        }
        spelt
    }
}
