//! `check` ends a level at the first planned look that decides it; `judge` recomputes the same from the run file.

use crate::common::Place;
use serde_json::Value;

/// 40 short rounds; looks at 20, 30 and 40.
const SPEC: &str = "name: looks\n\
    target: { url: \"sim://steady?ttft=60ms&tpot=2ms\" }\n\
    workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(2, 4)\" } }\n\
    load: { concurrency: 8, rounds: 40, round: 8 requests, warmup: 8 requests }\n\
    slo: { require: [ttft p50 <= 3s, errors <= 60%], advise: [ttft p50 <= 1ms] }\n\
    validity: { client_lag: 5s }\n";

/// Runs it; a machine that got slower or faster meanwhile may leave passes undecided, which is no fault of the looks.
fn measured(place: &Place, args: &[&str]) {
    let done = place.gate().args(args.iter().copied()).run();
    assert!(matches!(done.code, 0 | 12), "{args:?}: {}\n{}{}", done.code, done.stdout, done.stderr);
}

fn end(place: &Place) -> Value {
    place.run_lines("goodput-out/run.jsonl.zst").pop().unwrap()
}

#[test]
fn a_level_whose_rules_all_pass_ends_at_the_first_look() {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    let done = place.gate().args(["check", "a.yaml"]).expect(0);
    let end = end(&place);
    let level = &end["levels"][0];
    let look = level["look"].as_u64().unwrap();
    assert_eq!((&end["reason"], &level["planned_rounds"]), (&"decided".into(), &40.into()), "{end}");
    // The second one, where the machine was too unsteady at the first.
    let alpha = if look == 20 { 0.0056 } else { 0.0183 };
    assert!(matches!(look, 20 | 30) && (level["alpha"].as_f64().unwrap() - alpha).abs() < 1e-4, "{end}");
    assert!(end["requests"].as_u64().unwrap() < 328, "{end}");
    let verdict = place.json("goodput-out/verdict.json");
    assert_eq!(verdict["levels"][0]["requests"], look * 8, "only what the look saw is judged");
    let early = &verdict["early"][0];
    assert_eq!((&early["rounds"], &early["planned_rounds"]), (&look.into(), &40.into()), "{early}");
    assert_eq!(early["requests_saved"].as_u64().unwrap() + end["requests"].as_u64().unwrap(), 328);
    for text in [done.stdout, place.read("goodput-out/report.md"), place.read("goodput-out/report.html")] {
        assert!(text.contains(&format!("after {look} of 40 rounds")), "{text}");
    }

    // The same verdict from the file, and no baseline of it.
    place.gate().args(["judge", "goodput-out/run.jsonl.zst", "--spec", "a.yaml", "--out", "again"]).expect(0);
    let again = place.json("again/verdict.json");
    assert_eq!((&again["rules"], &again["levels"], &again["early"]), (&verdict["rules"], &verdict["levels"], &verdict["early"]));
    let refused = place.gate().args(["baseline", "save", "goodput-out/run.jsonl.zst", "--spec", "a.yaml"]).expect(2);
    assert!(refused.stderr.contains("check SPEC --save-baseline"), "{}", refused.stderr);
    place.gate().args(["baseline", "accept", "goodput-out/run.jsonl.zst", "--reason", "r"]).expect(2);
}

#[test]
fn all_rounds_are_sent_where_looks_are_off() {
    let place = Place::new();
    place.file("a.yaml", SPEC);
    for args in [&["check", "a.yaml", "--no-early-stop"][..], &["check", "a.yaml", "--save-baseline"], &["run", "a.yaml"]] {
        measured(&place, args);
        let end = end(&place);
        assert_eq!((&end["reason"], &end["requests"], &end["levels"][0]["look"]), (&"complete".into(), &328.into(), &Value::Null), "{end}");
    }
    // The run with regression rules and no baseline is the first baseline.
    let first = SPEC.replace("slo: {", "slo: { regression: [ttft p50 rises <= 500%],").replace("name: looks", "name: first");
    place.file("b.yaml", &first);
    measured(&place, &["check", "b.yaml"]);
    assert_eq!(end(&place)["reason"], "complete");
}

#[test]
fn a_broken_level_ends_at_its_look_and_later_ones_are_skipped() {
    let place = Place::new();
    let two = SPEC.replace("rounds: 40", "levels: [1x, 2x], rounds: 40").replace("errors <= 60%", "errors <= 60%, ttft p50 <= 3s at 2x");
    place.file("a.yaml", &two.replace("ttft p50 <= 3s,", "ttft p50 <= 1ms,"));
    let done = place.gate().args(["check", "a.yaml"]).expect(10);
    let end = end(&place);
    assert_eq!((&end["reason"], end["levels"].as_array().unwrap().len()), (&"decided".into(), 1), "{end}");
    let verdict = place.json("goodput-out/verdict.json");
    let statuses: Vec<_> = verdict["rules"].as_array().unwrap().iter().map(|rule| rule["status"].as_str().unwrap()).collect();
    assert_eq!((statuses[0], statuses[2]), ("fail", "skipped"), "{}", done.stdout);
    assert_eq!((&verdict["early"][1]["level"], &verdict["early"][1]["rounds"]), (&"2x".into(), &Value::Null));
    place.gate().args(["judge", "goodput-out/run.jsonl.zst", "--spec", "a.yaml", "--out", "again"]).expect(10);

    place.gate().args(["check", "a.yaml", "--no-early-stop"]).expect(10);
    assert_eq!(self::end(&place)["levels"].as_array().unwrap().len(), 2);
}

#[test]
fn a_range_of_rounds_ends_at_one_of_its_looks_and_run_sends_all() {
    let place = Place::new();
    place.file("a.yaml", &SPEC.replace("rounds: 40", "rounds: 15..60"));
    measured(&place, &["check", "a.yaml"]);
    let level = end(&place)["levels"][0].clone();
    let look = level["look"].as_u64().unwrap();
    assert!(look < 60 && (look - 15).is_multiple_of(9) && level["planned_rounds"] == 60, "looks at 15, 24, 33, …: {level}");
    place.gate().args(["run", "a.yaml"]).expect(0);
    assert_eq!(end(&place)["requests"], 8 + 60 * 8);
}

#[test]
fn no_look_comes_before_the_least_time() {
    let place = Place::new();
    place.file("a.yaml", &SPEC.replace("rounds: 40", "rounds: 16, min_time: 3s"));
    measured(&place, &["check", "a.yaml"]);
    let end = end(&place);
    let level = &end["levels"][0];
    assert!(level["look"].as_u64().unwrap() > 16 && (level["alpha"].as_f64().unwrap() - 0.05).abs() < 1e-9, "{end}");
    assert_eq!(level["look"], level["whole_rounds"]);
}
