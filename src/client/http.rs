//! The client itself: made once, cheap to clone.

use super::connect::{Ahead, Measure};
use super::exchange::{self, Exchange};
use super::resolve::NoLinkLocal;
use super::{ClientError, Config};
use crate::plan::{Planned, Prompt};
use crate::record::Request;
use crate::spec::ExactOutput;
use crate::units::Nanos;
use ::http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use reqwest::redirect;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use url::{Host, Url};

/// Redirects that one request may follow.
const MAX_REDIRECTS: usize = 5;
/// Idle connections are closed before common servers close them (uvicorn and llama.cpp: 5 s), so that no request meets a
/// connection that is just being closed.
const IDLE: Duration = Duration::from_secs(4);
/// Bytes of an HTTP/2 header list; HTTP/1 heads are bounded by hyper (100 fields, about 400 kB).
const MAX_HEADER_LIST: u32 = 64 << 10;
/// Connections that are opened at the same time, ahead of the load: no more than the shortest accept queues hold.
const OPENING: usize = 64;
/// HTTP/2 windows, wide enough that flow control never holds a token back.
const WINDOW: u32 = 4 << 20;

/// Sends requests to one deployment and tells what became of them. Clones share the connections.
///
/// Nothing that may have reached a server is sent twice; only an idle connection that was closed before a byte of a request was
/// written to it is replaced by a new one.
///
/// Proxies: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are honoured as by other clients, but never for a loopback
/// target. Certificates: the system's roots; `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them on Linux.
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) http: reqwest::Client,
    pub(super) config: Arc<Config>,
    pub(super) headers: HeaderMap,
    pub(super) epoch: Instant,
    ahead: Ahead,
    /// Certificate authorities beside the system's.
    pem: Arc<[u8]>,
    /// Each request asks for its connection to be closed.
    closes: bool,
}

/// A request that is ready to leave, so that nothing but sending remains when it is due.
#[derive(Debug, Clone)]
pub struct Prepared {
    planned: Planned,
    body: Bytes,
}

impl Client {
    /// A client for `config`, whose every instant counts from `epoch`, the run's start.
    ///
    /// # Errors
    /// [`ClientError`]: an address that is not HTTP, a header that cannot be sent, TLS that cannot be set up.
    pub fn new(config: Config, epoch: Instant) -> Result<Self, ClientError> {
        Self::trusting(config, epoch, &[])
    }

    /// Like [`Client::new`], trusting also the certificate authorities of a PEM file's text.
    ///
    /// # Errors
    /// [`ClientError`], also where the text is no PEM file.
    pub fn trusting(config: Config, epoch: Instant, pem: &[u8]) -> Result<Self, ClientError> {
        if !matches!(config.base.scheme(), "http" | "https") || !config.base.has_host() {
            return Err(ClientError::NotHttp { url: config.base });
        }
        let headers = headers(&config)?;
        let ahead = Ahead::default();
        let http = http(&config, pem, ahead.clone())?;
        Ok(Self { http, config: Arc::new(config), headers, epoch, ahead, pem: pem.into(), closes: false })
    }

    /// The same deployment, asked for `model` and, where `exact`, for exactly the planned number of tokens: what the start-up
    /// probes found. Connections are shared.
    #[must_use]
    pub fn with(&self, model: String, exact: bool) -> Self {
        let config = Config { model, exact, ..Config::clone(&self.config) };
        Self { config: Arc::new(config), ..self.clone() }
    }

    /// The same, with every instant counted from another run's start. Connections are shared.
    #[must_use]
    pub fn from_epoch(&self, epoch: Instant) -> Self {
        Self { epoch, ..self.clone() }
    }

    /// The same, for a server that closes its connection after every answer, whatever it says of keep-alive (llama.cpp does): each
    /// request asks for that, so that none is sent into a connection that is just being closed.
    #[must_use]
    pub fn one_request_a_connection(&self) -> Self {
        let mut headers = self.headers.clone();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        Self { headers, closes: true, ..self.clone() }
    }

    /// Builds a planned request's body, before it is due.
    #[must_use]
    pub fn prepare(&self, planned: &Planned, prompt: &Prompt) -> Prepared {
        self.prepare_as(planned, prompt, ExactOutput::Auto)
    }

    /// The same, where the workload says whether exactly the planned number of tokens is asked for.
    #[must_use]
    pub fn prepare_as(&self, planned: &Planned, prompt: &Prompt, exact: ExactOutput) -> Prepared {
        let exact = match exact {
            ExactOutput::Always => true,
            ExactOutput::Never => false,
            ExactOutput::Auto => self.config.exact,
        };
        let body = exchange::body(&self.config, prompt, planned.asked_output, exact);
        Prepared { planned: planned.clone(), body }
    }

    /// Sends it now and follows it to its end. `scheduled` is when it was due, from the epoch. Never an error: what fails is a
    /// record too. Dropping the future gives the request up and closes its connection.
    pub async fn send(&self, prepared: Prepared, scheduled: Nanos) -> Request {
        let Prepared { planned, body } = prepared;
        let exchange = exchange::post(self, body, planned.asked_output).await;
        record(planned, self.config.side, scheduled, exchange)
    }

