//! The tables that every spelling shows: which columns, how figures are rounded, which mark a row gets. Decided once, here.

use super::{Report, facts};
use crate::spec::RuleKind;
use crate::summary::{LevelTable, Percentiles};
use crate::units::{Unit, show};
use crate::verdict::{RuleResult, Status, Verdict, VerdictStatus};

/// What stands where nothing is known.
pub(super) const NOTHING: &str = "-";

/// How a row is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Kept.
    Good,
    /// Broken, and it decides.
    Bad,
    /// Not decided, or broken where it decides nothing.
    Open,
    /// Not judged.
    Mute,
    /// Not to be judged at all.
    Void,
}

impl Mark {
    /// Its name as a class of the page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Open => "open",
            Self::Mute => "mute",
            Self::Void => "void",
        }
    }
}

/// One rule, spelt. Texts are as they came; each spelling makes them harmless in its own way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) mark: Mark,
    pub(super) status: &'static str,
    pub(super) rule: String,
    pub(super) observed: String,
    pub(super) interval: String,
    pub(super) limit: String,
    pub(super) baseline: String,
    pub(super) change: String,
    pub(super) why: String,
    pub(super) warnings: Vec<String>,
}

impl Row {
    /// The heads of [`Self::cells`].
    pub(super) const HEADS: [&'static str; 7] = ["status", "rule", "observed", "interval", "limit", "baseline", "change (interval)"];

    /// Its cells, in the order of [`Self::HEADS`].
    pub(super) fn cells(&self) -> [&str; 7] {
        [self.status, &self.rule, &self.observed, &self.interval, &self.limit, &self.baseline, &self.change]
    }
}

/// Every rule's row, in the verdict's order.
pub(super) fn rules(report: &Report) -> Vec<Row> {
    report.verdict.iter().flat_map(|verdict| verdict.rules.iter().map(|result| row(result, verdict))).collect()
}

/// How many of [`Row::HEADS`] have anything to show: without a regression rule, baseline and change stay away.
pub(super) fn columns(rows: &[Row]) -> usize {
    let compared = rows.iter().any(|row| row.baseline != NOTHING || row.change != NOTHING);
    if compared { Row::HEADS.len() } else { Row::HEADS.len() - 2 }
}

fn row(result: &RuleResult, verdict: &Verdict) -> Row {
    let (mark, status) = mark(result, verdict);
    Row {
        mark,
        status,
        rule: match result.kind {
            RuleKind::Advise => format!("{} (advice)", result.rule),
            RuleKind::Require | RuleKind::Regression => result.rule.clone(),
        },
        observed: observed(result),
        interval: bounds(result),
        limit: limit(result),
        baseline: maybe(result.baseline, result.unit),
        change: change(result),
        why: why(result, verdict),
        warnings: result.warnings.iter().map(|word| explained(word)).collect(),
    }
}

/// A warning's word, with its meaning where it has one of ours.
fn explained(word: &str) -> String {
    match word {
        "beyond_limit_unproven" => format!("{word}: the interval reaches beyond the limit, so staying within it is not proven"),
        _ => word.to_owned(),
    }
}

/// What the row's figures do not say themselves. `verdict.json` has the whole reason.
fn why(result: &RuleResult, verdict: &Verdict) -> String {
    if result.status == Status::NoBaseline {
        let causes = facts::causes(&verdict.baseline);
        return match causes.as_slice() {
            [] if result.why.starts_with("no baseline") => String::new(),
            [] => result.why.clone(),
            [one] => one.text.replacen(": was ", " was ", 1),
            [first, more @ ..] => format!("{} (and {} more)", first.text.replacen(": was ", " was ", 1), more.len()),
        };
    }
    let shown = result.observed.is_some();
    let mut rest: Vec<&str> = result.why.split("; ").collect();
    if shown && rest.len() > 1 && (rest[0].contains(" against ") || rest[0].starts_with("changed by ")) {
        rest.remove(0);
        rest.retain(|part| !part.starts_with("allowed is "));
    }
    let mut rest: Vec<String> = rest.into_iter().filter_map(without_method).collect();
    if result.status == Status::Pass {
        rest.truncate(1);
    }
    rest.join("; ")
}

/// The count of samples stands in the counts, and the method is for `verdict.json`.
fn without_method(part: &str) -> Option<String> {
    let Some((head, _)) = part.rsplit_once(", method ").or_else(|| part.rsplit_once("method ")) else { return Some(part.to_owned()) };
    let head = head.split_once(", ").filter(|(n, _)| n.starts_with("n ")).map_or(head, |(_, rest)| rest);
    (!head.is_empty()).then(|| head.to_owned())
}

fn mark(result: &RuleResult, verdict: &Verdict) -> (Mark, &'static str) {
    let decides = result.kind != RuleKind::Advise;
    if is_not_judged(result.status, verdict) {
        return (Mark::Mute, "not judged");
    }
    match result.status {
        Status::Pass => (Mark::Good, "pass"),
        Status::Fail if decides => (Mark::Bad, "FAIL"),
        Status::Fail => (Mark::Open, "fail"),
        Status::Inconclusive => (Mark::Open, "inconclusive"),
        Status::Invalid if decides => (Mark::Void, "INVALID"),
        Status::Invalid => (Mark::Open, "invalid"),
        Status::NoBaseline if facts::is_incomparable(&verdict.baseline) => (Mark::Mute, "not compared"),
        Status::NoBaseline => (Mark::Mute, "no baseline"),
        Status::Skipped => (Mark::Mute, "skipped"),
    }
}

/// Whether a rule's outcome means nothing, because the measurement may not be judged.
pub(super) fn is_not_judged(status: Status, verdict: &Verdict) -> bool {
    verdict.status == VerdictStatus::Invalid && matches!(status, Status::Pass | Status::Fail | Status::Inconclusive)
}

/// The estimate; a percentile that too many failed requests leave without an upper end is `unbounded`, which is not «unknown».
pub(super) fn observed(result: &RuleResult) -> String {
    match (result.observed, result.status) {
        (Some(value), _) => show(value, result.unit),
        (None, Status::Invalid) => "no data".to_owned(),
        (None, Status::NoBaseline | Status::Skipped) => NOTHING.to_owned(),
        (None, _) => "unbounded".to_owned(),
    }
}

/// What the rule allows: a value, or the size of a change, whose direction the rule tells.
pub(super) fn limit(result: &RuleResult) -> String {
    match (result.limit, result.change_limit, result.change_unit) {
        (Some(limit), _, _) => show(limit, result.unit),
        (None, Some(limit), Some(unit)) => show(limit.abs(), unit).trim_start_matches('+').to_owned(),
        _ => NOTHING.to_owned(),
    }
}

/// The change with its interval: `+12.3 % (+8 % to +16.1 %)`.
pub(super) fn change(result: &RuleResult) -> String {
    let Some((value, unit)) = result.change.zip(result.change_unit) else { return NOTHING.to_owned() };
    match interval(result.change_low, result.change_high, |value| signed(value, unit)).as_str() {
        NOTHING => signed(value, unit),
        interval => format!("{} ({interval})", signed(value, unit)),
    }
}

/// The bounds of an absolute rule.
pub(super) fn bounds(result: &RuleResult) -> String {
    interval(result.low, result.high, |value| show(value, result.unit))
}

/// The bounds that decided, the word `unbounded` where one is open.
fn interval(low: Option<f64>, high: Option<f64>, spell: impl Fn(f64) -> String) -> String {
    match (low, high) {
        (None, None) => NOTHING.to_owned(),
        (Some(low), Some(high)) => format!("{} to {}", spell(low), spell(high)),
        (Some(low), None) => format!("{} to unbounded", spell(low)),
        (None, Some(high)) => format!("up to {}", spell(high)),
    }
}

/// A change: the sign is always there.
fn signed(value: f64, unit: Unit) -> String {
    let spelt = show(value, unit);
    if value > 0.0 && !spelt.starts_with('+') { format!("+{spelt}") } else { spelt }
}

/// A figure or [`NOTHING`].
pub(super) fn maybe(value: Option<f64>, unit: Unit) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| show(value, unit))
}

