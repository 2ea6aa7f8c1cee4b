//! `check --against URL`: two deployments side by side, at once or in turns.

use crate::common::{Done, Place};
use serde_json::Value;

/// The limits are wide, so that a busy machine is no regression.
const SPEC: &str = "name: sides\n\
    target: { url: \"sim://steady?ttft=40ms&tpot=4ms\" }\n\
    workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(3, 5)\" } }\n\
    load: { concurrency: 6, rounds: 12, round: 6 requests, warmup: 6 requests }\n\
    slo: { request: [ttft <= 3s, tpot <= 2s], require: [errors <= 40%], regression: [ttft p50 rises <= 100%, goodput drops <= 30pp], rule_out: 4x }\n\
    validity: { client_lag: 2s }\n";
const SAME: &str = "sim://steady?ttft=40ms&tpot=4ms";
const SLOW: &str = "sim://steady?ttft=400ms&tpot=4ms";

fn place() -> Place {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    place
}

fn rule<'a>(verdict: &'a Value, text: &str) -> &'a Value {
    verdict["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == text).unwrap()
}

/// The requests of a run file, each with its side and round.
fn requests(place: &Place, file: &str) -> Vec<Value> {
    place.run_lines(file).into_iter().filter(|line| line["type"] == "request").collect()
}

/// Both run files judged again, by name and by lying together, give the verdict that check gave.
fn judged_again(place: &Place, code: i32) {
    let core = |name: &str| {
        let mut verdict = place.json(name);
        verdict.as_object_mut().unwrap().remove("baseline");
        verdict
    };
    let checked = core("goodput-out/verdict.json");
    let judge = ["judge", "goodput-out/run.jsonl.zst", "--spec", "a.yaml", "--out", "again"];
    place.gate().args(judge).expect(code);
    assert_eq!(core("again/verdict.json"), checked);
    std::fs::rename(place.path().join("goodput-out/run-baseline.jsonl.zst"), place.path().join("other.zst")).unwrap();
    place.gate().args(judge).args(["--against", "other.zst"]).expect(code);
    assert_eq!(core("again/verdict.json"), checked);
    // Without its other side nothing is compared, and stored runs are not put in its place.
    let done = place.gate().args(judge).expect(0);
    assert!(done.stderr.contains("made side by side"), "{}", done.stderr);
    assert_eq!(rule(&place.json("again/verdict.json"), "ttft p50 rises <= 100%")["status"], "no_baseline");
}

#[test]
fn the_same_server_on_both_sides_passes_by_paired_rounds_and_both_files_are_kept() {
    let place = place();
    let done = place.gate().args(["check", "a.yaml", "--against", SAME, "--no-early-stop"]).expect(0);
    assert!(done.stderr.contains("side by side with sim://steady"), "{}", done.stderr);
    assert!(done.stdout.contains("run-baseline.jsonl.zst") && done.stdout.contains("method E"), "{}", done.stdout);
    let verdict = place.json("goodput-out/verdict.json");
    for text in ["ttft p50 rises <= 100%", "goodput drops <= 30pp"] {
        let row = rule(&verdict, text);
        assert!(row["method"] == "E" && row["status"] == "pass" && row["baseline"].is_number(), "{row:#}");
    }
    let (own, other) = (requests(&place, "goodput-out/run.jsonl.zst"), requests(&place, "goodput-out/run-baseline.jsonl.zst"));
    assert!(own.iter().all(|line| line["side"] == "candidate") && other.iter().all(|line| line["side"] == "baseline"));
    let lengths = |lines: &[Value]| -> Vec<_> {
        lines.iter().map(|line| (line["id"].clone(), line["asked_input_tokens"].clone(), line["asked_output_tokens"].clone())).collect()
    };
    let sorted = |lines: &[Value]| {
        let mut lengths = lengths(lines);
        lengths.sort_by_key(|(id, _, _)| id.as_u64());
        lengths
    };
    assert_eq!((own.len(), sorted(&own)), (6 + 72, sorted(&other)), "both sides get the same lengths in the same order");
    judged_again(&place, 0);
}

#[test]
fn a_slower_candidate_is_11_and_a_faster_one_passes() {
    let place = place();
    let done = place.gate().args(["check", "a.yaml", "--endpoint", SLOW, "--against", SAME]).expect(11);
    assert!(done.stdout.contains("ttft p50 rises <= 100% is a regression"), "{}", done.stdout);
    let row = rule(&place.json("goodput-out/verdict.json"), "ttft p50 rises <= 100%").clone();
    assert!(row["method"] == "E" && row["change"].as_f64().unwrap() > 200.0, "{row:#}");
    place.gate().args(["check", "a.yaml", "--against", SLOW]).expect(0);
}

