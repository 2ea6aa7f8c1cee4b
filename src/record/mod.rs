//! What happened: every request of a run with its instants, and the file it is kept in. Nothing here interprets.

mod conditions;
mod request;
mod run;

pub use conditions::{Conditions, HardwareInfo, LoadInfo, TargetInfo, WorkloadInfo};
pub use request::{Request, Side};
pub use run::{ClientSample, End, EndReason, LevelEnd, LevelInfo, Recording, RoundEnd};
