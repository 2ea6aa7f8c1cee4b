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
        self.info.warmup + self.counted()
    }

    /// Requests of the planned rounds.
    pub(super) fn counted(&self) -> u64 {
        self.info.round_requests.iter().map(|requests| u64::from(*requests)).sum()
    }
}

/// The levels of `load`, in order.
pub(super) fn levels(load: &Load) -> Result<(Vec<LevelPlan>, Vec<PlanWarning>), PlanError> {
    let offered = load.offered.ok_or(PlanError::NoLoad)?;
    let mut levels: Vec<LevelPlan> = Vec::new();
    let mut warnings = Vec::new();
    for (number, (label, factor)) in load.levels.iter().enumerate() {
        let first_id: u64 = levels.iter().map(LevelPlan::requests).sum();
        let most = MOST_REQUESTS.saturating_sub(first_id);
        let mut level = match offered {
            Offered::Concurrency(target) => closed(load, label, (*factor, target), most)?,
            Offered::Rate { per_second, arrival } => {
                open(load, label, &Rate { number, factor: *factor, per_second: per_second * factor, arrival }, most)?
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

fn closed(load: &Load, label: &str, (factor, target): (f64, u64), most: u64) -> Result<LevelPlan, PlanError> {
    let concurrency = times(factor, target).max(1);
    let per_round = match load.round {
        RoundLength::Times(times_each) => times(times_each, concurrency).max(LEAST_ROUND),
        RoundLength::Requests(count) => u64::from(count.max(1)),
        RoundLength::Time(_) => {
            return Err(PlanError::Impossible { what: "load.round".to_owned(), why: "a round in seconds needs an open loop" });
        }
    };
    let warmup = warmup(load.warmup, concurrency);
    let rounds = load.rounds.max.max(1);
    let total = per_round.saturating_mul(u64::from(rounds)).saturating_add(warmup);
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
        },
        pace: Pace::Closed { concurrency },
        min_rounds: load.rounds.min.clamp(1, rounds),
        min_time: load.min_time,
        end: None,
        first_id: 0,
        open: None,
    })
}

fn open(load: &Load, label: &str, rate: &Rate, most: u64) -> Result<LevelPlan, PlanError> {
    check_rate(load, rate)?;
    let per_round = match load.round {
        RoundLength::Requests(count) => u64::from(count.max(1)),
        RoundLength::Times(times_each) => times(times_each, LEAST_ROUND).max(LEAST_ROUND),
        RoundLength::Time(_) => 1,
    };
    let per_round = u32::try_from(per_round).map_err(|_| PlanError::TooMany { most: MOST_REQUESTS })?;
    let warmup = warmup(load.warmup, LEAST_WARMUP);
    let open = OpenLoop {
        seed: load.seed,
        level: rate.number as u64,
        per_second: rate.per_second,
        arrival: rate.arrival,
        warmup,
        round: open_round(load.round, per_round),
        most,
    };
    if warmup > most {
        return Err(PlanError::TooMany { most: MOST_REQUESTS });
    }
    let Due { at, rounds, end } = open.due(load.rounds.max.max(1), load.min_time)?;
    let planned = u32::try_from(rounds.len()).unwrap_or(u32::MAX);
    Ok(LevelPlan {
        info: LevelInfo {
            label: label.to_owned(),
            factor: rate.factor,
            concurrency: None,
            rate: Some(rate.per_second),
            rounds: planned,
            round_requests: rounds,
            warmup,
        },
        pace: Pace::Open { due: at },
        min_rounds: load.rounds.min.clamp(1, planned.max(1)),
        min_time: load.min_time,
        end: Some(end),
        first_id: 0,
        open: Some(open),
    })
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
    if info.warmup < least {
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
