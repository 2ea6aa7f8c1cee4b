//! Sessions in a closed loop: a slot keeps its session until the last turn has ended, and waits for the think time between turns.

use crate::plan::Planned;
use crate::record::Request;
use crate::units::Nanos;
use std::collections::{BTreeMap, VecDeque};

/// Turns that wait for the one before.
#[derive(Debug)]
pub(crate) struct Sessions<P> {
    running: BTreeMap<u64, Session<P>>,
    /// Turns with the instant they are due, earliest first; the number keeps equal instants apart.
    due: BTreeMap<(Nanos, u64), (Planned, P)>,
    count: u64,
}

#[derive(Debug)]
struct Session<P> {
    /// Turns that the feed still owes or that wait here.
    left: u32,
    waiting: VecDeque<(Planned, P)>,
    /// When the last turn ended, where the next had not been fed yet.
    ended: Option<Nanos>,
}

impl<P> Sessions<P> {
    pub(crate) fn new() -> Self {
        Self { running: BTreeMap::new(), due: BTreeMap::new(), count: 0 }
    }

    /// A session's first turn leaves.
    pub(crate) fn begin(&mut self, planned: &Planned) {
        if let Some(session) = planned.session.filter(|_| planned.turns_left > 0) {
            let begun = Session { left: planned.turns_left, waiting: VecDeque::new(), ended: None };
            self.running.insert(session, begun);
        }
    }

    /// A later turn was fed. One of a session that does not run is dropped.
    pub(crate) fn fed(&mut self, planned: Planned, prepared: P) {
        let Some(session) = planned.session.and_then(|session| self.running.get_mut(&session)) else { return };
        match session.ended.take() {
            Some(ended) => self.schedule(ended, planned, prepared),
            None => session.waiting.push_back((planned, prepared)),
        }
    }

    /// A turn has ended at `end`; whether its session goes on, and so keeps its slot.
    pub(crate) fn ended(&mut self, request: &Request, end: Nanos) -> bool {
        let Some(number) = request.session else { return false };
        let Some(session) = self.running.get_mut(&number) else { return false };
        if session.left == 0 {
            self.running.remove(&number);
            return false;
        }
        session.left -= 1;
        match session.waiting.pop_front() {
            Some((planned, prepared)) => self.schedule(end, planned, prepared),
            None => session.ended = Some(end),
        }
        true
    }

    fn schedule(&mut self, end: Nanos, planned: Planned, prepared: P) {
        self.count += 1;
        self.due.insert((end + planned.think, self.count), (planned, prepared));
    }

    /// When the next turn is due.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.due.first_key_value().map(|((due, _), _)| *due)
    }

    /// The next turn with the instant it was due, if that is `now` or past.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<(Nanos, P)> {
        if self.next_due()? > now {
            return None;
        }
        self.due.pop_first().map(|((due, _), (_, prepared))| (due, prepared))
    }

    /// Whether no turn is left to send.
    pub(crate) fn are_over(&self) -> bool {
        self.due.is_empty() && self.running.values().all(|session| session.waiting.is_empty())
    }

    /// No further turn is sent.
    pub(crate) fn stop(&mut self) {
        self.running.clear();
        self.due.clear();
    }
}
