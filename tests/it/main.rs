//! The one integration binary: the real executable and the rooms from outside.
#![expect(clippy::unwrap_used, reason = "clippy's leave for tests does not reach their helper functions")]

mod against;
mod architecture;
mod capacity;
mod captures;
mod cases;
mod check;
mod common;
mod compare;
mod editor;
mod exit_codes;
mod generated;
mod github;
mod judge;
mod looks;
mod plan;
mod player;
mod player_h2;
mod quickstart;
mod reach;
mod reuse;
mod slos;
mod sse_oracle;
mod streams_binary;
mod streams_client;
mod streams_virtual;
