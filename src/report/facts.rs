//! What stands beside the tables: a level's counts and rates, and under what the run was made.

use super::Report;
use super::rows::{maybe, per_second};
use crate::record::Conditions;
use crate::summary::LevelTable;
use crate::units::{Unit, show};
use crate::verdict::{EarlyLevel, Validity, ValidityStatus};

/// A label and what it is.
pub(super) type Fact = (&'static str, String);

/// What load a level offered: `concurrency 60`, `12.0 req/s offered`.
pub(super) fn load(level: &LevelTable) -> Option<String> {
    match (level.concurrency, level.offered_rps) {
        (Some(concurrency), _) => Some(format!("concurrency {concurrency}")),
        (None, Some(rate)) => Some(format!("{} offered", per_second(Some(rate)))),
        (None, None) => None,
    }
}

/// The title of a level's section.
pub(super) fn level_title(level: &LevelTable) -> String {
    load(level).map_or_else(|| format!("Level {}", level.level), |load| format!("Level {}: {load}", level.level))
}

/// Goodput in its three forms, throughput beside it, errors beside both; then what is odd about the answers.
pub(super) fn level(level: &LevelTable) -> Vec<Fact> {
    let mut facts = vec![
        ("goodput", goodput(level)),
        ("throughput", rates(level.throughput_rps, level.throughput_tps).unwrap_or_else(|| "not measured".to_owned())),
        ("errors", errors(level)),
        ("rounds", format!("{} whole", level.rounds)),
    ];
    if let Some(window) = level.window_s {
        facts.push(("measured window", show(window * 1000.0, Unit::Ms)));
    }
    if let Some((p50, p95)) = level.input_tokens_p50_p95 {
        facts.push(("input tokens", format!("P50 {}, P95 {}", show(p50, Unit::Tokens), show(p95, Unit::Tokens))));
    }
    if !level.broken_constraints.is_empty() {
        let broken: Vec<String> =
            level.broken_constraints.iter().map(|(constraint, requests)| format!("{constraint}: {requests}")).collect();
        facts.push(("requests that broke", broken.join("; ")));
    }
    facts.extend(oddities(level));
    facts
}

fn oddities(level: &LevelTable) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(hit) = level.cache_hit {
        facts.push(("cache hit", show(hit, Unit::Share)));
    }
    if let Some(tokens) = level.tokens_per_event {
        facts.push(("tokens per event", format!("{tokens:.2}")));
    }
    if let Some(buffered) = level.buffered.filter(|share| *share > 0.0) {
        facts.push(("answers in one read (buffered)", show(buffered, Unit::Share)));
    }
    if let Some(opened) = level.opened_connection {
        facts.push(("opened a connection", show(opened, Unit::Share)));
    }
    if level.estimated_tokens > 0 {
        facts.push(("output tokens estimated", format!("in {} requests (counted events)", level.estimated_tokens)));
    }
    facts
}

fn goodput(level: &LevelTable) -> String {
    let Some(share) = level.goodput else { return "not measured".to_owned() };
    let share = format!("{} of requests", show(share, Unit::Share));
    rates(level.goodput_rps, level.goodput_tps).map_or_else(|| share.clone(), |rates| format!("{share}, {rates}"))
}

/// Requests and tokens per second; `None` where neither is known.
fn rates(rps: Option<f64>, tps: Option<f64>) -> Option<String> {
    let known = rps.is_some() || tps.is_some();
    known.then(|| format!("{}, {}", per_second(rps), maybe(tps, Unit::TokensPerSecond)))
}

fn errors(level: &LevelTable) -> String {
    let kinds: Vec<String> = level.error_kinds.iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
    let of = format!("{} of {}", level.errors, level.requests);
    if kinds.is_empty() { of } else { format!("{of} ({})", kinds.join(", ")) }
}

