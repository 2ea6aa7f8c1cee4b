//! `simulate`: the simulated server alone, until a signal.

use super::{Error, Exit, signals};
use crate::console::Console;
use crate::sim;
use std::net::{SocketAddr, TcpListener};

/// What `simulate` was asked for.
#[derive(Debug, Clone)]
pub struct Simulate {
    /// `sim://…`
    pub profile: String,
    /// Where to listen; loopback only.
    pub listen: SocketAddr,
}

/// Serves until a signal.
///
/// # Errors
/// Where the profile is wrong or the address cannot be listened on.
pub fn simulate(request: &Simulate, console: &Console) -> Result<Exit, Error> {
    if !request.listen.ip().is_loopback() {
        return Err(Error::usage("the simulated server listens on loopback only", "use --listen 127.0.0.1:8000"));
    }
    let profile = sim::parse(&request.profile)?;
    let listener = TcpListener::bind(request.listen).map_err(Error::SimListen)?;
    let running = sim::start(profile, listener).map_err(Error::SimListen)?;
    console.result(&format!("{}\n", running.url())).map_err(Error::Stdout)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    runtime.block_on(async { signals::watch().cancelled().await });
    drop(running);
    Ok(Exit::Pass)
}
