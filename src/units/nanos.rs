//! A span of time, or an offset from a run's or a request's start, in whole nanoseconds.

use std::ops::Add;
use std::time::Duration;

/// Nanoseconds. All time stamps are offsets on one monotonic clock: from the run's start, or from a request's own `scheduled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// Fractional milliseconds, the unit of every `_ms` field in files.
    #[must_use]
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// From fractional milliseconds, rounded to the nearest nanosecond; negative and NaN become zero.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value was rounded and bounded at zero")]
    pub fn from_ms(ms: f64) -> Self {
        Self((ms * 1e6).round().max(0.0) as u64)
    }

    /// Seconds.
    #[must_use]
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to this instant; zero where `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl From<Duration> for Nanos {
    fn from(value: Duration) -> Self {
        Self(u64::try_from(value.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(value: Nanos) -> Self {
        Self::from_nanos(value.0)
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
