use super::{all, counted, file, formula, lengths, moments, named, plan, spec, with_lengths};
use crate::plan::{Inputs, PlanError, PlanWarning, build, workloads};
use crate::spec::{Distribution, Lengths, Offered, RoundLength, Rounds, Turns, WarmUp};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn from_file(path: &str) -> crate::spec::Spec {
    with_lengths(Lengths::File(PathBuf::from(path)))
}

#[test]
fn the_pinned_seed_gives_the_pinned_workload() {
    let chat = plan(&spec());
    let first = lengths(&counted(&chat, 0)[..6]);
    assert_eq!(first, [(1017, 386), (788, 118), (1033, 397), (1316, 288), (1028, 427), (1012, 389)]);
    assert_eq!(chat.digest(), "b7e0b156eb345c9f761ad29730f0bd9b103957d8a5d976417864b03f038cb84b");
}

#[test]
fn a_second_build_is_the_same_plan_and_another_salt_changes_no_length() {
    let (one, two) = (build(&spec(), &Inputs::default(), 1).unwrap(), build(&spec(), &Inputs::default(), 2).unwrap());
    assert_eq!(all(&one), all(&one));
    assert_eq!(all(&one), all(&two));
    assert_eq!(one.digest(), two.digest());
}

#[test]
fn another_seed_gives_another_order_and_digest() {
    let mut other = spec();
    other.load.seed = 43;
    let (one, two) = (plan(&spec()), plan(&other));
    assert_ne!(lengths(&all(&one)), lengths(&all(&two)));
    assert_ne!(one.digest(), two.digest());
}

#[test]
fn rounds_keep_their_lengths_whatever_the_warm_up_and_the_number_of_rounds() {
    let mut other = spec();
    other.load.warmup = WarmUp::Requests(3);
    other.load.rounds = Rounds { min: 10, max: 50 };
    let (one, two) = (plan(&spec()), plan(&other));
    assert_eq!(lengths(&counted(&one, 0)), lengths(&counted(&two, 0))[..1000]);
    assert_eq!(one.digest(), two.digest());
}

#[test]
fn each_pair_is_drawn_once_a_pass_and_passes_differ() {
    let mut spec = spec();
    spec.load.rounds = Rounds { min: 2, max: 2 };
    spec.load.round = RoundLength::Requests(2048);
    let plan = plan(&spec);
    let drawn = lengths(&counted(&plan, 0));
    let (first, second) = drawn.split_at(2048);
    assert_ne!(first, second);
    let sorted = |pairs: &[(u64, u64)]| {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        pairs
    };
    let sample: Vec<_> = include_str!("../data/chat.csv")
        .lines()
        .skip(1)
        .map(|line| line.split_once(',').map(|(input, output)| (input.parse().unwrap(), output.parse().unwrap())).unwrap())
        .collect();
    assert_eq!(sorted(first), sorted(&sample));
    assert_eq!(sorted(second), sorted(&sample));
}

#[test]
fn every_bundled_workload_has_its_percentiles_and_its_licence() {
    let found: Vec<_> =
        workloads().iter().map(|each| (each.name, each.pairs, each.input.p50, each.input.p95, each.output.p50, each.output.p95)).collect();
    assert_eq!(
        found,
        [
            ("chat", 2048, 1020, 4082, 129, 452),
            ("code-completion", 2048, 1467, 7354, 13, 89),
            ("long-context-chat", 2048, 6904, 40068, 350, 702),
            ("reasoning", 2048, 206, 6665, 801, 5569),
            ("agent-coding", 4262, 72613, 120_053, 216, 1356),
            ("batch", 2048, 1020, 4082, 129, 452),
        ]
    );
    for each in workloads() {
        assert!(each.licence.contains("CC-BY-4.0") || each.licence.contains("Apache-2.0"), "{}", each.name);
        let info = plan(&with_lengths(Lengths::Bundled(each.name.to_owned()))).workload_info();
        assert_eq!(info.input_p50_p95, Some((each.input.p50, each.input.p95)));
        assert_eq!(info.output_p50_p95, Some((each.output.p50, each.output.p95)));
    }
}

