//! Reuse that is offered and reuse that is measured, on a simulated server with a prefix cache; and workloads of several parts.

use crate::common::Place;
use goodput_gate::sim;
use serde_json::Value;
use std::net::TcpListener;

fn server() -> sim::Running {
    let profile = sim::parse("sim://queue?slots=16&prefill=2ms&tpot=0.2ms&cache=4000000").unwrap();
    sim::start(profile, TcpListener::bind("127.0.0.1:0").unwrap()).unwrap()
}

fn spec(workload: &str) -> String {
    format!(
        "name: reuse\n\
         workload: {workload}\n\
         load: {{ concurrency: 8, rounds: 12, round: 25 requests }}\n\
         slo: {{ request: [ttft <= 10s], require: [goodput >= 50%], confidence: point }}\n\
         validity: {{ client_lag: 5s }}\n"
    )
}

fn checked(place: &Place, server: &sim::Running, workload: &str, more: &[&str]) -> (i32, Value) {
    place.file("a.yaml", &spec(workload));
    let url = server.url();
    let mut args = vec!["check", "a.yaml", "--baseline", "none", "--endpoint", &url];
    args.extend(more);
    let done = place.gate().args(args).run();
    assert!(place.path().join("goodput-out/verdict.json").exists(), "{}", done.stderr);
    (done.code, place.json("goodput-out/verdict.json"))
}

fn hits(verdict: &Value) -> f64 {
    verdict["levels"][0]["cache_hit"].as_f64().unwrap()
}

fn row(verdict: &Value) -> String {
    let rows = verdict["validity"].as_array().unwrap();
    rows.iter().find(|row| row["check"] == "cache_hits").unwrap()["text"].as_str().unwrap().to_owned()
}

const LENGTHS: &str = "lengths: { input: \"uniform(200, 1500)\", output: \"constant(1)\" }";

#[test]
fn offered_reuse_is_measured_within_two_points_and_cold_stays_cold() {
    let (place, server) = (Place::new(), server());
    for (offered, workload) in [
        (0.0, format!("{{ {LENGTHS} }}")),
        (0.5, format!("{{ {LENGTHS}, prefix_hit: 50% }}")),
        (0.9, format!("{{ {LENGTHS}, prefix_hit: 90%, prefix_groups: 4, zipf: 1.2 }}")),
    ] {
        let (code, verdict) = checked(&place, &server, &workload, &[]);
        assert!((hits(&verdict) - offered).abs() < 0.02, "offered {offered}: {}", hits(&verdict));
        assert_eq!(code, 0, "{}", row(&verdict));
        assert!(row(&verdict).contains("offered"), "{}", row(&verdict));
    }
    // The same spec again, on a server that is warm: nothing of it was seen before.
    let (code, verdict) = checked(&place, &server, &format!("{{ {LENGTHS} }}"), &[]);
    assert_eq!((code, hits(&verdict)), (0, 0.0));
}

#[test]
fn a_cache_is_dropped_on_demand_and_the_conditions_say_so() {
    let (place, server) = (Place::new(), server());
    let prefix = format!("{{ {LENGTHS}, shared_prefix: 160 }}");
    let (code, verdict) = checked(&place, &server, &prefix, &["--reset-cache"]);
    assert_eq!(code, 0, "{}", row(&verdict));
    let flags = verdict["conditions"]["flags"].to_string();
    assert!(flags.contains("reset-cache=true"), "{flags}");
    assert!((hits(&verdict) - 160.0 / 850.0).abs() < 0.02, "{}", hits(&verdict));
    let deaf = Place::new();
    deaf.file("a.yaml", &spec(&prefix));
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    deaf.gate().args(["check", "a.yaml", "--reset-cache", "--endpoint", &format!("http://{nobody}/v1")]).expect(4);
}

