//! The pull request's comment: one, ours, and never older than what it replaces.

use super::fake::{BOT, Fault, Github, How, REPO, sha};
use super::{BAD, GOOD, output, pull_request, run_file, step};
use crate::common::Place;
use serde_json::json;

const POST: &str = "POST /repos/acme/serve/issues/7/comments";
const LIST: &str = "GET /repos/acme/serve/issues/7/comments";

fn marker(sha: &str, run: u64, attempt: u64) -> String {
    format!("<!-- goodput-gate name=chat sha={sha} run={run} attempt={attempt} exit=0 -->\nold text")
}

#[test]
fn the_first_run_makes_one_comment_and_the_second_updates_it() {
    let (place, github) = (Place::new(), Github::start());
    step(&place, &github, GOOD).expect(0);
    let first = github.ours();
    assert_eq!(first.len(), 1);
    assert!(first[0].starts_with(&format!("<!-- goodput-gate name=chat sha={} run=100 attempt=1 exit=0 -->\n", sha('a'))), "{}", first[0]);
    assert!(first[0].contains("## PASS: chat"), "{}", first[0]);
    assert!(first[0].contains("(https://github.example/acme/serve/actions/runs/100/attempts/1)"), "{}", first[0]);
    step(&place, &github, BAD).env("GITHUB_RUN_ID", "101").expect(10);
    let second = github.ours();
    assert_eq!(second.len(), 1);
    assert!(second[0].contains("## FAIL: chat") && second[0].contains("run=101"), "{}", second[0]);
    assert_eq!(output(&place, "comment-url"), "https://github.example/acme/serve/pull/7#issuecomment-1");
}

#[test]
fn a_hundred_and_thirty_other_comments_on_two_pages_do_not_confuse_it() {
    let (place, github) = (Place::new(), Github::start());
    github.crowd(130);
    step(&place, &github, GOOD).expect(0);
    github.crowd(1);
    step(&place, &github, BAD).env("GITHUB_RUN_ID", "101").expect(10);
    let ours = github.ours();
    assert_eq!(ours.len(), 1);
    assert!(ours[0].contains("run=101"));
    let world = github.world();
    assert!(world.asked.iter().any(|asked| asked.line.ends_with("page=2")), "{:?}", world.asked);
    assert!(world.asked.iter().all(|asked| asked.authorized), "each page is asked for with the token");
}

#[test]
fn a_marker_of_another_author_or_another_gate_is_not_touched() {
    let (place, github) = (Place::new(), Github::start());
    github.world().add_comment("mallory", &marker(&sha('a'), 1, 1));
    github.world().add_comment(BOT, &marker(&sha('a'), 1, 1).replace("name=chat", "name=chat-large"));
    github.world().add_comment(BOT, &format!("quoted: {}", marker(&sha('a'), 1, 1)));
    step(&place, &github, GOOD).expect(0);
    let world = github.world();
    let untouched = world.comments[..3].iter().all(|comment| comment["body"].as_str().unwrap().contains("old text"));
    assert!(untouched && world.comments.len() == 4, "{:#?}", world.comments);
}

#[test]
fn a_newer_commit_or_a_later_run_is_never_overwritten() {
    let (place, github) = (Place::new(), Github::start());
    for (run, attempt) in [(101, 1), (100, 2)] {
        github.world().comments.clear();
        github.world().add_comment(BOT, &marker(&sha('a'), run, attempt));
        step(&place, &github, GOOD).expect(0);
        assert!(github.ours()[0].contains("old text"), "run {run}, attempt {attempt}");
    }
    github.world().comments.clear();
    github.world().head = sha('c');
    let done = step(&place, &github, GOOD).expect(0);
    assert!(github.ours().is_empty());
    assert!(done.stderr.contains("no comment: the pull request has moved on to commit cccccccccccc"), "{}", done.stderr);
    assert_eq!(github.world().statuses.len(), 3, "the commit's own status is set all the same");
}

#[test]
fn a_reply_that_was_lost_makes_no_second_comment() {
    let (place, github) = (Place::new(), Github::start());
    github.world().faults.push_back(Fault { at: POST, how: How::LoseReply });
    step(&place, &github, GOOD).expect(0);
    assert_eq!(github.ours().len(), 1);
    assert_eq!(github.count(POST), 1);
    assert!(output(&place, "comment-url").ends_with("#issuecomment-1"));
}

#[test]
fn a_post_that_was_not_stored_is_sent_again_after_looking() {
    let (place, github) = (Place::new(), Github::start());
    github.world().faults.push_back(Fault { at: POST, how: How::Answer(502, &[]) });
    step(&place, &github, GOOD).expect(0);
    assert_eq!(github.ours().len(), 1);
    assert_eq!((github.count(POST), github.count(LIST)), (2, 2));
}

#[test]
fn a_rate_limit_is_waited_for_as_long_as_github_says() {
    let (place, github) = (Place::new(), Github::start());
    let limited: &[(&str, &str)] = &[("retry-after", "0")];
    for at in [LIST, POST, "POST /repos/acme/serve/statuses/"] {
        github.world().faults.push_back(Fault { at, how: How::Answer(429, limited) });
    }
    github.world().faults.push_back(Fault { at: "GET /repos/acme/serve/pulls/7", how: How::Answer(403, limited) });
    let out_of_calls: &[(&str, &str)] = &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")];
    github.world().faults.push_back(Fault { at: POST, how: How::Answer(403, out_of_calls) });
    let done = step(&place, &github, GOOD).expect(0);
    assert_eq!((github.ours().len(), github.world().statuses.len()), (1, 1), "{}", done.stderr);
    assert_eq!(github.count(POST), 3);
}

