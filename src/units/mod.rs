//! Quantities and their spelling: durations, ratios, quantiles, counts, secrets, and the one rounding rule of the whole tool.

mod nanos;
mod quantile;
mod secret;
mod show;

pub use nanos::Nanos;
pub use quantile::Quantile;
pub use secret::Secret;
pub use show::{Unit, show};
