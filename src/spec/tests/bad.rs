//! Specs that are refused, with the place and the kind of each problem.

use super::{codes, shown, source, with_line};
use crate::spec::{Permissions, Source, SpecError, parse};

/// A spec whose only fault is in the given top-level text.
fn around(text: &str) -> String {
    let slo = if text.starts_with("slo") || text.contains("\nslo") { "" } else { "\nslo: { require: [errors <= 1%] }" };
    let name = if text.starts_with("name") { "" } else { "name: a\n" };
    format!("{name}{text}{slo}\n")
}

/// Each text, and where which fault is in it.
const FAULTS: &[(&str, &[&str])] = &[
    ("name: Chat_70B", &["1:7 not-a-name"]),
    ("version: 2", &["2:10 unknown-version"]),
    ("use: chatt", &["2:6 unknown-word"]),
    ("treshold: 1", &["2:1 unknown-key"]),
    ("target: { ulr: http://a }", &["2:11 unknown-key"]),
    ("target: http://a", &["2:9 not-a-map"]),
    ("target: { url: ftp://a/ }", &["2:16 unknown-scheme"]),
    ("target: { url: not a url }", &["2:16 not-a-url"]),
    ("target: { url: \"http://user:pw@a/\" }", &["2:16 secret-in-url"]),
    ("target: { api: messages }", &["2:16 not-supported-yet"]),
    ("target: { api: chta }", &["2:16 unknown-word"]),
    ("target: { tokenizer: t.json }", &["2:22 no-tokenizer"]),
    ("target: { model_bytes: 16 }", &["2:24 missing-unit"]),
    ("target: { hardware: { bandwidth: 3350 GB/s } }", &["2:21 missing-key"]),
    ("target: { hardware: { name: h, price: 2.5 } }", &["2:39 missing-unit"]),
    ("target: { timeout: { total: 0s } }", &["2:29 out-of-range"]),
    ("target: { timeout: { total: 30 } }", &["2:29 missing-unit"]),
    ("target: { timeout: { conect: 30s } }", &["2:22 unknown-key"]),
    ("target: { body: { x: .inf } }", &["2:22 not-finite"]),
    ("target: { body: { x: 1, x: 2 } }", &["2:25 duplicate-key"]),
    ("workload: { lengths: chatty }", &["2:22 unknown-lengths"]),
    ("workload: { lengths: { file: a, input: constant(3) } }", &["2:22 lengths"]),
    ("workload: { lengths: { input: \"constant(0)\", output: \"constant(1)\" } }", &["2:31 not-a-formula"]),
    ("workload: { lengths: { input: \"uniform(9, 3)\", output: \"constant(1)\" } }", &["2:31 not-a-formula"]),
    ("workload: { lengths: { input: \"normal(mean=3)\", output: \"constant(1)\" } }", &["2:31 not-a-formula"]),
    ("workload: { prompts: random }", &["2:22 unknown-word"]),
    ("workload: { max_input: 0 }", &["2:24 out-of-range"]),
    ("workload: { exact_output: yes }", &["2:27 unknown-word"]),
    ("workload: { turns: 4, prompts: { file: p.jsonl } }", &["2:13 turns-of-a-file"]),
    ("workload: { shared_prefix: 500, prompts: { file: p.jsonl } }", &["2:13 prefix-of-a-file"]),
    ("workload: { prefix_hit: 50%, prompts: { file: p.jsonl } }", &["2:13 prefix-of-a-file"]),
    ("workload: { prefix_groups: 0 }", &["2:28 out-of-range"]),
    ("workload: { history: live }", &["2:13 not-supported-yet"]),
    ("workload: { think: 5 }", &["2:20 missing-unit"]),
    ("workload: { zipf: 11 }", &["2:19 out-of-range"]),
    ("workload: []", &["2:11 empty-list"]),
    ("workload: [{ name: x, share: 50% }]", &["2:11 shares"]),
    ("workload: [{ share: 100% }]", &["2:12 missing-key"]),
    ("workload: [{ name: x, share: 60% }, { name: x, share: 40% }]", &["2:45 duplicate-name"]),
    ("load: { concurrency: 0 }", &["2:22 out-of-range"]),
    ("load: { concurrency: 1.5 }", &["2:22 not-whole"]),
    ("load: { concurrency: -4 }", &["2:22 negative"]),
    ("load: { concurrency: 4, rate: 3/s }", &["2:25 two-loads"]),
    ("load: { rate: 12 }", &["2:15 missing-unit"]),
    ("load: { rate: 0/s }", &["2:15 out-of-range"]),
    ("load: { rate: 1/s, arrival: trace }", &["2:20 not-supported-yet"]),
    ("load: { rate: 1/s, arrival: gamma(shape=0) }", &["2:29 not-a-formula"]),
    ("load: { concurrency: 1, arrival: poisson }", &["2:25 arrival-needs-rate"]),
    ("load: { concurrency: 1, round: 20s }", &["2:25 round-needs-rate"]),
    ("load: { rounds: 0 }", &["2:17 out-of-range"]),
    ("load: { rounds: 9..3 }", &["2:17 not-a-range"]),
    ("load: { round: 50 }", &["2:16 missing-unit"]),
    ("load: { warmup: 3s }", &["2:17 not-a-quantity"]),
    ("load: { levels: [1x, 1.0x] }", &["2:22 duplicate-level"]),
    ("load: { levels: [] }", &["2:17 empty-list"]),
    ("load: { levels: 2x }", &["2:17 not-a-list"]),
    ("load: { levels: [1x, 2] }", &["2:22 missing-unit"]),
    ("load: { seed: -1 }", &["2:15 not-whole"]),
    ("load:", &["2:1 empty-value"]),
    ("buckets: { input: [8k, 1k] }", &["2:24 not-ascending"]),
    ("validity: { client_lag: 5 }", &["2:25 missing-unit"]),
    ("budget: { tokens: 5k }", &["2:19 wrong-unit"]),
    ("budget: { cost: .nan }", &["2:17 not-finite"]),
    ("budget: { time: 0s }", &["2:17 out-of-range"]),
    ("slo: {}", &["2:1 empty-slo"]),
    ("slo: { require: [] }", &["2:17 empty-list"]),
    ("slo: { require: goodput >= 9% }", &["2:17 not-a-list"]),
    ("slo: { require: [errors <= 1%], confidence: 0.95 }", &["2:45 missing-unit"]),
    ("slo: { require: [errors <= 1%], confidence: 100% }", &["2:45 out-of-range"]),
    ("slo: { require: [errors <= 1%], rule_out: 0.5x }", &["2:43 out-of-range"]),
    ("slo: { require: [errors <= 1%], on_inconclusive: pass }", &["2:50 unknown-word"]),
    ("slo: { regression: [throughput_rps drops <= 40%] }", &["2:21 rule-out"]),
    ("concurrency: 4", &["2:1 unknown-key"]),
    ("name: a\nname: b", &["2:1 duplicate-key"]),
    ("<<: { use: chat }", &["2:1 unknown-key"]),
    ("load: { min_time: 99999h }", &["2:19 too-large"]),
];

