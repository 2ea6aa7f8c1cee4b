//! Student's t, the normal and the chi-square distribution, total on their edges: nothing here panics or gives NaN for sane input.

use statrs::distribution::{ChiSquared, Continuous, ContinuousCDF, Normal, StudentsT};

use super::sample;

/// From here on the incomplete beta loses digits, and t is reckoned from the normal.
const NEAR_NORMAL: f64 = 1e4;
/// From here on t is the normal.
const MOST_DF: f64 = 1e12;

/// Every df is at least this: below it a t interval says nothing any more.
pub(super) const LEAST_DF: f64 = 2.0;

/// The `p` quantile of Student's t with `df` degrees of freedom (at least 2; what is no number counts as 2).
/// Infinite for `p` at or beyond 0 and 1; 0 where `p` is no number.
#[must_use]
pub fn t_quantile(p: f64, df: f64) -> f64 {
    if p.is_nan() {
        return 0.0;
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let df = at_least_two(df).min(MOST_DF);
    if df > NEAR_NORMAL {
        return near_normal_t(z_quantile(p), df);
    }
    // By the lower tail, whose small probabilities keep their digits.
    if p > 0.5 { -lower_t_quantile(1.0 - p, df) } else { lower_t_quantile(p, df) }
}

fn lower_t_quantile(p: f64, df: f64) -> f64 {
    let Ok(t) = StudentsT::new(0.0, 1.0, df) else { return z_quantile(p) };
    let mut x = t.inverse_cdf(p);
    // The inverse beta loses digits near the median and for small p; two Newton steps give them back.
    for _ in 0..2 {
        let next = x - (t.cdf(x) - p) / t.pdf(x);
        if next.is_finite() {
            x = next;
        }
    }
    x.min(0.0)
}

/// P(T > x) for Student's t with `df` degrees of freedom (at least 2).
#[must_use]
pub fn t_upper_tail(x: f64, df: f64) -> f64 {
    if x.is_infinite() {
        return if x > 0.0 { 0.0 } else { 1.0 };
    }
    let df = at_least_two(df).min(MOST_DF);
    if df > NEAR_NORMAL {
        return z_upper_tail(near_normal_z(x, df));
    }
    StudentsT::new(0.0, 1.0, df).map_or(1.0, |t| t.sf(x)).clamp(0.0, 1.0)
}

/// The normal deviate with the tail of `t`, by Wallace 1959: `z = (8ν+1)/(8ν+3)·√(ν ln(1 + t²/ν))`, here good to nine digits.
fn near_normal_z(t: f64, df: f64) -> f64 {
    let z = (8.0 * df + 1.0) / (8.0 * df + 3.0) * (df * (t * t / df).ln_1p()).sqrt();
    z.copysign(t)
}

/// Its inverse.
fn near_normal_t(z: f64, df: f64) -> f64 {
    let z = z * (8.0 * df + 3.0) / (8.0 * df + 1.0);
    (df * (z * z / df).exp_m1()).sqrt().copysign(z)
}

/// The `p` quantile of the standard normal.
pub(super) fn z_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p.clamp(0.0, 1.0))
}

/// P(Z > x) for a standard normal Z.
pub(super) fn z_upper_tail(x: f64) -> f64 {
    Normal::standard().sf(x)
}

/// The `p` quantile of chi-square with `df` degrees of freedom.
pub(super) fn chi_square_quantile(p: f64, df: f64) -> f64 {
    ChiSquared::new(df).map_or(df, |chi| chi.inverse_cdf(p.clamp(0.0, 1.0)))
}

pub(super) fn at_least_two(df: f64) -> f64 {
    df.max(LEAST_DF)
}

/// Two-sided p value of Welch's t test for equal means (Welch 1947). `None` for fewer than two values or a value that is not
/// finite on either side, and where neither side varies: there is then no scale to judge a difference by.
#[must_use]
pub fn welch_p(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, var_a) = sample::mean_and_variance(a)?;
    let (mean_b, var_b) = sample::mean_and_variance(b)?;
    let (va, vb) = (var_a / sample::count(a), var_b / sample::count(b));
    let variance = va + vb;
    if variance <= 0.0 {
        return None;
    }
    // Shares of the variance, not its squares: those of tiny variances would vanish.
    let (wa, wb) = (va / variance, vb / variance);
    let df = 1.0 / (wa * wa / (sample::count(a) - 1.0) + wb * wb / (sample::count(b) - 1.0));
    let t = (mean_a - mean_b).abs() / variance.sqrt();
    Some((2.0 * t_upper_tail(t, df)).min(1.0))
}
