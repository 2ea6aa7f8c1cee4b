//! Walks a level's requests: which part each belongs to and how long it is, by the seed, the level and its place alone.

use super::lengths::Walk;
use super::prompts::Content;
use super::random::Random;
use super::request::Planned;
use super::schedule::{PartPlan, Plan};
use crate::units::Nanos;

/// 2^64 divided by the golden ratio: steps of this length spread over the circle more evenly than any others.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The two stretches of a level; each has lengths, arrivals and rows of its own, so that rounds stay the same whatever the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    WarmUp = 0,
    Rounds = 1,
}

/// Makes the requests of one stretch in order.
pub(super) struct Walker<'a> {
    plan: &'a Plan,
    level: usize,
    stretch: Stretch,
    /// The next request's place in the stretch.
    index: u64,
    /// Requests of each part so far.
    pub(super) draws: Vec<u64>,
    walks: Vec<Walk>,
    /// Where each part's share of the circle ends.
    ends: Vec<u64>,
    offset: u64,
}

impl<'a> Walker<'a> {
    pub(super) fn new(plan: &'a Plan, level: usize, stretch: Stretch) -> Self {
        let keys = |part: usize| [level as u64, stretch as u64, part as u64];
        let ends = plan.parts.iter().scan(0_u64, |end, part| {
            *end = end.saturating_add(part.threshold_share());
            Some(*end)
        });
        Self {
            plan,
            level,
            stretch,
            index: 0,
            draws: vec![0; plan.parts.len()],
            walks: (0..plan.parts.len()).map(|part| Walk::new(plan.seed, keys(part))).collect(),
            ends: ends.collect(),
            offset: Random::stream(plan.seed, "lengths by part", &[level as u64, stretch as u64]).bits(),
        }
    }

    /// The part of request number `index`: steps of the golden ratio keep each round's mix close to the shares.
    fn part(&self, index: u64) -> usize {
        let place = self.offset.wrapping_add(index.wrapping_mul(GOLDEN));
        self.ends.iter().position(|end| place < *end).unwrap_or(self.ends.len() - 1)
    }

    /// Whether a warm-up request is the first of its group: it then sends the whole of what the group shares, so that the rounds find it.
    fn primes(&self, part: &PartPlan, draw: u64) -> bool {
        self.stretch == Stretch::WarmUp && part.prefix.hit > 0.0 && draw < part.prefix.groups()
    }

    /// Passes over `count` requests.
    pub(super) fn skip(&mut self, count: u64) {
        if let [draws] = self.draws.as_mut_slice() {
            *draws += count;
        } else {
            for index in self.index..self.index + count {
                let part = self.part(index);
                self.draws[part] += 1;
            }
        }
        self.index += count;
    }

    /// The next request.
    pub(super) fn next(&mut self, id: u64, round: Option<u32>, due: Option<Nanos>) -> Planned {
        let number = self.part(self.index);
        let part = &self.plan.parts[number];
        let draw = self.draws[number];
        let drawn = part.pairs[self.walks[number].at(draw, part.pairs.len())];
        let (input, output) = if self.primes(part, draw) { part.longest().unwrap_or(drawn) } else { drawn };
        let asked_input = match part.content {
            Content::Words => input.max(self.plan.fit.least()),
            Content::Rows { .. } => 0,
        };
        let planned = Planned {
            id,
            part: part.name.clone(),
            session: None,
            level: self.level,
            round,
            turn: 0,
            index: self.index,
            draw,
            due,
            asked_input,
            asked_output: output,
        };
        self.draws[number] += 1;
        self.index += 1;
        planned
    }
}
