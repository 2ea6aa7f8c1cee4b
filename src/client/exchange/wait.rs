//! A deadline that moves with every token, at the price of one timer.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use tokio::time::{Instant, Sleep, sleep_until};

/// The deadline was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Elapsed;

/// Waits for futures, each until a deadline. A deadline that moves on, as it does with every token, leaves the timer as it is: only
/// when that one fires is the new deadline looked at. Setting a timer for each wait costs more than reading a token.
pub(super) struct Wait {
    timer: Pin<Box<Sleep>>,
    deadline: Instant,
}

impl Wait {
    /// Until `deadline`, so far.
    pub(super) fn until(deadline: Instant) -> Self {
        Self { timer: Box::pin(sleep_until(deadline)), deadline }
    }

    /// From now on until `deadline`.
    pub(super) fn set(&mut self, deadline: Instant) {
        self.deadline = deadline;
        if deadline < self.timer.deadline() {
            self.timer.as_mut().reset(deadline);
        }
    }

    /// What comes of `future`, unless the deadline comes before.
    pub(super) async fn on<F: Future>(&mut self, future: F) -> Result<F::Output, Elapsed> {
        let mut future = pin!(future);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }
            while self.timer.as_mut().poll(context).is_ready() {
                if self.timer.deadline() >= self.deadline {
                    return Poll::Ready(Err(Elapsed));
                }
                self.timer.as_mut().reset(self.deadline);
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::time::Duration;

    const STEP: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_deadline_that_moved_on_is_kept_and_no_earlier() {
        let start = Instant::now();
        let mut wait = Wait::until(start + STEP);
        wait.set(start + 3 * STEP);
        assert_eq!(wait.on(pending::<()>()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_that_moved_forward_is_kept() {
        let start = Instant::now();
        let mut wait = Wait::until(start + 60 * STEP);
        assert_eq!(wait.on(std::future::ready(7)).await, Ok(7));
        wait.set(start + STEP);
        assert_eq!(wait.on(pending::<()>()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had() {
        let start = Instant::now();
        let mut wait = Wait::until(start + STEP);
        for second in 1..10 {
            wait.set(start + STEP * (second + 1));
            assert_eq!(wait.on(tokio::time::sleep_until(start + STEP * second)).await, Ok(()));
        }
    }
}
