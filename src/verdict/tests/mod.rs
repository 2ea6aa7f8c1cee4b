//! Verdicts on made runs.

mod absolute;
mod beside;
mod calibration;
mod change;
mod invalid;
mod looks;

use super::*;
use crate::compare;
use crate::record::Recording;
use crate::spec::Slo;
use crate::summary::made::buckets;
use crate::summary::{self, Lens, Summary};
use std::time::Duration;

/// The verdict on `run` beside `stored` runs.
fn judge_against(run: &Recording, stored: &[Recording], slo: &Slo) -> Verdict {
    judge_with(run, stored, slo, |_| {})
}

fn judge(run: &Recording, slo: &Slo) -> Verdict {
    judge_against(run, &[], slo)
}

/// The same with the inputs changed first.
fn judge_with(run: &Recording, stored: &[Recording], slo: &Slo, change: impl Fn(&mut Inputs<'_>)) -> Verdict {
    let lens = Lens::new(slo, &buckets());
    let summary = summary::of(run, &lens);
    let stored: Vec<Summary> = stored.iter().map(|run| summary::of(run, &lens)).collect();
    let comparison = compare::against(&summary, &stored, &slo.rules);
    let mut inputs = Inputs {
        name: "made",
        slo,
        summary: &summary,
        recording: run,
        stored: &stored,
        comparison: (!stored.is_empty()).then_some(&comparison),
        beside: None,
        baseline: BaselineInfo::default(),
        client_lag: Duration::from_millis(5),
        exact_output: true,
        shared_tokens: None,
        headroom: None,
    };
    change(&mut inputs);
    decide(&inputs)
}

fn row<'a>(verdict: &'a Verdict, check: &str) -> &'a Validity {
    verdict.validity.iter().find(|row| row.check == check).unwrap()
}
