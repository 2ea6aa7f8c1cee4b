//! The client against the simulated server, and against servers that no simulator should be.

use super::{Client, ClientError, Config};
use crate::plan::{Planned, Prompt};
use crate::record::{Request, Side};
use crate::sim;
use crate::spec::Timeouts;
use crate::units::{Nanos, Secret};
use crate::wire::{Api, ErrorKind, Outcome, TokenSource};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

pub(super) fn config(base: &str) -> Config {
    Config {
        side: Side::Candidate,
        base: base.parse().unwrap(),
        api: Api::Chat,
        model: "sim".to_owned(),
        timeouts: Timeouts::default(),
        headers: BTreeMap::new(),
        key: None,
        body: serde_json::Map::new(),
        exact: true,
        link_local: false,
    }
}

pub(super) fn client(config: Config) -> Client {
    Client::new(config, Instant::now()).unwrap()
}

fn planned(output: u64) -> Planned {
    Planned {
        id: 7,
        part: None,
        session: None,
        level: 1,
        round: Some(2),
        turn: 0,
        turns_left: 0,
        think: Nanos::ZERO,
        due: None,
        asked_input: 12,
        asked_output: output,
        index: 0,
        draw: 0,
    }
}

async fn send(client: &Client, output: u64) -> Request {
    let prepared = client.prepare(&planned(output), &Prompt::Text("one two".to_owned()));
    let now = client.now();
    client.send(prepared, now).await
}

pub(super) fn simulated(options: &str) -> sim::Running {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    sim::start(sim::parse(&format!("sim://{options}")).unwrap(), listener).unwrap()
}

/// A server on a free port that hands each request (head and body, as text) to `answer`, which writes what it likes and says
/// whether the connection stays open. The requests seen are kept.
pub(super) fn raw(answer: impl Fn(usize, &str, &mut TcpStream) -> bool + Send + Sync + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (answer, log) = (Arc::new(answer), Arc::clone(&seen));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
            std::thread::spawn(move || serve(stream, &*answer, &log));
        }
    });
    (url, seen)
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(usize, &str, &mut TcpStream) -> bool, log: &Mutex<Vec<String>>) {
    while let Some(request) = request(&mut stream) {
        let number = {
            let mut log = log.lock().unwrap();
            log.push(request.clone());
            log.len() - 1
        };
        if !answer(number, &request, &mut stream) {
            return;
        }
    }
}

fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::trim).map(str::to_owned));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

pub(super) fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> bool {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).is_ok()
}

const STREAM: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn stream_reply(stream: &mut TcpStream) -> bool {
    reply(stream, "200 OK", "content-type: text/event-stream\r\n", STREAM.as_bytes())
}

fn failure(request: &Request) -> (ErrorKind, &str) {
    match &request.outcome {
        Outcome::Error(failure) => (failure.kind, &failure.message),
        Outcome::Ok => panic!("{request:?} did not fail"),
    }
}

fn short(timeouts: impl FnOnce(&mut Timeouts)) -> Timeouts {
    let mut all = Timeouts::default();
    timeouts(&mut all);
    all
}

#[tokio::test]
async fn a_request_is_recorded_from_its_due_time_on() {
    let server = simulated("steady?ttft=150ms&tpot=20ms&cached=3");
    let client = client(config(&server.url()));
    let prepared = client.prepare(&planned(5), &Prompt::Text("one two".to_owned()));
    let due = client.now();
    tokio::time::sleep(Duration::from_millis(30)).await;
    let request = client.send(prepared, due).await;

    assert_eq!((request.outcome.clone(), request.http_status), (Outcome::Ok, Some(200)));
    assert_eq!((request.id, request.level, request.round, request.asked_input, request.asked_output), (7, 1, Some(2), 12, 5));
    assert_eq!((request.input_tokens, request.output_tokens, request.cached_tokens), (Some(12), Some(5), Some(3)));
    assert_eq!((request.token_source, request.events, request.gaps.len()), (Some(TokenSource::Usage), 5, 4));
    assert_eq!(request.finish_reason.as_deref(), Some("length"));
    assert!(request.start_lag() >= Nanos::from_ms(30.0), "its own lateness counts");
    let first = request.first_token.unwrap();
    assert!(first >= Nanos::from_ms(179.0), "{first:?} counts from when it was due");
    assert!(request.last_token.unwrap() >= Nanos::from_ms(259.0), "four more tokens at 20 ms");
    assert!(request.headers.unwrap() <= first && request.closed.unwrap() >= request.last_token.unwrap());
}

