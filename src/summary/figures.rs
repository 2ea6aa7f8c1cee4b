//! The descriptive table of a level, filled in.

use super::fact::is_estimated;
use super::{BucketRow, Fact, Gaps, Lens, Level, LevelTable, PartRow, Percentiles, Sample, Scope, breaks};
use crate::metric::Metric;
use crate::record::{LevelInfo, Request};
use crate::stats;
use crate::wire::{ErrorKind, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// P50, P90, P95, P99 by type 7, with mean and maximum, of values in any order.
#[must_use]
pub(super) fn percentiles(mut values: Vec<f64>) -> Percentiles {
    values.sort_by(f64::total_cmp);
    let at = |q| stats::quantile(&values, q);
    Percentiles {
        samples: values.len() as u64,
        p50: at(0.5),
        p90: at(0.9),
        p95: at(0.95),
        p99: at(0.99),
        mean: (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64),
        max: values.last().copied(),
    }
}

/// The table of `level`, made of `requests`, over a window of `window_s` seconds.
pub(super) fn table(info: &LevelInfo, level: &Level, requests: &[&Request], lens: &Lens, window_s: Option<f64>) -> LevelTable {
    let all = level.facts.len() as u64;
    let ok: Vec<&Fact> = level.facts.iter().filter(|fact| fact.ok).collect();
    let good: Vec<&Fact> = ok.iter().copied().filter(|fact| fact.good).collect();
    let tokens = |facts: &[&Fact]| facts.iter().map(|fact| fact.tokens as f64).fold(0.0, |sum, tokens| sum + tokens);
    let per_second = |amount: f64| window_s.map(|window| amount / window);
    let judged = !lens.constraints.is_empty() && all > 0;
    let of = |metric: Metric| percentiles(values(&ok, metric));
    LevelTable {
        level: info.label.clone(),
        concurrency: info.concurrency,
        offered_rps: info.rate,
        rounds: level.whole_rounds as u64,
        requests: all,
        errors: all - ok.len() as u64,
        error_kinds: error_kinds(requests),
        error_statuses: error_statuses(requests),
        window_s,
        goodput: judged.then(|| good.len() as f64 / all as f64),
        goodput_rps: per_second(good.len() as f64).filter(|_| judged),
        goodput_tps: per_second(tokens(&good)).filter(|_| judged),
        throughput_rps: per_second(ok.len() as f64),
        throughput_tps: per_second(tokens(&ok)),
        cache_hit: cache_hit(level.facts.iter()),
        ttft: of(Metric::Ttft),
        ttfa: of(Metric::Ttfa),
        tpot: of(Metric::Tpot),
        e2e_per_token: percentiles(e2e_per_token(&ok)),
        itl: itl(level),
        stall: of(Metric::Stall),
        e2e: of(Metric::E2e),
        tokens_per_event: tokens_per_event(requests),
        buffered: buffered(&ok),
        opened_connection: share(requests.iter().map(|request| request.connect.is_some())),
        estimated_tokens: requests.iter().filter(|request| request.is_ok() && is_estimated(request)).count() as u64,
        input_tokens_p50_p95: input_tokens(requests),
        parts: parts(&level.facts, judged),
        buckets: buckets(&ok, lens),
        broken_in_one_read: lens
            .constraints
            .iter()
            .map(|constraint| {
                let in_one = |fact: &&&Fact| breaks(fact, constraint) && matches!(fact.sample(constraint.metric), Sample::Worst);
                ok.iter().filter(in_one).count() as u64
            })
            .collect(),
        broken_constraints: lens
            .constraints
            .iter()
            .map(|constraint| (constraint.text.clone(), ok.iter().filter(|fact| breaks(fact, constraint)).count() as u64))
            .collect(),
    }
}

fn values(facts: &[&Fact], metric: Metric) -> Vec<f64> {
    let measured = |fact: &&Fact| if let Sample::Value(value) = fact.sample(metric) { Some(value) } else { None };
    facts.iter().filter_map(measured).collect()
}

fn share(flags: impl Iterator<Item = bool>) -> Option<f64> {
    let (mut yes, mut all) = (0_u64, 0_u64);
    for flag in flags {
        yes += u64::from(flag);
        all += 1;
    }
    (all > 0).then(|| yes as f64 / all as f64)
}

/// Of the answers with two or more tokens, how many came in one read.
fn buffered(ok: &[&Fact]) -> Option<f64> {
    share(ok.iter().filter(|fact| fact.tokens >= 2).map(|fact| fact.buffered))
}

fn cache_hit<'a>(facts: impl Iterator<Item = &'a Fact>) -> Option<f64> {
    let reported = facts.filter_map(|fact| fact.cached);
    let (cached, input) = reported.fold((0.0, 0.0), |sum, both| (sum.0 + both.0 as f64, sum.1 + both.1 as f64));
    (input > 0.0).then(|| cached / input)
}

/// The figures of each named part, by name.
fn parts(facts: &[Fact], judged: bool) -> Vec<PartRow> {
    let names: BTreeSet<&str> = facts.iter().filter_map(|fact| fact.part.as_deref()).collect();
    let row = |name: &str| {
        let all: Vec<&Fact> = facts.iter().filter(|fact| fact.is_of(Some(name))).collect();
        let ok: Vec<&Fact> = all.iter().copied().filter(|fact| fact.ok).collect();
        let good = ok.iter().filter(|fact| fact.good).count();
        let of = |metric: Metric| percentiles(values(&ok, metric));
        PartRow {
            part: name.to_owned(),
            requests: all.len() as u64,
            errors: (all.len() - ok.len()) as u64,
            goodput: judged.then(|| good as f64 / all.len() as f64),
            cache_hit: cache_hit(all.iter().copied()),
            ttft: of(Metric::Ttft),
            tpot: of(Metric::Tpot),
            e2e: of(Metric::E2e),
        }
    };
    names.into_iter().map(row).collect()
}

