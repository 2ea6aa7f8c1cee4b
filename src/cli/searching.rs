//! `capacity` and its flags.

use super::sending::Sending;
use crate::commands::{Capacity, Error};
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct CapacityArgs {
    #[command(flatten)]
    sending: Sending,
    /// The first load: requests in flight, or `2/s`; by default a quarter of the target load. Where it breaks the SLO, lower ones follow.
    #[arg(long, value_name = "LOAD", value_parser = load)]
    from: Option<f64>,
    /// No load above this; by default 64 times the target load.
    #[arg(long, value_name = "LOAD", value_parser = load)]
    to: Option<f64>,
    /// Measure at most so many points, each of `load.rounds` rounds or as many as decide it; `budget` bounds the whole search.
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=200))]
    points: u16,
}

impl CapacityArgs {
    pub(super) fn request(&self) -> Result<Capacity, Error> {
        Ok(Capacity {
            spec: self.sending.spec(),
            load: self.sending.load()?,
            from: self.from,
            to: self.to,
            points: usize::from(self.points),
            format: self.sending.format,
        })
    }
}

/// A load: `16`, or `2.5/s`.
fn load(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).trim().parse().ok();
    number.filter(|load: &f64| *load > 0.0 && *load <= 1e6).ok_or_else(|| "write requests in flight as 16, or a rate as 2.5/s".to_owned())
}