#[test]
fn each_fault_is_found_at_its_place() {
    for (text, expected) in FAULTS {
        assert_eq!(&codes(&around(text), &Permissions::default()), expected, "{text}");
    }
}

/// The list, the line (at column 7 of line 5), and where which fault is in it.
const LINES: &[(&str, &str, &str)] = &[
    ("request", "itl <= 5ms", "7 pooled-metric"),
    ("request", "goodput >= 5%", "7 service-metric"),
    ("request", "ttft p99 <= 1s", "12 stat-in-constraint"),
    ("request", "ttft <= 500", "15 missing-unit"),
    ("request", "ttft <= 5%", "15 wrong-unit"),
    ("request", "ttft <= 0ms", "15 contradictory"),
    ("request", "ttft >= 500ms", "12 wrong-direction"),
    ("request", "speed <= 30 tok/s", "13 wrong-direction"),
    ("request", "ttft < = 500ms", "14 not-a-quantity"),
    ("request", "ttft == 500ms", "12 unknown-comparison"),
    ("request", "ttft ≤ 500ms", "12 unknown-comparison"),
    ("request", "ttft <=", "12 incomplete"),
    ("request", "ttft <= 1s at 2x", "18 unexpected-word"),
    ("request", "ttft <= 1s and tpot <= 1ms", "18 unexpected-word"),
    ("request", "ttft <= 1s when output < 3", "23 unknown-field"),
    ("request", "ttft <= 1s when turn in 5..3", "31 not-a-range"),
    ("request", "ttft <= 1s when input_tokens < 9 and input_tokens > 20", "23 contradictory"),
    ("request", "ttft <= 1s when input_tokens < 0", "36 contradictory"),
    ("request", "ttft <= 1s for chat", "22 unknown-part"),
    ("require", "ttfft p99 <= 1s", "7 unknown-metric"),
    ("require", "ttft <= 1s", "12 missing-stat"),
    ("require", "ttft p100 <= 1s", "12 unknown-stat"),
    ("require", "ttft mean <= 1s", "12 unknown-stat"),
    ("require", "goodput p95 >= 95%", "15 stat-on-ratio"),
    ("require", "goodput >= 95", "18 missing-unit"),
    ("require", "goodput >= 950%", "18 over-100"),
    ("require", "goodput >= 2pp", "18 wrong-unit"),
    ("require", "goodput > 100%", "17 contradictory"),
    ("require", "errors < 0%", "16 contradictory"),
    ("require", "errors <= -1%", "17 negative"),
    ("require", "errors <= nan%", "17 not-finite"),
    ("require", "throughput_rps >= 5", "25 missing-unit"),
    ("require", "throughput_tps >= 5/s", "25 wrong-unit"),
    ("require", "ttft p95 rises <= 10%", "16 regression-elsewhere"),
    ("require", "ttft p99 <= 1s at 3x", "25 unknown-level"),
    ("require", "ttft p99 <= 1s at 3", "25 missing-unit"),
    ("require", "ttft p99 <= 1s in 90 of rounds", "25 missing-unit"),
    ("require", "ttft p99 <= 1s in 90% rounds", "29 unexpected-word"),
    ("require", "ttft p99 <= 1s or 2s", "22 unexpected-word"),
    ("require", "headroom >= 20% in 90% of rounds", "7 whole-service"),
    ("require", "headroom >= 20% when input_tokens < 300", "7 whole-service"),
    ("regression", "headroom drops <= 5pp", "7 whole-service"),
    ("regression", "ttft p95 <= 1s", "16 no-change"),
    ("regression", "ttft p95 drops <= 10%", "16 wrong-direction"),
    ("regression", "goodput rises <= 2pp", "15 wrong-direction"),
    ("regression", "goodput drops <= 2%", "24 ratio-in-percent"),
    ("regression", "ttft p95 rises <= 2pp", "25 wrong-unit"),
    ("regression", "ttft p95 rises <= 10", "25 missing-unit"),
    ("regression", "ttft p95 rises < 10%", "22 unknown-comparison"),
    ("regression", "ttft p95 rises <= 10% or 5%", "32 same-kind-twice"),
    ("regression", "ttft p95 rises <= 10% in 90% of rounds", "29 unexpected-word"),
    ("regression", "throughput_rps drops <= 100%", "31 over-100"),
    ("advise", "ttft p99 < 1s when turn > 1 when turn > 2", "35 twice"),
];

