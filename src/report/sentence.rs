//! The one sentence of a measurement, and the one sentence of a verdict.

use super::facts;
use super::rows::{NOTHING, bounds, change, limit, observed, per_second};
use crate::record::Conditions;
use crate::spec::RuleKind;
use crate::summary::LevelTable;
use crate::units::{Unit, show};
use crate::verdict::{RuleResult, Status, Validity, ValidityStatus, Verdict, VerdictStatus};

/// The measurement of one level in one sentence: latencies, under what, goodput against what, headroom.
#[must_use]
pub fn measured_sentence(level: &LevelTable, conditions: &Conditions, constraints: &[String], headroom: Option<f64>) -> String {
    let ms = |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), |value| show(value, Unit::Ms));
    let mut under = vec![format!(
        "TTFT (queueing included) P50 {}, P99 {}, TPOT P99 {}{}",
        ms(level.ttft.p50),
        ms(level.ttft.p99),
        ms(level.tpot.p99),
        facts::load(level).map(|load| format!(" at {load}")).unwrap_or_default()
    )];
    if let Some((_, p95)) = level.input_tokens_p50_p95 {
        under.push(format!("input P95 {} tokens", show(p95, Unit::Tokens)));
    } else if let Some((_, p95)) = conditions.workload.input_p50_p95 {
        under.push(format!("input P95 {p95} tokens asked"));
    }
    let hardware = conditions.target.hardware.as_ref().map(|hardware| format!(" on {}", hardware.name)).unwrap_or_default();
    under.push(format!("model {}{hardware}", conditions.target.model));
    let headroom = headroom.map_or_else(|| "not measured".to_owned(), |share| show(share, Unit::Share));
    format!("{}; {}; headroom {headroom}", under.join(", "), goodput(level, constraints))
}

fn goodput(level: &LevelTable, constraints: &[String]) -> String {
    match level.goodput {
        Some(share) => format!("goodput {} ({}) against {}", show(share, Unit::Share), per_second(level.goodput_rps), listed(constraints)),
        None if constraints.is_empty() => "goodput not defined (no slo.request)".to_owned(),
        None => format!("goodput not measured against {}", listed(constraints)),
    }
}

/// At most three, then how many more.
fn listed(texts: &[String]) -> String {
    match texts {
        [] => "no constraint".to_owned(),
        [a, b, c, _, ..] => format!("{a}, {b}, {c} and {} more", texts.len() - 3),
        _ => texts.join(", "),
    }
}

/// The verdict in one sentence: which rule, by how much, and what to do next. Without its status word, which stands before it.
#[must_use]
pub fn verdict_sentence(verdict: &Verdict) -> String {
    match verdict.status {
        VerdictStatus::Pass => passed(verdict),
        VerdictStatus::Fail => failed(verdict),
        VerdictStatus::Inconclusive => undecided(verdict),
        VerdictStatus::Invalid => invalid(verdict),
    }
}

fn passed(verdict: &Verdict) -> String {
    let kept = deciding(verdict, Status::Pass);
    let mut parts = vec![match kept.len() {
        0 => "no rule is broken".to_owned(),
        1 => format!("{} holds: {}", kept[0].rule, against_limit(kept[0])),
        2 => "both judged rules hold".to_owned(),
        count => format!("all {count} judged rules hold"),
    }];
    let unproven: Vec<String> = kept
        .iter()
        .filter(|rule| rule.warnings.iter().any(|word| word == "beyond_limit_unproven"))
        .map(|rule| format!("{} ({})", rule.rule, against_limit(rule)))
        .collect();
    if !unproven.is_empty() {
        parts.push(format!("not proven to stay within the limit: {}", listed(&unproven)));
    }
    parts.extend(not_judged(verdict));
    parts.join("; ")
}

fn failed(verdict: &Verdict) -> String {
    let broken = deciding(verdict, Status::Fail);
    let Some(first) = broken.iter().find(|rule| rule.kind == RuleKind::Require).or(broken.first()) else {
        return "a deciding rule is broken".to_owned();
    };
    let what = match first.kind {
        RuleKind::Regression => "is a regression",
        RuleKind::Require | RuleKind::Advise => "is broken",
    };
    let mut parts = vec![format!("{} {what}: {}", first.rule, against_limit(first))];
    match broken.len() {
        1 => {}
        2 => parts.push("1 more rule is broken".to_owned()),
        count => parts.push(format!("{} more rules are broken", count - 1)),
    }
    parts.extend(not_judged(verdict));
    parts.join("; ")
}

fn undecided(verdict: &Verdict) -> String {
    let open = deciding(verdict, Status::Inconclusive);
    let doubts = validity(verdict, ValidityStatus::Inconclusive);
    match (open.first(), doubts.first()) {
        (Some(first), _) => {
            let more = if open.len() > 1 { format!("; {} more undecided", open.len() - 1) } else { String::new() };
            format!("{} is undecided: {}{more}", first.rule, first.why)
        }
        (None, Some(doubt)) => format!("no rule is broken, but the measurement is in doubt: {}; {}", doubt.text, remedy(doubt.check)),
        (None, None) => "the data do not decide; measure more rounds".to_owned(),
    }
}

fn invalid(verdict: &Verdict) -> String {
    let checks = validity(verdict, ValidityStatus::Invalid);
    if let Some(first) = checks.first() {
        let more = if checks.len() > 1 { format!("; {} more checks failed", checks.len() - 1) } else { String::new() };
        return format!("the measurement may not be judged: {}{more}; {}", first.text, remedy(first.check));
    }
    match deciding(verdict, Status::Invalid).first() {
        Some(rule) => format!("{} has nothing to be judged by: {}; {}", rule.rule, rule.why, remedy("data")),
        None => format!("the measurement may not be judged; {}", remedy("")),
    }
}

/// Observed against allowed, with the interval that decided.
fn against_limit(rule: &RuleResult) -> String {
    if rule.kind == RuleKind::Regression || rule.change.is_some() {
        return format!("changed by {}, allowed {}", change(rule), limit(rule));
    }
    let interval = match bounds(rule).as_str() {
        NOTHING => String::new(),
        interval => format!(" (interval {interval})"),
    };
    format!("observed {}{interval}, limit {}", observed(rule), limit(rule))
}

fn not_judged(verdict: &Verdict) -> Option<String> {
    match deciding(verdict, Status::NoBaseline).len() {
        0 => None,
        1 => Some("1 regression rule had no baseline".to_owned()),
        count => Some(format!("{count} regression rules had no baseline")),
    }
}

fn deciding(verdict: &Verdict, status: Status) -> Vec<&RuleResult> {
    verdict.rules.iter().filter(|rule| rule.kind != RuleKind::Advise && rule.status == status).collect()
}

fn validity(verdict: &Verdict, status: ValidityStatus) -> Vec<&Validity> {
    verdict.validity.iter().filter(|row| row.status == status).collect()
}

/// What to do about a validity check that did not come out.
fn remedy(check: &str) -> &'static str {
    match check {
        "client_lag" | "loop_lag" | "client" => "run the gate on a faster or idler machine, or lower the load",
        "rounds" => "raise load.rounds or the budget so that at least 12 rounds are whole",
        "data" => "see the error counts, and check the rule's `when` and the target, then run again",
        "load" | "load_delivered" | "delivered" => "lower the load, or give the gate more of the machine, so that what was planned is sent",
        "cache" | "cache_state" => "reset the server's prefix cache (--reset-cache), or set workload.prefix_hit to what it is",
        "errors" | "all_failed" => "see the error kinds, mend the target, then run again",
        _ => "mend this and run again",
    }
}
