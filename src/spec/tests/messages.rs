//! What the messages say: the author's own words and numbers, and the flag where a flag is at fault.

use super::{codes, shown, source, with_line};
use crate::spec::{Overrides, Permissions, parse};

const FINE: &str = "name: a\nload: { concurrency: 4, rounds: 20 }\nslo: { require: [errors <= 1%], regression: [errors rises <= 1pp] }\n";

fn flags(overrides: Overrides) -> Permissions {
    Permissions { overrides, ..Permissions::default() }
}

fn set(key: &str, value: &str) -> Permissions {
    flags(Overrides { set: vec![(key.to_owned(), value.to_owned())], ..Overrides::default() })
}

/// The problems or the warnings, as a user sees them.
fn told(text: &str, permissions: &Permissions) -> String {
    match parse(&source(text), permissions) {
        Ok(checked) => checked.warnings().map_or(String::new(), |warnings| warnings.render(false)),
        Err(error) => error.problems().render(false),
    }
}

#[test]
fn a_line_out_of_its_column_is_compared_with_the_line_above() {
    let cases = [
        ("name: a\ntarget: { url: sim://steady }\n load: { concurrency: 4 }\n", "line 3 is indented one space more than `target` above"),
        ("target:\n  url: sim://steady\n   model: x\n", "line 3 is indented one space more than `url` above"),
        ("target:\n  url: sim://steady\n model: x\n", "line 3 is indented one space less than `url` above"),
        ("slo:\n  require:\n      - errors <= 1%\n   - goodput >= 9%\n", "line 4 is indented 3 spaces less than `- errors <= 1%` above"),
    ];
    for (text, expected) in cases {
        let shown = shown(text);
        assert!(shown.contains(expected) && !shown.contains("quote"), "{shown}");
    }
}

#[test]
fn a_tab_is_told_to_be_spaces() {
    let shown = shown("name: a\nload:\n\tconcurrency: 4\n");
    assert!(shown.contains("line 3 is indented with a tab") && shown.contains("help: indent with spaces"), "{shown}");
}

