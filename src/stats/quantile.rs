//! Quantiles of samples, by linear interpolation between order statistics.

/// The `q` quantile of ascending values, by type 7 of Hyndman & Fan 1996 (numpy's default): position `(n − 1)·q`, between two
/// values by linear interpolation. `None` without values and where `q` is no number; `q` outside 0 to 1 counts as 0 or 1.
///
/// Infinite values rank like any other: a quantile that leans on `+∞` at all is `+∞`, so a failed request is never averaged away.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    if q.is_nan() {
        return None;
    }
    let position = last as f64 * q.clamp(0.0, 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and the last index")]
    let below = (position.floor() as usize).min(last);
    let above = (below + 1).min(last);
    Some(between(sorted[below], sorted[above], position - below as f64))
}

fn between(low: f64, high: f64, part: f64) -> f64 {
    if part <= 0.0 || low >= high {
        return low;
    }
    if high == f64::INFINITY || low == f64::NEG_INFINITY {
        return if high == f64::INFINITY { high } else { low };
    }
    // Two products, since the difference of two large values may overflow; held between both, since rounding may leave them.
    (low * (1.0 - part) + high * part).clamp(low, high)
}