#[test]
fn sides_that_share_hardware_take_turns_in_blocks() {
    let place = place();
    let spec = SPEC.replace("round: 6 requests", "round: 1 requests").replace("rounds: 12", "rounds: 5");
    place.file("a.yaml", &spec);
    let done = place.gate().args(["check", "a.yaml", "--against", SAME, "--alternate", "--no-early-stop"]).expect(0);
    let planned = "(A B B A): 12 pairs of blocks of 12 requests, each begun by 6 that are not counted";
    assert!(done.stderr.contains(planned) && done.stderr.contains("432 requests"), "{}", done.stderr);
    let (own, other) = (requests(&place, "goodput-out/run.jsonl.zst"), requests(&place, "goodput-out/run-baseline.jsonl.zst"));
    assert_eq!((own.len(), other.len()), (216, 216));
    // When each side's blocks were under way; the epoch is one for both.
    let block = |lines: &[Value], round: u64| {
        let mine: Vec<&Value> = lines.iter().filter(|line| line["round"] == round).collect();
        assert_eq!(mine.len(), 12);
        let at = |line: &Value, name: &str| line[name].as_f64().unwrap();
        let start = mine.iter().map(|line| at(line, "scheduled_ms")).fold(f64::INFINITY, f64::min);
        let end = mine.iter().map(|line| at(line, "scheduled_ms") + at(line, "closed_ms")).fold(0.0, f64::max);
        (start, end)
    };
    let mut last = 0.0;
    for round in 0..12 {
        let mut pair = [block(&other, round), block(&own, round)];
        if round % 2 == 1 {
            pair.reverse();
        }
        for (start, end) in pair {
            assert!(start >= last && end > start, "a block of round {round} began at {start} before the last one ended at {last}");
            last = end;
        }
    }
    judged_again(&place, 0);
    place.gate().args(["check", "a.yaml", "--endpoint", SLOW, "--against", SAME, "--alternate"]).expect(11);
}

#[test]
fn an_open_loop_takes_turns_too() {
    let place = place();
    let spec = SPEC.replace("concurrency: 6", "rate: 400/s").replace("goodput drops <= 30pp", "throughput_rps drops <= 20%");
    place.file("a.yaml", &spec);
    let done = place.gate().args(["check", "a.yaml", "--against", SAME, "--alternate", "--no-early-stop"]).run();
    // A machine that is too busy to send at this rate says so.
    assert!(matches!(done.code, 0 | 6 | 12), "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("12 pairs of blocks of 50 requests, each begun by 20 that are not counted"), "{}", done.stderr);
    assert_eq!(requests(&place, "goodput-out/run.jsonl.zst").len(), 12 * 70);
}

#[test]
fn a_look_ends_both_sides() {
    let place = place();
    place.file("a.yaml", &SPEC.replace("rounds: 12", "rounds: 60"));
    let Done { stdout, .. } = place.gate().args(["check", "a.yaml", "--endpoint", SLOW, "--against", SAME]).expect(11);
    let end = |file: &str| place.run_lines(file).into_iter().find(|line| line["type"] == "end").unwrap();
    let (own, other) = (end("goodput-out/run.jsonl.zst"), end("goodput-out/run-baseline.jsonl.zst"));
    assert!(own["levels"][0]["look"].as_u64().unwrap() < 60, "{own:#}\n{stdout}");
    assert_eq!((&own["reason"], &own["levels"][0]["look"]), (&other["reason"], &other["levels"][0]["look"]));
    judged_again_with_a_look(&place);
}

fn judged_again_with_a_look(place: &Place) {
    place.gate().args(["judge", "goodput-out/run.jsonl.zst", "--spec", "a.yaml", "--out", "again"]).expect(11);
    let row = |name: &str| rule(&place.json(name), "ttft p50 rises <= 100%").clone();
    assert_eq!(row("again/verdict.json"), row("goodput-out/verdict.json"));
}

#[test]
fn what_makes_no_sense_is_2_a_dead_baseline_is_4_and_other_models_are_5() {
    let place = place();
    let check = ["check", "a.yaml"];
    for flags in [
        &["--alternate"][..],
        &["--against-api-key-env", "KEY"],
        &["--against", SAME, "--baseline", "none"],
        &["--against", SAME, "--save-baseline"],
        &["--against", SAME, "--against-api-key-env", "NOT_SET"],
        &["--against", "no-url"],
    ] {
        place.gate().args(check).args(flags.iter().copied()).expect(2);
    }
    place.gate().args(check).args(["--against", "http://127.0.0.1:9/v1"]).expect(4);
    let done = place.gate().args(check).args(["--against", "sim://steady?ttft=40ms&tpot=4ms&model=other"]).expect(5);
    assert!(done.stderr.contains("model: was other, is sim"), "{}", done.stderr);
    assert!(!place.path().join("goodput-out/run.jsonl.zst").exists(), "nothing but probes was sent");
}

#[test]
fn compare_knows_two_sides_of_one_run() {
    let place = place();
    place.gate().args(["check", "a.yaml", "--against", SAME, "--no-early-stop"]).expect(0);
    let sides = ["compare", "goodput-out/run-baseline.jsonl.zst", "goodput-out/run.jsonl.zst", "--spec", "a.yaml", "--format", "json"];
    let verdict: Value = serde_json::from_str(&place.gate().args(sides).expect(0).stdout).unwrap();
    assert_eq!(rule(&verdict, "ttft p50 rises <= 100%")["method"], "E");
}
