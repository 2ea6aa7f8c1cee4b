//! `sim://queue` in virtual time: capacities that queueing theory gives.

use super::*;
use crate::plan::{self, Inputs};
use crate::record::{Conditions, TargetInfo};
use crate::sim;
use crate::spec::{self, Offered, Permissions, Source, Spec};
use crate::summary::{self, Lens};
use crate::verdict::{self, BaselineInfo, Inputs as Evidence};

/// One slot, held for 100 ms + 20 × 10 ms = 300 ms a request.
const PROFILE: &str = "sim://queue?slots=1&prefill=100ms&tpot=10ms";
const HOLD: f64 = 0.3;

fn spec(load: &str, limit_ms: u64) -> Spec {
    let text = format!(
        "name: q\nworkload: {{ lengths: {{ input: constant(50), output: constant(20) }} }}\n\
         load: {{ {load}, round: 100 requests, rounds: 40 }}\n\
         slo: {{ request: [ttft <= {limit_ms}ms], require: [ttft p99 <= {limit_ms}ms] }}\n"
    );
    spec::parse(&Source { name: "q".to_owned(), text }, &Permissions::default()).unwrap().spec
}

/// Plan, play, sum up, judge.
fn measure(spec: &Spec, load: f64, effort: u32) -> Point {
    let mut spec = spec.clone();
    spec.load.offered = match spec.load.offered.unwrap() {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of slots")]
        Offered::Concurrency(_) => Some(Offered::Concurrency(load as u64)),
        Offered::Rate { arrival, .. } => Some(Offered::Rate { per_second: load, arrival }),
    };
    spec.load.rounds.min *= effort;
    spec.load.rounds.max *= effort;
    let plan = plan::build(&spec, &Inputs::default(), 1).unwrap();
    let conditions = Conditions {
        run_id: "q".to_owned(),
        tool: String::new(),
        name: "q".to_owned(),
        spec_digest: String::new(),
        limits: Vec::new(),
        target: TargetInfo::default(),
        workload: plan.workload_info(),
        load: plan.load_info(),
        seed: 42,
        started: String::new(),
        host_digest: String::new(),
        commit: None,
        pull_request: None,
        definitions: 1,
        flags: Vec::new(),
        calibrated: true,
    };
    let recording = sim::played(&plan, conditions, &sim::parse(PROFILE).unwrap());
    let summary = summary::of(&recording, &Lens::new(&spec.slo, &spec.buckets));
    let verdict = verdict::decide(&Evidence {
        name: "q",
        slo: &spec.slo,
        summary: &summary,
        recording: &recording,
        stored: &[],
        comparison: None,
        beside: None,
        baseline: BaselineInfo::default(),
        client_lag: spec.client_lag,
        exact_output: false,
        shared_tokens: None,
        headroom: None,
    });
    Point::of(load, effort, &recording, &summary, &verdict)
}

/// P(wait <= t) of M/D/1, hold times 1, load `rho` (Erlang 1909).
fn waits_at_most(t: f64, rho: f64) -> f64 {
    let (mut sum, mut log_factorial) = (0.0, 0.0_f64);
    for k in (0..1000).take_while(|k| f64::from(*k) <= t) {
        let x = rho * (f64::from(k) - t);
        if k > 0 {
            log_factorial += f64::from(k).ln();
        }
        let size = if k == 0 { 1.0 } else { (f64::from(k) * x.abs().ln() - log_factorial).exp() };
        sum += if k % 2 == 1 { -size } else { size } * (-x).exp();
    }
    (1.0 - rho) * sum
}

/// The rate at which P99 of ttft is `limit` seconds.
fn analytic_rate(limit: f64) -> f64 {
    let (mut low, mut high) = (0.01, 0.99);
    for _ in 0..60 {
        let rho = (low + high) / 2.0;
        if waits_at_most((limit - 0.1) / HOLD, rho) >= 0.99 { low = rho } else { high = rho }
    }
    low / HOLD
}

fn told(found: &Findings, points: usize, truth: f64) {
    println!(
        "capacity {:?}, breaks {:?}, truth {truth:.3}: {} requests in {points} points; knee {:?}, peaks {:?} and {:?}",
        found.capacity, found.breaks, found.requests, found.knee, found.goodput_peak, found.throughput_peak
    );
}

#[test]
fn in_an_open_loop_the_capacity_of_m_d_1_is_found_within_5_percent() {
    let truth = analytic_rate(1.5);
    let spec = spec("rate: 2/s", 1500);
    let settings = Settings { from: Some(0.5), ..Settings::around(Axis::Rate, 2.0) };
    let (points, found) = search(&settings, |load, effort| measure(&spec, load, effort));
    told(&found, points.len(), truth);
    let capacity = found.capacity.unwrap();
    assert!((capacity / truth - 1.0).abs() <= 0.05, "{capacity} where {truth} is true");
    assert_eq!(found.stop, Stop::Found);
    let (knee, good, all) = (found.knee.unwrap(), found.goodput_peak.unwrap(), found.throughput_peak.unwrap());
    assert!(knee.load <= capacity && capacity <= good.load && good.load <= all.load, "{found:?}");
    assert!((all.value * HOLD - 1.0).abs() < 0.05, "one slot finishes {} a second", 1.0 / HOLD);
    let (low, high) = found.headroom;
    assert!(low <= truth / 2.0 - 1.0 + 0.05 && high >= truth / 2.0 - 1.0 - 0.05);
}

#[test]
fn in_a_closed_loop_the_capacity_of_one_slot_is_found_within_5_percent() {
    // Everybody waits for all the others: ttft = prefill + one token + hold × (concurrency − 1).
    let limit_ms = 110 + 300 * 30 + 150;
    let spec = spec("concurrency: 16", limit_ms);
    let settings = Settings::around(Axis::Concurrency, 16.0);
    let (points, found) = search(&settings, |load, effort| measure(&spec, load, effort));
    told(&found, points.len(), 31.0);
    let capacity = found.capacity.unwrap();
    assert!((capacity / 31.0 - 1.0).abs() <= 0.05, "{capacity} where 31 is true");
    let (knee, good, all) = (found.knee.unwrap(), found.goodput_peak.unwrap(), found.throughput_peak.unwrap());
    assert!(knee.load <= capacity && good.load <= all.load, "{found:?}");
    assert!(found.goodput_peak.unwrap().value <= all.value + 1e-9);
}
