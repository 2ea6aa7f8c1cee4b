//! The baseline of the branch: kept by the default branch, found by ancestry, never written by a pull request, never forced.

use super::fake::{Fault, Github, How, sha};
use super::{bare, output, pull_request};
use crate::common::{Done, Gate, Place};
use serde_json::{Value, json};

const SPEC: &str = "name: chat\ntarget: { url: \"sim://steady?ttft=20ms&tpot=2ms\" }\n\
    workload: { lengths: { input: \"uniform(10, 20)\", output: \"uniform(2, 4)\" } }\n\
    load: { concurrency: 4, rounds: 12, round: 4 requests, warmup: 4 requests }\n\
    slo: { require: [ttft p50 <= 3s], regression: [ttft p50 rises <= 900%] }\nvalidity: { client_lag: 2s }\n";
const BRANCH: &str = "goodput-gate-data";
const MOVE: &str = "PATCH /repos/acme/serve/git/refs/heads/goodput-gate-data";

fn push() -> Value {
    json!({ "repository": { "full_name": "acme/serve", "default_branch": "main" } })
}

fn check(place: &Place, github: &Github, event: &str, payload: &Value) -> Gate {
    place.file("gate.yaml", SPEC);
    bare(place, github, event, payload).args(["check", "gate.yaml", "--github", "--baseline", "branch:"])
}

/// A push to the default branch at the commit `f`, whose passing run is kept.
fn kept(place: &Place, github: &Github) -> Done {
    github.world().data.history = vec![sha('f')];
    check(place, github, "push", &push()).env("GITHUB_REF", "refs/heads/main").args(["--save-baseline"]).expect(0)
}

fn judged(place: &Place) -> Value {
    let verdict = place.json("goodput-out/verdict.json");
    verdict["rules"].as_array().unwrap().iter().find(|rule| rule["kind"] == "regression").unwrap()["status"].clone()
}

#[test]
fn a_passing_run_of_the_default_branch_is_kept_and_judges_the_next_pull_request() {
    let (place, github) = (Place::new(), Github::start());
    let done = kept(&place, &github);
    assert!(done.stderr.contains("no baseline yet"), "{}", done.stderr);
    let paths = github.world().data.paths(BRANCH);
    assert_eq!(paths.len(), 1);
    assert!(paths[0].starts_with(&format!("baselines/chat/{}-", sha('f'))) && paths[0].ends_with(".jsonl.zst"), "{paths:?}");
    github.world().data.merge_base = Some(sha('f'));
    let done = check(&place, &github, "pull_request", &pull_request()).expect(0);
    assert_eq!((judged(&place), output(&place, "baseline-sha")), (json!("pass"), sha('f')));
    assert!(done.stderr.contains("baseline: commit ffffffffffff, which is the merge base"), "{}", done.stderr);
    assert!(github.ours()[0].contains("Baseline: 1 stored run"), "{}", github.ours()[0]);
}

#[test]
fn the_nearest_ancestor_serves_where_the_merge_base_has_none_and_its_distance_is_told() {
    let (place, github) = (Place::new(), Github::start());
    kept(&place, &github);
    github.world().data.merge_base = Some(sha('e'));
    github.world().data.history = [super::data::line(), vec![sha('f')]].concat();
    let done = check(&place, &github, "pull_request", &pull_request()).expect(0);
    assert_eq!(judged(&place), "pass");
    assert!(done.stderr.contains("4 commits before the merge base"), "{}", done.stderr);
    assert!(github.ours()[0].contains("4 commits before the merge base"), "{}", github.ours()[0]);
}

#[test]
fn a_baseline_of_another_line_of_commits_counts_as_none() {
    let (place, github) = (Place::new(), Github::start());
    kept(&place, &github);
    github.world().data.merge_base = Some(sha('e'));
    github.world().data.history = super::data::line();
    let done = check(&place, &github, "pull_request", &pull_request()).expect(0);
    assert_eq!(judged(&place), "no_baseline");
    assert!(
        done.stderr.contains("none of baselines/chat on branch goodput-gate-data of acme/serve belongs to an ancestor"),
        "{}",
        done.stderr
    );
    check(&place, &github, "pull_request", &pull_request()).args(["--require-baseline"]).expect(5);
}

#[test]
fn a_pull_request_cannot_write_the_baseline_it_is_judged_by() {
    let (place, github) = (Place::new(), Github::start());
    github.world().data.merge_base = Some(sha('e'));
    let done = check(&place, &github, "pull_request", &pull_request()).args(["--save-baseline"]).expect(0);
    assert!(done.stderr.contains("not saved as a baseline: a pull request cannot write"), "{}", done.stderr);
    let run = "goodput-out/run.jsonl.zst";
    let accept = |event: &str, payload: &Value| {
        bare(&place, &github, event, payload).args(["baseline", "accept", run, "--reason", "slower and better", "--dir", "branch:"])
    };
    let done = accept("pull_request", &pull_request()).expect(5);
    assert!(done.stderr.contains("a pull request cannot write"), "{}", done.stderr);
    assert!(github.world().asked.iter().all(|asked| !asked.line.starts_with("POST /repos/acme/serve/git/")));
    accept("workflow_dispatch", &push()).env("GITHUB_REF", "refs/heads/main").expect(0);
    assert_eq!(github.world().data.paths(BRANCH).len(), 1);
    let listed = bare(&place, &github, "push", &push()).args(["baseline", "list", "chat", "--dir", "branch:"]).expect(0);
    assert!(listed.stdout.contains("requests"), "{}", listed.stdout);
    github.world().data.history = vec![sha('f')];
    // A push to another branch is no pull request, and keeps nothing either.
    let done = check(&place, &github, "push", &push()).env("GITHUB_REF", "refs/heads/topic").args(["--save-baseline"]).run();
    assert!(done.stderr.contains("on the default branch only"), "{}", done.stderr);
}

#[test]
fn a_push_that_lost_the_race_or_its_reply_is_made_once_more_and_never_forced() {
    let (place, github) = (Place::new(), Github::start());
    kept(&place, &github);
    let race = How::Before(|world| world.data.push_other(BRANCH));
    github.world().faults.push_back(Fault { at: MOVE, how: race });
    kept(&place, &github);
    assert_eq!(github.world().data.paths(BRANCH).len(), 2);
    github.world().faults.push_back(Fault { at: MOVE, how: How::LoseReply });
    kept(&place, &github);
    assert_eq!(github.world().data.paths(BRANCH).len(), 3);
    github.world().faults.push_back(Fault { at: MOVE, how: How::Answer(403, &[]) });
    github.world().data.history = vec![sha('f')];
    let done = check(&place, &github, "push", &push()).env("GITHUB_REF", "refs/heads/main").args(["--save-baseline"]).expect(7);
    assert!(done.stderr.contains("contents: write"), "{}", done.stderr);
}
