//! Means and variances of plain samples.

/// How many values, as a number to reckon with.
pub(super) fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

/// The mean; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values))
}

/// The mean, and the variance with one degree of freedom taken. `None` for fewer than two values, or one that is not finite.
pub(super) fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values)?;
    if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    // Equal values may have a mean one rounding off; they must not seem to vary.
    if values.windows(2).all(|w| w[0].total_cmp(&w[1]).is_eq()) {
        return Some((values[0], 0.0));
    }
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((mean, squares / (count(values) - 1.0)))
}
