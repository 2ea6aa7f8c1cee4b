//! The client's own health: is this process late?

use crate::record::ClientSample;
use crate::units::Nanos;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

/// Watches a 1 ms timer on the runtime that carries the load, and sums up each second.
#[derive(Debug)]
pub struct Health {
    samples: mpsc::UnboundedReceiver<ClientSample>,
    task: AbortHandle,
}

impl Health {
    /// Starts watching. `epoch` is the run's start. Must be called on the runtime that carries the load.
    #[must_use]
    pub fn watch(epoch: Instant) -> Self {
        let (sender, samples) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move { while sender.send(second(epoch).await).is_ok() {} });
        Self { samples, task: task.abort_handle() }
    }

    /// The next second's sample. Cancel-safe.
    pub async fn next(&mut self) -> Option<ClientSample> {
        self.samples.recv().await
    }
}

impl Drop for Health {
    fn drop(&mut self) {
        self.task.abort();
    }
}

const STEP: Duration = Duration::from_millis(1);

async fn second(epoch: Instant) -> ClientSample {
    let start = Instant::now();
    let clocks = (SystemTime::now(), std::time::Instant::now());
    let cpu = cpu_time();
    let mut lags = Vec::with_capacity(1000);
    while start.elapsed() < Duration::from_secs(1) {
        let before = Instant::now();
        sleep(STEP).await;
        lags.push(Nanos::from(before.elapsed().saturating_sub(STEP)));
    }
    lags.sort_unstable();
    let used = cpu.zip(cpu_time()).map(|(before, after)| after.saturating_sub(before).as_secs_f64());
    ClientSample {
        at: Nanos::from(epoch.elapsed()),
        loop_lag_max: lags.last().copied().unwrap_or_default(),
        loop_lag_p99: lags.get(lags.len() * 99 / 100).or(lags.last()).copied().unwrap_or_default(),
        cpu_share: used.map(|used| used / start.elapsed().as_secs_f64().max(1e-9)),
        in_flight: 0,
        clock_step_ms: Some(step(clocks.0, clocks.1)),
    }
}

/// By how many milliseconds the wall clock moved against the monotonic one: it was set, or the machine slept.
fn step(wall: SystemTime, monotonic: std::time::Instant) -> f64 {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let by_wall = SystemTime::now().duration_since(wall).map_or_else(|back| -ms(back.duration()), ms);
    by_wall - ms(monotonic.elapsed())
}

/// CPU time of the calling thread, which is the one that carries the load; `None` where the system does not tell.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
