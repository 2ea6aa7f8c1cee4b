//! A level's figures.

use super::finite;
use crate::summary::{BucketRow, LevelTable, PartRow, Percentiles};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The figures of one level. Shares are fractions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Level {
    level: String,
    /// Closed loop: requests in flight.
    concurrency: Option<u64>,
    /// Open loop: requests per second offered.
    offered_rps: Option<f64>,
    /// Whole rounds.
    rounds: u64,
    requests: u64,
    errors: u64,
    /// Errored requests by kind.
    error_kinds: BTreeMap<&'static str, u64>,
    /// Length of the measured window, seconds.
    window_s: Option<f64>,
    goodput: Option<f64>,
    goodput_rps: Option<f64>,
    goodput_tps: Option<f64>,
    throughput_rps: Option<f64>,
    throughput_tps: Option<f64>,
    cache_hit: Option<f64>,
    /// Time to first token, queueing included.
    ttft_ms: Spread,
    /// Time to first answer token.
    ttfa_ms: Spread,
    /// `(e2e - ttft) / (output tokens - 1)`.
    tpot_ms: Spread,
    /// `e2e / output tokens`, LLMPerf's convention; only where both conventions were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    e2e_per_token_ms: Option<Spread>,
    /// Gaps between events, pooled.
    itl_ms: Spread,
    /// The longest gap of each answer.
    stall_ms: Spread,
    /// End to end.
    e2e_ms: Spread,
    /// Generated tokens per token-bearing event.
    tokens_per_event: Option<f64>,
    /// Share of ok requests with two or more tokens that all came in one read.
    buffered: Option<f64>,
    /// Share of requests that opened a connection.
    opened_connection: Option<f64>,
    /// Requests whose output tokens are an estimate.
    estimated_tokens: u64,
    input_tokens: Option<InputTokens>,
    /// By part of the workload, where it has named parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<Part>>,
    buckets: Vec<Bucket>,
    broken_constraints: Vec<Broken>,
}

/// Percentiles by linear interpolation (type 7), milliseconds; null where there is no sample.
#[derive(Debug, Serialize, JsonSchema)]
struct Spread {
    samples: u64,
    p50: Option<f64>,
    p90: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
}

/// Input tokens as the server counted them.
#[derive(Debug, Serialize, JsonSchema)]
struct InputTokens {
    p50: Option<f64>,
    p95: Option<f64>,
}

/// The figures of one part of the workload. Shares are fractions.
#[derive(Debug, Serialize, JsonSchema)]
struct Part {
    part: String,
    requests: u64,
    errors: u64,
    goodput: Option<f64>,
    cache_hit: Option<f64>,
    ttft_ms: Spread,
    tpot_ms: Spread,
    e2e_ms: Spread,
}

impl From<&PartRow> for Part {
    fn from(of: &PartRow) -> Self {
        Self {
            part: of.part.clone(),
            requests: of.requests,
            errors: of.errors,
            goodput: finite(of.goodput),
            cache_hit: finite(of.cache_hit),
            ttft_ms: Spread::from(&of.ttft),
            tpot_ms: Spread::from(&of.tpot),
            e2e_ms: Spread::from(&of.e2e),
        }
    }
}

/// A metric's percentiles by length.
#[derive(Debug, Serialize, JsonSchema)]
struct Bucket {
    metric: &'static str,
    by: &'static str,
    label: String,
    percentiles_ms: Spread,
}

/// How many requests broke a constraint, errored ones not counted among them.
#[derive(Debug, Serialize, JsonSchema)]
struct Broken {
    constraint: String,
    requests: u64,
}

impl Level {
    pub(super) fn new(of: &LevelTable, both_conventions: bool) -> Self {
        Self {
            level: of.level.clone(),
            concurrency: of.concurrency,
            offered_rps: finite(of.offered_rps),
            rounds: of.rounds,
            requests: of.requests,
            errors: of.errors,
            error_kinds: of.error_kinds.iter().map(|(kind, count)| (kind.name(), *count)).collect(),
            window_s: finite(of.window_s),
            goodput: finite(of.goodput),
            goodput_rps: finite(of.goodput_rps),
            goodput_tps: finite(of.goodput_tps),
            throughput_rps: finite(of.throughput_rps),
            throughput_tps: finite(of.throughput_tps),
            cache_hit: finite(of.cache_hit),
            ttft_ms: Spread::from(&of.ttft),
            ttfa_ms: Spread::from(&of.ttfa),
            tpot_ms: Spread::from(&of.tpot),
            e2e_per_token_ms: both_conventions.then(|| Spread::from(&of.e2e_per_token)),
            itl_ms: Spread::from(&of.itl),
            stall_ms: Spread::from(&of.stall),
            e2e_ms: Spread::from(&of.e2e),
            tokens_per_event: finite(of.tokens_per_event),
            buffered: finite(of.buffered),
            opened_connection: finite(of.opened_connection),
            estimated_tokens: of.estimated_tokens,
            input_tokens: of.input_tokens_p50_p95.map(|(p50, p95)| InputTokens { p50: finite(Some(p50)), p95: finite(Some(p95)) }),
            parts: (!of.parts.is_empty()).then(|| of.parts.iter().map(Part::from).collect()),
            buckets: of.buckets.iter().map(Bucket::from).collect(),
            broken_constraints: of
                .broken_constraints
                .iter()
                .map(|(constraint, requests)| Broken { constraint: constraint.clone(), requests: *requests })
                .collect(),
        }
    }
}

impl From<&Percentiles> for Spread {
    fn from(of: &Percentiles) -> Self {
        Self {
            samples: of.samples,
            p50: finite(of.p50),
            p90: finite(of.p90),
            p95: finite(of.p95),
            p99: finite(of.p99),
            mean: finite(of.mean),
            max: finite(of.max),
        }
    }
}

impl From<&BucketRow> for Bucket {
    fn from(of: &BucketRow) -> Self {
        Self { metric: of.metric, by: of.by, label: of.label.clone(), percentiles_ms: Spread::from(&of.percentiles) }
    }
}
