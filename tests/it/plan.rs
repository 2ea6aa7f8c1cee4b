//! `plan` says what a check would do without doing it; `selftest` shows that the build can block; `baseline show` what the site's noise is.

use crate::common::Place;

const SPEC: &str = "name: planned\n\
    target: { url: \"sim://steady?ttft=10ms&tpot=1ms\" }\n\
    workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(3, 5)\" } }\n\
    load: { concurrency: 8, rounds: 12, round: 8 requests, warmup: 8 requests }\n\
    slo: { require: [ttft p99 <= 3s, ttft p50 <= 3s], regression: [ttft p50 rises <= 50%, goodput drops <= 5pp], request: [ttft <= 3s] }\n\
    validity: { client_lag: 5s }\n";

#[test]
fn a_plan_counts_prices_and_names_what_cannot_pass_and_sends_nothing() {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    let done = place.gate().args(["plan", "a.yaml", "--price-in", "2", "--price-out", "10"]).expect(0);
    for said in [
        "104 requests",
        "8 of them warm-up, 12 rounds",
        "unknown before a first run",
        "`ttft p99 <= 3s` cannot pass",
        "`ttft p50 <= 3s`: can pass",
        "cost: 0.0",
        "no comparable run is stored",
    ] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    assert!(!place.path().join("goodput-out").exists());
    place.file("open.yaml", &SPEC.replace("concurrency: 8", "rate: 10/s, arrival: constant"));
    let done = place.gate().args(["plan", "open.yaml", "--rounds", "30"]).expect(0);
    assert!(done.stdout.contains("the arrivals fix it") && done.stdout.contains("about 0.4 minutes"), "{}", done.stdout);
    place.gate().args(["plan", "a.yaml", "--baseline", "nowhere"]).expect(5);
    place.gate().args(["plan", "a.yaml", "--detect", "ten"]).expect(2);
}

#[test]
fn a_stored_run_tells_the_time_and_the_smallest_regression_that_is_found() {
    let place = Place::new();
    place.file("a.yaml", &SPEC.replace("ttft p99 <= 3s, ", ""));
    place.gate().args(["check", "a.yaml", "--save-baseline"]).expect(0);
    let done = place.gate().args(["plan", "a.yaml", "--detect", "200%"]).expect(0);
    for said in ["pace of the newest stored run", "found in 80 % of checks, by 1 stored runs", "`ttft p50 rises <= 50%`: +", "200 %"] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    let allowed = place.gate().args(["plan", "a.yaml", "--detect", "30%"]).expect(0);
    assert!(allowed.stdout.contains("30 % is within what the rule allows"), "{}", allowed.stdout);
    // The first line of the next check says minutes.
    let check = place.gate().args(["check", "a.yaml"]).run();
    assert!(check.stderr.contains(" minutes"), "{}", check.stderr);
    let shown = place.gate().args(["baseline", "show", "planned"]).expect(0).stdout;
    for said in ["what 1 comparable stored runs say of this site at 1x", "ttft p95: runs differ by 3 %", "design effect"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

#[test]
fn the_selftest_shows_every_kind_of_verdict() {
    let done = Place::new().gate().args(["selftest"]).expect(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{}", done.stdout);
    for (line, code) in lines.iter().zip([0, 6, 10, 11]) {
        assert!(line.starts_with("ok: ") && line.ends_with(&format!("must give {code}")), "{line}");
    }
}
