//! The plan: what will be sent and when, down to each due time, fixed before the run by the spec and its seed.
//!
//! Four streams of random numbers are kept apart: lengths, arrivals, shared text and unique text. The first three depend on the
//! seed alone, so that a baseline and a candidate get the same lengths in the same order at the same instants; only the unique
//! text is salted with the run, so that no run meets the cached prefixes of another.

mod arrivals;
mod build;
mod bundled;
mod digest;
mod error;
mod fit;
mod hunt;
mod lengths;
mod level;
mod prompts;
mod random;
mod request;
mod rows;
mod schedule;
mod walker;
mod warning;
mod words;

pub use build::{Inputs, build, build_turns};
pub use bundled::{BundledWorkload, Percentiles, workloads};
pub use error::PlanError;
pub use fit::{Fit, PROBE_WORDS, ProbePoint, interpret, probe_text};
pub use hunt::Hunt;
pub use level::{LevelPlan, Pace};
pub use request::{Planned, Prompt};
pub use schedule::Plan;
pub use warning::PlanWarning;

#[cfg(test)]
mod tests;
