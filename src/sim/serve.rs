//! The HTTP face: sockets and the real clock around the engine.

use super::answer::{Answer, Usage};
use super::cache::{BLOCK, PrefixCache};
use super::engine::{Ask, Engine, Schedule};
use super::stream::{self, Stream};
use super::timer::Timer;
use super::{Fault, Profile, request};
use crate::wire::{Api, Spelling, parse_request, prompt_blocks};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use bytes::Bytes;
use serde_json::json;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::oneshot;

/// Bytes of a request's body that are read.
const MAX_REQUEST: usize = 16 << 20;

/// A simulated server that is running on its own thread. Stops, and has stopped, when dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// The base URL to send load to: `http://ADDRESS/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the server was printed by its own thread.
            let _ = thread.join();
        }
    }
}

/// What all requests share.
pub(super) struct Server {
    pub(super) profile: Profile,
    pub(super) timer: Timer,
    start: Instant,
    state: Mutex<(u64, Engine)>,
    cache: Mutex<PrefixCache>,
}

impl Server {
    /// The instant of an offset from the server's start.
    pub(super) fn instant(&self, offset: std::time::Duration) -> Instant {
        self.start + offset
    }

    /// Tokens of the prompt that its prefix cache holds; the prompt is in it from now on.
    fn cached(&self, api: Api, body: &[u8], prompt: u64) -> u64 {
        if self.profile.cache == 0 {
            return self.profile.cached.min(prompt);
        }
        let blocks = prompt_blocks(api, body, request::before_words(api), BLOCK);
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).visit(&blocks, prompt)
    }

    fn arrive(&self, arrival: Instant, ask: Ask) -> (u64, Schedule) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.0;
        state.0 += 1;
        let schedule = state.1.arrive(arrival.saturating_duration_since(self.start), ask);
        (number, schedule)
    }
}

/// Starts serving `profile` on `listener`, on a thread and a runtime of its own.
///
/// # Errors
/// Where the listener cannot be used, or no thread can be started.
pub fn start(profile: Profile, listener: TcpListener) -> std::io::Result<Running> {
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let timer = Timer::start()?;
    let engine = Engine::new(profile.clone());
    let cache = Mutex::new(PrefixCache::of_tokens(profile.cache));
    let server = Arc::new(Server { profile, timer, start: Instant::now(), state: Mutex::new((0, engine)), cache });
    let (stop, stopped) = oneshot::channel::<()>();
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let thread = std::thread::Builder::new().name("sim".to_owned()).spawn(move || {
        runtime.block_on(async {
            // Without Nagle's algorithm each event leaves when it is written.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            tokio::select! {
                _ = axum::serve(listener, router(server)) => {}
                _ = stopped => {}
            }
        });
    })?;
    Ok(Running { address, stop: Some(stop), thread: Some(thread) })
}

fn router(server: Arc<Server>) -> axum::Router {
    axum::Router::new()
        .route("/health", get(|| async { Json(json!({ "status": "ok" })) }))
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(text))
        // As vLLM and SGLang spell it.
        .route("/reset_prefix_cache", post(forget))
        .route("/flush_cache", post(forget))
        .fallback(|| async { refuse(404, "there is nothing at this path") })
        .layer(axum::extract::DefaultBodyLimit::max(MAX_REQUEST))
        .with_state(server)
}

async fn models(State(server): State<Arc<Server>>) -> Response {
    let model = json!({ "id": server.profile.model, "object": "model", "owned_by": "sim", "max_model_len": server.profile.context });
    Json(json!({ "object": "list", "data": [model] })).into_response()
}

async fn forget(State(server): State<Arc<Server>>) -> StatusCode {
    server.cache.lock().unwrap_or_else(PoisonError::into_inner).clear();
    StatusCode::OK
}

async fn chat(State(server): State<Arc<Server>>, body: Result<Bytes, BytesRejection>) -> Response {
    complete(server, Api::Chat, body).await
}

async fn text(State(server): State<Arc<Server>>, body: Result<Bytes, BytesRejection>) -> Response {
    complete(server, Api::Completions, body).await
}

