//! One line for each rule that a person understands: the estimate, its interval, the limit, how much data, and by what method. An
//! INCONCLUSIVE says what would decide it.

use super::absolute::{Demand, Line, decide};
use super::evidence::Judged;
use super::regression::{By, Limits, as_shown};
use super::{Method, RuleResult, Status};
use crate::compare::{Comparison, Estimates, LEAST_BLOCKS, Obstacle, Scale};
use crate::metric::{Better, Metric, Per};
use crate::spec::{Cmp, Rule};
use crate::stats::{self, Proportion};
use crate::units::{Unit, show};

/// `P99`, `goodput`: what is observed.
fn subject(rule: &Rule) -> String {
    let label = rule.metric.row().label;
    rule.stat.map_or_else(|| label.to_owned(), |stat| format!("{label} {}", stat.to_string().to_uppercase()))
}

fn cmp(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::AtMost => "<=",
        Cmp::Below => "<",
        Cmp::AtLeast => ">=",
        Cmp::Above => ">",
    }
}

fn interval(judged: &Judged) -> String {
    let end = |value: Option<f64>| value.map_or_else(|| "unbounded".to_owned(), |value| show(value, judged.unit));
    match (judged.low, judged.high) {
        (None, None) => String::new(),
        (low, high) => format!(" ({} to {})", end(low), end(high)),
    }
}

/// What was observed against `limit`, which has its comparison sign.
fn observed(rule: &Rule, judged: &Judged, limit: &str) -> String {
    match judged.observed {
        Some(value) => format!("{} {}{} against {limit}", subject(rule), show(value, judged.unit), interval(judged)),
        None => {
            format!("{} is unbounded, and {limit} is asked: more requests failed, or came in one read, than it leaves out", subject(rule))
        }
    }
}

fn what_counts(rule: &Rule) -> &'static str {
    match rule.metric.row().per {
        Per::Gap => "gaps",
        Per::Session => "sessions",
        Per::Request | Per::Ratio | Per::Rate | Per::Search => "requests",
    }
}

/// A rule judged by statistics A.
pub(super) fn share(rule: &Rule, line: Line, judged: &Judged, share: &Proportion, allowed: f64, demand: Demand) -> String {
    let broken = share.p * share.total;
    let limit = show(line.value, rule.metric.row().unit);
    let head = if let Some(least) = line.share_of_rounds {
        format!(
            "{} {} {limit} in {} of {:.0} rounds{} against {}",
            subject(rule),
            cmp(line.cmp),
            show(1.0 - share.p, Unit::Share),
            share.total,
            interval(judged),
            show(least, Unit::Share)
        )
    } else {
        observed(rule, judged, &format!("{} {limit}", cmp(line.cmp)))
    };
    let (_, high) = share.bounds(demand.alpha);
    let counted = if line.share_of_rounds.is_some() { "rounds" } else { what_counts(rule) };
    let count = format!("{broken:.0} of {:.0} {counted} break it, {:.0} may", share.total, (allowed * share.total + 1e-9).floor());
    let method = if judged.method == Method::Count {
        "the count alone decides".to_owned()
    } else {
        format!("n {:.0}, n_eff {:.0}, method A", share.total, share.n_eff)
    };
    let tail = match judged.status {
        Status::Inconclusive => format!("; {}", undecided(rule, line, share, allowed, demand)),
        Status::Pass if judged.method == Method::Proportion => format!(
            "; at most {} at {} confidence, worse than {} is ruled out",
            show(high, Unit::Share),
            show(1.0 - demand.alpha, Unit::Share),
            show(stats::rule_out_share(allowed, demand.rule_out), Unit::Share)
        ),
        _ => String::new(),
    };
    format!("{head}; {count}{tail}; {method}")
}

/// What would decide a share: how many more requests like these, or a wider `rule_out`.
fn undecided(rule: &Rule, line: Line, share: &Proportion, allowed: f64, demand: Demand) -> String {
    let (_, high) = share.bounds(demand.alpha);
    let counted = if line.share_of_rounds.is_some() { "rounds" } else { what_counts(rule) };
    let what = if share.p <= allowed {
        let must = show(stats::rule_out_share(allowed, demand.rule_out), Unit::Share);
        format!("up to {} may break it and a pass must rule out {must}", show(high, Unit::Share))
    } else {
        "more break it than may, but that is not proven".to_owned()
    };
    let more = more_needed(share, allowed, demand).map_or_else(
        || "the share is so near the limit that no number of requests decides".to_owned(),
        |more| format!("about {more} more {counted} like these would decide"),
    );
    let odds = |p: f64| p / (1.0 - p);
    let wider = if share.p <= allowed && high < 1.0 && allowed > 0.0 {
        format!(", or rule_out: {:.1}x", (odds(high) / odds(allowed) * 10.0).ceil() / 10.0)
    } else {
        String::new()
    };
    format!("{what}; {more}{wider}")
}

