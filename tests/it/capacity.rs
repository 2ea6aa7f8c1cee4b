//! The capacity search and the headroom rule, on a simulated queue whose capacity is known.

use crate::common::Place;

/// One slot, held for 20 + 4 × 5 = 40 ms a request: with n in flight ttft is 25 + 40 × (n − 1) ms.
const SPEC: &str = "name: queued\n\
    target: { url: \"sim://queue?slots=1&prefill=20ms&tpot=5ms\" }\n\
    workload: { lengths: { input: \"constant(20)\", output: \"constant(4)\" } }\n\
    load: { concurrency: 4, rounds: 12, round: 8 requests, warmup: 8 requests }\n\
    slo: { request: [ttft <= 340ms], require: [goodput >= 80%], confidence: point }\n\
    validity: { client_lag: 5s }\n";

#[test]
fn a_capacity_search_writes_its_report_and_a_run_file_a_point() {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    let done = place.gate().args(["capacity", "a.yaml", "--to", "16"]).expect(0);
    assert!(done.stdout.starts_with("CAPACITY queued\n  the SLO holds up to "), "{}", done.stdout);
    let found = place.json("goodput-out/capacity.json");
    assert_eq!((&found["schema"], &found["unit"]), (&"goodput-gate/capacity/1".into(), &"concurrency".into()));
    // 8 in flight wait 305 ms; a slow machine may only see less.
    let capacity = found["capacity"].as_f64().unwrap();
    assert!((1.0..=9.0).contains(&capacity), "{found:#}");
    assert!(found["breaks"].as_f64().unwrap() > capacity);
    assert!(found["requests"].as_u64().unwrap() >= 104 * 3);
    let points = found["points"].as_array().unwrap();
    assert_eq!(points[0]["load"], 1.0);
    for point in points {
        let lines = place.run_lines(&format!("goodput-out/{}", point["file"].as_str().unwrap()));
        assert_eq!(lines[0]["load"]["concurrency"].as_f64(), point["load"].as_f64());
    }
    assert!(place.read("goodput-out/capacity.md").contains("| in flight | SLO |"));
    let json = place.gate().args(["capacity", "a.yaml", "--points", "1", "--format", "json"]).expect(0);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json.stdout).unwrap()["stop"], "points");
}

#[test]
fn a_lowest_load_that_breaks_is_10_and_what_cannot_be_searched_is_2() {
    let place = Place::new();
    place.file("slow.yaml", &SPEC.replace("ttft <= 340ms", "ttft <= 1ms"));
    let done = place.gate().args(["capacity", "slow.yaml"]).expect(10);
    assert!(done.stdout.contains("broken at the lowest load already, 1 in flight"), "{}", done.stdout);
    place.file("change.yaml", &SPEC.replace("require: [goodput >= 80%]", "regression: [ttft p50 rises <= 50%]"));
    let done = place.gate().args(["capacity", "change.yaml"]).expect(2);
    assert!(done.stderr.contains("needs a `require` rule at 1x"), "{}", done.stderr);
    place.file("only.yaml", &SPEC.replace("goodput >= 80%", "headroom >= 50%"));
    let done = place.gate().args(["check", "only.yaml"]).expect(2);
    assert!(done.stderr.contains("headroom needs another"), "{}", done.stderr);
    place.gate().args(["capacity", "slow.yaml", "--from", "9", "--to", "3"]).expect(2);
    place.gate().args(["capacity", "slow.yaml", "--endpoint", "http://127.0.0.1:9/v1"]).expect(4);
}

#[test]
fn a_rule_on_headroom_makes_check_search_and_judge_reads_what_was_found() {
    let place = Place::new();
    place.file("a.yaml", &SPEC.replace("goodput >= 80%", "goodput >= 80%, headroom >= 25%").replace("ttft <= 340ms", "ttft <= 2s"));
    let done = place.gate().args(["check", "a.yaml"]).expect(0);
    assert!(done.stdout.contains("headroom >= 25%"), "{}", done.stdout);
    let verdict = place.json("goodput-out/verdict.json");
    assert_eq!((&verdict["rules"][1]["status"], &verdict["headroom"]), (&"pass".into(), &0.25.into()));
    assert!(place.path().join("goodput-out/headroom/points/01/run.jsonl.zst").exists());
    assert_eq!(place.run_lines("goodput-out/run.jsonl.zst").last().unwrap()["type"], "headroom");
    place.gate().args(["judge", "goodput-out/run.jsonl.zst", "--spec", "a.yaml", "--out", "judged"]).expect(0);

    // Ten times the load waits for 1.6 s and more.
    place.file("b.yaml", &SPEC.replace("goodput >= 80%", "goodput >= 80%, headroom >= 900%").replace("ttft <= 340ms", "ttft <= 700ms"));
    let done = place.gate().args(["check", "b.yaml"]).expect(10);
    assert!(done.stdout.contains("headroom >= 900%"), "{}", done.stdout);
    // A broken SLO is not searched for headroom.
    place.file("c.yaml", &SPEC.replace("goodput >= 80%", "goodput >= 80%, headroom >= 25%").replace("ttft <= 340ms", "ttft <= 1ms"));
    place.gate().args(["check", "c.yaml", "--out", "broken"]).expect(10);
    assert_eq!(place.json("broken/verdict.json")["rules"][1]["status"], "skipped");
    assert!(!place.path().join("broken/headroom").exists());
    place.gate().args(["run", "a.yaml", "--out", "plain"]).expect(0);
    let done = place.gate().args(["judge", "plain/run.jsonl.zst", "--spec", "a.yaml"]).expect(6);
    assert!(done.stdout.contains("no search for the headroom"), "{}", done.stdout);
}
