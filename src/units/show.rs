//! How figures are spelt for people. One rule everywhere: three significant digits from 1 on, milliseconds up to 10 s, then seconds.

/// The unit a value is held in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// A share between 0 and 1, spelt in per cent.
    Share,
    /// A difference of two shares, spelt in percentage points.
    Points,
    /// A relative change as a fraction, spelt in per cent with a sign.
    Change,
    /// Requests per second.
    PerSecond,
    /// Tokens per second.
    TokensPerSecond,
    /// A bare count of tokens.
    Tokens,
}

impl Unit {
    /// The unit's name in `verdict.json`: `ms`, `%`, `pp`, `/s`, `tok/s`, `tokens`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ms => "ms",
            Self::Share | Self::Change => "%",
            Self::Points => "pp",
            Self::PerSecond => "/s",
            Self::TokensPerSecond => "tok/s",
            Self::Tokens => "tokens",
        }
    }
}

/// Spells `value`, which is held in `unit`, for a person.
#[must_use]
pub fn show(value: f64, unit: Unit) -> String {
    if !value.is_finite() {
        return "unbounded".to_owned();
    }
    let spelt = match unit {
        Unit::Ms if value.abs() >= 10_000.0 => format!("{} s", digits(value / 1000.0)),
        Unit::Ms => format!("{} ms", digits(value)),
        Unit::Share => format!("{} %", percent(value, 2)),
        Unit::Points => format!("{}{} pp", sign(value), percent(value, 0)),
        Unit::Change => format!("{}{} %", sign(value), percent(value, 0)),
        Unit::PerSecond => format!("{} /s", digits(value)),
        Unit::TokensPerSecond => format!("{} tok/s", digits(value)),
        Unit::Tokens => format!("{value:.0}"),
    };
    // Nothing is less than nothing: a sum over no term is -0.0.
    match spelt.strip_prefix('-') {
        Some(positive) if !positive.contains(|c: char| matches!(c, '1'..='9')) => positive.to_owned(),
        _ => spelt,
    }
}

fn sign(value: f64) -> &'static str {
    if value > 0.0 { "+" } else { "" }
}

/// Per cent with one decimal, or none where it is whole; `near_all` decimals from 99.9 % on, where a share's last nines count and a
/// change's do not.
fn percent(share: f64, near_all: usize) -> String {
    let percent = share * 100.0;
    let decimals = if (percent - percent.round()).abs() < 5e-7 {
        0
    } else if percent.abs() >= 99.9 {
        near_all
    } else {
        1
    };
    format!("{percent:.decimals$}")
}

fn digits(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_has_no_sign() {
        for unit in [Unit::Ms, Unit::Share, Unit::Points, Unit::Change, Unit::PerSecond, Unit::TokensPerSecond, Unit::Tokens] {
            for nothing in [-0.0, -1e-9] {
                assert!(!show(nothing, unit).starts_with('-'), "{unit:?}");
            }
        }
        assert_eq!(show(-0.004, Unit::Change), "-0.4 %");
    }

    #[test]
    fn a_change_has_three_digits_and_a_share_near_all_has_two_decimals() {
        assert_eq!(show(9.2876, Unit::Change), "+929 %");
        assert_eq!(show(-1.2345, Unit::Points), "-123 pp");
        assert_eq!(show(0.172, Unit::Change), "+17.2 %");
        assert_eq!(show(0.99951, Unit::Share), "99.95 %");
    }
}