#[test]
fn a_limit_that_is_too_long_is_given_up_at_once_with_the_same_exit_code() {
    let (place, github) = (Place::new(), Github::start());
    github.world().faults.push_back(Fault { at: LIST, how: How::Answer(429, &[("retry-after", "3600")]) });
    let done = step(&place, &github, BAD).expect(10);
    assert!(github.ours().is_empty() && done.stderr.contains("rate limit"), "{}", done.stderr);
    assert!(place.read("summary.md").contains("## FAIL: chat"));
}

#[test]
fn a_fork_without_rights_gets_one_notice_the_summary_and_the_same_exit_code() {
    let (place, github) = (Place::new(), Github::start());
    github.world().read_only = true;
    let done = step(&place, &github, BAD).expect(10);
    let notices: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("::notice")).collect();
    assert_eq!(notices.len(), 1, "{}", done.stderr);
    assert!(notices[0].contains("pull-requests: write") && notices[0].contains("statuses: write"), "{}", notices[0]);
    assert!(!done.stderr.contains("not reported"), "{}", done.stderr);
    assert!(place.read("summary.md").contains("## FAIL: chat"));
    assert_eq!((output(&place, "verdict").as_str(), output(&place, "comment-url").as_str()), ("fail", ""));
}

#[test]
fn a_hidden_repository_is_a_missing_right_too() {
    let (place, github) = (Place::new(), Github::start());
    let done = step(&place, &github, GOOD).env("GITHUB_REPOSITORY", "acme/other").expect(0);
    assert_eq!(done.stderr.lines().filter(|line| line.starts_with("::notice")).count(), 1, "{}", done.stderr);
}

#[test]
fn an_enterprise_servers_path_is_kept() {
    let (place, github) = (Place::new(), Github::start());
    github.world().prefix = "/api/v3";
    github.crowd(100);
    step(&place, &github, GOOD).env("GITHUB_API_URL", &format!("{}/api/v3", github.url)).expect(0);
    assert_eq!(github.ours().len(), 1);
    assert!(github.world().asked.iter().all(|asked| asked.line.contains(&format!("/api/v3{REPO}/"))));
}

#[test]
fn when_a_comment_is_wanted_is_the_callers_choice() {
    let (place, github) = (Place::new(), Github::start());
    let run = |spec: &str, when: &str, code: i32| {
        step(&place, &github, spec).args(["--github-comment", when]).expect(code);
        github.ours()
    };
    assert!(run(BAD, "never", 10).is_empty());
    assert!(run(GOOD, "on-change", 0).is_empty());
    assert!(run(GOOD, "on-fail", 0).is_empty());
    assert!(run(BAD, "on-change", 10)[0].contains("FAIL"));
    let patches = github.count("PATCH /repos/acme/serve/issues/comments/1");
    run(BAD, "on-change", 10);
    assert_eq!(github.count("PATCH /repos/acme/serve/issues/comments/1"), patches, "nothing changed");
    assert!(run(GOOD, "on-fail", 0)[0].contains("PASS"));
    assert!(run(BAD, "on-change", 10)[0].contains("FAIL"));
}

#[test]
fn the_pull_request_of_a_workflow_run_is_found_by_its_commit_and_branch() {
    let (place, github) = (Place::new(), Github::start());
    let head = |branch: &str, repo: &str, digit: char| json!({ "sha": sha(digit), "ref": branch, "repo": { "full_name": repo } });
    let mut pulls: Vec<_> = (100..220).map(|number| json!({ "number": number, "head": head("x", "acme/serve", 'd') })).collect();
    pulls.push(json!({ "number": 9, "head": head("patch-1", "mallory/serve", 'a') }));
    pulls.push(json!({ "number": 7, "head": head("patch-1", "fork/serve", 'a') }));
    github.world().pulls = pulls;
    let payload = json!({
        "workflow_run": {
            "head_sha": sha('a'), "head_branch": "patch-1", "event": "pull_request",
            "head_repository": { "full_name": "fork/serve" }, "pull_requests": [],
        },
        "repository": { "full_name": "acme/serve", "default_branch": "main" },
    });
    place.file("gate.yaml", GOOD);
    let run = run_file();
    super::bare(&place, &github, "workflow_run", &payload)
        .args(["judge", run.as_str(), "--spec", "gate.yaml", "--baseline", "none", "--github"])
        .expect(0);
    assert_eq!(github.ours().len(), 1);
    assert!(github.ours()[0].contains(&sha('a')));
    assert_eq!(github.count("GET /repos/acme/serve/pulls/9"), 0);
}

#[test]
fn the_token_goes_to_the_api_host_and_not_where_a_redirect_leads() {
    let (place, github, elsewhere) = (Place::new(), Github::start(), Github::start());
    github.world().moved_to = Some(elsewhere.url.clone());
    step(&place, &github, GOOD).expect(0);
    let world = elsewhere.world();
    assert!(!world.asked.is_empty(), "the redirect was followed");
    assert!(world.asked.iter().all(|asked| !asked.authorized), "{:?}", world.asked);
    assert!(github.world().asked.iter().all(|asked| asked.authorized));
}

#[test]
fn a_head_that_moves_while_the_comment_is_prepared_wins() {
    let (place, github) = (Place::new(), Github::start());
    github.world().faults.push_back(Fault { at: "GET /repos/acme/serve/pulls/7", how: How::Before(|world| world.head = sha('c')) });
    step(&place, &github, GOOD).expect(0);
    assert!(github.ours().is_empty());
    assert_eq!(pull_request()["pull_request"]["head"]["sha"], sha('a'));
}