/// How many more observations of the same kind would decide, found by growing the run; `None` beyond a thousandfold.
fn more_needed(share: &Proportion, allowed: f64, demand: Demand) -> Option<u64> {
    let grown = |factor: f64| Proportion {
        total: share.total * factor,
        n_eff: share.n_eff * factor,
        df: ((share.df + 1.0) * factor - 1.0).max(2.0),
        ..*share
    };
    let decided = |factor: f64| decide(&grown(factor), allowed, false, demand).0 != Status::Inconclusive;
    let mut high = 2.0;
    while !decided(high) {
        high *= 2.0;
        if high > 1000.0 {
            return None;
        }
    }
    let mut low = high / 2.0;
    while high / low > 1.01 {
        let middle = f64::midpoint(low, high);
        if decided(middle) { high = middle } else { low = middle }
    }
    let more = share.total * (high - 1.0);
    let step = 10_f64.powf((more.max(1.0).log10().floor() - 1.0).max(0.0));
    Some(super::evidence::count((more / step).ceil() * step))
}

/// A floor on a rate or on cache hits.
pub(super) fn floor(rule: &Rule, line: Line, judged: &Judged, rounds: usize) -> String {
    let head = observed(rule, judged, &format!("{} {}", cmp(line.cmp), show(line.value, judged.unit)));
    let tail = match judged.status {
        Status::Inconclusive => "; the interval holds the limit: more rounds would narrow it",
        _ => "",
    };
    format!("{head}; {rounds} rounds, method B{tail}")
}

/// No search was made.
pub(super) fn no_search(failed: bool) -> String {
    if failed {
        "the search was skipped, because the SLO is broken at the target load".to_owned()
    } else {
        "no data: no search for the headroom was made; `check` makes one after its levels, and `capacity` is one".to_owned()
    }
}

/// The bracket of the capacity search.
pub(super) fn headroom(rule: &Rule, line: Line, judged: &Judged) -> String {
    let tail = if judged.status == Status::Inconclusive { "; a finer search would decide" } else { "" };
    format!("headroom between{} against {} {}{tail} [{}]", interval(judged), cmp(line.cmp), show(line.value, judged.unit), rule.text)
}

/// A bare estimate.
pub(super) fn point(rule: &Rule, line: Line, judged: &Judged) -> String {
    let limit = show(line.value, rule.metric.row().unit);
    let head = match (line.share_of_rounds, judged.observed) {
        (Some(least), Some(share)) => format!(
            "{} {} {limit} in {} of {} rounds against {}",
            subject(rule),
            cmp(line.cmp),
            show(share, Unit::Share),
            judged.samples,
            show(least, Unit::Share)
        ),
        _ => observed(rule, judged, &format!("{} {limit}", cmp(line.cmp))),
    };
    let tail = match (judged.status, rule.stat) {
        (Status::Inconclusive, Some(stat)) => {
            let q = stat.fraction();
            let beyond = if rule.metric.row().better == Better::Low { 1.0 - q } else { q };
            format!("; {} takes at least {:.0} samples", stat.to_string().to_uppercase(), (1.0 / beyond - 1e-9).ceil())
        }
        _ => String::new(),
    };
    let counted = if line.share_of_rounds.is_some() { "rounds" } else { what_counts(rule) };
    format!("{head}; {} {counted}, bare estimate without an interval{tail}", judged.samples)
}

/// With what a run is compared: `3 stored runs`, `the baseline side by side`.
pub(super) fn beside_what(comparison: &Comparison) -> String {
    match comparison.stored {
        _ if comparison.paired => "the baseline side by side".to_owned(),
        1 => "1 stored run".to_owned(),
        stored => format!("{stored} stored runs"),
    }
}

/// A change against the runs that `others` names.
pub(super) fn change(row: &RuleResult, estimates: &Estimates, limits: Limits, by: By, others: &str) -> String {
    let spelt = |value: Option<f64>| value.map_or_else(|| "unbounded".to_owned(), |value| signed(value, limits.unit));
    let allowed = row.change_limit.map_or_else(String::new, |limit| signed(limit, limits.unit));
    if estimates.change.difference.is_infinite() {
        return format!("too many requests failed to have a figure, and the baseline has one; allowed is {allowed}");
    }
    let values = match (row.observed, row.baseline) {
        (Some(now), Some(then)) => format!(", pooled {} after {}", show(now, row.unit), show(then, row.unit)),
        _ => String::new(),
    };
    let By::Interval { alpha, rule_out, .. } = by else {
        return format!("changed by {}{values} against {others}; allowed is {allowed}; bare estimate", spelt(row.change));
    };
    let head = format!(
        "changed by {} ({} to {}){values}; allowed is {allowed}, against {others}",
        spelt(row.change),
        spelt(row.change_low),
        spelt(row.change_high)
    );
    let tail = match row.status {
        Status::Inconclusive => format!("; {}", undecided_change(row, estimates, limits, alpha, rule_out)),
        Status::Pass if !row.warnings.is_empty() => {
            let sign = row.change_limit.map_or(1.0, f64::signum);
            format!(
                "; beyond the limit is likely but not proven, and worse than {} is ruled out",
                show_harm(sign * limits.rule_out, estimates, limits)
            )
        }

        _ => String::new(),
    };
    let (counted, method) = if row.method == Some(Method::Paired) { ("pairs of rounds", "E") } else { ("rounds", "D") };
    format!("{head}; {} {counted}, n {}, method {method}{tail}", estimates.blocks, row.samples)
}

