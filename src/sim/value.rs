//! The values of options in a `sim://` address.

use super::SimError;
use std::time::Duration;

/// Longest time that an option can have.
const MAX_TIME: Duration = Duration::from_secs(3_600);

fn bad(option: &'static str, value: &str, wanted: &'static str) -> SimError {
    SimError::Value { option, value: value.to_owned(), wanted }
}

fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse::<f64>().ok().filter(|value| plain && value.is_finite())
}

/// A time: `200ms`, `1.5s`, `50us`, `2m`; at most an hour.
pub(super) fn duration(option: &'static str, value: &str) -> Result<Duration, SimError> {
    let digits = value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len());
    let (amount, unit) = value.split_at(digits);
    let seconds = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return Err(bad(option, value, "a time with a unit")),
    };
    number(amount)
        .map(|amount| amount * seconds)
        .filter(|seconds| *seconds <= MAX_TIME.as_secs_f64())
        .map(|seconds| Duration::from_nanos(crate::units::Nanos::from_ms(seconds * 1e3).0))
        .ok_or_else(|| bad(option, value, "a time with a unit"))
}

/// A share: `1%` or `0.01`.
pub(super) fn share(option: &'static str, value: &str) -> Result<f64, SimError> {
    let share = match value.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(value),
    };
    share.filter(|share| *share <= 1.0).ok_or_else(|| bad(option, value, "a share between 0% and 100%"))
}

/// What times are multiplied by.
pub(super) fn factor(option: &'static str, value: &str) -> Result<f64, SimError> {
    number(value).filter(|factor| (0.001..=1_000.0).contains(factor)).ok_or_else(|| bad(option, value, "a factor between 0.001 and 1000"))
}

/// The σ of a log-normal factor.
pub(super) fn sigma(option: &'static str, value: &str) -> Result<f64, SimError> {
    number(value).filter(|sigma| *sigma <= 3.0).ok_or_else(|| bad(option, value, "a sigma between 0 and 3"))
}

/// A whole number.
pub(super) fn count(option: &'static str, value: &str, least: u64) -> Result<u64, SimError> {
    let wanted = if least == 0 { "a whole number" } else { "a whole number of at least 1" };
    value.parse::<u64>().ok().filter(|count| *count >= least).ok_or_else(|| bad(option, value, wanted))
}

/// `on` or `off`.
pub(super) fn on_off(option: &'static str, value: &str) -> Result<bool, SimError> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(bad(option, value, "on or off")),
    }
}

/// One of several words.
pub(super) fn choice<T: Copy>(option: &'static str, value: &str, words: &[(&str, T)]) -> Result<T, SimError> {
    words.iter().find(|(word, _)| *word == value).map(|(_, chosen)| *chosen).ok_or_else(|| bad(option, value, "one of its words"))
}

/// A name: printable, at most 200 characters.
pub(super) fn word(option: &'static str, value: &str) -> Result<String, SimError> {
    let fine = (1..=200).contains(&value.chars().count()) && !value.chars().any(char::is_control);
    fine.then(|| value.to_owned()).ok_or_else(|| bad(option, value, "a name"))
}
