//! Rules back to text, in one spelling.

use crate::metric::{Better, Metric};
use crate::spec::{Cmp, Condition, Constraint, Rule, Test};
use crate::units::Unit;
use std::fmt;

impl fmt::Display for Cmp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtMost => "<=",
            Self::Below => "<",
            Self::AtLeast => ">=",
            Self::Above => ">",
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (field, low, high)) in self.clauses.iter().enumerate() {
            f.write_str(if index == 0 { "when " } else { " and " })?;
            match (*low, *high) {
                (0, high) if high != u64::MAX => write!(f, "{} <= {high}", field.name())?,
                (low, u64::MAX) => write!(f, "{} >= {low}", field.name())?,
                (low, high) => write!(f, "{} in {low}..{high}", field.name())?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.metric.name(), self.cmp, absolute(self.metric, self.value))?;
        scope(f, &self.when)?;
        self.part.as_ref().map_or(Ok(()), |part| write!(f, " for {part}"))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.metric.name())?;
        if let Some(stat) = self.stat {
            write!(f, " {stat}")?;
        }
        match self.test {
            Test::Absolute { cmp, value, share_of_rounds } => {
                write!(f, " {cmp} {}", absolute(self.metric, value))?;
                if let Some(share) = share_of_rounds {
                    write!(f, " in {}% of rounds", percent(share))?;
                }
            }
            Test::Change { limit } => {
                let verb = if self.metric.row().better == Better::Low { "rises" } else { "drops" };
                let ratio = self.metric.row().unit == Unit::Share;
                let relative = limit.relative.map(|share| format!("{}%", percent(share)));
                let amount = limit.absolute.map(|value| if ratio { format!("{}pp", percent(value)) } else { absolute(self.metric, value) });
                let both: Vec<String> = relative.into_iter().chain(amount).collect();
                write!(f, " {verb} <= {}", both.join(" or "))?;
            }
        }
        scope(f, &self.when)?;
        if self.level != "1x" {
            write!(f, " at {}", self.level)?;
        }
        self.part.as_ref().map_or(Ok(()), |part| write!(f, " for {part}"))
    }
}

fn scope(f: &mut fmt::Formatter<'_>, when: &Condition) -> fmt::Result {
    if when.is_everything() { Ok(()) } else { write!(f, " {when}") }
}

fn absolute(metric: Metric, value: f64) -> String {
    match metric.row().unit {
        Unit::Ms => format!("{value}ms"),
        Unit::Share | Unit::Points | Unit::Change => format!("{}%", percent(value)),
        Unit::PerSecond => format!("{value}/s"),
        Unit::TokensPerSecond => format!("{value}tok/s"),
        Unit::Tokens => format!("{value}"),
    }
}

/// Per cent without the noise of the division by 100 that made the share.
fn percent(share: f64) -> f64 {
    (share * 1e12).round() / 1e10
}
