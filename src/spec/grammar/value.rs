//! The limits in rules: a number with the unit that the metric needs.

use super::token::{Token, Wrong};
use crate::metric::{Better, Metric, Per};
use crate::spec::quantity::{milliseconds, no_number, probable_time, scaled, split};
use crate::spec::{Cmp, Limit};
use crate::units::Unit;
use std::ops::Range;

/// A number, its unit, and where they stand.
#[derive(Debug, Clone)]
pub(super) struct Amount<'t> {
    pub(super) text: String,
    pub(super) number: &'t str,
    pub(super) unit: &'t str,
    pub(super) span: Range<usize>,
}

const UNITS: &[&str] = &["us", "µs", "ms", "s", "m", "min", "h", "%", "pp", "/s", "req/s", "requests/s", "tok/s"];

/// The amount that begins at `token`, and whether the next token was its unit (`500 ms`).
pub(super) fn amount<'t>(token: Token<'t>, next: Option<Token<'t>>, example: &str) -> Result<(Amount<'t>, bool), Wrong> {
    let (number, unit) = split(token.text).ok_or_else(|| Wrong::from_bad(no_number(token.text, example), token.span()))?;
    match next {
        Some(next) if unit.is_empty() && UNITS.contains(&next.text) => {
            let text = format!("{number} {}", next.text);
            Ok((Amount { text, number, unit: next.text, span: token.start..next.span().end }, true))
        }
        _ => Ok((Amount { text: token.text.to_owned(), number, unit, span: token.span() }, false)),
    }
}

/// How a limit on this metric is written.
pub(super) fn example(metric: Metric) -> &'static str {
    match metric.row().unit {
        Unit::Ms => "`500ms` or `1.5s`",
        Unit::Share | Unit::Points | Unit::Change => "`99%`",
        Unit::PerSecond => "`12/s`",
        Unit::TokensPerSecond => "`900 tok/s`",
        Unit::Tokens => "`300`",
    }
}

/// The number that was written, with the unit that its metric takes.
fn probable(metric: Metric, number: &str) -> String {
    match metric.row().unit {
        Unit::Ms => probable_time(number),
        Unit::Share | Unit::Points | Unit::Change => format!("`{number}%`"),
        Unit::PerSecond => format!("`{number}/s`"),
        Unit::TokensPerSecond => format!("`{number} tok/s`"),
        Unit::Tokens => format!("`{number}`"),
    }
}

fn units_of(metric: Metric) -> &'static str {
    match metric.row().unit {
        Unit::Ms => "us, ms, s, m, h",
        Unit::Share | Unit::Points | Unit::Change => "%",
        Unit::PerSecond => "/s",
        Unit::TokensPerSecond => "tok/s",
        Unit::Tokens => "tokens",
    }
}

/// The value in the metric's own unit, where the unit fits.
fn own_unit(metric: Metric, amount: &Amount<'_>) -> Option<f64> {
    match metric.row().unit {
        Unit::Ms => milliseconds(amount.number, amount.unit),
        Unit::Share | Unit::Points | Unit::Change => (amount.unit == "%").then(|| scaled(amount.number, -2)),
        Unit::PerSecond => matches!(amount.unit, "/s" | "req/s" | "requests/s").then(|| scaled(amount.number, 0)),
        Unit::TokensPerSecond => (amount.unit == "tok/s").then(|| scaled(amount.number, 0)),
        Unit::Tokens => amount.unit.is_empty().then(|| scaled(amount.number, 0)),
    }
}

fn unit_wrong(metric: Metric, amount: &Amount<'_>) -> Wrong {
    let (name, units) = (metric.name(), units_of(metric));
    if amount.unit.is_empty() {
        let message = format!("`{}` has no unit", amount.text);
        return Wrong::new(
            "missing-unit",
            message,
            format!("units are required; {name} takes {units}: write {}", probable(metric, amount.number)),
            amount.span.clone(),
        );
    }
    let message = if amount.unit == "pp" {
        format!("`pp` is for changes of ratios, not for a limit on {name}")
    } else {
        format!("`{}` is no unit of {name}", amount.unit)
    };
    Wrong::new("wrong-unit", message, format!("{name} takes {units}: write {}", probable(metric, amount.number)), amount.span.clone())
}

/// An absolute limit, in the metric's own unit.
pub(super) fn limit(metric: Metric, cmp: Cmp, amount: &Amount<'_>) -> Result<f64, Wrong> {
    let value = own_unit(metric, amount).ok_or_else(|| unit_wrong(metric, amount))?;
    let row = metric.row();
    if row.per == Per::Ratio && value > 1.0 {
        let message = format!("{} is more than 100 %", amount.text);
        return Err(Wrong::new("over-100", message, format!("{} is a share of all: 0 % to 100 %", metric.name()), amount.span.clone()));
    }
    let strict = matches!(cmp, Cmp::Below | Cmp::Above);
    let nothing_left = match row.better {
        Better::Low => value <= 0.0 && (strict || row.unit == Unit::Ms),
        Better::High => row.per == Per::Ratio && strict && value >= 1.0,
    };
    if nothing_left {
        let message = format!("no value of {} meets this limit", metric.name());
        return Err(Wrong::new("contradictory", message, "a rule that cannot hold blocks everything; move the limit", amount.span.clone()));
    }
    Ok(value)
}

/// One of the allowed changes of a regression rule.
pub(super) fn change(metric: Metric, amount: &Amount<'_>) -> Result<Limit, Wrong> {
    let row = metric.row();
    let name = metric.name();
    let wrong = |code, message: String, help: String| Err(Wrong::new(code, message, help, amount.span.clone()));
    if row.unit == Unit::Share {
        return match amount.unit {
            "pp" if scaled(amount.number, -2) > 1.0 => {
                wrong("over-100", format!("{} is more than 100 pp", amount.text), "a ratio cannot change by more than 100 pp".to_owned())
            }
            "pp" => Ok(Limit { relative: None, absolute: Some(scaled(amount.number, -2)) }),
            "" => wrong("missing-unit", format!("`{}` has no unit", amount.text), format!("write `{}pp`", amount.number)),
            "%" => wrong(
                "ratio-in-percent",
                format!("{name} is a ratio and changes in percentage points"),
                format!("write `{}pp`: from 95 % to 93 % is 2pp; `%` could mean either", amount.number),
            ),
            other => wrong("wrong-unit", format!("`{other}` is no unit of {name}"), "ratios change in `pp`".to_owned()),
        };
    }
    match amount.unit {
        "%" => {
            let relative = scaled(amount.number, -2);
            if row.better == Better::High && relative >= 1.0 {
                return wrong("over-100", format!("{name} cannot drop by {}", amount.text), "write less than 100 %".to_owned());
            }
            Ok(Limit { relative: Some(relative), absolute: None })
        }
        "pp" => wrong(
            "wrong-unit",
            format!("{name} is no ratio and does not change in pp"),
            format!("write `10%` or an amount, as {}", example(metric)),
        ),
        "" => wrong(
            "missing-unit",
            format!("`{}` has no unit", amount.text),
            format!("write `{}%` or an amount, as {}", amount.number, example(metric)),
        ),
        _ => {
            own_unit(metric, amount).map(|value| Limit { relative: None, absolute: Some(value) }).ok_or_else(|| unit_wrong(metric, amount))
        }
    }
}
