//! Rounds merged into blocks, so that each holds enough of what a rule speaks of.

use std::ops::Range;

/// With fewer blocks nothing is decided.
pub const LEAST_BLOCKS: usize = 12;

/// Cuts rounds, in order, into blocks that hold at least `least` on every side. `sides` gives each side's count a round; all have the
/// same number of rounds. What is left at the end joins the last block.
#[must_use]
pub fn blocks(sides: &[Vec<u64>], least: u64) -> Vec<Range<usize>> {
    let rounds = sides.iter().map(Vec::len).min().unwrap_or(0);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for end in 1..=rounds {
        if sides.iter().all(|side| side[start..end].iter().sum::<u64>() >= least) {
            found.push(start..end);
            start = end;
        }
    }
    if let Some(last) = found.last_mut() {
        last.end = rounds;
    }
    found
}

/// `rounds` merged by `blocks` with `merge`.
#[must_use]
pub fn in_blocks<T, U>(rounds: &[T], blocks: &[Range<usize>], merge: impl Fn(&[T]) -> U) -> Vec<U> {
    blocks.iter().map(|block| merge(&rounds[block.start.min(rounds.len())..block.end.min(rounds.len())])).collect()
}
