//! What the texts promise by name, and the edges where formulas divide by zero.

use crate::stats::{
    Change, Estimate, Look, against_history, history_deff, holm, look_alpha, looks, looks_between, needed_n_eff, needed_n_eff_at, paired,
    paired_shares, proportion, quantile, ratio_cells, rule_out_share, t_quantile, trimmed, welch_p, woodruff,
};

const INF: f64 = f64::INFINITY;

#[track_caller]
fn about(ours: f64, wanted: f64, within: f64) {
    assert!((ours - wanted).abs() <= within, "{ours} is not {wanted}");
}

fn shown(looks: &[Look]) -> Vec<(usize, String)> {
    looks.iter().map(|l| (l.rounds, format!("{:.4}", l.alpha))).collect()
}

#[test]
fn rule_out_shares_are_those_of_the_text() {
    about(rule_out_share(0.01, 2.5), 0.0246, 5e-5);
    about(rule_out_share(0.05, 2.5), 0.116, 5e-4);
    about(rule_out_share(0.5, 2.5), 0.714, 1e-3);
    about(rule_out_share(0.03, 1.0), 0.03, 1e-15);
    about(rule_out_share(1.0, 2.5), 1.0, 0.0);
    about(rule_out_share(0.0, 2.5), 0.0, 0.0);
}

#[test]
fn a_p99_rule_needs_121_or_299_samples() {
    about(needed_n_eff(0.01, 2.5, 0.05), 121.0, 0.0);
    about(needed_n_eff(0.01, 1.0, 0.05), 299.0, 0.0);
    assert!(needed_n_eff_at(0.01, 2.5, 0.05, 11.0) > 121.0, "with 12 rounds t reaches further");
    about(needed_n_eff_at(0.01, 2.5, 0.05, 39.0), 121.0, 0.0);
    about(needed_n_eff(0.0, 2.5, 0.05), 1.0, 0.0);
    about(needed_n_eff(1.0, 2.5, 0.05), 1.0, 0.0);
}

#[test]
fn needed_samples_are_just_enough() {
    let share = rule_out_share(0.01, 2.5);
    let upper = |n: f64| proportion(&vec![(0.0, n / 40.0); 40], None).unwrap().bounds(0.05).1;
    assert!(upper(121.0) <= share);
    assert!(upper(120.0) > share);
}

#[test]
fn forty_rounds_are_looked_at_three_times() {
    assert_eq!(shown(&looks(40, 0.05)), [(20, "0.0056".into()), (30, "0.0181".into()), (40, "0.0264".into())]);
    assert_eq!(shown(&looks(80, 0.05)).iter().map(|l| l.1.as_str()).collect::<Vec<_>>(), ["0.0001", "0.0055", "0.0181", "0.0264"]);
    assert_eq!(shown(&looks(12, 0.05)), [(12, "0.0500".into())]);
    assert_eq!(shown(&looks(5, 0.05)), [(5, "0.0500".into())], "too few rounds for an interval still end in one look");
    assert_eq!(looks_between(20, 120, 0.05).iter().map(|l| l.rounds).collect::<Vec<_>>(), [20, 40, 60, 80, 100, 120]);
    assert_eq!(looks_between(4, 30, 0.05).iter().map(|l| l.rounds).collect::<Vec<_>>(), [16, 22, 28, 30]);
    assert_eq!(looks_between(40, 40, 0.05).len(), 1);
    assert!(looks(0, 0.05).is_empty(), "nothing planned, nothing to look at");
}

#[test]
fn a_budget_reached_gets_all_that_is_left() {
    let first = look_alpha(0, 20, 40, 0.05);
    about(first + look_alpha(20, 40, 40, 0.05), 0.05, 1e-15);
    about(look_alpha(40, 44, 40, 0.05), 0.0, 0.0);
}

