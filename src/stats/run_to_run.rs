//! A run against stored runs: runs differ from each other by more than their rounds show, and the bounds must say so.

use super::sample;
use super::student::{at_least_two, chi_square_quantile, t_quantile, t_upper_tail};

/// How many runs the prior on the run-to-run deviation is worth (ν₀).
const PRIOR_RUNS: f64 = 4.0;

/// What one run says of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate: a mean log latency or log rate, or a share.
    pub theta: f64,
    /// Its variance within the run.
    pub variance: f64,
    /// Degrees of freedom of that variance.
    pub df: f64,
}

impl Estimate {
    /// The one-sided bounds `θ ∓ t√V`, each missed with probability `alpha`; both θ where it is infinite.
    #[must_use]
    pub fn bounds(&self, alpha: f64) -> (f64, f64) {
        around(self.theta, self.variance.max(0.0).sqrt(), self.df, alpha)
    }
}

/// A change, candidate minus baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The difference, in the estimate's own scale; may be infinite, is always a number.
    pub difference: f64,
    /// Its standard error.
    pub se: f64,
    /// Its degrees of freedom, at least 2.
    pub df: f64,
    /// The run-to-run standard deviation within `se` (τ̃); 0 for paired rounds.
    pub tau: f64,
}

/// The candidate minus the mean of K stored runs, with a moderated run-to-run term:
///
/// ```text
/// V_B ← max(V_B, mean V_k)                                the candidate may not look quieter than history
/// τ̂² = max(0, Var(θ_k) − mean V_k), 0 at K = 1 ;  τ̃² = (ν₀τ₀² + (K−1)τ̂²)/(ν₀ + K − 1), ν₀ = 4
/// SE² = A + B, A = τ̃²(1 + 1/K), B = V_B + mean V_k/K
/// df = max(2, (A+B)²/(A²/(ν₀+K−1) + B²/df_w)), df_w the candidate's
/// ```
///
/// The moderation is that of a scaled inverse chi-square prior (Smyth 2004), the df those of Welch and Satterthwaite. `tau0` is the
/// deviation expected before any run is stored: 0.03 for log latencies and rates, 0.004 for shares.
///
/// `None` without stored runs, where a stored estimate is not finite, or the candidate's is no number. An infinite candidate gives
/// an infinite difference.
#[must_use]
pub fn against_history(candidate: &Estimate, stored: &[Estimate], tau0: f64) -> Option<Change> {
    let sane = |e: &Estimate| e.variance.is_finite() && e.variance >= 0.0;
    if candidate.theta.is_nan() || !sane(candidate) || stored.iter().any(|e| !e.theta.is_finite() || !sane(e)) {
        return None;
    }
    let runs = stored.len() as f64;
    let thetas: Vec<f64> = stored.iter().map(|e| e.theta).collect();
    let within = sample::mean(&stored.iter().map(|e| e.variance).collect::<Vec<_>>())?;
    let (center, spread) = sample::mean_and_variance(&thetas).or_else(|| Some((*thetas.first()?, 0.0)))?;

    let known = PRIOR_RUNS + runs - 1.0;
    let tau_squared = (PRIOR_RUNS * tau0 * tau0 + (runs - 1.0) * (spread - within).max(0.0)) / known;
    let between = tau_squared * (1.0 + 1.0 / runs);
    let inside = candidate.variance.max(within) + within / runs;
    Some(Change {
        difference: candidate.theta - center,
        se: (between + inside).sqrt(),
        df: satterthwaite(between, known, inside, at_least_two(candidate.df)),
        tau: tau_squared.sqrt(),
    })
}

fn satterthwaite(a: f64, df_a: f64, b: f64, df_b: f64) -> f64 {
    let sum = a + b;
    if sum <= 0.0 {
        return at_least_two(0.0);
    }
    // Shares of the sum, not squares: those of tiny variances would vanish.
    let (a, b) = (a / sum, b / sum);
    at_least_two(1.0 / (a * a / df_a + b * b / df_b))
}

/// The upper 80 % bound of the run-to-run deviation `tau` ([`Change::tau`]) known from `stored` runs: `τ̃·√(ν/χ²_{.20,ν})` with
/// ν = ν₀ + K − 1. A site where it exceeds half the limit is too noisy for that limit.
#[must_use]
pub fn tau_upper(tau: f64, stored: usize) -> f64 {
    let known = PRIOR_RUNS + (stored as f64 - 1.0).max(0.0);
    tau * (known / chi_square_quantile(0.2, known)).sqrt()
}

impl Change {
    /// The one-sided bounds of the difference, each missed with probability `alpha`; both infinite where it is.
    #[must_use]
    pub fn bounds(&self, alpha: f64) -> (f64, f64) {
        around(self.difference, self.se, self.df, alpha)
    }

    /// The p value of «the harm is at most `d`». Harm is `harm_sign · difference`: 1 for what is better low, −1 for what is better
    /// high. Without any error (`se` 0) it is 0 where the harm is above `d`, else 1.
    #[must_use]
    pub fn p_worse(&self, harm_sign: f64, d: f64) -> f64 {
        let excess = self.harm(harm_sign) - d;
        if excess.is_nan() {
            return 1.0;
        }
        if self.se <= 0.0 {
            return if excess > 0.0 { 0.0 } else { 1.0 };
        }
        t_upper_tail(excess / self.se, self.df)
    }

    /// How much worse the candidate is: `harm_sign · difference`.
    #[must_use]
    pub fn harm(&self, harm_sign: f64) -> f64 {
        harm_sign * self.difference
    }

    /// The upper one-sided bound of the harm, `h + t_{1−α}·SE`: what a PASS must hold against the rule-out limit.
    #[must_use]
    pub fn harm_at_most(&self, harm_sign: f64, alpha: f64) -> f64 {
        around(self.harm(harm_sign), self.se, self.df, alpha).1
    }

    /// The smallest true harm that an equally noisy comparison at one-sided `alpha` calls worse than `d` with probability `power`
    /// (0.8 by custom): `d + (t_{1−α} + t_{power})·SE`.
    #[must_use]
    pub fn smallest_detectable(&self, d: f64, alpha: f64, power: f64) -> f64 {
        d + (t_quantile(1.0 - alpha, self.df) + t_quantile(power, self.df)) * self.se
    }
}

/// `center ∓ t_{1−α}·se`; where the centre is infinite, or nothing is uncertain, the centre itself.
fn around(center: f64, se: f64, df: f64, alpha: f64) -> (f64, f64) {
    if center.is_infinite() || se <= 0.0 {
        return (center, center);
    }
    let reach = t_quantile(1.0 - alpha, df) * se;
    (center - reach, center + reach)
}

/// Which of the hypotheses are rejected with a chance of at most `alpha` to reject any true one (Holm 1979): the smallest p value
/// against `alpha/tests`, the next against `alpha/(tests − 1)`, until one stays. `tests` counts all that were planned: those not
/// measured yet count as not rejected. What is no number counts as 1.
#[must_use]
pub fn holm(p_values: &[f64], alpha: f64, tests: usize) -> Vec<bool> {
    let tests = tests.max(p_values.len());
    let value = |index: usize| if p_values[index].is_nan() { 1.0 } else { p_values[index] };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let mut rejected = vec![false; p_values.len()];
    for (done, index) in order.into_iter().enumerate() {
        if value(index) >= alpha / (tests - done) as f64 {
            break;
        }
        rejected[index] = true;
    }
    rejected
}
