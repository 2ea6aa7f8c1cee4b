//! The contract's own examples.

use super::{good, source, with_line};
use crate::metric::Metric;
use crate::spec::*;
use crate::units::Quantile;
use crate::wire::Api;
use std::time::Duration;

const SHORTEST: &str = "\
name: chat
target: { url: http://127.0.0.1:8000/v1 }
load: { concurrency: 16 }
slo: { request: [ttft <= 500ms, tpot <= 50ms], require: [goodput >= 95%] }
";

#[test]
fn the_shortest_useful_spec_works_and_takes_every_default() {
    let checked = parse(&source(SHORTEST), &Permissions::default()).unwrap();
    assert_eq!(checked.warnings, []);
    let spec = checked.spec;
    assert_eq!(spec.name, "chat");
    assert_eq!(spec.target.url, Some(TargetUrl::Http("http://127.0.0.1:8000/v1".parse().unwrap())));
    assert_eq!((spec.target.api, spec.target.model, spec.target.metrics), (ApiChoice::Fixed(Api::Chat), None, MetricsChoice::Beside));
    assert_eq!(spec.target.timeout, Timeouts::default());
    assert!(spec.target.body.is_empty() && spec.target.headers.is_empty());
    let [part] = spec.workload.parts.as_slice() else { panic!("one part") };
    assert_eq!((&part.lengths, &part.prompts), (&Lengths::Bundled("chat".into()), &Prompts::Unique));
    assert_eq!((part.max_input, part.max_output, part.exact_output, part.turns), (None, None, ExactOutput::Auto, Turns::Fixed(1)));
    assert_eq!(spec.load.offered, Some(Offered::Concurrency(16)));
    assert_eq!(spec.load.levels, [("1x".to_owned(), 1.0)]);
    assert_eq!(spec.load.rounds, Rounds { min: 40, max: 40 });
    assert_eq!((spec.load.round, spec.load.warmup), (RoundLength::Times(1.0), WarmUp::Times(1.0)));
    assert_eq!((spec.load.min_time, spec.load.seed), (Duration::ZERO, 42));
    assert_eq!((spec.slo.confidence, spec.slo.rule_out), (Confidence::Level(0.95), 2.5));
    assert_eq!(spec.slo.on_inconclusive, OnInconclusive::Fail);
    assert_eq!(spec.buckets, Buckets { input: vec![1024, 8192], output: vec![300, 1000] });
    assert_eq!(spec.client_lag, Duration::from_millis(5));
    assert_eq!(spec.budget, Budget::default());
    assert_eq!(spec.digest.len(), 64);
}

#[test]
fn name_and_one_line_of_slo_are_all_that_a_judge_needs() {
    let spec = good("name: a\nslo: { advise: [ttft p99 <= 3s] }\n");
    assert_eq!(spec.target.url, None);
    assert_eq!(spec.load.offered, None);
    assert_eq!(needs_rules(&spec).unwrap().code, "nothing-can-fail");
    assert_eq!(needs_target(&spec).iter().map(|issue| issue.code).collect::<Vec<_>>(), ["no-target", "no-load"]);
    let spec = good(SHORTEST);
    assert_eq!(needs_rules(&spec), None);
    assert_eq!(needs_target(&spec), []);
}

/// The contract's example, less what later versions bring.
const WHOLE: &str = include_str!("whole.yaml");

#[test]
fn the_whole_example_reads_as_written() {
    let spec = good(WHOLE);
    assert_eq!(spec.use_case.as_deref(), Some("chat"));
    let target = &spec.target;
    assert_eq!(target.alias.as_deref(), Some("staging"));
    assert_eq!(target.hardware, Some(Hardware { name: "1x H100-SXM".into(), bandwidth: Some(3.35e12), price_per_hour: Some(2.5) }));
    assert_eq!(target.model_bytes, Some(16.41e9));
    assert_eq!(target.metrics, MetricsChoice::At("http://127.0.0.1:8000/metrics".parse().unwrap()));
    assert_eq!(target.timeout.first_token, Duration::from_secs(60));
    assert_eq!(serde_json::Value::Object(target.body.clone()), serde_json::json!({ "temperature": 0 }));
    assert_eq!(target.headers.get("x-tenant").map(String::as_str), Some("staging"));
    let part = &spec.workload.parts[0];
    assert_eq!((part.max_input, part.max_output), (Some(8192), Some(2048)));
    assert_eq!(spec.load.levels.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>(), ["1x", "1.5x", "2x"]);
    assert_eq!(spec.slo.request.len(), 3);
    assert_eq!(spec.slo.request[2].when, Condition { clauses: vec![(Field::OutputTokens, 0, 299)] });
    let rules = &spec.slo.rules;
    assert_eq!(rules.len(), 10);
    assert_eq!(rules[3].when, Condition { clauses: vec![(Field::InputTokens, 1024, 8192)] });
    assert_eq!((rules[4].level.as_str(), rules[3].level.as_str()), ("2x", "1x"));
    assert_eq!(rules[6].test, Test::Change { limit: Limit { relative: None, absolute: Some(0.02) } });
    assert_eq!(rules[8].test, Test::Change { limit: Limit { relative: Some(0.1), absolute: Some(1.0) } });
    assert_eq!(rules[9].stat, Quantile::from_percent(99.9));
    assert_eq!(spec.budget, Budget { time: Some(Duration::from_secs(1800)), tokens: Some(5_000_000), cost: Some(5.0) });
}

#[test]
fn every_form_of_lengths_and_load_reads() {
    let spec = good(
        "name: a\nworkload: { lengths: { input: \"lognormal(mean=800, sd=300)\", output: \"uniform(10, 2k)\" }, prompts: { file: p.jsonl } }\n\
         load: { rate: 12/s, arrival: gamma(shape=0.5), rounds: 20..120, round: 20s, warmup: 0 requests, min_time: 1m30s }\n\
         slo: { require: [errors <= 1%], confidence: point, rule_out: 1x, on_inconclusive: warn }\n",
    );
    assert_eq!(
        spec.workload.parts[0].lengths,
        Lengths::Formula { input: Distribution::Lognormal { mean: 800.0, sd: 300.0 }, output: Distribution::Uniform(10, 2048) }
    );
    assert_eq!(files(&spec), [std::path::PathBuf::from("p.jsonl")]);
    assert_eq!(spec.load.offered, Some(Offered::Rate { per_second: 12.0, arrival: Arrival::Gamma { shape: 0.5 } }));
    assert_eq!(spec.load.rounds, Rounds { min: 20, max: 120 });
    assert_eq!((spec.load.round, spec.load.warmup), (RoundLength::Time(Duration::from_secs(20)), WarmUp::Requests(0)));
    assert_eq!(spec.load.min_time, Duration::from_secs(90));
    assert_eq!((spec.slo.confidence, spec.slo.on_inconclusive), (Confidence::Point, OnInconclusive::Warn));
}

#[test]
fn the_client_may_lag_one_per_cent_of_the_tightest_ttft_limit() {
    let lag = |slo: &str| good(&format!("name: a\nslo: {slo}\n")).client_lag;
    assert_eq!(lag("{ request: [ttft <= 2s], require: [ttft p99 <= 900ms, tpot p95 <= 1ms] }"), Duration::from_millis(9));
    assert_eq!(lag("{ require: [errors <= 1%] }"), Duration::from_millis(5));
}

#[test]
fn a_preset_parses_without_a_warning() {
    let text = include_str!("../../../gate-configs/chat.yaml");
    let checked = parse(&source(text), &Permissions::default()).unwrap();
    assert_eq!(checked.warnings, []);
    let limits: Vec<(Metric, f64)> = checked.spec.slo.request.iter().map(|line| (line.metric, line.value)).collect();
    assert_eq!(limits, [(Metric::Ttft, 500.0), (Metric::Tpot, 50.0)]);
}

#[test]
fn published_objectives_can_be_written() {
    // tests/cases/slos: the file, the list, the lines.
    let cases: &[(&str, &str, &[&str])] = &[
        ("02", "require", &["ttft p99 <= 450ms", "tpot p99 <= 40ms"]),
        ("04", "require", &["e2e p99 <= 12s"]),
        ("06", "request", &["ttft <= 200ms", "tpot <= 25ms"]),
        ("06", "require", &["goodput >= 99%"]),
        ("08", "request", &["ttft <= 0.2s", "tpot <= 0.02s"]),
        ("12", "require", &["ttft p95 < 500ms", "speed p5 > 30 tok/s"]),
        ("14", "regression", &["ttft p95 rises <= 5%", "throughput_rps drops <= 3%"]),
        ("16", "require", &["ttft p50 <= 1s"]),
        ("16", "advise", &["ttft p95 <= 2s"]),
        ("18", "advise", &["ttft p90 <= 1s", "ttft p99 <= 3s"]),
        ("20", "require", &["errors <= 0%"]),
    ];
    for (case, list, lines) in cases {
        for line in *lines {
            let spec = good(&with_line(list, line));
            assert_eq!(spec.slo.request.len() + spec.slo.rules.len(), 1, "case {case}: {line}");
        }
    }
    // 10 is a mean over months: no rule can say it, and the answer says what can.
    let shown = super::shown(&with_line("require", "speed mean >= 25 tok/s"));
    assert!(shown.contains("a mean cannot be a rule"), "{shown}");
}

#[test]
fn what_if_takes_a_constraint() {
    let constraint = parse_what_if("tpot <= 15ms").unwrap();
    assert_eq!((constraint.metric, constraint.value), (Metric::Tpot, 15.0));
    let issue = parse_what_if("tpot p99 <= 15ms").unwrap_err();
    assert_eq!((issue.code, issue.position), ("stat-in-constraint", Some((1, 6))));
}

#[test]
fn flags_take_the_place_of_what_the_file_says() {
    let overrides = Overrides {
        model: Some("m".into()),
        api: Some("completions".into()),
        rate: Some("3/s".into()),
        rounds: Some("15".into()),
        seed: Some(7),
        set: vec![
            ("slo.confidence".into(), "90%".into()),
            ("load.levels".into(), "[1x, 2x]".into()),
            ("target.body.top_p".into(), "0.5".into()),
        ],
        ..Overrides::default()
    };
    let permissions = Permissions { overrides, endpoint: Some("sim://steady".into()), ..Permissions::default() };
    let spec = parse(&source(SHORTEST), &permissions).unwrap().spec;
    assert_eq!(spec.target.url, Some(TargetUrl::Sim("sim://steady".into())));
    assert_eq!((spec.target.model.as_deref(), spec.target.api), (Some("m"), ApiChoice::Fixed(Api::Completions)));
    assert_eq!(spec.load.offered, Some(Offered::Rate { per_second: 3.0, arrival: Arrival::Poisson }));
    assert_eq!((spec.load.rounds.max, spec.load.seed, spec.load.levels.len()), (15, 7, 2));
    assert_eq!(spec.slo.confidence, Confidence::Level(0.9));
    assert_eq!(spec.target.body["top_p"], serde_json::json!(0.5));
    for (key, code) in [("load.conc", "unknown-key"), ("target.url", "not-by-flag"), ("slo.rule_out", "missing-unit")] {
        let overrides = Overrides { set: vec![(key.into(), "3".into())], ..Overrides::default() };
        let codes = super::codes(SHORTEST, &Permissions { overrides, ..Permissions::default() });
        assert_eq!(codes, [format!("- {code}")], "{key}");
    }
}

#[test]
fn explain_shows_every_key_in_place() {
    let checked = parse(&source(SHORTEST), &Permissions::default()).unwrap();
    let text = explain(&checked);
    for line in [
        "name: chat\n",
        "  url: http://127.0.0.1:8000/v1\n",
        "    first_token: 60s # default\n",
        "  concurrency: 16\n",
        "  rounds: 40 # default\n",
        "  require: [goodput >= 95%]\n",
        "  rule_out: 2.5x # default\n",
        "  client_lag: 5ms # default\n",
        "  # time: none # default\n",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    // What it prints is a spec again, and the same one.
    let again = good(&text);
    assert_eq!(Spec { digest: String::new(), ..again }, Spec { digest: String::new(), ..checked.spec });
    let whole = parse(&source(WHOLE), &Permissions::default()).unwrap();
    let again = good(&explain(&whole));
    assert_eq!(Spec { digest: String::new(), ..again }, Spec { digest: String::new(), ..whole.spec });
}
