//! Answers of real servers (llama.cpp, vLLM), recorded with their framing: each HTTP chunk is one read, the nth at n ms.

use crate::cases;
use goodput_gate::units::Nanos;
use goodput_gate::wire::{AnswerReader, Api, Ending, Head, ModelInfo, Outcome, Reading, TokenSource, parse_models};
use std::fs;

struct Capture {
    status: u16,
    content_type: String,
    reads: Vec<Vec<u8>>,
}

fn load(name: &str) -> Capture {
    let bytes = fs::read(cases::folder().join("captures").join(format!("{name}.txt"))).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default().to_owned();
    let mut body = &bytes[end + 4..];
    let mut reads = Vec::new();
    if header("transfer-encoding") != "chunked" {
        reads.push(body.to_vec());
        body = &[];
    }
    while let Some(line) = body.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..line]).unwrap(), 16).unwrap();
        reads.push(body[line + 2..line + 2 + size].to_vec());
        body = &body[line + 2 + size + 2..];
    }
    Capture { status: head.split_whitespace().nth(1).unwrap().parse().unwrap(), content_type: header("content-type"), reads }
}

fn read(name: &str) -> Reading {
    let capture = load(name);
    let api = if name.contains("/completion") { Api::Completions } else { Api::Chat };
    let head = Head { status: capture.status, content_type: Some(&capture.content_type), content_encoding: None };
    let mut reader = AnswerReader::new(api, &head);
    for (at, bytes) in (0..).zip(&capture.reads) {
        reader.push(bytes, Nanos(at * 1_000_000));
    }
    reader.finish(Ending::Clean)
}

/// (first token, last token, events, finish reason, usage as input, output, cached)
type Row = (&'static str, u64, u64, u64, &'static str, Option<(u64, u64, Option<u64>)>);

const STREAMS: &[Row] = &[
    // llama.cpp: the role event and the first token are in read 0.
    ("llamacpp/chat_stream_usage", 0, 23, 24, "length", Some((29, 24, Some(0)))),
    ("llamacpp/chat_stream_nousage", 0, 23, 24, "length", None),
    ("llamacpp/chat_stream_usage_continuous", 0, 7, 8, "length", Some((29, 8, Some(24)))),
    ("llamacpp/chat_timings_per_token", 3, 8, 6, "length", None),
    ("llamacpp/chat_emoji", 0, 47, 48, "length", Some((35, 48, Some(1)))),
    ("llamacpp/chat_ignore_eos_min_tokens", 0, 39, 40, "length", Some((28, 40, Some(1)))),
    ("llamacpp/chat_logprobs", 0, 3, 4, "length", Some((29, 4, Some(24)))),
    ("llamacpp/chat_max_tokens_1", 0, 0, 1, "length", Some((29, 1, Some(24)))),
    ("llamacpp/chat_stop_eos_grammar", 0, 9, 10, "stop", Some((26, 11, Some(0)))),
    ("llamacpp/chat_stop_string", 0, 4, 5, "stop", Some((29, 6, Some(24)))),
    ("llamacpp/completion_stream_usage", 0, 15, 16, "length", Some((4, 16, Some(0)))),
    ("llamacpp/completion_stream_nousage", 0, 15, 16, "length", Some((4, 16, Some(0)))),
    ("llamacpp/completion_stop_eos_grammar", 0, 12, 13, "stop", Some((2, 14, Some(1)))),
    // vLLM: the role event is read 0.
    ("vllm/chat_stream_usage", 1, 24, 24, "length", Some((21, 24, None))),
    ("vllm/chat_stream_nousage", 1, 24, 24, "length", None),
    ("vllm/chat_stream_usage_continuous", 1, 8, 8, "length", Some((21, 8, None))),
    ("vllm/chat_emoji", 1, 48, 47, "length", Some((29, 48, None))),
    ("vllm/chat_ignore_eos_min_tokens", 1, 40, 40, "length", Some((15, 40, None))),
    ("vllm/chat_logprobs", 1, 4, 4, "length", Some((21, 4, None))),
    ("vllm/chat_max_tokens_1", 1, 1, 1, "length", Some((21, 1, None))),
    ("vllm/chat_stop_eos_bias", 1, 2, 2, "stop", Some((14, 3, None))),
    ("vllm/chat_stop_string", 1, 78, 77, "stop", Some((21, 78, None))),
    ("vllm/completion_stream_usage", 0, 15, 16, "length", Some((3, 16, None))),
    ("vllm/completion_stream_nousage", 0, 15, 16, "length", None),
    ("vllm/conc8_1", 1, 200, 195, "length", Some((17, 200, None))),
];

