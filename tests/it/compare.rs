//! `compare`: two stored runs side by side.

use crate::common::Place;

const SPEC: &str = "name: compared\n\
    target: { url: \"sim://steady?ttft=20ms&tpot=4ms\" }\n\
    workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(3, 5)\" } }\n\
    load: { concurrency: 12, rounds: 12, round: 12 requests, warmup: 12 requests }\n\
    slo: { request: [ttft <= 3s, tpot <= 2s], regression: [ttft p50 rises <= 100%] }\n\
    validity: { client_lag: 2s }\n";

/// Two runs, the second of a server whose first token takes 15 times as long.
fn measured() -> Place {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    place.gate().args(["run", "a.yaml", "--out", "old"]).expect(0);
    place.gate().args(["run", "a.yaml", "--out", "new", "--endpoint", "sim://steady?ttft=300ms&tpot=4ms"]).expect(0);
    place
}

#[test]
fn two_runs_stand_side_by_side_and_only_fail_makes_a_regression_an_exit_code() {
    let place = measured();
    let (old, new) = ("old/run.jsonl.zst", "new/run.jsonl.zst");
    let done = place.gate().args(["compare", old, new]).expect(0);
    assert!(done.stdout.contains("ttft p50 rises <= 10%") && done.stdout.contains("FAIL"), "{}", done.stdout);
    let differ = done.stdout.split("conditions that differ").nth(1).unwrap_or_default();
    assert!(differ.contains("set by flag") && differ.contains("target"), "{}", done.stdout);
    place.gate().args(["compare", old, new, "--fail"]).expect(11);
    place.gate().args(["compare", old, new, "--fail", "--spec", "a.yaml"]).expect(11);
    // What became better is no regression, and a run beside itself has not changed.
    let done = place.gate().args(["compare", old, old, "--fail", "--format", "json"]).expect(0);
    let verdict: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let rules = verdict["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 9);
    assert!(rules.iter().all(|rule| rule["change"] == 0.0 && rule["method"] == "D"), "{rules:#?}");
    assert!(done.stderr.contains("both are the same run"));
    assert!(place.path().join("goodput-out/compare/report.md").exists());
    assert!(!place.path().join("goodput-out/verdict.json").exists(), "no check's verdict is replaced");
}

#[test]
fn runs_that_are_not_comparable_are_5_with_what_differs_and_force_goes_on() {
    let place = measured();
    place.gate().args(["run", "a.yaml", "--out", "other", "--seed", "7", "--concurrency", "13"]).expect(0);
    let runs = ["compare", "old/run.jsonl.zst", "other/run.jsonl.zst"];
    let done = place.gate().args(runs).expect(5);
    assert!(done.stderr.contains("seed: was 42, is 7") && done.stderr.contains("concurrency 12"), "{}", done.stderr);
    let done = place.gate().args(runs).args(["--force", "--format", "markdown"]).expect(0);
    assert!(done.stdout.contains("compared by --force although not comparable: seed: was 42, is 7"), "{}", done.stdout);
}

#[test]
fn what_cannot_be_compared_is_a_usage_error() {
    let place = measured();
    place.file("none.yaml", "name: x\nslo: { require: [errors <= 1%] }\n");
    place.gate().args(["compare", "old/run.jsonl.zst", "new/run.jsonl.zst", "--spec", "none.yaml"]).expect(2);
    place.gate().args(["compare", "old/run.jsonl.zst", "a.yaml"]).expect(2);
    place.gate().args(["compare", "old/run.jsonl.zst"]).expect(2);
}
