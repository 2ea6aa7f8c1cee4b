//! A streamed answer, event by event at its time.

use super::Fault;
use super::answer::Answer;
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
    reason: &'static str,
    /// Tokens after which its fault comes; all of them without one.
    until: u64,
    written: u64,
    next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Role,
    Tokens,
    Nothing,
}

impl Stream {
    pub(super) fn new(server: Arc<Server>, answer: Answer, schedule: Schedule, output: u64, reason: &'static str) -> Self {
        let until = match schedule.fault {
            None => output,
            Some(Fault::Empty) => 0,
            Some(_) => output / 2,
        };
        Self { server, answer, schedule, output, reason, until, written: 0, next: Next::Role }
    }

    async fn event(&mut self) -> Option<io::Result<Bytes>> {
        if self.next == Next::Role {
            self.next = Next::Tokens;
            let role = self.answer.role();
            if self.server.profile.role && !role.is_empty() {
                return Some(Ok(role.into()));
            }
        }
        if self.next == Next::Nothing {
            return None;
        }
        if self.written < self.until {
            let tokens = self.server.profile.tokens_per_event.min(self.until - self.written);
            let event = self.answer.tokens(self.written, tokens);
            self.written += tokens;
            self.sleep(self.written - 1).await;
            return Some(Ok(event.into()));
        }
        self.next = Next::Nothing;
        self.last().await
    }

    async fn last(&self) -> Option<io::Result<Bytes>> {
        let Some(fault) = self.schedule.fault else {
            return Some(Ok(self.answer.end(self.reason, self.output).into()));
        };
        if fault == Fault::Stall {
            return std::future::pending().await;
        }
        // A fault comes in place of a token, when that would have come.
        self.sleep(self.until).await;
        match fault {
            Fault::Empty => Some(Ok(self.answer.end("stop", 0).into())),
            Fault::Disconnect => Some(Err(io::Error::new(io::ErrorKind::ConnectionAborted, "simulated disconnect"))),
            Fault::InStream => Some(Ok(self.answer.error().into())),
            _ => None,
        }
    }

    async fn sleep(&self, token: u64) {
        self.server.timer.sleep_until(self.server.instant(self.schedule.token(token))).await;
    }
}

/// The body that a client reads; each event is a chunk of its own.
pub(super) fn body(stream: Stream) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
    stream::unfold(stream, |mut stream| async move { stream.event().await.map(|event| (event, stream)) })
}
