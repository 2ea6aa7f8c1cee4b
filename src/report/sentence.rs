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
    let hardware = conditions.target.hardware.as_ref().map(|hardware| format!(" on {}", hardware.name)).unwrap_or_default();
    let model = format!("model {}{hardware}", conditions.target.model);
    if level.ttft.samples == 0 && level.e2e.samples == 0 {
        return nothing_answered(level, &model, constraints);
    }
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
    under.push(model);
    let headroom = headroom.map_or_else(|| "not measured".to_owned(), |share| show(share, Unit::Share));
    format!("{}; {}; headroom {headroom}", under.join(", "), goodput(level, constraints))
}

/// What there is to say of a level without one answer.
fn nothing_answered(level: &LevelTable, model: &str, constraints: &[String]) -> String {
    let load = facts::load(level).map(|load| format!(" at {load}")).unwrap_or_default();
    if level.requests == 0 {
        return format!("nothing was measured{load}, {model}");
    }
    let kinds = level.errors_spelt();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let goodput = level.goodput.map(|_| format!("; {}", goodput(level, constraints))).unwrap_or_default();
    format!("no latency was measured{load}, {model}: {} of {} requests failed{kinds}{goodput}", level.errors, level.requests)
}

fn goodput(level: &LevelTable, constraints: &[String]) -> String {
    match level.goodput {
        Some(share) => {
            let rate = level.goodput_rps.map(|rate| format!(" ({})", per_second(Some(rate)))).unwrap_or_default();
            format!("goodput {}{rate} against {}", show(share, Unit::Share), listed(constraints))
        }
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
    judged(verdict, &[])
}

/// [`verdict_sentence`], which for an invalid measurement tells of requests that failed in `levels` too.
pub(super) fn judged(verdict: &Verdict, levels: &[LevelTable]) -> String {
    match verdict.status {
        VerdictStatus::Pass => passed(verdict),
        VerdictStatus::Fail => failed(verdict),
        VerdictStatus::Inconclusive => undecided(verdict),
        VerdictStatus::Invalid => invalid(verdict, levels),
    }
}

fn passed(verdict: &Verdict) -> String {
    let kept = deciding(verdict, Status::Pass);
    let unproven: Vec<String> =
        kept.iter().filter(|rule| is_unproven(rule)).map(|rule| format!("{} ({})", rule.rule, against_limit(rule))).collect();
    let mut parts = vec![match (kept.as_slice(), unproven.len()) {
        ([], _) => "no rule is broken".to_owned(),
        ([one], 0) => format!("{} holds: {}", one.rule, against_limit(one)),
        ([one], _) => format!("{}: no breach shown, {}", one.rule, against_limit(one)),
        ([_, _], 0) => "both judged rules hold".to_owned(),
        (all, 0) => format!("all {} judged rules hold", all.len()),
        (all, _) => format!("no breach shown in {} judged rules", all.len()),
    }];
    if !unproven.is_empty() && kept.len() > 1 {
        parts.push(format!("not proven to stay within the limit: {}", listed(&unproven)));
    }
    parts.extend(not_judged(verdict));
    parts.join("; ")
}

/// Whether the limit lies inside the interval of a rule that passed: no breach is shown, and that it holds is not proven.
fn is_unproven(rule: &RuleResult) -> bool {
    let is_inside = |low: Option<f64>, high: Option<f64>, limit: Option<f64>| {
        limit.is_some_and(|limit| {
            low.is_none_or(|low| low < limit) && high.is_none_or(|high| limit < high) && (low.is_some() || high.is_some())
        })
    };
    rule.warnings.iter().any(|word| word == "beyond_limit_unproven")
        || is_inside(rule.low, rule.high, rule.limit)
        || is_inside(rule.change_low, rule.change_high, rule.change_limit)
}

fn failed(verdict: &Verdict) -> String {
    let broken = deciding(verdict, Status::Fail);
    let (worse, broken): (Vec<&RuleResult>, Vec<&RuleResult>) = broken.into_iter().partition(|rule| rule.kind == RuleKind::Regression);
    let mut parts = Vec::new();
    for (rules, what, also) in [(broken, "is broken", "also broken"), (worse, "is a regression", "also worse")] {
        if let Some((first, more)) = rules.split_first() {
            parts.push(format!("{} {what}: {}", first.rule, against_limit(first)));
            if !more.is_empty() {
                parts.push(format!("{also}: {}", named(more)));
            }
        }
    }
    if parts.is_empty() {
        parts.push("a deciding rule is broken".to_owned());
    }
    parts.extend(not_judged(verdict));
    parts.join("; ")
}

/// Two of them by name, then how many more.
fn named(rules: &[&RuleResult]) -> String {
    let names: Vec<&str> = rules.iter().take(2).map(|rule| rule.rule.as_str()).collect();
    let more = rules.len().saturating_sub(2);
    if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
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

fn invalid(verdict: &Verdict, levels: &[LevelTable]) -> String {
    let checks = validity(verdict, ValidityStatus::Invalid);
    if let Some(first) = checks.first() {
        let mut parts = vec![format!("the measurement may not be judged: {}", first.text)];
        parts.extend(failures(levels).filter(|_| first.check != "all_failed"));
        match checks.len() {
            1 => {}
            2 => parts.push("1 more check failed".to_owned()),
            count => parts.push(format!("{} more checks failed", count - 1)),
        }
        parts.push(remedy(first.check).to_owned());
        return parts.join("; ");
    }
    match deciding(verdict, Status::Invalid).first() {
        Some(rule) => format!("{} has nothing to be judged by: {}; {}", rule.rule, rule.why, remedy("data")),
        None => format!("the measurement may not be judged; {}", remedy("")),
    }
}

/// How many requests failed, where that is a tenth or more: `75 % of requests failed (368 x connect)`.
fn failures(levels: &[LevelTable]) -> Option<String> {
    let worst = levels.iter().filter(|level| level.requests > 0).max_by(|a, b| failed_share(a).total_cmp(&failed_share(b)))?;
    let kinds = worst.errors_spelt();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    (failed_share(worst) >= 0.1).then(|| format!("{} of requests failed{kinds}", show(failed_share(worst), Unit::Share)))
}

fn failed_share(level: &LevelTable) -> f64 {
    level.errors as f64 / level.requests as f64
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
    let without = deciding(verdict, Status::NoBaseline).len();
    if without > 0 && facts::is_incomparable(&verdict.baseline) {
        let rules = if without == 1 { "1 regression rule".to_owned() } else { format!("{without} regression rules") };
        return Some(format!("{rules} not compared: the stored baseline differs ({})", facts::what_differs(&verdict.baseline)));
    }
    match without {
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
