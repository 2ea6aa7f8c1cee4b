//! The variance of a ratio of sums whose terms come in rounds: rounds are clusters, and neighbours resemble each other.

/// How far neighbouring rounds are allowed to resemble each other.
const LAGS: usize = 3;

/// The ratio `ΣG/ΣN` over rounds of `(G, N)`, and its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratio {
    pub(super) p: f64,
    pub(super) total: f64,
    pub(super) clusters: usize,
    pub(super) variance: f64,
}

/// Rounds with nothing in them are no clusters. `None` where nothing is left, or a cell is no finite number of at least 0.
pub(super) fn ratio(cells: &[(f64, f64)]) -> Option<Ratio> {
    if cells.iter().any(|(g, n)| !g.is_finite() || !n.is_finite() || *n < 0.0 || *g < 0.0) {
        return None;
    }
    let cells: Vec<(f64, f64)> = cells.iter().copied().filter(|(_, n)| *n > 0.0).collect();
    let total: f64 = cells.iter().map(|(_, n)| n).sum();
    if cells.is_empty() || !total.is_finite() {
        return None;
    }
    let p = cells.iter().map(|(g, _)| g).sum::<f64>() / total;
    let residuals: Vec<f64> = cells.iter().map(|(g, n)| g - p * n).collect();
    let variance = variance_of_sum(&residuals) / (total * total);
    (p.is_finite() && variance.is_finite()).then_some(Ratio { p, total, clusters: cells.len(), variance })
}

/// The variance of the sum of residuals in time order, by the Newey–West estimator with Bartlett weights (1987) over three lags,
/// never below that of independent rounds, times R/(R−1):
///
/// `S = Σe² + 2 Σ_{l=1..3} (1 − l/4) Σ e_r e_{r−l}`, `S ← max(S, Σe²)`, `V = R/(R−1)·S`.
///
/// One round shows no variance: 0.
pub(super) fn variance_of_sum(residuals: &[f64]) -> f64 {
    let rounds = residuals.len();
    if rounds < 2 {
        return 0.0;
    }
    let own: f64 = residuals.iter().map(|e| e * e).sum();
    let mut all = own;
    for lag in 1..=LAGS.min(rounds - 1) {
        let weight = 1.0 - lag as f64 / (LAGS + 1) as f64;
        let products: f64 = residuals[lag..].iter().zip(residuals).map(|(later, earlier)| later * earlier).sum();
        all += 2.0 * weight * products;
    }
    all.max(own) * rounds as f64 / (rounds - 1) as f64
}
