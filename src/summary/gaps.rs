//! Gaps between token-bearing events, pooled over a round: an HDR histogram with 3 significant digits, as sorted pairs.

use super::Percentiles;
use crate::units::Nanos;
use hdrhistogram::Histogram;

/// The longest gap that is told apart, in microseconds: one hour.
const LONGEST_US: u64 = 3_600_000_000;
/// The most gaps that one bucket counts: a file may claim any number, and sums of them must not overflow.
const MOST: u64 = 1 << 32;

/// Gaps of one round: `(gap, count)`, the gap being its bucket's lowest value in microseconds, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gaps {
    /// The pairs.
    pub pairs: Vec<(u64, u64)>,
}

/// The pairs of a histogram over `gaps`, as a stored round keeps them.
#[must_use]
pub fn histogram(gaps: impl Iterator<Item = Nanos>) -> Gaps {
    Gaps::collect(gaps.map(|gap| ((gap.0 + 500) / 1000, 1)))
}

impl Gaps {
    /// From `(microseconds, count)` in any order.
    #[must_use]
    pub fn collect(pairs: impl Iterator<Item = (u64, u64)>) -> Self {
        let Some(mut counts) = empty() else { return Self::default() };
        for (micros, count) in pairs {
            counts.saturating_record_n(micros, count);
        }
        let pairs = counts
            .iter_recorded()
            .map(|step| (counts.lowest_equivalent(step.value_iterated_to()), step.count_at_value().min(MOST)))
            .collect();
        Self { pairs }
    }

    /// Several rounds' gaps as one.
    #[must_use]
    pub fn pool<'a>(rounds: impl Iterator<Item = &'a Self>) -> Self {
        Self::collect(rounds.flat_map(|round| round.pairs.iter().copied()))
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.pairs.iter().map(|(_, count)| count).sum()
    }

    /// How many are longer than `limit_ms`, or as long where `or_equal`; equal within the histogram's 3 digits.
    #[must_use]
    pub fn over(&self, limit_ms: f64, or_equal: bool) -> u64 {
        let limit = bucket(Nanos::from_ms(limit_ms).0.div_ceil(1000).min(LONGEST_US));
        self.pairs.iter().filter(|(gap, _)| *gap > limit || (or_equal && *gap == limit)).map(|(_, count)| count).sum()
    }

    /// The gap at quantile `q` in milliseconds when `infinite` more gaps lie above all others; infinite where it is among these.
    /// `None` without a gap.
    #[must_use]
    pub fn quantile(&self, q: f64, infinite: u64) -> Option<f64> {
        let all = self.count() + infinite;
        if all == 0 {
            return None;
        }
        let rank = (q * all as f64).ceil().max(1.0);
        let mut below = 0.0;
        for (gap, count) in &self.pairs {
            below += *count as f64;
            if below >= rank {
                return Some(middle(*gap));
            }
        }
        Some(f64::INFINITY)
    }

    /// P50, P90, P95, P99, mean and maximum, in milliseconds.
    #[must_use]
    pub fn percentiles(&self) -> Percentiles {
        let samples = self.count();
        let sum: f64 = self.pairs.iter().map(|(gap, count)| middle(*gap) * *count as f64).sum();
        let at = |q| self.quantile(q, 0);
        Percentiles {
            samples,
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            mean: (samples > 0).then(|| sum / samples as f64),
            max: self.pairs.last().map(|(gap, _)| middle(*gap)),
        }
    }
}

fn empty() -> Option<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST_US, 3).ok()
}

/// The lowest value of the bucket that holds `micros`: 11 leading bits, as an HDR histogram with 3 digits keeps them.
fn bucket(micros: u64) -> u64 {
    let shift = (64 - micros.leading_zeros()).saturating_sub(11);
    micros >> shift << shift
}

/// The middle of the bucket that begins at `lowest`, in milliseconds.
fn middle(lowest: u64) -> f64 {
    let width = 1_u64 << (64 - lowest.leading_zeros()).saturating_sub(11);
    (lowest as f64 + (width - 1) as f64 / 2.0) / 1000.0
}
