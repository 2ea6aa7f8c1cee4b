//! `target`: where the load goes.

use crate::wire::Api;
use std::collections::BTreeMap;
use std::time::Duration;

/// Where the load goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The base URL; `None` where the spec names none.
    pub url: Option<TargetUrl>,
    /// Shown in reports instead of the URL.
    pub alias: Option<String>,
    /// The protocol.
    pub api: ApiChoice,
    /// The model's name; `None` is `auto`, the first of `GET /models`.
    pub model: Option<String>,
    /// A label that is shown and compared, and figures that feed advice and cost.
    pub hardware: Option<Hardware>,
    /// Size of the model's weights in bytes, for advice.
    pub model_bytes: Option<f64>,
    /// Where the server's own metrics are.
    pub metrics: MetricsChoice,
    /// When a request is given up.
    pub timeout: Timeouts,
    /// Merged into each request's JSON; never holds a key that the gate owns.
    pub body: serde_json::Map<String, serde_json::Value>,
    /// Sent with each request; never a credential.
    pub headers: BTreeMap<String, String>,
}

/// A base URL that load may be sent to, once the caller's permissions were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetUrl {
    /// `http://` or `https://`.
    Http(url::Url),
    /// `sim://…`, the built-in simulated server; the text as written.
    Sim(String),
}

/// `target.api`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiChoice {
    /// A protocol this build speaks.
    Fixed(Api),
    /// Probe for it.
    Auto,
}

/// `target.hardware`.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// A free label.
    pub name: String,
    /// Memory bandwidth, bytes per second.
    pub bandwidth: Option<f64>,
    /// Price per hour, in the user's own currency.
    pub price_per_hour: Option<f64>,
}

/// `target.metrics`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricsChoice {
    /// Not written: tried beside the URL.
    Beside,
    /// `none`.
    Off,
    /// An address that was allowed.
    At(url::Url),
}

/// `target.timeout`: when a request is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Opening the connection.
    pub connect: Duration,
    /// From sending to the first token.
    pub first_token: Duration,
    /// Between two token-bearing events.
    pub between_tokens: Duration,
    /// The whole request.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_token: Duration::from_secs(60),
            between_tokens: Duration::from_secs(30),
            total: Duration::from_secs(300),
        }
    }
}
