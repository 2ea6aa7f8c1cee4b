//! What a spec may reach: each line of the contract, tried through the real binary, with a server that notices whoever knocks.

use crate::common::Place;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// A server that keeps what it was sent, and answers with a short chat stream or with `answer`.
struct Ear {
    url: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Ear {
    fn answering(answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut text = String::new();
                let mut buffer = [0; 65_536];
                while let Ok(read) = stream.read(&mut buffer) {
                    text.push_str(&String::from_utf8_lossy(&buffer[..read]));
                    let body_at = text.find("\r\n\r\n").map_or(usize::MAX, |at| at + 4);
                    let length = text
                        .to_lowercase()
                        .split("content-length: ")
                        .nth(1)
                        .and_then(|l| l.split("\r\n").next()?.parse().ok())
                        .unwrap_or(0);
                    if read == 0 || text.len() >= body_at.saturating_add(length) {
                        break;
                    }
                }
                keep.lock().unwrap().push(text.clone());
                let _ = stream.write_all(answer(&text).as_bytes());
            }
        });
        Self { url, heard }
    }

    fn new() -> Self {
        Self::answering(|_| stream())
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn stream() -> String {
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n";
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn spec(target: &str) -> String {
    format!(
        "name: reach\n\
         target: {{ {target} }}\n\
         workload: {{ lengths: {{ input: \"uniform(5, 9)\", output: constant(2) }} }}\n\
         load: {{ concurrency: 1, rounds: 1, round: 1 requests, warmup: 0 requests }}\n\
         slo: {{ require: [errors <= 100%] }}\n"
    )
}

#[test]
fn a_variable_that_was_not_released_is_a_spec_error_and_nothing_leaves() {
    let (place, ear) = (Place::new(), Ear::new());
    for place_of in [
        "url: \"{}/${GITHUB_TOKEN}\"",
        "url: \"{}/v1\", model: \"${GITHUB_TOKEN}\"",
        "url: \"{}/v1\", headers: { x-a: \"${GITHUB_TOKEN}\" }",
        "url: \"{}/v1\", metrics: \"{}/${GITHUB_TOKEN}\"",
    ] {
        place.file("a.yaml", &spec(&place_of.replace("{}", &ear.url)));
        let done = place.gate().env("GITHUB_TOKEN", "s3cr3t").args(["check", "a.yaml"]).expect(2);
        assert!(!done.stderr.contains("s3cr3t") && done.stderr.contains("GITHUB_TOKEN"), "{}", done.stderr);
    }
    assert_eq!(ear.heard(), Vec::<String>::new());
}

#[test]
fn variables_of_ours_and_defaults_are_put_in_their_place() {
    let (place, ear) = (Place::new(), Ear::new());
    place.file("a.yaml", &spec("url: \"${GOODPUT_VAR_URL}\", model: \"${GOODPUT_VAR_MODEL:-fallback}\""));
    place.gate().env("GOODPUT_VAR_URL", &format!("{}/v1", ear.url)).args(["run", "a.yaml"]).expect(0);
    let heard = ear.heard();
    assert!(heard[0].starts_with("POST /v1/chat/completions") && heard[0].contains("\"fallback\""), "{heard:?}");
}

#[test]
fn a_released_value_goes_only_to_a_host_that_the_caller_named() {
    let (place, ear) = (Place::new(), Ear::new());
    place.file("a.yaml", &spec(&format!("url: \"{}/v1\", model: m, headers: {{ x-a: \"${{TENANT}}\" }}", ear.url)));
    let refused = place.gate().env("TENANT", "s3cr3t").args(["run", "a.yaml", "--allow-env", "TENANT"]).run();
    assert!(matches!(refused.code, 2 | 4), "{}", refused.stderr);
    assert_eq!(ear.heard(), Vec::<String>::new());
    place.gate().env("TENANT", "s3cr3t").args(["run", "a.yaml", "--allow-env", "TENANT", "--allow-host", &ear.url]).expect(0);
    assert!(ear.heard()[0].contains("x-a: s3cr3t"));
    let run = place.run_lines("goodput-out/run.jsonl.zst");
    assert!(!run.iter().any(|line| line.to_string().contains("s3cr3t")));
}

#[test]
fn the_key_and_more_headers_go_only_to_a_host_that_the_caller_named_and_into_no_output() {
    let (place, ear) = (Place::new(), Ear::new());
    place.file("a.yaml", &spec(&format!("url: \"{}/v1\", model: m", ear.url)));
    let gate = || place.gate().env("GOODPUT_API_KEY", "s3cr3t-key").args(["run", "a.yaml", "--header", "x-more: s3cr3t-header"]);
    let done = gate().expect(0);
    assert!(done.stderr.contains("withheld"), "{}", done.stderr);
    assert!(!ear.heard()[0].contains("s3cr3t"));
    let endpoint = format!("{}/v1", ear.url);
    let done = gate().args(["--endpoint", &endpoint]).expect(0);
    let heard = ear.heard();
    assert!(heard[1].contains("authorization: Bearer s3cr3t-key") && heard[1].contains("x-more: s3cr3t-header"), "{heard:?}");
    let run = place.run_lines("goodput-out/run.jsonl.zst");
    let everything = format!("{run:?}{}{}", done.stdout, done.stderr);
    assert!(!everything.contains("s3cr3t"), "{everything}");
}

#[test]
fn being_compared_with_names_a_host_for_no_secret() {
    const OWN: [&str; 2] = ["--against-api-key-env", "OLD_KEY"];
    let (place, new, old) = (Place::new(), Ear::new(), Ear::new());
    place.file("a.yaml", &spec("model: m"));
    let (endpoint, against) = (format!("{}/v1", new.url), format!("{}/v1", old.url));
    // Fewer than 12 rounds are invalid, and sent all the same.
    let check = |endpoint: &str, flags: &[&str]| {
        let gate = place.gate().env("GOODPUT_API_KEY", "s3cr3t-new").env("OLD_KEY", "s3cr3t-old");
        let gate = gate.args(["check", "a.yaml", "--header", "x-more: s3cr3t-header", "--endpoint", endpoint, "--against", &against]);
        gate.args(flags.iter().copied()).expect(6)
    };
    let last = |ear: &Ear| ear.heard().pop().unwrap();

    let done = check(&endpoint, &[]);
    assert!(done.stderr.contains("withheld from the host of --against"), "{}", done.stderr);
    assert!(last(&new).contains("Bearer s3cr3t-new") && last(&new).contains("s3cr3t-header"), "{}", last(&new));
    assert!(!last(&old).contains("s3cr3t") && last(&old).starts_with("POST /v1/chat/completions"), "{}", last(&old));

    let done = check(&endpoint, &OWN);
    assert!(last(&old).contains("Bearer s3cr3t-old") && !last(&old).contains("s3cr3t-header"), "{}", last(&old));
    assert!(last(&new).contains("Bearer s3cr3t-new") && !last(&new).contains("s3cr3t-old"), "{}", last(&new));
    let files = ["run.jsonl.zst", "run-baseline.jsonl.zst"].map(|name| place.run_lines(&format!("goodput-out/{name}")));
    let everything = format!("{files:?}{}{}", done.stdout, done.stderr);
    assert!(!everything.contains("s3cr3t"), "{everything}");

    // The same scheme, host and port were named for the key: by the target itself, or by --allow-host.
    let beside = format!("{}/other", old.url);
    for (endpoint, flags) in [(&beside, &[][..]), (&endpoint, &["--allow-host", &old.url])] {
        check(endpoint, flags);
        let heard = old.heard().into_iter().rfind(|text| text.starts_with("POST /v1/")).unwrap();
        assert!(heard.contains("Bearer s3cr3t-new") && heard.contains("s3cr3t-header"), "{heard}");
    }
}

#[test]
fn a_released_value_does_not_go_to_a_host_that_is_only_compared_with() {
    let (place, new, old) = (Place::new(), Ear::new(), Ear::new());
    let metrics = format!("model: m, metrics: \"{}/metrics\", headers: {{ x-a: \"${{TENANT}}\" }}", new.url);
    place.file("a.yaml", &spec(&metrics));
    let check = |flags: &[&str]| {
        let gate = place.gate().env("TENANT", "s3cr3t").args(["check", "a.yaml", "--allow-env", "TENANT", "--endpoint", &new.url]);
        gate.args(["--against", &old.url]).args(flags.iter().copied()).run()
    };
    let refused = check(&[]);
    assert!(refused.code == 4 && refused.stderr.contains(&format!("--allow-host {}", old.url)), "{}", refused.stderr);
    assert_eq!((new.heard(), old.heard()), (Vec::new(), Vec::new()));
    let sent = check(&["--allow-host", &old.url]);
    assert!(sent.code == 6 && old.heard()[0].contains("x-a: s3cr3t"), "{}", sent.stderr);
    assert!(!old.heard().iter().any(|text| text.contains("/metrics")), "a named metrics page is the target's");
}

#[test]
fn under_actions_a_host_that_only_the_spec_names_is_4_and_loopback_is_not() {
    let place = Place::new();
    place.file("a.yaml", &spec("url: \"http://gpu.example:8000/v1\", model: m"));
    let done = place.gate().env("GITHUB_ACTIONS", "true").args(["check", "a.yaml"]).expect(4);
    assert!(done.stderr.contains("--endpoint") && done.stderr.contains("--allow-host"), "{}", done.stderr);
    let ear = Ear::new();
    place.file("b.yaml", &spec(&format!("url: \"{}/v1\", model: m", ear.url)));
    place.gate().env("GITHUB_ACTIONS", "true").args(["run", "b.yaml"]).expect(0);
}

#[test]
fn a_link_local_address_needs_allow_host_everywhere() {
    let place = Place::new();
    place.file("a.yaml", &spec("url: \"http://169.254.169.254/latest\", model: m"));
    place.gate().args(["check", "a.yaml"]).expect(4);
}

#[test]
fn a_redirect_to_another_host_is_an_error_and_is_not_followed() {
    let (place, other) = (Place::new(), Ear::new());
    let to = other.url.clone();
    let ear = Ear::answering(move |_| {
        format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}/v1/chat/completions\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    });
    place.file("a.yaml", &spec(&format!("url: \"{}/v1\", model: m", ear.url)));
    let endpoint = format!("{}/v1", ear.url);
    place.gate().env("GOODPUT_API_KEY", "k").args(["run", "a.yaml", "--endpoint", &endpoint]).expect(6);
    assert_eq!(other.heard(), Vec::<String>::new());
    let lines = place.run_lines("goodput-out/run.jsonl.zst");
    let line = lines.iter().find(|line| line["type"] == "request").unwrap();
    assert_eq!((&line["error_kind"], &line["http_status"]), (&"http_status".into(), &307.into()));
}

#[test]
fn metrics_on_another_host_and_owned_body_keys_and_forbidden_headers_are_refused() {
    let (place, ear) = (Place::new(), Ear::new());
    for (target, code) in [
        ("metrics: \"http://other.example/metrics\"", 4),
        ("body: { max_tokens: 1 }", 2),
        ("body: { messages: [] }", 2),
        ("body: { n: 2 }", 2),
        ("body: { stream: false }", 2),
        ("headers: { authorization: x }", 2),
        ("headers: { Cookie: x }", 2),
        ("headers: { proxy-authorization: x }", 2),
        ("headers: { Host: x }", 2),
    ] {
        place.file("a.yaml", &spec(&format!("url: \"{}/v1\", model: m, {target}", ear.url)));
        let done = place.gate().args(["check", "a.yaml"]).run();
        assert!(done.code == code || (code == 4 && done.code == 2), "{target}: exit {}\n{}", done.code, done.stderr);
    }
    assert_eq!(ear.heard(), Vec::<String>::new());
}

#[test]
fn a_file_outside_of_the_specs_folder_needs_allow_path_and_its_text_is_never_quoted() {
    let (place, ear) = (Place::new(), Ear::new());
    place.file("secret.csv", "input_tokens,output_tokens\nhunter2,swordfish\n");
    let target = format!("url: \"{}/v1\", model: m", ear.url);
    let lengths = "lengths: { input: \"uniform(5, 9)\", output: constant(2) }";
    for named in ["../secret.csv", "/etc/hostname"] {
        place.file("specs/a.yaml", &spec(&target).replace(lengths, &format!("lengths: {{ file: {named} }}")));
        let done = place.gate().args(["check", "specs/a.yaml"]).expect(2);
        assert!(done.stderr.contains("--allow-path"), "{}", done.stderr);
    }
    place.file("specs/a.yaml", &spec(&target).replace(lengths, "lengths: { file: ../secret.csv }"));
    let done = place.gate().args(["check", "specs/a.yaml", "--allow-path", "."]).expect(2);
    assert!(!done.stderr.contains("hunter2") && !done.stderr.contains("swordfish"), "{}", done.stderr);
    assert!(done.stderr.contains("lines 2"), "{}", done.stderr);
    assert_eq!(ear.heard(), Vec::<String>::new());
}

#[test]
fn with_a_model_named_and_no_probes_nothing_but_the_planned_requests_is_sent() {
    let (place, ear) = (Place::new(), Ear::new());
    place.file("a.yaml", &spec(&format!("url: \"{}/v1\", model: m", ear.url)));
    place.gate().args(["run", "a.yaml", "--no-calibrate"]).expect(0);
    assert_eq!(ear.heard().len(), 1);
}

#[test]
fn a_server_that_closes_after_every_answer_is_asked_to_so_that_no_request_meets_a_closing_connection() {
    let place = Place::new();
    // Says keep-alive and closes all the same, as llama.cpp does after a stream.
    let ear = Ear::answering(|_| stream().replace("connection: close", "keep-alive: timeout=5"));
    place.file("a.yaml", &spec(&format!("url: \"{}/v1\", model: m", ear.url)).replace("warmup: 0 requests", "warmup: 3 requests"));
    let done = place.gate().args(["run", "a.yaml"]).expect(0);
    assert!(done.stderr.contains("closes its connection"), "{}", done.stderr);
    let posts: Vec<String> = ear.heard().into_iter().filter(|text| text.starts_with("POST")).collect();
    let (probes, planned) = posts.split_at(posts.len() - 4);
    assert!(probes.iter().all(|text| !text.contains("connection: close")));
    assert!(planned.iter().all(|text| text.contains("connection: close")), "{planned:?}");
}

#[test]
fn a_servers_own_words_stay_in_the_run_file_short_and_without_control_characters() {
    let place = Place::new();
    let evil = format!("{{\"error\":{{\"message\":\"\\u001b[31m::error::pwned\\n{}\"}}}}", "x".repeat(5000));
    let ear = Ear::answering(move |_| {
        format!("HTTP/1.1 500 No\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{evil}", evil.len())
    });
    place.file("a.yaml", &spec(&format!("url: \"{}/v1\", model: m", ear.url)));
    let done = place.gate().args(["run", "a.yaml"]).expect(6);
    assert!(!done.stdout.contains("pwned") && !done.stderr.contains("pwned"));
    let lines = place.run_lines("goodput-out/run.jsonl.zst");
    let error = lines.iter().find(|line| line["type"] == "request").unwrap()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("pwned") && error.chars().count() <= 300 && !error.chars().any(char::is_control), "{error}");
}
