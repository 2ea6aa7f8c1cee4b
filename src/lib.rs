//! goodput-gate: a CI/CD gate over LLM serving goodput.
//!
//! Data goes one way through the rooms below; each room uses only rooms named before it. `ARCHITECTURE.md` tells what each
//! owns and what it must not do, and a test holds the order.

// Pure rooms: no clock, no files, no sockets, no environment, no printing.
pub mod compare;
pub mod history;
pub mod metric;
pub mod plan;
pub mod record;
pub mod report;
pub mod search;
pub mod spec;
pub mod stats;
pub mod summary;
pub mod units;
pub mod verdict;
pub mod wire;

// Edges: each owns one kind of outside world.
pub mod client;
pub mod console;
pub mod github;
pub mod run;
pub mod sim;
pub mod store;

// The top.
pub mod cli;
pub mod commands;
