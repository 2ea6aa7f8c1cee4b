//! Shares with honest intervals: the share of requests that break a limit, where requests of a round share its weather.

use super::cluster::{self, Ratio};
use super::run_to_run::Estimate;
use super::sample;
use super::student::{at_least_two, t_quantile, z_quantile};

/// A share over rounds, and how much its data weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proportion {
    /// The share, `ΣG/ΣN`, from 0 to 1.
    pub p: f64,
    /// Observations, `ΣN`.
    pub total: f64,
    /// Rounds with data.
    pub clusters: usize,
    /// Variance of `p` as the rounds show it (Newey–West), before any floor.
    pub variance: f64,
    /// Design effect: by how much clustering inflates the variance of independent observations. At least 1.
    pub deff: f64,
    /// Independent observations that would weigh as much: `total / deff`.
    pub n_eff: f64,
    /// Degrees of freedom of the interval: rounds − 1, at least 2.
    pub df: f64,
}

/// The share `ΣG/ΣN` of rounds `(G, N)` in time order, with `G ≤ N`. `deff_hist` is the design effect that stored runs showed
/// ([`history_deff`]): a run's own rounds may happen to look calmer than the site is.
///
/// `deff = max(1, V/(p(1−p)/N), deff_hist)` with V of Newey–West; `deff_hist`, or 1, where `p` is 0 or 1. Rounds without data are
/// left out. One round alone shows no variance and counts as independent observations; callers ask for at least 12.
///
/// `None` without data, and where a cell is negative, not finite, or has `G > N`.
#[must_use]
pub fn proportion(cells: &[(f64, f64)], deff_hist: Option<f64>) -> Option<Proportion> {
    if cells.iter().any(|(g, n)| g > n) {
        return None;
    }
    let Ratio { p, total, clusters, variance } = cluster::ratio(cells)?;
    let p = p.min(1.0);
    let binomial = p * (1.0 - p) / total;
    let own = if binomial > 0.0 { variance / binomial } else { 1.0 };
    let deff = own.max(1.0).max(deff_hist.filter(|d| d.is_finite()).unwrap_or(1.0));
    Some(Proportion { p, total, clusters, variance, deff, n_eff: total / deff, df: at_least_two(clusters as f64 - 1.0) })
}

impl Proportion {
    /// The one-sided bounds L and U, each missed with probability `alpha`: Wilson 1927 with Student's t and the effective n, after
    /// Korn & Graubard 1998. Where `p` is 0, U is at least the exact `1 − α^(1/n)`; where `p` is 1, L mirrors it.
    #[must_use]
    pub fn bounds(&self, alpha: f64) -> (f64, f64) {
        let (low, high) = wilson(self.p, self.n_eff, t_quantile(1.0 - alpha, self.df));
        let exact = alpha.powf(1.0 / self.n_eff);
        if self.p <= 0.0 {
            (0.0, high.max(1.0 - exact))
        } else if self.p >= 1.0 {
            (low.min(exact), 1.0)
        } else {
            (low, high)
        }
    }

    /// As one of the stored runs of [`super::against_history`].
    #[must_use]
    pub fn as_stored(&self) -> Estimate {
        Estimate { theta: self.p, variance: self.variance, df: self.df }
    }

    /// As the candidate of [`super::against_history`] with `stored` baseline runs: `V ← max(V, max(p(1−p), 1/N)/N)`, since a share
    /// of 0 is no certainty, and `df_w = (K+1)(R−1)/2`.
    #[must_use]
    pub fn as_candidate(&self, stored: usize) -> Estimate {
        let df = (stored as f64 + 1.0) * (self.clusters as f64 - 1.0) / 2.0;
        Estimate { theta: self.p, variance: self.variance.max(least_variance(self.p, self.total)), df: at_least_two(df) }
    }
}

/// `max(p(1−p), 1/N)/N`: the variance of independent observations, or of one odd one among them.
pub(super) fn least_variance(p: f64, total: f64) -> f64 {
    (p * (1.0 - p)).max(1.0 / total) / total
}

