//! Which quantile a rule speaks of.

use std::fmt;

/// A quantile strictly between 0 and 1, spelt `p50`, `p99`, `p99.9`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Quantile(f64);

impl Quantile {
    /// From per cent: `99.0` is P99. `None` outside `p0.1 … p99.9`, and for what is no number.
    #[must_use]
    pub fn from_percent(percent: f64) -> Option<Self> {
        (0.1..=99.9).contains(&percent).then_some(Self(percent / 100.0))
    }

    /// The fraction of values at or below it: 0.99 for P99.
    #[must_use]
    pub fn fraction(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = (self.0 * 1e5).round() / 1e3;
        write!(f, "p{percent}")
    }
}
