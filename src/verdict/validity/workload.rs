//! Was what was measured what was meant: lengths, cache state, streaming?

use super::{Inputs, Validity, ValidityStatus, at, check, is_ruled};
use crate::metric::Metric;
use crate::record::Request;
use crate::summary::Level;
use crate::units::{Unit, show};
use crate::wire::TokenSource;

/// Share of requests whose length may be off.
const OFF: f64 = 0.01;
/// Points by which measured cache hits may differ from offered ones.
const CACHE_POINTS: f64 = 0.02;
/// Caches keep whole blocks of this many tokens.
const CACHE_BLOCK: u64 = 16;
/// As much of a chat template is believed where it is not known.
const TEMPLATE: u64 = 64;
/// More than half the requests buffered say nothing of decoding.
const BUFFERED: f64 = 0.5;
/// Buffered requests are worth a warning from here on.
const BUFFERED_WARN: f64 = 0.01;
/// More tokens than this an event make gaps coarse.
const TOKENS_PER_EVENT: f64 = 1.05;

fn answers<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Request> {
    let side = inputs.recording.side();
    let is_counted = move |request: &&Request| request.round.is_some() && request.side == side && request.is_ok();
    inputs.recording.requests.iter().filter(is_counted)
}

/// Share of `requests` for which `off` is true; `None` where it can be said of none.
fn share<'a>(requests: impl Iterator<Item = &'a Request>, off: impl Fn(&Request) -> Option<bool>) -> Option<f64> {
    let (mut bad, mut all) = (0_u64, 0_u64);
    for answer in requests.filter_map(off) {
        bad += u64::from(answer);
        all += 1;
    }
    (all > 0).then(|| bad as f64 / all as f64)
}

fn by_limit(value: f64, limit: f64) -> ValidityStatus {
    if value > limit { ValidityStatus::Invalid } else { ValidityStatus::Ok }
}

/// `exact_output: true`: output counts are those that were asked for. `None` where the spec does not demand it.
pub(super) fn exact_output(inputs: &Inputs<'_>) -> Option<Validity> {
    if !inputs.exact_output {
        return None;
    }
    let off = |request: &Request| {
        let counted = matches!(request.token_source, Some(TokenSource::Usage | TokenSource::Tokenizer));
        request.output_tokens.filter(|_| counted).map(|tokens| tokens != request.asked_output)
    };
    Some(match share(answers(inputs), off) {
        Some(share) => {
            let text = format!("output length off on {} of requests, at most {}", show(share, Unit::Share), show(OFF, Unit::Share));
            check("exact_output", by_limit(share, OFF), text)
        }
        None => {
            check("exact_output", ValidityStatus::Warn, "the server reports no token counts, so exact output can't be checked".to_owned())
        }
    })
}

/// A calibrated run's input lengths are those that were asked for; other runs are approximate and say so.
pub(super) fn input_lengths(inputs: &Inputs<'_>) -> Option<Validity> {
    let share = share(answers(inputs), |request| request.input_tokens.map(|tokens| tokens != request.asked_input))?;
    let figure = format!("input length off on {} of requests", show(share, Unit::Share));
    Some(if inputs.recording.conditions.calibrated {
        check("input_lengths", by_limit(share, OFF), format!("{figure}, at most {} in a calibrated run", show(OFF, Unit::Share)))
    } else {
        check("input_lengths", ValidityStatus::Ok, format!("{figure}; the run was not calibrated, its lengths are approximate"))
    })
}

/// Measured cache hits are those that were offered, tokens that every prompt shares included. Later turns of a session carry their
/// history, which is meant to hit, so first turns alone are looked at.
pub(super) fn cache(inputs: &Inputs<'_>) -> Validity {
    let first_turns: Vec<(u64, u64)> = answers(inputs)
        .filter(|request| request.turn == 0)
        .filter_map(|request| request.cached_tokens.zip(request.input_tokens))
        .filter(|(_, input)| *input > 0)
        .collect();
    let input: f64 = first_turns.iter().map(|(_, input)| *input as f64).sum();
    if input <= 0.0 {
        return check("cache_hits", ValidityStatus::Ok, "cache hits are not reported by the server".to_owned());
    }
    let measured = first_turns.iter().map(|(cached, _)| *cached as f64).sum::<f64>() / input;
    // What all prompts share is at most what even the least cached of them had; a template is short where nobody told its length.
    let seen = first_turns.iter().map(|(cached, _)| *cached).min().unwrap_or(0).min(TEMPLATE);
    let shared = inputs.shared_tokens.unwrap_or(seen) / CACHE_BLOCK * CACHE_BLOCK;
    let from_shared: f64 = first_turns.iter().map(|(_, input)| shared.min(*input) as f64).sum();
    // What prompts share by their template is the most that may hit besides the offer, not what must: a server may cache none of it,
    // as llama.cpp does, which reuses whole slots only.
    let least = inputs.recording.conditions.workload.prefix_hit;
    let offered = (least + from_shared / input).min(1.0);
    let text = format!(
        "measured cache hits {}, offered {} ({shared} shared tokens a prompt counted), may differ by {} points",
        show(measured, Unit::Share),
        show(offered, Unit::Share),
        CACHE_POINTS * 100.0
    );
    check("cache_hits", by_limit((measured - offered).max(least - measured), CACHE_POINTS), text)
}

