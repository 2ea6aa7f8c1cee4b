//! What makes a target, or a client's own settings, unusable. A failing request is a record and no error of this kind.

use crate::wire::{ErrorKind, Failure};
use url::Url;

/// A client could not be made from its settings.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The base is not `http` or `https`, or has no host.
    #[error("{} is no http or https address", place(url))]
    NotHttp {
        /// As given.
        url: Url,
    },
    /// A header that HTTP cannot carry.
    #[error("the header `{name}` cannot be sent")]
    Header {
        /// Its name; the value may be a secret.
        name: String,
    },
    /// The API key holds characters that a header cannot carry.
    #[error("the API key cannot be sent in a header")]
    Key,
    /// TLS could not be set up, most often since no root certificates were found.
    #[error("the HTTP client could not be set up: {0}")]
    Setup(String),
}

impl ClientError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotHttp { .. } => "give the server's base URL, such as http://127.0.0.1:8000/v1".to_owned(),
            Self::Header { .. } => "names are letters, digits and dashes; values are one line of printable ASCII".to_owned(),
            Self::Key => "check the variable that holds it for line breaks and blanks".to_owned(),
            Self::Setup(_) => "check that the system's root certificates are installed, or set SSL_CERT_FILE".to_owned(),
        }
    }
}

/// An address without what may be secret in it: user, password, query.
fn place(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn waited(seconds: u64) -> String {
    if seconds == 0 { String::new() } else { format!(" after {seconds} s") }
}

/// `HTTP 404: `, unless the message says it.
fn status_words(status: Option<u16>, failure: &Failure) -> String {
    let words = status.map(|code| format!("HTTP {code}")).unwrap_or_default();
    if words.is_empty() || failure.message.starts_with(&words) { String::new() } else { format!("{words}: ") }
}

/// The target could not be used for what the start of a run asks of it.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Not ready within the time that the caller gave.
    #[error("{} is not ready{}: {}", place(url), waited(*waited_s), failure.message)]
    NotReady {
        /// What was asked.
        url: Url,
        /// The limit, whole seconds.
        waited_s: u64,
        /// Why it was not.
        failure: Failure,
    },
    /// A start-up request failed.
    #[error("{}: {}{}", place(url), status_words(*status, failure), failure.message)]
    Failed {
        /// What was asked.
        url: Url,
        /// The answer's status, where one came.
        status: Option<u16>,
        /// Why.
        failure: Failure,
    },
    /// `GET /models` answered, but with no list of models.
    #[error("{} does not list its models", place(url))]
    NoModels {
        /// What was asked.
        url: Url,
    },
}

impl TargetError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotReady { .. } => "is the server up at that address? give it longer with `--wait 300s`".to_owned(),
            Self::Failed { status: Some(401 | 403), .. } => {
                "set GOODPUT_API_KEY, or name the variable that holds the key with --api-key-env".to_owned()
            }
            Self::Failed { status: Some(404), .. } => {
                "is the base URL right (most servers want it to end in /v1), and does the server serve that model?".to_owned()
            }
            Self::Failed { failure, .. } if failure.kind == ErrorKind::Connect => {
                "is the server up at that address? `--wait 120s` waits for it".to_owned()
            }
            Self::Failed { .. } => "try the same request by hand; the server's log may tell more".to_owned(),
            Self::NoModels { .. } => "name the model: `target.model` or --model".to_owned(),
        }
    }

    /// Whether no further request could mend it: no connection, or HTTP 401, 403 or 404, or no model to ask for.
    #[must_use]
    pub fn is_unusable(&self) -> bool {
        match self {
            Self::NoModels { .. } => true,
            // A server that is there and still loading is no unusable target.
            Self::NotReady { failure, .. } => failure.kind == ErrorKind::Connect,
            Self::Failed { status, failure, .. } => {
                failure.kind == ErrorKind::Connect || (failure.kind == ErrorKind::HttpStatus && matches!(status, Some(401 | 403 | 404)))
            }
        }
    }
}
