//! What stands beside the tables: a level's counts and rates, and under what the run was made.

use super::Report;
use super::rows::{maybe, per_second};
use crate::record::Conditions;
use crate::summary::LevelTable;
use crate::units::{Unit, show};
use crate::verdict::{BaselineInfo, EarlyLevel, Method, Validity, ValidityStatus};

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
    let mut facts = vec![("goodput", goodput(level)), ("errors", errors(level)), ("rounds", format!("{} whole", level.rounds))];
    if let Some(rates) = rates(level.throughput_rps, level.throughput_tps) {
        facts.insert(1, ("throughput", rates));
    }
    if let Some(window) = level.window_s {
        facts.push(("measured window", show(window * 1000.0, Unit::Ms)));
    }
    if let Some((p50, p95)) = level.input_tokens_p50_p95 {
        facts.push(("input tokens", format!("P50 {}, P95 {}", show(p50, Unit::Tokens), show(p95, Unit::Tokens))));
    }
    if !level.broken_constraints.is_empty() {
        facts.push(("requests that broke", broken(level)));
    }
    facts.extend(oddities(level));
    facts
}

fn broken(level: &LevelTable) -> String {
    let in_one_read = level.broken_in_one_read.iter().copied().chain(std::iter::repeat(0));
    let spelt = level.broken_constraints.iter().zip(in_one_read).map(|((constraint, requests), in_one)| match in_one {
        0 => format!("{constraint}: {requests}"),
        all if all == *requests => format!("{constraint}: {requests} (all {all} came in one read)"),
        some => format!("{constraint}: {requests} ({some} came in one read)"),
    });
    spelt.collect::<Vec<_>>().join("; ")
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
    let kinds = level.errors_spelt();
    let of = format!("{} of {}", level.errors, level.requests);
    if kinds.is_empty() { of } else { format!("{of} ({})", kinds.join(", ")) }
}

/// Validity rows that are not as they should be.
pub(super) fn unwell(report: &Report) -> Vec<&Validity> {
    report.verdict.iter().flat_map(|verdict| &verdict.validity).filter(|row| row.status != ValidityStatus::Ok).collect()
}

/// How the client kept up, where it did, in one line: `client: start lag P99 0.60 ms, loop lag P99 1.10 ms`.
pub(super) fn client(report: &Report) -> Option<String> {
    let checks = report.verdict.iter().flat_map(|verdict| &verdict.validity).filter(|row| row.status == ValidityStatus::Ok);
    let texts: Vec<&str> = checks
        .filter(|row| matches!(row.check, "client_lag" | "cpu_share" | "load_delivered"))
        .map(|row| row.text.rsplit_once(", at most ").map_or(row.text.as_str(), |(figure, _)| figure))
        .map(|text| text.trim_start_matches("the client "))
        .collect();
    (!texts.is_empty()).then(|| format!("client: {}", texts.join("; ")))
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

/// Warnings about the whole that no other line tells: not those of checks, nor of a baseline that was found and not used.
pub(super) fn warnings(report: &Report) -> Vec<String> {
    let Some(verdict) = &report.verdict else { return Vec::new() };
    let unwell = unwell(report);
    let is_check = |warning: &str| unwell.iter().any(|row| warning.strip_prefix(row.check) == Some(&format!(": {}", row.text)));
    let is_told = |warning: &str| is_incomparable(&verdict.baseline) && warning.contains(NO_BASELINE);
    verdict.warnings.iter().filter(|warning| !is_check(warning) && !is_told(warning)).cloned().collect()
}

/// What [`differences`] are: those of a baseline that was compared with all the same, or of one that was not used.
pub(super) fn differences_title(report: &Report) -> &'static str {
    let used = report.verdict.as_ref().is_some_and(|verdict| !verdict.baseline.runs.is_empty());
    if used { "conditions that differ" } else { "a baseline was found and not used" }
}

/// How the verdict says that rules had nothing to be compared with.
const NO_BASELINE: &str = "found no baseline";

/// Lines of `slo` that differ from the baseline's: `ttft <= 1s → 500ms` where the words before the value are the same.
pub(super) fn changed_limits(report: &Report) -> Vec<String> {
    let lines = report.verdict.iter().flat_map(|verdict| &verdict.baseline.changed_limits);
    lines.map(|line| shorter(line).unwrap_or_else(|| line.clone())).collect()
}

