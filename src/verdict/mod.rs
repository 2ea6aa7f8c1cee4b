//! Rules against figures: the verdict, its evidence, and whether the measurement may be judged at all.

mod absolute;
mod decide;
pub mod detect;
mod early;
mod evidence;
mod floor;
mod looks;
mod point;
pub mod power;
mod regression;
#[cfg(test)]
mod tests;
mod types;
mod validity;
mod what_if;
mod why;

pub use decide::{Beside, Inputs, decide, headroom};
pub use looks::{Looks, Settled, is_judged, level_end, settled};
pub use types::{BaselineInfo, EarlyLevel, Method, RuleResult, Status, Validity, ValidityStatus, Verdict, VerdictStatus};
pub use what_if::{WhatIf, what_if};
