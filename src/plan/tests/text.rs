use super::{all, counted, file, formula, named, plan, spec, with_lengths};
use crate::plan::{Inputs, Plan, PlanError, PlanWarning, Planned, Prompt, build};
use crate::spec::{Distribution, Lengths, Prompts, RoundLength, Rounds, Spec};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

fn text(plan: &Plan, planned: &Planned) -> String {
    match plan.prompt(planned) {
        Prompt::Text(text) => text,
        Prompt::Messages(messages) => panic!("{} messages", messages.len()),
    }
}

fn shared_words(one: &str, two: &str) -> usize {
    one.split(' ').zip(two.split(' ')).take_while(|(a, b)| a == b).count()
}

fn from_rows(path: &str) -> Spec {
    let mut spec = spec();
    spec.workload.parts[0].prompts = Prompts::File(PathBuf::from(path));
    spec
}

#[test]
fn prompts_have_exactly_the_words_asked_for() {
    let list: HashMap<_, _> = include_str!("../data/words4096.csv").lines().skip(1).filter_map(|line| line.split_once(',')).collect();
    for words in [1, 2, 16, 1000, 32_000] {
        let plan = plan(&with_lengths(formula(Distribution::Constant(words), Distribution::Constant(1))));
        let text = text(&plan, &counted(&plan, 0)[0]);
        let found: Vec<_> = text.split(' ').collect();
        assert_eq!(found.len() as u64, words);
        assert!(found.iter().all(|word| list.contains_key(word)));
        assert_eq!(list[found[0]], "1", "the first word is one token without a space before it");
    }
}

#[test]
fn no_prompt_begins_like_another_in_any_run() {
    let mut spec = spec();
    spec.load.levels.push(("2x".to_owned(), 2.0));
    spec.load.rounds = Rounds { min: 4, max: 4 };
    let runs: Vec<_> = [1, 2, 3].map(|salt| build(&spec, &Inputs::default(), salt).unwrap()).into();
    let mut heads = HashSet::new();
    for run in &runs {
        for planned in all(run) {
            let head: Vec<_> = text(run, &planned).split(' ').take(4).map(str::to_owned).collect();
            assert!(head.len() < 4 || heads.insert(head), "{planned:?}");
        }
    }
    for planned in all(&runs[0]) {
        assert!(shared_words(&text(&runs[0], &planned), &text(&runs[1], &planned)) < 3, "{planned:?}");
    }
}

#[test]
fn a_prompt_is_the_same_whenever_it_is_asked_for() {
    let plan = plan(&spec());
    let round = plan.round_requests(0, 5);
    let again: Vec<_> = plan.requests(0).filter(|planned| planned.round == Some(5)).collect();
    assert_eq!(round, again);
    assert_eq!(text(&plan, &round[3]), text(&plan, &again[3]));
}

#[test]
fn a_shared_prefix_is_the_same_in_every_prompt_and_run_and_the_rest_is_not() {
    let mut spec = with_lengths(formula(Distribution::Uniform(20, 200), Distribution::Constant(1)));
    spec.workload.parts[0].shared_prefix = 50;
    let (one, two) = (build(&spec, &Inputs::default(), 1).unwrap(), build(&spec, &Inputs::default(), 2).unwrap());
    let requests = counted(&one, 0);
    let longest = requests.iter().max_by_key(|planned| planned.asked_input).unwrap();
    for planned in &requests {
        let (mine, other) = (text(&one, planned), text(&two, longest));
        let expected = usize::try_from(planned.asked_input - 1).unwrap().min(50);
        let shared = shared_words(&mine, &other);
        assert!((expected..expected + 3).contains(&shared), "{shared} shared of {}", planned.asked_input);
        assert_eq!(mine.split(' ').count() as u64, planned.asked_input);
    }
}

#[test]
fn rows_of_a_file_are_sent_as_they_stand_each_once_before_any_repeats() {
    let rows = r#""plain"
{"text": "a text", "note": 1}
{"prompt": "a prompt"}
{"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "hello"}]}]}
"#;
    let mut spec = from_rows("p.jsonl");
    spec.load.rounds = Rounds { min: 1, max: 1 };
    spec.load.round = RoundLength::Requests(3);
    spec.load.warmup = crate::spec::WarmUp::Requests(1);
    let plan = build(&spec, &file("p.jsonl", rows), 0).unwrap();
    let mut sent: Vec<_> = all(&plan).iter().map(|planned| format!("{:?}", plan.prompt(planned))).collect();
    sent.sort();
    assert_eq!(sent.len(), 4);
    assert!(sent[0].starts_with("Messages([Object"), "{}", sent[0]);
    assert_eq!(sent[1..], [r#"Text("a prompt")"#, r#"Text("a text")"#, r#"Text("plain")"#]);
    assert!(all(&plan).iter().all(|planned| planned.asked_input == 0 && planned.asked_output > 0));
    assert_eq!(plan.workload_info().input_p50_p95, None);
    let repeated = |warning: &PlanWarning| matches!(warning, PlanWarning::RepeatedPrompts { .. });
    assert!(!plan.warnings.iter().any(repeated));
    spec.load.round = RoundLength::Requests(4);
    let plan = build(&spec, &file("p.jsonl", rows), 0).unwrap();
    let expected = PlanWarning::RepeatedPrompts { path: PathBuf::from("p.jsonl"), rows: 4, requests: 5 };
    assert!(plan.warnings.contains(&expected), "{:?}", plan.warnings);
    assert!(plan.total_tokens().0 > 0);
}

#[test]
fn rows_go_to_the_part_they_name() {
    let rows = "{\"text\": \"for chat\", \"part\": \"chat\"}\n{\"text\": \"for any\"}\n{\"text\": \"for code\", \"part\": \"code\"}\n";
    let mut spec = spec();
    let chat = Lengths::Bundled("chat".to_owned());
    spec.workload.parts = vec![named("chat", 0.5, chat.clone()), named("code", 0.5, chat)];
    for part in &mut spec.workload.parts {
        part.prompts = Prompts::File(PathBuf::from("p.jsonl"));
    }
    let plan = build(&spec, &file("p.jsonl", rows), 0).unwrap();
    for planned in all(&plan) {
        let text = text(&plan, &planned);
        let wrong = if planned.part.as_deref() == Some("chat") { "for code" } else { "for chat" };
        assert_ne!(text, wrong);
    }
}

#[test]
fn rows_that_are_no_prompt_are_counted_by_line_and_a_file_of_them_is_an_error() {
    let rows = "{\"text\": \"\"}\nhunter2\n{\"messages\": []}\n{\"messages\": [{\"content\": \"x\"}]}\n17\n";
    let path = PathBuf::from("p.jsonl");
    let error = build(&from_rows("p.jsonl"), &file("p.jsonl", rows), 0).unwrap_err();
    assert_eq!(error, PlanError::NoRows { path: path.clone(), bad_rows: 5, lines: vec![1, 2, 3, 4, 5] });
    assert!(!error.to_string().contains("hunter2"));
    let plan = build(&from_rows("p.jsonl"), &file("p.jsonl", &format!("{rows}\"good\"\n")), 0).unwrap();
    assert!(plan.warnings.contains(&PlanWarning::BadRows { path, count: 5, lines: vec![1, 2, 3, 4, 5] }));
}

#[test]
fn the_text_of_a_prompts_file_enters_the_digest() {
    let digest = |rows: &str| build(&from_rows("p"), &file("p", rows), 0).unwrap().digest();
    assert_ne!(digest("\"one\"\n"), digest("\"two\"\n"));
    assert_ne!(digest("\"one\"\n"), plan(&spec()).digest());
}
