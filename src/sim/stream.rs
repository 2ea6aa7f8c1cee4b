//! A streamed answer, event by event at its time.

use super::Fault;
use super::answer::{self, Answer};
use super::engine::Schedule;
use super::serve::Server;
use bytes::Bytes;
use futures_util::stream;
use std::io;
use std::sync::Arc;

/// A streamed answer that has been written up to some token.
pub(super) struct Stream {
    server: Arc<Server>,
    answer: Answer,
    schedule: Schedule,
    output: u64,
    /// Tokens after which its fault comes; all of them without one.
    until: u64,
    written: u64,
    state: State,
    reason: String,
    usage: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Role,
    Tokens,
    Over,
}

impl Stream {
    pub(super) fn new(server: Arc<Server>, answer: Answer, schedule: Schedule, output: u64) -> Self {
        let until = match schedule.fault {
            None => output,
            Some(Fault::Empty) => 0,
            Some(_) => output / 2,
        };
        Self { server, answer, schedule, output, until, written: 0, state: State::Role, reason: String::new(), usage: None }
    }

    /// How it ends where it has no fault.
    pub(super) fn end(self, reason: &str, usage: Option<u64>) -> Self {
        Self { reason: reason.to_owned(), usage, ..self }
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.state == State::Role {
            self.state = State::Tokens;
            if self.server.profile.role && self.answer.is_chat() {
                return Some(Ok(self.answer.role().into()));
            }
        }
        if self.state == State::Over {
            return None;
        }
        if self.written < self.until {
            let tokens = self.server.profile.tokens_per_event.min(self.until - self.written);
            // The last token's event and the end of the stream are written apart, as servers do.
            let text = self.answer.tokens(self.written, tokens);
            self.written += tokens;
            self.sleep(self.written - 1).await;
            return Some(Ok(text.into()));
        }
        self.state = State::Over;
        self.last().await
    }

    async fn last(&mut self) -> Option<io::Result<Bytes>> {
        match self.schedule.fault {
            None => Some(Ok(self.answer.end(&self.reason, self.usage).into())),
            Some(Fault::Empty) => {
                self.sleep(0).await;
                Some(Ok(self.answer.end("stop", self.usage.map(|_| 0)).into()))
            }
            Some(Fault::Truncated) => None,
            Some(Fault::Stall) => std::future::pending().await,
            Some(Fault::Disconnect) => {
                self.sleep(self.until).await;
                Some(Err(io::Error::new(io::ErrorKind::ConnectionAborted, "simulated disconnect")))
            }
            Some(Fault::InStream | Fault::Http500 | Fault::Http429 | Fault::Http503) => {
                self.sleep(self.until.min(self.output)).await;
                Some(Ok(answer::event(&answer::error("simulated failure", 500)).into()))
            }
        }
    }

    async fn sleep(&self, token: u64) {
        self.server.timer.sleep_until(self.server.instant(self.schedule.token(token))).await;
    }
}

/// The body that a client reads; each event is a chunk of its own.
pub(super) fn body(stream: Stream) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
    stream::unfold(stream, |mut stream| async move { stream.next().await.map(|event| (event, stream)) })
}
