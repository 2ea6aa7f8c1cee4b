use super::*;
use crate::wire::{DONE, Spelling};

fn ms(at: u64) -> Nanos {
    Nanos(at * 1_000_000)
}

fn reader(content_type: &str) -> AnswerReader {
    AnswerReader::new(Api::Chat, &Head { status: 200, content_type: Some(content_type), content_encoding: None })
}

/// What becomes of these events, the nth at n ms.
fn read(events: &[&[u8]], ending: Ending) -> Reading {
    let mut reader = reader("text/event-stream");
    for (at, event) in (0..).zip(events) {
        reader.push(event, ms(at));
    }
    reader.finish(ending)
}

fn outcome(reading: &Reading) -> &str {
    match &reading.outcome {
        Outcome::Ok => "ok",
        Outcome::Error(failure) => failure.kind.name(),
    }
}

fn has(reading: &Reading, word: &str) -> bool {
    assert!(Warning::by_name(word).is_some(), "{word} is no warning");
    reading.warnings.iter().any(|warning| warning.0 == word)
}

const TOKEN: &[u8] = b"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
const STOP: &[u8] = b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const ERROR: &[u8] = b"data: {\"error\":{\"message\":\"gone\"}}\n\n";

fn timed_out() -> Ending {
    Ending::TimedOut("no token for 30 s".to_owned())
}

fn broken() -> Ending {
    Ending::Broken("connection reset".to_owned())
}

#[test]
fn the_one_kind_of_failure_follows_an_order() {
    for (events, ending, expected) in [
        (&[TOKEN, STOP, DONE][..], Ending::Clean, "ok"),
        (&[TOKEN, STOP][..], Ending::Clean, "ok"),
        (&[TOKEN, DONE], Ending::Clean, "ok"),
        (&[TOKEN], Ending::Clean, "truncated"),
        (&[TOKEN], timed_out(), "timeout"),
        (&[TOKEN], broken(), "disconnect"),
        (&[TOKEN, STOP], timed_out(), "timeout"),
        (&[TOKEN, STOP], broken(), "disconnect"),
        (&[TOKEN, STOP, DONE], timed_out(), "ok"),
        (&[TOKEN, STOP, DONE], broken(), "ok"),
        (&[TOKEN, ERROR], timed_out(), "server_error_in_stream"),
        (&[TOKEN, ERROR], broken(), "server_error_in_stream"),
        (&[ERROR, TOKEN, STOP, DONE], Ending::Clean, "server_error_in_stream"),
        (&[TOKEN, STOP, DONE, ERROR], Ending::Clean, "ok"),
        (&[b"data: {\"choices\"\n\n", TOKEN, STOP, DONE], Ending::Clean, "malformed"),
        (&[b"data: ping\n\n", TOKEN, STOP, DONE], Ending::Clean, "ok"),
        (&[b"data: ping\n\n"], Ending::Clean, "malformed"),
        (&[STOP, DONE], Ending::Clean, "empty"),
        (&[], Ending::Clean, "empty"),
        (&[b": ping\n\n"], Ending::Clean, "empty"),
        (&[b"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n"], Ending::Clean, "truncated"),
        (&[], broken(), "disconnect"),
        (&[], timed_out(), "timeout"),
        (&[b"<html><title>Bad gateway</title></html>"], Ending::Clean, "malformed"),
        (&[b"event: error\ndata: overloaded\n\n"], Ending::Clean, "server_error_in_stream"),
        (&[b"{\"detail\":\"no such route\"}"], Ending::Clean, "server_error_in_stream"),
        (&[b"{\"fine\":true}"], Ending::Clean, "malformed"),
    ] {
        let shown = String::from_utf8_lossy(&events.concat()).into_owned();
        assert_eq!(outcome(&read(events, ending.clone())), expected, "{ending:?} after {shown}");
    }
}

