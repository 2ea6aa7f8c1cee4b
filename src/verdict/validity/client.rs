//! Did the client itself keep up?

use super::{Inputs, Validity, ValidityStatus, at, check};
use crate::record::Request;
use crate::stats;
use crate::units::{Nanos, Unit, show};

/// The largest share of the offered load that may go missing.
const MISSED: f64 = 0.02;
/// The wall clock may be slewed by this much a second; a step beyond it is told. Times are by the monotonic clock all the same.
const CLOCK_WARN_MS: f64 = 100.0;
/// A machine that slept, or was paused, for so long has a hole in its measurement.
const CLOCK_INVALID_MS: f64 = 1000.0;
/// Above this share of a core the client may be the bottleneck.
const BUSY: f64 = 0.8;

fn counted<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Request> {
    let side = inputs.recording.side();
    inputs.recording.requests.iter().filter(move |request| request.round.is_some() && request.side == side)
}

/// Start lag over all counted requests, and the runtime's loop lag, each at P99. For the loop lag only each second's P99 is known;
/// the largest that all but one second in twenty keep stands for the run, so that one bad second does not void it (requests that it
/// made late show in the start lag).
pub(super) fn lag(inputs: &Inputs<'_>) -> Validity {
    let limit = Nanos::from(inputs.client_lag).as_ms();
    let sorted = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        values
    };
    let start = stats::quantile(&sorted(counted(inputs).map(|request| request.start_lag().as_ms()).collect()), 0.99);
    let seconds = sorted(inputs.recording.client.iter().map(|sample| sample.loop_lag_p99.as_ms()).collect());
    let timer = stats::quantile(&seconds, 0.95);
    let late = |value: Option<f64>| value.is_some_and(|value| value > limit);
    let spelt = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| show(value, Unit::Ms));
    let status = if late(start) || late(timer) { ValidityStatus::Invalid } else { ValidityStatus::Ok };
    let text = format!("start lag P99 {}, loop lag P99 {}, at most {}", spelt(start), spelt(timer), show(limit, Unit::Ms));
    check("client_lag", status, text)
}

/// The client's own load; `None` where the system does not tell.
pub(super) fn cpu(inputs: &Inputs<'_>) -> Option<Validity> {
    let mut shares: Vec<f64> = inputs.recording.client.iter().filter_map(|sample| sample.cpu_share).collect();
    shares.sort_by(f64::total_cmp);
    let share = stats::quantile(&shares, 0.95)?;
    let status = if share > BUSY { ValidityStatus::Warn } else { ValidityStatus::Ok };
    Some(check(
        "cpu_share",
        status,
        format!("the client used {} of a core at P95, at most {}", show(share, Unit::Share), show(BUSY, Unit::Share)),
    ))
}

/// Did the clock of the machine jump? `None` where nobody watched it.
pub(super) fn clock(inputs: &Inputs<'_>) -> Option<Validity> {
    let steps = inputs.recording.client.iter().filter_map(|sample| sample.clock_step_ms);
    let worst = steps.max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    let (status, meaning) = match worst.abs() {
        step if step > CLOCK_INVALID_MS => (ValidityStatus::Invalid, ": the machine slept, or its clock was set"),
        step if step > CLOCK_WARN_MS => (ValidityStatus::Warn, ": its clock was set"),
        _ => (ValidityStatus::Ok, ""),
    };
    let text = format!(
        "the wall clock moved by up to {} a second against the monotonic one, at most {}{meaning}",
        show(worst.abs(), Unit::Ms),
        show(CLOCK_INVALID_MS, Unit::Ms)
    );
    Some(check("clock", status, text))
}

/// Open loop: was the planned load sent, and when it was due? One row, of the worst level; `None` in a closed loop.
pub(super) fn load(inputs: &Inputs<'_>) -> Option<Validity> {
    let levels = inputs.recording.conditions.load.levels.iter().enumerate().filter(|(_, level)| level.rate.is_some());
    let worst = levels.filter_map(|(index, level)| Some((missed(inputs, index)?, level))).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (missed, level) = worst;
    let status = if missed > MISSED { ValidityStatus::Invalid } else { ValidityStatus::Ok };
    let text = format!(
        "{} of the offered load was missed{}, at most {}",
        show(missed, Unit::Share),
        at(inputs, &level.label),
        show(MISSED, Unit::Share)
    );
    Some(check("load_delivered", status, text))
}

/// The share of the offered load that went missing at a level: requests of its rounds that were never sent, or the rate that was
/// lost because they left later than they were due, whichever is more.
fn missed(inputs: &Inputs<'_>, index: usize) -> Option<f64> {
    let info = inputs.recording.conditions.load.levels.get(index)?;
    let mine: Vec<&Request> = counted(inputs).filter(|request| request.level == index).collect();
    let span = |of: fn(&Request) -> Nanos| {
        let first = mine.iter().map(|request| of(request)).min()?;
        Some(mine.iter().map(|request| of(request)).max()?.since(first).as_secs())
    };
    let (due, sent) = (span(|request| request.scheduled)?, span(|request| request.sent)?);
    let slower = if sent > due && sent > 0.0 { 1.0 - due / sent } else { 0.0 };
    let (mut planned, mut there) = (0, 0);
    for end in inputs.recording.rounds.iter().filter(|end| end.level == index) {
        if let Some(count) = usize::try_from(end.round).ok().and_then(|round| info.round_requests.get(round)) {
            planned += u64::from(*count);
            there += u64::from(end.requests.min(*count));
        }
    }
    let unsent = if planned > 0 { 1.0 - there as f64 / planned as f64 } else { 0.0 };
    Some(slower.max(unsent))
}
