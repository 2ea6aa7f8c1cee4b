//! Server-sent events, read incrementally.
//!
//! WHATWG HTML, 9.2.6 "Interpreting an event stream": lines end with LF, CR or CRLF, one byte order mark at the start is dropped, a
//! blank line dispatches an event. Added to it: lines that belong to no field are handed out instead of dropped, because servers
//! write errors as bare JSON between events; and every buffer is bounded.

/// Bytes that one line, or the data of one event, may have: real events reach 1 MiB (a whole answer in one event), 4 leaves room.
pub const MAX_EVENT: usize = 4 << 20;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What the reader found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SseItem<'a> {
    /// A dispatched event that had at least one `data` line.
    Event {
        /// The `event` field; empty where there was none.
        name: &'a [u8],
        /// The data lines, joined by LF.
        data: &'a [u8],
    },
    /// A line that is neither a known field nor a comment, without its line end.
    Stray(&'a [u8]),
}

/// A line or an event was longer than [`MAX_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line or an event is longer than {} bytes", MAX_EVENT)]
pub struct TooLong;

/// An incremental reader of one event stream. It holds one unfinished line and one unfinished event, each at most [`MAX_EVENT`] bytes.
#[derive(Debug, Default)]
pub struct SseReader {
    /// Bytes of the byte order mark seen; `None` once the start is behind us.
    start: Start,
    /// The unfinished line. Of a line whose bytes cannot matter (a comment) only the first byte is kept.
    line: Vec<u8>,
    /// The last byte was CR: an LF right after it belongs to the same line end.
    after_cr: bool,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

#[derive(Debug, Default, Clone, Copy)]
enum Start {
    /// This many bytes of the mark were seen.
    #[default]
    Fresh,
    /// The first byte.
    One,
    /// The first two bytes.
    Two,
    /// Past it.
    Past,
}

impl SseReader {
    /// A reader at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads on; `found` gets each item that these bytes complete, in order.
    ///
    /// # Errors
    /// [`TooLong`], after which the reader must not be used again.
    pub fn push(&mut self, mut bytes: &[u8], mut found: impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        while let (Start::Fresh | Start::One | Start::Two, [first, rest @ ..]) = (self.start, bytes) {
            if self.step_over_mark(*first) {
                bytes = rest;
            }
        }
        if let ([first, rest @ ..], true) = (bytes, self.after_cr) {
            self.after_cr = false;
            if *first == b'\n' {
                bytes = rest;
            }
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            if let Some(data) = self.whole_event(bytes, end) {
                found(SseItem::Event { name: b"", data });
                bytes = &bytes[end + 2..];
                continue;
            }
            self.extend_line(&bytes[..end])?;
            self.end_line(&mut found)?;
            let crlf = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            self.after_cr = bytes[end] == b'\r' && end + 1 == bytes.len();
            bytes = &bytes[end + 1 + usize::from(crlf)..];
        }
        self.extend_line(bytes)
    }

    /// The stream ended. The standard drops an event without its blank line; real servers end right after the last `data` line, so it
    /// is handed out here, and the caller decides what it is worth. True where there was one.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn finish(&mut self, mut found: impl FnMut(SseItem<'_>)) -> Result<bool, TooLong> {
        if !matches!(self.start, Start::Past) {
            let seen = match self.start {
                Start::One => 1,
                Start::Two => 2,
                Start::Fresh | Start::Past => 0,
            };
            self.start = Start::Past;
            self.line.extend_from_slice(&BOM[..seen]);
        }
        if !self.line.is_empty() {
            self.end_line(&mut found)?;
        }
        let pending = self.has_data;
        self.dispatch(&mut found);
        Ok(pending)
    }

