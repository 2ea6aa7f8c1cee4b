//! The one long list of a request line, read without a JSON parser: nine tenths of a run file are gaps.

use crate::units::Nanos;

/// How the list begins. Within valid JSON these bytes are a key and nothing else: in a string their quotes would be escaped.
const KEY: &[u8] = b",\"itl_ms\":[";
/// Whole milliseconds have at most so many digits, so that what is read here is a time that can be.
const MOST_DIGITS: usize = 11;

/// Takes the gaps out of a request line: the line without them goes to `rest`. `None` where they are not spelt as this program spells
/// them (digits, a point, up to six digits; no exponent); the line must then be parsed as a whole.
pub(super) fn cut(line: &[u8], rest: &mut Vec<u8>) -> Option<Vec<Nanos>> {
    let start = memchr::memmem::find(line, KEY)? + KEY.len();
    let end = start + memchr::memchr(b']', &line[start..])?;
    let list = &line[start..end];
    let mut gaps = Vec::new();
    if !list.is_empty() {
        // 20 ms and more to the nanosecond are some ten bytes.
        gaps.reserve(list.len() / 10 + 1);
        for spelt in list.split(|byte| *byte == b',') {
            gaps.push(gap(spelt)?);
        }
    }
    rest.clear();
    rest.extend_from_slice(&line[..start]);
    rest.extend_from_slice(&line[end..]);
    Some(gaps)
}

/// Milliseconds in decimal, to the nanosecond.
fn gap(spelt: &[u8]) -> Option<Nanos> {
    let point = spelt.iter().position(|byte| *byte == b'.').unwrap_or(spelt.len());
    let (whole, part) = (&spelt[..point], spelt.get(point + 1..));
    let starts_right = matches!(whole, [b'0'] | [b'1'..=b'9', ..]) && whole.len() <= MOST_DIGITS;
    if !starts_right || part.is_some_and(|part| !(1..=6).contains(&part.len())) {
        return None;
    }
    let part = part.unwrap_or(b"0");
    let nanos = digits(whole)? * 1_000_000 + digits(part)? * 10_u64.pow(6 - u32::try_from(part.len()).ok()?);
    Some(Nanos(nanos))
}

fn digits(spelt: &[u8]) -> Option<u64> {
    spelt.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut_of(line: &str) -> Option<(Vec<Nanos>, String)> {
        let mut rest = Vec::new();
        cut(line.as_bytes(), &mut rest).map(|gaps| (gaps, String::from_utf8(rest).unwrap()))
    }

    #[test]
    fn gaps_are_cut_out_and_the_rest_is_left() {
        let (gaps, rest) = cut_of(r#"{"id":1,"itl_ms":[20.000001,0.5,3,0.0],"error":null}"#).unwrap();
        assert_eq!(gaps, [Nanos(20_000_001), Nanos(500_000), Nanos(3_000_000), Nanos(0)]);
        assert_eq!(rest, r#"{"id":1,"itl_ms":[],"error":null}"#);
        assert_eq!(cut_of(r#"{"id":1,"itl_ms":[]}"#).unwrap().0, []);
    }

    #[test]
    fn what_is_spelt_otherwise_is_left_to_the_parser() {
        for list in ["-1", "1e3", "01", "1.", ".5", "1.0000001", "1,", ",", " 1", "1,,2", "null", "\"1\"", "320000000000", "1.5.5"] {
            assert_eq!(cut_of(&format!(r#"{{"id":1,"itl_ms":[{list}]}}"#)), None, "{list}");
        }
        assert_eq!(cut_of(r#"{"id":1,"error":"\"itl_ms\":[1]"}"#), None);
        assert_eq!(cut_of(r#"{"id":1,"itl_ms":[1"#), None);
    }

    proptest! {
        #[test]
        fn a_gap_is_read_as_the_parser_reads_it(nanos in 0..100_000_000_000_000_u64) {
            let text = serde_json::to_string(&Nanos(nanos).as_ms()).unwrap();
            let parsed = Nanos::from_ms(serde_json::from_str(&text).unwrap());
            prop_assert_eq!(gap(text.as_bytes()).unwrap_or(parsed), parsed);
        }
    }
}
