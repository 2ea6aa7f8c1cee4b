//! One model, several spellings. Nothing here computes a number that is not in the model.

pub mod capacity;
pub mod comment;
pub mod csv;
mod facts;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
mod model;
mod rows;
mod sentence;
mod table;
pub mod terminal;
mod text;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod made;
#[cfg(test)]
mod tests;

pub use model::{Report, WhatIf, WhatIfRow};
pub use sentence::{measured_sentence, verdict_sentence};
pub use text::visible;
