//! Summary by summary: how much a run differs from stored runs, for each regression rule (statistics B and C), or
//! from the run beside it (E). It knows neither α nor what a rule allows.

mod blocks;
mod estimate;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_beside;

pub use blocks::{LEAST_BLOCKS, blocks, in_blocks};
pub use estimate::{Comparison, Estimates, Obstacle, Row, Scale, against, beside, rate_estimate};
