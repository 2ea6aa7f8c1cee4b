//! What a step leaves beside the comment: summary, outputs, annotations, status; and what it leaves nowhere.

use super::fake::{Github, TOKEN, sha};
use super::{BAD, GOOD, bare, output, pull_request, run_file, step};
use crate::common::Place;
use serde_json::json;

#[test]
fn outputs_and_summary_are_appended_and_hold_the_figures() {
    let (place, github) = (Place::new(), Github::start());
    place.file("summary.md", "# An earlier step\n");
    place.file("output.txt", "earlier=1\n");
    step(&place, &github, "name: chat\nslo: { request: [ttft <= 3s], require: [goodput >= 50%] }\nvalidity: { client_lag: 2s }\n")
        .expect(0);
    let summary = place.read("summary.md");
    assert!(summary.starts_with("# An earlier step\n") && summary.contains("## PASS: chat"), "{summary}");
    assert!(place.read("output.txt").starts_with("earlier=1\n"));
    assert_eq!(output(&place, "verdict"), "pass");
    assert_eq!(output(&place, "exit-code"), "0");
    assert_eq!(output(&place, "goodput"), "1");
    assert!(output(&place, "goodput-rps").parse::<f64>().unwrap() > 0.0);
    assert!((150.0..500.0).contains(&output(&place, "ttft-p99-ms").parse::<f64>().unwrap()));
    assert!((15.0..50.0).contains(&output(&place, "tpot-p99-ms").parse::<f64>().unwrap()));
    for (name, file) in [("report-json", "verdict.json"), ("report-html", "report.html"), ("report-md", "report.md")] {
        assert_eq!(output(&place, name), format!("goodput-out/{file}"));
    }
    assert_eq!(output(&place, "baseline-sha"), "");
    assert!(place.read("output.txt").lines().all(|line| line.contains('=')));
}

#[test]
fn a_full_summary_is_never_made_too_long() {
    let (place, github) = (Place::new(), Github::start());
    place.file("summary.md", &"x".repeat((1 << 20) - 700));
    step(&place, &github, GOOD).expect(0);
    let summary = place.read("summary.md");
    assert!(summary.len() <= 1 << 20 && summary.len() > (1 << 20) - 650, "{}", summary.len());
    assert!(summary.contains("left out to fit"));
}

#[test]
fn a_failed_rule_is_an_annotation_and_a_status_on_the_pull_requests_own_commit() {
    let (place, github) = (Place::new(), Github::start());
    let done = step(&place, &github, BAD).expect(10);
    let errors: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("::error")).collect();
    assert_eq!(errors.len(), 2, "{}", done.stderr);
    assert!(errors[0].starts_with("::error title=goodput-gate chat%3A FAIL ttft p50 <= 1ms::observed "), "{}", errors[0]);
    assert!(!done.stdout.contains("::"), "stdout has the result alone");
    let world = github.world();
    let status = &world.statuses[0];
    assert_eq!((status["state"].as_str(), status["context"].as_str()), (Some("failure"), Some("goodput-gate/chat")));
    assert_eq!((status["sha"].as_str(), status["target_url"].as_str().unwrap().contains("/actions/runs/100")), (Some(&*sha('a')), true));
    assert!(status["description"].as_str().unwrap().chars().count() <= 140);
}

#[test]
fn spec_errors_are_annotations_at_their_place_and_at_most_ten() {
    let (place, github) = (Place::new(), Github::start());
    let done = step(&place, &github, "name: chat\nslo:\n  require:\n    - ttft p50 <= 3\n").expect(2);
    let error = done.stderr.lines().find(|line| line.starts_with("::error")).unwrap();
    assert!(error.contains(",file=gate.yaml,line=4,col=") && error.contains("::"), "{error}");
    assert!(github.ours()[0].contains("## NOT JUDGED: chat") && github.ours()[0].contains("exit=2"), "{}", github.ours()[0]);
    assert_eq!(github.world().statuses[0]["state"], "error");
    assert_eq!((output(&place, "verdict").as_str(), output(&place, "exit-code").as_str()), ("error", "2"));
    let many: String = (0..30).map(|number| format!("    - ttft p50 <= {number}\n")).collect();
    let done = step(&place, &github, &format!("name: chat\nslo:\n  require:\n{many}")).expect(2);
    assert_eq!(done.stderr.lines().filter(|line| line.starts_with("::error")).count(), 10);
}

#[test]
fn a_merge_group_and_a_push_have_a_status_and_no_comment() {
    let place = Place::new();
    let run = run_file();
    place.file("gate.yaml", GOOD);
    let repository = json!({ "full_name": "acme/serve", "default_branch": "main" });
    let group = json!({ "merge_group": { "head_sha": sha('e'), "base_sha": sha('b') }, "repository": repository });
    for (event, payload, commit) in [("merge_group", group, 'e'), ("push", json!({ "repository": repository }), 'f')] {
        let github = Github::start();
        bare(&place, &github, event, &payload)
            .args(["judge", run.as_str(), "--spec", "gate.yaml", "--baseline", "none", "--github"])
            .expect(0);
        assert_eq!((github.ours().len(), github.world().statuses[0]["sha"].as_str()), (0, Some(&*sha(commit))), "{event}");
    }
}

#[test]
fn nothing_secret_is_in_any_output_or_goes_to_a_host_that_was_not_named() {
    let (place, github) = (Place::new(), Github::start());
    let keys = ["sk-verysecretkey", TOKEN, "header-secret-value"];
    place.file(
        "gate.yaml",
        "name: chat\ntarget: { url: \"sim://steady?ttft=5ms&tpot=1ms\" }\n\
         workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(2, 4)\" } }\n\
         load: { concurrency: 4, rounds: 12, round: 4 requests, warmup: 4 requests }\n\
         slo: { require: [ttft p50 <= 3s] }\nvalidity: { client_lag: 2s }\n",
    );
    let done = bare(&place, &github, "pull_request", &pull_request())
        .env("GOODPUT_API_KEY", keys[0])
        .args(["check", "gate.yaml", "--github", "--header", &format!("x-tenant: {}", keys[2])])
        .expect(0);
    assert_eq!(github.ours().len(), 1);
    let mut seen = vec![done.stdout, done.stderr, place.read("summary.md"), place.read("output.txt")];
    for name in ["verdict.json", "report.md", "report.html", "junit.xml"] {
        seen.push(place.read(&format!("goodput-out/{name}")));
    }
    seen.extend(place.run_lines("goodput-out/run.jsonl.zst").iter().map(ToString::to_string));
    seen.extend(github.world().asked.iter().map(|asked| format!("{} {}", asked.line, asked.body)));
    for key in keys {
        assert!(seen.iter().all(|text| !text.contains(key)), "{key}");
    }
}

#[test]
fn a_target_without_alias_is_not_named_in_public() {
    let (place, github) = (Place::new(), Github::start());
    place.file(
        "gate.yaml",
        "name: chat\ntarget: { url: \"http://127.0.0.1:9/v1\" }\nload: { concurrency: 2 }\nslo: { require: [ttft p50 <= 3s] }\n",
    );
    bare(&place, &github, "pull_request", &pull_request())
        .args(["check", "gate.yaml", "--github", "--model", "m", "--no-calibrate", "--endpoint", "http://127.0.0.1:9/v1"])
        .expect(4);
    let public = [github.ours().concat(), place.read("summary.md")].concat();
    assert!(public.contains("chat") && !public.contains("127.0.0.1"), "{public}");
}
