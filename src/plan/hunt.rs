//! Finds the words of the list that the served tokenizer splits, by asking for the token counts of batches.

use super::words::Words;

/// Words in a batch at first.
const BATCH: usize = 256;
/// More bad words than this are not hunted one by one: at about a dozen requests each, lengths are called approximate instead.
const MOST_BAD: u64 = 24;

/// Group testing: batches of 256 words, each that counts high cut in halves until the words are found. Send [`Hunt::next_text`], tell
/// [`Hunt::answer`] the tokens counted, until no text is left.
#[derive(Debug, Clone)]
pub struct Hunt {
    words: Words,
    /// Tokens of the opener alone: the template and one word.
    base: Option<u64>,
    /// Batches to be tried, the next one last.
    open: Vec<Vec<&'static str>>,
    bad: Vec<String>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// Too many bad words, or counts that make no sense.
    GivenUp,
}

impl Default for Hunt {
    fn default() -> Self {
        Self::new()
    }
}

impl Hunt {
    /// A hunt through the whole list.
    #[must_use]
    pub fn new() -> Self {
        let words = Words::without(&[]);
        let open = words.all().chunks(BATCH).rev().map(<[_]>::to_vec).collect();
        Self { words, base: None, open, bad: Vec::new(), state: State::Running }
    }

    /// The text to be counted next; `None` where the hunt is over.
    #[must_use]
    pub fn next_text(&self) -> Option<String> {
        if self.state == State::GivenUp {
            return None;
        }
        let opener = self.words.opener();
        if self.base.is_none() {
            return Some(opener.to_owned());
        }
        self.open.last().map(|batch| format!("{opener} {}", batch.join(" ")))
    }

    /// The server's count of prompt tokens for that text.
    pub fn answer(&mut self, prompt_tokens: u64) {
        let Some(base) = self.base else {
            self.base = Some(prompt_tokens);
            return;
        };
        let Some(batch) = self.open.pop() else {
            return;
        };
        match prompt_tokens.checked_sub(base + batch.len() as u64) {
            Some(0) => {}
            Some(excess) if excess + self.bad.len() as u64 <= MOST_BAD => {
                if let [word] = batch.as_slice() {
                    self.bad.push((*word).to_owned());
                } else {
                    let (left, right) = batch.split_at(batch.len() / 2);
                    self.open.push(right.to_vec());
                    self.open.push(left.to_vec());
                }
            }
            _ => self.state = State::GivenUp,
        }
    }

    /// The words found; `None` where the hunt was given up, because there are too many or the counts make no sense.
    #[must_use]
    pub fn bad_words(self) -> Option<Vec<String>> {
        (self.state == State::Running).then_some(self.bad)
    }
}
