//! The thread that writes the run file, so that neither compressing nor the disk ever delays a send.

use crate::record::{Batch, ClientSample, Conditions, End, Recording, Request, RoundEnd};
use crate::store::{RunFile, StoreError};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// What is written.
pub(super) enum Piece {
    /// A whole round with its requests.
    Round(RoundEnd, Vec<Request>),
    /// Requests outside of whole rounds.
    Rest(Vec<Request>),
    /// A second of the client's health; kept until the next round.
    Health(ClientSample),
    /// A look at all that came before it, on the writer's thread, so that no send waits for it.
    Look(Box<dyn FnOnce(&mut Recording) + Send>),
}

/// The thread and the way to it.
pub(super) struct Writer {
    pieces: mpsc::Sender<Piece>,
    thread: JoinHandle<Written>,
}

/// What the thread wrote, and kept.
pub(super) struct Written {
    recording: Recording,
    file: RunFile,
    failure: Option<StoreError>,
}

impl Writer {
    /// Starts the thread. The file is touched by the first round only.
    pub(super) fn start(conditions: Conditions, file: RunFile) -> std::io::Result<Self> {
        let (pieces, incoming) = mpsc::channel();
        let recording =
            Recording { conditions, requests: Vec::new(), rounds: Vec::new(), client: Vec::new(), end: None, damage: Vec::new() };
        let written = Written { recording, file, failure: None };
        let thread = std::thread::Builder::new().name("run-file".to_owned()).spawn(move || written.write(&incoming))?;
        Ok(Self { pieces, thread })
    }

    /// Hands a piece over. A thread that died is found at [`Writer::finish`].
    pub(super) fn send(&self, piece: Piece) {
        let _ = self.pieces.send(piece);
    }

    /// Waits until all is written. A panic of the thread is passed on.
    pub(super) fn finish(self) -> Written {
        drop(self.pieces);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Written {
    fn write(mut self, incoming: &mpsc::Receiver<Piece>) -> Self {
        let mut batch = Batch::new();
        batch.conditions(&self.recording.conditions);
        for piece in incoming {
            let levels = &self.recording.conditions.load.levels;
            match piece {
                Piece::Health(sample) => {
                    batch.client(&sample);
                    self.recording.client.push(sample);
                    continue;
                }
                Piece::Look(look) => {
                    look(&mut self.recording);
                    continue;
                }
                Piece::Round(end, requests) => {
                    requests.iter().for_each(|request| batch.request(request, levels));
                    batch.round(&end, levels);
                    self.recording.rounds.push(end);
                    self.recording.requests.extend(requests);
                }
                Piece::Rest(requests) => {
                    requests.iter().for_each(|request| batch.request(request, levels));
                    self.recording.requests.extend(requests);
                }
            }
            if !self.recording.requests.is_empty() {
                self.flush(std::mem::take(&mut batch));
            }
        }
        if !self.recording.requests.is_empty() {
            self.flush(batch);
        }
        self.recording.requests.sort_by_key(|request| request.id);
        self
    }

    fn flush(&mut self, batch: Batch) {
        if self.failure.is_some() {
            return;
        }
        let path = self.file.path().to_owned();
        let frame = batch.into_frame().map_err(|source| StoreError::Write { path, source });
        if let Err(failure) = frame.and_then(|frame| self.file.append(&frame)) {
            self.failure = Some(failure);
        }
    }

    /// Writes the last line, and gives the recording and what could not be written of it.
    pub(super) fn end(mut self, end: End) -> (Recording, Option<StoreError>) {
        if !self.recording.requests.is_empty() {
            let mut batch = Batch::new();
            batch.end(&end, &self.recording.conditions.load.levels);
            self.flush(batch);
            if self.failure.is_none() {
                self.failure = self.file.sync().err();
            }
        }
        self.recording.end = Some(end);
        (self.recording, self.failure)
    }
}
