//! The published form of a recording, version 1: what each line of a run file holds. Internal types never derive Serialize; these do.

use serde::{Deserialize, Serialize};

/// The format's name and version, in every `run` line.
pub(crate) const FORMAT: &str = "goodput-gate/run/1";

/// First line: the conditions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunLine {
    #[serde(rename = "type")]
    pub kind: String,
    pub format: String,
    pub run_id: String,
    pub tool: String,
    pub name: String,
    pub spec_digest: String,
    pub limits: Vec<String>,
    pub target: TargetLine,
    pub workload: WorkloadLine,
    pub load: LoadLine,
    pub seed: u64,
    pub started: String,
    pub host_digest: String,
    pub commit: Option<String>,
    pub pull_request: Option<u64>,
    pub definitions: u32,
    pub flags: Vec<String>,
    pub calibrated: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TargetLine {
    pub label: String,
    pub api: String,
    pub model: String,
    pub hardware: Option<HardwareLine>,
    pub server: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HardwareLine {
    pub name: String,
    pub bandwidth_bytes_per_s: Option<f64>,
    pub price_per_hour: Option<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WorkloadLine {
    pub label: String,
    pub digest: String,
    pub dropped: u64,
    pub input_p50_p95: Option<(u64, u64)>,
    pub output_p50_p95: Option<(u64, u64)>,
    pub prefix_hit: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoadLine {
    pub concurrency: Option<u64>,
    pub rate: Option<f64>,
    pub arrival: String,
    pub levels: Vec<LevelLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LevelLine {
    pub label: String,
    pub factor: f64,
    pub concurrency: Option<u64>,
    pub rate: Option<f64>,
    pub rounds: u32,
    pub round_requests: Vec<u32>,
    pub warmup: u64,
    /// Only where two sides take turns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lead: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// One request. What is unknown is null, never 0.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RequestLine {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: u64,
    pub side: String,
    pub part: Option<String>,
    pub session: Option<u64>,
    pub level: String,
    pub round: Option<u32>,
    pub turn: u32,
    pub scheduled_ms: f64,
    pub sent_ms: f64,
    pub start_lag_ms: f64,
    pub connect_ms: Option<f64>,
    pub headers_ms: Option<f64>,
    pub ttft_ms: Option<f64>,
    pub ttfa_ms: Option<f64>,
    pub tpot_ms: Option<f64>,
    pub e2e_ms: Option<f64>,
    pub closed_ms: Option<f64>,
    pub stall_ms: Option<f64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub asked_input_tokens: u64,
    pub asked_output_tokens: u64,
    pub cached_tokens: Option<u64>,
    pub token_source: Option<String>,
    pub events: u64,
    pub itl_ms: Vec<f64>,
    pub finish_reason: Option<String>,
    pub outcome: String,
    pub error_kind: Option<String>,
    pub error: Option<String>,
    pub http_status: Option<u16>,
    pub warnings: Vec<String>,
}

/// A second of the client's own health.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClientLine {
    #[serde(rename = "type")]
    pub kind: String,
    pub at_ms: f64,
    pub loop_lag_max_ms: f64,
    pub loop_lag_p99_ms: f64,
    pub cpu_share: Option<f64>,
    pub in_flight: u64,
    #[serde(default)]
    pub clock_step_ms: Option<f64>,
}

/// A whole round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RoundLine {
    #[serde(rename = "type")]
    pub kind: String,
    pub level: String,
    pub round: u32,
    pub requests: u32,
    /// Where the requests keep no gaps (a stored baseline): `[gap in µs, count]` pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps_us: Option<Vec<(u64, u64)>>,
}

/// After the last line, where the headroom was searched for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HeadroomLine {
    #[serde(rename = "type")]
    pub kind: String,
    pub low: f64,
    /// Null where no load broke the SLO.
    pub high: Option<f64>,
}

/// Last line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EndLine {
    #[serde(rename = "type")]
    pub kind: String,
    pub at_ms: f64,
    pub ended: String,
    pub reason: String,
    pub requests: u64,
    pub errors: u64,
    pub levels: Vec<LevelEndLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LevelEndLine {
    pub level: String,
    pub planned_rounds: u32,
    pub whole_rounds: u32,
    pub look: Option<u32>,
    pub alpha: Option<f64>,
}
