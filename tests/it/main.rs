//! The one integration binary: the real executable and the rooms from outside.
#![expect(missing_docs, reason = "a test binary has no readers of its docs")]

mod architecture;
mod generated;
