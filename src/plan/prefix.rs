//! What prompts share: a beginning common to each group, so that a prefix cache has something to reuse.

use super::random::Random;
use crate::spec::Part;

/// Caches keep whole blocks of this many tokens (vLLM's default); what is shared ends at the nearest edge of one.
const BLOCK: u64 = 16;

/// What a part's prompts share.
#[derive(Debug, Clone)]
pub(super) struct Prefix {
    /// Tokens that each prompt of a group begins with.
    pub(super) shared: u64,
    /// The share of each prompt that its group has in common, offered to the cache.
    pub(super) hit: f64,
    /// How unequal the groups are.
    pub(super) zipf: f64,
    /// Where each group's share of the unit interval ends.
    ends: Vec<f64>,
}

impl Prefix {
    pub(super) fn new(part: &Part) -> Self {
        let weights = (1..=part.prefix_groups.max(1)).map(|group| f64::from(group).powf(-part.zipf));
        let mut ends: Vec<f64> = weights
            .scan(0.0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let total = ends.last().copied().unwrap_or(1.0);
        ends.iter_mut().for_each(|end| *end /= total);
        Self { shared: part.shared_prefix, hit: part.prefix_hit, zipf: part.zipf, ends }
    }

    /// How many groups there are.
    pub(super) fn groups(&self) -> u64 {
        self.ends.len() as u64
    }

    /// The group of the part's request number `draw`, from 0, by the keys level, stretch, part and draw. The warm-up's first requests
    /// are of one group each, so that the rounds find them all.
    pub(super) fn group(&self, seed: u64, keys: [u64; 4]) -> u64 {
        let [_, stretch, _, draw] = keys;
        if self.ends.len() < 2 {
            return 0;
        }
        if stretch == 0 && draw < self.groups() {
            return draw;
        }
        let at = Random::stream(seed, "groups", &keys).unit();
        self.ends.partition_point(|end| *end < at).min(self.ends.len() - 1) as u64
    }

    /// Tokens of a prompt of `input` tokens that its group shares, those of the chat template (`c0`), which come first, left out.
    pub(super) fn tokens(&self, input: u64, c0: u64) -> u64 {
        let part = blocks(self.hit * input as f64).min(input.saturating_sub(1) / BLOCK * BLOCK);
        part.saturating_sub(c0).max(self.shared)
    }

    /// Tokens that a warm cache can serve, and all input tokens, of the mean prompt of `pairs`.
    pub(super) fn offered(&self, pairs: &[(u64, u64)], c0: u64) -> (f64, f64) {
        let hit = |input: u64| match self.tokens(input, c0) {
            0 => 0,
            tokens => tokens.saturating_add(c0).min(input.saturating_sub(1)) / BLOCK * BLOCK,
        };
        let count = pairs.len().max(1) as f64;
        let sum = |of: &dyn Fn(u64) -> u64| pairs.iter().map(|pair| of(pair.0) as f64).sum::<f64>() / count;
        (sum(&hit), sum(&|input| input))
    }
}

/// Tokens to the nearest whole block.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value is a whole count")]
fn blocks(tokens: f64) -> u64 {
    (tokens / BLOCK as f64).round().max(0.0) as u64 * BLOCK
}
