//! One load that was measured, and what came of it.

use crate::record::{EndReason, Recording};
use crate::spec::RuleKind;
use crate::summary::Summary;
use crate::units::Nanos;
use crate::verdict::{Status, ValidityStatus, Verdict, VerdictStatus};

/// Whether the SLO holds at a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Held {
    /// Every rule passes.
    Holds,
    /// A rule is broken, or nothing was answered.
    Breaks,
    /// The data do not decide.
    Unsure,
    /// The measurement may not be judged: this client could not keep up, or what was measured was not what was meant.
    Unmeasurable,
}

impl Held {
    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Breaks => "breaks",
            Self::Unsure => "unsure",
            Self::Unmeasurable => "unmeasurable",
        }
    }
}

/// One load that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Requests in flight, or requests per second.
    pub load: f64,
    /// Whether the SLO holds there.
    pub held: Held,
    /// How many times the usual rounds were planned.
    pub effort: u32,
    /// Whole rounds that were judged.
    pub rounds: u64,
    /// Requests sent, warm-up included.
    pub requests: u64,
    /// Tokens sent and received, warm-up included.
    pub tokens: u64,
    /// How long the load lasted.
    pub seconds: f64,
    /// P99 of the time to first token over answers, milliseconds.
    pub ttft_p99_ms: Option<f64>,
    /// Good over all requests.
    pub goodput: Option<f64>,
    /// Good requests per second of the time from the first counted request's due time to the last counted token: in an open loop
    /// the arrival window cannot show that a server falls behind, so the search uses one window for both loops.
    pub goodput_rps: Option<f64>,
    /// Finished requests per second of the same time.
    pub throughput_rps: Option<f64>,
    /// Output tokens per second of the same time.
    pub throughput_tps: Option<f64>,
    /// What decided, in one line.
    pub why: String,
}

impl Point {
    /// What a run of one level at `load` came to. `verdict` is the verdict on its absolute rules.
    #[must_use]
    pub fn of(load: f64, effort: u32, recording: &Recording, summary: &Summary, verdict: &Verdict) -> Self {
        let level = summary.levels.first();
        let seconds = level.and_then(|_| window(recording)).filter(|seconds| *seconds > 0.0);
        let rate = |count: f64| seconds.map(|seconds| count / seconds);
        let facts = level.map_or(&[][..], |level| &level.facts);
        let answered = facts.iter().filter(|fact| fact.ok).count();
        let tokens: u64 = facts.iter().filter(|fact| fact.ok).map(|fact| fact.output).sum();
        Self {
            load,
            held: held(recording, verdict),
            effort,
            rounds: level.map_or(0, |level| level.whole_rounds as u64),
            requests: recording.requests.len() as u64,
            tokens: recording
                .requests
                .iter()
                .map(|request| request.input_tokens.unwrap_or(request.asked_input) + request.output_tokens.unwrap_or(0))
                .sum(),
            seconds: lasted(recording),
            ttft_p99_ms: level.and_then(|level| level.table.ttft.p99),
            goodput: level.and_then(|level| level.table.goodput),
            goodput_rps: rate(facts.iter().filter(|fact| fact.good).count() as f64),
            throughput_rps: rate(answered as f64),
            throughput_tps: rate(tokens as f64),
            why: why(verdict),
        }
    }
}

/// Nothing answered is a server that fell over, not a measurement that failed; a measurement that was cut is undecided.
fn held(recording: &Recording, verdict: &Verdict) -> Held {
    let cut = recording.end.as_ref().is_none_or(|end| matches!(end.reason, EndReason::Budget | EndReason::Interrupted));
    let dead = !recording.requests.is_empty() && !recording.requests.iter().any(crate::record::Request::is_ok);
    match verdict.status {
        VerdictStatus::Pass => Held::Holds,
        VerdictStatus::Fail => Held::Breaks,
        VerdictStatus::Inconclusive => Held::Unsure,
        VerdictStatus::Invalid if cut => Held::Unsure,
        VerdictStatus::Invalid if dead => Held::Breaks,
        VerdictStatus::Invalid => Held::Unmeasurable,
    }
}

fn why(verdict: &Verdict) -> String {
    let bad = verdict.validity.iter().find(|check| check.status == ValidityStatus::Invalid);
    if let (VerdictStatus::Invalid, Some(check)) = (verdict.status, bad) {
        return format!("{}: {}", check.check, check.text);
    }
    let deciding = || verdict.rules.iter().filter(|rule| rule.kind == RuleKind::Require);
    let of = |status: Status| deciding().find(|rule| rule.status == status);
    let rule = of(Status::Fail).or_else(|| of(Status::Inconclusive)).or_else(|| deciding().next());
    rule.map_or_else(String::new, |rule| rule.why.clone())
}

/// Seconds from the first counted request's due time to the last counted token.
fn window(recording: &Recording) -> Option<f64> {
    let counted = || recording.requests.iter().filter(|request| request.round.is_some());
    let first = counted().map(|request| request.scheduled).min()?;
    let last = counted().filter_map(|request| request.last_token.map(|at| request.scheduled + at)).max()?;
    Some(last.since(first).as_secs())
}

/// Seconds from the first request to the end of the last.
fn lasted(recording: &Recording) -> f64 {
    let first = recording.requests.iter().map(|request| request.scheduled).min().unwrap_or(Nanos::ZERO);
    let last = recording.requests.iter().map(|request| request.scheduled + request.closed.unwrap_or_default()).max();
    last.map_or(0.0, |last| last.since(first).as_secs())
}