async fn complete(server: Arc<Server>, api: Api, body: Result<Bytes, BytesRejection>) -> Response {
    let arrival = Instant::now();
    let Ok(body) = body else { return refuse(413, "the request is too large") };
    let asked = match parse_request(api, &body) {
        Ok(asked) => asked,
        Err(error) => return refuse(400, &error.to_string()),
    };
    let profile = &server.profile;
    if asked.model != profile.model {
        return refuse(404, "the model does not exist; see /v1/models");
    }
    let (prompt, most) = (request::prompt_tokens(api, &asked), request::max_tokens(&asked));
    if prompt.saturating_add(most) > profile.context {
        return refuse(400, "the prompt and max_tokens are longer than the model's context");
    }
    let output = request::output_tokens(&asked, profile.natural);
    let cached = server.cached(api, &body, prompt);
    // What is cached needs no prefill; a fixed `cached` is only told.
    let prefilled = if profile.cache > 0 { prompt - cached } else { prompt };
    let (number, schedule) = server.arrive(arrival, Ask { prompt_tokens: prefilled, output_tokens: output });
    match schedule.fault {
        Some(Fault::Http500) => return refuse(500, "simulated failure"),
        Some(Fault::Http429) => return refuse(429, "simulated overload"),
        Some(Fault::Http503) => return refuse(503, "simulated loading"),
        _ => {}
    }
    let usage = profile.usage && (asked.include_usage || !asked.stream);
    let usage = usage.then_some(Usage { prompt, cached });
    let answer = Answer::new(api, number, &profile.model, usage);
    let reason = if output < most { "stop" } else { "length" };
    if asked.stream {
        let head = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
        let body = Stream::new(Arc::clone(&server), answer, schedule, output, reason);
        return (head, Body::from_stream(stream::body(body))).into_response();
    }
    server.timer.sleep_until(server.instant(schedule.token(output.saturating_sub(1)))).await;
    match schedule.fault {
        None => Json(answer.whole(output, reason)).into_response(),
        Some(Fault::Empty) => Json(answer.whole(0, "stop")).into_response(),
        Some(Fault::Stall) => std::future::pending().await,
        Some(_) => refuse(500, "simulated failure"),
    }
}

fn refuse(status: u16, message: &str) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (code, [(header::CONTENT_TYPE, "application/json")], Spelling::error_body(status, message)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::parse;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    fn ask(server: &Running, path: &str, body: &str) -> (String, Duration) {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let start = Instant::now();
        let length = body.len();
        let method = if body.is_empty() { "GET" } else { "POST" };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: sim\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer, start.elapsed())
    }

    fn running(url: &str) -> Running {
        start(parse(url).unwrap(), TcpListener::bind("127.0.0.1:0").unwrap()).unwrap()
    }

    #[test]
    fn each_token_is_a_chunk_and_none_is_early() {
        let server = running("sim://steady?ttft=80ms&tpot=10ms&tokens_per_event=2");
        let body = r#"{"model":"sim","messages":[{"content":"a b"}],"stream":true,"max_tokens":5,"stream_options":{"include_usage":true}}"#;
        let (answer, took) = ask(&server, "/v1/chat/completions", body);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("content-type: text/event-stream"), "{answer}");
        assert_eq!(answer.matches("\"content\":\"").count(), 4, "a role and three events for five tokens: {answer}");
        assert!(answer.contains("\"prompt_tokens\":12") && answer.contains("\"completion_tokens\":5"), "{answer}");
        assert!(answer.contains("\"finish_reason\":\"length\"") && answer.contains("data: [DONE]"));
        assert!(took >= Duration::from_millis(80 + 4 * 10), "{took:?}");
    }

    #[test]
    fn an_answer_need_not_be_streamed() {
        let server = running("sim://steady?ttft=1ms&tpot=1ms&natural=3");
        let (answer, _) = ask(&server, "/v1/completions", r#"{"model":"sim","prompt":"a b","max_tokens":8}"#);
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["choices"][0]["text"], " the gate opens");
        assert_eq!(body["choices"][0]["finish_reason"], "stop");
        assert_eq!(body["usage"]["completion_tokens"], 3);
    }

    #[test]
    fn what_is_not_there_is_refused_as_servers_do() {
        let server = running("sim://steady?context=20");
        for (path, body, status) in [
            ("/v1/other", "", "404"),
            ("/v1/completions", "{", "400"),
            ("/v1/completions", r#"{"model":"gpt","prompt":"a"}"#, "404"),
            ("/v1/completions", r#"{"model":"sim","prompt":"a","max_tokens":20}"#, "400"),
        ] {
            let (answer, _) = ask(&server, path, body);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains("\"error\":{"), "{answer}");
        }
        let (health, _) = ask(&server, "/health", "");
        assert!(health.starts_with("HTTP/1.1 200 OK"));
    }

    #[test]
    fn a_dropped_server_has_stopped() {
        let server = running("sim://steady");
        let address = server.address;
        drop(server);
        assert!(TcpStream::connect(address).is_err());
    }
}
