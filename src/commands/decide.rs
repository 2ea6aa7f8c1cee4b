//! From a recording to a report: summary, comparison, verdict, in that order.

use super::baselines::Chosen;
use super::{Exit, load};
use crate::compare::{self, Comparison};
use crate::record::Recording;
use crate::report::Report;
use crate::spec::{ExactOutput, Rule, RuleKind, Slo, Spec};
use crate::summary::{self, Lens, Summary};
use crate::verdict::{self, BaselineInfo, Beside, Inputs, Status, Verdict};
use std::time::Duration;

/// A judged run.
pub(super) struct Judged {
    pub report: Report,
    pub exit: Exit,
    pub summary: Summary,
}

/// All that a recording is judged by, made once: for the looks while it grows, and for the verdict at its end.
pub(super) struct Judging {
    name: String,
    pub slo: Slo,
    lens: Lens,
    stored: Vec<Summary>,
    beside: Option<Recording>,
    baseline: BaselineInfo,
    /// What differs of stored runs that are used by `--force`.
    forced: Vec<String>,
    client_lag: Duration,
    exact_output: bool,
    shared_tokens: Option<u64>,
}

impl Judging {
    pub(super) fn new(spec: &Spec, baseline: Chosen, shared_tokens: Option<u64>) -> Self {
        let lens = Lens::new(&spec.slo, &spec.buckets);
        Self {
            name: spec.name.clone(),
            slo: spec.slo.clone(),
            stored: baseline.runs.iter().map(|run| summary::of(run, &lens)).collect(),
            beside: baseline.beside,
            lens,
            baseline: baseline.info,
            forced: baseline.forced,
            client_lag: spec.client_lag,
            exact_output: spec.workload.parts.iter().any(|part| part.exact_output == ExactOutput::Always),
            shared_tokens,
        }
    }

    /// Whether there is anything to compare with.
    pub(super) fn has_baseline(&self) -> bool {
        !self.stored.is_empty() || self.beside.is_some()
    }

    /// Summary, comparison, verdict. `live` is the other side as far as it is loaded, where it is loaded now.
    pub(super) fn verdict(&self, recording: &Recording, live: Option<&Recording>) -> (Summary, Verdict) {
        let summary = summary::of(recording, &self.lens);
        let other = live.or(self.beside.as_ref()).map(|run| (summary::of(run, &self.lens), run));
        let beside = other.as_ref().map(|(summary, recording)| Beside { summary, recording });
        let comparison = compared((recording, &summary), &self.stored, beside, &self.slo.rules);
        let verdict = verdict::decide(&Inputs {
            name: &self.name,
            slo: &self.slo,
            summary: &summary,
            recording,
            stored: &self.stored,
            comparison: comparison.as_ref(),
            beside,
            baseline: self.baseline.clone(),
            client_lag: self.client_lag,
            exact_output: self.exact_output,
            shared_tokens: self.shared_tokens,
            headroom: None,
        });
        (summary, verdict)
    }

    /// The verdict on the whole of `recording`, as a report.
    pub(super) fn report(&self, recording: &Recording, live: Option<&Recording>) -> Judged {
        let (summary, mut verdict) = self.verdict(recording, live);
        verdict.warnings.extend(self.forced.iter().map(|why| format!("compared by --force although not comparable: {why}")));
        let unusable = !recording.requests.is_empty() && recording.requests.iter().all(load::is_unusable);
        let exit = match Exit::of(&verdict, self.slo.on_inconclusive) {
            _ if unusable => Exit::Target,
            Exit::Invalid => Exit::Invalid,
            _ if judges_nothing(&verdict) => Exit::Baseline,
            exit => exit,
        };
        let constraints = self.slo.request.iter().map(|constraint| constraint.text.clone()).collect();
        let mut report = Report::new(Some(verdict), exit.code(), summary.tables(), recording.conditions.clone(), constraints);
        report.headroom = recording.headroom.map(|(low, _)| low);
        Judged { report, exit, summary }
    }
}

/// Judges `recording` by `spec`, against `baseline`.
pub(super) fn judge(spec: &Spec, recording: &Recording, baseline: Chosen, shared_tokens: Option<u64>) -> Judged {
    Judging::new(spec, baseline, shared_tokens).report(recording, None)
}

/// The run beside what it is compared with: the other side of the same run by paired rounds, all others as stored runs.
fn compared(
    (recording, summary): (&Recording, &Summary),
    stored: &[Summary],
    beside: Option<Beside<'_>>,
    rules: &[Rule],
) -> Option<Comparison> {
    match beside {
        Some(other) if recording.is_beside(other.recording) => Some(compare::beside(summary, other.summary, rules)),
        Some(other) => Some(compare::against(summary, std::slice::from_ref(other.summary), rules)),
        None => (!stored.is_empty()).then(|| compare::against(summary, stored, rules)),
    }
}

/// Whether every rule that decides compares with a baseline, and there was none.
pub(super) fn judges_nothing(verdict: &Verdict) -> bool {
    verdict.rules.iter().all(|rule| rule.kind == RuleKind::Advise || rule.status == Status::NoBaseline)
}
