//! Verdicts on runs side by side (statistics E).

use super::*;
use crate::metric::Metric;
use crate::record::Side;
use crate::spec::{Cmp, Rule};
use crate::summary::made::{Made, regression, require, slo};
use rstest::rstest;

fn rules() -> Vec<Rule> {
    vec![
        require(Metric::Ttft, Some(95.0), Cmp::AtMost, 400.0),
        regression(Metric::Ttft, Some(95.0), Some(0.1), None),
        regression(Metric::Goodput, None, None, Some(0.02)),
    ]
}

/// The verdict on `candidate` beside `baseline`, as `check --against` comes to it.
fn judge_beside(candidate: &Recording, baseline: &Recording) -> Verdict {
    let mut baseline = baseline.clone();
    baseline.conditions.run_id = crate::record::baseline_id(&candidate.conditions.run_id);
    baseline.requests.iter_mut().for_each(|request| request.side = Side::Baseline);
    assert!(candidate.is_beside(&baseline) && baseline.side() == Side::Baseline);
    let slo = slo(Vec::new(), rules());
    let lens = Lens::new(&slo, &buckets());
    let (own, other) = (summary::of(candidate, &lens), summary::of(&baseline, &lens));
    let comparison = compare::beside(&own, &other, &slo.rules);
    decide(&Inputs {
        name: "made",
        slo: &slo,
        summary: &own,
        recording: candidate,
        stored: &[],
        comparison: Some(&comparison),
        beside: Some(Beside { summary: &other, recording: &baseline }),
        baseline: BaselineInfo::default(),
        client_lag: Duration::from_millis(5),
        exact_output: true,
        shared_tokens: None,
        headroom: None,
    })
}

fn side(seed: u64, factor: f64) -> Recording {
    Made { seed, ttft_ms: 200.0 * factor, ..Made::default() }.recording()
}

#[rstest]
#[case(1.0, VerdictStatus::Pass)]
#[case(1.25, VerdictStatus::Fail)]
#[case(0.7, VerdictStatus::Pass)]
fn a_change_between_the_sides_is_judged_by_paired_rounds(#[case] factor: f64, #[case] expected: VerdictStatus) {
    let verdict = judge_beside(&side(1, factor), &side(2, 1.0));
    let row = &verdict.rules[1];
    assert_eq!(verdict.status, expected, "{}", row.why);
    assert_eq!((row.method, row.baseline.is_some()), (Some(Method::Paired), true));
    assert!(row.change_low < row.change && row.change < row.change_high);
    assert!(row.why.contains("side by side") && row.why.contains("40 pairs of rounds") && row.why.contains("method E"), "{}", row.why);
    assert_eq!(verdict.fails_regression(), expected == VerdictStatus::Fail);
}

#[test]
fn require_rules_judge_the_candidate_alone() {
    let verdict = judge_beside(&side(1, 1.0), &side(2, 3.0));
    assert_eq!((verdict.rules[0].status, verdict.status), (Status::Pass, VerdictStatus::Pass));
    let verdict = judge_beside(&side(1, 3.0), &side(2, 3.0));
    assert!(verdict.fails_absolute() && !verdict.fails_regression());
}

#[test]
fn a_baseline_side_that_may_not_be_judged_makes_the_run_invalid() {
    let mut late = side(2, 1.0);
    for request in &mut late.requests {
        request.sent = crate::units::Nanos(request.scheduled.0 + 50_000_000);
    }
    let verdict = judge_beside(&side(1, 1.0), &late);
    assert_eq!(verdict.status, VerdictStatus::Invalid);
    let said: Vec<&Validity> = verdict.validity.iter().filter(|row| row.status == ValidityStatus::Invalid).collect();
    assert!(said.len() == 1 && said[0].check == "client_lag" && said[0].text.starts_with("baseline's side: "), "{said:?}");
    assert!(!verdict.validity.iter().any(|row| row.check == "site_noise"), "both sides share the site's noise");
}

#[test]
fn a_dead_baseline_side_never_gives_a_pass() {
    let dead = Made { seed: 2, fails_every: 1, ..Made::default() }.recording();
    assert_eq!(judge_beside(&side(1, 1.0), &dead).status, VerdictStatus::Invalid);
}

#[test]
fn exact_ties_pass() {
    let run = Made { spread: 0.0, ..Made::default() }.recording();
    let verdict = judge_beside(&run, &run);
    assert_eq!((verdict.status, verdict.rules[1].change), (VerdictStatus::Pass, Some(0.0)), "{:?}", verdict.rules);
}
