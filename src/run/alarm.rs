//! A timer that is finer than the runtime's.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;
use tokio::sync::Notify;

/// Wakes one task at instants that it names, by a thread that waits for them. The runtime's own timer has steps of 1 ms and rounds up;
/// the system's, which the thread waits by, is some 0.06 ms late.
///
/// It only wakes: whoever is woken looks at the clock, and waits for the runtime's timer as well.
#[derive(Debug)]
pub(super) struct Alarm {
    times: Sender<Instant>,
    rung: Arc<Notify>,
    set: Option<Instant>,
}

impl Alarm {
    /// Starts the thread; `None` where the system has none to give. It ends with the alarm.
    pub(super) fn start() -> Option<Self> {
        let (times, incoming) = channel();
        let rung = Arc::new(Notify::new());
        let bell = Arc::clone(&rung);
        std::thread::Builder::new().name("alarm".to_owned()).spawn(move || ring(&incoming, &bell)).ok()?;
        Some(Self { times, rung, set: None })
    }

    /// Names the next instant, in place of the last one, and waits for it. May also end without it.
    pub(super) async fn wait(&mut self, at: tokio::time::Instant) {
        let at = at.into_std();
        if self.set != Some(at) {
            self.set = Some(at);
            // Without the thread the runtime's timer has to do.
            let _ = self.times.send(at);
        }
        self.rung.notified().await;
    }
}

fn ring(times: &Receiver<Instant>, bell: &Notify) {
    while let Ok(mut at) = times.recv() {
        loop {
            match times.recv_timeout(at.saturating_duration_since(Instant::now())) {
                Ok(other) => at = other,
                Err(RecvTimeoutError::Timeout) => break bell.notify_one(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn it_rings_when_it_is_time_and_not_before() {
        let mut alarm = Alarm::start().unwrap();
        for _ in 0..5 {
            let due = tokio::time::Instant::now() + Duration::from_millis(3);
            alarm.wait(due).await;
            assert!(tokio::time::Instant::now() >= due);
        }
    }

    #[tokio::test]
    async fn an_earlier_time_replaces_a_later_one() {
        let mut alarm = Alarm::start().unwrap();
        let now = tokio::time::Instant::now();
        let far = alarm.wait(now + Duration::from_secs(3600));
        assert!(tokio::time::timeout(Duration::from_millis(5), far).await.is_err());
        alarm.wait(now + Duration::from_millis(10)).await;
    }
}
