//! Rules against figures: the verdict, its evidence, and whether the measurement may be judged at all.

mod absolute;
mod decide;
mod evidence;
mod floor;
mod point;
pub mod power;
mod regression;
#[cfg(test)]
mod tests;
mod types;
mod validity;
mod what_if;
mod why;

pub use decide::{Inputs, decide};
pub use types::{BaselineInfo, Method, RuleResult, Status, Validity, ValidityStatus, Verdict, VerdictStatus};
pub use what_if::{WhatIf, what_if};
