//! One level of a run: which requests count, and what is kept of them.

use super::{Fact, Gaps, Lens, LevelTable, Sample, Scope, figures, goodput, histogram, window};
use crate::record::{Recording, Request, RoundEnd};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// One level of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Its figures, over all its counted requests.
    pub table: LevelTable,
    /// Rounds whose every request ended and is there.
    pub whole_rounds: usize,
    /// Its counted requests, round by round: those of whole rounds. Where no round is whole, all requests past the warm-up as one
    /// block, so that there is something to show.
    pub facts: Vec<Fact>,
    /// Share of reads with tokens that carried several events; `None` where the recording keeps no gaps.
    pub crowded_reads: Option<f64>,
    /// Whether arrivals do not wait for answers.
    pub open_loop: bool,
    pub(super) seconds: Vec<Option<f64>>,
    pub(super) gaps: Vec<(Scope, Vec<Gaps>)>,
}

impl Level {
    /// Blocks of requests: whole rounds, or the one block that stands for them.
    #[must_use]
    pub fn round_count(&self) -> usize {
        self.seconds.len()
    }

    /// Its first `rounds` rounds, to compare with a run that has no more. The table stays that of the whole level.
    #[must_use]
    pub fn first_rounds(&self, rounds: usize) -> Self {
        let mut cut = self.clone();
        cut.whole_rounds = cut.whole_rounds.min(rounds);
        cut.facts.retain(|fact| fact.round < rounds);
        cut.seconds.truncate(rounds);
        for (_, gaps) in &mut cut.gaps {
            gaps.truncate(rounds);
        }
        cut
    }
}

/// Level `index` of `recording`; `None` where it has no request past its warm-up.
pub(super) fn build(recording: &Recording, lens: &Lens, index: usize) -> Option<Level> {
    let info = recording.conditions.load.levels.get(index)?;
    let known: BTreeMap<u32, &RoundEnd> = recording.rounds.iter().filter(|end| end.level == index).map(|end| (end.round, end)).collect();
    let (rounds, whole_rounds, starts) = counted(recording, index, &known);
    // Blocks that take turns with the other side's do not end where the next one begins.
    let in_turns = info.lead > 0;
    let starts = if in_turns { BTreeMap::new() } else { starts };
    if rounds.is_empty() {
        return None;
    }
    let ends: Vec<Option<&RoundEnd>> = rounds.iter().map(|(number, _)| known.get(number).copied()).collect();
    let requests: Vec<&Request> = rounds.iter().flat_map(|(_, requests)| requests.iter().copied()).collect();
    let mut facts: Vec<Fact> = rounds
        .iter()
        .enumerate()
        .flat_map(|(position, (_, requests))| requests.iter().map(move |request| Fact::of(request, position)))
        .collect();
    add_sessions(&mut facts, &requests);
    for fact in &mut facts {
        fact.good = goodput::good(fact, &lens.constraints);
    }
    let gaps = gaps_by_scope(&rounds, &ends, &facts, lens);
    let open_loop = info.rate.is_some();
    let seconds = window::of_rounds(&rounds, &starts);
    let window = if in_turns { seconds.iter().copied().sum() } else { window::measured(&requests, open_loop) };
    let mut level =
        Level { table: LevelTable::default(), whole_rounds, crowded_reads: crowded(&requests), open_loop, seconds, facts, gaps };
    level.table = figures::table(info, &level, &requests, lens, window);
    Some(level)
}

type Rounds<'a> = Vec<(u32, Vec<&'a Request>)>;