#[test]
fn a_line_is_refused_at_the_word_that_is_wrong() {
    for (list, line, expected) in LINES {
        assert_eq!(codes(&with_line(list, line), &Permissions::default()), [format!("5:{expected}")], "{line}");
    }
}

#[test]
fn every_problem_is_told_at_once_with_line_caret_and_a_near_name() {
    let text = "name: chat\ntarget:\n  urll: http://127.0.0.1/v1\nslo:\n  require:\n    - ttft p99 <= 500\n    - \"goodputt >= 95%\"\n";
    insta::assert_snapshot!(shown(text), @r#"
    error[unknown-key]: `target` has no key `urll`
     --> gate.yaml:3:3
      |
    3 |   urll: http://127.0.0.1/v1
      |   ^^^^
      |
      = help: did you mean `url`?

    error[missing-unit]: `500` has no unit
     --> gate.yaml:6:19
      |
    6 |     - ttft p99 <= 500
      |                   ^^^
      |
      = help: units are required; ttft takes us, ms, s, m, h: write `500ms`

    error[unknown-metric]: `goodputt` is no metric
     --> gate.yaml:7:8
      |
    7 |     - "goodputt >= 95%"
      |        ^^^^^^^^
      |
      = help: did you mean `goodput`?
    "#);
}

#[test]
fn a_missing_name_or_slo_is_told_with_what_to_write() {
    assert_eq!(codes("use: chat\n", &Permissions::default()), ["- missing-key", "- missing-key"]);
    assert!(shown("slo: { require: [errors <= 1%] }\n").contains("write name: chat"));
}

#[test]
fn what_is_torn_inside_braces_is_told_to_be_quoted() {
    for text in [
        "name: a\ntarget: { url: ${GOODPUT_VAR_URL} }\n",
        "name: a\nworkload: { lengths: { input: uniform(10, 20), output: \"constant(3)\" } }\nslo: { require: [errors <= 1%] }\n",
    ] {
        let shown = shown(text);
        assert!(shown.contains("quote what holds `{`, `}`, `,` or `: `"), "{shown}");
    }
}

#[test]
fn yaml_pitfalls_are_read_as_written_or_refused() {
    let spec =
        super::good("name: 010\ntarget: { alias: NO, model: 1.10, headers: { x-a: 010, x-b: yes } }\nslo: { require: [errors <= 1%] }\n");
    assert_eq!((spec.name.as_str(), spec.target.alias.as_deref(), spec.target.model.as_deref()), ("010", Some("NO"), Some("1.10")));
    assert_eq!(spec.target.headers.values().collect::<Vec<_>>(), ["010", "yes"]);
}

#[test]
fn what_is_no_single_utf8_document_is_refused() {
    assert_eq!(codes("name: a\nslo: { require: [errors <= 1%] }\n---\nname: b\n", &Permissions::default()), ["4:1 two-documents"]);
    assert_eq!(codes("", &Permissions::default()), ["- empty"]);
    assert_eq!(codes("# nothing\n", &Permissions::default())[0].split(' ').next_back(), Some("not-a-map"));
    assert_eq!(codes("- a\n", &Permissions::default()), ["1:1 not-a-map"]);
    assert_eq!(codes("name: [a\n", &Permissions::default())[0].split(' ').next_back(), Some("not-yaml"));
    let Err(SpecError::Problems(problems)) = Source::from_bytes("gate.yaml", b"name: \xff\n".to_vec()) else { panic!("accepted") };
    assert_eq!((problems.issues[0].code, problems.issues[0].position), ("not-utf-8", Some((1, 7))));
}

#[test]
fn bombs_are_refused_by_count_and_not_by_patience() {
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..12 {
        laughs.push_str(&format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(", ")));
    }
    let deep_maps: String = (0..2000).map(|depth| format!("{}a:\n", " ".repeat(depth % 400))).collect();
    let cases = [
        ("billion laughs", laughs),
        ("brackets", "[".repeat(100_000)),
        ("braces", "{a: ".repeat(50_000)),
        ("indents", (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
        ("maps", deep_maps),
        ("huge", format!("name: {}\n", "a".repeat(300_000))),
        ("many keys", (0..20_000).map(|n| format!("k{n}: 1\n")).collect()),
        ("anchors", (0..5_000).map(|n| format!("k{n}: &a{n} 1\n")).collect()),
        ("self", "a: &a [*a]\n".to_owned()),
    ];
    for (name, text) in cases {
        let error = parse(&source(&text), &Permissions::default()).unwrap_err();
        let shown = error.problems().render(false);
        assert!(shown.len() < 100_000, "{name}: {} bytes of answer", shown.len());
    }
}

#[test]
fn hostile_text_cannot_move_the_terminal() {
    let shown = shown("name: \"a\\u001b[2J\\r\\u202e\"\nk\u{9b}ey: 1\nslo: { require: [\"\\u0007 <= 1%\"] }\n");
    assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
}
