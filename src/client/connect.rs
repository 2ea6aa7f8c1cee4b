//! How long a request's own connection took to open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;
use tower::{Layer, Service};

tokio::task_local! {
    /// Where the connector, which runs inside the request's own task, leaves what it measured.
    static OPENED: Opened;
}

/// The time that opening a connection took, name look-up, TCP and TLS together; not set while none was opened.
#[derive(Debug, Clone, Default)]
pub(super) struct Opened(Arc<AtomicU64>);

impl Opened {
    /// Nanoseconds, where this request opened a connection.
    pub(super) fn nanos(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|nanos| *nanos > 0)
    }

    /// Runs `request`; connections that it opens itself are measured into this. One that the pool finishes in the background
    /// for somebody else is not.
    pub(super) async fn measure<F: Future>(&self, request: F) -> F::Output {
        OPENED.scope(self.clone(), request).await
    }
}

/// A connector layer that measures.
#[derive(Debug, Clone)]
pub(super) struct Measure;

impl<S> Layer<S> for Measure {
    type Service = Measured<S>;
    fn layer(&self, inner: S) -> Measured<S> {
        Measured { inner }
    }
}

/// A connector that measures.
#[derive(Debug, Clone)]
pub(super) struct Measured<S> {
    inner: S,
}

impl<S, Target> Service<Target> for Measured<S>
where
    S: Service<Target>,
    S::Future: Send + 'static,
    S::Response: 'static,
    S::Error: 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, target: Target) -> Self::Future {
        let start = Instant::now();
        let opening = self.inner.call(target);
        Box::pin(async move {
            let connection = opening.await;
            if connection.is_ok() {
                let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1);
                // Fails where the pool finishes the connection outside of the request that asked for it.
                let _ = OPENED.try_with(|opened| opened.0.store(nanos, Ordering::Relaxed));
            }
            connection
        })
    }
}
