//! The simulated server: a pure profile and schedule, and an HTTP face over them. Shares no code with `client` except `wire`.

mod error;
mod profile;
mod serve;
mod value;

pub use error::SimError;
pub use profile::{Fault, Kind, Profile, parse};
pub use serve::{Running, start};
