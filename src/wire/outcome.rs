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

/// Every word of a warning, and what it says.
const WARNINGS: [(&str, &str); 24] = [
    ("bursty_delivery", "all tokens arrived in one read: something between server and client buffers, and tpot cannot be measured"),
    ("choice_without_finish", "one of several choices has no finish reason"),
    ("connection_left_open", "the server did not end the response after its terminator"),
    ("content_filter", "the answer was cut by a content filter"),
    ("data_after_done", "events came after the terminator; they were ignored"),
    ("done_missing", "the stream ended without its terminator, after a finish reason"),
    ("duplicate_finish", "a finish reason came more than once"),
    ("early_finish_reason", "text came after a finish reason"),
    ("finish_reason_missing", "the terminator came without a finish reason"),
    ("first_event_multi_token", "the first event carried several tokens, so ttft is the time of more than one"),
    ("incomplete_chunked_body", "the transport broke after the terminator"),
    ("incomplete_encoding", "the compressed body lacks its end, after the terminator"),
    ("json_repaired", "an event was no valid JSON (NaN, half a surrogate pair, a raw control character) and was read all the same"),
    ("multi_token_events", "events carried several tokens each: itl is a gap between events, not between tokens"),
    ("not_streamed", "the answer came as a whole although a stream was asked for"),
    ("refusal", "the model refused"),
    ("single_token_event", "two or more tokens came as one event: tpot cannot be measured"),
    ("stray_lines", "lines outside of any event were ignored"),
    ("token_count_estimated", "no usage was given: tokens are counted as token-bearing events"),
    ("undecodable_event", "an event was no JSON and was ignored"),
    ("unterminated_event", "the last event had no blank line after it"),
    ("usage_requested_but_absent", "usage was asked for and not given"),
    ("usage_unusable", "usage was given but cannot be meant: 0, or 1 on every event"),
    ("usage_below_events", "usage counts fewer tokens than there were events with text"),
];

impl Warning {
    /// What it says, for people; `None` for a word of another build.
    #[must_use]
    pub fn meaning(self) -> Option<&'static str> {
        WARNINGS.iter().find(|(word, _)| *word == self.0).map(|(_, meaning)| *meaning)
    }

    /// The warning with this word.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        WARNINGS.iter().find(|(word, _)| *word == name).map(|(word, _)| Self(word))
    }
}
