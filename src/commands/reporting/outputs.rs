//! The step's outputs, for the workflow's later steps.

use super::Outcome;
use crate::report::Report;
use std::path::Path;

/// Every output, in the order of the action's own list; empty where nothing is known.
pub(super) fn of(outcome: &Outcome<'_>, comment_url: Option<String>) -> Vec<(&'static str, String)> {
    let (report, out) = match outcome {
        Outcome::Judged { report, out, .. } => (Some(*report), Some(*out)),
        Outcome::Stopped { .. } => (None, None),
    };
    let level = report.and_then(Report::main_level);
    let figure = |value: Option<f64>| value.map(rounded).unwrap_or_default();
    let file = |name: &str| out.map(|out| path(out, name)).unwrap_or_default();
    let verdict = report.and_then(|report| report.verdict.as_ref());
    vec![
        ("verdict", verdict.map_or("error", |verdict| verdict.status.name()).to_owned()),
        ("exit-code", outcome.exit().code().to_string()),
        ("goodput", figure(level.and_then(|level| level.goodput))),
        ("goodput-rps", figure(level.and_then(|level| level.goodput_rps))),
        ("ttft-p99-ms", figure(level.and_then(|level| level.ttft.p99))),
        ("tpot-p99-ms", figure(level.and_then(|level| level.tpot.p99))),
        ("report-json", file("verdict.json")),
        ("report-html", file("report.html")),
        ("report-md", file("report.md")),
        ("comment-url", comment_url.unwrap_or_default()),
        ("baseline-sha", verdict.and_then(|verdict| verdict.baseline.commit.clone()).unwrap_or_default()),
    ]
}

/// A file that was written; one that could not be is not named.
fn path(out: &Path, name: &str) -> String {
    let path = out.join(name);
    if path.is_file() { path.display().to_string() } else { String::new() }
}

/// Six decimals at most: scripts compare these, and people read them.
fn rounded(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