#[test]
fn a_number_without_its_unit_is_offered_with_one() {
    let rule = |list: &str, line: &str| with_line(list, line);
    let load = |load: &str| format!("name: a\nload: {load}\nslo: {{ require: [errors <= 1%] }}\n");
    for (text, expected) in [
        (load("{ rate: 5 }"), "write `5/s`"),
        (load("{ concurrency: 4, levels: [3] }"), "write `3x`"),
        (load("{ concurrency: 4, min_time: 30 }"), "write `30s` or `30ms`"),
        (rule("require", "goodput >= 95"), "write `95%`"),
        (rule("require", "errors <= 1ms"), "write `1%`"),
        (rule("require", "throughput_tps >= 900/s"), "write `900 tok/s`"),
        (rule("request", "ttft <= 500"), "write `500ms`"),
        (rule("request", "ttft <= 2"), "write `2s` or `2ms`"),
    ] {
        let shown = shown(&text);
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn a_percentile_before_its_metric_is_put_behind_it() {
    let shown = shown(&with_line("require", "p99 ttft <= 1s when turn > 1"));
    assert!(shown.contains("write `ttft p99 <= 1s when turn > 1`"), "{shown}");
    assert_eq!(codes(&with_line("require", "p99 ttft <= 1s"), &Permissions::default()), ["5:7 stat-first"]);
}

#[test]
fn a_constraint_is_written_out_without_its_percentile() {
    let shown = shown(&with_line("request", "ttft p99 <=1s"));
    assert!(shown.contains("write `ttft <= 1s`, or move the line to `require`"), "{shown}");
}

#[test]
fn rounds_are_a_number_and_no_word() {
    let shown = shown("name: a\nload: { concurrency: 4, rounds: none }\nslo: { require: [errors <= 1%] }\n");
    assert!(shown.contains("`none` is no number of rounds") && shown.contains("write 40, or 20..120"), "{shown}");
}

#[test]
fn a_missing_name_hides_nothing_else() {
    let text = "load: { concurrency: 4, rounds: 5 }\nslo: { require: [errors <= 1%, errors <= 1%] }\n";
    assert_eq!(codes(text, &Permissions::default()), ["1:25 few-rounds", "2:32 redundant-rule", "- missing-key"]);
    let text = "load: { concurrency: x }\nslo: { require: [ttft <= 1s] }\n";
    assert_eq!(codes(text, &Permissions::default()), ["1:22 not-a-quantity", "2:23 missing-stat", "- missing-key"]);
}

#[test]
fn a_list_of_rules_is_switched_off_by_flag_and_never_in_the_file() {
    let spec = parse(&source(FINE), &set("slo.regression", "[]")).unwrap().spec;
    assert_eq!(spec.slo.rules.iter().map(|rule| rule.text.as_str()).collect::<Vec<_>>(), ["errors <= 1%"]);
    let alone = "name: a\nslo: { require: [errors <= 1%] }\n";
    assert_eq!(codes(alone, &set("slo.require", "[]")), ["2:1 empty-slo"]);
    assert_eq!(codes("name: a\nslo: { require: [errors <= 1%], advise: [] }\n", &Permissions::default()), ["2:41 empty-list"]);
}

#[test]
fn an_unknown_key_by_flag_lists_what_its_map_has() {
    let shown = told(FINE, &set("slo.foo", "3"));
    assert!(shown.contains("`slo` has request, require, regression, advise, confidence"), "{shown}");
    assert!(told(FINE, &set("slo.requre", "3")).contains("did you mean `slo.require`?"));
    assert!(told(FINE, &set("rounds", "3")).contains("did you mean `load.rounds`?"));
}

#[test]
fn a_flag_at_fault_is_named_and_the_file_is_not() {
    let cases = [
        (flags(Overrides { rate: Some("5".into()), ..Overrides::default() }), "--rate 5: `5` has no unit"),
        (flags(Overrides { concurrency: Some(0), ..Overrides::default() }), "--concurrency 0: a concurrency of `0`"),
        (flags(Overrides { rounds: Some("2".into()), ..Overrides::default() }), "--rounds 2: fewer than 12 rounds"),
        (flags(Overrides { api: Some("chta".into()), ..Overrides::default() }), "--api chta: "),
        (set("load.rounds", "2"), "--set load.rounds=2: fewer than 12 rounds"),
        (set("slo.require", "[ttft <= 3]"), "--set slo.require=[ttft <= 3]: "),
        (Permissions { endpoint: Some("ftp://a/".into()), ..Permissions::default() }, "--endpoint: `ftp` is no protocol"),
    ];
    for (permissions, expected) in cases {
        let told = told(FINE, &permissions);
        assert!(told.contains(expected), "{expected} is not in\n{told}");
        assert!(!told.contains("gate.yaml") && !told.contains('^'), "{told}");
    }
}

#[test]
fn what_goes_to_the_target_by_flag_is_not_repeated() {
    let told = told(FINE, &set("target.headers.authorization", "Bearer s3cret"));
    assert!(told.contains("--set target.headers.authorization: ") && !told.contains("s3cret"), "{told}");
}

#[test]
fn what_is_odd_and_legal_is_read() {
    assert_eq!(told(&with_line("require", "ttft p95 <= 500ms in 95% of rounds"), &Permissions::default()), "");
    let twice = told(&with_line("request", "ttft <= 1s\n    - ttft <= 1000ms"), &Permissions::default());
    assert!(twice.contains("`ttft <= 1000ms` is written twice"), "{twice}");
    let fast = told(&with_line("require", "speed p95 >= 30 tok/s"), &Permissions::default());
    assert!(fast.contains("write `speed p5 >= …`"), "{fast}");
}
