//! Ctrl-C and SIGTERM: the first ends sending and lets requests in flight end, the second ends at once.

use super::Exit;
use tokio_util::sync::CancellationToken;

/// Watches for signals; the token is cancelled by the first. Must be called on a runtime.
pub(super) fn watch() -> CancellationToken {
    let token = CancellationToken::new();
    let first = token.clone();
    tokio::spawn(async move {
        signal().await;
        first.cancel();
        signal().await;
        leave();
    });
    token
}

#[expect(clippy::exit, reason = "the second signal means at once; whole rounds are on disk already")]
fn leave() {
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut term) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = term.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
