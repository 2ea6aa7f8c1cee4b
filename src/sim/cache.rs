//! A prefix cache as engines keep it: whole blocks of a prompt's beginning, the longest unused given up first.

use std::collections::{BTreeMap, HashMap};

/// Tokens of a block, as vLLM's default.
pub(super) const BLOCK: u64 = 16;

/// Blocks by the hash of all up to their end.
#[derive(Debug, Default)]
pub(super) struct PrefixCache {
    most: usize,
    clock: u64,
    used: HashMap<u64, u64>,
    oldest: BTreeMap<u64, u64>,
}

impl PrefixCache {
    /// An empty cache that holds so many tokens.
    pub(super) fn of_tokens(tokens: u64) -> Self {
        Self { most: usize::try_from(tokens / BLOCK).unwrap_or(usize::MAX), ..Self::default() }
    }

    /// How many of a prompt's tokens are found, from its first block to the first that is not there, and never all of them: the last
    /// token is always computed. Its blocks are there from now on.
    pub(super) fn visit(&mut self, blocks: &[u64], prompt: u64) -> u64 {
        let found = blocks.iter().take_while(|block| self.used.contains_key(block)).count() as u64;
        // From the end, so that a prompt's beginning outlives what follows it.
        for block in blocks.iter().rev() {
            self.clock += 1;
            if let Some(before) = self.used.insert(*block, self.clock) {
                self.oldest.remove(&before);
            }
            self.oldest.insert(self.clock, *block);
        }
        while self.used.len() > self.most {
            let Some((_, block)) = self.oldest.pop_first() else { break };
            self.used.remove(&block);
        }
        (found * BLOCK).min(prompt.saturating_sub(1) / BLOCK * BLOCK)
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.used.clear();
        self.oldest.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_that_was_seen_is_found_up_to_where_it_differs() {
        let mut cache = PrefixCache::of_tokens(1600);
        assert_eq!(cache.visit(&[1, 2, 3], 50), 0);
        assert_eq!(cache.visit(&[1, 2, 4], 50), 32);
        assert_eq!(cache.visit(&[9, 2, 3], 50), 0);
        assert_eq!(cache.visit(&[1, 2, 3], 48), 32, "the last token is computed");
        cache.clear();
        assert_eq!(cache.visit(&[1, 2, 3], 50), 0);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = PrefixCache::of_tokens(4 * BLOCK);
        cache.visit(&[1, 2], 40);
        cache.visit(&[3, 4], 40);
        cache.visit(&[1], 20);
        cache.visit(&[5], 20);
        assert_eq!(cache.visit(&[3], 20), 16);
        assert_eq!(cache.visit(&[1, 2], 40), 16, "2 was the oldest");
        assert!(cache.used.len() <= 4 && cache.used.len() == cache.oldest.len());
    }
}
