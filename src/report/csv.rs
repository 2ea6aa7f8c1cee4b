//! The requests of a run as CSV (RFC 4180), one line a request, warm-up included. Gaps and the server's own error texts stay in the
//! run file.

use super::text::visible;
use crate::record::{Recording, Request, Side};
use crate::units::Nanos;
use crate::wire::Outcome;

const HEADS: [&str; 30] = [
    "id",
    "side",
    "part",
    "session",
    "level",
    "round",
    "turn",
    "scheduled_ms",
    "sent_ms",
    "start_lag_ms",
    "connect_ms",
    "headers_ms",
    "ttft_ms",
    "ttfa_ms",
    "tpot_ms",
    "e2e_ms",
    "closed_ms",
    "stall_ms",
    "input_tokens",
    "output_tokens",
    "asked_input_tokens",
    "asked_output_tokens",
    "cached_tokens",
    "token_source",
    "events",
    "finish_reason",
    "outcome",
    "error_kind",
    "http_status",
    "warnings",
];

/// Spells the requests of `recording`. What is unknown is an empty cell. A text that a spreadsheet would take for a formula gets an
/// apostrophe in front.
#[must_use]
pub fn render(recording: &Recording) -> String {
    let mut out = format!("{}\r\n", HEADS.join(","));
    for request in &recording.requests {
        let level = recording.conditions.load.levels.get(request.level).map_or("", |level| level.label.as_str());
        out.push_str(&cells(request, level).join(","));
        out.push_str("\r\n");
    }
    out
}

fn cells(of: &Request, level: &str) -> [String; 30] {
    let (outcome, error_kind) = match &of.outcome {
        Outcome::Ok => ("ok", ""),
        Outcome::Error(failure) => ("error", failure.kind.name()),
    };
    [
        of.id.to_string(),
        match of.side {
            Side::Candidate => "candidate".to_owned(),
            Side::Baseline => "baseline".to_owned(),
        },
        text(of.part.as_deref().unwrap_or_default()),
        count(of.session),
        text(level),
        count(of.round.map(u64::from)),
        of.turn.to_string(),
        ms(Some(of.scheduled)),
        ms(Some(of.sent)),
        ms(Some(of.start_lag())),
        ms(of.connect),
        ms(of.headers),
        ms(of.first_token),
        ms(of.first_answer),
        of.tpot().map(|nanos| (nanos / 1e6).to_string()).unwrap_or_default(),
        ms(of.last_token),
        ms(of.closed),
        ms(of.stall.or_else(|| of.gaps.iter().copied().max())),
        count(of.input_tokens),
        count(of.output_tokens),
        of.asked_input.to_string(),
        of.asked_output.to_string(),
        count(of.cached_tokens),
        of.token_source.map(|source| source.name().to_owned()).unwrap_or_default(),
        of.events.to_string(),
        text(of.finish_reason.as_deref().unwrap_or_default()),
        outcome.to_owned(),
        error_kind.to_owned(),
        count(of.http_status.map(u64::from)),
        text(&of.warnings.join(" ")),
    ]
}

fn ms(nanos: Option<Nanos>) -> String {
    nanos.map(|nanos| nanos.as_ms().to_string()).unwrap_or_default()
}

fn count(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text of others: harmless to spreadsheets (OWASP, CSV injection) and quoted where it has to be.
fn text(text: &str) -> String {
    let clean = visible(text);
    let formula = text.trim_start().starts_with(['=', '+', '-', '@', '|', '%']) || text.starts_with(['\t', '\r', '\n']);
    let clean = if formula { format!("'{clean}") } else { clean };
    if formula || clean.contains([',', '"', ';']) { format!("\"{}\"", clean.replace('"', "\"\"")) } else { clean }
}
