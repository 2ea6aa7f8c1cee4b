//! A search in words.

use crate::search::{Axis, Findings, Stop};
use crate::units::{Unit, show};

/// `16 in flight`, `2.09 requests/s`.
pub(super) fn load(axis: Axis, load: f64) -> String {
    match axis {
        Axis::Concurrency => format!("{load:.0} in flight"),
        Axis::Rate => format!("{} requests/s", bare(load)),
    }
}

/// A load without its unit.
pub(super) fn number(axis: Axis, load: f64) -> String {
    match axis {
        Axis::Concurrency => format!("{load:.0}"),
        Axis::Rate => bare(load),
    }
}

fn bare(rate: f64) -> String {
    show(rate, Unit::PerSecond).trim_end_matches(" /s").to_owned()
}

/// The findings in one sentence.
pub(super) fn of(axis: Axis, found: &Findings, points: usize) -> String {
    let effort = format!("{} requests in {points} points", found.requests);
    let Some(capacity) = found.capacity else {
        return match (found.stop, found.breaks) {
            (Stop::Unmeasurable, _) => format!("no capacity: the lowest load could not be measured ({effort})"),
            (_, Some(broken)) if found.stop == Stop::LowestBreaks => {
                format!("no capacity: the SLO is broken at the lowest load already, {} ({effort})", load(axis, broken))
            }
            _ => format!("no capacity found: no load was shown to hold ({effort}); {}", why_ended(found.stop)),
        };
    };
    let upper = match found.breaks {
        Some(broken) => format!("broken at {}", number(axis, broken)),
        None if found.is_cut_by_client => "higher loads could not be measured by this client".to_owned(),
        None => "no load measured breaks it".to_owned(),
    };
    let apart = found.headroom.0;
    let side = if apart < 0.0 { "below" } else { "above" };
    let target = format!("{} {side} the target load of {}", show(apart.abs(), Unit::Share), number(axis, found.target));
    let ended = if matches!(found.stop, Stop::Found) { String::new() } else { format!("; {}", why_ended(found.stop)) };
    format!("the SLO holds up to {} ({upper}), {target}{ended}; {effort}", load(axis, capacity))
}

/// Why the search ended, for people.
pub(super) fn why_ended(stop: Stop) -> &'static str {
    match stop {
        Stop::Found => "the search came to its end",
        Stop::LowestBreaks => "the lowest load breaks the SLO",
        Stop::Ceiling => "the highest load that may be offered still holds (--to raises it)",
        Stop::Unmeasurable => "the lowest load could not be measured",
        Stop::Points => "its points were used up (--points allows more)",
        Stop::Budget => "the budget ended the search",
        Stop::Lost => "the target could not be reached any more",
        Stop::Interrupted => "a signal ended the search",
    }
}

/// The knee and both peaks, and how far apart they are, a line each.
pub(super) fn landmarks(axis: Axis, found: &Findings) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(knee) = found.knee {
        let text = format!("{}, P99 {}: beyond it TTFT is queueing", load(axis, knee.load), show(knee.value, Unit::Ms));
        lines.push(("knee of TTFT", text));
    }
    if let Some(peak) = found.goodput_peak {
        lines.push(("goodput peak", format!("{}, {} good requests", load(axis, peak.load), show(peak.value, Unit::PerSecond))));
    }
    if let Some(peak) = found.throughput_peak {
        let apart = match found.peaks_apart() {
            Some(apart) if apart > 0.005 => format!(": {} above the goodput peak", show(apart, Unit::Share)),
            _ => String::new(),
        };
        lines.push(("throughput peak", format!("{}, {} requests{apart}", load(axis, peak.load), show(peak.value, Unit::PerSecond))));
    }
    if let Some(apart) = found.capacity_from_peak() {
        let side = if apart < 0.0 { "below" } else { "above" };
        let far = if apart.abs() < 0.005 { "at".to_owned() } else { format!("{} {side}", show(apart.abs(), Unit::Share)) };
        lines.push(("capacity", format!("{far} the load where goodput is highest")));
    }
    lines
}
