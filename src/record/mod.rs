//! What happened: every request of a run with its instants, and the file it is kept in. Nothing here interprets.

mod conditions;
mod lines;
mod read;
mod request;
mod run;
mod write;

pub use conditions::{Conditions, HardwareInfo, LoadInfo, TargetInfo, WorkloadInfo};
pub use read::{RecordError, decode};
pub use request::{Request, Side};
pub use run::{ClientSample, End, EndReason, LevelEnd, LevelInfo, Recording, RoundEnd, baseline_id};
pub use write::{Batch, encode};

#[cfg(test)]
mod tests;
