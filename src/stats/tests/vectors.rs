//! Against vectors that numpy, scipy and statsmodels computed; `tests/cases/statistics/README.md` says how.

use serde_json::Value;

use crate::stats::{
    Change, Estimate, Proportion, against_history, history_deff, holm, needed_n_eff, needed_n_eff_at, obrien_fleming, paired,
    paired_shares, proportion, quantile, ratio_cells, rule_out_share, t_quantile, t_upper_tail, tau_upper, trimmed, welch_p, woodruff,
};

macro_rules! cases {
    ($name:literal) => {
        read(include_str!(concat!("../../../tests/cases/statistics/", $name, ".json")))
    };
}

fn read(text: &str) -> Vec<Value> {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    assert!(!cases.is_empty());
    cases
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap_or_else(|| panic!("{key} is no number in {case}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn cells(value: &Value) -> Vec<(f64, f64)> {
    value.as_array().unwrap().iter().map(|cell| (cell[0].as_f64().unwrap(), cell[1].as_f64().unwrap())).collect()
}

fn estimate(value: &Value) -> Estimate {
    Estimate { theta: number(value, "theta"), variance: number(value, "variance"), df: number(value, "df") }
}

/// To nine digits.
#[track_caller]
fn near(ours: f64, case: &Value, key: &str) {
    let theirs = number(case, key);
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs() + 1e-13, "{key}: {ours} is not {theirs} in {case}");
}

#[test]
fn student_t_agrees_with_scipy() {
    for case in cases!("t_quantile") {
        let (ours, theirs) = (t_quantile(number(&case, "p"), number(&case, "df")), number(&case, "t"));
        assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{ours} in {case}");
    }
    for case in cases!("t_upper_tail") {
        near(t_upper_tail(number(&case, "x"), number(&case, "df")), &case, "p");
    }
}

#[test]
fn quantile_agrees_with_numpy() {
    for case in cases!("quantile") {
        near(quantile(&numbers(&case["sorted"]), number(&case, "q")).unwrap(), &case, "value");
    }
}

#[test]
fn proportion_agrees_with_the_clustered_wilson_interval() {
    for case in cases!("proportion") {
        let share = proportion(&cells(&case["cells"]), case["deff_hist"].as_f64()).unwrap();
        near(share.p, &case, "p");
        near(share.variance, &case, "variance");
        near(share.deff, &case, "deff");
        near(share.n_eff, &case, "n_eff");
        let (low, high) = share.bounds(number(&case, "alpha"));
        near(low, &case, "low");
        near(high, &case, "high");
    }
}

#[test]
fn ratio_of_sums_agrees() {
    for case in cases!("ratio") {
        let (p, variance) = ratio_cells(&cells(&case["cells"])).unwrap();
        near(p, &case, "p");
        near(variance, &case, "variance");
    }
}

#[test]
fn design_effect_of_stored_runs_agrees() {
    for case in cases!("history_deff") {
        let runs: Vec<Proportion> = case["runs"].as_array().unwrap().iter().map(|run| proportion(&cells(run), None).unwrap()).collect();
        near(history_deff(&runs).unwrap(), &case, "deff");
    }
}

#[test]
fn rule_out_share_and_the_samples_it_needs_agree() {
    for case in cases!("rule_out") {
        let (allowed, r) = (number(&case, "allowed"), number(&case, "r"));
        near(rule_out_share(allowed, r), &case, "share");
        for needed in case["needed"].as_array().unwrap() {
            let alpha = number(needed, "alpha");
            let ours = match needed["df"].as_f64() {
                Some(df) => needed_n_eff_at(allowed, r, alpha, df),
                None => needed_n_eff(allowed, r, alpha),
            };
            near(ours, needed, "n");
        }
    }
}

#[test]
fn woodruff_levels_agree() {
    for case in cases!("woodruff") {
        let (low, high) = woodruff(number(&case, "q"), number(&case, "n_eff"), number(&case, "df"), number(&case, "alpha"));
        near(low, &case, "low");
        near(high, &case, "high");
    }
}

#[test]
fn trimmed_mean_agrees() {
    for case in cases!("trimmed") {
        let ours = trimmed(&numbers(&case["y"])).unwrap();
        near(ours.mean, &case, "mean");
        near(ours.variance, &case, "variance");
        near(ours.df, &case, "df");
    }
}

#[test]
fn change_against_history_agrees() {
    for case in cases!("against_history") {
        let stored: Vec<Estimate> = case["stored"].as_array().unwrap().iter().map(estimate).collect();
        let change = against_history(&estimate(&case["candidate"]), &stored, number(&case, "tau0")).unwrap();
        near(change.difference, &case, "difference");
        near(change.se, &case, "se");
        near(change.df, &case, "df");
        near(change.tau, &case, "tau");
        near(tau_upper(change.tau, stored.len()), &case, "tau_upper");
        near(change.p_worse(number(&case, "harm_sign"), number(&case, "limit")), &case, "p_worse");
        let (low, high) = change.bounds(0.0056);
        near(low, &case, "low");
        near(high, &case, "high");
    }
}

#[test]
fn paired_rounds_agree() {
    for case in cases!("paired") {
        let Change { difference, se, df, tau } = paired(&numbers(&case["differences"])).unwrap();
        near(difference, &case, "difference");
        near(se, &case, "se");
        near(df, &case, "df");
        assert!(tau <= 0.0);
        let share = paired_shares(&cells(&case["baseline"]), &cells(&case["candidate"])).unwrap();
        near(share.difference, &case, "share_difference");
        near(share.se, &case, "share_se");
        near(share.df, &case, "share_df");
    }
}

#[test]
fn welch_agrees_with_scipy() {
    for case in cases!("welch") {
        near(welch_p(&numbers(&case["a"]), &numbers(&case["b"])).unwrap(), &case, "p");
    }
}

#[test]
fn holm_agrees_with_statsmodels() {
    for case in cases!("holm") {
        let tests = usize::try_from(case["tests"].as_u64().unwrap()).unwrap();
        let ours = holm(&numbers(&case["p"]), number(&case, "alpha"), tests);
        let theirs: Vec<bool> = case["rejected"].as_array().unwrap().iter().map(|v| v.as_bool().unwrap()).collect();
        assert_eq!(ours, theirs, "{case}");
    }
}

#[test]
fn spending_agrees_with_scipy() {
    for case in cases!("spending") {
        near(obrien_fleming(number(&case, "t"), number(&case, "alpha")), &case, "spent");
    }
}
