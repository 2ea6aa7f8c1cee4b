//! The capacity search: points seen → the next load, or what they come to. Doubling, then bisection, each point decided by the
//! verdict's own intervals; it sends nothing and knows no clock.

mod findings;
mod next;
mod point;
mod settings;
#[cfg(test)]
mod tests;

pub use findings::{Findings, Spot, findings};
pub use next::{Next, Stop, next};
pub use point::{Held, Point};
pub use settings::{Axis, Bounds, Goal, Settings};
