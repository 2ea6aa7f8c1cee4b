//! JSON as servers write it: numbers in quotes, `NaN`, halves of surrogate pairs, raw control characters.

use serde_json::Value;

/// The value that these bytes spell; true where they had to be repaired first. `None`: beyond repair.
pub(super) fn parse(bytes: &[u8]) -> Option<(Value, bool)> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Some((value, false));
    }
    serde_json::from_str(&repair(&String::from_utf8_lossy(bytes))).ok().map(|value| (value, true))
}

/// A count of tokens: a whole number, also as a float or in quotes.
pub(super) fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
        Value::String(text) => text.trim().parse().ok().or_else(|| text.trim().parse().ok().and_then(whole)),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a whole number in range")]
fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0).then_some(number as u64)
}

/// The text of a JSON string that is not empty.
pub(super) fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// What languages take for "nothing": null, false, 0, "", {} and [].
pub(super) fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(yes) => !yes,
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < f64::MIN_POSITIVE),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// The same text with what Python's and JavaScript's looser writers put in made valid: `NaN` and `Infinity` become null, lone
/// surrogates U+FFFD, control characters in strings spaces.
fn repair(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_string = false;
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match (in_string, first) {
            (true, '\\') => {
                let (spelt, length) = escape(rest);
                out.push_str(spelt);
                taken = length;
            }
            (true, control) if control.is_ascii_control() => out.push(' '),
            (_, '"') => {
                in_string = !in_string;
                out.push('"');
            }
            (false, 'N' | 'I' | '-') => match ["NaN", "Infinity", "-Infinity", "-NaN"].into_iter().find(|word| rest.starts_with(word)) {
                Some(word) => {
                    out.push_str("null");
                    taken = word.len();
                }
                None => out.push(first),
            },
            _ => out.push(first),
        }
        rest = &rest[taken..];
    }
    out
}

/// The escape at the start of `rest`, as it should be written, and its length in `rest`.
fn escape(rest: &str) -> (&str, usize) {
    let unit = |at: usize| {
        let digits = rest.get(at..).and_then(|rest| rest.strip_prefix("\\u")).and_then(|rest| rest.get(..4))?;
        u16::from_str_radix(digits, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (&rest[..12], 12),
        (Some(0xD800..=0xDFFF), _) => ("\u{FFFD}", 6),
        (Some(_), _) => (&rest[..6], 6),
        (None, _) => {
            let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
            (&rest[..length], length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_looser_writers_put_in_is_read() {
        for (text, expected) in [
            (r#"{"a":-Infinity,"b":[NaN,Infinity],"c":"NaN"}"#, json!({"a": null, "b": [null, null], "c": "NaN"})),
            (r#"{"a":"x\ud83d"}"#, json!({"a": "x\u{FFFD}"})),
            (r#"{"a":"\ude00y \"q\" \ud83d\ude00"}"#, json!({"a": "\u{FFFD}y \"q\" \u{1F600}"})),
            ("{\"a\":\"one\ttwo\nthree\",\n\"b\":1}", json!({"a": "one two three", "b": 1})),
        ] {
            assert_eq!(parse(text.as_bytes()), Some((expected, true)), "{text}");
        }
        assert_eq!(parse(b"{\"a\":\"\xff\"}"), Some((json!({"a": "\u{FFFD}"}), true)));
        for text in ["{\"a\":\"un", "{\"a\":Nope}", "DONE", "\"\\", "\"\\u12"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_valid_text_is_not_touched() {
        assert_eq!(parse(br#"{"a":"\ud83d\ude00 -Infinity"}"#), Some((json!({"a": "\u{1F600} -Infinity"}), false)));
    }

    #[test]
    fn counts_come_in_every_spelling() {
        for (value, expected) in [
            (json!(4), Some(4)),
            (json!(4.0), Some(4)),
            (json!("4"), Some(4)),
            (json!(" 4.0 "), Some(4)),
            (json!(-4), None),
            (json!(4.5), None),
            (json!("four"), None),
            (json!(null), None),
            (json!(1e300), None),
        ] {
            assert_eq!(count(&value), expected, "{value}");
        }
    }
}
