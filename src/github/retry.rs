//! When to ask again. The server's own word comes first (`retry-after`, then `x-ratelimit-reset`); the sum of all waits is bounded.

use http::HeaderMap;
use std::time::Duration;

/// A request is sent at most so often.
pub(super) const TRIES: u32 = 4;
/// All waits of one process together.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Whether sending twice does the same as sending once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It does.
    Safe,
    /// It does not: only what was surely not done is sent again.
    Unsafe,
}

/// What to do after an answer or the lack of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Take the answer as it is.
    Take,
    /// Send again after this time.
    Again(Duration),
    /// The limit leaves no time.
    Limited,
}

/// Whether an answer is GitHub's rate limit and not a missing right. Some of its 403s carry no header at all, only words.
pub(super) fn is_limit(status: u16, headers: &HeaderMap, message: &str) -> bool {
    let out_of_calls = number(headers, "x-ratelimit-remaining") == Some(0);
    let words = message.to_ascii_lowercase().contains("rate limit");
    status == 429 || status == 403 && (headers.contains_key("retry-after") || out_of_calls || words)
}

/// Decides by the answer's status and headers; `now` is in seconds since 1970, `left` what remains of [`PATIENCE`].
pub(super) fn after_answer(
    (status, headers, message): (u16, &HeaderMap, &str),
    repeat: Repeat,
    attempt: u32,
    now: i64,
    left: Duration,
) -> Next {
    let limited = is_limit(status, headers, message);
    let doubtful = status >= 500 && repeat == Repeat::Safe;
    if !limited && !doubtful {
        return Next::Take;
    }
    let wait = wait(headers, now).unwrap_or(if limited { PATIENCE } else { backoff(attempt) });
    let again = attempt + 1 < TRIES && wait < PATIENCE && wait <= left;
    match (again, limited) {
        (true, _) => Next::Again(wait),
        (false, true) => Next::Limited,
        (false, false) => Next::Take,
    }
}

/// Decides after no answer came.
pub(super) fn after_silence(repeat: Repeat, attempt: u32, left: Duration) -> Option<Duration> {
    (repeat == Repeat::Safe && attempt + 1 < TRIES).then(|| backoff(attempt)).filter(|wait| *wait <= left)
}

fn wait(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let until_reset = || {
        let reset = number(headers, "x-ratelimit-reset").filter(|_| number(headers, "x-ratelimit-remaining") == Some(0))?;
        Some(reset.saturating_sub(now).max(0))
    };
    let seconds = number(headers, "retry-after").or_else(until_reset)?;
    Some(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn number(headers: &HeaderMap, name: &str) -> Option<i64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// 1 s, 2 s, 4 s.
fn backoff(attempt: u32) -> Duration {
    Duration::from_secs(1 << attempt.min(4))
}
