//! Looks: when they come, what they may spend, and what they decide.

use super::*;
use crate::metric::Metric;
use crate::record::EndReason;
use crate::spec::{Cmp, RuleKind};
use crate::summary::made::{Made, regression, require, slo};

#[test]
fn a_look_left_out_leaves_its_error_to_the_next_and_all_add_up() {
    let mut looks = Looks::new(40, 40, 0.05);
    assert_eq!((1..20).filter_map(|rounds| looks.due(rounds)).count(), 0, "the look at 10 is too early");
    let first = looks.due(20).unwrap();
    assert!((first.alpha - 0.0056).abs() < 1e-4);
    assert_eq!(looks.due(20), None, "a look is taken once");
    // 30 is left out, as before `min_time`.
    let last = looks.last(40);
    assert!((first.alpha + last.alpha - 0.05).abs() < 1e-12);
    let mut range = Looks::new(20, 120, 0.05);
    assert_eq!((1..=120).filter_map(|rounds| range.due(rounds)).map(|look| look.rounds).collect::<Vec<_>>(), [20, 40, 60, 80, 100]);
    assert!((Looks::new(12, 12, 0.05).last(12).alpha - 0.05).abs() < 1e-12);
}

#[test]
fn a_look_judges_its_own_rounds_by_its_own_alpha() {
    let mut run = Made { rounds: 40, ..Made::default() }.recording();
    for request in run.requests.iter_mut().filter(|request| request.round >= Some(20)) {
        crate::summary::made::fail(request);
    }
    let rules = slo(Vec::new(), vec![require(Metric::Errors, None, Cmp::AtMost, 0.05)]);
    assert_eq!(judge(&run, &rules).rules[0].status, Status::Fail);
    let end = run.end.as_mut().unwrap();
    end.reason = EndReason::Decided;
    end.levels[0] = level_end(0, (40, 22), Some(crate::stats::Look { rounds: 20, alpha: 0.0056 }));
    let verdict = judge(&run, &rules);
    assert_eq!((verdict.rules[0].status, verdict.rules[0].samples), (Status::Pass, 500));
    assert_eq!((verdict.early[0].rounds, verdict.early[0].planned_rounds), (Some(20), 40));
    assert!(run.stopped_early());
    let cautious = judge(&run, &rules).rules[0].high.unwrap();
    run.end.as_mut().unwrap().levels[0].alpha = Some(0.05);
    assert!(judge(&run, &rules).rules[0].high.unwrap() < cautious);
}

#[test]
fn a_level_is_settled_by_one_fail_or_all_passes_of_its_own_judged_rules() {
    let run = Made::default().recording();
    let mut advice = require(Metric::Ttft, Some(50.0), Cmp::AtMost, 1.0);
    advice.kind = RuleKind::Advise;
    let (kept, broken) = (require(Metric::Errors, None, Cmp::AtMost, 0.5), require(Metric::Ttft, Some(50.0), Cmp::AtMost, 1.0));
    let mut elsewhere = kept.clone();
    elsewhere.level = "2x".to_owned();
    // A thousand requests cannot vouch for one in a thousand.
    let near = require(Metric::Ttft, Some(99.9), Cmp::AtMost, 1000.0);
    let of = |rules: Vec<crate::spec::Rule>| {
        let slo = slo(Vec::new(), rules);
        settled(&slo, &judge(&run, &slo), "1x")
    };
    assert_eq!(of(vec![kept.clone(), advice.clone()]), Some(Settled::Passed), "advice does not delay");
    assert_eq!(of(vec![kept.clone(), elsewhere.clone()]), Some(Settled::Passed), "nor does another level");
    assert_eq!(of(vec![kept.clone(), broken.clone()]), Some(Settled::Failed));
    assert_eq!(of(vec![near.clone(), broken]), Some(Settled::Failed));
    assert_eq!(of(vec![kept, near]), None);
    assert_eq!(of(vec![advice.clone(), elsewhere.clone()]), None, "nothing is judged here");
    assert!(!is_judged(&slo(Vec::new(), vec![advice, elsewhere]), "1x"));
}

#[test]
fn rules_of_other_levels_count_as_planned_and_not_rejected_at_a_look() {
    let mut run = Made { seed: 9, ttft_ms: 300.0, ..Made::default() }.recording();
    let stored: Vec<Recording> = (1..4).map(|seed| Made { seed, ..Made::default() }.recording()).collect();
    let rule = regression(Metric::Ttft, Some(95.0), Some(0.10), None);
    let rules = slo(Vec::new(), vec![rule.clone(), rule]);
    run.end.as_mut().unwrap().levels[0] = level_end(0, (40, 20), Some(crate::stats::Look { rounds: 20, alpha: 0.0056 }));
    let verdict = judge_against(&run, &stored, &rules);
    assert!(verdict.rules.iter().all(|row| row.status == Status::Fail && row.samples == 500), "{:#?}", verdict.rules);
}
