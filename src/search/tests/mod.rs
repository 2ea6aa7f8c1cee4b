//! The search on curves that are known: made up, and of a queue in virtual time.

mod curves;
mod queue;

use super::*;

/// A point with nothing but its load and what became of it.
fn point(load: f64, held: Held) -> Point {
    Point {
        load,
        held,
        effort: 1,
        rounds: 40,
        requests: 1000,
        tokens: 100_000,
        seconds: 60.0,
        ttft_p99_ms: Some(100.0),
        goodput: None,
        goodput_rps: None,
        throughput_rps: None,
        throughput_tps: None,
        why: String::new(),
    }
}

/// Searches to the end; `measure` makes a point of a load and an effort.
fn search(settings: &Settings, mut measure: impl FnMut(f64, u32) -> Point) -> (Vec<Point>, Findings) {
    let mut points = Vec::new();
    loop {
        match next(settings, &points) {
            Next::Measure { load, effort } => points.push(measure(load, effort)),
            Next::Done(stop) => {
                let findings = findings(settings, &points, stop);
                return (points, findings);
            }
        }
        assert!(points.len() < 1000, "the search does not end");
    }
}
