//! Which rounds are whole. Rounds overlap under load; they are handed on in order, each when its last request has ended.

use crate::record::{Request, RoundEnd};
use std::collections::BTreeMap;

/// Collects ended requests of one level until their rounds are whole.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    level: usize,
    open: BTreeMap<u32, Vec<Request>>,
    warmup: Vec<Request>,
    next: u32,
}

impl Rounds {
    /// For the level with this index, from the round `first` on.
    pub(crate) fn new(level: usize, first: u32) -> Self {
        Self { level, next: first, ..Self::default() }
    }

    /// Keeps an ended request.
    pub(crate) fn add(&mut self, request: Request) {
        match request.round {
            Some(round) => self.open.entry(round).or_default().push(request),
            None => self.warmup.push(request),
        }
    }

    /// The next round in order if it is whole, with the warm-up requests that ended before it. `size` gives a round's requests.
    pub(crate) fn take_whole(&mut self, size: impl Fn(u32) -> u32) -> Option<(RoundEnd, Vec<Request>)> {
        let expected = size(self.next);
        let ended = self.open.get(&self.next)?.len();
        if expected == 0 || ended < expected as usize {
            return None;
        }
        let mut requests = std::mem::take(&mut self.warmup);
        requests.extend(self.open.remove(&self.next)?);
        let end = RoundEnd { level: self.level, round: self.next, requests: expected, gaps: None };
        self.next += 1;
        Some((end, requests))
    }

    /// Rounds handed on so far, those before the first included.
    pub(crate) fn whole(&self) -> u32 {
        self.next
    }

    /// What is left: requests of rounds that never became whole, and of the warm-up.
    pub(crate) fn rest(self) -> Vec<Request> {
        self.warmup.into_iter().chain(self.open.into_values().flatten()).collect()
    }
}