/// A rate of requests, which reads better with its noun: `9.10 req/s`.
pub(super) fn per_second(value: Option<f64>) -> String {
    maybe(value, Unit::PerSecond).replace(" /s", " req/s")
}

/// The head of a verdict.
pub(super) fn headline(report: &Report) -> (Mark, &'static str) {
    match report.verdict.as_ref().map(|verdict| verdict.status) {
        Some(VerdictStatus::Pass) => (Mark::Good, "PASS"),
        Some(VerdictStatus::Fail) => (Mark::Bad, "FAIL"),
        Some(VerdictStatus::Inconclusive) => (Mark::Open, "INCONCLUSIVE"),
        Some(VerdictStatus::Invalid) => (Mark::Void, "INVALID"),
        None => (Mark::Mute, "MEASURED"),
    }
}

/// One line of percentiles: `[label, P50, P90, P95, P99, max, samples]`.
pub(super) type Line = [String; 7];

/// The heads of [`latencies`].
pub(super) const LATENCY_HEADS: [&str; 7] = ["latency", "P50", "P90", "P95", "P99", "max", "samples"];

/// A level's latencies, over its ok requests, then those by length; none where no request was answered.
pub(super) fn latencies(level: &LevelTable, both_conventions: bool) -> Vec<Line> {
    if level.ttft.samples == 0 && level.e2e.samples == 0 {
        return Vec::new();
    }
    let mut lines = vec![line("TTFT", &level.ttft)];
    if level.ttfa != level.ttft && level.ttfa.samples > 0 {
        lines.push(line("TTFA", &level.ttfa));
    }
    lines.push(line("TPOT", &level.tpot));
    if both_conventions {
        lines.push(line("e2e / n", &level.e2e_per_token));
    }
    lines.push(line("ITL", &level.itl));
    lines.push(line("stall", &level.stall));
    lines.push(line("E2E", &level.e2e));
    for part in &level.parts {
        let goodput = part.goodput.map_or_else(String::new, |share| format!(" (goodput {})", show(share, Unit::Share)));
        lines.push(line(&format!("TTFT for {}{goodput}", part.part), &part.ttft));
        lines.push(line(&format!("TPOT for {}", part.part), &part.tpot));
        lines.push(line(&format!("E2E for {}", part.part), &part.e2e));
    }
    let filled = level.buckets.iter().filter(|bucket| bucket.percentiles.samples > 0);
    lines.extend(filled.map(|bucket| {
        let by = bucket.by.trim_end_matches("_tokens");
        line(&format!("{}, {by} {}", bucket.metric.to_uppercase(), bucket.label), &bucket.percentiles)
    }));
    lines
}