/// What would decide a change: paired rounds, or a wider `rule_out`.
fn undecided_change(row: &RuleResult, estimates: &Estimates, limits: Limits, alpha: f64, rule_out: f64) -> String {
    let sign = row.change_limit.map_or(1.0, f64::signum);
    let most = estimates.change.harm_at_most(sign, alpha);
    let must = show_harm(sign * limits.rule_out, estimates, limits);
    let could_be = show_harm(sign * most, estimates, limits);
    let x_of = |harm: f64| match (estimates.scale, sign > 0.0) {
        (Scale::Share, _) => harm,
        (Scale::Log, true) => harm.exp_m1(),
        (Scale::Log, false) => -(-harm).exp_m1(),
    };
    let needed = (x_of(most) / limits.x * 10.0).ceil() / 10.0;
    let helps = needed.is_finite() && needed > rule_out && (sign > 0.0 || needed * limits.x < 1.0 || estimates.scale == Scale::Share);
    let wider = if helps { format!(", or rule_out: {needed:.1}x") } else { String::new() };
    let noise = estimates.change.tau.powi(2) * (1.0 + 1.0 / estimates.stored.len().max(1) as f64);
    let rounds = if noise < estimates.change.se.powi(2) / 2.0 { ", more rounds" } else { "" };
    let what = if row.method == Some(Method::Paired) {
        "more rounds".to_owned()
    } else {
        format!("`--against` a baseline side by side, more stored runs{rounds}")
    };
    format!("it could be {could_be} and a pass must rule out {must}; {what}{wider} would decide")
}

fn show_harm(difference: f64, estimates: &Estimates, limits: Limits) -> String {
    signed(as_shown(difference, estimates, limits), limits.unit)
}

/// A change with its sign, whatever its unit.
fn signed(value: f64, unit: Unit) -> String {
    let plus = if value > 0.0 && !matches!(unit, Unit::Change | Unit::Points) { "+" } else { "" };
    format!("{plus}{}", show(value, unit))
}

/// Why a pass is none on a noisy site.
pub(super) fn site_noise(estimates: &Estimates, limits: Limits, stored: usize) -> String {
    let upper = stats::tau_upper(estimates.change.tau, stored);
    let unit = if estimates.scale == Scale::Share { Unit::Points } else { Unit::Change };
    // A limit holds from twice the noise on; relative limits are written as x = e^d − 1.
    let could = if estimates.scale == Scale::Share { 2.0 * upper } else { (2.0 * upper).exp_m1() };
    format!(
        "runs on this site may differ by {} among themselves, more than half the limit; it could hold a limit of {}, or use `--against`",
        show(upper, unit),
        show(could * limits.x.signum().abs(), unit)
    )
}

/// Why nothing can be said of a change.
pub(super) fn obstacle(rule: &Rule, obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::NoLevel => format!("level {} did not run", rule.level),
        Obstacle::NoData => no_data(rule),
        Obstacle::NoBaselineData => {
            "the stored runs hold no data for it; `goodput-gate check SPEC --save-baseline` saves a run that does".to_owned()
        }
        Obstacle::FewBlocks { blocks } => format!(
            "its scope fills {blocks} blocks of 20 requests, and {LEAST_BLOCKS} are needed: about {} times the rounds would decide",
            (LEAST_BLOCKS as f64 / (blocks.max(1) as f64)).ceil()
        ),
        Obstacle::ThinTail { per_block, samples } => format!(
            "{} against a baseline takes 20 samples a round and 1000 in all; there are {per_block} and {samples}: more requests a round, or a percentile up to P95, would decide",
            subject(rule)
        ),
        Obstacle::BaselineUnbounded => "too many requests of the baseline failed for it to have a figure: save a healthy one".to_owned(),
    }
}

/// There are no data for a rule.
pub(super) fn no_data(rule: &Rule) -> String {
    match rule.metric {
        Metric::CacheHit => "no data: the server does not report cached tokens".to_owned(),
        Metric::Headroom => "no data: the capacity search has not run".to_owned(),
        _ if rule.when.is_everything() && rule.part.is_none() => format!("no data for {}", subject(rule)),
        _ => format!("no data for {}: no request lies in its scope", subject(rule)),
    }
}
