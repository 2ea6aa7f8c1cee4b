//! The handed streams through the real binary: `run`, one request, the run file compared. In real time, so with bounds that only a
//! fault breaks.

use crate::cases::{Case, Observed, Tolerance, load_spoken};
use crate::common::Place;
use crate::player::Player;
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const TOLERANCE: Tolerance = Tolerance { early_ms: 1.0, late_ms: 400.0 };
const CHANCES: usize = 3;
/// A first token that is late makes the time per token too short: so much of it is given back before the comparison.
const LATE_FIRST_MS: f64 = 100.0;
const AT_ONCE: usize = 8;

#[test]
fn every_spoken_stream_is_measured_right_by_the_binary() {
    let cases = load_spoken();
    assert_eq!(cases.len(), 77);
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let outcome = (0..CHANCES).map(|_| played(case)).find(Result::is_ok).unwrap_or_else(|| played(case));
                    if let Err(why) = outcome {
                        wrong.lock().unwrap().push(format!("{}: {why}", case.name));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn played(case: &Case) -> Result<(), String> {
    let (place, player) = (Place::new(), Player::start(case));
    let redirected = case.stream.status.is_some_and(|status| (300..400).contains(&status));
    let requests = if case.expect.then().is_empty() || redirected { 1 } else { 2 };
    let total = case.expect.client_timeout_ms().unwrap_or(20_000);
    place.file(
        "spec.yaml",
        &format!(
            "name: stream\n\
             target: {{ url: \"{}\", model: field-model, api: {}, timeout: {{ total: {total}ms }} }}\n\
             workload: {{ lengths: {{ input: constant(1), output: constant(64) }} }}\n\
             load: {{ concurrency: 1, rounds: 1, round: {requests} requests, warmup: 0 requests }}\n\
             slo: {{ require: [errors <= 100%] }}\n",
            player.url,
            case.expect.endpoint(),
        ),
    );
    let mut gate = place.gate().args(["run", "spec.yaml", "--quiet"]);
    if let Some(certificate) = player.certificate() {
        gate = gate.env("SSL_CERT_FILE", certificate.to_str().unwrap());
    }
    let done = gate.run();
    if !matches!(done.code, 0 | 4 | 6) {
        return Err(format!("exit {}: {}", done.code, done.stderr));
    }
    let lines = place.run_lines("goodput-out/run.jsonl.zst");
    let answers: Vec<&Value> = lines.iter().filter(|line| line["type"] == "request").collect();
    if answers.len() != requests {
        return Err(format!("{} request lines", answers.len()));
    }
    case.expect.matches(&observed(answers[0]), TOLERANCE)?;
    for (then, answer) in case.expect.then().iter().filter(|_| !redirected).zip(&answers[1..]) {
        then.matches(&observed(answer), TOLERANCE).map_err(|wrong| format!("the second answer: {wrong}"))?;
    }
    Ok(())
}

fn observed(line: &Value) -> Observed {
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    let output_tokens = line["output_tokens"].as_u64();
    Observed {
        error_kind: text("error_kind"),
        ttft_ms: line["ttft_ms"].as_f64(),
        output_tokens,
        token_source: text("token_source"),
        itl_count: line["itl_ms"].as_array().unwrap().len() as u64,
        token_events: line["events"].as_u64(),
        e2e_ms: line["e2e_ms"].as_f64(),
        tpot_ms: line["tpot_ms"].as_f64().map(|ms| ms + LATE_FIRST_MS / (output_tokens.unwrap() - 1) as f64),
        finish_reason: text("finish_reason"),
        done_ms: None,
        close_ms: None,
        http_status: line["http_status"].as_u64().and_then(|status| u16::try_from(status).ok()),
        warnings: line["warnings"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect(),
    }
}