/// Validity rows that are not as they should be.
pub(super) fn unwell(report: &Report) -> Vec<&Validity> {
    report.verdict.iter().flat_map(|verdict| &verdict.validity).filter(|row| row.status != ValidityStatus::Ok).collect()
}

/// Warnings about the whole.
pub(super) fn warnings(report: &Report) -> &[String] {
    report.verdict.as_ref().map_or(&[], |verdict| verdict.warnings.as_slice())
}

/// At which look each level ended early, or that it was skipped, and what that saved.
pub(super) fn early(report: &Report) -> Vec<String> {
    report.verdict.iter().flat_map(|verdict| &verdict.early).map(one_early).collect()
}

fn one_early(level: &EarlyLevel) -> String {
    let time = level.seconds_saved.map_or_else(String::new, |seconds| format!(" and about {}", show(seconds * 1000.0, Unit::Ms)));
    let saved = format!("{} requests{time} saved", level.requests_saved);
    match (level.rounds, level.alpha) {
        (Some(rounds), alpha) => {
            let at = alpha.map_or_else(String::new, |alpha| format!(" at α {}", figure(alpha)));
            format!("level {} was decided after {rounds} of {} rounds{at}: {saved}", level.level, level.planned_rounds)
        }
        (None, _) => format!("level {} was skipped: {saved}", level.level),
    }
}

/// Two significant digits.
fn figure(alpha: f64) -> String {
    if alpha >= 0.1 {
        format!("{alpha:.2}")
    } else if alpha >= 0.01 {
        format!("{alpha:.3}")
    } else {
        format!("{alpha:.4}")
    }
}

/// Lines of `slo` that differ from the baseline's.
pub(super) fn changed_limits(report: &Report) -> &[String] {
    report.verdict.as_ref().map_or(&[], |verdict| verdict.baseline.changed_limits.as_slice())
}

/// What differs from a baseline that was found and not used.
pub(super) fn differences(report: &Report) -> &[String] {
    report.verdict.as_ref().map_or(&[], |verdict| verdict.baseline.differences.as_slice())
}

/// The baseline in one line, where one was used.
pub(super) fn baseline(report: &Report) -> Option<String> {
    let used = &report.verdict.as_ref()?.baseline;
    if used.runs.is_empty() {
        return None;
    }
    let newest = used.newest.as_ref().map(|at| format!(", newest {at}")).unwrap_or_default();
    let commit = used.commit.as_ref().map(|commit| format!(", commit {}", short(commit))).unwrap_or_default();
    let runs = if used.runs.len() == 1 { "1 stored run".to_owned() } else { format!("{} stored runs", used.runs.len()) };
    let distance = used.distance.as_ref().map(|distance| format!(", {distance}")).unwrap_or_default();
    Some(format!("{runs}{newest}{commit}{distance}"))
}

/// Under what the run was made, in two lines: what was measured, and with what.
pub(super) fn conditions(of: &Conditions) -> [String; 2] {
    let hardware = of.target.hardware.as_ref().map(|hardware| format!(" on {}", hardware.name)).unwrap_or_default();
    let mut what = vec![format!("model {}{hardware}", of.target.model)];
    what.push(format!("at {} ({})", of.target.label, of.target.api));
    if let Some(server) = &of.target.server {
        what.push(format!("server {server}"));
    }
    let levels: Vec<&str> = of.load.levels.iter().map(|level| level.label.as_str()).collect();
    let mut how = vec![of.workload.label.clone(), format!("arrival {}", of.load.arrival), format!("levels {}", levels.join(" "))];
    how.push(format!("seed {}", of.seed));
    how.push(format!("spec {}", short(&of.spec_digest)));
    if let Some(commit) = &of.commit {
        how.push(format!("commit {}", short(commit)));
    }
    if !of.flags.is_empty() {
        how.push(format!("set by flag: {}", of.flags.join(" ")));
    }
    how.push(format!("started {} by {}", of.started, of.tool));
    [what.join(", "), how.join(", ")]
}

fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}
