//! HTTP: one request at a time, its time stamps, its failure. Never decides when to send, and never sends anything twice.

mod config;
mod connect;
mod error;
mod exchange;
mod http;
mod probe;
mod ready;
mod resolve;
mod stamp;

pub use config::Config;
pub use error::{ClientError, TargetError};
pub use http::{Client, Prepared};
pub use probe::{ExactSupport, PROBE_WORDS, Probes};

#[cfg(test)]
mod tests;
