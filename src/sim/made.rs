//! Whole recordings of a server whose truth is known, made in virtual time: no clock, no socket, the same for the same seed.

use crate::plan::{Plan, Planned};
use crate::record::{ClientSample, Conditions, End, EndReason, LevelEnd, Recording, Request, RoundEnd, Side};
use crate::units::Nanos;
use crate::wire::{Outcome, TokenSource};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

/// What a made server is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// The median time to first token, milliseconds.
    pub ttft_ms: f64,
    /// The median gap between tokens, milliseconds.
    pub tpot_ms: f64,
    /// Log standard deviation of both between requests.
    pub jitter: f64,
    /// Of every draw.
    pub seed: u64,
}

/// The recording of a run of `plan`, all of it answered, by a server of this `truth`.
#[must_use]
pub fn made(plan: &Plan, conditions: Conditions, truth: &Truth) -> Recording {
    let mut rng = Pcg64Mcg::seed_from_u64(truth.seed);
    let mut recording =
        Recording { conditions, requests: Vec::new(), rounds: Vec::new(), client: Vec::new(), end: None, damage: Vec::new() };
    let mut now = Nanos::ZERO;
    let mut ends = Vec::new();
    for (index, level) in plan.levels.iter().enumerate() {
        let slots = usize::try_from(level.info.concurrency.unwrap_or(1)).unwrap_or(1).max(1);
        let mut free = vec![now; slots];
        let start = now;
        for planned in plan.requests(index) {
            let slot = (0..slots).min_by_key(|slot| free[*slot]).unwrap_or(0);
            let scheduled = planned.due.map_or(free[slot], |due| start + due);
            let request = answer(&planned, scheduled, truth, &mut rng);
            free[slot] = scheduled + request.closed.unwrap_or_default();
            now = now.max(free[slot]);
            recording.requests.push(request);
        }
        let rounds = (0..level.info.rounds).zip(&level.info.round_requests);
        recording.rounds.extend(rounds.map(|(round, requests)| RoundEnd { level: index, round, requests: *requests, gaps: None }));
        let rounds = level.info.rounds;
        ends.push(LevelEnd { level: index, planned_rounds: rounds, whole_rounds: rounds, look: None, alpha: None });
    }
    recording.client = (1..=now.0 / 1_000_000_000).map(healthy).collect();
    let requests = recording.requests.len() as u64;
    recording.end = Some(End { at: now, ended: String::new(), reason: EndReason::Complete, requests, errors: 0, levels: ends });
    recording
}

fn healthy(second: u64) -> ClientSample {
    ClientSample {
        at: Nanos(second * 1_000_000_000),
        loop_lag_max: Nanos::ZERO,
        loop_lag_p99: Nanos::ZERO,
        cpu_share: None,
        in_flight: 0,
        clock_step_ms: Some(0.0),
    }
}

/// One answer, a token an event, with all tokens that were asked for.
fn answer(planned: &Planned, scheduled: Nanos, truth: &Truth, rng: &mut Pcg64Mcg) -> Request {
    let mut jittered = |median: f64| {
        let z: f64 = StandardNormal.sample(rng);
        Nanos::from_ms(median * (truth.jitter * z).exp())
    };
    let (first, gap) = (jittered(truth.ttft_ms), jittered(truth.tpot_ms));
    let tokens = planned.asked_output.max(1);
    let last = Nanos(first.0 + gap.0 * (tokens - 1));
    Request {
        id: planned.id,
        side: Side::Candidate,
        part: planned.part.clone(),
        session: planned.session,
        level: planned.level,
        round: planned.round,
        turn: planned.turn,
        scheduled,
        sent: scheduled,
        connect: None,
        headers: Some(first),
        first_token: Some(first),
        first_answer: Some(first),
        last_token: Some(last),
        closed: Some(last),
        input_tokens: Some(planned.asked_input),
        output_tokens: Some(tokens),
        asked_input: planned.asked_input,
        asked_output: tokens,
        cached_tokens: None,
        token_source: Some(TokenSource::Usage),
        events: tokens,
        stall: None,
        gaps: vec![gap; usize::try_from(tokens - 1).unwrap_or(0)],
        finish_reason: Some("length".to_owned()),
        outcome: Outcome::Ok,
        http_status: Some(200),
        warnings: Vec::new(),
    }
}