#[test]
fn what_is_not_supported_yet_is_refused_by_name() {
    let refuse = |spec: &crate::spec::Spec| build(spec, &Inputs::default(), 0).unwrap_err().to_string();
    let unknown = build(&with_lengths(Lengths::Bundled("chats".to_owned())), &Inputs::default(), 0).unwrap_err();
    assert_eq!(unknown, PlanError::UnknownLengths { name: "chats".to_owned() });
    assert!(unknown.help().contains("chat, code-completion, long-context-chat, reasoning, agent-coding, batch"));
    let mut turns = crate::plan::tests::at_rate(4.0, crate::spec::Arrival::Poisson);
    turns.workload.parts[0].turns = Turns::Geometric { mean: 4.0 };
    assert_eq!(refuse(&turns), "a load.rate for sessions of several turns is not supported yet");
    let mut idle = spec();
    idle.load.offered = None;
    assert_eq!(build(&idle, &Inputs::default(), 0).unwrap_err(), PlanError::NoLoad);
}

#[test]
fn longer_pairs_are_dropped_and_counted_never_clamped() {
    let mut spec = spec();
    spec.workload.parts[0].max_input = Some(1020);
    spec.workload.parts[0].max_output = Some(100);
    let plan = plan(&spec);
    let kept = include_str!("../data/chat.csv").lines().skip(1).filter(|line| {
        let (input, output) = line.split_once(',').unwrap();
        input.parse::<u64>().unwrap() <= 1020 && output.parse::<u64>().unwrap() <= 100
    });
    let kept = kept.count() as u64;
    let dropped = 2048 - kept;
    assert!(plan.warnings.contains(&PlanWarning::TooLong { part: None, dropped, of: 2048 }), "{:?}", plan.warnings);
    assert_eq!(plan.workload_info().dropped, dropped);
    let drawn = lengths(&all(&plan));
    assert!(drawn.iter().all(|(input, output)| *input <= 1020 && *output <= 100));
    let at_the_limit = drawn.iter().filter(|pair| pair.0 == 1020 || pair.1 == 100).count();
    assert!(at_the_limit * 20 < drawn.len(), "{at_the_limit} of {} lie at the limit", drawn.len());
}

#[test]
fn a_limit_below_every_pair_is_an_error() {
    let mut spec = spec();
    spec.workload.parts[0].max_input = Some(1);
    let error = build(&spec, &Inputs::default(), 0).unwrap_err();
    assert_eq!(error, PlanError::AllDropped { part: None, dropped: 2048 });
}

#[test]
fn equal_lengths_are_warned_of_with_the_reason() {
    let constant = plan(&with_lengths(formula(Distribution::Constant(1000), Distribution::Constant(100))));
    assert_eq!(constant.warnings, [PlanWarning::EqualLengths { part: None, input: 1000, output: 100 }]);
    let text = constant.warnings[0].to_string();
    assert!(text.contains("1.1 to 7.9 times"), "{text}");
    let trace = build(&from_file("a.csv"), &file("a.csv", "input_tokens,output_tokens\n5,6\n5,6\n"), 0).unwrap();
    assert_eq!(trace.warnings, [PlanWarning::EqualLengths { part: None, input: 5, output: 6 }]);
    assert!(plan(&spec()).warnings.is_empty());
}

#[test]
fn every_known_header_is_found_wherever_its_columns_stand() {
    for (text, pairs) in [
        ("input_tokens,output_tokens\n1,2\n3,4\n", [(1, 2), (3, 4)]),
        ("\u{feff}prompt_tokens,completion_tokens\r\n1,2\r\n3,4\r\n", [(1, 2), (3, 4)]),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6,1,2\n2023-11-16 18:15:47.6,3,4\n", [(1, 2), (3, 4)]),
        ("output_length, input_length\n2, 1\n4, 3\n", [(1, 2), (3, 4)]),
        ("\"output_tokens\",\"input_tokens\"\n\"2\",\"1\"\n\"4\",\"3\"\n", [(1, 2), (3, 4)]),
        (
            "{\"input_length\": 1, \"output_length\": 2, \"hash_ids\": [0]}\n\n{\"input_length\": 3, \"output_length\": 4}\n",
            [(1, 2), (3, 4)],
        ),
    ] {
        let plan = build(&from_file("own"), &file("own", text), 0).unwrap();
        let mut drawn = lengths(&counted(&plan, 0)[..2]);
        drawn.sort_unstable();
        assert_eq!(drawn, pairs, "{text}");
        assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    }
}

