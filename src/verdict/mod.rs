//! Rules against figures: the verdict, its evidence, and whether the measurement may be judged at all.

mod decide;
pub mod power;
mod types;
mod what_if;

pub use decide::{Inputs, decide};
pub use types::{BaselineInfo, Method, RuleResult, Status, Validity, ValidityStatus, Verdict, VerdictStatus};
pub use what_if::{WhatIf, what_if};
