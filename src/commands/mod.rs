//! One file a command; the stages in order on one page; error → exit code and help.

mod baseline;
mod baselines;
mod beside;
mod capacity;
mod check;
mod compare;
mod decide;
mod error;
mod exit;
mod headroom;
mod home;
mod judge;
mod limits;
mod load;
mod lookout;
mod measure;
mod options;
mod plan;
mod publish;
mod report;
mod reporting;
mod run;
mod search;
mod selftest;
mod signals;
mod simulate;
mod source;
mod target;
mod validate;
mod watcher;
mod workloads;
mod writer;

pub use baseline::{Baseline, baseline};
pub use capacity::{Capacity, capacity};
pub use check::{Check, check};
pub use compare::{Compare, compare};
pub use error::Error;
pub use exit::{EXITS, Exit};
pub use judge::{Judge, judge};
pub use measure::limits;
pub use options::{Against, BaselineOptions, Format, LoadOptions, SpecOptions};
pub use plan::{Planning, plan};
pub use report::{Show, report};
pub use reporting::{CommentWhen, GithubOptions};
pub use run::{Run, run};
pub use selftest::selftest;
pub use simulate::{Simulate, simulate};
pub use validate::{Validate, validate};
pub use workloads::workloads;

use crate::console::Console;
use crate::spec::{RuleKind, Slo};
use baselines::Chosen;

/// Shows what stopped a command, its causes, and what to do.
pub fn show(error: &Error, console: &Console) {
    if let Error::Spec(spec) = error {
        console.rendered(&spec.problems().render(console.colors_errors()));
        return;
    }
    let help = error.help();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    console.error(&text, help.as_deref());
}

/// Stops where no rule that decides can be judged for want of a baseline.
fn require_one(slo: &Slo, options: &BaselineOptions, chosen: &Chosen) -> Result<(), Error> {
    let decides = |kind: RuleKind| slo.rules.iter().any(|rule| rule.kind == kind);
    if decides(RuleKind::Require) || !decides(RuleKind::Regression) || !chosen.is_empty() || options.save {
        return Ok(());
    }
    Err(Error::Baseline {
        why: "every deciding rule of this spec compares with a baseline, and there is none".to_owned(),
        help: "save one first: goodput-gate check SPEC --save-baseline".to_owned(),
    })
}
