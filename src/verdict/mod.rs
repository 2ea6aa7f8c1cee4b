//! Rules against figures: the verdict, its evidence, and whether the measurement may be judged at all.

mod types;

pub use types::{BaselineInfo, Method, RuleResult, Status, Validity, ValidityStatus, Verdict, VerdictStatus};
