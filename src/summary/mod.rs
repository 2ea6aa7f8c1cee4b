//! From a recording to figures: windows, populations by scope, buckets, goodput. It knows the constraints and scopes that the spec
//! gave it, and neither the limits of rules nor baselines.

mod table;

pub use table::{BucketRow, LevelTable, Percentiles};
