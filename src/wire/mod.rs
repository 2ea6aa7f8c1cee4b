//! The protocols, in both directions and without a socket: bytes in, a [`Reading`] out; a request's body out of what is asked.

mod outcome;
mod reading;

pub use outcome::{ErrorKind, Failure, Outcome, TokenSource, Warning};
pub use reading::Reading;

/// A protocol this build can speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST /chat/completions`, OpenAI's chat stream.
    Chat,
    /// `POST /completions`, OpenAI's older text stream.
    Completions,
}

impl Api {
    /// Its word in specs and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
        }
    }
}