/// The share `ΣG/ΣN` of rounds `(G, N)` in time order, and its variance by Newey–West: for ratios of two sums that are no counts
/// of one set, such as cached over input tokens. `None` without data, and where a cell is negative or not finite.
#[must_use]
pub fn ratio_cells(cells: &[(f64, f64)]) -> Option<(f64, f64)> {
    cluster::ratio(cells).map(|r| (r.p, r.variance))
}

/// The design effect of stored runs, `(mean V_k)/(p̄(1−p̄)/N̄)`, at least 1; 1 where p̄ is 0 or 1. `None` without stored runs.
#[must_use]
pub fn history_deff(stored: &[Proportion]) -> Option<f64> {
    let mean_of = |value: fn(&Proportion) -> f64| sample::mean(&stored.iter().map(value).collect::<Vec<_>>());
    let p = mean_of(|s| s.p)?;
    let binomial = p * (1.0 - p) / mean_of(|s| s.total)?;
    let deff = if binomial > 0.0 { mean_of(|s| s.variance)? / binomial } else { 1.0 };
    Some(deff.max(1.0))
}

/// The share that a PASS must rule out: `r` times the odds of the allowed share, `a_D = r·a/(1 − a + r·a)`.
/// 2.46 % for an allowed 1 % at r = 2.5.
#[must_use]
pub fn rule_out_share(allowed: f64, r: f64) -> f64 {
    if allowed >= 1.0 {
        return 1.0;
    }
    r * allowed / (1.0 - allowed + r * allowed)
}

/// The smallest n_eff with which a run without a single breach could still PASS: its U must not exceed [`rule_out_share`].
/// 121 for P99 at r = 2.5 and α = .05, 299 at r = 1.
///
/// U is the larger of `1 − α^(1/n)`, which knows no df, and Wilson's `t²/(n + t²)`, which does. Here t is the normal's, its least;
/// [`needed_n_eff_at`] takes the rounds into account, which matters at α = .05 only below about 20 of them.
/// 1 where the allowed share is 0 or 1: the count alone decides, or nothing can break the rule.
#[must_use]
pub fn needed_n_eff(allowed: f64, r: f64, alpha: f64) -> f64 {
    needed(rule_out_share(allowed, r), alpha, z_quantile(1.0 - alpha))
}

/// [`needed_n_eff`] with the t of `df` (rounds − 1): exactly the n_eff from which [`Proportion::bounds`] lets 0 breaches pass.
#[must_use]
pub fn needed_n_eff_at(allowed: f64, r: f64, alpha: f64, df: f64) -> f64 {
    needed(rule_out_share(allowed, r), alpha, t_quantile(1.0 - alpha, df))
}

fn needed(share: f64, alpha: f64, t: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 1.0;
    }
    let exact = alpha.ln() / (-share).ln_1p();
    let wilson = t * t * (1.0 - share) / share;
    exact.max(wilson).ceil().max(1.0)
}

/// The two levels at which to read pooled samples for an interval of their `q` quantile, one-sided `alpha` each, by inverting the
/// interval of the share (Woodruff 1952): Wilson around `q` with `n_eff` and Student's t of `df`. A level within half a sample of 1
/// means that the data do not bound the quantile from above.
#[must_use]
pub fn woodruff(q: f64, n_eff: f64, df: f64, alpha: f64) -> (f64, f64) {
    wilson(q, n_eff, t_quantile(1.0 - alpha, df))
}

/// `[p + t²/2n ∓ t√(p(1−p)/n + t²/4n²)] / (1 + t²/n)`, within 0 to 1.
fn wilson(p: f64, n: f64, t: f64) -> (f64, f64) {
    let square = t * t / n;
    if n.is_nan() || n <= 0.0 || !square.is_finite() {
        return (0.0, 1.0);
    }
    let middle = p + square / 2.0;
    let half = (square * (p * (1.0 - p) + square / 4.0)).sqrt();
    (((middle - half) / (1.0 + square)).clamp(0.0, 1.0), ((middle + half) / (1.0 + square)).clamp(0.0, 1.0))
}
