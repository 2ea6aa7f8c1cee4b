//! Walks a level's requests: which part each belongs to and how long it is, by the seed, the level and its place alone.

use super::lengths::Walk;
use super::prompts::Content;
use super::random::Random;
use super::request::Planned;
use super::schedule::{PartPlan, Plan};
use super::sessions::Turn;
use crate::units::Nanos;
use std::collections::VecDeque;

/// 2^64 divided by the golden ratio: steps of this length spread over the circle more evenly than any others.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Never drawn: every session has a turn.
const NOTHING: Turn = Turn { input: 1, reused: 0, output: 1, think: Nanos::ZERO };

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
    /// The next session's; a request of no session is one by itself.
    unit: u64,
    /// Turns of the running session that are still to come: part, draw, turn.
    later: VecDeque<(usize, u64, u32, Turn)>,
    /// The running session's number: the id of its first request.
    session: u64,
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
            unit: 0,
            later: VecDeque::new(),
            session: 0,
            draws: vec![0; plan.parts.len()],
            walks: (0..plan.parts.len()).map(|part| Walk::new(plan.seed, keys(part))).collect(),
            ends: ends.collect(),
            offset: Random::stream(plan.seed, "lengths by part", &[level as u64, stretch as u64]).bits(),
        }
    }

    /// The part of session number `index`: steps of the golden ratio keep each round's mix close to the shares.
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
        if self.plan.has_sessions() {
            (0..count).for_each(|_| drop(self.next(0, None, None)));
            return;
        }
        if let [draws] = self.draws.as_mut_slice() {
            *draws += count;
        } else {
            for unit in self.unit..self.unit + count {
                let part = self.part(unit);
                self.draws[part] += 1;
            }
        }
        self.unit += count;
        self.index += count;
    }

    /// Passes over whole sessions of at least `least` requests together; how many they are.
    pub(super) fn whole(&mut self, least: u64) -> u64 {
        let begin = self.index;
        while self.index - begin < least {
            while self.next(0, None, None).turns_left > 0 {}
        }
        self.index - begin
    }

    /// The next request.
    pub(super) fn next(&mut self, id: u64, round: Option<u32>, due: Option<Nanos>) -> Planned {
        if self.later.is_empty() {
            self.begin();
        }
        let (number, draw, turn, place) = self.later.pop_front().unwrap_or((0, 0, 0, NOTHING));
        let turns_left = u32::try_from(self.later.len()).unwrap_or(u32::MAX);
        if turn == 0 {
            self.session = id;
        }
        let part = &self.plan.parts[number];
        let asked_input = match part.content {
            Content::Words => place.input.max(self.plan.fit.least()),
            Content::Rows { .. } => 0,
        };
        let planned = Planned {
            id,
            part: part.name.clone(),
            session: part.sessions.are_several().then_some(self.session),
            level: self.level,
            round,
            turn,
            turns_left,
            think: place.think,
            index: self.index,
            draw,
            due,
            asked_input,
            asked_output: place.output,
        };
        self.index += 1;
        planned
    }

    /// Draws the next request, or all turns of the next session.
    fn begin(&mut self) {
        let number = self.part(self.unit);
        let draw = self.draws[number];
        let keys = [self.level as u64, self.stretch as u64, number as u64];
        let mut turns = self.plan.turns(number, keys, draw, &mut self.walks[number]);
        let part = &self.plan.parts[number];
        if let (false, true, Some((input, output))) = (part.sessions.are_several(), self.primes(part, draw), part.longest()) {
            turns = vec![Turn { input, output, ..turns[0] }];
        }
        self.later.extend((0..).zip(turns).map(|(turn, place)| (number, draw, turn, place)));
        self.draws[number] += 1;
        self.unit += 1;
    }
}
