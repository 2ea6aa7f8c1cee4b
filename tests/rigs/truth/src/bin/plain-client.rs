//! What a plain client reaches: tokio's single-threaded runtime, hyper, one connection a stream, one stamp a frame, and a search for
//! the one key that matters. It judges nothing and checks next to nothing; the gate is measured beside it.
//!
//! `plain-client PORT STREAMS REQUESTS TOKENS` prints P99 of TTFT and of the gaps in milliseconds, and tokens, as JSON.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

#[derive(Default)]
struct Seen {
    firsts: Vec<f64>,
    gaps: Vec<f64>,
    tokens: u64,
}

fn p99(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) * 99 / 100).copied().unwrap_or(0.0)
}

/// Whether an event's delta has text in it.
fn has_text(event: &[u8]) -> bool {
    const KEY: &[u8] = b"\"content\":\"";
    memchr::memmem::find(event, KEY).is_some_and(|at| event.get(at + KEY.len()) != Some(&b'"'))
}

async fn one(sender: &mut http1::SendRequest<Full<Bytes>>, body: &Bytes, seen: &RefCell<Seen>) {
    let request = hyper::Request::post("/v1/chat/completions").header("host", "127.0.0.1").header("content-type", "application/json");
    let request = request.body(Full::new(body.clone())).expect("a request");
    let sent = Instant::now();
    let mut answer = sender.send_request(request).await.expect("an answer").into_body();
    let (mut buffer, mut last) = (Vec::with_capacity(16_384), None::<Instant>);
    while let Some(Ok(frame)) = answer.frame().await {
        let now = Instant::now();
        let Some(data) = frame.data_ref() else { continue };
        buffer.extend_from_slice(data);
        let mut start = 0;
        while let Some(end) = memchr::memmem::find(&buffer[start..], b"\n\n") {
            let event = &buffer[start..start + end];
            start += end + 2;
            if has_text(event) {
                let mut seen = seen.borrow_mut();
                seen.tokens += 1;
                match last.replace(now) {
                    None => seen.firsts.push((now - sent).as_secs_f64() * 1e3),
                    Some(last) => seen.gaps.push((now - last).as_secs_f64() * 1e3),
                }
            }
        }
        buffer.drain(..start);
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [port, streams, requests, tokens] = numbers[..] else { panic!("usage: plain-client PORT STREAMS REQUESTS TOKENS") };
    let port = u16::try_from(port).expect("a port");
    let body = Bytes::from(format!(
        r#"{{"model":"truth","messages":[{{"role":"user","content":"hello"}}],"max_tokens":{tokens},"stream":true,"stream_options":{{"include_usage":true}}}}"#
    ));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (left, seen) = (Rc::new(Cell::new(requests)), Rc::new(RefCell::new(Seen::default())));
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut workers = vec![];
        for _ in 0..streams.min(requests) {
            let (left, seen, body) = (left.clone(), seen.clone(), body.clone());
            workers.push(tokio::task::spawn_local(async move {
                let socket = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
                socket.set_nodelay(true).expect("no delay");
                let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await.expect("a handshake");
                tokio::task::spawn_local(connection);
                while left.get() > 0 {
                    left.set(left.get() - 1);
                    sender.ready().await.expect("a ready connection");
                    one(&mut sender, &body, &seen).await;
                }
            }));
        }
        for worker in workers {
            worker.await.expect("no panic");
        }
    });
    let mut seen = seen.borrow_mut();
    let (ttft, gap, tokens) = (p99(&mut seen.firsts.clone()), p99(&mut seen.gaps.clone()), seen.tokens);
    seen.firsts.clear();
    println!("{{\"ttft_p99\": {ttft}, \"gap_p99\": {gap}, \"tokens\": {tokens}}}");
}
