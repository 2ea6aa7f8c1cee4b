//! Connections: opened ahead of the requests that will use them, and how long a request's own took to open.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tower::{BoxError, Layer, Service};

tokio::task_local! {
    /// Where the connector, which runs inside the request's own task, leaves what it measured.
    static OPENED: Opened;
    /// Set in a task that only opens a connection.
    static AHEAD: ();
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

/// Connections that were opened and not used yet, newest last. Whoever would open one takes one of these.
///
/// They are kept here and not in the HTTP layer's pool, because that one takes in only connections that carried a request, and a
/// request that nobody planned is load that nobody asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead(Arc<Mutex<Vec<Idle>>>);

/// Since when it is open, and the connection, whose type is the HTTP layer's own.
type Idle = (Instant, Box<dyn Any + Send>);

impl Ahead {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Closes what is left.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Runs `request`, which gets no further than to its connection; that is kept here.
    pub(super) async fn open<F: Future>(request: F) -> F::Output {
        AHEAD.scope((), request).await
    }

    fn put(&self, connection: impl Any + Send) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), Box::new(connection)));
    }

    /// The newest, if it is no older than an idle connection may be.
    fn take<C: Any>(&self) -> Option<C> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, connection) = kept.pop()?;
        if since.elapsed() > FRESH {
            kept.clear();
            return None;
        }
        connection.downcast().ok().map(|connection| *connection)
    }
}

/// How long a connection that was opened ahead is trusted to be open still.
const FRESH: Duration = Duration::from_secs(4);

/// A connection was opened ahead; nothing was sent on it. An error only to the HTTP layer, which must not go on with it.
#[derive(Debug, thiserror::Error)]
#[error("opened ahead")]
struct OpenedAhead;

/// A connector layer that measures, and that hands out what was opened ahead.
#[derive(Debug, Clone)]
pub(super) struct Measure(pub(super) Ahead);

impl<S> Layer<S> for Measure {
    type Service = Measured<S>;
    fn layer(&self, inner: S) -> Measured<S> {
        Measured { inner, ahead: self.0.clone() }
    }
}

/// A connector that measures.
#[derive(Debug, Clone)]
pub(super) struct Measured<S> {
    inner: S,
    ahead: Ahead,
}

impl<S, Target> Service<Target> for Measured<S>
where
    S: Service<Target, Error = BoxError>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, target: Target) -> Self::Future {
        let only_opens = AHEAD.try_with(|()| ()).is_ok();
        if !only_opens && let Some(connection) = self.ahead.take() {
            return Box::pin(std::future::ready(Ok(connection)));
        }
        let start = Instant::now();
        let opening = self.inner.call(target);
        let ahead = self.ahead.clone();
        Box::pin(async move {
            let connection = opening.await?;
            if only_opens {
                ahead.put(connection);
                return Err(OpenedAhead.into());
            }
            let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1);
            // Fails where the pool finishes the connection outside of the request that asked for it.
            let _ = OPENED.try_with(|opened| opened.0.store(nanos, Ordering::Relaxed));
            Ok(connection)
        })
    }
}
