//! What a spec may reach: each line of the contract, tried.

use super::{codes, source};
use crate::spec::{Permissions, SpecError, TargetUrl, parse};
use std::collections::BTreeMap;

fn spec(target: &str) -> String {
    format!("name: a\ntarget: {target}\nslo: {{ require: [errors <= 1%] }}\n")
}

fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn refused(target: &str, permissions: &Permissions) -> Vec<&'static str> {
    match parse(&source(&spec(target)), permissions) {
        Ok(_) => Vec::new(),
        Err(SpecError::HostRefused(problems)) => problems.issues.iter().map(|issue| issue.code).collect(),
        Err(SpecError::Problems(problems)) => panic!("{}", problems.render(false)),
    }
}

const KEY: &str = "sk-very-secret";

#[test]
fn only_released_variables_are_read_and_never_printed() {
    let permissions = Permissions { env: env(&[("GITHUB_TOKEN", KEY), ("GOODPUT_API_KEY", KEY), ("HOME", KEY)]), ..Permissions::default() };
    for (target, at) in [
        ("{ url: \"http://127.0.0.1/${GITHUB_TOKEN}\" }", "2:34"),
        ("{ model: \"${GOODPUT_API_KEY}\" }", "2:19"),
        ("{ headers: { x-a: \"${HOME:-x}\" } }", "2:28"),
        ("{ metrics: \"http://127.0.0.1/${HOME}\" }", "2:38"),
    ] {
        assert_eq!(codes(&spec(target), &permissions), [format!("{at} variable-not-allowed")], "{target}");
        let shown = parse(&source(&spec(target)), &permissions).unwrap_err().problems().render(false);
        assert!(!shown.contains(KEY), "{shown}");
    }
    // An endpoint takes the URL's place and not its right to ask.
    let with_endpoint = Permissions { endpoint: Some("http://127.0.0.1/".into()), ..permissions };
    assert_eq!(codes(&spec("{ url: \"http://a/${GITHUB_TOKEN}\" }"), &with_endpoint), ["2:26 variable-not-allowed"]);
}

#[test]
fn variables_stand_in_four_places_only() {
    let permissions = Permissions { env: env(&[("GOODPUT_VAR_A", "value"), ("GOODPUT_VAR_EMPTY", "")]), ..Permissions::default() };
    let text = spec(
        "{ url: \"http://127.0.0.1/${GOODPUT_VAR_A}\", model: \"${GOODPUT_VAR_B:-b}-${GOODPUT_VAR_A}\", alias: \"${GOODPUT_VAR_A}\", headers: { x-a: \"${GOODPUT_VAR_EMPTY:-e}\" }, body: { k: \"${GITHUB_TOKEN}\" } }",
    );
    let target = parse(&source(&text), &permissions).unwrap().spec.target;
    assert_eq!(target.url, Some(TargetUrl::Http("http://127.0.0.1/value".parse().unwrap())));
    assert_eq!(target.model.as_deref(), Some("b-value"));
    assert_eq!(target.headers["x-a"], "e");
    assert_eq!(target.alias.as_deref(), Some("${GOODPUT_VAR_A}"));
    assert_eq!(target.body["k"], "${GITHUB_TOKEN}");
    for (value, code) in [
        ("${GOODPUT_VAR_NONE}", "variable-not-set"),
        ("${GOODPUT_VAR_A", "open-variable"),
        ("${A B}", "not-a-variable"),
        ("${}", "not-a-variable"),
    ] {
        assert_eq!(codes(&spec(&format!("{{ model: \"{value}\" }}")), &permissions), [format!("2:19 {code}")], "{value}");
    }
}

#[test]
fn a_replaced_value_is_not_replaced_again() {
    let permissions = Permissions { env: env(&[("GOODPUT_VAR_A", "${GITHUB_TOKEN}"), ("GITHUB_TOKEN", KEY)]), ..Permissions::default() };
    let spec = parse(&source(&spec("{ model: \"${GOODPUT_VAR_A}\" }")), &permissions).unwrap().spec;
    assert_eq!(spec.target.model.as_deref(), Some("${GITHUB_TOKEN}"));
}

#[test]
fn released_values_go_only_to_a_host_that_the_caller_named() {
    let mut permissions = Permissions { env: env(&[("TENANT", KEY)]), allow_env: vec!["TENANT".into()], ..Permissions::default() };
    let target = "{ url: \"https://gpu.example/v1\", headers: { x-tenant: \"${TENANT}\" } }";
    assert_eq!(refused(target, &permissions), ["secret-to-unnamed-host"]);
    let in_host = parse(&source(&spec("{ url: \"https://${TENANT}.example/v1\" }")), &permissions).unwrap_err();
    assert!(!in_host.problems().render(false).contains(KEY), "{in_host}");
    permissions.allow_hosts = vec!["http://gpu.example".into()];
    assert_eq!(refused(target, &permissions), ["secret-to-unnamed-host"], "another scheme is another place");
    permissions.allow_hosts = vec!["https://gpu.example".into()];
    assert_eq!(refused(target, &permissions), [""; 0]);
    permissions.allow_hosts = Vec::new();
    permissions.endpoint = Some("https://other.example/v1".into());
    assert_eq!(refused(target, &permissions), [""; 0]);
    assert_eq!(refused("{ metrics: \"https://other.example:9/${TENANT}\" }", &permissions), ["secret-to-unnamed-host"]);
}

