//! The SSE reader against a slow and obvious one over the whole text, and the answer reader against itself, for any splitting into
//! reads; and what both hold in memory.

use crate::cases::{self, Case, Step};
use crate::streams_virtual::api;
use goodput_gate::units::Nanos;
use goodput_gate::wire::{AnswerReader, Ending, Head, MAX_EVENT, Next, Outcome, Reading, SseItem, SseReader};
use proptest::prelude::*;
use std::sync::LazyLock;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Event(Vec<u8>, Vec<u8>),
    Stray(Vec<u8>),
}

/// The standard, read aloud: decode the whole text, cut it into lines, go through them.
fn oracle(text: &[u8]) -> (Vec<Item>, bool) {
    // One character a byte, so that str's methods can be used on any bytes.
    let text: String = text.iter().map(|byte| char::from(*byte)).collect();
    let text = text.strip_prefix("\u{EF}\u{BB}\u{BF}").unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let bytes = |text: &str| text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>();
    let mut items = Vec::new();
    let mut name = String::new();
    let mut data: Vec<String> = Vec::new();
    let mut lines: Vec<&str> = text.split('\n').collect();
    // What is after the last line end is a line only if there is something.
    if lines.last() == Some(&"") {
        lines.pop();
    }
    for line in lines {
        if line.is_empty() {
            if !data.is_empty() {
                items.push(Item::Event(bytes(&name), bytes(&data.join("\n"))));
            }
            (name, data) = (String::new(), Vec::new());
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match field {
            "data" => data.push(value),
            "event" => name = value,
            "" | "id" | "retry" => {}
            _ => items.push(Item::Stray(bytes(line))),
        }
    }
    let pending = !data.is_empty();
    if pending {
        items.push(Item::Event(bytes(&name), bytes(&data.join("\n"))));
    }
    (items, pending)
}

fn ours<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Item>, bool) {
    let mut items = Vec::new();
    let mut keep = |item: SseItem<'_>| {
        items.push(match item {
            SseItem::Event { name, data } => Item::Event(name.to_vec(), data.to_vec()),
            SseItem::Stray(line) => Item::Stray(line.to_vec()),
        });
    };
    let mut reader = SseReader::new();
    for piece in pieces {
        reader.push(piece, &mut keep).unwrap();
    }
    let pending = reader.finish(&mut keep).unwrap();
    (items, pending)
}

/// Cuts a text at these places, taken modulo its length; the same place twice gives an empty read.
fn cut<'a>(text: &'a [u8], places: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (text.len() + 1)).collect();
    places.push(text.len());
    places.sort_unstable();
    let mut from = 0;
    places.iter().map(|to| &text[std::mem::replace(&mut from, *to)..*to]).collect()
}

