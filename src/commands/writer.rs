//! The thread that writes the run files, so that neither compressing nor the disk ever delays a send.

use super::lookout::Ask;
use crate::record::{Batch, ClientSample, Conditions, End, Recording, Request, RoundEnd, Side};
use crate::store::{RunFile, StoreError};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// What is written, and of which side.
pub(super) enum Piece {
    /// A whole round with its requests.
    Round(Side, RoundEnd, Vec<Request>),
    /// Requests outside of whole rounds.
    Rest(Side, Vec<Request>),
    /// A second of the client's health; kept until the next round.
    Health(Side, ClientSample),
    /// A look at all that came before it, on the writer's thread, so that no send waits for it.
    Look(Ask),
}

/// The thread and the way to it.
pub(super) struct Writer {
    pieces: mpsc::Sender<Piece>,
    thread: JoinHandle<Written>,
}

/// What the thread wrote, and kept.
pub(super) struct Written {
    own: Kept,
    other: Option<Kept>,
}

/// One side's recording and its file.
pub(super) struct Kept {
    pub recording: Recording,
    /// What could not be written.
    pub failure: Option<StoreError>,
    file: RunFile,
    /// Lines not yet written.
    batch: Batch,
}

impl Writer {
    /// Starts the thread, for the candidate's side and the other one where there is one. Files are touched by the first round only.
    pub(super) fn start(own: (Conditions, RunFile), other: Option<(Conditions, RunFile)>) -> std::io::Result<Self> {
        let (pieces, incoming) = mpsc::channel();
        let written = Written { own: Kept::new(own), other: other.map(Kept::new) };
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
        for piece in incoming {
            match piece {
                Piece::Health(side, sample) => self.side(side).health(sample),
                Piece::Look(look) => look(&mut self.own.recording, self.other.as_mut().map(|other| &mut other.recording)),
                Piece::Round(side, end, requests) => self.side(side).round(end, requests),
                Piece::Rest(side, requests) => self.side(side).rest(requests),
            }
        }
        for kept in std::iter::once(&mut self.own).chain(&mut self.other) {
            kept.flush();
            kept.recording.requests.sort_by_key(|request| request.id);
        }
        self
    }

    fn side(&mut self, side: Side) -> &mut Kept {
        match (side, &mut self.other) {
            (Side::Baseline, Some(other)) => other,
            _ => &mut self.own,
        }
    }

    /// Writes each side's last line, and gives the sides.
    pub(super) fn end(mut self, own: End, other: End) -> (Kept, Option<Kept>) {
        self.own.end(own);
        if let Some(kept) = &mut self.other {
            kept.end(other);
        }
        (self.own, self.other)
    }
}

impl Kept {
    fn new((conditions, file): (Conditions, RunFile)) -> Self {
        let mut batch = Batch::new();
        batch.conditions(&conditions);
        Self { recording: empty(conditions), failure: None, file, batch }
    }

    fn health(&mut self, sample: ClientSample) {
        self.batch.client(&sample);
        self.recording.client.push(sample);
    }

    fn round(&mut self, end: RoundEnd, requests: Vec<Request>) {
        let levels = &self.recording.conditions.load.levels;
        requests.iter().for_each(|request| self.batch.request(request, levels));
        self.batch.round(&end, levels);
        self.recording.rounds.push(end);
        self.recording.requests.extend(requests);
        self.flush();
    }

    fn rest(&mut self, requests: Vec<Request>) {
        let levels = &self.recording.conditions.load.levels;
        requests.iter().for_each(|request| self.batch.request(request, levels));
        self.recording.requests.extend(requests);
        self.flush();
    }

    /// Nothing is written before the first request.
    fn flush(&mut self) {
        if self.failure.is_some() || self.recording.requests.is_empty() {
            return;
        }
        let path = self.file.path().to_owned();
        let frame = std::mem::take(&mut self.batch).into_frame().map_err(|source| StoreError::Write { path, source });
        if let Err(failure) = frame.and_then(|frame| self.file.append(&frame)) {
            self.failure = Some(failure);
        }
    }

    fn end(&mut self, end: End) {
        if !self.recording.requests.is_empty() {
            self.batch.end(&end, &self.recording.conditions.load.levels);
            self.flush();
            if self.failure.is_none() {
                self.failure = self.file.sync().err();
            }
        }
        self.recording.end = Some(end);
    }
}

/// A recording in which nothing has happened yet.
pub(super) fn empty(conditions: Conditions) -> Recording {
    Recording { conditions, requests: Vec::new(), rounds: Vec::new(), client: Vec::new(), end: None, headroom: None, damage: Vec::new() }
}
