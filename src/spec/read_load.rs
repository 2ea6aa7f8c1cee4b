//! Reading of `load`.

use super::issue::{Issue, meant};
use super::quantity::{Bad, count, duration, per_second, requests, split, times};
use super::raw::{Fields, Sink, list, text};
use super::read_workload::{call, named_numbers, unsupported};
use super::{Arrival, Load, Offered, RoundLength, Rounds, WarmUp};
use std::time::Duration;

const MOST_LEVELS: usize = 50;
const MOST_CONCURRENCY: u64 = 100_000;
const MOST_ROUNDS: u64 = 100_000;
const ROUNDS_HELP: &str = "write 40, or 20..120 to go on while undecided";

/// Reads `load`.
pub(super) fn load(fields: Fields<'_>, sink: &mut Sink) -> Load {
    let offered = offered(fields, sink);
    let round = fields.read("round", sink, round).unwrap_or(RoundLength::Times(1.0));
    if matches!(round, RoundLength::Time(_)) && !matches!(offered, Some(Offered::Rate { .. })) && (offered.is_some() || !fields.has("rate"))
    {
        sink.push(
            Issue::error("round-needs-rate", "a round in seconds needs an open loop")
                .help("in a closed loop a slower server would get smaller rounds; write `50 requests` or `1x`, or use `rate`")
                .at(fields.key_span("round")),
        );
    }
    let warmup = fields.read("warmup", sink, warmup).unwrap_or(WarmUp::Times(1.0));
    steady(fields, round, warmup, sink);
    Load {
        offered,
        levels: levels(fields, sink),
        rounds: fields.read("rounds", sink, rounds).unwrap_or(Rounds { min: 40, max: 40 }),
        round,
        warmup,
        min_time: fields.read("min_time", sink, duration).unwrap_or(Duration::ZERO),
        seed: fields.read("seed", sink, seed).unwrap_or(42),
    }
}

fn offered(fields: Fields<'_>, sink: &mut Sink) -> Option<Offered> {
    let concurrency = fields.read("concurrency", sink, |text| match count(text)? {
        many @ 1..=MOST_CONCURRENCY => Ok(many),
        _ => Err(Bad::new("out-of-range", format!("a concurrency of `{text}` is out of range"), format!("write 1 to {MOST_CONCURRENCY}"))),
    });
    let rate = fields.read("rate", sink, |text| match per_second(text)? {
        rate if rate > 0.0 && rate <= 1e6 => Ok(rate),
        _ => Err(Bad::new("out-of-range", format!("a rate of `{text}` is out of range"), "write above 0/s and at most 1000000/s")),
    });
    let arrival = fields.read("arrival", sink, arrival);
    if fields.has("concurrency") && fields.has("rate") {
        sink.push(
            Issue::error("two-loads", "`load` has both a concurrency and a rate")
                .help("concurrency is a closed loop, rate an open one; keep one")
                .at(fields.key_span("rate")),
        );
    }
    if fields.has("arrival") && !fields.has("rate") {
        let issue = Issue::error("arrival-needs-rate", "`arrival` is for an open loop");
        sink.push(issue.help("write a `rate`, or leave `arrival` out").at(fields.key_span("arrival")));
    }
    if arrival == Some(Arrival::Trace) {
        sink.push(unsupported("`arrival: trace`", "write poisson, constant or gamma(shape=0.5)").at(fields.key_span("arrival")));
    }
    match (concurrency, rate) {
        (Some(many), _) => Some(Offered::Concurrency(many)),
        (None, Some(per_second)) => Some(Offered::Rate { per_second, arrival: arrival.unwrap_or(Arrival::Poisson) }),
        (None, None) => None,
    }
}

fn arrival(text: &str) -> Result<Arrival, Bad> {
    match text {
        "poisson" => return Ok(Arrival::Poisson),
        "constant" => return Ok(Arrival::Constant),
        "trace" => return Ok(Arrival::Trace),
        _ => {}
    }
    match call(text) {
        Some(("gamma", arguments)) => match named_numbers(arguments, &["shape"]).as_deref() {
            Some([shape]) if (0.01..=1000.0).contains(shape) => Ok(Arrival::Gamma { shape: *shape }),
            _ => Err(Bad::new("not-a-formula", format!("`{text}` needs a shape"), "write gamma(shape=0.5), of shape 0.01 to 1000")),
        },
        _ => Err(Bad::new(
            "unknown-word",
            format!("`{text}` is no arrival"),
            meant(text, &["poisson", "constant", "gamma(shape=0.5)", "trace"]),
        )),
    }
}

