//! A level: one load, its warm-up and its rounds.

use super::arrivals::{Due, OpenLoop, open_round};
use super::error::PlanError;
use super::warning::PlanWarning;
use crate::record::LevelInfo;
use crate::spec::{Arrival, Load, Offered, RoundLength, WarmUp};
use crate::units::Nanos;
use std::time::Duration;

/// Fewer requests make no steady round (statistics: «The load must be steady before it is counted»).
const LEAST_ROUND: u64 = 25;
/// Fewer requests make no warm-up.
const LEAST_WARMUP: u64 = 20;
/// Fewer requests make no block of an open loop that takes turns.
const LEAST_OPEN_BLOCK: u64 = 50;
/// Uncounted requests that begin a block of an open loop.
const OPEN_LEAD: u32 = 20;
/// Fewer pairs of blocks bear no interval.
const LEAST_PAIRS: u32 = 12;
/// The most requests of a plan.
pub(super) const MOST_REQUESTS: u64 = 5_000_000;

/// One level, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelPlan {
    /// What the run file keeps of it. Its rounds are the most that are planned: the upper end of `rounds: A..B`, and in an open loop
    /// as many more as `min_time` takes.
    pub info: LevelInfo,
    /// What makes a request leave.
    pub pace: Pace,
    /// The lower end of `rounds: A..B`: the rounds after which the level may end while nothing is undecided.
    pub min_rounds: u32,
    /// The level lasts at least this long. An open loop has the rounds for it planned; a closed loop asks for more with
    /// [`super::Plan::round_requests`].
    pub min_time: Duration,
    /// Open loop: when the arrival window closes, from the level's start.
    pub end: Option<Nanos>,
    /// The id of its first request.
    pub(super) first_id: u64,
    pub(super) open: Option<OpenLoop>,
}

/// What makes a request leave.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// A free slot.
    Closed {
        /// Slots.
        concurrency: u64,
    },
    /// The clock.
    Open {
        /// When each request is due, from the level's start, in order: the warm-up first, then round by round.
        due: Vec<Nanos>,
    },
}

impl LevelPlan {
    /// Requests of warm-up and planned rounds.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.info.warmup + self.in_rounds()
    }

    /// Requests of the planned rounds, those included that begin a block and are not counted.
    pub(super) fn in_rounds(&self) -> u64 {
        self.info.round_requests.iter().map(|requests| u64::from(*requests) + u64::from(self.info.lead)).sum()
    }

    /// Whether its rounds are blocks of their own, in turns with those of another side.
    #[must_use]
    pub fn takes_turns(&self) -> bool {
        self.info.lead > 0
    }
}

/// The levels of `load`, in order; as blocks that take turns with those of another side where `turns`.
pub(super) fn levels(load: &Load, turns: bool) -> Result<(Vec<LevelPlan>, Vec<PlanWarning>), PlanError> {
    let offered = load.offered.ok_or(PlanError::NoLoad)?;
    let mut levels: Vec<LevelPlan> = Vec::new();
    let mut warnings = Vec::new();
    for (number, (label, factor)) in load.levels.iter().enumerate() {
        let first_id: u64 = levels.iter().map(LevelPlan::requests).sum();
        let most = MOST_REQUESTS.saturating_sub(first_id);
        let mut level = match offered {
            Offered::Concurrency(target) => closed((load, turns), label, (*factor, target), most)?,
            Offered::Rate { per_second, arrival } => {
                open((load, turns), label, &Rate { number, factor: *factor, per_second: per_second * factor, arrival }, most)?
            }
        };
        level.first_id = first_id;
        warnings.extend(too_small(load, &level));
        levels.push(level);
    }
    Ok((levels, warnings))
}

struct Rate {
    number: usize,
    factor: f64,
    per_second: f64,
    arrival: Arrival,
}

fn closed((load, turns): (&Load, bool), label: &str, (factor, target): (f64, u64), most: u64) -> Result<LevelPlan, PlanError> {
    let concurrency = times(factor, target).max(1);
    let per_round = match load.round {
        RoundLength::Times(times_each) => times(times_each, concurrency).max(LEAST_ROUND),
        RoundLength::Requests(count) => u64::from(count.max(1)),
        RoundLength::Time(_) => {
            return Err(PlanError::Impossible { what: "load.round".to_owned(), why: "a round in seconds needs an open loop" });
        }
    };
    let (per_round, warmup) = match turns {
        true => (per_round.max(concurrency.saturating_mul(2)), 0),
        false => (per_round, warmup(load.warmup, concurrency)),
    };
    let lead = if turns { u32::try_from(concurrency).map_err(|_| PlanError::TooMany { most: MOST_REQUESTS })? } else { 0 };
    let rounds = rounds(load, turns);
    let total = per_round.saturating_add(u64::from(lead)).saturating_mul(u64::from(rounds)).saturating_add(warmup);
    let size = u32::try_from(per_round).ok().filter(|_| total <= most).ok_or(PlanError::TooMany { most: MOST_REQUESTS })?;
    Ok(LevelPlan {
        info: LevelInfo {
            label: label.to_owned(),
            factor,
            concurrency: Some(concurrency),
            rate: None,
            rounds,
            round_requests: vec![size; rounds as usize],
            warmup,
            lead,
        },
        pace: Pace::Closed { concurrency },
        min_rounds: load.rounds.min.clamp(1, rounds),
        min_time: if turns { Duration::ZERO } else { load.min_time },
        end: None,
        first_id: 0,
        open: None,
    })
}

