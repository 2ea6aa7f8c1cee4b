//! Prompts of an exact number of tokens, whatever the tokenizer: words that are one token each, with their leading space, in all
//! tokenizers tried. Every modern tokenizer splits before a space, so such words keep their count beside any neighbour.

use super::random::Random;

/// 4,096 words of 3 to 9 letters; those marked 1 are one token without a leading space too.
const LIST: &str = include_str!("data/words4096.csv");

/// The words that prompts are made of.
#[derive(Debug, Clone)]
pub(super) struct Words {
    all: Vec<&'static str>,
    first: Vec<&'static str>,
}

impl Words {
    /// The list without `bad`, words that the served tokenizer splits; the whole list where nothing would be left.
    pub(super) fn without(bad: &[String]) -> Self {
        let rows = || LIST.lines().skip(1).filter_map(|line| line.split_once(','));
        let good = |word: &str| !bad.iter().any(|each| each == word);
        let all: Vec<_> = rows().map(|row| row.0).filter(|word| good(word)).collect();
        let first: Vec<_> = rows().filter(|row| row.1 == "1").map(|row| row.0).filter(|word| good(word)).collect();
        if all.is_empty() || first.is_empty() { Self::without(&[]) } else { Self { all, first } }
    }

    /// Every word, in the list's order.
    pub(super) fn all(&self) -> &[&'static str] {
        &self.all
    }

    /// A word that is one token at the start of a text.
    pub(super) fn opener(&self) -> &'static str {
        self.first[0]
    }

    /// A text of so many words of each stream in turn.
    pub(super) fn pieces(&self, streams: Vec<(u64, Random)>) -> String {
        let count: u64 = streams.iter().map(|stream| stream.0).sum();
        let mut text = String::with_capacity(usize::try_from(count.saturating_mul(7)).unwrap_or(0));
        for (words, mut random) in streams {
            for _ in 0..words {
                if text.is_empty() {
                    text.push_str(self.first[random.below(self.first.len())]);
                } else {
                    text.push(' ');
                    text.push_str(self.all[random.below(self.all.len())]);
                }
            }
        }
        text
    }

    /// A text of `count` words: the first `shared` from one stream, the others from another.
    pub(super) fn text(&self, count: u64, shared: u64, group: &mut Random, unique: &mut Random) -> String {
        let mut text = String::with_capacity(usize::try_from(count.saturating_mul(7)).unwrap_or(0));
        for place in 0..count {
            let random = if place < shared { &mut *group } else { &mut *unique };
            if place == 0 {
                text.push_str(self.first[random.below(self.first.len())]);
            } else {
                text.push(' ');
                text.push_str(self.all[random.below(self.all.len())]);
            }
        }
        text
    }
}