fn worst_level<'a>(inputs: &'a Inputs<'_>, of: impl Fn(&Level) -> Option<f64>) -> Option<(f64, &'a Level)> {
    inputs.summary.levels.iter().filter_map(|level| Some((of(level)?, level))).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Answers that came in one read although they have several tokens.
pub(super) fn buffered(inputs: &Inputs<'_>) -> Validity {
    let Some((share, level)) = worst_level(inputs, |level| level.table.buffered) else {
        return check("buffered", ValidityStatus::Ok, "no answer of two or more tokens".to_owned());
    };
    let paced = is_ruled(inputs, &[Metric::Tpot, Metric::Itl, Metric::Stall, Metric::Speed]);
    let status = match share {
        share if share > BUFFERED && paced => ValidityStatus::Invalid,
        share if share >= BUFFERED_WARN => ValidityStatus::Warn,
        _ => ValidityStatus::Ok,
    };
    let limits = if paced { "at most 50 % for rules on tpot, itl, stall or speed" } else { "a warning from 1 %" };
    let text = format!("{} of answers came in one read{}; {limits}", show(share, Unit::Share), at(inputs, &level.table.level));
    check("buffered", status, text)
}

/// Several tokens an event make gaps coarser than tokens. `None` where tokens are not counted by the server.
pub(super) fn tokens_per_event(inputs: &Inputs<'_>) -> Option<Validity> {
    let (tokens, level) = worst_level(inputs, |level| level.table.tokens_per_event)?;
    let coarse = tokens > TOKENS_PER_EVENT;
    let status = if coarse { ValidityStatus::Warn } else { ValidityStatus::Ok };
    let meaning = if coarse { ": an itl gap is then several tokens long" } else { "" };
    let text = format!("{tokens:.2} tokens an event{}, advice above {TOKENS_PER_EVENT}{meaning}", at(inputs, &level.table.level));
    Some(check("tokens_per_event", status, text))
}

/// Rules on itl where half the reads carry several events: the gaps are the network's. `None` where no rule speaks of itl.
pub(super) fn crowded_reads(inputs: &Inputs<'_>) -> Option<Validity> {
    if !is_ruled(inputs, &[Metric::Itl]) {
        return None;
    }
    let (share, level) = worst_level(inputs, |level| level.crowded_reads)?;
    let status = if is_crowded(level) { ValidityStatus::Inconclusive } else { ValidityStatus::Ok };
    let text = format!(
        "{} of reads carried several events{}, below 50 % for rules on itl",
        show(share, Unit::Share),
        at(inputs, &level.table.level)
    );
    Some(check("crowded_reads", status, text))
}

/// Whether half the reads of a level carried several events.
pub(in crate::verdict) fn is_crowded(level: &Level) -> bool {
    level.crowded_reads.is_some_and(|share| share >= 0.5)
}

/// Answers whose server counts more tokens than were asked for, and more than came: a count that cannot be true must not make tpot,
/// speed or a token rate look good. One over is the end-of-sequence token, which some servers count.
pub(super) fn impossible_counts(inputs: &Inputs<'_>) -> Option<Validity> {
    let counted: Vec<bool> = answers(inputs)
        .filter_map(|request| request.output_tokens.map(|tokens| tokens > request.asked_output + 1 && tokens > request.events))
        .collect();
    let wrong = counted.iter().filter(|wrong| **wrong).count();
    if wrong == 0 {
        return None;
    }
    let share = wrong as f64 / counted.len() as f64;
    let text = format!("{wrong} of {} answers claim more output tokens than were asked for and than came", counted.len());
    Some(check("output_counts", by_limit(share, OFF), text))
}
