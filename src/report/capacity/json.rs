//! `capacity.json`: `goodput-gate/capacity/1`. Fields are only ever added. What is unknown is null, never 0.

use super::CapacityReport;
use crate::report::json::{spell, v1};
use crate::search::{Axis, Point, Spot};
use crate::verdict::RuleResult;
use schemars::JsonSchema;
use serde::Serialize;

/// What a capacity search found. Loads are in `unit`; shares are fractions (0.4), times are in `…_ms`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "goodput-gate capacity")]
struct Document {
    /// The format and its version.
    #[schemars(extend("const" = "goodput-gate/capacity/1"))]
    schema: &'static str,
    /// The spec's name.
    name: String,
    /// The process's exit code.
    exit_code: u8,
    /// One sentence.
    summary: String,
    /// Why the search ended.
    #[schemars(extend("enum" = ["found", "lowest_breaks", "ceiling", "unmeasurable", "points", "budget", "target_lost", "interrupted"]))]
    stop: &'static str,
    /// Requests in flight, or requests per second.
    #[schemars(extend("enum" = ["concurrency", "/s"]))]
    unit: &'static str,
    /// The target load.
    target: f64,
    /// The highest load that holds; null where none does.
    capacity: Option<f64>,
    /// The lowest load that breaks; null where none does.
    breaks: Option<f64>,
    /// Capacity over target load, less one: its lower end.
    headroom_low: f64,
    /// Its upper end; null where no load breaks.
    headroom_high: Option<f64>,
    /// The highest load measured whose P99 of ttft is at most twice that at the lowest load.
    knee: Option<Landmark>,
    /// Where most good requests a second finish.
    goodput_peak: Option<Landmark>,
    /// Where most requests a second finish.
    throughput_peak: Option<Landmark>,
    /// How far the throughput's peak lies above the goodput's, as a fraction of the latter's load.
    peaks_apart: Option<f64>,
    /// Requests of all points, warm-up included.
    requests: u64,
    /// Tokens of all points.
    tokens: u64,
    /// Seconds of load of all points.
    seconds: f64,
    /// The rules that had to hold at each load.
    rules: Vec<String>,
    /// What goodput was counted against.
    constraints: Vec<String>,
    /// Rules on headroom.
    headroom: Vec<Rule>,
    /// Every point in the order measured; of several at one load the last counts.
    points: Vec<Row>,
    /// Under what the first point was made.
    conditions: Option<v1::Conditions>,
}

/// A load and a figure there: `ttft_p99_ms` for the knee, requests per second for a peak.
#[derive(Debug, Serialize, JsonSchema)]
struct Landmark {
    load: f64,
    value: f64,
}

/// One rule on headroom.
#[derive(Debug, Serialize, JsonSchema)]
struct Rule {
    rule: String,
    kind: &'static str,
    status: &'static str,
    why: String,
}

/// One point.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    load: f64,
    #[schemars(extend("enum" = ["holds", "breaks", "unsure", "unmeasurable"]))]
    held: &'static str,
    /// How many times the usual rounds were planned.
    effort: u32,
    rounds: u64,
    requests: u64,
    tokens: u64,
    seconds: f64,
    ttft_p99_ms: Option<f64>,
    goodput: Option<f64>,
    /// Over the time from the first counted request's due time to the last counted token, in both loops.
    goodput_rps: Option<f64>,
    throughput_rps: Option<f64>,
    throughput_tps: Option<f64>,
    /// What decided.
    why: String,
    /// Its run file, below the folder of this file.
    file: Option<String>,
}

/// Spells `report` as `capacity.json`, with a line break at its end.
#[must_use]
pub fn render(report: &CapacityReport) -> String {
    spell(&Document::from(report))
}

/// The JSON Schema (2020-12) of `capacity.json`.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document).to_value()
}

impl From<&CapacityReport> for Document {
    fn from(report: &CapacityReport) -> Self {
        let found = &report.findings;
        let landmark = |spot: Option<Spot>| spot.map(|spot| Landmark { load: spot.load, value: spot.value });
        Self {
            schema: "goodput-gate/capacity/1",
            name: report.name.clone(),
            exit_code: report.exit_code,
            summary: report.summary.clone(),
            stop: found.stop.name(),
            unit: match report.axis {
                Axis::Concurrency => "concurrency",
                Axis::Rate => "/s",
            },
            target: found.target,
            capacity: found.capacity,
            breaks: found.breaks,
            headroom_low: found.headroom.0,
            headroom_high: Some(found.headroom.1).filter(|high| high.is_finite()),
            knee: landmark(found.knee),
            goodput_peak: landmark(found.goodput_peak),
            throughput_peak: landmark(found.throughput_peak),
            peaks_apart: found.peaks_apart(),
            requests: found.requests,
            tokens: found.tokens,
            seconds: found.seconds,
            rules: report.rules.clone(),
            constraints: report.constraints.clone(),
            headroom: report.headroom.iter().map(Rule::from).collect(),
            points: report.points.iter().map(|(point, file)| Row::new(point, file.clone())).collect(),
            conditions: report.conditions.as_ref().map(v1::Conditions::from),
        }
    }
}

impl From<&RuleResult> for Rule {
    fn from(row: &RuleResult) -> Self {
        Self { rule: row.rule.clone(), kind: row.kind.name(), status: row.status.name(), why: row.why.clone() }
    }
}

impl Row {
    fn new(point: &Point, file: Option<String>) -> Self {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        Self {
            load: point.load,
            held: point.held.name(),
            effort: point.effort,
            rounds: point.rounds,
            requests: point.requests,
            tokens: point.tokens,
            seconds: point.seconds,
            ttft_p99_ms: finite(point.ttft_p99_ms),
            goodput: finite(point.goodput),
            goodput_rps: finite(point.goodput_rps),
            throughput_rps: finite(point.throughput_rps),
            throughput_tps: finite(point.throughput_tps),
            why: point.why.clone(),
            file,
        }
    }
}
