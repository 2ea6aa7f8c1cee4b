//! Was the load steady once it was counted, and is the site steady enough for its limits?

use super::{Inputs, RuleResult, Validity, ValidityStatus, at, check, deciding};
use crate::metric::Metric;
use crate::spec::{Confidence, RuleKind};
use crate::stats;
use crate::summary::{Level, Scope};
use crate::units::{Unit, show};
use crate::verdict::Method;

/// Rounds below which thirds are too small to compare.
const LEAST_ROUNDS: usize = 12;
/// The chance at which a difference between the thirds is believed.
const BELIEVED: f64 = 0.001;
/// By how much the means must differ besides: relatively, and in milliseconds.
const RELATIVE: f64 = 0.05;
const ABSOLUTE_MS: f64 = 2.0;

/// A drift found: its metric and the typical P95 of the first and of the last third, in milliseconds.
struct Drift {
    metric: Metric,
    first: f64,
    last: f64,
}

/// Labels of judged levels whose warm-up was not over when counting began.
pub(in crate::verdict) fn unsteady_levels(inputs: &Inputs<'_>) -> Vec<String> {
    if inputs.slo.confidence == Confidence::Point {
        return Vec::new();
    }
    inputs.summary.levels.iter().filter(|level| drift(inputs, level).is_some()).map(|level| level.table.level.clone()).collect()
}

/// One row: the first level that drifts, or that none does. `None` where there are too few rounds to tell, and for bare estimates.
pub(super) fn row(inputs: &Inputs<'_>) -> Option<Validity> {
    if inputs.slo.confidence == Confidence::Point {
        return None;
    }
    let tested = inputs.summary.levels.iter().filter(|level| level.whole_rounds >= LEAST_ROUNDS).count();
    let found = inputs.summary.levels.iter().find_map(|level| Some((drift(inputs, level)?, level)));
    match found {
        Some((drift, level)) => {
            let text = format!(
                "warm-up not over{}: {} P95 of the first third of rounds {}, of the last {}",
                at(inputs, &level.table.level),
                drift.metric.row().label,
                show(drift.first, Unit::Ms),
                show(drift.last, Unit::Ms)
            );
            Some(check("warm_up", ValidityStatus::Inconclusive, text))
        }
        None if tested > 0 => Some(check(
            "warm_up",
            ValidityStatus::Ok,
            "first and last third of rounds agree (no difference of over 5 % and 2 ms at p < .001)".to_owned(),
        )),
        None => None,
    }
}

fn drift(inputs: &Inputs<'_>, level: &Level) -> Option<Drift> {
    if level.whole_rounds < LEAST_ROUNDS {
        return None;
    }
    let is_tpot_ruled = deciding(inputs).any(|rule| rule.metric == Metric::Tpot && rule.level == level.table.level);
    let metrics = if is_tpot_ruled { &[Metric::Ttft, Metric::Tpot][..] } else { &[Metric::Ttft][..] };
    metrics.iter().find_map(|metric| thirds(level, *metric))
}

/// Welch's test on the logarithms of the rounds' P95, first third against last. Rounds without a finite P95 are left out.
fn thirds(level: &Level, metric: Metric) -> Option<Drift> {
    let rounds = level.samples(metric, &Scope::default()).rounds;
    let third = rounds.len() / 3;
    let logs = |rounds: &[Vec<f64>]| -> Vec<f64> {
        let p95 = rounds.iter().filter_map(|round| stats::quantile(round, 0.95));
        p95.filter(|value| value.is_finite() && *value > 0.0).map(f64::ln).collect()
    };
    let (first, last) = (logs(&rounds[..third]), logs(&rounds[rounds.len() - third..]));
    if first.len() < 2 || last.len() < 2 {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (a, b) = (mean(&first), mean(&last));
    let apart = (b - a).abs() > RELATIVE.ln_1p() && (b.exp() - a.exp()).abs() > ABSOLUTE_MS;
    // Where neither third varies at all, only the distance of the means is left to judge by.
    let believed = stats::welch_p(&first, &last).is_none_or(|p| p < BELIEVED);
    (apart && believed).then(|| Drift { metric, first: a.exp(), last: b.exp() })
}

/// Rules that would have passed on a quieter site; `None` where no rule was compared with stored runs: sides that are loaded at once
/// share the site's weather.
pub(super) fn site_noise(rows: &[RuleResult]) -> Option<Validity> {
    let mut compared = rows
        .iter()
        .filter(|row| row.kind == RuleKind::Regression && row.change_unit.is_some() && row.method != Some(Method::Paired))
        .peekable();
    compared.peek()?;
    let noisy: Vec<&str> =
        compared.filter(|row| row.warnings.iter().any(|word| word == "site_noise")).map(|row| row.rule.as_str()).collect();
    Some(if noisy.is_empty() {
        check("site_noise", ValidityStatus::Ok, "no pass rests on a limit below twice the site's run-to-run noise".to_owned())
    } else {
        let text = format!("the site's run-to-run noise may be above half the limit of: {}", noisy.join("; "));
        check("site_noise", ValidityStatus::Inconclusive, text)
    })
}
