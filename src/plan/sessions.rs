//! Sessions: turns that carry their history, each prompt beginning with what the session has sent before.

use super::lengths::{Pairs, Walk};
use super::random::Random;
use crate::spec::Turns;
use crate::units::Nanos;

/// More turns than this are cut.
const MOST_TURNS: f64 = 1000.0;

/// One turn of a session, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// The whole prompt, history included.
    pub(super) input: u64,
    /// As much of it as the turn before sent too.
    pub(super) reused: u64,
    /// The answer.
    pub(super) output: u64,
    /// From the end of the turn before to this one.
    pub(super) think: Nanos,
}

/// How a part's requests come together.
#[derive(Debug, Clone)]
pub(super) enum Sessions {
    /// Each by itself.
    Single,
    /// So many turns, their new text and answers drawn pair by pair.
    Drawn(Turns),
    /// As recorded.
    Recorded(Vec<Vec<Turn>>),
}

/// What a turn may be, in tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) context: u64,
    /// The shortest prompt.
    pub(super) least: u64,
}

impl Limits {
    fn hold(&self, turn: &Turn) -> bool {
        let input = turn.input.max(self.least);
        input <= self.input && turn.output <= self.output && input.saturating_add(turn.output) <= self.context
    }
}

impl Sessions {
    /// Whether requests are more than themselves.
    pub(super) fn are_several(&self) -> bool {
        !matches!(self, Self::Single)
    }

    /// The turns of session number `draw` of a stretch, cut before the first that is longer than `limits`; never none. `keys` are the
    /// level, the stretch and the part; `walk` is theirs.
    pub(super) fn turns(
        &self,
        pairs: &Pairs,
        limits: &Limits,
        (seed, keys, draw): (u64, [u64; 3], u64),
        (walk, think): (&mut Walk, Option<Nanos>),
    ) -> Vec<Turn> {
        let mut turns = match self {
            Self::Single => vec![first(pairs[walk.at(draw, pairs.len())])],
            Self::Drawn(turns) => {
                let [level, stretch, part] = keys;
                let mut random = Random::stream(seed, "turns", &[level, stretch, part, draw]);
                let count = count(*turns, &mut random);
                let mut session = vec![first(pairs[walk.at(draw, pairs.len())])];
                while (session.len() as u64) < count {
                    let before = session[session.len() - 1];
                    let (input, output) = pairs[random.below(pairs.len())];
                    let history = before.input.saturating_add(before.output);
                    session.push(Turn { input: history.saturating_add(input), reused: before.input, output, think: Nanos::ZERO });
                }
                session
            }
            Self::Recorded(sessions) => sessions[walk.at(draw, sessions.len())].clone(),
        };
        if self.are_several() {
            let fit = turns.iter().take_while(|turn| limits.hold(turn)).count().max(1);
            turns.truncate(fit);
        }
        if let Some(think) = think {
            turns.iter_mut().skip(1).for_each(|turn| turn.think = think);
        }
        turns
    }

    /// Leaves out recorded sessions whose first turn is too long.
    pub(super) fn retain(&mut self, limits: &Limits) {
        if let Self::Recorded(sessions) = self {
            sessions.retain(|session| session.first().is_some_and(|turn| limits.hold(turn)));
        }
    }

    /// Whether there is none to draw.
    pub(super) fn are_none(&self) -> bool {
        matches!(self, Self::Recorded(sessions) if sessions.is_empty())
    }
}

fn first((input, output): (u64, u64)) -> Turn {
    Turn { input, reused: 0, output, think: Nanos::ZERO }
}

/// From 1; geometric by inversion.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value is a whole count of at most 1,000")]
fn count(turns: Turns, random: &mut Random) -> u64 {
    match turns {
        Turns::Fixed(turns) => u64::from(turns),
        Turns::Geometric { mean } if mean > 1.0 => {
            let more = random.unit().ln() / (1.0 - 1.0 / mean).ln();
            (1.0 + more.floor()).clamp(1.0, MOST_TURNS) as u64
        }
        Turns::Geometric { .. } => 1,
    }
}

/// The pieces of a turn's prompt: how many tokens each has, and which turn of the session wrote it first.
pub(super) fn pieces(turns: &[Turn]) -> Vec<(u64, u64)> {
    let mut ends: Vec<(u64, u64)> = Vec::new();
    for (number, turn) in (0..).zip(turns) {
        let kept = turn.reused.min(turn.input.saturating_sub(1));
        ends.iter_mut().for_each(|piece| piece.0 = piece.0.min(kept));
        ends.dedup_by(|later, before| later.0 <= before.0);
        if ends.first().is_some_and(|piece| piece.0 == 0) {
            ends.clear();
        }
        ends.push((turn.input, number));
    }
    let mut start = 0;
    let length = |(end, number): (u64, u64)| {
        let length = end.saturating_sub(start);
        start = end;
        (length, number)
    };
    ends.into_iter().map(length).collect()
}

/// Recorded sessions: rows of `session, turn, input_tokens, reused_prefix_tokens, output_tokens, think_s`, in order.
pub(super) fn recorded(csv: &str) -> Vec<Vec<Turn>> {
    let mut sessions: Vec<Vec<Turn>> = Vec::new();
    let mut last = None;
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let whole = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok());
        let (Some(session), Some(input), Some(reused), Some(output)) = (whole(0), whole(2), whole(3), whole(4)) else { continue };
        let think = fields.get(5).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        let turn = Turn { input, reused, output: output.max(1), think: Nanos::from_ms(think * 1e3) };
        if last == Some(session) {
            sessions.last_mut().into_iter().for_each(|turns| turns.push(turn));
        } else {
            sessions.push(vec![turn]);
        }
        last = Some(session);
    }
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(input: u64, reused: u64) -> Turn {
        Turn { input, reused, output: 5, think: Nanos::ZERO }
    }

    #[test]
    fn a_turn_keeps_what_was_sent_and_a_compaction_cuts_it() {
        let session = [turn(100, 0), turn(150, 100), turn(200, 150), turn(90, 40)];
        assert_eq!(pieces(&session[..1]), [(100, 0)]);
        assert_eq!(pieces(&session[..3]), [(100, 0), (50, 1), (50, 2)]);
        assert_eq!(pieces(&session), [(40, 0), (50, 3)]);
        assert_eq!(pieces(&[turn(100, 0), turn(80, 0)]), [(80, 1)]);
    }

    #[test]
    fn geometric_turns_have_their_mean() {
        let mut random = Random::stream(1, "test", &[]);
        let sum: u64 = (0..20_000).map(|_| count(Turns::Geometric { mean: 4.0 }, &mut random)).sum();
        assert!((sum as f64 / 20_000.0 - 4.0).abs() < 0.15, "{sum}");
    }
}