/// What the lines of [`latencies`] mean, once for all of them.
pub(super) fn latency_note(both_conventions: bool) -> &'static str {
    if both_conventions {
        "TTFT includes queueing; TPOT is (e2e - ttft) / (n - 1), e2e / n is LLMPerf's convention; ITL is every gap, stall an answer's longest; answered requests only"
    } else {
        "TTFT includes queueing; ITL is every gap, stall an answer's longest; answered requests only"
    }
}

fn line(label: &str, of: &Percentiles) -> Line {
    let ms = |value| maybe(value, Unit::Ms);
    [label.to_owned(), ms(of.p50), ms(of.p90), ms(of.p95), ms(of.p99), ms(of.max), of.samples.to_string()]
}

/// The heads of [`what_if`].
pub(super) const WHAT_IF_HEADS: [&str; 5] = ["level", "goodput, spec", "req/s, spec", "goodput, what if", "req/s, what if"];

/// Goodput under other constraints beside the spec's.
pub(super) fn what_if(report: &Report) -> Vec<[String; 5]> {
    let rows = report.what_if.iter().flat_map(|what_if| &what_if.rows);
    rows.map(|row| {
        [
            row.level.clone(),
            maybe(row.spec, Unit::Share),
            per_second(row.spec_rps),
            maybe(row.tried, Unit::Share),
            per_second(row.tried_rps),
        ]
    })
    .collect()
}