#[test]
fn what_was_odd_but_harmless_is_warned_of() {
    assert!(has(&read(&[TOKEN, STOP, DONE], timed_out()), "connection_left_open"));
    assert!(has(&read(&[TOKEN, STOP, DONE], Ending::Stopped), "connection_left_open"));
    assert!(has(&read(&[TOKEN, STOP, DONE], broken()), "incomplete_chunked_body"));
    let tail = read(&[TOKEN, b"data: [DONE]\n"], broken());
    assert!(has(&tail, "unterminated_event") && outcome(&tail) == "ok" && tail.done == Some(ms(1)));
    assert!(has(&read(&[b"data: ping\n\n", TOKEN, DONE], Ending::Clean), "undecodable_event"));
    let surrogate = read(&[b"data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n", DONE], Ending::Clean);
    assert!(has(&surrogate, "json_repaired") && outcome(&surrogate) == "ok");
}

#[test]
fn heartbeats_of_any_shape_are_nothing_odd() {
    let beats = [b"data:\n\n", &b"data: \n\n"[..], b": ping\n\n", b"\n\n", b"event: ping\n\n", b"data: {}\n\n", b"retry: 5\n\n"].concat();
    let usage = b"data: {\"choices\":[],\"usage\":{\"completion_tokens\":1}}\n\n";
    let reading = read(&[&beats, TOKEN, &beats, STOP, usage, DONE, b": bye\n\n"], Ending::Clean);
    assert_eq!((outcome(&reading), reading.events, &reading.warnings[..]), ("ok", 1, &[][..]));
}

#[test]
fn an_unfinished_event_counts_only_where_nothing_is_missing() {
    let tail = TOKEN.strip_suffix(b"\n\n").unwrap();
    assert_eq!(read(&[TOKEN, STOP, tail], Ending::Clean).events, 2);
    assert_eq!(read(&[TOKEN, STOP, tail], broken()).events, 1);
}

#[test]
fn the_client_learns_when_to_stop() {
    let mut reader = reader("text/event-stream");
    assert_eq!(reader.push(TOKEN, ms(1)), Next::Read);
    assert_eq!((reader.token_events(), reader.last_token()), (1, Some(ms(1))));
    assert_eq!(reader.push(b": ping\n\n", ms(2)), Next::Read);
    assert_eq!((reader.token_events(), reader.last_token()), (1, Some(ms(1))));
    assert_eq!(reader.push(STOP, ms(3)), Next::Read, "usage may follow");
    assert_eq!(reader.push(DONE, ms(4)), Next::Linger);

    let head = Head { status: 500, content_type: None, content_encoding: None };
    let mut reader = AnswerReader::new(Api::Chat, &head);
    assert_eq!(reader.push(&[b'x'; 1000], ms(1)), Next::Read);
    assert_eq!(reader.push(&vec![b'x'; 1 << 20], ms(2)), Next::Stop);
    assert_eq!(outcome(&reader.finish(Ending::Stopped)), "http_status");

    let head = Head { status: 200, content_type: None, content_encoding: Some("zstd") };
    let reader = AnswerReader::new(Api::Chat, &head);
    assert_eq!(reader.next(), Next::Stop);
    assert_eq!(outcome(&reader.finish(Ending::Stopped)), "malformed");
}

#[test]
fn a_usage_that_cannot_be_meant_is_not_used() {
    let token = |completion: u64| {
        let usage = format!("\"usage\":{{\"prompt_tokens\":4,\"completion_tokens\":{completion}}}");
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"x\"}}}}],{usage}}}\n\n").into_bytes()
    };
    for (counts, expected, source) in [
        ([1, 2, 3], 3, TokenSource::Usage),
        ([1, 1, 1], 3, TokenSource::Chunks),
        ([0, 0, 0], 3, TokenSource::Chunks),
        ([5, 5, 5], 5, TokenSource::Usage),
    ] {
        let events = counts.map(token);
        let reading = read(&[&events[0], &events[1], &events[2], STOP, DONE], Ending::Clean);
        assert_eq!((reading.output_tokens, reading.token_source), (Some(expected), Some(source)), "{counts:?}");
        assert_eq!((reading.input_tokens, has(&reading, "usage_unusable")), (Some(4), source == TokenSource::Chunks), "{counts:?}");
    }
}