#[test]
fn parts_are_mixed_by_share_and_judged_each_by_its_own_rules() {
    let place = Place::new();
    place.file("rows.jsonl", "{\"text\":\"one two three\",\"part\":\"doc\"}\n{\"text\":\"never sent\",\"part\":\"other\"}\n");
    place.file(
        "a.yaml",
        "name: mixed\n\
         target: { url: \"sim://queue?slots=16&prefill=1ms&prefill_per_token=40us&tpot=0.2ms\" }\n\
         workload:\n\
         \x20 - { name: short, share: 60%, lengths: { input: \"uniform(20, 40)\", output: \"constant(1)\" } }\n\
         \x20 - { name: long, share: 30%, lengths: { input: \"uniform(2000, 2100)\", output: \"constant(1)\" }, exact_output: false }\n\
         \x20 - { name: doc, share: 10%, lengths: { input: \"constant(9)\", output: \"constant(1)\" }, prompts: { file: rows.jsonl } }\n\
         load: { concurrency: 8, rounds: 12, round: 50 requests }\n\
         slo:\n\
         \x20 request: [ttft <= 5s for short, ttft <= 10ms for long]\n\
         \x20 require: [goodput >= 99% for short, goodput >= 99% for long, ttft p50 <= 5s for doc]\n\
         \x20 confidence: point\n\
         validity: { client_lag: 5s }\n",
    );
    let done = place.gate().args(["check", "a.yaml", "--baseline", "none"]).run();
    assert_eq!(done.code, 10, "{}{}", done.stdout, done.stderr);
    let verdict = place.json("goodput-out/verdict.json");
    let rules = verdict["rules"].as_array().unwrap();
    let said: Vec<_> = rules.iter().map(|rule| (rule["scope"].as_str().unwrap(), rule["status"].as_str().unwrap())).collect();
    assert_eq!(said, [("for short", "pass"), ("for long", "fail"), ("for doc", "pass")]);
    let parts = verdict["levels"][0]["parts"].as_array().unwrap();
    let requests = |name: &str| parts.iter().find(|part| part["part"] == name).unwrap()["requests"].as_u64().unwrap();
    assert_eq!(requests("short") + requests("long") + requests("doc"), 600);
    assert!((355..=365).contains(&requests("short")) && (175..=185).contains(&requests("long")), "{parts:?}");
    assert!(done.stdout.contains("TTFT for long"), "{}", done.stdout);
    let lines = place.run_lines("goodput-out/run.jsonl.zst");
    let docs = lines.iter().filter(|line| line["type"] == "request" && line["part"] == "doc");
    assert!(docs.map(|line| line["input_tokens"].as_u64().unwrap()).all(|tokens| tokens == 13), "only rows of its own part are sent");
}

#[test]
fn sessions_carry_their_history_keep_their_turns_in_order_and_are_judged_whole() {
    let place = Place::new();
    place.file(
        "a.yaml",
        "name: sessions\n\
         target: { url: \"sim://queue?slots=16&prefill=3ms&tpot=1ms&cache=4000000\" }\n\
         workload: { lengths: { input: \"uniform(100, 300)\", output: \"constant(1)\" }, turns: 4, think: 5ms }\n\
         load: { concurrency: 4, rounds: 12, round: 26 requests }\n\
         slo: { request: [session_ttft <= 9s], require: [goodput >= 50%, session_ttft p50 <= 9s, session_e2e p50 <= 9s], confidence: point }\n\
         validity: { client_lag: 5s }\n",
    );
    let done = place.gate().args(["check", "a.yaml", "--baseline", "none"]).run();
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let verdict = place.json("goodput-out/verdict.json");
    assert_eq!(verdict["rules"][1]["samples"], 12 * 7, "a sample a session, whole sessions a round: {verdict}");
    let mut last: std::collections::BTreeMap<u64, (u64, f64, u64)> = std::collections::BTreeMap::new();
    let lines = place.run_lines("goodput-out/run.jsonl.zst");
    let mut requests: Vec<_> = lines.iter().filter(|line| line["type"] == "request").collect();
    requests.sort_by_key(|line| line["id"].as_u64());
    for line in &requests {
        let number = |key: &str| line[key].as_u64().unwrap();
        assert_eq!(line["input_tokens"], line["asked_input_tokens"], "{line}");
        let (session, turn, start) = (number("session"), number("turn"), line["scheduled_ms"].as_f64().unwrap());
        let end = start + line["closed_ms"].as_f64().unwrap();
        if let Some((before, ended, input)) = last.get(&session) {
            assert_eq!(turn, before + 1);
            assert!((start - ended - 5.0).abs() < 0.01, "due a think time after the turn before: {line}");
            assert_eq!(number("cached_tokens"), input / 16 * 16, "its history is served from the cache: {line}");
        } else {
            assert_eq!((turn, number("cached_tokens")), (0, 0), "{line}");
        }
        last.insert(session, (turn, end, number("input_tokens")));
    }
    assert!(last.values().all(|(turn, ..)| *turn == 3), "every session has all its turns");
}