#[test]
fn real_streams_are_read_right() {
    for (name, first, last, events, finish, usage) in STREAMS {
        let reading = read(name);
        let ms = |at: u64| Some(Nanos(at * 1_000_000));
        assert_eq!(reading.outcome, Outcome::Ok, "{name}");
        assert_eq!((reading.first_token, reading.last_token), (ms(*first), ms(*last)), "{name}");
        assert_eq!((reading.events, reading.reads, reading.gaps.len() as u64), (*events, *events, events - 1), "{name}");
        assert_eq!(reading.finish_reason.as_deref(), Some(*finish), "{name}");
        assert_eq!(reading.input_tokens, usage.map(|(input, _, _)| input), "{name}");
        assert_eq!(reading.output_tokens, Some(usage.map_or(*events, |(_, output, _)| output)), "{name}");
        assert_eq!(reading.cached_tokens, usage.and_then(|(_, _, cached)| cached), "{name}");
        let source = if usage.is_some() { TokenSource::Usage } else { TokenSource::Chunks };
        assert_eq!(reading.token_source, Some(source), "{name}");
        assert!(reading.done.is_some(), "{name}");
    }
}

#[test]
fn an_ordinary_real_stream_has_no_warnings() {
    for name in ["llamacpp/chat_stream_usage", "llamacpp/chat_stop_eos_grammar", "vllm/chat_stream_usage", "vllm/completion_stream_usage"] {
        assert_eq!(read(name).warnings, [], "{name}");
    }
}

#[test]
fn two_choices_have_gaps_of_their_own() {
    for (name, output) in [("vllm/chat_n2", 12), ("llamacpp/chat_n2", 6)] {
        let reading = read(name);
        assert_eq!((reading.events, reading.gaps.len(), reading.output_tokens), (12, 10, Some(output)), "{name}");
        // llama.cpp counts only the last choice; that must not pass in silence.
        assert_eq!(reading.warnings.iter().any(|warning| warning.0 == "usage_below_events"), output == 6, "{name}");
    }
}

#[test]
fn an_end_of_text_as_the_first_token_is_empty_and_has_no_first_token() {
    for name in ["llamacpp/chat_eos_first_token", "vllm/chat_eos_first_token", "vllm/completion_stop_eos_bias"] {
        let reading = read(name);
        assert_eq!(failure(&reading).0, "empty", "{name}");
        assert_eq!((reading.first_token, reading.output_tokens, reading.events), (None, Some(1), 0), "{name}");
    }
}

#[test]
fn an_answer_that_was_not_streamed_is_one_event() {
    for name in ["llamacpp/chat_nonstream", "vllm/chat_nonstream"] {
        let reading = read(name);
        assert_eq!(reading.outcome, Outcome::Ok, "{name}");
        assert_eq!((reading.events, reading.output_tokens, reading.first_token), (1, Some(24), Some(Nanos::ZERO)), "{name}");
        let warnings: Vec<_> = reading.warnings.iter().map(|warning| warning.0).collect();
        assert_eq!(warnings, ["done_missing", "not_streamed", "single_token_event"], "{name}");
    }
}

fn failure(reading: &Reading) -> (&'static str, &str) {
    match &reading.outcome {
        Outcome::Ok => panic!("{reading:?}"),
        Outcome::Error(failure) => (failure.kind.name(), &failure.message),
    }
}

#[test]
fn real_errors_keep_their_status_and_words() {
    for (name, expected) in [
        ("llamacpp/err_503_loading", "HTTP 503: Loading model"),
        ("llamacpp/err_404", "HTTP 404: File Not Found"),
        (
            "llamacpp/err_context_too_long",
            "HTTP 400: request (9024 tokens) exceeds the available context size (2048 tokens), try increasing it",
        ),
        ("llamacpp/err_missing_messages", "HTTP 400: 'messages' is required"),
        ("vllm/err_404", "HTTP 404: Not Found"),
        ("vllm/err_bad_model", "HTTP 404: The model `no-such-model` does not exist. Valid aliases: tiny."),
        ("vllm/err_max_tokens_0", "HTTP 400: max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)"),
    ] {
        assert_eq!(failure(&read(name)), ("http_status", expected), "{name}");
    }
}

#[test]
fn real_lists_of_models_name_their_context() {
    for (name, id, length) in [("vllm/get__v1_models", "tiny", 512), ("llamacpp/get__v1_models", "-", 2048)] {
        let body = load(name).reads.concat();
        assert_eq!(parse_models(&body), [ModelInfo { id: id.to_owned(), max_model_len: Some(length) }], "{name}");
    }
}
