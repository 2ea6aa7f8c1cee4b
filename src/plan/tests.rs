//! The plan's tests: one file each for lengths, text, arrivals, levels and calibration.

mod arrivals;
mod calibration;
mod lengths;
mod levels;
mod text;

use crate::plan::{Inputs, Plan, Planned, build};
use crate::spec::{
    ApiChoice, Arrival, Buckets, Budget, Confidence, Distribution, ExactOutput, Lengths, Load, MetricsChoice, Offered, OnInconclusive,
    Part, Prompts, RoundLength, Rounds, Slo, Spec, Target, Timeouts, Turns, WarmUp, Workload,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Chat lengths in a closed loop of 16, all else by default.
fn spec() -> Spec {
    Spec {
        name: "chat".to_owned(),
        use_case: None,
        target: Target {
            url: None,
            alias: None,
            api: ApiChoice::Auto,
            model: None,
            hardware: None,
            model_bytes: None,
            metrics: MetricsChoice::Off,
            timeout: Timeouts::default(),
            body: serde_json::Map::new(),
            headers: BTreeMap::new(),
        },
        workload: Workload { parts: vec![part(Lengths::Bundled("chat".to_owned()))] },
        load: Load {
            offered: Some(Offered::Concurrency(16)),
            levels: vec![("1x".to_owned(), 1.0)],
            rounds: Rounds { min: 40, max: 40 },
            round: RoundLength::Times(1.0),
            warmup: WarmUp::Times(1.0),
            min_time: Duration::ZERO,
            seed: 42,
        },
        slo: Slo {
            request: Vec::new(),
            rules: Vec::new(),
            confidence: Confidence::Level(0.95),
            rule_out: 2.5,
            on_inconclusive: OnInconclusive::Fail,
        },
        buckets: Buckets { input: vec![1024, 8192], output: vec![300, 1000] },
        client_lag: Duration::from_millis(5),
        budget: Budget::default(),
        digest: String::new(),
    }
}

fn part(lengths: Lengths) -> Part {
    Part {
        name: None,
        share: 1.0,
        lengths,
        prompts: Prompts::Unique,
        max_input: None,
        max_output: None,
        exact_output: ExactOutput::Auto,
        turns: Turns::Fixed(1),
        think: None,
        shared_prefix: 0,
        prefix_hit: 0.0,
        prefix_groups: 1,
        zipf: 1.0,
    }
}

fn named(name: &str, share: f64, lengths: Lengths) -> Part {
    Part { name: Some(name.to_owned()), share, ..part(lengths) }
}

fn with_lengths(lengths: Lengths) -> Spec {
    Spec { workload: Workload { parts: vec![part(lengths)] }, ..spec() }
}

fn formula(input: Distribution, output: Distribution) -> Lengths {
    Lengths::Formula { input, output }
}

fn at_rate(per_second: f64, arrival: Arrival) -> Spec {
    let mut spec = spec();
    spec.load.offered = Some(Offered::Rate { per_second, arrival });
    spec
}

fn file(path: &str, text: &str) -> Inputs {
    Inputs { files: BTreeMap::from([(PathBuf::from(path), text.to_owned())]) }
}

fn plan(spec: &Spec) -> Plan {
    build(spec, &Inputs::default(), 7).unwrap()
}

fn all(plan: &Plan) -> Vec<Planned> {
    (0..plan.levels.len()).flat_map(|level| plan.requests(level)).collect()
}

fn counted(plan: &Plan, level: usize) -> Vec<Planned> {
    plan.requests(level).filter(|planned| planned.round.is_some()).collect()
}

fn lengths(requests: &[Planned]) -> Vec<(u64, u64)> {
    requests.iter().map(|planned| (planned.asked_input, planned.asked_output)).collect()
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt())
}
