//! Made runs, and what they are judged by.

use goodput_gate::plan::{self, Inputs, Plan};
use goodput_gate::record::{Conditions, Recording, TargetInfo};
use goodput_gate::sim::{Truth, made};
use goodput_gate::spec::{self, Permissions, Source, Spec};

/// A spec of 40 rounds with so many requests in all, of 101 output tokens each: 100 gaps.
pub(crate) fn planned(requests: u64) -> (Spec, Plan) {
    let round = requests / 40;
    let text = format!(
        "name: bench
workload: {{ lengths: {{ input: 'uniform(100, 900)', output: constant(101) }} }}
load: {{ concurrency: 16, rounds: 40, round: {round} requests, warmup: 0 requests }}
slo:
  request: [ttft <= 1s, tpot <= 50ms]
  require: [goodput >= 95%, ttft p99 <= 1s, itl p99 <= 100ms, errors <= 1%]
  regression: [goodput drops <= 2pp, ttft p95 rises <= 10%, tpot p95 rises <= 10%]
"
    );
    let source = Source { name: "bench".to_owned(), text };
    let spec = spec::parse(&source, &Permissions::default()).expect("the spec is right").spec;
    let plan = plan::build(&spec, &Inputs::default(), 0).expect("the plan is right");
    (spec, plan)
}

/// A run of that plan, from this seed.
pub(crate) fn run(plan: &Plan, seed: u64) -> Recording {
    let conditions = Conditions {
        run_id: format!("bench-{seed}"),
        tool: "goodput-gate".to_owned(),
        name: "bench".to_owned(),
        spec_digest: String::new(),
        limits: Vec::new(),
        target: TargetInfo { label: "made".to_owned(), api: "chat".to_owned(), model: "made".to_owned(), ..TargetInfo::default() },
        workload: plan.workload_info(),
        load: plan.load_info(),
        seed: 42,
        started: format!("2026-01-01T00:00:{:02}Z", seed % 60),
        host_digest: String::new(),
        commit: None,
        pull_request: None,
        definitions: 1,
        flags: Vec::new(),
        calibrated: true,
    };
    made(plan, conditions, &Truth { ttft_ms: 200.0, tpot_ms: 20.0, jitter: 0.25, seed })
}

/// Figures, comparison, verdict.
pub(crate) mod judging {
    use goodput_gate::compare;
    use goodput_gate::record::Recording;
    use goodput_gate::spec::Spec;
    use goodput_gate::summary::{self, Lens, Summary};
    use goodput_gate::verdict::{self, BaselineInfo, Inputs, Verdict};

    /// The figures of a run.
    pub(crate) fn figures(spec: &Spec, run: &Recording) -> Summary {
        summary::of(run, &Lens::new(&spec.slo, &spec.buckets))
    }

    /// The verdict on a run, compared with the stored ones.
    pub(crate) fn judge(spec: &Spec, run: &Recording, stored: &[Summary]) -> Verdict {
        let summary = figures(spec, run);
        let comparison = compare::against(&summary, stored, &spec.slo.rules);
        verdict::decide(&Inputs {
            beside: None,
            name: &spec.name,
            slo: &spec.slo,
            summary: &summary,
            recording: run,
            stored,
            comparison: Some(&comparison),
            baseline: BaselineInfo::default(),
            client_lag: spec.client_lag,
            exact_output: false,
            shared_tokens: None,
            headroom: None,
        })
    }
}
