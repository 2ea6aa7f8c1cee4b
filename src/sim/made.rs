//! Whole recordings of a server whose truth is known, made in virtual time: no clock, no socket, the same for the same seed.

use super::{Ask, Engine, Fault, Profile};
use crate::plan::{Plan, Planned};
use crate::record::{ClientSample, Conditions, End, EndReason, LevelEnd, Recording, Request, RoundEnd, Side};
use crate::units::Nanos;
use crate::wire::{ErrorKind, Failure, Outcome, TokenSource};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

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
    recorded(plan, conditions, |planned, scheduled| answer(planned, scheduled, truth, &mut rng))
}

/// The recording of a run of `plan` against the simulated server `profile`: what its [`Engine`] says, with neither network nor client
/// in between.
#[must_use]
pub fn played(plan: &Plan, conditions: Conditions, profile: &Profile) -> Recording {
    let mut engine = Engine::new(profile.clone());
    recorded(plan, conditions, |planned, scheduled| {
        let ask = Ask { prompt_tokens: planned.asked_input, output_tokens: planned.asked_output };
        let schedule = engine.arrive(scheduled.into(), ask);
        let first = Nanos::from(schedule.first).since(scheduled);
        let mut request = answered(planned, scheduled, first, Nanos::from(schedule.step));
        if let Some(fault) = schedule.fault {
            fail(&mut request, fault);
        }
        request
    })
}

/// Goes through `plan` as the load would: a closed loop sends where a slot is free first, an open one when a request is due.
fn recorded(plan: &Plan, conditions: Conditions, mut answer: impl FnMut(&Planned, Nanos) -> Request) -> Recording {
    let mut recording = Recording {
        conditions,
        requests: Vec::new(),
        rounds: Vec::new(),
        client: Vec::new(),
        end: None,
        headroom: None,
        damage: Vec::new(),
    };
    let mut now = Nanos::ZERO;
    let mut ends = Vec::new();
    for (index, level) in plan.levels.iter().enumerate() {
        let slots = usize::try_from(level.info.concurrency.unwrap_or(1)).unwrap_or(1).max(1);
        let start = now;
        let mut free: BinaryHeap<Reverse<Nanos>> = std::iter::repeat_n(Reverse(start), slots).collect();
        for planned in plan.requests(index) {
            let slot = if planned.due.is_none() { free.pop() } else { None };
            let scheduled = planned.due.map_or(slot.map_or(start, |Reverse(at)| at), |due| start + due);
            let request = answer(&planned, scheduled);
            let closed = scheduled + request.closed.unwrap_or_default();
            if slot.is_some() {
                free.push(Reverse(closed));
            }
            now = now.max(closed);
            recording.requests.push(request);
        }
        let rounds = (0..level.info.rounds).zip(&level.info.round_requests);
        recording.rounds.extend(rounds.map(|(round, requests)| RoundEnd { level: index, round, requests: *requests, gaps: None }));
        let rounds = level.info.rounds;
        ends.push(LevelEnd { level: index, planned_rounds: rounds, whole_rounds: rounds, look: None, alpha: None });
    }
    recording.client = (1..=now.0 / 1_000_000_000).map(healthy).collect();
    let requests = recording.requests.len() as u64;
    let errors = recording.requests.iter().filter(|request| !request.is_ok()).count() as u64;
    recording.end = Some(End { at: now, ended: String::new(), reason: EndReason::Complete, requests, errors, levels: ends });
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
    answered(planned, scheduled, first, gap)
}

fn answered(planned: &Planned, scheduled: Nanos, first: Nanos, gap: Nanos) -> Request {
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

/// The request as it would end by `fault`, at once where the server refuses it; what came before an end in the stream is left out.
fn fail(request: &mut Request, fault: Fault) {
    let (kind, status) = match fault {
        Fault::Http500 => (ErrorKind::HttpStatus, 500),
        Fault::Http429 => (ErrorKind::HttpStatus, 429),
        Fault::Http503 => (ErrorKind::HttpStatus, 503),
        Fault::InStream => (ErrorKind::ServerErrorInStream, 200),
        Fault::Truncated => (ErrorKind::Truncated, 200),
        Fault::Disconnect => (ErrorKind::Disconnect, 200),
        Fault::Stall => (ErrorKind::Timeout, 200),
        Fault::Empty => (ErrorKind::Empty, 200),
    };
    request.outcome = Outcome::Error(Failure::new(kind, "simulated"));
    request.http_status = Some(status);
    request.closed = if status == 200 { request.last_token } else { Some(Nanos::from(Duration::from_millis(1))) };
    (request.first_token, request.first_answer, request.last_token) = (None, None, None);
    (request.input_tokens, request.output_tokens, request.token_source, request.events) = (None, None, None, 0);
    request.gaps = Vec::new();
}
