//! The main job, and the README's three examples with fewer rounds.

use crate::common::Place;
use std::path::Path;

fn quickstart() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-configs/quickstart.yaml").display().to_string()
}

fn baselines() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("gate-configs/baselines/quickstart").display().to_string()
}

/// Twelve rounds, the fewest that can be judged with intervals.
const SHORT: [&str; 2] = ["--rounds", "12"];

#[test]
fn the_quickstart_passes_against_its_baseline_and_writes_every_report() {
    let place = Place::new();
    let spec = quickstart();
    // A lag of the machine that runs the tests is no fault of the gate.
    let done = place
        .gate()
        .args(["check", &spec, "--baseline", &baselines(), "--set", "validity.client_lag=2s", "--set", "slo.rule_out=5x"])
        .args(SHORT)
        .expect(0);
    assert!(done.stdout.starts_with("PASS quickstart\n"), "{}", done.stdout);
    let verdict = place.json("goodput-out/verdict.json");
    assert_eq!(verdict["schema"], "goodput-gate/verdict/1");
    let rules = verdict["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 6);
    assert!(rules.iter().all(|rule| rule["status"] == "pass"), "{rules:#?}");
    assert_eq!(verdict["baseline"]["runs"][0], "20260101T000000Z-00000001");
    let level = &verdict["levels"][0];
    let p50 = level["ttft_ms"]["p50"].as_f64().unwrap();
    assert!((200.0..400.0).contains(&p50), "TTFT P50 {p50} ms of a server of 200 ms");
    for name in ["report.md", "report.html", "junit.xml", "run.jsonl.zst"] {
        assert!(place.path().join("goodput-out").join(name).metadata().unwrap().len() > 100, "{name}");
    }
}

#[test]
fn a_server_over_an_absolute_limit_is_10_and_the_report_names_the_rule_and_by_how_much() {
    let place = Place::new();
    let slow = ["--endpoint", "sim://steady?ttft=1200ms&tpot=20ms"];
    let done = place.gate().args(["check", &quickstart(), "--set", "validity.client_lag=2s"]).args(slow).args(SHORT).expect(10);
    assert!(done.stdout.starts_with("FAIL"), "{}", done.stdout);
    let sentence = place.json("goodput-out/verdict.json")["summary"].as_str().unwrap().to_owned();
    assert!(sentence.contains("goodput >= 95% is broken: observed 0 %") && sentence.contains("also broken: ttft p99 <= 1s"), "{sentence}");
    assert!(done.stdout.contains("ttft p99 <= 1s"), "{}", done.stdout);
}

#[test]
fn a_server_slower_than_the_stored_baseline_is_11() {
    let place = Place::new();
    let slow = ["--endpoint", "sim://steady?ttft=600ms&tpot=20ms", "--baseline", &baselines(), "--set", "validity.client_lag=2s"];
    let done = place.gate().args(["check", &quickstart()]).args(slow).args(SHORT).expect(11);
    assert!(done.stdout.contains("ttft p95 rises <= 100%"), "{}", done.stdout);
    let verdict = place.json("goodput-out/verdict.json");
    let row = verdict["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == "ttft p95 rises <= 100%").unwrap().clone();
    assert_eq!(row["status"], "fail");
    let change = row["change"].as_f64().unwrap();
    assert!((150.0..400.0).contains(&change), "{row:#}");
}

#[test]
fn an_open_loop_and_two_levels_run_and_are_judged_apart() {
    let place = Place::new();
    place.file(
        "a.yaml",
        "name: open\n\
         target: { url: \"sim://queue?slots=64&prefill=10ms&tpot=2ms\" }\n\
         workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(2, 4)\" } }\n\
         load: { rate: 100/s, levels: [1x, 2x], rounds: 12, round: 10 requests, warmup: 10 requests }\n\
         slo: { require: [ttft p50 <= 3s, ttft p50 <= 3s at 2x, errors <= 50%] }\n\
         validity: { client_lag: 2s }\n",
    );
    let done = place.gate().args(["check", "a.yaml"]).run();
    assert!(matches!(done.code, 0 | 6), "{}{}", done.stdout, done.stderr);
    let verdict = place.json("goodput-out/verdict.json");
    let levels: Vec<_> = verdict["levels"].as_array().unwrap().iter().map(|level| level["level"].clone()).collect();
    assert_eq!(levels, ["1x", "2x"]);
    let lines = place.run_lines("goodput-out/run.jsonl.zst");
    let requests: Vec<_> = lines.iter().filter(|line| line["type"] == "request").collect();
    assert_eq!(requests.len(), 260);
    // Due times are the plan's: the same for the same seed, whatever the answers did.
    let due = |level: &str| -> Vec<f64> {
        let mut due: Vec<f64> = requests.iter().filter(|r| r["level"] == level).map(|r| r["scheduled_ms"].as_f64().unwrap()).collect();
        due.sort_by(f64::total_cmp);
        let first = due[0];
        due.iter().map(|at| ((at - first) * 1000.0).round() / 1000.0).collect()
    };
    let first = due("1x");
    place.gate().args(["run", "a.yaml"]).expect(0);
    let again = place.run_lines("goodput-out/run.jsonl.zst");
    let mut other: Vec<f64> =
        again.iter().filter(|r| r["type"] == "request" && r["level"] == "1x").map(|r| r["scheduled_ms"].as_f64().unwrap()).collect();
    other.sort_by(f64::total_cmp);
    let other: Vec<f64> = other.iter().map(|at| ((at - other[0]) * 1000.0).round() / 1000.0).collect();
    assert_eq!(first, other);
}

#[test]
fn stdout_carries_the_result_and_nothing_else() {
    let place = Place::new();
    place.file(
        "a.yaml",
        "name: out\ntarget: { url: \"sim://steady?ttft=5ms&tpot=1ms\" }\n\
         workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(2, 4)\" } }\n\
         load: { concurrency: 4, rounds: 12, round: 4 requests, warmup: 4 requests }\n\
         slo: { require: [ttft p50 <= 3s] }\nvalidity: { client_lag: 2s }\n",
    );
    let done = place.gate().args(["check", "a.yaml", "--format", "json"]).expect(0);
    let printed: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(printed["verdict"], place.json("goodput-out/verdict.json")["verdict"]);
    assert!(done.stderr.contains("requests"));
    let done = place.gate().args(["check", "a.yaml", "--quiet", "--format", "markdown"]).expect(0);
    assert!(!done.stderr.contains("requests,") && done.stdout.contains("PASS"), "{}{}", done.stdout, done.stderr);
}
