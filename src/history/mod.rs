//! Runs that were kept: their folded form, which of them a run may be compared with, and what changed since.

mod comparable;
mod fold;
mod pace;
mod select;

pub use comparable::{Difference, changed_limits, comparable, differing};
pub use fold::fold;
pub use pace::seconds_a_request;
pub use select::{LeftOut, Selection, select};

#[cfg(test)]
mod tests;
