//! The one integration binary: the real executable and the rooms from outside.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod architecture;
mod captures;
mod cases;
mod player;
mod player_h2;
mod sse_oracle;
mod streams_client;
mod streams_virtual;
