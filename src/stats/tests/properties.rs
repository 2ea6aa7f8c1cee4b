//! What must hold for any data.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::stats::{
    Change, Estimate, against_history, holm, looks, looks_between, needed_n_eff_at, paired, paired_shares, proportion, quantile,
    rule_out_share, t_quantile, t_upper_tail, tau_upper, trimmed, welch_p, woodruff,
};

/// A log latency, now and then of a failed or an empty round.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![8 => -10.0..10.0_f64, 1 => Just(0.5), 1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY), 1 => -1e300..1e300_f64]
}

fn finite_rounds() -> impl Strategy<Value = Vec<f64>> {
    vec(-10.0..10.0_f64, 12..60)
}

fn cells() -> impl Strategy<Value = Vec<(f64, f64)>> {
    vec((0_u32..=60, 0_u32..=60).prop_map(|(g, n)| (f64::from(g.min(n)), f64::from(n))), 1..60)
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (-5.0..5.0_f64, prop_oneof![Just(0.0), 1e-8..0.1_f64], 0.0..120.0_f64).prop_map(|(theta, variance, df)| Estimate {
        theta,
        variance,
        df,
    })
}

fn alpha() -> impl Strategy<Value = f64> {
    prop_oneof![1e-6..0.5_f64, Just(0.05)]
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-7 * (1.0 + a.abs().max(b.abs()))
}