fn open((load, turns): (&Load, bool), label: &str, rate: &Rate, most: u64) -> Result<LevelPlan, PlanError> {
    check_rate(load, rate)?;
    let per_round = match load.round {
        RoundLength::Requests(count) => u64::from(count.max(1)),
        RoundLength::Times(times_each) => times(times_each, LEAST_ROUND).max(LEAST_ROUND),
        RoundLength::Time(length) if turns => times(rate.per_second * length.as_secs_f64(), 1),
        RoundLength::Time(_) => 1,
    };
    let lead = if turns { OPEN_LEAD } else { 0 };
    let per_round = if turns { per_round.max(LEAST_OPEN_BLOCK) + u64::from(lead) } else { per_round };
    let per_round = u32::try_from(per_round).map_err(|_| PlanError::TooMany { most: MOST_REQUESTS })?;
    let warmup = if turns { 0 } else { warmup(load.warmup, LEAST_WARMUP) };
    let (length, min_time) = if turns { (RoundLength::Requests(per_round), Duration::ZERO) } else { (load.round, load.min_time) };
    let open = OpenLoop {
        seed: load.seed,
        level: rate.number as u64,
        per_second: rate.per_second,
        arrival: rate.arrival,
        warmup,
        round: open_round(length, per_round),
        most,
    };
    if warmup > most {
        return Err(PlanError::TooMany { most: MOST_REQUESTS });
    }
    let Due { at, rounds: sizes, end } = open.due(rounds(load, turns), min_time)?;
    let planned = u32::try_from(sizes.len()).unwrap_or(u32::MAX);
    Ok(LevelPlan {
        info: LevelInfo {
            label: label.to_owned(),
            factor: rate.factor,
            concurrency: None,
            rate: Some(rate.per_second),
            rounds: planned,
            round_requests: sizes.into_iter().map(|requests| requests.saturating_sub(lead)).collect(),
            warmup,
            lead,
        },
        pace: Pace::Open { due: at },
        min_rounds: load.rounds.min.clamp(1, planned.max(1)),
        min_time,
        end: Some(end),
        first_id: 0,
        open: Some(open),
    })
}

/// Rounds planned; pairs of blocks where two sides take turns.
fn rounds(load: &Load, turns: bool) -> u32 {
    load.rounds.max.max(if turns { LEAST_PAIRS } else { 1 })
}

fn check_rate(load: &Load, rate: &Rate) -> Result<(), PlanError> {
    let impossible = |what: String, why| Err(PlanError::Impossible { what, why });
    if !(rate.per_second.is_finite() && rate.per_second > 0.0) {
        return impossible(format!("load.rate {}/s", rate.per_second), "it is no positive number");
    }
    if load.round == RoundLength::Time(Duration::ZERO) {
        return impossible("load.round 0s".to_owned(), "a round needs a length");
    }
    match rate.arrival {
        Arrival::Trace => Err(PlanError::NotYet { what: "load.arrival: trace".to_owned() }),
        // Outside, sums of gaps no longer have the mean that the rate promises, in any run of a bearable length.
        Arrival::Gamma { shape } if !(0.01..=1000.0).contains(&shape) => {
            impossible(format!("load.arrival gamma(shape={shape})"), "the shape must be between 0.01 and 1000")
        }
        _ => Ok(()),
    }
}

fn warmup(warmup: WarmUp, of: u64) -> u64 {
    match warmup {
        WarmUp::Times(factor) => times(factor, of).max(LEAST_WARMUP),
        WarmUp::Requests(count) => u64::from(count),
    }
}

fn too_small(load: &Load, level: &LevelPlan) -> Vec<PlanWarning> {
    let info = &level.info;
    let in_flight = info.concurrency.unwrap_or(0);
    let mut warnings = Vec::new();
    let requests = match (load.round, info.rate) {
        (RoundLength::Time(length), Some(rate)) => times(rate * length.as_secs_f64(), 1),
        _ => u64::from(info.round_requests.first().copied().unwrap_or(0)),
    };
    let least = in_flight.max(LEAST_ROUND);
    if requests < least {
        warnings.push(PlanWarning::SmallRound { level: info.label.clone(), requests, least });
    }
    let least = in_flight.max(LEAST_WARMUP);
    if info.warmup.max(u64::from(info.lead)) < least {
        warnings.push(PlanWarning::SmallWarmUp { level: info.label.clone(), requests: info.warmup, least });
    }
    warnings
}

/// `factor` × `of`, rounded up; what is above a whole number by float error only (1.1 × 10) is that number.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value was rounded; NaN becomes 0")]
fn times(factor: f64, of: u64) -> u64 {
    let product = factor * of as f64;
    (product - product * 1e-9).ceil().max(0.0) as u64
}
