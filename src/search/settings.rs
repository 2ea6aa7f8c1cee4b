//! What is searched, and how far.

/// The load that is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Closed loop: requests in flight, whole numbers from 1.
    Concurrency,
    /// Open loop: requests per second.
    Rate,
}

/// What the search is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    /// The highest load that holds, the knee and both peaks.
    Capacity,
    /// Only whether each of these loads holds: what rules on headroom ask for. Where the answer to one is known from another, it is
    /// not measured.
    Loads(Vec<f64>),
}

/// Where to stop, whatever is known by then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Points measured, repeats counted.
    pub points: usize,
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Seconds of load.
    pub seconds: Option<f64>,
}

/// What is searched, and how far.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which load is varied.
    pub axis: Axis,
    /// What it is for.
    pub goal: Goal,
    /// The target load, of which headroom is a multiple.
    pub target: f64,
    /// The load of the first point; a quarter of the target where `None`.
    pub from: Option<f64>,
    /// No load above this; 64 times the target where `None`.
    pub to: Option<f64>,
    /// The search ends when the lowest load that breaks is at most this share above the highest that holds.
    pub tolerance: f64,
    /// An undecided point is repeated with twice the rounds, up to this multiple.
    pub most_effort: u32,
    /// Where to stop.
    pub bounds: Bounds,
}

impl Settings {
    /// A search around `target` with what serves most: 5 % apart, at most four times the rounds, 24 points.
    #[must_use]
    pub fn around(axis: Axis, target: f64) -> Self {
        let bounds = Bounds { points: 24, tokens: None, seconds: None };
        Self { axis, goal: Goal::Capacity, target, from: None, to: None, tolerance: 0.05, most_effort: 4, bounds }
    }

    /// The first load.
    pub(super) fn start(&self) -> f64 {
        self.held_to_axis(self.from.unwrap_or(self.target / 4.0)).min(self.ceiling())
    }

    /// No load below this.
    pub(super) fn floor(&self) -> f64 {
        match self.axis {
            Axis::Concurrency => 1.0,
            Axis::Rate => self.start().min(self.target) / 64.0,
        }
    }

    /// No load above this.
    pub(super) fn ceiling(&self) -> f64 {
        self.held_to_axis(self.to.unwrap_or(self.target.max(self.from.unwrap_or(0.0)) * 64.0))
    }

    /// `load` as the axis can offer it.
    pub(super) fn held_to_axis(&self, load: f64) -> f64 {
        match self.axis {
            Axis::Concurrency => load.round().max(1.0),
            Axis::Rate => load,
        }
    }

    /// The highest load that can still hold where `broken` breaks: the whole number below it, or any rate below it.
    pub(super) fn below(&self, broken: f64) -> f64 {
        match self.axis {
            Axis::Concurrency => (broken - 1.0).max(0.0),
            Axis::Rate => broken * (1.0 - 1e-9),
        }
    }

    /// A load between two others, or `None` where they are as close as is asked for.
    pub(super) fn between(&self, low: f64, high: f64) -> Option<f64> {
        if high <= low * (1.0 + self.tolerance) {
            return None;
        }
        match self.axis {
            Axis::Concurrency if high - low < 1.5 => None,
            Axis::Concurrency => Some((low * high).sqrt().round().clamp(low + 1.0, high - 1.0)),
            Axis::Rate => Some((low * high).sqrt()),
        }
    }
}
