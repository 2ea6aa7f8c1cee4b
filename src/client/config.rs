//! What a client is made from.

use crate::record::Side;
use crate::spec::Timeouts;
use crate::units::Secret;
use crate::wire::Api;
use std::collections::BTreeMap;

/// What a client is made from. The caller has already decided that load, and the key, may go to `base`.
#[derive(Debug, Clone)]
pub struct Config {
    /// Which deployment this is; kept in each request's record.
    pub side: Side,
    /// The base URL, such as `http://127.0.0.1:8000/v1`; the protocol's path is added to it.
    pub base: url::Url,
    /// The protocol.
    pub api: Api,
    /// The model's name. May be empty for [`super::Client::models`] and [`super::Client::wait_ready`] only.
    pub model: String,
    /// When a request is given up.
    pub timeouts: Timeouts,
    /// Sent with each request. Their values are secrets, since `--header` may carry one.
    pub headers: BTreeMap<String, Secret>,
    /// Sent as `authorization: Bearer …`, and only to the origin of `base`.
    pub key: Option<Secret>,
    /// Merged into each request's JSON.
    pub body: serde_json::Map<String, serde_json::Value>,
    /// Ask for exactly as many output tokens as planned (`min_tokens`, `ignore_eos`), not for at most as many.
    pub exact: bool,
    /// Whether the caller allowed a link-local address; names that lead to one are refused else.
    pub link_local: bool,
}
