//! `judge` recomputes all from the run file; the store of baselines; what is damaged is never a pass.

use crate::common::Place;
use serde_json::Value;

const SPEC: &str = "name: judged\n\
    target: { url: \"sim://steady?ttft=20ms&tpot=5ms\" }\n\
    workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(3, 5)\" } }\n\
    load: { concurrency: 12, rounds: 12, round: 12 requests, warmup: 12 requests }\n\
    slo: { request: [ttft <= 3s, tpot <= 2s], require: [goodput >= 50%, errors <= 40%], regression: [ttft p50 rises <= 900%] }\n\
    validity: { client_lag: 2s }\n";

fn measured() -> Place {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    place.gate().args(["check", "a.yaml", "--save-baseline"]).expect(0);
    place
}

/// Everything of a verdict but what may differ from one judging to the next.
fn core(verdict: &Value) -> Value {
    let mut verdict = verdict.clone();
    verdict.as_object_mut().unwrap().remove("baseline");
    verdict
}

#[test]
fn judging_the_run_file_gives_the_verdict_that_check_gave() {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    place.gate().args(["check", "a.yaml"]).expect(0);
    let checked = place.json("goodput-out/verdict.json");
    place.gate().args(["judge", "goodput-out/run.jsonl.zst", "--spec", "a.yaml", "--out", "again"]).expect(0);
    assert_eq!(core(&place.json("again/verdict.json")), core(&checked));
}

#[test]
fn another_spec_may_judge_the_same_run_and_the_worst_of_several_runs_counts() {
    let place = measured();
    place.file("hard.yaml", "name: judged\nslo: { require: [ttft p50 <= 1ms] }\n");
    let run = "goodput-out/run.jsonl.zst";
    place.gate().args(["judge", run, "--spec", "hard.yaml", "--out", "b"]).expect(10);
    place.gate().args(["judge", run, run, "--spec", "hard.yaml", "--out", "c"]).expect(10);
    assert!(place.path().join("c/2/verdict.json").exists());
}

#[test]
fn what_if_shows_goodput_under_another_constraint_on_the_same_run() {
    let place = measured();
    let run = "goodput-out/run.jsonl.zst";
    let done = place.gate().args(["judge", run, "--spec", "a.yaml", "--out", "b", "--what-if", "ttft <= 1ms"]).expect(0);
    assert!(done.stdout.contains("ttft <= 1ms"), "{}", done.stdout);
    let tried = &place.json("b/verdict.json")["what_if"]["levels"][0];
    assert_eq!((&tried["goodput"], &tried["spec_goodput"]), (&0.0.into(), &1.0.into()), "{tried}");
    place.gate().args(["judge", run, "--spec", "a.yaml", "--what-if", "ttft >= 1ms"]).expect(2);
}

#[test]
fn a_run_that_was_cut_anywhere_is_read_and_never_passes_by_what_is_missing() {
    let place = measured();
    let bytes = std::fs::read(place.path().join("goodput-out/run.jsonl.zst")).unwrap();
    for part in [1, 10, 25, 50, 75, 99] {
        std::fs::write(place.path().join("cut.zst"), &bytes[..bytes.len() * part / 100]).unwrap();
        let done = place.gate().args(["judge", "cut.zst", "--spec", "a.yaml", "--baseline", "none", "--out", "b"]).run();
        let fits = match done.code {
            2 => done.stderr.contains("could not read the run"),
            0 | 12 => part == 99,
            code => code == 6,
        };
        assert!(fits, "cut at {part} %: exit {}\n{}{}", done.code, done.stdout, done.stderr);
    }
}

#[test]
fn baselines_are_saved_listed_shown_and_removed() {
    let place = measured();
    let listed = place.gate().args(["baseline", "list", "judged"]).expect(0).stdout;
    let id = listed.split_whitespace().next().unwrap().to_owned();
    assert_eq!(listed.lines().count(), 1);
    let shown = place.gate().args(["baseline", "show", "judged"]).expect(0).stdout;
    assert!(shown.contains(&id) && shown.contains("goodput >= 50%"), "{shown}");
    let stored = place.run_lines(&format!(".goodput/baselines/judged/{id}.jsonl.zst"));
    assert!(stored.iter().filter(|line| line["type"] == "request").all(|line| line["itl_ms"].as_array().unwrap().is_empty()));
    assert!(stored.iter().filter(|line| line["type"] == "round").all(|line| !line["gaps_us"].as_array().unwrap().is_empty()));

    place.gate().args(["check", "a.yaml", "--require-baseline"]).expect(0);
    let verdict = place.json("goodput-out/verdict.json");
    assert_eq!(verdict["baseline"]["runs"][0], id.as_str());
    let row = &verdict["rules"][2];
    assert!(row["status"] == "pass" && row["change"].is_number() && row["low"].is_null(), "{row:#}");

    place.gate().args(["baseline", "save", "goodput-out/run.jsonl.zst", "--spec", "a.yaml"]).expect(0);
    assert_eq!(place.gate().args(["baseline", "list", "judged"]).expect(0).stdout.lines().count(), 2);
    place.gate().args(["baseline", "rm", "judged", &id]).expect(0);
    place.gate().args(["baseline", "rm", "judged", &id]).expect(5);
    assert!(!place.gate().args(["baseline", "list", "judged"]).expect(0).stdout.contains(&id));
}