#[tokio::test]
async fn only_the_request_that_opened_a_connection_says_how_long_that_took() {
    let server = simulated("steady?ttft=1ms&tpot=1ms");
    let client = client(config(&server.url()));
    let opened = [send(&client, 2).await, send(&client, 2).await, send(&client, 2).await].map(|request| request.connect.is_some());
    assert_eq!(opened, [true, false, false]);
}

#[tokio::test]
async fn the_other_protocol_works_too() {
    let server = simulated("steady?ttft=1ms&tpot=1ms");
    let request = send(&client(Config { api: Api::Completions, ..config(&server.url()) }), 3).await;
    assert_eq!((request.outcome, request.input_tokens, request.output_tokens), (Outcome::Ok, Some(3), Some(3)));
}

#[tokio::test]
async fn each_fault_of_the_simulator_is_one_kind_of_error() {
    let stall = short(|timeouts| timeouts.between_tokens = Duration::from_millis(200));
    for (fault, kind, status) in [
        ("http_500", ErrorKind::HttpStatus, 500),
        ("http_429", ErrorKind::HttpStatus, 429),
        ("http_503", ErrorKind::HttpStatus, 503),
        ("in_stream", ErrorKind::ServerErrorInStream, 200),
        ("truncated", ErrorKind::Truncated, 200),
        ("disconnect", ErrorKind::Disconnect, 200),
        ("stall", ErrorKind::Timeout, 200),
        ("empty", ErrorKind::Empty, 200),
    ] {
        let server = simulated(&format!("steady?ttft=5ms&tpot=1ms&errors=100%&error={fault}"));
        let request = send(&client(Config { timeouts: stall, ..config(&server.url()) }), 6).await;
        assert_eq!((failure(&request).0, request.http_status), (kind, Some(status)), "{fault}");
    }
}

#[tokio::test]
async fn a_status_is_an_error_with_the_servers_cleaned_words() {
    let body = format!("{{\"error\":{{\"message\":\"no\\u0007 {}\"}}}}", "x".repeat(1000));
    let (url, _) = raw(move |_, _, stream| reply(stream, "401 Unauthorized", "", body.as_bytes()));
    let request = send(&client(config(&url)), 3).await;
    let (kind, message) = failure(&request);
    assert_eq!((kind, request.http_status), (ErrorKind::HttpStatus, Some(401)));
    assert!(message.contains("no") && message.chars().count() == 300 && !message.contains('\u{7}'), "{message}");
}

#[tokio::test]
async fn a_closed_port_is_no_connection() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let request = send(&client(config(&format!("http://{address}/v1"))), 3).await;
    assert_eq!((failure(&request).0, request.http_status, request.first_token), (ErrorKind::Connect, None, None));
    assert!(request.closed.is_some());
}

#[tokio::test]
async fn a_tls_handshake_that_never_ends_is_no_connection() {
    let (url, _) = raw(|_, _, stream| stream_reply(stream));
    let timeouts = short(|timeouts| timeouts.connect = Duration::from_millis(200));
    let request = send(&client(Config { timeouts, ..config(&url.replace("http:", "https:")) }), 3).await;
    assert_eq!(failure(&request).0, ErrorKind::Connect);
    assert!(request.closed.unwrap() < Nanos::from_ms(4_500.0), "its own limit ended it");
}

