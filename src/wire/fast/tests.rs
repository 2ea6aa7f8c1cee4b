use super::*;
use crate::units::Nanos;
use crate::wire::chunk::{self, Chunk};
use crate::wire::{AnswerReader, Api, Ending, Head, SseItem, SseReader, json};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Every file below `folder`, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// The bodies of all stream cases, and the recorded answers of real servers.
fn streams() -> Vec<Vec<u8>> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let captures = files(&cases.join("captures")).into_iter().map(|path| std::fs::read(path).unwrap());
    let scripts = files(&cases.join("streams")).into_iter().filter(|path| path.ends_with("stream.txt"));
    let bodies = scripts.map(|path| body(&String::from_utf8_lossy(&std::fs::read(path).unwrap())));
    captures.chain(bodies).filter(|bytes| memchr::memmem::find(bytes, b"data").is_some()).collect()
}

/// The bytes of a case's script: each `@ms "text"` line is a write.
fn body(script: &str) -> Vec<u8> {
    let texts = script.lines().filter(|line| line.starts_with('@')).filter_map(|line| line.split_once(' '));
    texts.filter_map(|(_, text)| serde_json::from_str::<String>(text).ok()).flat_map(String::into_bytes).collect()
}

/// The data of every event that these files hold.
fn events() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for stream in streams() {
        let mut reader = SseReader::new();
        let mut keep = |item: SseItem<'_>| {
            if let SseItem::Event { data, .. } = item {
                all.push(data.trim_ascii().to_vec());
            }
        };
        if reader.push(&stream, &mut keep).is_ok() {
            let _ = reader.finish(&mut keep);
        }
    }
    all.sort();
    all.dedup();
    all
}

/// What the full parser makes of an event of either API, where it is one piece and nothing else.
fn in_full(data: &[u8], api: Api) -> Option<Piece> {
    let (value, false) = json::parse(data)? else { return None };
    match value.is_object().then(|| chunk::read(api, &value, false))? {
        Chunk::Part { mut pieces, usage: None } if pieces.len() == 1 => pieces.pop(),
        _ => None,
    }
}

/// Whether the short way took the event; fails where it took it for something else than the full parser does.
fn agrees(data: &[u8]) -> bool {
    let Some(short) = piece(data) else { return false };
    for api in [Api::Chat, Api::Completions] {
        assert_eq!(Some(&short), in_full(data, api).as_ref(), "{}", data.escape_ascii());
    }
    true
}

#[test]
fn the_usual_token_events_of_every_server_take_the_short_way() {
    for event in [
        r#"{"id":"c-1","object":"chat.completion.chunk","created":1796058333,"model":"m","choices":[{"index":0,"delta":{"content":" a"},"logprobs":null,"finish_reason":null,"token_ids":null}]}"#,
        r#"{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}"#,
        r#"{"choices":[{"finish_reason":null,"index":0,"delta":{"content":"x \u00e9\n"}}],"created":1,"id":"c","model":"m","system_fingerprint":"b1","object":"chat.completion.chunk"}"#,
        r#"{"id": "c-1", "object": "text_completion", "created": 1, "model": "m", "choices": [{"index": 1, "text": "é", "logprobs": null, "finish_reason": null, "stop_reason": null}], "usage": null}"#,
        r#"{"choices":[{"index":0,"delta":{"reasoning":"hm"}}]}"#,
        r#"{"choices":[{"delta":{}}]}"#,
    ] {
        assert!(agrees(event.as_bytes()), "{event}");
    }
}