    /// Opens up to `count` connections for the requests that come next, and sends nothing on them: opening all of them at once, when
    /// the load begins, would be counted as the server's own time. Not where each request closes its connection. How many are open.
    ///
    /// What cannot be opened is left to the requests themselves, whose records then say why.
    pub async fn open_ahead(&self, count: usize) -> usize {
        if self.closes {
            return 0;
        }
        // A client of its own, whose pool is empty: no request of it ever finds a connection to be sent on.
        let Ok(opener) = http(&self.config, &self.pem, self.ahead.clone()) else { return 0 };
        let mut opened = self.ahead.len();
        while opened < count {
            let mut opening = tokio::task::JoinSet::new();
            for _ in 0..OPENING.min(count - opened) {
                opening.spawn(Ahead::open(opener.get(self.config.base.clone()).send()));
            }
            while opening.join_next().await.is_some() {}
            let now = self.ahead.len();
            if now <= opened {
                break;
            }
            opened = now;
        }
        self.ahead.len()
    }

    /// Closes what [`Client::open_ahead`] opened and nobody took.
    pub fn close_ahead(&self) {
        self.ahead.clear();
    }

    /// The base with `path` added.
    pub(super) fn url(&self, path: &str) -> Url {
        let mut url = self.config.base.clone();
        let joined = format!("{}/{}", url.path().trim_end_matches('/'), path.trim_start_matches('/'));
        url.set_path(&joined);
        url
    }

    /// Now, from the epoch.
    #[must_use]
    pub fn now(&self) -> Nanos {
        self.epoch.elapsed().into()
    }
}

fn record(planned: Planned, side: crate::record::Side, scheduled: Nanos, exchange: Exchange) -> Request {
    let Exchange { sent, connect, headers, closed, status, reading } = exchange;
    let from_scheduled = |at: Option<Nanos>| at.map(|at| at.since(scheduled));
    Request {
        id: planned.id,
        side,
        part: planned.part,
        session: planned.session,
        level: planned.level,
        round: planned.round,
        turn: planned.turn,
        scheduled,
        sent,
        connect,
        headers: from_scheduled(headers),
        first_token: from_scheduled(reading.first_token),
        first_answer: from_scheduled(reading.first_answer),
        last_token: from_scheduled(reading.last_token),
        closed: from_scheduled(Some(closed)),
        input_tokens: reading.input_tokens,
        output_tokens: reading.output_tokens,
        asked_input: planned.asked_input,
        asked_output: planned.asked_output,
        cached_tokens: reading.cached_tokens,
        token_source: reading.token_source,
        events: reading.events,
        // The gaps themselves tell it.
        stall: None,
        gaps: reading.gaps,
        finish_reason: reading.finish_reason,
        outcome: reading.outcome,
        http_status: status,
        warnings: reading.warnings.iter().map(|warning| warning.0.to_owned()).collect(),
    }
}

fn headers(config: &Config) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    // A compressed stream is read all the same, but none is asked for: compressing holds tokens back.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in &config.headers {
        let bad = || ClientError::Header { name: name.clone() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    if let Some(key) = &config.key {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", key.reveal())).map_err(|_| ClientError::Key)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

fn http(config: &Config, pem: &[u8], ahead: Ahead) -> Result<reqwest::Client, ClientError> {
    // Fails only where a provider is there already, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("goodput-gate/", env!("CARGO_PKG_VERSION")))
        .redirect(within_origin(&config.base))
        .referer(false)
        .retry(reqwest::retry::never())
        .connect_timeout(config.timeouts.connect)
        .connector_layer(Measure(ahead))
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
        .http2_initial_stream_window_size(WINDOW)
        .http2_initial_connection_window_size(WINDOW)
        .http2_max_header_list_size(MAX_HEADER_LIST);
    if is_loopback(&config.base) {
        builder = builder.no_proxy();
    }
    if !config.link_local {
        builder = builder.dns_resolver(std::sync::Arc::new(NoLinkLocal));
    }
    let setup = |error: &dyn std::error::Error| ClientError::Setup(exchange::chain(error));
    if config.base.scheme() == "http" {
        // No redirect leaves the scheme, so no certificate is ever looked at, and a container without roots must do.
        let tls = rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
        builder = builder.tls_backend_preconfigured(tls);
    } else {
        let extra = reqwest::Certificate::from_pem_bundle(pem).map_err(|error| setup(&error))?;
        builder = builder.tls_certs_merge(extra);
    }
    builder.build().map_err(|error| setup(&error.without_url()))
}

/// Follows redirects that keep the POST and the origin, so that neither load nor key goes where the caller did not send them.
fn within_origin(base: &Url) -> redirect::Policy {
    let origin = base.origin();
    redirect::Policy::custom(move |attempt| {
        let keeps_post = matches!(attempt.status().as_u16(), 307 | 308);
        if keeps_post && attempt.url().origin() == origin && attempt.previous().len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}