/// The other convention of time per output token, LLMPerf's: the first token's wait is in it, and n tokens share it.
fn e2e_per_token(ok: &[&Fact]) -> Vec<f64> {
    let measured = |fact: &&&Fact| if let Sample::Value(value) = fact.e2e { Some(value) } else { None };
    ok.iter().filter(|fact| fact.tokens >= 2).filter_map(|fact| measured(&fact).map(|e2e| e2e / fact.tokens as f64)).collect()
}

/// Generated tokens per token-bearing event, of answers whose tokens were counted by something other than their events.
fn tokens_per_event(requests: &[&Request]) -> Option<f64> {
    let counted = requests.iter().filter(|request| request.is_ok() && !is_estimated(request) && request.events > 0);
    let (tokens, events) =
        counted.fold((0.0, 0.0), |sum, request| (sum.0 + request.output_tokens.unwrap_or(0) as f64, sum.1 + request.events as f64));
    (events > 0.0 && tokens > 0.0).then(|| tokens / events)
}

/// The pooled gaps; the exact maximum where the longest gap of each answer is known, since a histogram's is a bucket's.
fn itl(level: &Level) -> Percentiles {
    let Some((_, rounds)) = level.gaps.iter().find(|(scope, _)| *scope == Scope::default()) else { return Percentiles::default() };
    let pooled = Gaps::pool(rounds.iter()).percentiles();
    let stalls = level.facts.iter().filter(|fact| fact.ok).filter_map(|fact| match fact.stall {
        Sample::Value(value) => Some(value),
        Sample::Worst | Sample::Outside | Sample::Unknown => None,
    });
    Percentiles { max: pooled.max.and(stalls.max_by(f64::total_cmp).or(pooled.max)), ..pooled }
}

fn error_kinds(requests: &[&Request]) -> Vec<(ErrorKind, u64)> {
    most_frequent(requests.iter().filter_map(|request| kind_of_error(request)))
}

fn error_statuses(requests: &[&Request]) -> Vec<(u16, u64)> {
    most_frequent(requests.iter().filter(|request| kind_of_error(request) == Some(ErrorKind::HttpStatus)).filter_map(|it| it.http_status))
}

fn kind_of_error(request: &Request) -> Option<ErrorKind> {
    if let Outcome::Error(failure) = &request.outcome { Some(failure.kind) } else { None }
}

/// How often each occurs, the most frequent first.
fn most_frequent<T: Ord + Copy>(items: impl Iterator<Item = T>) -> Vec<(T, u64)> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_insert(0_u64) += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(item, count)| (std::cmp::Reverse(*count), *item));
    counts
}

fn input_tokens(requests: &[&Request]) -> Option<(f64, f64)> {
    let mut measured: Vec<f64> = requests.iter().filter_map(|request| request.input_tokens).map(|tokens| tokens as f64).collect();
    measured.sort_by(f64::total_cmp);
    Some((stats::quantile(&measured, 0.5)?, stats::quantile(&measured, 0.95)?))
}

fn buckets(ok: &[&Fact], lens: &Lens) -> Vec<BucketRow> {
    let rows = |metric: Metric, by: &'static str, edges: &[u64], length: fn(&Fact) -> u64| {
        (0..=edges.len())
            .map(|bucket| {
                let inside: Vec<&Fact> = ok
                    .iter()
                    .copied()
                    .filter(|fact| edges.iter().filter(|edge| is_past(length(fact), **edge, edges)).count() == bucket)
                    .collect();
                BucketRow { metric: metric.name(), by, label: label(edges, bucket), percentiles: percentiles(values(&inside, metric)) }
            })
            .collect::<Vec<_>>()
    };
    let mut all = rows(Metric::Ttft, "input_tokens", &lens.buckets.input, |fact| fact.input);
    all.extend(rows(Metric::E2e, "output_tokens", &lens.buckets.output, |fact| fact.output));
    all
}

/// Whether `length` lies past `edge`. The first edge belongs to the bucket above it and the last to the one below it, as in `<1k`,
/// `1k–8k`, `>8k`; every edge between opens its bucket.
fn is_past(length: u64, edge: u64, edges: &[u64]) -> bool {
    let closes = edges.len() > 1 && edges.last() == Some(&edge);
    if closes { length > edge } else { length >= edge }
}

fn label(edges: &[u64], bucket: usize) -> String {
    match (bucket.checked_sub(1).and_then(|below| edges.get(below)), edges.get(bucket)) {
        (None, None) => "all".to_owned(),
        (None, Some(high)) => format!("<{}", spelt(*high)),
        (Some(low), Some(high)) => format!("{}–{}", spelt(*low), spelt(*high)),
        (Some(low), None) if edges.len() > 1 => format!(">{}", spelt(*low)),
        (Some(low), None) => format!("≥{}", spelt(*low)),
    }
}

fn spelt(tokens: u64) -> String {
    if tokens > 0 && tokens.is_multiple_of(1024) { format!("{}k", tokens / 1024) } else { tokens.to_string() }
}
