//! The one integration binary: the real executable and the rooms from outside.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod architecture;
mod captures;
mod cases;
mod sse_oracle;
mod streams_virtual;
