//! Each exit code through the real binary: `fail` never looks like trouble, and trouble never like `fail`.

use crate::common::Place;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

/// A short load on a simulated server: 12 rounds of 12 requests of about 50 ms.
fn spec(url: &str, slo: &str) -> String {
    format!(
        "name: codes\n\
         target: {{ url: \"{url}\" }}\n\
         workload: {{ lengths: {{ input: \"uniform(10, 20)\", output: \"uniform(3, 5)\" }} }}\n\
         load: {{ concurrency: 12, rounds: 12, round: 12 requests, warmup: 12 requests }}\n\
         slo: {{ {slo} }}\n\
         validity: {{ client_lag: 2s }}\n"
    )
}

const SIM: &str = "sim://steady?ttft=20ms&tpot=5ms";

/// A server that answers every connection with `answer`.
fn raw(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 65_536]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn a_kept_slo_is_0_and_a_broken_limit_10_with_the_rule_and_by_how_much() {
    let place = Place::new();
    place.file("pass.yaml", &spec(SIM, "request: [ttft <= 3s], require: [goodput >= 50%, ttft p50 <= 3s]"));
    let done = place.gate().args(["check", "pass.yaml"]).expect(0);
    assert!(done.stdout.starts_with("PASS"), "{}", done.stdout);
    let verdict = place.json("goodput-out/verdict.json");
    assert_eq!((&verdict["verdict"], &verdict["exit_code"]), (&"pass".into(), &0.into()));

    place.file("fail.yaml", &spec(SIM, "require: [ttft p50 <= 1ms]"));
    let done = place.gate().args(["check", "fail.yaml"]).expect(10);
    assert!(done.stdout.starts_with("FAIL") && done.stdout.contains("ttft p50 <= 1ms"), "{}", done.stdout);
    let verdict = place.json("goodput-out/verdict.json");
    let rule = &verdict["rules"][0];
    assert_eq!((&rule["status"], &rule["limit"], &rule["unit"]), (&"fail".into(), &1.0.into(), &"ms".into()));
    assert!(rule["low"].as_f64().unwrap() > 1.0 && rule["observed"].as_f64().unwrap() >= 20.0);
}

#[test]
fn what_cannot_be_told_is_12_or_a_warning() {
    let place = Place::new();
    // 144 requests cannot rule out that 2.46 % of them are over a P99 limit.
    let slo = "require: [ttft p99 <= 3s], rule_out: 1x";
    place.file("a.yaml", &spec(SIM, slo));
    let done = place.gate().args(["check", "a.yaml"]).expect(12);
    assert!(done.stdout.starts_with("INCONCLUSIVE"), "{}", done.stdout);
    assert!(done.stderr.contains("cannot pass even if every request is good"), "{}", done.stderr);
    place.file("b.yaml", &spec(SIM, &format!("{slo}, on_inconclusive: warn")));
    place.gate().args(["check", "b.yaml"]).expect(0);
    assert_eq!(place.json("goodput-out/verdict.json")["verdict"], "inconclusive");
}

#[test]
fn a_misspelt_key_is_2_with_line_column_and_the_near_name_and_nothing_is_sent() {
    let place = Place::new();
    place.file("a.yaml", &spec(SIM, "require: [errors <= 1%]").replace("concurrency", "concurency"));
    let done = place.gate().args(["check", "a.yaml"]).expect(2);
    assert!(done.stderr.contains("a.yaml:4:9") && done.stderr.contains("`concurrency`"), "{}", done.stderr);
    assert!(!place.path().join("goodput-out/run.jsonl.zst").exists());
    assert_eq!(done.stdout, "");
}

#[test]
fn a_spec_without_a_deciding_rule_is_2_for_check_and_fine_for_run() {
    let place = Place::new();
    place.file("a.yaml", &spec(SIM, "request: [ttft <= 3s]"));
    let done = place.gate().args(["check", "a.yaml"]).expect(2);
    assert!(done.stderr.contains("nothing here can fail"), "{}", done.stderr);
    place.gate().args(["run", "a.yaml"]).expect(0);
    place.gate().args(["validate", "a.yaml"]).expect(0);
}

#[test]
fn a_closed_port_and_a_refused_key_are_4() {
    let place = Place::new();
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    place.file("a.yaml", &spec(&closed, "require: [errors <= 100%]"));
    let done = place.gate().args(["check", "a.yaml"]).expect(4);
    assert!(done.stderr.contains("--wait"), "{}", done.stderr);
    // Without probes it is the planned requests that find it out, and they stop early.
    place.gate().args(["check", "a.yaml", "--no-calibrate", "--model", "m"]).expect(4);
    let sent = place.run_lines("goodput-out/run.jsonl.zst").iter().filter(|line| line["type"] == "request").count();
    assert!((24..=60).contains(&sent), "{sent} requests were sent to a closed port");
    for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found"] {
        let answer: &'static str = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").leak();
        place.file("b.yaml", &spec(&raw(answer), "require: [errors <= 100%]"));
        place.gate().args(["check", "b.yaml", "--no-calibrate", "--model", "m"]).expect(4);
        place.gate().args(["run", "b.yaml", "--no-calibrate", "--model", "m"]).expect(4);
    }
}

