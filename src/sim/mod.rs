//! The simulated server: a pure profile and schedule, and an HTTP face over them. Shares no code with `client` except `wire`.

mod answer;
mod cache;
mod engine;
mod error;
mod made;
mod profile;
mod request;
mod serve;
mod stream;
mod timer;
mod value;

pub use engine::{Ask, Engine, Schedule};
pub use error::SimError;
pub use made::{Truth, made, played};
pub use profile::{Fault, Kind, Profile, parse};
pub use serve::{Running, start};
