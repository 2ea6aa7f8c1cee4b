//! The quickstart's stored baseline: made here, in virtual time, from the quickstart's own spec and plan, so that it cannot go stale.

use goodput_gate::plan::{self, Fit, Inputs, Plan};
use goodput_gate::record::{self, Conditions, End, EndReason, LevelEnd, Recording, Request, RoundEnd, Side, TargetInfo};
use goodput_gate::spec::{self, Permissions, Source, Spec};
use goodput_gate::units::Nanos;
use goodput_gate::wire::{Outcome, TokenSource};
use goodput_gate::{history, store};
use rand_distr::{Distribution, LogNormal};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

/// Tokens that the simulated server's chat template adds.
const TEMPLATE: u64 = 10;
const TTFT_MS: f64 = 200.0;
const TPOT_MS: f64 = 20.0;

#[test]
fn the_quickstarts_baseline_is_what_its_spec_and_plan_make_of_it_today() {
    let made = history::fold(&recording());
    let path = path();
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, record::encode(&made).unwrap()).unwrap();
    }
    let stored = record::decode(&std::fs::read(&path).unwrap()).unwrap();
    assert!(stored == made, "{} is stale: UPDATE_GENERATED=1 cargo test quickstart", path.display());
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-configs/baselines/quickstart/20260101T000000Z-00000001.jsonl.zst")
}

fn recording() -> Recording {
    let source = Source { name: "quickstart".into(), text: store::preset("quickstart").unwrap().into() };
    let spec = spec::parse(&source, &Permissions::default()).unwrap().spec;
    let plan = plan::build(&spec, &Inputs::default(), 1).unwrap().fit(&Fit { c0: TEMPLATE, exact: true, ..Fit::default() }).unwrap();
    let requests = requests(&plan);
    let rounds: Vec<RoundEnd> = (0..plan.levels[0].info.rounds)
        .map(|round| RoundEnd { level: 0, round, requests: plan.levels[0].info.round_requests[round as usize], gaps: None })
        .collect();
    let at = requests.iter().map(|request| request.scheduled + request.closed.unwrap()).max().unwrap();
    let whole = u32::try_from(rounds.len()).unwrap();
    Recording {
        conditions: conditions(&spec, &plan),
        headroom: None,
        client: Vec::new(),
        end: Some(End {
            at,
            ended: "2026-01-01T00:00:40Z".into(),
            reason: EndReason::Complete,
            requests: requests.len() as u64,
            errors: 0,
            levels: vec![LevelEnd { level: 0, planned_rounds: whole, whole_rounds: whole, look: None, alpha: None }],
        }),
        requests,
        rounds,
        damage: Vec::new(),
    }
}

/// A closed loop over the plan in virtual time, on a server that is a per cent or so slower or faster each time.
fn requests(plan: &Plan) -> Vec<Request> {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let noise = LogNormal::new(0.0, 0.01).unwrap();
    let concurrency = usize::try_from(plan.levels[0].info.concurrency.unwrap()).unwrap();
    let mut free: BinaryHeap<std::cmp::Reverse<Nanos>> = std::iter::repeat_n(std::cmp::Reverse(Nanos::ZERO), concurrency).collect();
    plan.requests(0)
        .map(|planned| {
            let scheduled = free.pop().unwrap().0;
            let first = Nanos::from_ms(TTFT_MS * noise.sample(&mut random));
            let gap = Nanos::from_ms(TPOT_MS * noise.sample(&mut random));
            let gaps = vec![gap; usize::try_from(planned.asked_output - 1).unwrap()];
            let last = Nanos(first.0 + gap.0 * gaps.len() as u64);
            free.push(std::cmp::Reverse(scheduled + last));
            Request {
                id: planned.id,
                side: Side::Candidate,
                part: None,
                session: None,
                level: 0,
                round: planned.round,
                turn: 0,
                scheduled,
                sent: scheduled,
                connect: None,
                headers: Some(first),
                first_token: Some(first),
                first_answer: Some(first),
                last_token: Some(last),
                closed: Some(last),
                input_tokens: Some(planned.asked_input),
                output_tokens: Some(planned.asked_output),
                asked_input: planned.asked_input,
                asked_output: planned.asked_output,
                cached_tokens: Some(0),
                token_source: Some(TokenSource::Usage),
                events: planned.asked_output,
                stall: gaps.first().copied(),
                gaps,
                finish_reason: Some("length".into()),
                outcome: Outcome::Ok,
                http_status: Some(200),
                warnings: Vec::new(),
            }
        })
        .collect()
}

fn conditions(spec: &Spec, plan: &Plan) -> Conditions {
    Conditions {
        run_id: "20260101T000000Z-00000001".into(),
        tool: "goodput-gate tests".into(),
        name: spec.name.clone(),
        spec_digest: spec.digest.clone(),
        limits: goodput_gate::commands::limits(spec),
        target: TargetInfo {
            label: "sim://steady?ttft=200ms&tpot=20ms".into(),
            api: "chat".into(),
            model: "sim".into(),
            hardware: None,
            server: None,
        },
        workload: plan.workload_info(),
        load: plan.load_info(),
        seed: spec.load.seed,
        started: "2026-01-01T00:00:00Z".into(),
        host_digest: String::new(),
        commit: None,
        pull_request: None,
        definitions: 1,
        flags: vec!["made by the tests' generator, in virtual time".into()],
        calibrated: true,
    }
}
