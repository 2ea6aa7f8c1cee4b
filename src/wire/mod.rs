//! The protocols, in both directions and without a socket: bytes in, a [`Reading`] out; a request's body out of what is asked.

mod answer;
mod chat;
mod chunk;
mod completions;
mod encoding;
mod fast;
mod head;
mod json;
mod models;
mod outcome;
mod reader;
mod reading;
mod request;
mod serve;
mod sse;

pub use encoding::{Decoder, EncodingError};
pub use head::{Ending, Head, Next};
pub use models::{ModelInfo, parse_models};
pub use outcome::{ErrorKind, Failure, Outcome, TokenSource, Warning};
pub use reader::AnswerReader;
pub use reading::Reading;
pub use request::{Ask, OWNED_KEYS, Prompt, body, path};
pub use serve::{Asked, BadRequest, DONE, Spelling, parse_request, prompt_blocks};
pub use sse::{MAX_EVENT, SseItem, SseReader, TooLong};

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