#[test]
fn quantiles_that_lean_on_a_failure_are_failures() {
    let values = [1.0, 2.0, INF];
    about(quantile(&values, 0.5).unwrap(), 2.0, 0.0);
    assert_eq!(quantile(&values, 0.51), Some(INF));
    assert_eq!(quantile(&[INF, INF], 0.5), Some(INF));
    assert_eq!(quantile(&[-INF, 1.0], 0.3), Some(-INF));
    assert_eq!(quantile(&[-INF, INF], 0.3), Some(INF));
    assert_eq!(quantile(&[-1e308, 1e308], 0.5), Some(0.0), "large values do not overflow");
    assert_eq!(quantile(&[], 0.5), None);
    assert_eq!(quantile(&[1.0], f64::NAN), None);
    assert_eq!(quantile(&[3.0], 0.99), Some(3.0));
}

#[test]
fn shares_without_data_or_sense_are_none() {
    assert_eq!(proportion(&[], None), None);
    assert_eq!(proportion(&[(0.0, 0.0); 12], None), None);
    assert_eq!(proportion(&[(2.0, 1.0)], None), None);
    assert_eq!(proportion(&[(-1.0, 1.0)], None), None);
    assert_eq!(proportion(&[(f64::NAN, 1.0)], None), None);
    assert_eq!(ratio_cells(&[]), None);
    assert_eq!(history_deff(&[]), None);
}

#[test]
fn rounds_without_data_are_no_clusters() {
    let with = proportion(&[(1.0, 25.0), (0.0, 0.0), (3.0, 25.0)], None);
    assert_eq!(with, proportion(&[(1.0, 25.0), (3.0, 25.0)], None));
    assert_eq!(with.unwrap().clusters, 2);
}

#[test]
fn all_good_and_all_bad_mirror_each_other() {
    let bad = proportion(&[(0.0, 25.0); 40], None).unwrap();
    let good = proportion(&[(25.0, 25.0); 40], None).unwrap();
    let ((l0, u0), (l1, u1)) = (bad.bounds(0.05), good.bounds(0.05));
    about(l0, 0.0, 0.0);
    about(u1, 1.0, 0.0);
    about(u0, 1.0 - l1, 1e-12);
    about(u0, 1.0 - 0.05_f64.powf(0.001), 1e-12);
    about(history_deff(&[bad, bad]).unwrap(), 1.0, 0.0);
    about(proportion(&[(0.0, 25.0); 40], Some(2.0)).unwrap().n_eff, 500.0, 0.0);
    about(proportion(&[(0.0, 25.0); 40], Some(0.3)).unwrap().n_eff, 1000.0, 0.0);
}

#[test]
fn no_level_makes_an_interval_nonsense() {
    let share = proportion(&[(1.0, 25.0); 12], None).unwrap();
    assert_eq!(share.bounds(0.0), (0.0, 1.0));
    let (low, high) = share.bounds(1e-12);
    assert!(low >= 0.0 && high <= 1.0 && low < high);
    assert_eq!(woodruff(0.99, 0.0, 11.0, 0.05), (0.0, 1.0));
    about(t_quantile(0.95, f64::NAN), t_quantile(0.95, 2.0), 0.0);
    about(t_quantile(0.95, INF), 1.644_853_626_951, 1e-10);
}

#[test]
fn failed_rounds_are_winsorized_up_to_a_fifth() {
    let mut y: Vec<f64> = (0..40_u32).map(|i| f64::from(i % 7) * 0.01).collect();
    let calm = trimmed(&y).unwrap();
    y.iter_mut().take(8).for_each(|v| *v = INF);
    let eight = trimmed(&y).unwrap();
    assert!(eight.mean.is_finite() && eight.variance.is_finite() && eight.mean >= calm.mean);
    y[8] = INF;
    let nine = trimmed(&y).unwrap();
    assert_eq!((nine.mean, nine.variance), (INF, 0.0));
    assert_eq!(nine.bounds(0.05), (INF, INF));
    assert_eq!(trimmed(&[-INF, -INF, 1.0]).map(|t| t.mean), Some(-INF));
    assert_eq!(trimmed(&[-INF, INF]), None);
    assert_eq!(trimmed(&[1.0]), None);
    assert_eq!(trimmed(&[1.0, f64::NAN]), None);
}

