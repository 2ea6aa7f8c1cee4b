//! From a recording to a report: summary, comparison, verdict, in that order.

use super::baselines::Chosen;
use super::{Exit, load};
use crate::compare;
use crate::record::Recording;
use crate::report::Report;
use crate::spec::{ExactOutput, RuleKind, Spec};
use crate::summary::{self, Lens, Summary};
use crate::verdict::{self, Inputs, Status, Verdict};

/// A judged run.
pub(super) struct Judged {
    pub report: Report,
    pub exit: Exit,
    pub summary: Summary,
}

/// Judges `recording` by `spec`, against `baseline`.
pub(super) fn judge(spec: &Spec, recording: &Recording, baseline: Chosen, shared_tokens: Option<u64>) -> Judged {
    let lens = Lens::new(&spec.slo, &spec.buckets);
    let summary = summary::of(recording, &lens);
    let stored: Vec<Summary> = baseline.runs.iter().map(|run| summary::of(run, &lens)).collect();
    let comparison = (!stored.is_empty()).then(|| compare::against(&summary, &stored, &spec.slo.rules));
    let mut verdict = verdict::decide(&Inputs {
        name: &spec.name,
        slo: &spec.slo,
        summary: &summary,
        recording,
        stored: &stored,
        comparison: comparison.as_ref(),
        baseline: baseline.info,
        client_lag: spec.client_lag,
        exact_output: spec.workload.parts.iter().any(|part| part.exact_output == ExactOutput::Always),
        shared_tokens,
        headroom: None,
    });
    verdict.warnings.extend(baseline.forced.iter().map(|why| format!("compared by --force although not comparable: {why}")));
    let unusable = !recording.requests.is_empty() && recording.requests.iter().all(load::is_unusable);
    let exit = match Exit::of(&verdict, spec.slo.on_inconclusive) {
        _ if unusable => Exit::Target,
        Exit::Invalid => Exit::Invalid,
        _ if judges_nothing(&verdict) => Exit::Baseline,
        exit => exit,
    };
    let constraints = spec.slo.request.iter().map(|constraint| constraint.text.clone()).collect();
    let report = Report::new(Some(verdict), exit.code(), summary.tables(), recording.conditions.clone(), constraints);
    Judged { report, exit, summary }
}

/// Whether every rule that decides compares with a baseline, and there was none.
pub(super) fn judges_nothing(verdict: &Verdict) -> bool {
    verdict.rules.iter().all(|rule| rule.kind == RuleKind::Advise || rule.status == Status::NoBaseline)
}
