//! Points seen → the next load.

use super::{Goal, Held, Point, Settings};

/// A doubling that adds less than this to the throughput has passed its peak.
const STILL_GROWS: f64 = 1.05;
/// Doublings past the first load that breaks, made to see the peaks.
const BEYOND: usize = 3;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// Measure this load with `effort` times the usual rounds.
    Measure {
        /// Requests in flight, or requests per second.
        load: f64,
        /// 1, 2, 4.
        effort: u32,
    },
    /// No more.
    Done(Stop),
}

/// Why the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// What was asked for is known, as closely as the data let it be.
    Found,
    /// No load holds, down to the lowest.
    LowestBreaks,
    /// The highest load that may be offered still holds.
    Ceiling,
    /// The lowest load could not be measured.
    Unmeasurable,
    /// Its points are used up.
    Points,
    /// Its tokens or its time are used up.
    Budget,
    /// The target could not be reached any more.
    Lost,
    /// A signal.
    Interrupted,
}

impl Stop {
    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::LowestBreaks => "lowest_breaks",
            Self::Ceiling => "ceiling",
            Self::Unmeasurable => "unmeasurable",
            Self::Points => "points",
            Self::Budget => "budget",
            Self::Lost => "target_lost",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The next load, or why there is none. `points` stand in the order they were measured; of several at one load the last counts.
#[must_use]
pub fn next(settings: &Settings, points: &[Point]) -> Next {
    let bounds = &settings.bounds;
    if points.len() >= bounds.points {
        return Next::Done(Stop::Points);
    }
    let tokens: u64 = points.iter().map(|point| point.tokens).sum();
    let seconds: f64 = points.iter().map(|point| point.seconds).sum();
    if bounds.tokens.is_some_and(|most| tokens >= most) || bounds.seconds.is_some_and(|most| seconds >= most) {
        return Next::Done(Stop::Budget);
    }
    if let Some(last) = points.last().filter(|last| last.held == Held::Unsure && last.effort < settings.most_effort) {
        return Next::Measure { load: last.load, effort: (last.effort * 2).min(settings.most_effort) };
    }
    let seen = seen(points);
    match &settings.goal {
        Goal::Capacity => capacity(settings, &seen),
        Goal::Loads(loads) => decide(settings, loads, &seen),
    }
}

/// The last word on each load, from the lowest up.
pub(super) fn seen(points: &[Point]) -> Vec<&Point> {
    let mut seen: Vec<&Point> = Vec::new();
    for point in points {
        match seen.iter_mut().find(|known| is_same(known.load, point.load)) {
            Some(known) => *known = point,
            None => seen.push(point),
        }
    }
    seen.sort_by(|a, b| a.load.total_cmp(&b.load));
    seen
}

/// What is known of the capacity: the highest load that holds below everything that does not, and the lowest that does not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bracket<'a> {
    pub holds: Option<&'a Point>,
    /// The lowest load that breaks or could not be measured.
    pub ends: Option<&'a Point>,
}

pub(super) fn bracket<'a>(seen: &[&'a Point]) -> Bracket<'a> {
    let ends = seen.iter().position(|point| matches!(point.held, Held::Breaks | Held::Unmeasurable));
    let below = &seen[..ends.unwrap_or(seen.len())];
    Bracket { holds: below.iter().rev().find(|point| point.held == Held::Holds).copied(), ends: ends.map(|at| seen[at]) }
}

fn capacity(settings: &Settings, seen: &[&Point]) -> Next {
    let measure = |load: f64| Next::Measure { load: settings.held_to_axis(load), effort: 1 };
    let (Some(lowest), Some(highest)) = (seen.first(), seen.last()) else { return measure(settings.start()) };
    let Bracket { holds, ends } = bracket(seen);
    let Some(holds) = holds else { return down(settings, lowest) };
    let Some(ends) = ends else {
        let ceiling = settings.ceiling();
        return if highest.load < ceiling { measure((2.0 * highest.load).min(ceiling)) } else { Next::Done(Stop::Ceiling) };
    };
    // Loads that stayed undecided lie between: what holds is looked for below them, what breaks above them.
    let unsure: Vec<f64> = seen.iter().map(|point| point.load).filter(|load| *load > holds.load && *load < ends.load).collect();
    let (first, last) = (unsure.first().copied().unwrap_or(ends.load), unsure.last().copied().unwrap_or(holds.load));
    if let Some(load) = settings.between(holds.load, first).or_else(|| settings.between(last, ends.load)) {
        return measure(load);
    }
    match past_the_peaks(settings, seen, ends) {
        Some(load) => measure(load),
        None => Next::Done(Stop::Found),
    }
}

/// Where nothing holds yet: half the lowest load, down to the floor.
fn down(settings: &Settings, lowest: &Point) -> Next {
    if lowest.held == Held::Unmeasurable {
        return Next::Done(Stop::Unmeasurable);
    }
    let floor = settings.floor();
    if lowest.load <= floor * 1.001 {
        return Next::Done(Stop::LowestBreaks);
    }
    let half = (lowest.load / 2.0).max(floor);
    let half = if matches!(settings.axis, super::Axis::Concurrency) { half.floor().max(1.0) } else { half };
    Next::Measure { load: half, effort: 1 }
}

/// A load beyond the capacity that shows where goodput and throughput are highest; `None` once both are passed.
fn past_the_peaks(settings: &Settings, seen: &[&Point], ends: &Point) -> Option<f64> {
    let highest = seen.last()?;
    let beyond = seen.iter().filter(|point| point.load > ends.load).count();
    if highest.held == Held::Unmeasurable || beyond >= BEYOND || highest.load >= settings.ceiling() {
        return None;
    }
    let of = |value: fn(&Point) -> Option<f64>| {
        let before = seen.iter().filter(|point| point.load <= highest.load / 1.5).filter_map(|point| value(point));
        (value(highest).unwrap_or(0.0), before.fold(0.0, f64::max))
    };
    let (goodput, best_goodput) = of(|point| point.goodput_rps);
    let (throughput, best_throughput) = of(|point| point.throughput_rps);
    let passed = goodput < best_goodput && throughput <= best_throughput * STILL_GROWS;
    (!passed).then(|| (2.0 * highest.load).min(settings.ceiling()))
}

/// The lowest of `loads` that no other point answers for.
fn decide(settings: &Settings, loads: &[f64], seen: &[&Point]) -> Next {
    let Bracket { holds, ends } = bracket(seen);
    let open = |load: &f64| {
        let known = holds.is_some_and(|point| point.load >= *load)
            || ends.is_some_and(|point| point.load <= *load)
            || seen.iter().any(|point| is_same(point.load, *load));
        !known
    };
    let mut wanted: Vec<f64> = loads.iter().map(|load| settings.held_to_axis(up(settings, *load))).filter(open).collect();
    wanted.sort_by(f64::total_cmp);
    wanted.first().map_or(Next::Done(Stop::Found), |load| Next::Measure { load: *load, effort: 1 })
}

/// A headroom of 40 % over 12 in flight takes 17 to prove.
fn up(settings: &Settings, load: f64) -> f64 {
    if matches!(settings.axis, super::Axis::Concurrency) { (load - 1e-9).ceil() } else { load }
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}
