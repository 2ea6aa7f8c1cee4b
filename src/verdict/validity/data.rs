//! Is there enough to judge by?

use super::{Inputs, RuleResult, Validity, ValidityStatus, at, check, judged_levels};
use crate::record::EndReason;
use crate::spec::{Confidence, RuleKind};
use crate::verdict::Status;

/// Fewer whole rounds than this bear no interval.
const LEAST_ROUNDS: usize = 12;

/// Every deciding rule has data.
pub(super) fn rules(rows: &[RuleResult], inputs: &Inputs<'_>) -> Validity {
    if inputs.summary.levels.is_empty() {
        return check("data", ValidityStatus::Invalid, "nothing was measured: no request past the warm-up ended".to_owned());
    }
    let without: Vec<&str> =
        rows.iter().filter(|row| row.kind != RuleKind::Advise && row.status == Status::Invalid).map(|row| row.rule.as_str()).collect();
    if without.is_empty() {
        return check("data", ValidityStatus::Ok, "every judged rule has data".to_owned());
    }
    check("data", ValidityStatus::Invalid, format!("no data to judge by for: {}", without.join("; ")))
}

/// At least one request was answered.
pub(super) fn all_failed(inputs: &Inputs<'_>) -> Validity {
    let (mut requests, mut errors) = (0, 0);
    let mut dead = Vec::new();
    for level in &inputs.summary.levels {
        requests += level.table.requests;
        errors += level.table.errors;
        if level.table.requests > 0 && level.table.errors == level.table.requests {
            dead.push(level);
        }
    }
    let Some(first) = dead.first() else {
        return check("all_failed", ValidityStatus::Ok, format!("{errors} of {requests} requests failed"));
    };
    let text = format!(
        "every one of {} requests failed{}: {}",
        first.table.requests,
        at(inputs, &first.table.level),
        first.table.errors_spelt().join(", ")
    );
    check("all_failed", ValidityStatus::Invalid, text)
}

/// Enough whole rounds at each judged level; bare estimates need none.
pub(super) fn rounds(inputs: &Inputs<'_>) -> Option<Validity> {
    let fewest = judged_levels(inputs).min_by_key(|level| level.whole_rounds)?;
    let (count, place) = (fewest.whole_rounds, at(inputs, &fewest.table.level));
    if inputs.slo.confidence == Confidence::Point {
        return Some(check("rounds", ValidityStatus::Ok, format!("{count} whole rounds{place}; bare estimates need none")));
    }
    let enough = count >= LEAST_ROUNDS;
    let status = if enough { ValidityStatus::Ok } else { ValidityStatus::Invalid };
    Some(check("rounds", status, format!("{count} whole rounds{place}, at least {LEAST_ROUNDS} are needed for intervals")))
}

/// The run went to its planned end.
pub(super) fn complete(inputs: &Inputs<'_>) -> Validity {
    let recording = inputs.recording;
    let planned: u64 = recording.conditions.load.levels.iter().map(|level| u64::from(level.rounds)).sum();
    let levels = 0..recording.conditions.load.levels.len();
    let whole = |index: usize| recording.rounds.iter().filter(|round| round.level == index).count() as u64;
    let judged: u64 =
        levels.map(|index| recording.look(index).map_or_else(|| whole(index), |look| u64::from(look).min(whole(index)))).sum();
    let rounds = format!("its {judged} whole rounds of {planned} planned are judged");
    let damage = match recording.damage.len() {
        0 => String::new(),
        lines => format!("; {lines} damaged lines were passed over"),
    };
    let (status, text) = match recording.end.as_ref().map(|end| end.reason) {
        None => (ValidityStatus::Warn, format!("the recording has no end line, so it was cut; {rounds}")),
        Some(EndReason::Interrupted) => (ValidityStatus::Warn, format!("a signal stopped the run; {rounds}")),
        Some(EndReason::Budget) => (ValidityStatus::Warn, format!("the budget ended the run; {rounds}")),
        Some(EndReason::Unusable) => (ValidityStatus::Invalid, "the target could not be used, and the run was given up".to_owned()),
        Some(EndReason::Decided) => (ValidityStatus::Ok, format!("the looks decided it early; {rounds}")),
        Some(EndReason::Complete) if recording.damage.is_empty() => (ValidityStatus::Ok, "all that was planned was done".to_owned()),
        Some(EndReason::Complete) => (ValidityStatus::Warn, rounds),
    };
    check("complete", status, format!("{text}{damage}"))
}
