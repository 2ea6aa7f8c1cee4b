//! The robust centre of a run's rounds.

use super::run_to_run::Estimate;
use super::student::at_least_two;

/// A 20 % trimmed mean over rounds, with Yuen's variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trimmed {
    /// The trimmed mean; infinite where more rounds are infinite than trimming takes away.
    pub mean: f64,
    /// Variance of the mean; 0 where the mean is infinite. Infinite only where rounds lie too far apart to be squared.
    pub variance: f64,
    /// Degrees of freedom, at least 2.
    pub df: f64,
}

impl Trimmed {
    /// The one-sided bounds `mean ∓ t√V`, each missed with probability `alpha`.
    #[must_use]
    pub fn bounds(&self, alpha: f64) -> (f64, f64) {
        Estimate::from(*self).bounds(alpha)
    }
}

impl From<Trimmed> for Estimate {
    fn from(t: Trimmed) -> Self {
        Self { theta: t.mean, variance: t.variance, df: t.df }
    }
}

/// How many rounds are trimmed at each end: a fifth, rounded down.
pub(super) fn trimmed_per_side(rounds: usize) -> usize {
    rounds / 5
}

/// The 20 % trimmed mean of a run's rounds in time order (Yuen 1974), its variance inflated for rounds that resemble their
/// neighbours as in an AR(1) process:
///
/// ```text
/// g = ⌊0.2R⌋, h = R − 2g ;  s_w² = winsorized variance
/// ρ = clip(r₁ + (1 + 3·clip(r₁, 0, 1))/R, 0, .8), r₁ the lag-1 autocorrelation of winsorized y, its bias undone
///     (Marriott & Pope 1954, Kendall 1954) ;  r₁ = 0 where winsorized y are all equal
/// infl = (1+ρ)/(1−ρ) ;  V = (R−1)s_w²/(h(h−1))·infl ;  df = max(2, (h−1)/infl)
/// ```
///
/// Infinite rounds are ranked. Up to g of them on a side are winsorized away; beyond that the mean is infinite. `None` for fewer
/// than two rounds, for one that is no number, and where both infinities stay.
#[must_use]
pub fn trimmed(y: &[f64]) -> Option<Trimmed> {
    if y.len() < 2 || y.iter().any(|v| v.is_nan()) {
        return None;
    }
    let rounds = y.len() as f64;
    let g = trimmed_per_side(y.len());
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let kept = &sorted[g..y.len() - g];
    let (low, high) = (kept[0], kept[kept.len() - 1]);
    match (low == f64::NEG_INFINITY, high == f64::INFINITY) {
        (true, true) => return None,
        (false, false) if low.is_finite() && high.is_finite() => {}
        _ => return Some(Trimmed { mean: if high == f64::INFINITY { high } else { low }, variance: 0.0, df: 2.0 }),
    }
    let h = kept.len() as f64;
    let mean = kept.iter().map(|v| v / h).sum::<f64>().clamp(low, high);
    let (squares, r1) = winsorized(y, low, high);
    let rho = (r1 + (1.0 + 3.0 * r1.clamp(0.0, 1.0)) / rounds).clamp(0.0, 0.8);
    let inflation = (1.0 + rho) / (1.0 - rho);
    Some(Trimmed { mean, variance: squares / (h * (h - 1.0)) * inflation, df: at_least_two((h - 1.0) / inflation) })
}

/// `(R−1)s_w²` and the lag-1 autocorrelation of `y` held between `low` and `high`, in time order.
fn winsorized(y: &[f64], low: f64, high: f64) -> (f64, f64) {
    if low >= high {
        return (0.0, 0.0);
    }
    let held: Vec<f64> = y.iter().map(|v| v.clamp(low, high) - low).collect();
    let mean = held.iter().sum::<f64>() / held.len() as f64;
    let squares: f64 = held.iter().map(|w| (w - mean).powi(2)).sum();
    let products: f64 = held.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    if !squares.is_finite() {
        return (f64::INFINITY, 0.0);
    }
    (squares, if squares > 0.0 { products / squares } else { 0.0 })
}