#[test]
fn bad_rows_are_counted_by_line_and_never_quoted() {
    let text = "input_tokens,output_tokens\n10,20\nsecret,5\n\n7\n0,3\n4,0\n-1,2\n99999999999,1\n30,40\n";
    let plan = build(&from_file("a.csv"), &file("a.csv", text), 0).unwrap();
    let warning = PlanWarning::BadRows { path: PathBuf::from("a.csv"), count: 6, lines: vec![3, 5, 6, 7, 8, 9] };
    assert_eq!(plan.warnings, std::slice::from_ref(&warning));
    assert_eq!(warning.to_string(), "a.csv: 6 rows could not be read and are left out (lines 3, 5, 6, 7, 8, 9)");
    assert!(!format!("{:?}", plan.warnings).contains("secret"));
}

#[test]
fn a_file_without_a_usable_row_is_an_error() {
    let of = |text: &str| build(&from_file("a.csv"), &file("a.csv", text), 0).unwrap_err();
    let path = PathBuf::from("a.csv");
    assert_eq!(of(""), PlanError::NoRows { path: path.clone(), bad_rows: 0, lines: vec![] });
    assert_eq!(of("input_tokens,output_tokens\nx,y\n"), PlanError::NoRows { path: path.clone(), bad_rows: 1, lines: vec![2] });
    assert_eq!(of("{\"input_tokens\": -1}\n"), PlanError::NoRows { path: path.clone(), bad_rows: 1, lines: vec![1] });
    assert_eq!(of("password,hunter2\n1,2\n"), PlanError::Header { path: path.clone() });
    assert!(!of("password,hunter2\n").to_string().contains("hunter2"));
    assert_eq!(build(&from_file("a.csv"), &Inputs { files: BTreeMap::new() }, 0).unwrap_err(), PlanError::Missing { path });
}

#[test]
fn formulas_have_their_moments() {
    let sigmas = 5.0;
    let root = 4096_f64.sqrt();
    // Of each: the mean, the standard deviation, and the kurtosis that makes the latter's own error.
    for (of, mean, sd, kurtosis) in [
        (Distribution::Uniform(100, 299), 199.5, 57.73, 1.8),
        (Distribution::Normal { mean: 800.0, sd: 100.0 }, 800.0, 100.0, 3.0),
        (Distribution::Lognormal { mean: 800.0, sd: 300.0 }, 800.0, 300.0, 5.4),
    ] {
        let mut spec = with_lengths(formula(of, of));
        spec.load.round = RoundLength::Requests(4096);
        spec.load.rounds = Rounds { min: 1, max: 1 };
        let drawn = lengths(&counted(&plan(&spec), 0));
        let inputs: Vec<_> = drawn.iter().map(|pair| pair.0 as f64).collect();
        let outputs: Vec<_> = drawn.iter().map(|pair| pair.1 as f64).collect();
        assert_ne!(inputs, outputs, "input and output are drawn apart");
        for values in [inputs, outputs] {
            let (found_mean, found_sd) = moments(&values);
            assert!((found_mean - mean).abs() < sigmas * sd / root, "{of:?}: mean {found_mean}");
            let error = sd * ((kurtosis - 1.0) / 4.0_f64).sqrt() / root;
            assert!((found_sd - sd).abs() < sigmas * error, "{of:?}: sd {found_sd}");
        }
    }
}

#[test]
fn formulas_that_give_no_length_are_errors() {
    for of in [
        Distribution::Constant(0),
        Distribution::Uniform(5, 4),
        Distribution::Normal { mean: -1e9, sd: 1.0 },
        Distribution::Normal { mean: f64::NAN, sd: 1.0 },
        Distribution::Lognormal { mean: 0.0, sd: 1.0 },
        Distribution::Constant(u64::MAX),
    ] {
        let error = build(&with_lengths(formula(of, Distribution::Constant(1))), &Inputs::default(), 0).unwrap_err();
        assert!(matches!(error, PlanError::Impossible { .. }), "{of:?}: {error}");
    }
}

