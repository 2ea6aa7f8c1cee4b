use super::*;
use crate::units::Nanos;
use crate::wire::{ErrorKind, Failure, Outcome, TokenSource};

fn answer() -> Request {
    Request {
        id: 0,
        side: Side::Candidate,
        part: None,
        session: None,
        level: 0,
        round: None,
        turn: 0,
        scheduled: Nanos(1_234_567),
        sent: Nanos(1_240_001),
        connect: Some(Nanos(77)),
        headers: Some(Nanos(5_000_001)),
        first_token: Some(Nanos(200_000_003)),
        first_answer: Some(Nanos(200_000_003)),
        last_token: Some(Nanos(260_000_009)),
        closed: Some(Nanos(261_000_000)),
        input_tokens: Some(17),
        output_tokens: Some(4),
        asked_input: 16,
        asked_output: 4,
        cached_tokens: Some(0),
        token_source: Some(TokenSource::Usage),
        events: 4,
        gaps: vec![Nanos(20_000_001), Nanos(20_000_002), Nanos(20_000_003)],
        stall: Some(Nanos(20_000_003)),
        finish_reason: Some("length".into()),
        outcome: Outcome::Ok,
        http_status: Some(200),
        warnings: vec!["done_missing".into()],
    }
}

fn conditions(level: LevelInfo) -> Conditions {
    Conditions {
        run_id: "r1".into(),
        tool: "goodput-gate 0.1.0".into(),
        name: "chat".into(),
        spec_digest: "ab".into(),
        limits: vec!["ttft <= 500ms".into()],
        target: TargetInfo { label: "http://127.0.0.1:1".into(), api: "chat".into(), model: "m".into(), hardware: None, server: None },
        workload: WorkloadInfo { digest: "cd".into(), input_p50_p95: Some((10, 20)), ..WorkloadInfo::default() },
        load: LoadInfo { concurrency: Some(2), rate: None, arrival: "closed".into(), levels: vec![level] },
        seed: 42,
        started: "2026-01-01T00:00:00Z".into(),
        host_digest: "ef".into(),
        commit: None,
        pull_request: Some(7),
        definitions: 1,
        flags: vec!["--seed=42".into()],
        calibrated: true,
    }
}

fn recording() -> Recording {
    let level = LevelInfo {
        label: "1x".into(),
        factor: 1.0,
        concurrency: Some(2),
        rate: None,
        rounds: 2,
        round_requests: vec![1, 1],
        warmup: 1,
        lead: 0,
    };
    let ok = answer();
    let failed = Request {
        id: 1,
        round: Some(0),
        first_token: None,
        first_answer: None,
        last_token: None,
        output_tokens: None,
        gaps: vec![],
        stall: None,
        outcome: Outcome::Error(Failure::new(ErrorKind::HttpStatus, "no\nroom \u{1b}[31m")),
        http_status: Some(503),
        ..ok.clone()
    };
    let last = Request { id: 2, round: Some(1), ..ok.clone() };
    Recording {
        conditions: conditions(level),
        headroom: Some((0.4, f64::INFINITY)),
        requests: vec![ok, failed, last],
        rounds: vec![
            RoundEnd { level: 0, round: 0, requests: 1, gaps: None },
            RoundEnd { level: 0, round: 1, requests: 1, gaps: Some(vec![(20_000, 3)]) },
        ],
        client: vec![ClientSample {
            at: Nanos(5),
            loop_lag_max: Nanos(9),
            loop_lag_p99: Nanos(8),
            cpu_share: Some(0.25),
            in_flight: 2,
            clock_step_ms: Some(-1.5),
        }],
        end: Some(End {
            at: Nanos(300_000_000),
            ended: "2026-01-01T00:00:01Z".into(),
            reason: EndReason::Complete,
            requests: 3,
            errors: 1,
            levels: vec![LevelEnd { level: 0, planned_rounds: 2, whole_rounds: 2, look: None, alpha: None }],
        }),
        damage: vec![],
    }
}

fn lines(recording: &Recording) -> Vec<String> {
    let bytes = zstd::stream::decode_all(encode(recording).unwrap().as_slice()).unwrap();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn what_is_written_is_read_back_to_the_nanosecond() {
    let recording = recording();
    assert_eq!(decode(&encode(&recording).unwrap()).unwrap(), recording);
}

#[test]
fn plain_json_lines_are_read_too() {
    let recording = recording();
    let text = lines(&recording).join("\n") + "\n";
    assert_eq!(decode(text.as_bytes()).unwrap(), recording);
}

#[test]
fn only_request_lines_have_an_outcome_and_the_unknown_is_null() {
    for line in lines(&recording()) {
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value.get("outcome").is_some(), value["type"] == "request", "{line}");
        if value["outcome"] == "error" {
            assert!(value["ttft_ms"].is_null() && value["tpot_ms"].is_null() && value["output_tokens"].is_null());
            assert_eq!(value["error"], "no room  [31m");
        }
    }
}

#[test]
fn a_file_cut_anywhere_gives_its_whole_lines_or_a_clear_error() {
    let recording = recording();
    let mut bytes = Vec::new();
    for (index, line) in lines(&recording).iter().enumerate() {
        // One frame a line: the worst case of a run killed between any two flushes.
        bytes.extend(zstd::bulk::compress(format!("{line}\n").as_bytes(), 3).unwrap());
        if index == 0 {
            let whole = decode(&bytes).unwrap();
            assert_eq!((whole.requests.len(), whole.end), (0, None));
        }
    }
    let mut seen = 0;
    for cut in 1..bytes.len() {
        if let Ok(part) = decode(&bytes[..cut]) {
            assert!(part.requests.len() >= seen, "a longer file lost requests at {cut}");
            assert!(recording.requests.starts_with(&part.requests));
            assert!(part.headroom.is_none() && (part.end.is_none() || part.end == recording.end));
            seen = part.requests.len();
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn a_damaged_line_is_named_and_costs_only_itself() {
    let mut text = lines(&recording());
    text[2] = "{\"type\":\"request\",\"id\":".to_owned();
    let read = decode((text.join("\n") + "\n").as_bytes()).unwrap();
    assert_eq!(read.requests.len(), 2);
    assert!(read.damage[0].starts_with("line 3:"), "{:?}", read.damage);
}

#[test]
fn foreign_newer_and_empty_files_are_told_apart() {
    assert_eq!(decode(b""), Err(RecordError::Empty));
    assert!(matches!(decode(b"{}\n"), Err(RecordError::Foreign(_))));
    assert!(matches!(decode(b"\x28\xb5\x2f\xfdrubbish"), Err(RecordError::Foreign(_))));
    assert!(matches!(decode(br#"{"type":"run","format":"goodput-gate/run/9"}"#), Err(RecordError::Newer(_))));
}

#[test]
fn impossible_times_and_repeated_requests_are_never_read_as_data() {
    let text = lines(&recording());
    for (field, value) in [("ttft_ms", "-5.0"), ("e2e_ms", "1.0"), ("scheduled_ms", "1e300"), ("closed_ms", "-0.1")] {
        let mut changed = text.clone();
        let mut line: serde_json::Value = serde_json::from_str(&changed[1]).unwrap();
        line[field] = serde_json::from_str(value).unwrap();
        changed[1] = line.to_string();
        let read = decode((changed.join("\n") + "\n").as_bytes()).unwrap();
        assert_eq!((read.requests.len(), read.damage.len()), (2, 1), "{field} = {value}");
    }
    let twice = [&text[..3], &text[1..]].concat();
    assert_eq!(decode((twice.join("\n") + "\n").as_bytes()), Err(RecordError::Twice(0)));
}