#[test]
fn reasoning_is_a_first_token_but_no_first_answer() {
    let spelling = Spelling::new(Api::Chat, "id", "m", 0);
    let reading =
        read(&[&spelling.role(), &spelling.reasoning("hm"), &spelling.tokens("yes"), &spelling.finish("stop"), DONE], Ending::Clean);
    assert_eq!((reading.first_token, reading.first_answer, reading.last_token), (Some(ms(1)), Some(ms(2)), Some(ms(2))));
    let only = read(&[&spelling.reasoning("hm"), &spelling.finish("length"), DONE], Ending::Clean);
    assert_eq!((outcome(&only), only.first_token, only.first_answer), ("ok", Some(ms(0)), None));
}

#[test]
fn a_tool_call_without_arguments_is_no_empty_answer() {
    let call = b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"now\",\"arguments\":\"\"}}]}}]}\n\n";
    let reading = read(&[call, b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n", DONE], Ending::Clean);
    assert_eq!((outcome(&reading), reading.first_token, reading.events), ("ok", Some(ms(0)), 1));
}

#[test]
fn what_the_server_side_spells_the_reader_reads() {
    for api in [Api::Chat, Api::Completions] {
        let spelling = Spelling::new(api, "id", "a \"model\"", 1);
        let head = Head { status: 200, content_type: Some("text/event-stream"), content_encoding: None };
        let mut reader = AnswerReader::new(api, &head).asked_for_usage(true);
        reader.push(&spelling.role(), ms(1));
        assert_eq!(reader.token_events(), 0);
        reader.push(&spelling.tokens("one\n"), ms(2));
        reader.push(&[spelling.tokens(" two"), spelling.tokens("\u{1F600}")].concat(), ms(5));
        reader.push(&spelling.finish("length"), ms(5));
        reader.push(&spelling.usage(7, 3, Some(2)), ms(6));
        assert_eq!(reader.push(DONE, ms(6)), Next::Linger);
        let reading = reader.finish(Ending::Clean);
        assert_eq!((outcome(&reading), &reading.warnings[..]), ("ok", &[][..]));
        assert_eq!(reading.gaps, [ms(3), ms(0)]);
        assert_eq!((reading.events, reading.reads, reading.finish_reason.as_deref()), (3, 2, Some("length")));
        assert_eq!((reading.input_tokens, reading.output_tokens, reading.cached_tokens), (Some(7), Some(3), Some(2)));

        let failed = read(&[&spelling.tokens("x"), &spelling.error(503, "busy")], Ending::Clean);
        let Outcome::Error(failure) = &failed.outcome else { panic!() };
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::ServerErrorInStream, "503: busy"));
    }
}

#[test]
fn the_words_of_a_status_are_kept_short() {
    for (status, body, expected) in [
        (502, "<html><head><title>502 Bad Gateway</title></head>\n<body>nginx</body></html>", "HTTP 502: 502 Bad Gateway nginx"),
        (503, "{\"error\":{\"code\":503,\"message\":\"Loading model\"}}", "HTTP 503: Loading model"),
        (429, "Model is overloaded", "HTTP 429: Model is overloaded"),
        (401, "", "HTTP 401"),
        (308, "", "HTTP 308: a redirect that was not followed"),
        (500, "{\"error\":\"\\u0000gone\"}", "HTTP 500:  gone"),
    ] {
        let mut reader = AnswerReader::new(Api::Chat, &Head { status, content_type: None, content_encoding: None });
        reader.push(body.as_bytes(), ms(1));
        let Outcome::Error(failure) = reader.finish(Ending::Clean).outcome else { panic!() };
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::HttpStatus, expected));
    }
}
