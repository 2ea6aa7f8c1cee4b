//! What the transport tells about an answer beside its bytes.

/// The part of an answer's head that decides how its body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// The HTTP status.
    pub status: u16,
    /// `content-type`.
    pub content_type: Option<&'a str>,
    /// `content-encoding`.
    pub content_encoding: Option<&'a str>,
}

/// How the transport ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The body ended as HTTP says it should.
    Clean,
    /// The client stopped reading because [`Next`] told it to.
    Stopped,
    /// The transport broke before the body's proper end; in its own words.
    Broken(String),
    /// One of the client's timeouts ran out; which, in words.
    TimedOut(String),
}

/// What the client should do after a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Read on.
    Read,
    /// The answer's terminator came. Wait for the body's end for a short grace only (a keep-alive connection needs it), then finish
    /// with [`Ending::Stopped`].
    Linger,
    /// Nothing that may still come can be of use: finish with [`Ending::Stopped`] and drop the connection.
    Stop,
}
