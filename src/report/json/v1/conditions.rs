//! Under what a run was made.

use super::finite;
use crate::record;
use schemars::JsonSchema;
use serde::Serialize;

/// Under what the run was made. Holds no credentials.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Conditions {
    run_id: String,
    /// `goodput-gate` and its version.
    tool: String,
    name: String,
    /// SHA-256 of the spec's text, in hex.
    spec_digest: String,
    /// Every line of `slo` as written.
    limits: Vec<String>,
    target: Target,
    workload: Workload,
    load: Load,
    seed: u64,
    /// RFC 3339.
    started: String,
    /// A digest of the machine that sent the load.
    host_digest: String,
    commit: Option<String>,
    pull_request: Option<u64>,
    /// The version of the metric definitions.
    definitions: u32,
    /// What was set by flag and not by the spec; secrets are redacted.
    flags: Vec<String>,
    /// Whether the prompts' lengths were calibrated against the server's own count.
    calibrated: bool,
}

/// Where the load went.
#[derive(Debug, Serialize, JsonSchema)]
struct Target {
    label: String,
    api: String,
    model: String,
    hardware: Option<Hardware>,
    server: Option<String>,
}

/// The spec's `target.hardware`.
#[derive(Debug, Serialize, JsonSchema)]
struct Hardware {
    name: String,
    /// Bytes per second.
    bandwidth: Option<f64>,
    price_per_hour: Option<f64>,
}

/// What was sent.
#[derive(Debug, Serialize, JsonSchema)]
struct Workload {
    label: String,
    digest: String,
    /// Pairs of the sample that were too long.
    dropped: u64,
    input_tokens: Option<Lengths>,
    output_tokens: Option<Lengths>,
    /// Offered prefix-cache reuse, a fraction.
    prefix_hit: Option<f64>,
}

/// Percentiles of the lengths that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
struct Lengths {
    p50: u64,
    p95: u64,
}

/// How much was sent.
#[derive(Debug, Serialize, JsonSchema)]
struct Load {
    concurrency: Option<u64>,
    /// Requests per second.
    rate: Option<f64>,
    arrival: String,
    levels: Vec<PlannedLevel>,
}

/// A level as it was planned.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedLevel {
    level: String,
    factor: Option<f64>,
    concurrency: Option<u64>,
    rate: Option<f64>,
    rounds: u32,
    warmup: u64,
}

impl From<&record::Conditions> for Conditions {
    fn from(of: &record::Conditions) -> Self {
        Self {
            run_id: of.run_id.clone(),
            tool: of.tool.clone(),
            name: of.name.clone(),
            spec_digest: of.spec_digest.clone(),
            limits: of.limits.clone(),
            target: Target::from(&of.target),
            workload: Workload::from(&of.workload),
            load: Load::from(&of.load),
            seed: of.seed,
            started: of.started.clone(),
            host_digest: of.host_digest.clone(),
            commit: of.commit.clone(),
            pull_request: of.pull_request,
            definitions: of.definitions,
            flags: of.flags.clone(),
            calibrated: of.calibrated,
        }
    }
}

impl From<&record::TargetInfo> for Target {
    fn from(of: &record::TargetInfo) -> Self {
        Self {
            label: of.label.clone(),
            api: of.api.clone(),
            model: of.model.clone(),
            hardware: of.hardware.as_ref().map(|hardware| Hardware {
                name: hardware.name.clone(),
                bandwidth: finite(hardware.bandwidth),
                price_per_hour: finite(hardware.price_per_hour),
            }),
            server: of.server.clone(),
        }
    }
}

impl From<&record::WorkloadInfo> for Workload {
    fn from(of: &record::WorkloadInfo) -> Self {
        let lengths = |pair: Option<(u64, u64)>| pair.map(|(p50, p95)| Lengths { p50, p95 });
        Self {
            label: of.label.clone(),
            digest: of.digest.clone(),
            dropped: of.dropped,
            input_tokens: lengths(of.input_p50_p95),
            output_tokens: lengths(of.output_p50_p95),
            prefix_hit: finite(Some(of.prefix_hit)),
        }
    }
}

impl From<&record::LoadInfo> for Load {
    fn from(of: &record::LoadInfo) -> Self {
        let levels = of.levels.iter().map(|level| PlannedLevel {
            level: level.label.clone(),
            factor: finite(Some(level.factor)),
            concurrency: level.concurrency,
            rate: finite(level.rate),
            rounds: level.rounds,
            warmup: level.warmup,
        });
        Self { concurrency: of.concurrency, rate: finite(of.rate), arrival: of.arrival.clone(), levels: levels.collect() }
    }
}
