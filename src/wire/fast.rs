//! The short way through a token event: one pass over the bytes, nothing allocated.
//!
//! Almost every event of a stream is one choice with one piece of text and fields that say nothing about it. This reader knows that
//! shape and gives up on everything else: whatever it does not take for certain is read by [`super::chunk`]. It must never read an
//! event otherwise than the full parser does, so it also gives up on what is no valid JSON, on keys that come twice where it would
//! matter, and on every value that it does not know to be without meaning.

use super::chunk::{Carried, Piece};

/// The one piece of a familiar token event; `None` where the event has to be parsed in full.
pub(super) fn piece(data: &[u8]) -> Option<Piece> {
    // What follows walks bytes, and lets any beyond ASCII pass.
    std::str::from_utf8(data).ok()?;
    let mut scan = Scan { bytes: data, at: 0 };
    let piece = event(&mut scan)?;
    scan.space();
    (scan.at == data.len()).then_some(piece)
}

fn event(scan: &mut Scan<'_>) -> Option<Piece> {
    let mut piece = None;
    scan.object(|scan, key| match key {
        b"choices" => {
            let found = choices(scan)?;
            piece.replace(found).is_none().then_some(())
        }
        // `error` here would be the server giving up.
        b"object" => scan.string_or_null().filter(|value| *value != b"error").map(|_| ()),
        b"id" | b"model" | b"system_fingerprint" | b"service_tier" | b"obfuscation" => scan.string_or_null().map(|_| ()),
        b"created" => scan.whole().map(|_| ()),
        _ => scan.null(),
    })?;
    piece
}

/// A list of one choice.
fn choices(scan: &mut Scan<'_>) -> Option<Piece> {
    scan.expect(b'[')?;
    let piece = choice(scan)?;
    scan.expect(b']')?;
    Some(piece)
}

fn choice(scan: &mut Scan<'_>) -> Option<Piece> {
    let (mut index, mut carried) = (None, None);
    scan.object(|scan, key| match key {
        b"index" => {
            let found = scan.whole()?;
            index.replace(found).is_none().then_some(())
        }
        // Either may stand here, but both beside each other are for the full parser.
        b"delta" => {
            let found = delta(scan)?;
            carried.replace(found).is_none().then_some(())
        }
        b"text" => {
            let answer = !scan.string()?.is_empty();
            carried.replace(Carried { answer, ..Carried::default() }).is_none().then_some(())
        }
        _ => scan.null(),
    })?;
    Some(Piece { index: index.unwrap_or(0), carried: carried?, message: Carried::default(), finish_reason: None })
}

fn delta(scan: &mut Scan<'_>) -> Option<Carried> {
    let mut carried = Carried::default();
    let (mut content, mut reasoning) = (false, [false; 2]);
    scan.object(|scan, key| match key {
        b"role" => scan.string_or_null().map(|_| ()),
        b"content" => {
            carried.answer = !scan.string_or_null()?.is_empty();
            (!std::mem::replace(&mut content, true)).then_some(())
        }
        b"reasoning_content" | b"reasoning" => {
            carried.reasoning |= !scan.string_or_null()?.is_empty();
            (!std::mem::replace(&mut reasoning[usize::from(key == b"reasoning")], true)).then_some(())
        }
        _ => scan.null(),
    })?;
    Some(carried)
}

/// A place in a JSON text. Each method steps over what it names, white space before it included, or gives up.
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// The next byte that is no white space, without stepping over it.
    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// An object; `value` steps over the value of each key, which has no escapes in it.
    fn object(&mut self, mut value: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let key = self.string()?;
            if key.contains(&b'\\') {
                return None;
            }
            self.expect(b':')?;
            value(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn null(&mut self) -> Option<()> {
        self.space();
        self.bytes[self.at..].starts_with(b"null").then(|| self.at += 4)
    }

    /// A string as it is written; null is the empty one.
    fn string_or_null(&mut self) -> Option<&'a [u8]> {
        if self.peek()? == b'n' { self.null().map(|()| &[][..]) } else { self.string() }
    }

    /// A string as it is written, its escapes known to be valid.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(&self.bytes[start..self.at - 1]);
                }
                b'\\' => self.escape()?,
                // A raw control character has to be repaired.
                0..=0x1F => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                let surrogate = matches!(digits, [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
                if surrogate || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                self.at += 6;
            }
            _ => return None,
        }
        Some(())
    }

    /// A whole number that every reader takes for the same: at most 18 digits, without a leading zero, fraction or exponent.
    fn whole(&mut self) -> Option<u64> {
        self.space();
        let digits = self.bytes[self.at..].iter().take(19).take_while(|byte| byte.is_ascii_digit()).count();
        let spelt = &self.bytes[self.at..self.at + digits];
        if !(1..=18).contains(&digits) || digits > 1 && spelt[0] == b'0' {
            return None;
        }
        self.at += digits;
        Some(spelt.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
    }
}

#[cfg(test)]
mod tests;
