//! What the start-up probes found out about the served tokenizer, template and context.

use super::random::Random;
use super::words::Words;

/// How many words the start-up probes send: short, over a thousand, over four thousand.
pub const PROBE_WORDS: [u64; 3] = [32, 1056, 4128];

/// One probe's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePoint {
    /// Words sent.
    pub words: u64,
    /// `usage.prompt_tokens` of the answer.
    pub prompt_tokens: u64,
}

/// What the start-up probes found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fit {
    /// Tokens that the chat template adds to each prompt.
    pub c0: u64,
    /// The served context in tokens, where the server tells; longer pairs are dropped and counted.
    pub context: Option<u64>,
    /// Whether each word is exactly one token.
    pub exact: bool,
    /// Tokens a word, where it is not one.
    pub approximate: Option<f64>,
    /// Words that the served tokenizer splits, to be left out; see [`super::Hunt`].
    pub bad_words: Vec<String>,
}

impl Fit {
    /// The words that make a prompt of `tokens`, at least 1.
    pub(super) fn words(&self, tokens: u64) -> u64 {
        let room = tokens.saturating_sub(self.c0);
        match self.approximate {
            Some(slope) => round(room as f64 / slope).max(1),
            None => room.max(1),
        }
    }

    /// The fewest tokens that the server can count for a prompt.
    pub(super) fn least(&self) -> u64 {
        self.c0.saturating_add(round(self.approximate.unwrap_or(1.0)).max(1))
    }
}

/// Reads the probes: a slope of exactly 1 token a word gives `c0`; any other is fitted by least squares and called approximate.
/// `None` where fewer than two lengths were probed or the counts do not grow with the words (a slope outside 0.5 to 8), so that
/// nothing can be calibrated by them.
#[must_use]
pub fn interpret(points: &[ProbePoint]) -> Option<Fit> {
    let first = points.first()?;
    if points.iter().all(|point| point.words == first.words) {
        return None;
    }
    let offset = |point: &ProbePoint| point.prompt_tokens.checked_sub(point.words);
    if let Some(c0) = offset(first).filter(|c0| points.iter().all(|point| offset(point) == Some(*c0))) {
        return Some(Fit { c0, exact: true, ..Fit::default() });
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|point| point.words as f64).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.prompt_tokens as f64).sum::<f64>() / count;
    let sxx: f64 = points.iter().map(|point| (point.words as f64 - mean_x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|point| (point.words as f64 - mean_x) * (point.prompt_tokens as f64 - mean_y)).sum();
    let slope = sxy / sxx;
    let c0 = round(mean_y - slope * mean_x);
    (0.5..=8.0).contains(&slope).then_some(Fit { c0, exact: false, approximate: Some(slope), ..Fit::default() })
}

/// A probe's text of `words` words, unlike that of any other `salt`.
#[must_use]
pub fn probe_text(words: u64, salt: u64) -> String {
    let mut random = Random::stream(salt, "probe", &[words]);
    Words::without(&[]).text(words.max(1), 0, &mut random.clone(), &mut random)
}

/// To the nearest whole number, 0 for what is below.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value was rounded")]
fn round(value: f64) -> u64 {
    value.round().max(0.0) as u64
}
