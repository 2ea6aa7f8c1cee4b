use super::{all, formula, lengths, plan, spec, with_lengths};
use crate::plan::{Fit, Hunt, PROBE_WORDS, PlanError, PlanWarning, ProbePoint, Prompt, interpret, probe_text};
use crate::spec::Distribution;
use std::collections::HashSet;

/// A server that counts `c0` for its template and 2 for each word of `bad`.
fn count(text: &str, c0: u64, bad: &HashSet<&str>) -> u64 {
    c0 + text.split(' ').map(|word| if bad.contains(word) { 2 } else { 1 }).sum::<u64>()
}

fn points(counted: impl Fn(u64) -> u64) -> Vec<ProbePoint> {
    PROBE_WORDS.iter().map(|words| ProbePoint { words: *words, prompt_tokens: counted(*words) }).collect()
}

fn words(prompt: &Prompt) -> u64 {
    match prompt {
        Prompt::Text(text) => text.split(' ').count() as u64,
        Prompt::Messages(_) => 0,
    }
}

#[test]
fn a_slope_of_exactly_one_gives_the_template() {
    let fit = interpret(&points(|words| words + 36)).unwrap();
    assert_eq!(fit, Fit { c0: 36, exact: true, ..Fit::default() });
}

#[test]
fn any_other_slope_is_fitted_and_called_approximate() {
    let fit = interpret(&points(|words| words * 5 / 4 + 10)).unwrap();
    assert!(!fit.exact);
    assert_eq!(fit.c0, 10);
    let slope = fit.approximate.unwrap();
    assert!((slope - 1.25).abs() < 1e-9, "{slope}");
    let fitted = plan(&with_lengths(formula(Distribution::Constant(1260), Distribution::Constant(1)))).fit(&fit).unwrap();
    assert_eq!(words(&fitted.prompt(&all(&fitted)[0])), 1000);
    assert!(fitted.warnings.contains(&PlanWarning::ApproximateLengths { slope }));
}

#[test]
fn one_token_off_in_one_probe_is_not_exact() {
    let fit = interpret(&points(|words| words + 8 + u64::from(words == 4128))).unwrap();
    assert!(!fit.exact && fit.approximate.is_some());
}

#[test]
fn counts_that_do_not_grow_with_the_words_calibrate_nothing() {
    assert_eq!(interpret(&points(|_| 5)), None);
    assert_eq!(interpret(&points(|_| 0)), None);
    assert_eq!(interpret(&[]), None);
    assert_eq!(interpret(&[ProbePoint { words: 32, prompt_tokens: 40 }; 3]), None);
    assert_eq!(interpret(&points(|words| u64::MAX - words)), None);
}

#[test]
fn probes_have_their_words_and_no_two_runs_share_one() {
    assert_eq!(probe_text(1056, 1).split(' ').count(), 1056);
    assert_eq!(probe_text(1056, 1), probe_text(1056, 1));
    let head = |words, salt| probe_text(words, salt).split(' ').take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_ne!(head(1056, 1), head(1056, 2));
    assert_ne!(head(1056, 1), head(32, 1));
}

#[test]
fn a_fitted_plan_asks_the_same_lengths_with_fewer_words() {
    let bare = plan(&spec());
    let fit = Fit { c0: 36, exact: true, ..Fit::default() };
    let fitted = bare.clone().fit(&fit).unwrap();
    assert_eq!(bare.digest(), fitted.digest());
    for (before, after) in all(&bare).iter().zip(all(&fitted)).take(100) {
        assert_eq!(after.asked_input, before.asked_input.max(37));
        assert_eq!(words(&fitted.prompt(&after)), after.asked_input - 36);
    }
    let below = include_str!("../data/chat.csv").lines().skip(1);
    let below = below.filter(|line| line.split_once(',').unwrap().0.parse::<u64>().unwrap() < 37).count() as u64;
    let expected = PlanWarning::BelowTemplate { part: None, pairs: below, least: 37 };
    assert!(below > 0 && fitted.warnings.contains(&expected), "{:?}", fitted.warnings);
}

#[test]
fn pairs_over_the_served_context_are_dropped_and_counted() {
    let fit = Fit { c0: 10, context: Some(1024), exact: true, ..Fit::default() };
    let fitted = plan(&spec()).fit(&fit).unwrap();
    let dropped = fitted.workload_info().dropped;
    let expected = PlanWarning::OverContext { part: None, dropped, of: 2048, context: 1024 };
    assert!(dropped > 0 && fitted.warnings.contains(&expected), "{:?}", fitted.warnings);
    assert!(lengths(&all(&fitted)).iter().all(|(input, output)| input + output <= 1024));
    assert_eq!(fitted.total_requests(), plan(&spec()).total_requests());
    assert_ne!(fitted.digest(), plan(&spec()).digest());
    let none = plan(&spec()).fit(&Fit { context: Some(10), ..fit }).unwrap_err();
    assert_eq!(none, PlanError::AllDropped { part: None, dropped: 2048 });
}

#[test]
fn the_hunt_finds_exactly_the_words_that_the_tokenizer_splits() {
    let list: Vec<_> = include_str!("../data/words4096.csv").lines().skip(1).filter_map(|line| Some(line.split_once(',')?.0)).collect();
    for bad in [HashSet::new(), HashSet::from([list[1], list[300], list[301], list[4095]])] {
        let mut hunt = Hunt::new();
        let mut asked = 0;
        while let Some(text) = hunt.next_text() {
            hunt.answer(count(&text, 21, &bad));
            asked += 1;
        }
        assert!(asked <= 17 + 16 * bad.len(), "{asked} requests");
        let found = hunt.bad_words().unwrap();
        assert_eq!(found.iter().map(String::as_str).collect::<HashSet<_>>(), bad);
        let fit = Fit { exact: true, bad_words: found, ..Fit::default() };
        let fitted = plan(&with_lengths(formula(Distribution::Constant(20_000), Distribution::Constant(1)))).fit(&fit).unwrap();
        let Prompt::Text(text) = fitted.prompt(&all(&fitted)[0]) else { panic!("messages") };
        assert_eq!(count(&text, 0, &bad), 20_000);
    }
}

#[test]
fn a_hunt_among_too_many_bad_words_or_senseless_counts_is_given_up() {
    let tokens = |text: &str| 2 * text.split(' ').count() as u64;
    for senseless in [false, true] {
        let mut hunt = Hunt::new();
        while let Some(text) = hunt.next_text() {
            hunt.answer(if senseless { 3 } else { tokens(&text) });
        }
        assert_eq!(hunt.bad_words(), None);
    }
}
