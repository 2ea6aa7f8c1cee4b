use super::comment::Marker;
use super::event::Event;
use super::files::append_outputs;
use super::retry::{Next, Repeat, after_answer, after_silence, is_limit};
use super::workflow_command::{Severity, WorkflowCommand};
use super::{Context, DataBranch};
use crate::units::Secret;
use http::HeaderMap;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
}

fn next(status: u16, pairs: &[(&'static str, &str)], repeat: Repeat) -> Next {
    after_answer((status, &headers(pairs), ""), repeat, 0, 1_000, MINUTE)
}

#[test]
fn the_servers_word_on_waiting_comes_first() {
    let seconds = |n| Next::Again(Duration::from_secs(n));
    assert_eq!(next(429, &[("retry-after", "7"), ("x-ratelimit-reset", "1002")], Repeat::Unsafe), seconds(7));
    assert_eq!(next(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1009")], Repeat::Unsafe), seconds(9));
    assert_eq!(next(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "900")], Repeat::Safe), seconds(0));
    assert_eq!(next(502, &[], Repeat::Safe), seconds(1));
    assert_eq!(next(429, &[], Repeat::Safe), Next::Limited, "without a word a minute is due, and that is too long");
    assert_eq!(next(429, &[("retry-after", "61")], Repeat::Safe), Next::Limited);
}

#[test]
fn a_missing_right_is_no_limit_and_a_post_in_doubt_is_not_repeated() {
    assert_eq!(next(403, &[("x-ratelimit-remaining", "12")], Repeat::Safe), Next::Take);
    assert!(is_limit(403, &HeaderMap::new(), "You have exceeded a secondary rate limit."));
    assert_eq!(next(502, &[("retry-after", "0")], Repeat::Unsafe), Next::Take);
    assert_eq!(after_silence(Repeat::Unsafe, 0, MINUTE), None);
    assert_eq!(after_silence(Repeat::Safe, 3, MINUTE), None, "four tries are enough");
    assert_eq!(after_silence(Repeat::Safe, 1, Duration::from_secs(1)), None, "the patience is used up");
}

#[test]
fn a_marker_is_read_back_and_nothing_else_is_one() {
    let marker = Marker { gate: "chat-70b".to_owned(), sha: "ab".repeat(20), run: 12, attempt: 2, exit: 10 };
    assert_eq!(Marker::parse(&format!("{}\n## FAIL", marker.line())), Some(marker.clone()));
    assert_eq!(Marker::parse(&format!("{}\r\n## FAIL", marker.line())), Some(marker.clone()));
    for other in
        [format!("> {}", marker.line()), format!("hello\n{}", marker.line()), marker.line().replace("run=12", "run=x"), String::new()]
    {
        assert_eq!(Marker::parse(&other), None, "{other}");
    }
}

#[test]
fn an_event_tells_the_commit_that_is_under_test() {
    let (head, base, merge) = ("a".repeat(40), "b".repeat(40), "f".repeat(40));
    let repository = json!({ "full_name": "acme/serve", "default_branch": "main" });
    let pull = json!({
        "pull_request": { "number": 7, "head": { "sha": head, "repo": { "full_name": "fork/serve" } }, "base": { "sha": base, "ref": "main" } },
        "repository": repository,
    });
    let event = Event::read("pull_request", &pull, Some(&merge), Some("refs/pull/7/merge"));
    assert_eq!((event.pull, event.head_sha.as_deref(), event.from_fork), (Some(7), Some(&*head), true));
    assert!(!event.is_default_branch() && event.base().as_deref() == Some("main"));
    let push = Event::read("push", &json!({ "repository": repository }), Some(&merge), Some("refs/heads/main"));
    assert!(push.is_default_branch() && push.base().is_none() && push.head_sha == Some(merge));
    assert!(!Event::read("push", &json!({ "repository": repository }), None, Some("refs/heads/topic")).is_default_branch());
    let hostile = json!({ "pull_request": { "number": "7", "head": { "sha": "../../x" } } });
    assert_eq!(Event::read("pull_request", &hostile, None, None).head_sha, None);
}

#[test]
fn a_value_of_several_lines_cannot_become_another_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    append_outputs(&path, &[("a", "1".to_owned()), ("b", "x\nverdict=pass".to_owned())]).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "a=1");
    let delimiter = lines[1].strip_prefix("b<<").unwrap();
    assert!(delimiter.len() > 32 && lines[2..] == ["x", "verdict=pass", delimiter]);
}

#[test]
fn a_branch_is_named_plainly_or_not_at_all() {
    let context = Context {
        token: Some(Secret::new("t".to_owned())),
        repository: Some("acme/serve".to_owned()),
        api_url: Some("http://127.0.0.1:9".to_owned()),
        ..Context::default()
    };
    for (name, fits) in [
        ("goodput-gate-data", true),
        ("a/b.c_d", true),
        ("", false),
        ("a/../b", false),
        ("-a", false),
        ("a b", false),
        ("a?x=1", false),
        ("a.lock", false),
    ] {
        assert_eq!(DataBranch::open(&context, name, "baselines/x".to_owned()).is_ok(), fits, "{name}");
    }
}

proptest! {
    #[test]
    fn an_annotation_is_one_line_whatever_it_says(title in "\\PC{0,40}|[:,%\r\n]{0,9}", message in "(?s).{0,80}", file in "[a-z:,%\n]{0,12}") {
        let command = WorkflowCommand { severity: Severity::Error, title, place: Some((file, Some((1, 2)))), message };
        let line = command.to_string();
        prop_assert!(!line.contains(['\n', '\r']));
        let properties = line.strip_prefix("::error ").unwrap();
        let (properties, _) = properties.split_once("::").unwrap();
        prop_assert_eq!(properties.split(',').count(), 4, "{}", properties);
    }

    #[test]
    fn waits_never_pass_a_minute_or_what_is_left(status in 400_u16..600, after in 0_u64..200, left in 0_u64..60, attempt in 0_u32..6) {
        let map = headers(&[("retry-after", &after.to_string())]);
        if let Next::Again(wait) = after_answer((status, &map, ""), Repeat::Safe, attempt, 0, Duration::from_secs(left)) {
            prop_assert!(wait <= Duration::from_secs(left) && attempt < 3);
        }
    }
}
