//! From a recording to figures: windows, populations by scope, buckets, goodput. It knows the constraints and scopes that the spec
//! gave it, and neither the limits of rules nor baselines.

mod fact;
mod figures;
mod gaps;
mod goodput;
mod lens;
mod level;
mod live;
#[cfg(test)]
pub(crate) mod made;
mod population;
mod table;
#[cfg(test)]
mod tests;
mod window;

pub use fact::{Fact, Sample};
pub use gaps::{Gaps, histogram};
pub use goodput::{breaks, good};
pub use lens::{Lens, Scope, Subject};
pub use level::Level;
pub use live::Live;
pub use population::{Cell, GapRound, Rate, Samples};
pub use table::{BucketRow, LevelTable, PartRow, Percentiles};

use crate::record::Recording;

/// The figures of a run: one [`Level`] for each level that was begun, in the order they ran.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// The levels that have at least one request past their warm-up.
    pub levels: Vec<Level>,
}

impl Summary {
    /// The level with this label, where it ran.
    #[must_use]
    pub fn level(&self, label: &str) -> Option<&Level> {
        self.levels.iter().find(|level| level.table.level == label)
    }

    /// The tables of all levels, for reports.
    #[must_use]
    pub fn tables(&self) -> Vec<LevelTable> {
        self.levels.iter().map(|level| level.table.clone()).collect()
    }
}

/// The figures of `recording` as seen through `lens`.
#[must_use]
pub fn of(recording: &Recording, lens: &Lens) -> Summary {
    let levels = (0..recording.conditions.load.levels.len()).filter_map(|index| level::build(recording, lens, index)).collect();
    Summary { levels }
}
