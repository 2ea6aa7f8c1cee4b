//! `--github` on the real binary, against a GitHub of our own.

mod branch;
mod comment;
mod data;
mod fake;
mod files;

use crate::common::{Gate, Place};
use fake::{Github, TOKEN, sha};
use serde_json::{Value, json};
use std::path::Path;

/// A run of 40 rounds whose TTFT is 200 ms.
fn run_file() -> String {
    let path = "gate-configs/baselines/quickstart/20260101T000000Z-00000001.jsonl.zst";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).display().to_string()
}

const GOOD: &str = "name: chat\nslo: { require: [ttft p50 <= 3s] }\nvalidity: { client_lag: 2s }\n";
const BAD: &str = "name: chat\nslo: { require: [ttft p50 <= 1ms, ttft p90 <= 2ms] }\nvalidity: { client_lag: 2s }\n";

/// The payload of a pull request's event.
fn pull_request() -> Value {
    json!({
        "pull_request": { "number": 7, "head": { "sha": sha('a'), "repo": { "full_name": "acme/serve" } }, "base": { "sha": sha('b') } },
        "repository": { "full_name": "acme/serve", "default_branch": "main" },
    })
}

/// A step of a pull request's job: judges a stored run by `spec`, and reports to `github`.
fn step(place: &Place, github: &Github, spec: &str) -> Gate {
    let run = run_file();
    place.file("gate.yaml", spec);
    bare(place, github, "pull_request", &pull_request()).args([
        "judge",
        run.as_str(),
        "--spec",
        "gate.yaml",
        "--baseline",
        "none",
        "--github",
    ])
}

/// The binary in the environment of a step, without arguments.
fn bare(place: &Place, github: &Github, event: &str, payload: &Value) -> Gate {
    let path = |name: &str| place.path().join(name).display().to_string();
    place.file("event.json", &payload.to_string());
    place
        .gate()
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_TOKEN", TOKEN)
        .env("GITHUB_API_URL", &github.url)
        .env("GITHUB_SERVER_URL", "https://github.example")
        .env("GITHUB_REPOSITORY", "acme/serve")
        .env("GITHUB_SHA", &sha('f'))
        .env("GITHUB_EVENT_NAME", event)
        .env("GITHUB_EVENT_PATH", &path("event.json"))
        .env("GITHUB_RUN_ID", "100")
        .env("GITHUB_RUN_ATTEMPT", "1")
        .env("GITHUB_WORKSPACE", &place.path().display().to_string())
        .env("GITHUB_STEP_SUMMARY", &path("summary.md"))
        .env("GITHUB_OUTPUT", &path("output.txt"))
}

/// The value of an output.
fn output(place: &Place, name: &str) -> String {
    let all = place.read("output.txt");
    let line = all.lines().rev().find_map(|line| line.strip_prefix(name)?.strip_prefix('=').map(str::to_owned));
    line.unwrap_or_else(|| panic!("no output {name} in {all}"))
}
