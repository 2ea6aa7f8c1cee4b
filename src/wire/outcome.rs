//! How one request ended, and what was odd about it.

/// The one kind a failed request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// No connection: refused, unresolved, TLS, or not within `timeout.connect`.
    Connect,
    /// One of the other three timeouts ran out.
    Timeout,
    /// An answer other than 2xx, or a redirect that may not be followed.
    HttpStatus,
    /// The transport broke before the body's proper end.
    Disconnect,
    /// A clean end without finish reason, terminator or the protocol's end mark.
    Truncated,
    /// What came is not this protocol.
    Malformed,
    /// The server reported an error inside its answer, or under HTTP 200.
    ServerErrorInStream,
    /// Finished with no generated token.
    Empty,
}

impl ErrorKind {
    /// Every kind, in the order of the docs.
    pub const ALL: [Self; 8] = [
        Self::Connect,
        Self::Timeout,
        Self::HttpStatus,
        Self::Disconnect,
        Self::Truncated,
        Self::Malformed,
        Self::ServerErrorInStream,
        Self::Empty,
    ];

    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::HttpStatus => "http_status",
            Self::Disconnect => "disconnect",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::ServerErrorInStream => "server_error_in_stream",
            Self::Empty => "empty",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The one kind.
    pub kind: ErrorKind,
    /// The server's or transport's own words: at most 300 characters, no control characters. Kept in the run file only.
    pub message: String,
}

impl Failure {
    /// A failure with its message cut and cleaned for keeping.
    #[must_use]
    pub fn new(kind: ErrorKind, message: &str) -> Self {
        let message = message.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect();
        Self { kind, message }
    }
}

/// How one request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A whole answer with at least one generated token.
    Ok,
    /// Anything else.
    Error(Failure),
}

/// Where a token count comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenSource {
    /// The server's `usage`.
    Usage,
    /// A tokenizer of ours.
    Tokenizer,
    /// Counted token-bearing events: an estimate.
    Chunks,
}

impl TokenSource {
    /// Its word in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Tokenizer => "tokenizer",
            Self::Chunks => "chunks",
        }
    }

    /// The source with this word.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Usage, Self::Tokenizer, Self::Chunks].into_iter().find(|source| source.name() == name)
    }
}

/// Something odd in an answer that did not make it fail. The words are kept in the run file's `warnings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Warning(pub &'static str);