#[test]
fn a_failing_run_is_no_baseline_unless_it_is_accepted_with_a_reason() {
    let place = measured();
    place.file("hard.yaml", &SPEC.replace("errors <= 40%", "ttft p50 <= 1ms").replace("name: judged", "name: hard"));
    place.gate().args(["check", "hard.yaml", "--save-baseline"]).expect(10);
    assert!(!place.path().join(".goodput/baselines/hard").exists());
    place.gate().args(["baseline", "save", "goodput-out/run.jsonl.zst", "--spec", "hard.yaml"]).expect(10);
    place.gate().args(["baseline", "accept", "goodput-out/run.jsonl.zst"]).expect(2);
    place.gate().args(["baseline", "accept", "goodput-out/run.jsonl.zst", "--reason", "known slow"]).expect(0);
    assert!(place.gate().args(["baseline", "show", "hard"]).expect(0).stdout.contains("known slow"));
}

#[test]
fn a_baseline_of_other_conditions_counts_as_none_where_found_and_is_5_where_named() {
    let place = measured();
    let other = ["check", "a.yaml", "--seed", "7"];
    place.gate().args(other).expect(0);
    let verdict = place.json("goodput-out/verdict.json");
    assert_eq!(verdict["rules"][2]["status"], "no_baseline");
    let differences = verdict["baseline"]["differences"].to_string();
    assert!(differences.contains("seed: was 42, is 7"), "{differences}");
    let done = place.gate().args(other).args(["--require-baseline"]).expect(5);
    assert!(done.stderr.contains("seed: was 42, is 7"), "{}", done.stderr);
    place.gate().args(other).args(["--require-baseline", "--force"]).expect(0);
}

#[test]
fn a_corrupt_baseline_is_left_as_it_is_and_said() {
    let place = measured();
    let name = ".goodput/baselines/judged/00000000T000000Z-00000000.jsonl.zst";
    place.file(name, "rubbish");
    let done = place.gate().args(["check", "a.yaml"]).expect(0);
    assert!(done.stderr.contains("left out"), "{}", done.stderr);
    place.gate().args(["check", "a.yaml", "--require-baseline"]).expect(5);
    assert_eq!(place.read(name), "rubbish");
}

#[test]
fn a_changed_limit_is_named_first_in_every_report() {
    let place = measured();
    place.file("a.yaml", &SPEC.replace("goodput >= 50%", "goodput >= 10%"));
    let done = place.gate().args(["check", "a.yaml"]).expect(0);
    let first = done.stdout.lines().take(4).collect::<Vec<_>>().join(" ");
    assert!(first.contains("goodput >= 50% -> 10%"), "{first}");
    let markdown = place.read("goodput-out/report.md");
    let first = markdown.lines().take(3).collect::<Vec<_>>().join(" ");
    assert!(first.contains("goodput &gt;= 50% → 10%"), "{markdown}");
}

#[test]
fn a_stored_run_is_shown_in_any_spelling() {
    let place = measured();
    let run = "goodput-out/run.jsonl.zst";
    let json: Value = serde_json::from_str(&place.gate().args(["report", run, "--format", "json"]).expect(0).stdout).unwrap();
    assert!(json["levels"][0]["ttft_ms"]["p99"].is_number());
    let csv = place.gate().args(["report", run, "--format", "csv"]).expect(0).stdout;
    assert_eq!(csv.lines().count(), 1 + 156);
    for format in ["terminal", "markdown", "html", "junit"] {
        assert!(place.gate().args(["report", run, "--format", format]).expect(0).stdout.len() > 100);
    }
    let both = place.gate().args(["report", run, "--conventions", "both"]).expect(0).stdout;
    let ours = place.gate().args(["report", run]).expect(0).stdout;
    assert!(both.lines().count() > ours.lines().count());
}