fn no_nan(change: &Change, alpha: f64) -> bool {
    let (low, high) = change.bounds(alpha);
    let p = change.p_worse(1.0, 0.1);
    !change.difference.is_nan() && change.se >= 0.0 && change.df >= 2.0 && low <= high && (0.0..=1.0).contains(&p)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn student_is_monotone_and_odd(p in 1e-9..1.0_f64, q in 1e-9..1.0_f64, df in prop_oneof![0.0..100.0_f64, 0.0..1e8_f64]) {
        let (low, high) = if p < q { (p, q) } else { (q, p) };
        prop_assert!(t_quantile(low, df) <= t_quantile(high, df) + 1e-9);
        prop_assert!(t_quantile(0.5, df).abs() < 1e-12);
        let x = t_quantile(p, df);
        prop_assert!((t_upper_tail(x, df) - (1.0 - p)).abs() < 1e-9, "{x}");
    }

    #[test]
    fn quantiles_lie_within_the_values_and_rise_with_q(mut x in vec(value(), 1..50), q in 0.0..=1.0_f64, more in 0.0..=1.0_f64) {
        x.sort_by(f64::total_cmp);
        let at = quantile(&x, q).unwrap();
        prop_assert!(at >= x[0] && at <= x[x.len() - 1]);
        prop_assert!(quantile(&x, (q + more).min(1.0)).unwrap() >= at);
    }

    #[test]
    fn shares_never_leave_their_range(cells in cells(), hist in proptest::option::of(0.1..20.0_f64), alpha in alpha()) {
        if let Some(share) = proportion(&cells, hist) {
            let (low, high) = share.bounds(alpha);
            prop_assert!(0.0 <= low && low <= share.p && share.p <= high && high <= 1.0, "{share:?} {low} {high}");
            prop_assert!(share.deff >= 1.0 && share.n_eff <= share.total && share.df >= 2.0);
        }
    }

    #[test]
    fn counting_the_good_mirrors_counting_the_bad(cells in cells(), alpha in alpha()) {
        let mirrored: Vec<_> = cells.iter().map(|(g, n)| (n - g, *n)).collect();
        if let (Some(bad), Some(good)) = (proportion(&cells, None), proportion(&mirrored, None)) {
            let ((l, u), (gl, gu)) = (bad.bounds(alpha), good.bounds(alpha));
            prop_assert!(close(l, 1.0 - gu) && close(u, 1.0 - gl));
        }
    }

    /// A FAIL needs L above the allowed share, a PASS needs p within it.
    #[test]
    fn one_more_breach_never_turns_fail_into_pass(cells in cells(), at in any::<prop::sample::Index>(), allowed in 0.001..0.5_f64) {
        let mut worse = cells.clone();
        let cell = &mut worse[at.index(cells.len())];
        cell.0 = (cell.0 + 1.0).min(cell.1);
        if let (Some(before), Some(after)) = (proportion(&cells, None), proportion(&worse, None)) {
            prop_assert!(before.bounds(0.05).0 <= allowed || after.p > allowed);
        }
    }

    #[test]
    fn more_history_of_noise_never_narrows_a_share(cells in cells(), deff in 1.0..20.0_f64) {
        if let (Some(own), Some(with)) = (proportion(&cells, None), proportion(&cells, Some(deff))) {
            let ((l, u), (wl, wu)) = (own.bounds(0.05), with.bounds(0.05));
            prop_assert!(wl <= l + 1e-12 && wu >= u - 1e-12);
        }
    }

    #[test]
    fn trimmed_is_never_nan(y in vec(value(), 0..60), alpha in alpha()) {
        if let Some(t) = trimmed(&y) {
            let (low, high) = t.bounds(alpha);
            prop_assert!(!t.mean.is_nan() && t.variance >= 0.0 && t.df >= 2.0 && low <= high);
        }
    }

    #[test]
    fn another_unit_shifts_the_mean_only(y in finite_rounds(), shift in -10.0..10.0_f64) {
        let (plain, moved) = (trimmed(&y).unwrap(), trimmed(&y.iter().map(|v| v + shift).collect::<Vec<_>>()).unwrap());
        prop_assert!(close(plain.mean + shift, moved.mean) && close(plain.variance, moved.variance) && close(plain.df, moved.df));
    }

    #[test]
    fn a_slower_round_never_lowers_the_mean(y in finite_rounds(), at in any::<prop::sample::Index>(), by in value()) {
        let mut slower = y.clone();
        slower[at.index(y.len())] += by.abs();
        prop_assert!(trimmed(&slower).unwrap().mean >= trimmed(&y).unwrap().mean - 1e-12);
    }

    #[test]
    fn a_change_is_never_nan(c in estimate(), infinite in 0..10_u8, stored in vec(estimate(), 1..12), alpha in alpha(), tau0 in 0.0..0.1_f64) {
        let c = Estimate { theta: if infinite == 0 { f64::INFINITY } else { c.theta }, ..c };
        let change = against_history(&c, &stored, tau0).unwrap();
        prop_assert!(no_nan(&change, alpha), "{change:?}");
        prop_assert!(tau_upper(change.tau, stored.len()) >= change.tau);
    }

    #[test]
    fn a_slower_candidate_never_has_less_evidence_against_it(c in estimate(), stored in vec(estimate(), 1..8), by in 0.0..3.0_f64, d in 0.0..0.5_f64) {
        let slower = Estimate { theta: c.theta + by, ..c };
        let (plain, slow) = (against_history(&c, &stored, 0.03).unwrap(), against_history(&slower, &stored, 0.03).unwrap());
        prop_assert!(slow.p_worse(1.0, d) <= plain.p_worse(1.0, d));
        prop_assert!(slow.p_worse(-1.0, d) >= plain.p_worse(-1.0, d));
        prop_assert!(slow.harm_at_most(1.0, 0.05) >= plain.harm_at_most(1.0, 0.05));
        prop_assert!(slow.difference.is_finite() && slow.df >= 2.0);
    }

    #[test]
    fn a_fail_is_a_bound_beyond_the_limit(c in estimate(), stored in vec(estimate(), 1..8), alpha in 1e-4..0.4_f64, d in 0.0..0.5_f64) {
        let change = against_history(&c, &stored, 0.03).unwrap();
        let margin = change.bounds(alpha).0 - d;
        if margin.abs() > 1e-9 {
            prop_assert_eq!(change.p_worse(1.0, d) < alpha, margin > 0.0);
        }
    }

    #[test]
    fn the_order_of_stored_runs_does_not_matter(c in estimate(), mut stored in vec(estimate(), 1..8)) {
        let forth = against_history(&c, &stored, 0.03).unwrap();
        stored.reverse();
        let back = against_history(&c, &stored, 0.03).unwrap();
        prop_assert!(close(forth.difference, back.difference) && close(forth.se, back.se) && close(forth.df, back.df));
    }

    #[test]
    fn swapping_paired_sides_flips_the_sign(y in finite_rounds()) {
        let (there, back) = (paired(&y).unwrap(), paired(&y.iter().map(|d| -d).collect::<Vec<_>>()).unwrap());
        prop_assert!(close(there.difference, -back.difference) && close(there.se, back.se) && close(there.df, back.df));
    }

    #[test]
    fn swapping_sides_of_shares_flips_the_sign(a in cells(), b in cells()) {
        match (paired_shares(&a, &b), paired_shares(&b, &a)) {
            (Some(there), Some(back)) => prop_assert!(close(there.difference, -back.difference) && close(there.df, back.df)),
            (there, back) => prop_assert!(there.is_none() && back.is_none()),
        }
    }

    #[test]
    fn paired_is_never_nan(d in vec(prop_oneof![value(), Just(f64::NAN)], 0..60), a in cells(), b in cells(), alpha in alpha()) {
        prop_assert!(paired(&d).is_none_or(|change| no_nan(&change, alpha)));
        prop_assert!(paired_shares(&a, &b).is_none_or(|change| no_nan(&change, alpha)));
    }

    #[test]
    fn welch_is_a_probability_and_symmetric(a in vec(value(), 0..30), b in vec(value(), 0..30)) {
        let (there, back) = (welch_p(&a, &b), welch_p(&b, &a));
        prop_assert_eq!(there.is_some(), back.is_some());
        if let (Some(there), Some(back)) = (there, back) {
            prop_assert!((0.0..=1.0).contains(&there) && close(there, back));
        }
    }

    #[test]
    fn holm_lies_between_bonferroni_and_no_correction(p in vec(0.0..1.0_f64, 0..8), more in 0_usize..4, alpha in alpha()) {
        let tests = p.len() + more;
        for (value, rejected) in p.iter().zip(holm(&p, alpha, tests)) {
            prop_assert!(!rejected || *value < alpha);
            prop_assert!(rejected || *value >= alpha / tests as f64);
        }
    }

    #[test]
    fn looks_spend_exactly_alpha(rounds in 1_usize..500, least in 1_usize..500, alpha in alpha()) {
        for looks in [looks(rounds, alpha), looks_between(least.min(rounds), rounds, alpha)] {
            prop_assert!(close(looks.iter().map(|l| l.alpha).sum::<f64>(), alpha));
            prop_assert_eq!(looks.last().unwrap().rounds, rounds);
            prop_assert!(looks.windows(2).all(|w| w[0].rounds < w[1].rounds && w[0].rounds >= 12));
        }
    }

    #[test]
    fn woodruff_levels_hold_the_quantile(q in 0.001..0.999_f64, n in 1.0..1e6_f64, df in 2.0..100.0_f64, alpha in alpha()) {
        let (low, high) = woodruff(q, n, df, alpha);
        prop_assert!(0.0 <= low && low <= q && q <= high && high <= 1.0);
    }

    #[test]
    fn a_pass_is_within_reach_from_the_needed_samples(allowed in 0.0005..0.9_f64, r in 1.0..5.0_f64, df in 11.0..100.0_f64, alpha in 1e-4..0.3_f64) {
        let needed = needed_n_eff_at(allowed, r, alpha, df);
        let share = rule_out_share(allowed, r);
        let upper = |n: f64| woodruff(0.0, n, df, alpha).1.max(1.0 - alpha.powf(1.0 / n));
        prop_assert!(upper(needed) <= share + 1e-12);
        prop_assert!(needed <= 1.0 || upper(needed - 1.0) >= share - 1e-12);
    }
}
