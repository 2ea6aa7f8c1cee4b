//! Exact sleeps. The runtime's own timer counts whole milliseconds and fires late by up to one; this one is a thread that waits
//! for the earliest instant, to some ten microseconds, without spinning.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::oneshot;

struct Alarm {
    at: Instant,
    ring: oneshot::Sender<()>,
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}
impl Eq for Alarm {}
impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Alarm {
    /// The earliest is the greatest, so that a heap gives it first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at)
    }
}

#[derive(Default)]
struct State {
    alarms: BinaryHeap<Alarm>,
    stop: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes sleepers of one server; its thread ends when it is dropped.
pub(super) struct Timer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Timer {
    /// Starts the thread.
    pub(super) fn start() -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("sim-timer".to_owned()).spawn(move || run(&theirs))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Returns at `at`, or at once where that is over, or when the timer stops.
    pub(super) async fn sleep_until(&self, at: Instant) {
        if at <= Instant::now() {
            return;
        }
        let (ring, rung) = oneshot::channel();
        let is_next = {
            let mut state = self.shared.lock();
            let is_next = state.alarms.peek().is_none_or(|first| at < first.at);
            state.alarms.push(Alarm { at, ring });
            is_next
        };
        if is_next {
            self.shared.changed.notify_one();
        }
        // An error means that the timer is gone, and the server with it.
        let _ = rung.await;
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It panics nowhere; if it did, there is nothing to stop.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared) {
    let mut state = shared.lock();
    while !state.stop {
        let now = Instant::now();
        while let Some(alarm) = state.alarms.peek() {
            if alarm.at > now {
                break;
            }
            if let Some(alarm) = state.alarms.pop() {
                // Nobody listens where the client has gone.
                let _ = alarm.ring.send(());
            }
        }
        state = match state.alarms.peek().map(|alarm| alarm.at.saturating_duration_since(Instant::now())) {
            Some(wait) => shared.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0,
            None => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
    }
}