#[test]
fn in_github_actions_the_workflow_names_the_host() {
    let mut permissions = Permissions { github_actions: true, ..Permissions::default() };
    assert_eq!(refused("{ url: http://gpu.example:8000/v1 }", &permissions), ["host-not-allowed"]);
    for fine in ["sim://steady", "http://127.0.0.1:8000/v1", "http://localhost/v1", "\"http://[::1]:8000/v1\""] {
        assert_eq!(refused(&format!("{{ url: {fine} }}"), &permissions), [""; 0], "{fine}");
    }
    for allowed in ["http://gpu.example:8000", "gpu.example:8000"] {
        permissions.allow_hosts = vec![allowed.into()];
        assert_eq!(refused("{ url: http://gpu.example:8000/v1 }", &permissions), [""; 0], "{allowed}");
        assert_eq!(refused("{ url: http://gpu.example:8001/v1 }", &permissions), ["host-not-allowed"]);
        assert_eq!(refused("{ url: http://evil.example:8000/v1 }", &permissions), ["host-not-allowed"]);
    }
    permissions.allow_hosts = Vec::new();
    permissions.endpoint = Some("http://gpu.example:8000/v1".into());
    assert_eq!(refused("{ url: http://evil.example/v1 }", &permissions), [""; 0], "the endpoint takes its place");
    let reader = Permissions { github_actions: true, sends_nothing: true, ..Permissions::default() };
    assert_eq!(refused("{ url: http://gpu.example:8000/v1 }", &reader), [""; 0], "a judge sends nothing");
    assert_eq!(
        refused("{ url: http://gpu.example:8000/v1 }", &Permissions::default()),
        [""; 0],
        "a person at a terminal is no pull request"
    );
}

#[test]
fn link_local_addresses_need_allow_host_whoever_names_them() {
    let target = "{ url: \"http://169.254.169.254/latest\" }";
    assert_eq!(refused(target, &Permissions::default()), ["host-not-allowed"]);
    let endpoint = Permissions { endpoint: Some("http://[::ffff:169.254.169.254]/".into()), ..Permissions::default() };
    assert_eq!(refused("{ alias: x }", &endpoint), ["host-not-allowed"]);
    let allowed = Permissions { allow_hosts: vec!["169.254.169.254".into()], ..Permissions::default() };
    assert_eq!(refused(target, &allowed), [""; 0]);
}

#[test]
fn metrics_are_read_from_the_targets_host_or_an_allowed_one() {
    let metrics = |url: &str| format!("{{ url: \"http://gpu.example:8000/v1\", metrics: \"{url}\" }}");
    assert_eq!(refused(&metrics("http://gpu.example:9090/metrics"), &Permissions::default()), [""; 0]);
    for other in ["http://evil.example/metrics", "http://127.0.0.1/metrics", "http://169.254.169.254/metrics"] {
        assert_eq!(refused(&metrics(other), &Permissions::default()), ["host-not-allowed"], "{other}");
    }
    let allowed = Permissions { allow_hosts: vec!["http://prom.example:9090".into()], ..Permissions::default() };
    assert_eq!(refused(&metrics("http://prom.example:9090/metrics"), &allowed), [""; 0]);
    assert_eq!(refused("{ url: \"sim://steady\", metrics: \"http://127.0.0.1/metrics\" }", &Permissions::default()), ["host-not-allowed"]);
    assert_eq!(refused("{ url: \"sim://steady\", metrics: none }", &Permissions::default()), [""; 0]);
}

#[test]
fn a_spec_may_not_set_credentials_or_what_frames_a_message() {
    for name in [
        "authorization",
        "Authorization",
        "x-api-key",
        "api-key",
        "Cookie",
        "host",
        "proxy-authorization",
        "Proxy-X",
        "content-length",
        "transfer-encoding",
    ] {
        assert_eq!(codes(&spec(&format!("{{ headers: {{ {name}: x }} }}")), &Permissions::default()), ["2:22 forbidden-header"], "{name}");
    }
    let permissions = Permissions { env: env(&[("GOODPUT_VAR_A", "a\r\nauthorization: b")]), ..Permissions::default() };
    assert_eq!(codes(&spec("{ headers: { x-a: \"${GOODPUT_VAR_A}\" } }"), &permissions), ["2:27 not-a-header"]);
    assert_eq!(codes(&spec("{ headers: { \"a b\": x } }"), &permissions), ["2:22 not-a-header"]);
    assert_eq!(codes(&spec("{ headers: { x-a: 1, X-A: 2 } }"), &permissions), ["2:30 duplicate-key"]);
}

#[test]
fn a_body_may_not_hold_what_the_gate_owns() {
    for key in [
        "messages",
        "prompt",
        "input",
        "model",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "min_tokens",
        "ignore_eos",
        "n",
    ] {
        assert_eq!(codes(&spec(&format!("{{ body: {{ {key}: 1 }} }}")), &Permissions::default()), ["2:19 owned-by-the-gate"], "{key}");
    }
}

#[test]
fn a_text_with_problems_is_a_spec_error_even_where_its_host_is_refused_too() {
    let permissions = Permissions { github_actions: true, ..Permissions::default() };
    assert_eq!(codes(&spec("{ url: http://evil.example/, body: { n: 2 } }"), &permissions), ["2:46 owned-by-the-gate"]);
}