#[test]
fn parts_come_by_their_shares_in_every_round() {
    let mut spec = spec();
    spec.workload.parts =
        vec![named("chat", 0.6, Lengths::Bundled("chat".to_owned())), named("code", 0.4, Lengths::Bundled("code-completion".to_owned()))];
    spec.load.offered = Some(Offered::Concurrency(50));
    let plan = plan(&spec);
    for round in 0..40 {
        let requests = plan.round_requests(0, round);
        let chat = requests.iter().filter(|planned| planned.part.as_deref() == Some("chat")).count();
        assert!((28..=32).contains(&chat), "round {round}: {chat} of 50");
    }
    let info = plan.workload_info();
    assert_eq!(
        info.label,
        "chat (60 %): chat lengths, unique prompts, one turn; code (40 %): code-completion lengths, unique prompts, one turn"
    );
}

proptest! {
    #[test]
    fn no_file_makes_the_planner_panic(text in ".{0,200}") {
        let _ = build(&from_file("own"), &file("own", &text), 0);
        let _ = build(&from_file("own"), &file("own", &format!("input_tokens,output_tokens\n{text}")), 0);
        let mut prompts = spec();
        prompts.workload.parts[0].prompts = crate::spec::Prompts::File(PathBuf::from("own"));
        let _ = build(&prompts, &file("own", &text), 0);
    }
}

/// The largest distance between two empirical distributions.
fn ks(mut a: Vec<u64>, mut b: Vec<u64>) -> f64 {
    a.sort_unstable();
    b.sort_unstable();
    let at = |of: &[u64], value: u64| of.partition_point(|each| *each <= value) as f64 / of.len() as f64;
    a.iter().chain(&b).map(|value| (at(&a, *value) - at(&b, *value)).abs()).fold(0.0, f64::max)
}

#[test]
fn two_thousand_draws_are_spread_as_their_source() {
    for each in workloads().iter().filter(|each| each.name != "agent-coding") {
        let mut spec = with_lengths(Lengths::Bundled(each.name.to_owned()));
        spec.load.round = RoundLength::Requests(50);
        let drawn = super::lengths(&super::counted(&plan(&spec), 0));
        let source = crate::plan::bundled::sample(each.name).unwrap();
        assert_eq!(drawn.len(), 2000);
        for side in [|pair: &(u64, u64)| pair.0, |pair: &(u64, u64)| pair.1] {
            let distance = ks(drawn.iter().map(side).collect(), source.iter().map(side).collect());
            assert!(distance < 0.02, "{}: {distance}", each.name);
        }
    }
}

#[test]
fn recorded_sessions_are_sent_whole_and_one_pass_sends_each_once() {
    let mut spec = with_lengths(Lengths::Bundled("agent-coding".to_owned()));
    spec.load.round = RoundLength::Requests(4262);
    spec.load.rounds = Rounds { min: 1, max: 1 };
    let sent = super::counted(&plan(&spec), 0);
    let source = crate::plan::bundled::sample("agent-coding").unwrap();
    let distance = ks(sent.iter().map(|each| each.asked_input).collect(), source.iter().map(|pair| pair.0).collect());
    assert!(distance < 1e-12, "{distance}");
    for pair in sent.windows(2) {
        let next = if pair[0].turns_left > 0 { (pair[0].session, pair[0].turn + 1) } else { (Some(pair[1].id), 0) };
        assert_eq!((pair[1].session, pair[1].turn), next);
    }
}

#[test]
fn a_session_rounds_its_round_up_and_its_prompts_begin_alike() {
    let mut spec = spec();
    spec.workload.parts[0].turns = Turns::Geometric { mean: 4.0 };
    spec.workload.parts[0].shared_prefix = 32;
    let plan = plan(&spec);
    for (round, size) in (0..).zip(&plan.levels[0].info.round_requests) {
        let requests = plan.round_requests(0, round);
        assert_eq!(requests.len(), *size as usize);
        assert!(*size >= 25 && requests[0].turn == 0 && requests[requests.len() - 1].turns_left == 0);
    }
    let requests = plan.round_requests(0, 3);
    let text = |planned: &crate::plan::Planned| match plan.prompt(planned) {
        crate::plan::Prompt::Text(text) => text,
        crate::plan::Prompt::Messages(_) => String::new(),
    };
    for pair in requests.windows(2) {
        let (before, after) = (text(&pair[0]), text(&pair[1]));
        assert_eq!(after.split(' ').count() as u64, pair[1].asked_input);
        assert_eq!(after.starts_with(&format!("{before} ")), pair[1].turn > 0);
        let first = |text: &str| text.split(' ').take(32).collect::<Vec<_>>().join(" ");
        assert_eq!(first(&before), first(&after), "the shared beginning is every session's");
    }
}