fn shorter(line: &str) -> Option<String> {
    let (was, is) = line.strip_prefix("was ")?.split_once(" / is ")?;
    if was == "not there" {
        return Some(format!("new: {is}"));
    }
    if is == "no longer there" {
        return Some(format!("gone: {was}"));
    }
    let same = was.split(' ').zip(is.split(' ')).take_while(|(was, is)| was == is).count();
    let (old, new) = (was.splitn(same + 1, ' ').last()?, is.splitn(same + 1, ' ').last()?);
    let compared = was.split(' ').take(same).any(|word| matches!(word, "<" | "<=" | ">" | ">="));
    Some(if compared { format!("{was} → {new}") } else { format!("{was} → {is}") }).filter(|_| old != new)
}

/// Why stored runs were not compared with, and how many of them for this cause.
pub(super) struct Cause {
    pub(super) text: String,
    pub(super) runs: usize,
}

/// Whether a baseline was found and none of it used.
pub(super) fn is_incomparable(baseline: &BaselineInfo) -> bool {
    baseline.runs.is_empty() && !baseline.differences.is_empty()
}

/// The causes of [`is_incomparable`], each once, in the order found. The name of a run before a cause is cut.
pub(super) fn causes(baseline: &BaselineInfo) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for line in baseline.differences.iter().filter(|_| is_incomparable(baseline)) {
        let named = |run: &str, cause: &str| !run.contains([' ', '/', '\\']) && !cause.starts_with("was ");
        let text = line.split_once(": ").filter(|(run, cause)| named(run, cause)).map_or(line.as_str(), |(_, cause)| cause);
        match causes.iter_mut().find(|cause| cause.text == text) {
            Some(cause) => cause.runs += 1,
            None => causes.push(Cause { text: text.to_owned(), runs: 1 }),
        }
    }
    causes
}

/// What differs, in a word or two: `model, seed`.
pub(super) fn what_differs(baseline: &BaselineInfo) -> String {
    let mut words: Vec<String> = Vec::new();
    for cause in causes(baseline) {
        let word = cause.text.split_once(": was ").map_or("see below", |(what, _)| what).to_owned();
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// What differs from a baseline that was found; that of one that was not used once for each cause.
pub(super) fn differences(report: &Report) -> Vec<String> {
    let Some(baseline) = report.verdict.as_ref().map(|verdict| &verdict.baseline) else { return Vec::new() };
    if !is_incomparable(baseline) {
        return baseline.differences.clone();
    }
    causes(baseline).iter().map(|cause| format!("{}: {}", stored_runs(cause.runs), cause.text)).collect()
}

fn stored_runs(count: usize) -> String {
    if count == 1 { "1 stored run".to_owned() } else { format!("{count} stored runs") }
}

/// The baseline in one line, where one was used.
pub(super) fn baseline(report: &Report) -> Option<String> {
    let used = &report.verdict.as_ref()?.baseline;
    if used.runs.is_empty() {
        return None;
    }
    let newest = used.newest.as_ref().map(|at| format!(", newest {}", to_seconds(at))).unwrap_or_default();
    let commit = used.commit.as_ref().map(|commit| format!(", commit {}", short(commit))).unwrap_or_default();
    let beside = report.verdict.iter().flat_map(|verdict| &verdict.rules).any(|rule| rule.method == Some(Method::Paired));
    let runs = match used.runs.as_slice() {
        [run] if beside => format!("{run}, side by side, rounds in pairs (method E)"),
        runs => stored_runs(runs.len()),
    };
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
    how.push(format!("started {} by {}", to_seconds(&of.started), of.tool));
    [what.join(", "), how.join(", ")]
}

/// A time stamp of RFC 3339 without its fraction of a second.
fn to_seconds(at: &str) -> String {
    match at.split_once('.') {
        Some((seconds, fraction)) => format!("{seconds}{}", fraction.trim_start_matches(|c: char| c.is_ascii_digit())),
        None => at.to_owned(),
    }
}

fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}
