//! When open-loop requests are due, decided before the run, whatever the answers will do.

use super::error::PlanError;
use super::random::Random;
use crate::spec::{Arrival, RoundLength};
use crate::units::Nanos;
use std::time::Duration;

/// The longest level that is planned, in seconds: 30 days.
const LONGEST: f64 = 30.0 * 86_400.0;

/// Arrival times at one request a unit of time, in order and without end.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    random: Random,
    arrival: Arrival,
    now: f64,
    count: u64,
}

impl Arrivals {
    /// The process `arrival`, drawn from `random`.
    pub(super) fn new(arrival: Arrival, random: Random) -> Self {
        Self { random, arrival, now: 0.0, count: 0 }
    }
}

impl Iterator for Arrivals {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let gap = match self.arrival {
            Arrival::Poisson => self.random.exponential(),
            Arrival::Gamma { shape } => self.random.gamma(shape),
            // Equal gaps begin at once: each window then holds exactly what the rate says.
            Arrival::Constant | Arrival::Trace => f64::from(u8::from(self.count > 0)),
        };
        self.count += 1;
        self.now += gap;
        Some(self.now)
    }
}

/// An open-loop level's arrival process and how it is cut.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpenLoop {
    pub(super) seed: u64,
    pub(super) level: u64,
    pub(super) per_second: f64,
    pub(super) arrival: Arrival,
    pub(super) warmup: u64,
    pub(super) round: OpenRound,
    pub(super) most: u64,
}

/// How an open-loop level is cut into rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OpenRound {
    /// This many requests each.
    Requests(u32),
    /// All that arrive within this many seconds.
    Seconds(f64),
}

/// An open-loop level down to each due time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Due {
    /// Warm-up first, then round by round, from the level's start.
    pub(super) at: Vec<Nanos>,
    /// Requests in each round.
    pub(super) rounds: Vec<u32>,
    /// When the arrival window closes.
    pub(super) end: Nanos,
}

impl OpenLoop {
    /// The process of one of the level's two stretches: the rounds keep theirs whatever the warm-up's size.
    fn arrivals(&self, stretch: u64) -> Arrivals {
        Arrivals::new(self.arrival, Random::stream(self.seed, "arrivals", &[self.level, stretch]))
    }

    /// Due times of the warm-up and of `rounds` rounds, and of as many more as fill `min_time`.
    ///
    /// # Errors
    /// [`PlanError::TooMany`] and, for levels of over 30 days, [`PlanError::Impossible`].
    pub(super) fn due(&self, rounds: u32, min_time: Duration) -> Result<Due, PlanError> {
        let mut at = Vec::new();
        let mut begin = 0.0;
        for unit in self.arrivals(0).take(usize::try_from(self.warmup.saturating_add(1)).unwrap_or(usize::MAX)) {
            begin = if self.warmup == 0 { 0.0 } else { self.seconds(unit)? };
            if (at.len() as u64) < self.warmup {
                at.push(nanos(begin));
            }
        }
        let mut sizes = Vec::new();
        let mut in_round = 0_u32;
        let mut boundary = 0.0;
        let mut end = begin;
        for unit in self.arrivals(1) {
            let time = self.seconds(unit)?;
            if let Some(closed) = self.round_end(time, in_round, &mut boundary) {
                sizes.push(in_round);
                in_round = 0;
                end = begin + closed;
                if sizes.len() as u64 >= u64::from(rounds) && closed >= min_time.as_secs_f64() {
                    break;
                }
            }
            at.push(nanos(begin + time));
            in_round += 1;
            if at.len() as u64 > self.most {
                return Err(PlanError::TooMany { most: self.most });
            }
        }
        Ok(Due { at, rounds: sizes, end: nanos(end) })
    }

    /// Whether the running round closed before an arrival at `time`, and when. A window without arrivals is no round of its own: the next
    /// round is longer instead, so that the process stays what it is and no round is empty.
    fn round_end(&self, time: f64, in_round: u32, boundary: &mut f64) -> Option<f64> {
        match self.round {
            OpenRound::Requests(count) => (in_round >= count).then_some(time),
            OpenRound::Seconds(length) => {
                if time < *boundary {
                    return None;
                }
                let closed = *boundary;
                *boundary = length * ((time / length).floor() + 1.0);
                (in_round > 0).then_some(closed)
            }
        }
    }

    fn seconds(&self, unit: f64) -> Result<f64, PlanError> {
        let seconds = unit / self.per_second;
        if seconds < LONGEST {
            Ok(seconds)
        } else {
            Err(PlanError::Impossible { what: format!("load.rate {}/s", self.per_second), why: "the level would last over 30 days" })
        }
    }
}

/// The rounds of an open loop in which one is `factor` times 25 requests.
pub(super) fn open_round(round: RoundLength, per_round: u32) -> OpenRound {
    match round {
        RoundLength::Time(length) => OpenRound::Seconds(length.as_secs_f64()),
        RoundLength::Times(_) | RoundLength::Requests(_) => OpenRound::Requests(per_round),
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos::from_ms(seconds * 1e3)
}