/// All written bytes of each case, chunk framing of RAW ones included: any text will do.
static TEXTS: LazyLock<Vec<(Case, Vec<u8>)>> = LazyLock::new(|| {
    let bytes = |case: &Case| {
        let writes = case.stream.steps.iter().filter_map(|step| match step {
            Step::Write(_, bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        writes.collect::<Vec<_>>().concat()
    };
    cases::load_all().into_iter().map(|case| (case.clone(), bytes(&case))).collect()
});

#[test]
fn every_case_gives_the_same_events_byte_by_byte_and_at_once() {
    for (case, text) in TEXTS.iter() {
        let expected = oracle(text);
        assert_eq!(ours([text.as_slice()].into_iter()), expected, "{} at once", case.name);
        assert_eq!(ours(text.chunks(1)), expected, "{} byte by byte", case.name);
    }
}

fn read(case: &Case, pieces: &[&[u8]]) -> Reading {
    let stream = &case.stream;
    let head = Head {
        status: stream.status.unwrap_or(200),
        content_type: stream.header("content-type"),
        content_encoding: stream.header("content-encoding"),
    };
    let mut reader = AnswerReader::new(api(case), &head);
    for piece in pieces {
        reader.push(piece, Nanos::ZERO);
    }
    let mut reading = reader.finish(Ending::Clean);
    // These two are about the reads themselves.
    reading.reads = 0;
    reading.warnings.retain(|warning| warning.0 != "bursty_delivery");
    reading
}

/// Pieces of event streams, likely and odd.
fn sse_text() -> impl Strategy<Value = Vec<u8>> {
    let ends = prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", "\n\r", "\n\r\n"]);
    let starts = prop::sample::select(vec![
        "data:",
        "data: ",
        "data",
        "data:  ",
        "event: error",
        "event:",
        ":",
        ": ping",
        "id: 1",
        "retry: 5",
        "other: x",
        " data: x",
        "{\"a\":",
        "[DONE]",
        "data: [DONE]",
        "data: {\"choices\":[]}",
        "\u{feff}",
        "\u{feff}data: x",
        "é€😀",
        "data: 😀",
        "\0",
        "",
    ]);
    let noise = prop::collection::vec(any::<u8>(), 0..4);
    let line = (starts, noise, prop::option::weighted(0.9, ends))
        .prop_map(|(start, noise, end)| [start.as_bytes(), &noise, end.unwrap_or("").as_bytes()].concat());
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_in_any_reads_gives_the_oracles_events(text in sse_text(), places in prop::collection::vec(any::<usize>(), 0..12)) {
        prop_assert_eq!(ours(cut(&text, &places).into_iter()), oracle(&text));
    }

    #[test]
    fn any_case_in_any_reads_gives_the_same_events_and_the_same_reading(
        case in any::<prop::sample::Index>(),
        places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let (case, text) = &TEXTS[case.index(TEXTS.len())];
        let pieces = cut(text, &places);
        prop_assert_eq!(ours(pieces.iter().copied()), oracle(text));
        prop_assert_eq!(read(case, &pieces), read(case, &[text]));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), encoding in 0..4_usize, status in 100..600_u16) {
        let encoding = [None, Some("gzip"), Some("deflate"), Some("br")][encoding];
        let head = Head { status, content_type: None, content_encoding: encoding };
        let mut reader = AnswerReader::new(goodput_gate::wire::Api::Chat, &head);
        for piece in bytes.chunks(7) {
            reader.push(piece, Nanos::ZERO);
        }
        let reading = reader.finish(Ending::Clean);
        prop_assert!(reading.events == 0 || encoding.is_none());
    }
}

fn chat_reader() -> AnswerReader {
    AnswerReader::new(goodput_gate::wire::Api::Chat, &Head { status: 200, content_type: None, content_encoding: None })
}

#[test]
fn a_line_without_an_end_is_given_up_at_the_limit() {
    let block = vec![b'x'; 1 << 20];
    for start in ["", "data: ", "data: {\"choices\":[{\"delta\":{\"content\":\""] {
        let mut reader = chat_reader();
        assert_eq!(reader.push(start.as_bytes(), Nanos::ZERO), Next::Read);
        let taken = (0..100).take_while(|_| reader.push(&block, Nanos::ZERO) != Next::Stop).count() * block.len();
        assert!((MAX_EVENT - block.len()..=MAX_EVENT).contains(&taken), "{taken} bytes were taken");
        let reading = reader.finish(Ending::Stopped);
        let Outcome::Error(failure) = reading.outcome else { panic!() };
        assert_eq!(failure.kind.name(), "malformed");
        assert!(failure.message.contains("longer than"), "{}", failure.message);
    }
}

#[test]
fn comments_without_an_end_need_no_memory_and_are_no_tokens() {
    let mut reader = SseReader::new();
    let block = vec![b'x'; 1 << 20];
    reader.push(b": ", |item| panic!("{item:?}")).unwrap();
    for _ in 0..100 {
        reader.push(&block, |item| panic!("{item:?}")).unwrap();
    }
    assert!(format!("{reader:?}").len() < 1000, "the reader holds the comment");

    let mut answer = chat_reader();
    let comments = ": generating\n\n".repeat(1000).into_bytes();
    for at in 0..1000 {
        assert_eq!(answer.push(&comments, Nanos(at)), Next::Read);
    }
    assert_eq!((answer.token_events(), answer.last_token()), (0, None));
}
