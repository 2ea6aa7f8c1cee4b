//! Under what a run was made: the head of every run file, and what decides whether two runs may be compared.

/// Under what a run was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// Unique to the run; two stored copies of one run count once.
    pub run_id: String,
    /// `goodput-gate` and its version.
    pub tool: String,
    /// The spec's `name`.
    pub name: String,
    /// SHA-256 of the spec's text, in hex.
    pub spec_digest: String,
    /// Every line of `slo` as written, in order; a report lists those that changed since the baseline.
    pub limits: Vec<String>,
    /// Where the load went.
    pub target: TargetInfo,
    /// What was sent.
    pub workload: WorkloadInfo,
    /// How much of it.
    pub load: LoadInfo,
    /// The seed of lengths, arrivals and shared text.
    pub seed: u64,
    /// Wall-clock start, RFC 3339.
    pub started: String,
    /// A digest of the machine that sent the load; never its name.
    pub host_digest: String,
    /// The commit under test, where known.
    pub commit: Option<String>,
    /// The pull request under test, where known.
    pub pull_request: Option<u64>,
    /// The version of the metric definitions.
    pub definitions: u32,
    /// What was set by flag and not by the spec, as `flag=value`; secrets are redacted.
    pub flags: Vec<String>,
    /// Whether the prompts' lengths were calibrated against the server's own count.
    pub calibrated: bool,
}

/// Where the load went. Never holds credentials.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TargetInfo {
    /// The spec's alias, else scheme, host and port.
    pub label: String,
    /// The protocol's word.
    pub api: String,
    /// The model that was asked for.
    pub model: String,
    /// The hardware label, where the spec names one.
    pub hardware: Option<HardwareInfo>,
    /// The server's own name and version, where it tells.
    pub server: Option<String>,
}

/// The spec's `target.hardware`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HardwareInfo {
    /// A free label.
    pub name: String,
    /// Memory bandwidth, bytes per second.
    pub bandwidth: Option<f64>,
    /// Price per hour, in the user's own currency.
    pub price_per_hour: Option<f64>,
}

/// What was sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkloadInfo {
    /// A sentence for people: `chat lengths, unique prompts, one turn`.
    pub label: String,
    /// SHA-256 over lengths, arrivals and groups (not over salts), in hex.
    pub digest: String,
    /// Pairs of the sample that were too long and were dropped.
    pub dropped: u64,
    /// Percentiles of the asked input lengths: P50, P95.
    pub input_p50_p95: Option<(u64, u64)>,
    /// Percentiles of the asked output lengths: P50, P95.
    pub output_p50_p95: Option<(u64, u64)>,
    /// Offered prefix-cache reuse, a share.
    pub prefix_hit: f64,
}

/// How much was sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadInfo {
    /// Closed loop: the target concurrency at 1x.
    pub concurrency: Option<u64>,
    /// Open loop: the target rate at 1x, requests per second.
    pub rate: Option<f64>,
    /// The arrival process as written; `closed` in a closed loop.
    pub arrival: String,
    /// The levels in the order they ran.
    pub levels: Vec<super::LevelInfo>,
}