#[test]
fn a_run_in_which_every_request_fails_is_6_even_where_any_error_rate_is_allowed() {
    let place = Place::new();
    let url = raw("HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\nconnection: close\r\n\r\noops");
    place.file("a.yaml", &spec(&url, "require: [errors <= 100%]"));
    let done = place.gate().args(["check", "a.yaml", "--no-calibrate", "--model", "m"]).expect(6);
    assert!(done.stdout.starts_with("INVALID"), "{}", done.stdout);
    place.gate().args(["run", "a.yaml", "--no-calibrate", "--model", "m"]).expect(6);
}

#[test]
fn too_few_rounds_and_a_rule_without_data_are_6() {
    let place = Place::new();
    place.file("a.yaml", &spec(SIM, "require: [errors <= 50%]"));
    place.gate().args(["check", "a.yaml", "--rounds", "3"]).expect(6);
    place.file("b.yaml", &spec(SIM, "require: [errors <= 50%, ttft p50 <= 3s when input_tokens > 8k]"));
    let done = place.gate().args(["check", "b.yaml"]).expect(6);
    assert!(done.stdout.contains("no data"), "{}", done.stdout);
}

#[test]
fn a_named_or_required_baseline_that_cannot_be_used_is_5_before_any_load() {
    let place = Place::new();
    place.file("a.yaml", &spec(SIM, "require: [errors <= 50%], regression: [ttft p50 rises <= 100%]"));
    place.file("goodput-out/verdict.json", "of an earlier run");
    place.gate().args(["check", "a.yaml", "--baseline", "none-there.zst"]).expect(5);
    assert!(!place.path().join("goodput-out/verdict.json").exists(), "an earlier verdict could be taken for this one's");
    place.gate().args(["check", "a.yaml", "--require-baseline"]).expect(5);
    place.file("broken.jsonl.zst", "rubbish");
    place.gate().args(["check", "a.yaml", "--baseline", "broken.jsonl.zst"]).expect(5);
    assert_eq!(place.read("broken.jsonl.zst"), "rubbish");
    place.file("only.yaml", &spec(SIM, "regression: [ttft p50 rises <= 100%]"));
    place.gate().args(["check", "only.yaml"]).expect(5);
    assert!(!place.path().join("goodput-out/run.jsonl.zst").exists(), "load was sent before the baseline was found missing");
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written_is_7_beside_a_pass_and_hides_no_fail() {
    let place = Place::new();
    for (name, slo, code) in [("pass", "require: [ttft p50 <= 3s]", 7), ("fail", "require: [ttft p50 <= 1ms]", 10)] {
        place.file("a.yaml", &spec(SIM, slo));
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = place.gate().args(["check", "a.yaml"]).command().stdout(full).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_is_130_and_keeps_whole_rounds_that_judge_can_read() {
    let place = Place::new();
    place.file("a.yaml", &spec("sim://steady?ttft=50ms&tpot=5ms", "require: [errors <= 50%]").replace("rounds: 12", "rounds: 4000"));
    let mut child =
        place.gate().args(["check", "a.yaml", "--quiet"]).command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let file = place.path().join("goodput-out/run.jsonl.zst");
    for _ in 0..600 {
        std::thread::sleep(Duration::from_millis(50));
        if std::fs::metadata(&file).is_ok_and(|meta| meta.len() > 4_000) {
            break;
        }
    }
    // As a shell would: by its own process id.
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let lines = place.run_lines("goodput-out/run.jsonl.zst");
    let end = lines.last().unwrap();
    assert_eq!((&end["type"], &end["reason"]), (&"end".into(), &"interrupted".into()));
    assert!(lines.iter().any(|line| line["type"] == "round"));
    assert!(!place.path().join("goodput-out/verdict.json").exists());
    let judged = place.gate().args(["judge", "goodput-out/run.jsonl.zst", "--spec", "a.yaml"]).run();
    assert!(matches!(judged.code, 0 | 6 | 12), "{}", judged.stdout);
}

#[test]
fn usage_errors_are_2_and_help_is_0() {
    let place = Place::new();
    for args in
        [vec!["check"], vec!["nonsense"], vec!["check", "none-there.yaml"], vec!["check", "none"], vec!["judge", "x", "--spec", "y"]]
    {
        place.gate().args(args).expect(2);
    }
    let done = place.gate().args(["--help"]).expect(0);
    assert!(done.stdout.contains("Exit codes:") && done.stdout.contains("130"));
    place.gate().args(["check", "--help"]).expect(0);
    place.gate().args(["--version"]).expect(0);
}