/// The counted requests by round, how many rounds are whole, and when every round began, whole or not. Where a look ended the level,
/// only its rounds: so what the look saw and what is recomputed later are the same.
fn counted<'a>(recording: &'a Recording, index: usize, known: &BTreeMap<u32, &RoundEnd>) -> (Rounds<'a>, usize, BTreeMap<u32, Nanos>) {
    let side = recording.side();
    let mut rounds: BTreeMap<u32, Vec<&Request>> = BTreeMap::new();
    let mut present: BTreeMap<u32, u32> = BTreeMap::new();
    let judged = recording.look(index).unwrap_or(u32::MAX);
    for request in recording.requests.iter().filter(|request| request.level == index) {
        let Some(round) = request.round.filter(|round| *round < judged) else { continue };
        *present.entry(round).or_default() += 1;
        if request.side == side {
            rounds.entry(round).or_default().push(request);
        }
    }
    let starts = rounds.iter().filter_map(|(number, all)| Some((*number, all.iter().map(|request| request.scheduled).min()?))).collect();
    let is_whole = |number: &u32| known.get(number).is_some_and(|end| present.get(number).is_some_and(|count| *count >= end.requests));
    let whole: Rounds<'a> = rounds.iter().filter(|(number, _)| is_whole(number)).map(|(number, all)| (*number, all.clone())).collect();
    if whole.is_empty() {
        let all: Vec<&Request> = rounds.into_values().flatten().collect();
        return (if all.is_empty() { Vec::new() } else { vec![(0, all)] }, 0, BTreeMap::new());
    }
    let count = whole.len();
    (whole, count, starts)
}

/// Gives every fact its session's sums, and marks the first turn recorded of each session. A session with a failed turn is the
/// worst. Its e2e is the sum of its turns' e2e, which is first scheduled to last last_token less think time.
fn add_sessions(facts: &mut [Fact], requests: &[&Request]) {
    let mut turns: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (position, request) in requests.iter().enumerate() {
        if let Some(session) = request.session {
            turns.entry(session).or_default().push(position);
        }
    }
    for mut positions in turns.into_values() {
        positions.sort_by_key(|position| facts[*position].turn);
        let ttft = sum(positions.iter().map(|position| facts[*position].ttft));
        let e2e = sum(positions.iter().map(|position| facts[*position].e2e));
        for (order, position) in positions.into_iter().enumerate() {
            facts[position].session_ttft = ttft;
            facts[position].session_e2e = e2e;
            facts[position].opens_session = order == 0;
        }
    }
}

fn sum(samples: impl Iterator<Item = Sample>) -> Sample {
    samples.fold(Sample::Value(0.0), |total, sample| match (total, sample) {
        (Sample::Worst, _) | (_, Sample::Worst) => Sample::Worst,
        (Sample::Value(total), Sample::Value(value)) => Sample::Value(total + value),
        _ => Sample::Unknown,
    })
}

fn gaps_by_scope(rounds: &Rounds<'_>, ends: &[Option<&RoundEnd>], facts: &[Fact], lens: &Lens) -> Vec<(Scope, Vec<Gaps>)> {
    let kept_by_request = rounds.iter().any(|(_, requests)| requests.iter().any(|request| !request.gaps.is_empty()));
    if !kept_by_request {
        let stored: Option<Vec<Gaps>> =
            ends.iter().map(|end| end.and_then(|end| end.gaps.as_ref()).map(|pairs| Gaps::collect(pairs.iter().copied()))).collect();
        return stored.map(|gaps| (Scope::default(), gaps)).into_iter().collect();
    }
    let everything = Scope::default();
    std::iter::once(&everything)
        .chain(&lens.gap_scopes)
        .map(|scope| {
            let mut position = 0;
            let gaps = rounds
                .iter()
                .map(|(_, requests)| {
                    let mine = &facts[position..position + requests.len()];
                    position += requests.len();
                    let inside = requests.iter().zip(mine).filter(|(_, fact)| fact.ok && fact.is_in(scope));
                    histogram(inside.flat_map(|(request, _)| request.gaps.iter().copied()))
                })
                .collect();
            (scope.clone(), gaps)
        })
        .collect()
}

/// Share of reads with tokens that carried several events. A gap of zero means the same read as the event before it.
fn crowded(requests: &[&Request]) -> Option<f64> {
    let (mut reads, mut crowded) = (0_u64, 0_u64);
    for request in requests.iter().filter(|request| request.is_ok() && !request.gaps.is_empty()) {
        reads += 1;
        let mut several = false;
        for gap in &request.gaps {
            if *gap == Nanos::ZERO {
                crowded += u64::from(!several);
                several = true;
            } else {
                reads += 1;
                several = false;
            }
        }
    }
    (reads > 0).then(|| crowded as f64 / reads as f64)
}
