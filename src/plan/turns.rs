//! A plan's sessions: which turns they have, what those say, and rounds of whole sessions.

use super::error::PlanError;
use super::lengths::Walk;
use super::level::MOST_REQUESTS;
use super::random::Random;
use super::request::Planned;
use super::schedule::Plan;
use super::sessions::{self, Turn};
use super::walker::{Stretch, Walker};

impl Plan {
    /// What a turn says: what its session has said before, as far as it is kept, and new words. Its beginning may be its group's.
    pub(super) fn history(&self, planned: &Planned, number: usize, stretch: Stretch) -> String {
        let part = &self.parts[number];
        let keys = [planned.level as u64, stretch as u64, number as u64];
        let turns = self.turns(number, keys, planned.draw, &mut Walk::new(self.seed, keys));
        let until = (planned.turn as usize + 1).min(turns.len());
        let [level, stretch, part_key] = keys;
        let group = part.prefix.group(self.seed, [level, stretch, part_key, planned.draw]);
        let mut left = self.fit.words(planned.asked_input);
        let mut shared = part.prefix.tokens(turns[0].input, self.fit.c0).min(left.saturating_sub(1));
        let mut streams = vec![(shared, Random::stream(self.seed, "shared", &[part_key, group]))];
        let mut template = self.fit.c0;
        for (tokens, turn) in sessions::pieces(&turns[..until]) {
            let words = tokens.saturating_sub(template);
            template = template.saturating_sub(tokens);
            let own = words.saturating_sub(shared);
            shared = shared.saturating_sub(words);
            streams.push((own, Random::stream(self.salt, "session", &[level, stretch, part_key, planned.draw, turn])));
        }
        for stream in &mut streams {
            stream.0 = stream.0.min(left);
            left -= stream.0;
        }
        streams.last_mut().into_iter().for_each(|stream| stream.0 += left);
        self.words.pieces(streams)
    }

    /// The turns of a part's session.
    pub(super) fn turns(&self, number: usize, keys: [u64; 3], draw: u64, walk: &mut Walk) -> Vec<Turn> {
        let part = &self.parts[number];
        part.sessions.turns(&part.pairs, &part.limits(&self.fit), (self.seed, keys, draw), (walk, part.think))
    }

    /// Whether some requests are turns of sessions.
    pub(super) fn has_sessions(&self) -> bool {
        self.parts.iter().any(|part| part.sessions.are_several())
    }

    /// Rounds warm-up and rounds up to whole sessions, so that each belongs to the round in which it begins.
    ///
    /// # Errors
    /// [`PlanError::TooMany`].
    pub(super) fn align(&mut self) -> Result<(), PlanError> {
        if !self.has_sessions() {
            return Ok(());
        }
        let mut first_id = 0;
        for level in 0..self.levels.len() {
            let (warmup, per_round) = self.asked[level];
            let warmup = Walker::new(self, level, Stretch::WarmUp).whole(warmup);
            let mut walker = Walker::new(self, level, Stretch::Rounds);
            let mut sizes = Vec::new();
            let mut total = first_id + warmup;
            for _ in 0..self.levels[level].info.rounds {
                let size = walker.whole(u64::from(per_round));
                total += size;
                if total > MOST_REQUESTS {
                    return Err(PlanError::TooMany { most: MOST_REQUESTS });
                }
                sizes.push(u32::try_from(size).unwrap_or(u32::MAX));
            }
            let planned = &mut self.levels[level];
            (planned.first_id, planned.info.warmup, planned.info.round_requests) = (first_id, warmup, sizes);
            first_id = total;
        }
        Ok(())
    }
}