#[tokio::test]
async fn each_timeout_ends_a_request_and_says_which_it_was() {
    let limit = Duration::from_millis(150);
    for (server, timeouts, word) in [
        ("steady?ttft=1m", short(|timeouts| timeouts.first_token = limit), "first_token"),
        ("steady?ttft=1ms&tpot=1m", short(|timeouts| timeouts.between_tokens = limit), "between_tokens"),
        ("steady?ttft=1ms&tpot=10ms", short(|timeouts| timeouts.total = limit), "total"),
    ] {
        let server = simulated(server);
        let request = send(&client(Config { timeouts, ..config(&server.url()) }), 10_000).await;
        let (kind, message) = failure(&request);
        assert_eq!(kind, ErrorKind::Timeout);
        assert!(message.contains(word), "{message}");
        assert!(request.closed.unwrap() < Nanos::from_ms(20_000.0));
    }
}

#[tokio::test]
async fn a_server_that_never_answers_runs_into_the_first_token_limit() {
    let (url, _) = raw(|_, _, _| {
        std::thread::sleep(Duration::from_secs(3));
        false
    });
    let timeouts = short(|timeouts| timeouts.first_token = Duration::from_millis(100));
    let request = send(&client(Config { timeouts, ..config(&url) }), 3).await;
    assert_eq!((failure(&request).0, request.headers), (ErrorKind::Timeout, None));
}

#[tokio::test]
async fn a_broken_connection_is_an_error_and_never_a_second_request() {
    let (url, seen) = raw(|number, _, stream| number == 0 && stream_reply(stream));
    let client = client(config(&url));
    assert!(send(&client, 3).await.is_ok());
    assert_eq!(failure(&send(&client, 3).await).0, ErrorKind::Disconnect);
    assert_eq!(seen.lock().unwrap().len(), 2, "nothing was sent again");
}

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_the_post() {
    let (url, seen) = raw(|_, request, stream| {
        if request.starts_with("POST /v1/") {
            reply(stream, "308 Permanent Redirect", "location: /new\r\n", b"")
        } else {
            stream_reply(stream)
        }
    });
    let request = send(&client(config(&url)), 3).await;
    assert!(request.is_ok(), "{request:?}");
    let seen = seen.lock().unwrap();
    assert!(seen[1].starts_with("POST /new ") && seen[1].contains("one two"), "{seen:?}");
}

#[tokio::test]
async fn a_redirect_elsewhere_is_not_followed_and_the_key_stays() {
    let (elsewhere, stolen) = raw(|_, _, stream| stream_reply(stream));
    for status in ["307 Temporary Redirect", "308 Permanent Redirect", "302 Found"] {
        let location = format!("location: {elsewhere}/x\r\n");
        let (url, seen) = raw(move |_, _, stream| reply(stream, status, &location, b""));
        let request = send(&client(Config { key: Some(Secret::new("sesame".to_owned())), ..config(&url) }), 3).await;
        assert_eq!(failure(&request).0, ErrorKind::HttpStatus, "{status}");
        assert!(seen.lock().unwrap()[0].contains("authorization: Bearer sesame"), "its own origin gets the key");
    }
    assert!(stolen.lock().unwrap().is_empty(), "another port is another origin");
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let (url, seen) = raw(|_, _, stream| reply(stream, "307 Temporary Redirect", "location: /again\r\n", b""));
    let request = send(&client(config(&url)), 3).await;
    assert_eq!((failure(&request).0, request.http_status), (ErrorKind::HttpStatus, Some(307)));
    assert_eq!(seen.lock().unwrap().len(), 6, "the request and five redirects");
}

#[tokio::test]
async fn heads_and_lines_without_end_are_given_up() {
    let (url, _) = raw(|_, _, stream| {
        let mut fine = stream.write_all(b"HTTP/1.1 200 OK\r\n").is_ok();
        while fine {
            fine = stream.write_all(format!("x-more: {}\r\n", "y".repeat(4000)).as_bytes()).is_ok();
        }
        false
    });
    assert_eq!(failure(&send(&client(config(&url)), 3).await).0, ErrorKind::Disconnect);

    let (url, _) = raw(|_, _, stream| {
        let mut fine = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ").is_ok();
        while fine {
            fine = stream.write_all(&[b'y'; 65_536]).is_ok();
        }
        false
    });
    assert_eq!(failure(&send(&client(config(&url)), 3).await).0, ErrorKind::Malformed);
}

