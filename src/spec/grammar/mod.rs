//! The grammar of rules and constraints: one line of text to a checked value, with the place of what is wrong in it.
//!
//! ```text
//! constraint  METRIC CMP VALUE [when …] [for NAME]
//! rule        METRIC [STAT] CMP VALUE [in SHARE of rounds] [when …] [at LEVEL] [for NAME]
//! regression  METRIC [STAT] (rises|drops) <= VALUE [or VALUE] [when …] [at LEVEL] [for NAME]
//! ```

mod condition;
mod parser;
mod print;
mod token;
mod value;

#[cfg(test)]
mod tests;

pub(super) use parser::{constraint, rule};
pub(super) use token::Wrong;