#[test]
fn equal_rounds_have_no_variance() {
    let t = trimmed(&[0.1 + 0.2; 40]).unwrap();
    about(t.mean, 0.1 + 0.2, 0.0);
    about(t.variance, 0.0, 0.0);
    assert!(t.df >= 2.0);
}

#[test]
fn history_needs_a_finite_baseline() {
    let fine = Estimate { theta: 5.0, variance: 1e-4, df: 23.0 };
    let lost = Estimate { theta: INF, variance: 0.0, df: 2.0 };
    assert_eq!(against_history(&fine, &[], 0.03), None);
    assert_eq!(against_history(&fine, &[fine, lost], 0.03), None);
    let change = against_history(&lost, &[fine], 0.03).unwrap();
    assert_eq!(change.bounds(0.05), (INF, INF));
    about(change.p_worse(1.0, 0.1), 0.0, 0.0);
    about(change.p_worse(-1.0, 0.1), 1.0, 0.0);
    assert!(change.harm_at_most(1.0, 0.05).is_infinite());
}

#[test]
fn the_candidate_may_not_look_quieter_than_history() {
    let stored = [Estimate { theta: 0.95, variance: 4e-5, df: 39.0 }; 5];
    let quiet = Estimate { theta: 0.95, variance: 0.0, df: 117.0 };
    let equal = Estimate { variance: 4e-5, ..quiet };
    assert_eq!(against_history(&quiet, &stored, 0.004), against_history(&equal, &stored, 0.004));
}

#[test]
fn without_any_error_the_count_decides() {
    let sure = Change { difference: 0.1, se: 0.0, df: 2.0, tau: 0.0 };
    about(sure.p_worse(1.0, 0.05), 0.0, 0.0);
    about(sure.p_worse(1.0, 0.1), 1.0, 0.0);
    assert_eq!(sure.bounds(0.05), (0.1, 0.1));
    let exact = Estimate { theta: 1.0, variance: 0.0, df: 2.0 };
    assert_eq!(against_history(&exact, &[exact], 0.0).unwrap().bounds(0.05), (0.0, 0.0));
}

#[test]
fn pairs_that_failed_on_both_sides_are_left_out() {
    let mut d = vec![0.1; 40];
    d[3] = f64::NAN;
    about(paired(&d).unwrap().difference, 0.1, 1e-15);
    d.iter_mut().take(9).for_each(|v| *v = f64::NAN);
    assert_eq!(paired(&d), None);
    d.iter_mut().take(9).for_each(|v| *v = INF);
    assert_eq!(paired(&d).map(|c| c.difference), Some(INF));
}

#[test]
fn equal_perfect_sides_still_have_an_error() {
    let all = [(25.0, 25.0); 40];
    let change = paired_shares(&all, &all).unwrap();
    about(change.difference, 0.0, 0.0);
    about(change.se, 0.001, 1e-12);
    assert_eq!(paired_shares(&all, &[]), None);
}

#[test]
fn welch_has_no_answer_without_variance() {
    assert_eq!(welch_p(&[0.1; 13], &[0.3; 13]), None);
    assert_eq!(welch_p(&[1.0], &[1.0, 2.0]), None);
    assert_eq!(welch_p(&[1.0, INF], &[1.0, 2.0]), None);
    assert!(welch_p(&[1.0, 1.0], &[1.0, 1.000_000_1]).is_some());
}

#[test]
fn holm_counts_tests_not_measured_yet() {
    assert_eq!(holm(&[0.02], 0.05, 1), [true]);
    assert_eq!(holm(&[0.02], 0.05, 3), [false]);
    assert_eq!(holm(&[0.02, f64::NAN, 0.001], 0.05, 3), [true, false, true]);
    assert!(holm(&[], 0.05, 3).is_empty());
    assert_eq!(holm(&[0.0, 1.0], 0.0, 2), [false, false]);
}