#[tokio::test]
async fn a_compressed_stream_is_read_though_none_was_asked_for() {
    let (url, seen) = raw(|_, _, stream| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(STREAM.as_bytes()).unwrap();
        reply(stream, "200 OK", "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n", &encoder.finish().unwrap())
    });
    let request = send(&client(config(&url)), 3).await;
    assert_eq!((request.outcome, request.events), (Outcome::Ok, 1));
    assert!(seen.lock().unwrap()[0].contains("accept-encoding: identity"));
}

#[tokio::test]
async fn a_server_that_keeps_the_answer_open_holds_the_client_for_a_moment_only() {
    let (url, _) = raw(|_, _, stream| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let _ = stream.write_all(head).and_then(|()| stream.write_all(STREAM.as_bytes()));
        std::thread::sleep(Duration::from_secs(60));
        false
    });
    let request = send(&client(config(&url)), 3).await;
    assert!(request.is_ok(), "{request:?}");
    assert!(request.closed.unwrap() < Nanos::from_ms(20_000.0));
}

#[tokio::test]
async fn what_the_config_says_goes_out_and_nothing_else() {
    let (url, seen) = raw(|_, _, stream| stream_reply(stream));
    let mut config = config(&format!("{url}/?api-version=3"));
    config.headers.insert("x-tenant".to_owned(), Secret::new("staging".to_owned()));
    config.body.insert("temperature".to_owned(), 0.into());
    let client = client(config);
    send(&client, 3).await;
    let seen = seen.lock().unwrap()[0].clone();
    let (head, body) = seen.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions?api-version=3 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("x-tenant: staging") && head.contains(concat!("user-agent: goodput-gate/", env!("CARGO_PKG_VERSION"))));
    assert!(!head.contains("authorization"));
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["temperature"], &body["max_tokens"], &body["min_tokens"]), (&0.into(), &3.into(), &3.into()));
    let loose = client.with("other".to_owned(), false);
    let prepared = loose.prepare(&planned(3), &Prompt::Text("x".to_owned()));
    assert!(!format!("{prepared:?}").contains("ignore_eos"));
}

#[test]
fn secrets_are_not_printed() {
    let mut config = config("http://127.0.0.1:1/v1");
    config.key = Some(Secret::new("sesame".to_owned()));
    config.headers.insert("x-token".to_owned(), Secret::new("sesame".to_owned()));
    let client = client(config);
    assert!(!format!("{client:?}").contains("sesame"));
}

#[test]
fn what_cannot_be_sent_is_refused_before_the_run() {
    let new = |change: &dyn Fn(&mut Config)| {
        let mut config = config("http://127.0.0.1:1/v1");
        change(&mut config);
        Client::new(config, Instant::now()).unwrap_err()
    };
    let error = new(&|config| config.base = Url::parse("ftp://host/").unwrap());
    assert!(matches!(error, ClientError::NotHttp { .. }) && !error.help().is_empty());
    let error = new(&|config| drop(config.headers.insert("x-a".to_owned(), Secret::new("sesame\nx-b: c".to_owned()))));
    assert_eq!(error.to_string(), "the header `x-a` cannot be sent");
    let error = new(&|config| config.key = Some(Secret::new("sesame\n".to_owned())));
    assert!(matches!(error, ClientError::Key));
}

#[tokio::test]
async fn load_makes_a_queue_wait() {
    let server = simulated("queue?slots=1&prefill=50ms&tpot=5ms");
    let client = client(config(&server.url()));
    let due = client.now();
    let one = || client.send(client.prepare(&planned(11), &Prompt::Text("one two".to_owned())), due);
    let answers = futures_util::future::join_all([one(), one(), one(), one()]).await;
    let mut firsts: Vec<Nanos> = answers.iter().map(|request| request.first_token.unwrap()).collect();
    firsts.sort();
    // One after another: each holds the only slot for 50 + 11 × 5 = 105 ms.
    assert!(firsts[0] >= Nanos::from_ms(49.0) && firsts[3] >= Nanos::from_ms(49.0 + 3.0 * 105.0), "{firsts:?}");
    assert!(answers.iter().all(Request::is_ok));
}
