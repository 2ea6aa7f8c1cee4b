//! What looks saved.

use super::EarlyLevel;
use crate::history;
use crate::record::{EndReason, LevelInfo, Recording};

/// The levels of `recording` that ended at an early look, and those that were skipped after a FAIL.
pub(super) fn saved(recording: &Recording) -> Vec<EarlyLevel> {
    let Some(end) = recording.end.as_ref().filter(|end| end.reason == EndReason::Decided) else { return Vec::new() };
    let levels = recording.conditions.load.levels.iter().enumerate();
    levels
        .filter_map(|(index, info)| {
            let own = end.levels.iter().find(|level| level.level == index);
            if own.is_some_and(|level| !level.is_early()) {
                return None;
            }
            let sent = recording.requests.iter().filter(|request| request.level == index).count() as u64;
            let requests_saved = planned(info).saturating_sub(sent);
            Some(EarlyLevel {
                level: info.label.clone(),
                rounds: own.and_then(|level| level.look),
                planned_rounds: info.rounds,
                alpha: own.and_then(|level| level.alpha),
                requests_saved,
                seconds_saved: history::seconds_a_request(recording, index).map(|seconds| seconds * requests_saved as f64),
            })
        })
        .collect()
}

fn planned(info: &LevelInfo) -> u64 {
    info.warmup + info.round_requests.iter().map(|requests| u64::from(*requests) + u64::from(info.lead)).sum::<u64>()
}