    /// The data of an event that is a single line and whole in `bytes`, whose first line ends at `end`, so that nothing has to be kept:
    /// the usual one. Only between events.
    fn whole_event<'b>(&self, bytes: &'b [u8], end: usize) -> Option<&'b [u8]> {
        let between = self.line.is_empty() && !self.has_data && self.name.is_empty();
        let value = bytes[..end].strip_prefix(b"data:").filter(|_| between && end < MAX_EVENT)?;
        (bytes[end..].starts_with(b"\n\n")).then(|| value.strip_prefix(b" ").unwrap_or(value))
    }

    /// True where `byte` belonged to a byte order mark. A started mark that turns out to be none is put back into the line.
    fn step_over_mark(&mut self, byte: u8) -> bool {
        let (next, seen) = match (self.start, byte) {
            (Start::Fresh, 0xEF) => (Start::One, 0),
            (Start::One, 0xBB) => (Start::Two, 0),
            (Start::Two, 0xBF) => (Start::Past, 0),
            (Start::Two, _) => (Start::Past, 2),
            (Start::One, _) => (Start::Past, 1),
            _ => (Start::Past, 0),
        };
        let was = std::mem::replace(&mut self.start, next);
        self.line.extend_from_slice(&BOM[..seen]);
        matches!((was, byte), (Start::Fresh, 0xEF) | (Start::One, 0xBB) | (Start::Two, 0xBF))
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let comment = self.line.first().or(bytes.first()) == Some(&b':');
        if comment {
            if self.line.is_empty() {
                self.line.push(b':');
            }
            return Ok(());
        }
        if self.line.len() + bytes.len() > MAX_EVENT {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, found: &mut impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        if self.line.is_empty() {
            self.dispatch(found);
            return Ok(());
        }
        let colon = self.line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(at) => (&self.line[..at], &self.line[at + 1..]),
            None => (&self.line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"" => {}
            b"data" => {
                if self.data.len() + value.len() + 1 > MAX_EVENT {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"id" | b"retry" => {}
            _ => found(SseItem::Stray(&self.line)),
        }
        self.line.clear();
        Ok(())
    }

    fn dispatch(&mut self, found: &mut impl FnMut(SseItem<'_>)) {
        if self.has_data {
            found(SseItem::Event { name: &self.name, data: &self.data });
        }
        self.name.clear();
        self.data.clear();
        self.has_data = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        let mut keep = |item: SseItem<'_>| {
            found.push(match item {
                SseItem::Event { name, data } => format!("{}>{}", name.escape_ascii(), data.escape_ascii()),
                SseItem::Stray(line) => format!("stray {}", line.escape_ascii()),
            });
        };
        let mut reader = SseReader::new();
        reader.push(text, &mut keep).unwrap();
        if reader.finish(&mut keep).unwrap() {
            found.push("(unterminated)".to_owned());
        }
        found
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (text, expected) in [
            (&b"data: a\n\n"[..], &[">a"][..]),
            (b"data:a\r\rdata:  b\r\n\r\n", &[">a", "> b"]),
            (b"data: a\ndata: b\n\n", &[">a\\nb"]),
            (b"data\n\n", &[">"]),
            (b"event: ping\n\n", &[]),
            (b"event: error\ndata: x\n\ndata: y\n\n", &["error>x", ">y"]),
            (b": comment\n\nid: 3\nretry: 5\ndata: x\n\n", &[">x"]),
            (b"\xEF\xBB\xBFdata: x\n\n", &[">x"]),
            (b"\xEF\xBBdata: x\n\n", &["stray \\xef\\xbbdata: x"]),
            (b"{\n\"error\": 1}\n", &["stray {", "stray \\\"error\\\": 1}"]),
            (b"data: x\n", &[">x", "(unterminated)"]),
            (b"data: x", &[">x", "(unterminated)"]),
            (b"\xEF\xBB", &["stray \\xef\\xbb"]),
            (b"", &[]),
        ] {
            assert_eq!(events(text), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn many_data_lines_are_one_event_and_bounded_like_one() {
        let mut reader = SseReader::new();
        let line = [&b"data: "[..], &[b'x'; 1000], b"\n"].concat();
        let taken = (0..10_000).take_while(|_| reader.push(&line, |_| ()).is_ok()).count() * 1001;
        assert!((MAX_EVENT - 1001..=MAX_EVENT).contains(&taken), "{taken}");
    }
}