#[test]
fn what_is_unfamiliar_is_left_to_the_full_parser() {
    for event in [
        r#"{"choices":[]}"#,
        r#"{"choices":[{"delta":{"content":"x"}},{"delta":{"content":"y"}}]}"#,
        r#"{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"delta":{"content":"x"},"text":"y"}]}"#,
        r#"{"choices":[{"delta":{"content":"x","content":""}}]}"#,
        r#"{"choices":[{"delta":{"content":"x"}}],"choices":[]}"#,
        r#"{"choices":[{"delta":{"content":"x"}}],"usage":{"completion_tokens":1}}"#,
        r#"{"choices":[{"delta":{"content":"x"}}],"error":{"message":"gone"}}"#,
        r#"{"choices":[{"delta":{"content":"x"},"error":{"message":"gone"}}]}"#,
        r#"{"choices":[{"delta":{"content":"x"}}],"object":"error"}"#,
        r#"{"choices":[{"delta":{"content":"x"}}],"type":"error"}"#,
        r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#,
        r#"{"choices":[{"delta":{"content":["x"]}}]}"#,
        r#"{"choices":[{"delta":{"c\u006fntent":"x"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"index":1.0,"delta":{"content":"x"}}]}"#,
        r#"{"choices":[{"index":-1,"delta":{"content":"x"}}]}"#,
        r#"{"choices":[{"index":01,"delta":{"content":"x"}}]}"#,
        r#"{"choices":[{"delta":{"content":"x"}}],}"#,
        r#"{"choices":[{"delta":{"content":"x"}}]} x"#,
        r#"{"choices":[{"delta":{"content":"x"}}]"#,
        "{\"choices\":[{\"delta\":{\"content\":\"\t\"}}]}",
        r#"{"message":"gone","code":3}"#,
        "[DONE]",
        "",
    ] {
        assert_eq!(piece(event.as_bytes()), None, "{event}");
    }
}

#[test]
fn both_ways_read_every_recorded_event_alike() {
    let events = events();
    let short = events.iter().filter(|event| agrees(event)).count();
    assert!(short * 2 > events.len(), "{short} of {} events took the short way", events.len());
}

#[test]
fn both_ways_read_every_recorded_stream_alike() {
    for stream in streams() {
        for api in [Api::Chat, Api::Completions] {
            for size in [7, 100, 1 << 20] {
                let head = Head { status: 200, content_type: Some("text/event-stream"), content_encoding: None };
                let (mut short, mut full) = (AnswerReader::new(api, &head), AnswerReader::new(api, &head).in_full());
                for (at, bytes) in (0..).zip(stream.chunks(size)) {
                    assert_eq!(short.push(bytes, Nanos(at)), full.push(bytes, Nanos(at)));
                }
                assert_eq!(short.finish(Ending::Clean), full.finish(Ending::Clean), "{}", String::from_utf8_lossy(&stream));
            }
        }
    }
}

/// What is put into an event in place of some of its bytes: what decides in JSON, and what the parsers look at.
const PIECES: &[&str] = &[
    "",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\t",
    "\u{1}",
    "\u{e9}",
    "null",
    "true",
    "0",
    "01",
    "1.5",
    "-1",
    "1e3",
    "NaN",
    "\\u0041",
    "\\ud83d",
    "\\ud83d\\ude00",
    "\\x",
    "\"\"",
    "\"error\"",
    "\"stop\"",
    "\"text\":\"t\"",
    "\"content\":\"c\",",
    "\"content\":null,",
    ",\"error\":{\"message\":\"m\"}",
    ",\"usage\":{\"completion_tokens\":3}",
    ",\"usage\":null",
    "\"finish_reason\":\"stop\",",
    "\"reasoning\":\"r\",",
    "\"index\":2,",
    "\"choices\":[],",
    "\"delta\":{},",
    "\"delta\":null,",
    "\"message\":{\"content\":\"m\"},",
    "\"object\":\"error\",",
    "\"type\":\"error\",",
    "\"refusal\":\"no\",",
    "\"tool_calls\":[{\"function\":{\"name\":\"f\"}}],",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_read_damaged_events_alike(
        event in prop::sample::select(events()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, prop::sample::select(PIECES)), 1..4),
    ) {
        let mut event = event;
        for (at, taken, put) in edits {
            let start = at.index(event.len() + 1);
            let end = (start + taken).min(event.len());
            event.splice(start..end, put.bytes());
        }
        agrees(&event);
    }

    #[test]
    fn both_ways_read_events_with_fields_put_in_alike(
        event in prop::sample::select(events()),
        (brace, comma) in (any::<prop::sample::Index>(), any::<bool>()),
        put in prop::sample::select(PIECES),
    ) {
        // Right after a brace or a comma, where most of the pieces leave the event valid.
        let places: Vec<usize> = event.iter().enumerate().filter(|(_, byte)| matches!(byte, b'{' | b',') && comma || **byte == b'{').map(|(at, _)| at + 1).collect();
        let mut event = event;
        if !places.is_empty() {
            let at = places[brace.index(places.len())];
            event.splice(at..at, put.bytes());
        }
        agrees(&event);
    }
}
