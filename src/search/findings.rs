//! What the points come to: the capacity with its bracket, the knee, both peaks, the headroom.

use super::next::{Bracket, bracket, seen};
use super::{Held, Point, Settings, Stop};

/// Beyond this multiple of the lowest load's P99, ttft is queueing.
const KNEE: f64 = 2.0;
/// A peak is the lowest load that comes this close to the highest figure, so that noise on a plateau does not choose it.
const NEAR_PEAK: f64 = 0.98;

/// A load and a figure there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// Requests in flight, or requests per second.
    pub load: f64,
    /// The figure: milliseconds, or requests per second.
    pub value: f64,
}

/// What the points come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Why the search ended.
    pub stop: Stop,
    /// The target load.
    pub target: f64,
    /// The highest load that holds below everything that does not; `None` where none holds.
    pub capacity: Option<f64>,
    /// The lowest load that breaks; `None` where none does.
    pub breaks: Option<f64>,
    /// Whether what ended the search upwards could not be measured, so that the capacity may be higher.
    pub is_cut_by_client: bool,
    /// The highest load measured whose P99 of ttft is at most twice that at the lowest load, in milliseconds.
    pub knee: Option<Spot>,
    /// Where most good requests a second finish.
    pub goodput_peak: Option<Spot>,
    /// Where most requests a second finish.
    pub throughput_peak: Option<Spot>,
    /// The lower and upper bracket of capacity / target − 1. The upper one is infinite where no load breaks.
    pub headroom: (f64, f64),
    /// Requests of all points, warm-up included.
    pub requests: u64,
    /// Tokens of all points.
    pub tokens: u64,
    /// Seconds of load of all points.
    pub seconds: f64,
}

/// What `points` come to when the search ends by `stop`.
#[must_use]
pub fn findings(settings: &Settings, points: &[Point], stop: Stop) -> Findings {
    let seen = seen(points);
    let Bracket { holds, ends } = bracket(&seen);
    let breaks = seen.iter().find(|point| point.held == Held::Breaks).map(|point| point.load);
    let capacity = holds.map(|point| point.load);
    let over = |load: f64| load / settings.target - 1.0;
    let upper = breaks.map_or(f64::INFINITY, |broken| over(settings.below(broken)));
    Findings {
        stop,
        target: settings.target,
        capacity,
        breaks,
        is_cut_by_client: ends.is_some_and(|point| point.held == Held::Unmeasurable),
        knee: knee(&seen),
        goodput_peak: peak(&seen, |point| point.goodput_rps),
        throughput_peak: peak(&seen, |point| point.throughput_rps),
        headroom: (capacity.map_or(-1.0, over), upper.max(capacity.map_or(-1.0, over))),
        requests: points.iter().map(|point| point.requests).sum(),
        tokens: points.iter().map(|point| point.tokens).sum(),
        seconds: points.iter().map(|point| point.seconds).sum(),
    }
}

impl Findings {
    /// How far the throughput's peak lies above the goodput's, as a share of the latter's load: what a search for tokens per second
    /// would get wrong.
    #[must_use]
    pub fn peaks_apart(&self) -> Option<f64> {
        Some(self.throughput_peak?.load / self.goodput_peak?.load - 1.0)
    }

    /// The capacity over the load at which goodput is highest, less one.
    #[must_use]
    pub fn capacity_from_peak(&self) -> Option<f64> {
        Some(self.capacity? / self.goodput_peak?.load - 1.0)
    }
}

/// Loads above one that is past the knee are past it, whatever their noise says.
fn knee(seen: &[&Point]) -> Option<Spot> {
    let known: Vec<Spot> =
        seen.iter().filter_map(|point| Some(Spot { load: point.load, value: point.ttft_p99_ms.filter(|ms| *ms > 0.0)? })).collect();
    let limit = KNEE * known.first()?.value;
    known.into_iter().take_while(|spot| spot.value <= limit).last()
}

fn peak(seen: &[&Point], value: impl Fn(&Point) -> Option<f64>) -> Option<Spot> {
    let spots = || seen.iter().filter_map(|point| Some(Spot { load: point.load, value: value(point)? }));
    let highest = spots().map(|spot| spot.value).fold(0.0, f64::max);
    spots().find(|spot| highest > 0.0 && spot.value >= NEAR_PEAK * highest)
}
