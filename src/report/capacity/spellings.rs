//! The terminal's and Markdown's spelling of a search.

use super::CapacityReport;
use super::sentence::{landmarks, number, why_ended};
use crate::report::markdown::{code, folded, plain, table};
use crate::report::table::align;
use crate::report::terminal::Look;
use crate::report::text::{visible, wrap};
use crate::search::{Axis, Held, Point, Stop};
use crate::units::{Unit, show};
use crate::verdict::Status;
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

const NOTHING: &str = "-";

fn heads(axis: Axis) -> [&'static str; 7] {
    let load = match axis {
        Axis::Concurrency => "in flight",
        Axis::Rate => "requests/s",
    };
    [load, "SLO", "TTFT P99", "goodput", "good/s", "done/s", "requests"]
}

/// Points from the lowest load up, repeats in the order measured.
fn rows(report: &CapacityReport) -> Vec<(&Point, Vec<String>)> {
    let mut points: Vec<&Point> = report.points.iter().map(|(point, _)| point).collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    let spelt = |value: Option<f64>, unit: Unit| {
        value.map_or_else(|| NOTHING.to_owned(), |value| show(value, unit).trim_end_matches(" /s").to_owned())
    };
    points
        .into_iter()
        .map(|point| {
            let cells = vec![
                number(report.axis, point.load),
                point.held.name().to_owned(),
                spelt(point.ttft_p99_ms, Unit::Ms),
                spelt(point.goodput, Unit::Share),
                spelt(point.goodput_rps, Unit::PerSecond),
                spelt(point.throughput_rps, Unit::PerSecond),
                point.requests.to_string(),
            ];
            (point, cells)
        })
        .collect()
}

/// Why each load that does not hold does not, once a load.
fn reasons(report: &CapacityReport) -> Vec<String> {
    let shown = rows(report).into_iter().filter(|(point, _)| point.held != Held::Holds && !point.why.is_empty());
    shown.map(|(point, _)| format!("{}: {}", number(report.axis, point.load), point.why)).collect()
}

fn judged_by(report: &CapacityReport) -> String {
    let constraints = if report.constraints.is_empty() { String::new() } else { format!(" (good: {})", report.constraints.join(", ")) };
    format!("{}{constraints}", report.rules.join(", "))
}

fn headroom(report: &CapacityReport) -> Vec<(Status, &str, &str)> {
    report.headroom.iter().map(|row| (row.status, row.rule.as_str(), row.why.as_str())).collect()
}

/// Spells `report` for a terminal or a CI log.
#[must_use]
pub fn terminal(report: &CapacityReport, look: Look) -> String {
    let mut out = String::new();
    let style = |text: &str, style: Style| if look.color { format!("{style}{text}{style:#}") } else { text.to_owned() };
    let color = if report.exit_code == 0 { AnsiColor::Green } else { AnsiColor::Red };
    let word = style("CAPACITY", Style::new().bold().fg_color(Some(color.into())));
    let _ = writeln!(out, "{word} {}", style(&visible(&report.name), Style::new().bold()));
    let line = |out: &mut String, text: &str| {
        let _ = writeln!(out, "  {}", wrap(&visible(text), look.width, 2));
    };
    line(&mut out, &report.summary);
    for (label, text) in landmarks(report.axis, &report.findings) {
        line(&mut out, &format!("{label}: {text}"));
    }
    for (status, rule, why) in headroom(report) {
        line(&mut out, &format!("{} {rule}: {why}", status.name()));
    }
    let _ = writeln!(out, "\n{}", style("points", Style::new().bold()));
    let body: Vec<Vec<String>> = rows(report).into_iter().map(|(_, cells)| cells).collect();
    for text in align(&heads(report.axis), &body, 2) {
        let _ = writeln!(out, "{}", text.trim_end());
    }
    for reason in reasons(report) {
        line(&mut out, &reason);
    }
    line(&mut out, &format!("had to hold at each load: {}", judged_by(report)));
    if report.findings.stop != Stop::Found {
        line(&mut out, why_ended(report.findings.stop));
    }
    if !report.files.is_empty() {
        let _ = writeln!(out, "\n{}", style("files", Style::new().bold()));
        report.files.iter().for_each(|file| line(&mut out, file));
    }
    out
}

/// Spells `report` for a job summary or a wiki.
#[must_use]
pub fn markdown(report: &CapacityReport) -> String {
    let mut out = format!("## Capacity: {}\n\n{}\n\n", plain(&report.name), plain(&report.summary));
    for (label, text) in landmarks(report.axis, &report.findings) {
        let _ = writeln!(out, "- {label}: {}", plain(&text));
    }
    for (status, rule, why) in headroom(report) {
        let _ = writeln!(out, "- {} {}: {}", status.name(), code(rule), plain(why));
    }
    let body = rows(report).into_iter().map(|(_, cells)| cells.iter().map(|cell| plain(cell)).collect());
    let _ = write!(out, "\n{}", table(&heads(report.axis), 2, body));
    let reasons: String = reasons(report).iter().map(|reason| format!("- {}\n", plain(reason))).collect();
    if !reasons.is_empty() {
        out.push_str(&folded("Why the others do not hold", &reasons));
    }
    let ended = if report.findings.stop == Stop::Found { String::new() } else { format!(" {}.", plain(why_ended(report.findings.stop))) };
    let _ = writeln!(out, "\nHad to hold at each load: {}.{ended}", code(&judged_by(report)));
    out
}
