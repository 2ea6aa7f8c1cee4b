//! What an editor marks by the schema, against what the parser takes.

use goodput_gate::spec::{Permissions, Source, keys_table, parse, schema};
use regex::Regex;

fn pattern(list: &str) -> Regex {
    let schema = schema();
    let pattern = schema["properties"]["slo"]["properties"][list]["items"]["pattern"].as_str().unwrap();
    Regex::new(pattern).unwrap()
}

/// Each list, a line of it, and whether it is one.
const LINES: &[(&str, &str, bool)] = &[
    ("request", "ttft <= 500ms", true),
    ("request", "ttft<=500 ms", true),
    ("request", "tpot < 1.5s when input_tokens in 1k..8k and output_tokens < 300", true),
    ("request", "speed >= 30 tok/s", true),
    ("request", "ttft <= 500", false),
    ("request", "tpot <= 5%", false),
    ("request", "ttft >= 500ms", false),
    ("request", "ttft p99 <= 1s", false),
    ("request", "itl <= 5ms", false),
    ("request", "goodput >= 95%", false),
    ("request", "session_ttft <= 1s", true),
    ("request", "ttft <= 1s at 2x", false),
    ("request", "ttft <= 1s when input_tokens < 8k tokens", false),
    ("require", "goodput >= 95%", true),
    ("require", "ttft p99.9 <= 800ms at 2x", true),
    ("require", "ttft p99 <= 800ms at 1x when turn > 0", true),
    ("require", "ttft p95 <= 500ms in 95% of rounds", true),
    ("require", "itl p99 <= 50ms", true),
    ("require", "speed p5 > 30 tok/s", true),
    ("require", "throughput_rps >= 5/s", true),
    ("require", "goodput_tps >= 900 tok/s", true),
    ("require", "goodput >= 95", false),
    ("require", "goodput p95 >= 95%", false),
    ("require", "ttft <= 1s", false),
    ("require", "errors <= 1ms", false),
    ("require", "throughput_rps >= 5", false),
    ("require", "throughput_tps >= 5/s", false),
    ("require", "headroom >= 20%", true),
    ("require", "ttft p95 rises <= 10%", false),
    ("regression", "goodput drops <= 2pp", true),
    ("regression", "tpot p95 rises <= 10% or 1ms", true),
    ("regression", "throughput_rps drops <= 5% when turn in 1..1", true),
    ("regression", "goodput drops <= 2%", false),
    ("regression", "ttft p95 drops <= 10%", false),
    ("regression", "ttft p95 rises <= 10", false),
    ("regression", "ttft p95 rises <= 10% in 90% of rounds", false),
    ("advise", "ttft p99.9 <= 3s", true),
    ("advise", "ttft p99 rises <= 20%", true),
    ("advise", "ttft p99.9 <= 3", false),
];

#[test]
fn an_editor_marks_the_lines_that_the_parser_refuses() {
    for (list, line, fine) in LINES {
        assert_eq!(pattern(list).is_match(line), *fine, "the schema on {list}: {line}");
        let text = format!("name: a\nload: {{ concurrency: 4, levels: [1x, 2x] }}\nslo:\n  {list}:\n    - {line}\n");
        let read = parse(&Source { name: "gate.yaml".into(), text }, &Permissions::default());
        assert_eq!(read.is_ok(), *fine, "the parser on {list}: {line}");
    }
}

#[test]
fn what_this_version_refuses_is_marked_in_the_tables() {
    let keys = keys_table();
    let later = ["target.api", "workload.history", "load.arrival"];
    for key in later {
        let row = keys.lines().find(|row| row.starts_with(&format!("| `{key}` "))).unwrap();
        assert!(row.contains("not in this version yet"), "{row}");
    }
}