fn levels(fields: Fields<'_>, sink: &mut Sink) -> Vec<(String, f64)> {
    let default = vec![("1x".to_owned(), 1.0)];
    let Some(node) = fields.get("levels", sink) else { return default };
    let items = list(node, "levels", "[1x, 2x]", sink);
    if matches!(node.kind, super::yaml::Kind::Seq(_)) && (items.is_empty() || items.len() > MOST_LEVELS) {
        let issue = Issue::error("empty-list", format!("`levels` lists {} levels", items.len()));
        sink.push(issue.help(format!("list 1 to {MOST_LEVELS} levels, as [1x]")).at(node.span.clone()));
    }
    let mut levels: Vec<(String, f64)> = Vec::new();
    for item in items.iter().take(MOST_LEVELS) {
        let Some(label) = text(item, "levels", sink) else { continue };
        let Some(factor) = sink.keep(item, times(label)) else { continue };
        if levels.iter().any(|(_, other)| same(*other, factor)) {
            let issue = Issue::error("duplicate-level", format!("the level `{label}` is listed twice"));
            sink.push(issue.help("a rule could not say which it means").at(item.span.clone()));
            continue;
        }
        levels.push((label.to_owned(), factor));
    }
    if levels.is_empty() { default } else { levels }
}

/// Whether two multiples are one level.
pub(super) fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn rounds(text: &str) -> Result<Rounds, Bad> {
    let one = |text: &str| match count(text).map_err(|bad| not_rounds(text, bad))? {
        rounds @ 1..=MOST_ROUNDS => Ok(u32::try_from(rounds).unwrap_or(1)),
        _ => Err(Bad::new("out-of-range", format!("`{text}` rounds is out of range"), format!("write 1 to {MOST_ROUNDS}"))),
    };
    let Some((low, high)) = text.split_once("..") else {
        let rounds = one(text)?;
        return Ok(Rounds { min: rounds, max: rounds });
    };
    let rounds = Rounds { min: one(low.trim())?, max: one(high.trim())? };
    if rounds.min > rounds.max {
        return Err(Bad::new("not-a-range", format!("`{text}` runs backwards"), ROUNDS_HELP));
    }
    Ok(rounds)
}

/// A word in the place of a number of rounds.
fn not_rounds(text: &str, bad: Bad) -> Bad {
    if bad.code != "not-a-quantity" {
        return bad;
    }
    Bad::new(bad.code, format!("`{text}` is no number of rounds"), ROUNDS_HELP)
}

fn round(text: &str) -> Result<RoundLength, Bad> {
    if let Some(count) = requests(text) {
        return match count? {
            0 => Err(Bad::new("out-of-range", "a round of 0 requests is none", "write `50 requests` or `1x`")),
            count => Ok(RoundLength::Requests(count)),
        };
    }
    match split(text) {
        Some((_, "x")) => times(text).map(RoundLength::Times),
        Some((_, "")) => Err(Bad::new("missing-unit", format!("`{text}` has no unit"), "write `1x`, `50 requests`, or `20s` in open loop")),
        _ => match duration(text) {
            Ok(Duration::ZERO) => Err(Bad::new("out-of-range", "a round of no time is none", "write `20s`")),
            Ok(time) => Ok(RoundLength::Time(time)),
            Err(bad) => Err(Bad::new(bad.code, bad.message, "write `1x`, `50 requests`, or `20s` in open loop")),
        },
    }
}

fn warmup(text: &str) -> Result<WarmUp, Bad> {
    let help = "write `1x` or `0 requests`";
    if let Some(count) = requests(text) {
        return count.map(WarmUp::Requests);
    }
    match split(text) {
        Some((_, "")) => Err(Bad::new("missing-unit", format!("`{text}` has no unit"), help)),
        Some((_, "x")) => times(text).map(WarmUp::Times).map_err(|bad| Bad::new(bad.code, bad.message, help)),
        _ => Err(Bad::new("not-a-quantity", format!("`{text}` is no length of a warm-up"), help)),
    }
}

/// The starting stampede must be over before anything counts (statistics: with concurrency 60 a warm-up of 20 gives a TTFT P99
/// of 1,766 ms on a server whose steady one is 191 ms).
fn steady(fields: Fields<'_>, round: RoundLength, warmup: WarmUp, sink: &mut Sink) {
    if matches!(round, RoundLength::Times(times) if times < 1.0) {
        let issue = Issue::warning("short-round", "a round below 1x holds less than one request a slot");
        sink.push(issue.help("round: 1x makes rounds that can be compared").at(fields.key_span("round")));
    }
    if matches!(warmup, WarmUp::Times(times) if times < 1.0) {
        let issue = Issue::warning("short-warmup", "a warm-up below 1x counts the starting stampede as the service");
        sink.push(issue.help("warmup: 1x sends one request a slot before anything counts").at(fields.key_span("warmup")));
    }
}

fn seed(text: &str) -> Result<u64, Bad> {
    text.parse().map_err(|_| Bad::new("not-whole", format!("`{text}` is no seed"), "write a whole number, as `42`"))
}

/// Warnings about lengths in requests need the concurrency, which may come by flag.
pub(super) fn below_one_slot(load: &Load) -> (bool, bool) {
    let Some(Offered::Concurrency(many)) = load.offered else { return (false, false) };
    let highest = load.levels.iter().map(|(_, factor)| *factor).fold(1.0, f64::max);
    let slots = (many as f64 * highest).ceil();
    let short_round = matches!(load.round, RoundLength::Requests(count) if f64::from(count) < slots);
    let short_warmup = matches!(load.warmup, WarmUp::Requests(count) if f64::from(count) < slots);
    (short_round, short_warmup)
}
