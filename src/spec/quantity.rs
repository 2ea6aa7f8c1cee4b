//! Numbers with units, as a spec writes them. A unit is never guessed.

use std::time::Duration;

/// Why a text is not the quantity that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bad {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: String,
}

impl Bad {
    pub(super) fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into() }
    }
}

/// Longer times than this are slips.
const LONGEST_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;
/// Larger counts than this are slips; it also keeps every sum of them in range.
pub(super) const MOST: u64 = 1 << 48;

/// Splits `1.5GB` into `1.5` and `GB`. `None` where it does not begin with a finite decimal number.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let plain = number.matches('.').count() <= 1 && number.starts_with(|c: char| c.is_ascii_digit()) && !number.ends_with('.');
    (plain && number.len() <= 30).then(|| (number, unit.trim_start()))
}

/// `number` times ten to the `exponent`, correctly rounded: 0.8 s is the same value as 800 ms.
pub(super) fn scaled(number: &str, exponent: i32) -> f64 {
    format!("{number}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// What a text that is no number at all looks like to a person.
pub(super) fn no_number(text: &str, example: &str) -> Bad {
    let lower = text.trim_start_matches(['-', '+', '.']).to_lowercase();
    if lower.starts_with("inf") || lower.starts_with("nan") {
        return Bad::new("not-finite", format!("`{text}` is not a finite number"), format!("write {example}"));
    }
    if text.starts_with('-') && split(&text[1..]).is_some() {
        return Bad::new("negative", format!("`{text}` is negative"), format!("write {example}"));
    }
    Bad::new("not-a-quantity", format!("`{text}` is no number of this kind"), format!("write {example}"))
}

/// What `text` lacks, with what was probably meant by it.
fn unit_error(text: &str, unit: &str, needed: &str, probable: &str) -> Bad {
    if unit.is_empty() {
        Bad::new("missing-unit", format!("`{text}` has no unit"), format!("units are required here ({needed}): write {probable}"))
    } else {
        Bad::new("wrong-unit", format!("`{unit}` is no unit of this"), format!("use {needed}: write {probable}"))
    }
}

/// A number with the units of time that a person may have meant: a unit is never guessed, only offered.
pub(super) fn probable_time(number: &str) -> String {
    if scaled(number, 0) >= 100.0 { format!("`{number}ms`") } else { format!("`{number}s` or `{number}ms`") }
}

/// Milliseconds of one number with one unit.
pub(super) fn milliseconds(number: &str, unit: &str) -> Option<f64> {
    Some(match unit {
        "us" | "µs" => scaled(number, -3),
        "ms" => scaled(number, 0),
        "s" => scaled(number, 3),
        "m" | "min" => scaled(number, 4) * 6.0,
        "h" => scaled(number, 5) * 36.0,
        _ => return None,
    })
}

/// `500ms`, `1.5s`, `1m30s`, in milliseconds.
pub(super) fn duration_ms(text: &str) -> Result<f64, Bad> {
    let example = "`500ms` or `1m30s`";
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let (number, after) = split(rest).ok_or_else(|| no_number(text, example))?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let unit = after[..end].trim();
        total += milliseconds(number, unit).ok_or_else(|| unit_error(text, unit, "us, ms, s, m, h", &probable_time(number)))?;
        rest = after[end..].trim_start();
    }
    if text.is_empty() {
        return Err(no_number(text, example));
    }
    if total > LONGEST_MS {
        return Err(Bad::new("too-large", format!("`{text}` is more than 30 days"), format!("write {example}")));
    }
    Ok(total)
}

/// The same as a [`Duration`], to the nanosecond.
pub(super) fn duration(text: &str) -> Result<Duration, Bad> {
    duration_ms(text).map(|ms| crate::units::Nanos::from_ms(ms).into())
}

/// `95%` as 0.95.
pub(super) fn share(text: &str) -> Result<f64, Bad> {
    let (number, unit) = split(text).ok_or_else(|| no_number(text, "`95%`"))?;
    if unit != "%" {
        return Err(unit_error(text, unit, "%", &format!("`{number}%`")));
    }
    let share = scaled(number, -2);
    if share > 1.0 {
        return Err(Bad::new("over-100", format!("`{text}` is more than 100 %"), "a share lies between 0 % and 100 %"));
    }
    Ok(share)
}

/// `1.5x` as 1.5.
pub(super) fn times(text: &str) -> Result<f64, Bad> {
    let (number, unit) = split(text).ok_or_else(|| no_number(text, "`1.5x`"))?;
    if unit != "x" {
        return Err(unit_error(text, unit, "x", &format!("`{number}x`")));
    }
    match scaled(number, 0) {
        times if times > 0.0 && times <= 10_000.0 => Ok(times),
        _ => Err(Bad::new("out-of-range", format!("`{text}` is out of range"), "a multiple lies above 0 and is at most 10000")),
    }
}

/// A count of tokens: `300`, or `8k` for 8 × 1,024.
pub(super) fn tokens(text: &str) -> Result<u64, Bad> {
    let example = "`300`, or `8k` for 8 x 1,024 tokens";
    let (number, unit) = split(text).ok_or_else(|| no_number(text, example))?;
    let factor = match unit {
        "" => 1.0,
        "k" => 1024.0,
        _ => return Err(Bad::new("wrong-unit", format!("`{unit}` is no unit of tokens"), format!("write {example}"))),
    };
    whole(text, scaled(number, 0) * factor, example)
}

/// A budget of tokens: `5000`, or `5M` for 5,000,000.
pub(super) fn token_budget(text: &str) -> Result<u64, Bad> {
    let example = "`5M` for 5,000,000 tokens";
    let (number, unit) = split(text).ok_or_else(|| no_number(text, example))?;
    let value = match unit {
        "" => scaled(number, 0),
        "M" => scaled(number, 6),
        _ => return Err(Bad::new("wrong-unit", format!("`{unit}` is no unit of a token budget"), format!("write {example}"))),
    };
    whole(text, value, example)
}

/// A bare whole number.
pub(super) fn count(text: &str) -> Result<u64, Bad> {
    let example = "a whole number";
    match split(text) {
        Some((number, "")) => whole(text, scaled(number, 0), example),
        _ => Err(no_number(text, example)),
    }
}

/// A bare number, not negative.
pub(super) fn number(text: &str) -> Result<f64, Bad> {
    match split(text) {
        Some((number, "")) => Ok(scaled(number, 0)),
        _ => Err(no_number(text, "a number, such as `5` or `0.5`")),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and between 0 and 2^48")]
fn whole(text: &str, value: f64, example: &str) -> Result<u64, Bad> {
    if value.fract() != 0.0 {
        return Err(Bad::new("not-whole", format!("`{text}` is not a whole number"), format!("write {example}")));
    }
    if value > MOST as f64 {
        return Err(Bad::new("too-large", format!("`{text}` is too large"), format!("write {example}")));
    }
    Ok(value as u64)
}

/// `50 requests` or `1 request`.
pub(super) fn requests(text: &str) -> Option<Result<u32, Bad>> {
    let (number, unit) = split(text)?;
    matches!(unit, "request" | "requests").then(|| {
        let count = whole(text, scaled(number, 0), "`50 requests`")?;
        u32::try_from(count)
            .ok()
            .filter(|count| *count <= 10_000_000)
            .ok_or_else(|| Bad::new("too-large", format!("`{text}` is too large"), "at most 10000000 requests"))
    })
}

/// `12/s`, per second.
pub(super) fn per_second(text: &str) -> Result<f64, Bad> {
    let (number, unit) = split(text).ok_or_else(|| no_number(text, "`12/s`"))?;
    match unit {
        "/s" | "req/s" | "requests/s" => Ok(scaled(number, 0)),
        _ => Err(unit_error(text, unit, "/s", &format!("`{number}/s`"))),
    }
}

/// `2.5/h`, per hour.
pub(super) fn per_hour(text: &str) -> Result<f64, Bad> {
    let (number, unit) = split(text).ok_or_else(|| no_number(text, "`2.5/h`"))?;
    if unit == "/h" { Ok(scaled(number, 0)) } else { Err(unit_error(text, unit, "/h", &format!("`{number}/h`"))) }
}

/// `16.41 GB` in bytes.
pub(super) fn bytes(text: &str) -> Result<f64, Bad> {
    let (number, unit) = split(text).ok_or_else(|| no_number(text, "`16.41 GB`"))?;
    byte_unit(number, unit).ok_or_else(|| unit_error(text, unit, "MB, GB, TB, MiB, GiB, TiB", &format!("`{number} GB`")))
}

/// `3350 GB/s` in bytes per second.
pub(super) fn bandwidth(text: &str) -> Result<f64, Bad> {
    let (number, unit) = split(text).ok_or_else(|| no_number(text, "`3350 GB/s`"))?;
    unit.strip_suffix("/s")
        .and_then(|unit| byte_unit(number, unit))
        .ok_or_else(|| unit_error(text, unit, "GB/s or TB/s", &format!("`{number} GB/s`")))
}

fn byte_unit(number: &str, unit: &str) -> Option<f64> {
    const KIB: f64 = 1024.0;
    Some(match unit {
        "MB" => scaled(number, 6),
        "GB" => scaled(number, 9),
        "TB" => scaled(number, 12),
        "MiB" => scaled(number, 0) * KIB * KIB,
        "GiB" => scaled(number, 0) * KIB * KIB * KIB,
        "TiB" => scaled(number, 0) * KIB * KIB * KIB * KIB,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_time_in_any_unit_is_the_same_value() {
        for (a, b) in [("0.8s", "800ms"), ("1.1s", "1100ms"), ("4.35 s", "4350ms"), ("30m", "1800s"), ("1m30s", "90s"), ("0.5h", "30m")] {
            assert_eq!(duration_ms(a), duration_ms(b), "{a} and {b}");
        }
        assert_eq!(duration_ms("500us"), Ok(0.5));
    }

    #[test]
    fn k_is_1024_in_lengths_and_m_is_a_million_in_budgets() {
        assert_eq!(tokens("8k"), Ok(8192));
        assert_eq!(tokens("1.5k"), Ok(1536));
        assert_eq!(token_budget("5M"), Ok(5_000_000));
        assert!(token_budget("5k").is_err() && tokens("5M").is_err() && tokens("0.3").is_err());
    }

    #[test]
    fn a_missing_unit_is_said_to_be_missing() {
        assert_eq!(duration("500").unwrap_err().code, "missing-unit");
        assert_eq!(share("95").unwrap_err().code, "missing-unit");
        assert_eq!(times("2").unwrap_err().code, "missing-unit");
        assert_eq!(share("101%").unwrap_err().code, "over-100");
        assert_eq!(duration("-5s").unwrap_err().code, "negative");
        assert_eq!(number(".inf").unwrap_err().code, "not-finite");
    }

    #[test]
    fn sizes_prices_and_rates_read_as_written() {
        assert_eq!(bytes("16.41 GB"), Ok(16.41e9));
        assert_eq!(bandwidth("3350 GB/s"), Ok(3.35e12));
        assert_eq!(per_hour("2.5/h"), Ok(2.5));
        assert_eq!(per_second("12/s"), Ok(12.0));
        assert_eq!(requests("50 requests"), Some(Ok(50)));
        assert_eq!(requests("1 request"), Some(Ok(1)));
        assert_eq!(requests("50"), None);
    }
}
