use super::*;
use crate::report::terminal::Look;
use crate::search::{Held, Settings, Stop, findings};

fn point(load: f64, held: Held, good: f64, done: f64) -> Point {
    Point {
        load,
        held,
        effort: 1,
        rounds: 40,
        requests: 1020,
        tokens: 500_000,
        seconds: 60.0,
        ttft_p99_ms: Some(100.0 + load * 10.0),
        goodput: Some(good / done),
        goodput_rps: Some(good),
        throughput_rps: Some(done),
        throughput_tps: Some(done * 100.0),
        why: if held == Held::Holds { String::new() } else { "ttft p99 <= 500ms is broken".to_owned() },
    }
}

fn report() -> CapacityReport {
    let settings = Settings::around(Axis::Concurrency, 16.0);
    let points = [
        point(4.0, Held::Holds, 4.0, 4.0),
        point(16.0, Held::Holds, 9.0, 9.5),
        point(32.0, Held::Breaks, 7.0, 12.0),
        point(31.0, Held::Holds, 10.0, 11.7),
    ];
    let found = findings(&settings, &points, Stop::Found);
    let rows = points.into_iter().map(|point| (point, Some("points/01/run.jsonl.zst".to_owned()))).collect();
    CapacityReport { rules: vec!["goodput >= 95%".to_owned()], ..CapacityReport::new("chat".to_owned(), Axis::Concurrency, found, rows) }
}

#[test]
fn the_first_lines_say_the_capacity_its_bracket_and_how_far_the_peaks_are_apart() {
    let text = terminal(&report(), Look { color: false, width: 200 });
    for said in [
        "CAPACITY chat\n  the SLO holds up to 31 in flight (broken at 32), 93.8 % above the target load of 16; 4080 requests in 4 points",
        "knee of TTFT: 16 in flight",
        "goodput peak: 31 in flight, 10.0 /s good requests",
        "throughput peak: 32 in flight, 12.0 /s requests: 3.2 % above the goodput peak",
        "32: ttft p99 <= 500ms is broken",
        "had to hold at each load: goodput >= 95%",
    ] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    let narrow = terminal(&report(), Look { color: false, width: 80 });
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
}

#[test]
fn markdown_and_json_say_the_same() {
    let text = markdown(&report());
    assert!(text.starts_with("## Capacity: chat\n\nthe SLO holds up to 31 in flight") && text.contains("| 31 | holds |"), "{text}");
    let value: serde_json::Value = serde_json::from_str(&json(&report())).unwrap();
    assert_eq!((&value["capacity"], &value["breaks"], &value["stop"]), (&31.0.into(), &32.0.into(), &"found".into()));
    assert_eq!(value["points"].as_array().unwrap().len(), 4);
    assert!(value["headroom_high"].as_f64().unwrap() < 1.0);
    assert!(schema()["properties"]["capacity"].is_object());
}

#[test]
fn hostile_texts_are_made_harmless() {
    let mut report = report();
    report.name = "a\u{1b}[31m@team".to_owned();
    report.points[2].0.why = "::error::x <img src=x>".to_owned();
    let text = terminal(&report, Look { color: false, width: 80 });
    assert!(!text.contains('\u{1b}') && !text.contains(" ::error"), "{text}");
    assert!(!markdown(&report).contains("<img"));
    assert!(!json(&report).contains('\u{1b}'));
}
