//! Two deployments side by side: rounds in pairs share their weather, so their differences need no run-to-run term.

use super::cluster;
use super::proportion::least_variance;
use super::run_to_run::Change;
use super::sample;
use super::student::at_least_two;
use super::trimmed::{trimmed, trimmed_per_side};

/// The change from differences per pair of rounds, candidate minus baseline, in time order: [`trimmed`]'s estimate.
///
/// A difference that is no number, infinite on both sides, says nothing of the change and is left out. `None` where these are
/// more than trimming would take away, and where fewer than two pairs are left.
#[must_use]
pub fn paired(differences: &[f64]) -> Option<Change> {
    let known: Vec<f64> = differences.iter().copied().filter(|d| !d.is_nan()).collect();
    if differences.len() - known.len() > trimmed_per_side(differences.len()) {
        return None;
    }
    let estimate = trimmed(&known)?;
    Some(Change { difference: estimate.mean, se: estimate.variance.sqrt(), df: estimate.df, tau: 0.0 })
}

/// The change of a share from cells `(G, N)` per round of both sides, paired by index and cut to the shorter side: the mean of the
/// differences `G_B/N_B − G_A/N_A`, with Newey–West's variance, `V ← max(V, max(p_A(1−p_A), 1/N)/N)`, N the smaller side's total;
/// df = R − 1, at least 2.
///
/// Pairs with an empty side are left out. `None` where none is left, and where a cell is negative or not finite.
#[must_use]
pub fn paired_shares(baseline: &[(f64, f64)], candidate: &[(f64, f64)]) -> Option<Change> {
    let pairs: Vec<_> = baseline.iter().copied().zip(candidate.iter().copied()).filter(|(a, b)| a.1 > 0.0 && b.1 > 0.0).collect();
    let (a, b): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let (ratio_a, ratio_b) = (cluster::ratio(&a)?, cluster::ratio(&b)?);
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b.0 / b.1 - a.0 / a.1).collect();
    let difference = sample::mean(&differences)?;
    let residuals: Vec<f64> = differences.iter().map(|d| d - difference).collect();
    let rounds = sample::count(&differences);
    let variance = cluster::variance_of_sum(&residuals) / (rounds * rounds);
    let floor = least_variance(ratio_a.p, ratio_a.total.min(ratio_b.total));
    Some(Change { difference, se: variance.max(floor).sqrt(), df: at_least_two(rounds - 1.0), tau: 0.0 })
}
