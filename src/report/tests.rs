use super::made;
use super::terminal::Look;
use super::*;

const PLAIN: Look = Look { color: false, width: 100 };

#[test]
fn the_terminal_says_the_verdict_first() {
    for (name, report) in made::all() {
        insta::assert_snapshot!(format!("terminal_{name}"), terminal::render(&report, PLAIN));
    }
}

#[test]
fn markdown_fits_a_pull_request() {
    for (name, report) in made::all() {
        insta::assert_snapshot!(format!("markdown_{name}"), markdown::render(&report, markdown::COMMENT_LIMIT));
    }
}

#[test]
fn the_page_holds_the_same_tables() {
    for (name, report) in made::all() {
        let page = html::render(&report);
        let body = page.split_once("<body>").unwrap().1;
        insta::assert_snapshot!(format!("html_{name}"), body);
    }
}

#[test]
fn verdict_json_is_as_the_contract_says() {
    for (name, report) in made::all() {
        insta::assert_snapshot!(format!("json_{name}"), json::render(&report));
    }
}

#[test]
fn junit_has_a_case_for_every_rule() {
    for (name, report) in made::all() {
        insta::assert_snapshot!(format!("junit_{name}"), junit::render(&report));
    }
}

#[test]
fn one_sentence_tells_what_was_measured_under_what() {
    let report = made::measured();
    assert_eq!(
        report.summary,
        "TTFT (queueing included) P50 410 ms, P99 1230 ms, TPOT P99 45.0 ms at concurrency 60, input P95 4198 tokens, model llama-3.1-70b \
         on 1x H100; goodput 97.3 % (9.10 req/s) against ttft <= 2s; headroom not measured"
    );
    let with_headroom = measured_sentence(&report.levels[0], &report.conditions, &[], Some(0.4));
    assert!(with_headroom.ends_with("against no constraint; headroom 40 %"), "{with_headroom}");
}

#[test]
fn a_sentence_never_shows_a_zero_for_what_was_not_measured() {
    let level = crate::summary::LevelTable::default();
    let sentence = measured_sentence(&level, &made::measured().conditions, &["ttft <= 2s".to_owned()], None);
    assert_eq!(sentence, "nothing was measured, model llama-3.1-70b on 1x H100");
    let failed = crate::summary::LevelTable {
        requests: 300,
        errors: 300,
        error_kinds: vec![(crate::wire::ErrorKind::HttpStatus, 300)],
        error_statuses: vec![(503, 290), (500, 10)],
        goodput: Some(0.0),
        ..level
    };
    assert_eq!(
        measured_sentence(&failed, &made::measured().conditions, &["ttft <= 2s".to_owned()], None),
        "no latency was measured, model llama-3.1-70b on 1x H100: 300 of 300 requests failed (290 x HTTP 503, 10 x HTTP 500); goodput 0 % \
         against ttft <= 2s"
    );
}

#[test]
fn the_verdicts_sentence_says_which_rule_by_how_much_and_what_to_do() {
    let sentences: Vec<String> = made::all().into_iter().take(5).map(|(_, report)| report.summary).collect();
    let mut unproven = made::regression();
    if let Some(verdict) = &mut unproven.verdict {
        verdict.status = crate::verdict::VerdictStatus::Pass;
        verdict.rules.remove(1);
    }
    let unproven = verdict_sentence(unproven.verdict.as_ref().unwrap());
    assert_eq!(
        sentences,
        [
            "goodput >= 95% holds: observed 97.3 % (interval 96.4 % to 98.1 %), limit 95 %",
            "goodput >= 99% is broken: observed 97.3 % (interval 96.4 % to 98.1 %), limit 99 %; also broken: ttft p99 <= 800ms; 1 regression rule had no baseline",
            "ttft p95 rises <= 10% is a regression: changed by +17.2 % (+12.5 % to +22 %), allowed 10 %",
            "ttft p99 <= 800ms is undecided: P99 812 ms, 770 ms to unbounded, limit 800 ms, 3000 requests; about 2400 more requests would decide it",
            "the measurement may not be judged: start lag P99 41.0 ms, loop lag P99 1.10 ms, at most 5.00 ms; 100 % of requests failed; run the gate on a faster or idler machine, or lower the load",
        ]
    );
    assert_eq!(
        unproven,
        "no breach shown in 2 judged rules; not proven to stay within the limit: tpot p95 rises <= 10% or 1ms (changed by +17.2 % (+12.5 % to +22 %), allowed 10 %)"
    );
}

#[test]
fn a_figure_is_spelt_the_same_everywhere() {
    let report = made::regression();
    let spellings = [terminal::render(&report, PLAIN), markdown::render(&report, usize::MAX), html::render(&report)];
    for figure in
        ["97.3 %", "96.4 % to 98.1 %", "+17.2 % (+12.5 % to +22 %)", "702 ms", "600 ms", "1230 ms", "140 s", "9.10 req/s", "1820 tok/s"]
    {
        for spelling in &spellings {
            assert!(spelling.contains(figure), "{figure} is missing in {spelling}");
        }
    }
    let junit = junit::render(&report);
    assert!(junit.contains("+17.2 % (+12.5 % to +22 %)") && junit.contains("96.4 % to 98.1 %"));
}

#[test]
fn limits_that_changed_come_right_after_the_verdicts_word() {
    let report = made::regression();
    assert!(terminal::render(&report, PLAIN).lines().nth(1).unwrap().contains("goodput >= 99% -> 95%"));
    assert!(markdown::render(&report, usize::MAX).lines().take(3).any(|line| line.contains("goodput &gt;= 99% → 95%")));
    let page = html::render(&report);
    let at = |text: &str| page.find(text).unwrap();
    assert!(at("</h1>") < at("99% → 95%") && at("99% → 95%") < at("is a regression"));
}

#[test]
fn a_changed_limit_shows_what_it_was_and_what_it_is() {
    let mut report = made::regression();
    let lines = ["was ttft <= 1s / is ttft <= 500ms", "was not there / is errors <= 1%", "was tpot p95 <= 9ms / is no longer there", "odd"];
    report.verdict.as_mut().unwrap().baseline.changed_limits = lines.map(str::to_owned).to_vec();
    assert_eq!(facts::changed_limits(&report), ["ttft <= 1s → 500ms", "new: errors <= 1%", "gone: tpot p95 <= 9ms", "odd"]);
}

#[test]
fn nothing_of_an_invalid_measurement_is_shown_as_broken_or_kept() {
    let report = made::not_judged();
    let colored = terminal::render(&report, Look { color: true, ..PLAIN });
    assert!(!colored.contains("\x1b[31m") && !colored.contains("FAIL"), "{colored}");
    for spelling in [terminal::render(&report, PLAIN), markdown::render(&report, usize::MAX), html::render(&report)] {
        assert_eq!(spelling.matches("not judged").count(), 3, "{spelling}");
        assert!(spelling.contains("912 ms") && !spelling.contains("FAIL"), "{spelling}");
    }
    assert!(html::render(&report).contains("class=\"verdict void\""));
    let junit = junit::render(&report);
    assert!(junit.contains("failures=\"0\" errors=\"4\""), "{junit}");
    let json: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
    assert_eq!(json["rules"][1]["status"], "fail");
}

#[test]
fn a_baseline_that_was_not_comparable_says_what_differs_and_is_not_called_none() {
    let report = made::not_compared();
    assert!(report.summary.ends_with("; 2 regression rules not compared: the stored baseline differs (model)"), "{}", report.summary);
    for spelling in [terminal::render(&report, PLAIN), markdown::render(&report, usize::MAX), html::render(&report)] {
        assert_eq!(spelling.matches("not compared").count(), 3, "{spelling}");
        assert_eq!(spelling.matches("model was my-llm, is sim").count(), 2, "{spelling}");
        assert_eq!(spelling.matches("2 stored runs: model: was my-llm, is sim").count(), 1, "{spelling}");
        assert!(!spelling.contains("no baseline"), "{spelling}");
    }
}

#[test]
fn an_invalid_headline_tells_of_requests_that_failed() {
    let mut report = made::invalid();
    report.levels[0].errors = 45;
    report.levels[0].error_kinds = vec![(crate::wire::ErrorKind::Connect, 45)];
    let sentence = sentence::judged(report.verdict.as_ref().unwrap(), &report.levels);
    assert!(sentence.contains("; 75 % of requests failed (45 x connect); run the gate"), "{sentence}");
    report.levels[0].errors = 5;
    assert!(!sentence::judged(report.verdict.as_ref().unwrap(), &report.levels).contains("failed"));
}

#[test]
fn a_limit_inside_the_interval_is_no_breach_shown() {
    let mut report = made::pass();
    let verdict = report.verdict.as_mut().unwrap();
    verdict.rules[0].low = Some(0.94);
    assert!(verdict_sentence(verdict).starts_with("goodput >= 95%: no breach shown, observed 97.3 %"), "{}", verdict_sentence(verdict));
}

#[test]
fn a_regression_beside_a_broken_rule_is_named() {
    let mut verdict = made::fail().verdict.unwrap();
    verdict.rules[2] = made::regression().verdict.unwrap().rules.remove(1);
    let sentence = verdict_sentence(&verdict);
    assert!(sentence.contains("also broken: ttft p99 <= 800ms; ttft p95 rises <= 10% is a regression: changed by +17.2 %"), "{sentence}");
}

#[test]
fn tables_fit_eighty_columns_and_lose_nothing_when_narrower() {
    for width in [40, 60, 80, 120] {
        for (name, report) in made::all() {
            let text = terminal::render(&report, Look { color: false, width });
            let tables = text.split("conditions").next().unwrap();
            let widest = tables.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(width < 80 || widest <= width, "{name} at {width}: {widest}\n{text}");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(name != "regression" || words.contains("+17.2 % (+12.5 % to +22 %)") && words.contains("600 ms"), "{text}");
        }
    }
}

#[test]
fn a_row_says_only_what_its_figures_do_not() {
    let mut report = made::fail();
    let rules = &mut report.verdict.as_mut().unwrap().rules;
    rules[1].why =
        "TTFT P99 912 ms (880 ms to 10.9 s) against <= 800 ms; 75 of 500 requests break it, 25 may; n 500, n_eff 267, method A".to_owned();
    rules[2].why = "no baseline to compare with".to_owned();
    let text = terminal::render(&report, PLAIN);
    assert!(text.contains("\n      75 of 500 requests break it, 25 may; n_eff 267\n"), "{text}");
    assert!(!text.contains("no baseline to compare"), "{text}");
}

#[test]
fn the_client_is_told_of_where_it_kept_up() {
    let report = made::pass();
    for spelling in [terminal::render(&report, PLAIN), markdown::render(&report, usize::MAX), html::render(&report)] {
        assert!(spelling.contains("client: start lag P99 0.60 ms, loop lag P99 1.10 ms"), "{spelling}");
    }
    assert!(!terminal::render(&made::invalid(), PLAIN).contains("client: "));
}

#[test]
fn requests_that_came_in_one_read_are_told_apart_from_slow_ones() {
    let mut report = made::pass();
    report.levels[0].broken_constraints = vec![("tpot <= 50ms".to_owned(), 3), ("stall <= 1s".to_owned(), 5)];
    report.levels[0].broken_in_one_read = vec![3, 2];
    let text = terminal::render(&report, PLAIN);
    assert!(text.contains("tpot <= 50ms: 3 (all 3 came in one read); stall <= 1s: 5 (2 came in one read)"), "{text}");
}

#[test]
fn a_time_is_shown_in_seconds_and_an_empty_bucket_not_at_all() {
    let mut report = made::pass();
    report.conditions.started = "2026-11-30T20:00:00.123456789Z".to_owned();
    report.levels[0].buckets[0].percentiles = crate::summary::Percentiles::default();
    let text = terminal::render(&report, PLAIN);
    assert!(text.contains("started 2026-11-30T20:00:00Z") && !text.contains("input 1k"), "{text}");
}

#[test]
fn colour_adds_nothing_but_colour() {
    for (_, report) in made::all() {
        let colored = terminal::render(&report, Look { color: true, ..PLAIN });
        assert!(colored.contains("\x1b["));
        assert_eq!(strip(&colored), terminal::render(&report, PLAIN));
    }
}

fn strip(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    out + rest
}

#[test]
fn running_text_keeps_within_the_width() {
    let text = terminal::render(&made::fail(), Look { color: false, width: 60 });
    for line in text.lines().filter(|line| line.contains("requests took")) {
        assert!(line.chars().count() <= 60, "{line}");
    }
}

#[test]
fn markdown_drops_whole_sections_to_fit_and_says_so() {
    let report = made::regression();
    let whole = markdown::render(&report, usize::MAX);
    for limit in (0..=whole.len()).step_by(37) {
        let text = markdown::render(&report, limit);
        assert!(text.len() <= limit, "{limit}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        if limit > 200 {
            assert!(text.contains("left out to fit"), "{text}");
            assert!(text.contains("FAIL"));
        }
    }
    assert!(!whole.contains("left out"));
}

#[test]
fn a_number_that_is_none_is_null_in_json() {
    let mut report = made::pass();
    let rule = &mut report.verdict.as_mut().unwrap().rules[0];
    rule.observed = Some(f64::NAN);
    rule.high = Some(f64::INFINITY);
    report.levels[0].goodput_rps = Some(f64::NEG_INFINITY);
    let value: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
    let rule = &value["rules"][0];
    assert!(rule["observed"].is_null() && rule["high"].is_null());
    assert_eq!((rule["low"].as_f64(), rule["limit"].as_f64(), &rule["unit"]), (Some(96.4), Some(95.0), &serde_json::json!("%")));
    assert!(value["levels"][0]["goodput_rps"].is_null());
    assert_eq!(value["levels"][0]["goodput"].as_f64(), Some(0.973));
}

#[test]
fn a_run_without_a_verdict_is_null_and_not_pass() {
    let value: serde_json::Value = serde_json::from_str(&json::render(&made::measured())).unwrap();
    assert!(value["verdict"].is_null());
    assert_eq!(value["levels"].as_array().unwrap().len(), 1);
    assert_eq!(value["conditions"]["target"]["model"], "llama-3.1-70b");
}

#[test]
fn verdict_json_keeps_to_its_schema() {
    let schema = json::verdict_schema();
    for (name, report) in made::all() {
        let value: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
        let mut problems = Vec::new();
        check(&schema, &schema, &value, "$", &mut problems);
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
    let mut wrong: serde_json::Value = serde_json::from_str(&json::render(&made::pass())).unwrap();
    wrong["verdict"] = "great".into();
    wrong["rules"][0]["observed"] = "fast".into();
    wrong.as_object_mut().unwrap().remove("levels");
    let mut problems = Vec::new();
    check(&schema, &schema, &wrong, "$", &mut problems);
    assert_eq!(problems.len(), 3, "{problems:?}");
}

/// As much of JSON Schema as the derived one uses: `$ref`, `anyOf`, `type`, `enum`, `const`, `required`, `properties`, `items`. Keys that the
/// schema does not know are problems too, so that no field is left undescribed.
fn check(root: &serde_json::Value, schema: &serde_json::Value, value: &serde_json::Value, at: &str, problems: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let found = root.pointer(name.trim_start_matches('#')).unwrap();
        return check(root, found, value, at, problems);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let fits = any.iter().any(|option| {
            let mut inner = Vec::new();
            check(root, option, value, at, &mut inner);
            inner.is_empty()
        });
        if !fits {
            problems.push(format!("{at}: fits none"));
        }
        return;
    }
    let types = match &schema["type"] {
        serde_json::Value::Array(types) => types.iter().filter_map(|t| t.as_str()).collect(),
        one => Vec::from_iter(one.as_str()),
    };
    let is = match value {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "boolean",
        serde_json::Value::Number(n) if n.is_f64() => "number",
        serde_json::Value::Number(_) => "integer",
        serde_json::Value::String(_) => "string",
        serde_json::Value::Array(_) => "array",
        serde_json::Value::Object(_) => "object",
    };
    if !types.is_empty() && !types.contains(&is) && (is != "integer" || !types.contains(&"number")) {
        return problems.push(format!("{at}: {is} is none of {types:?}"));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) || schema.get("const").is_some_and(|word| word != value) {
        problems.push(format!("{at}: {value} is not allowed"));
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(|key| key.as_str()) {
        if value.get(key).is_none() {
            problems.push(format!("{at}: {key} is missing"));
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(key) {
            Some(known) => check(root, known, inner, &format!("{at}.{key}"), problems),
            None if schema["properties"].is_object() => problems.push(format!("{at}.{key}: not in the schema")),
            None => {}
        }
    }
    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
        check(root, &schema["items"], inner, &format!("{at}[{index}]"), problems);
    }
}

#[test]
fn csv_has_a_line_a_request_and_nothing_where_nothing_is_known() {
    insta::assert_snapshot!(csv::render(&made::recording("part one")).replace('\r', ""), @r"
    id,side,part,session,level,round,turn,scheduled_ms,sent_ms,start_lag_ms,connect_ms,headers_ms,ttft_ms,ttfa_ms,tpot_ms,e2e_ms,closed_ms,stall_ms,input_tokens,output_tokens,asked_input_tokens,asked_output_tokens,cached_tokens,token_source,events,finish_reason,outcome,error_kind,http_status,warnings
    0,candidate,part one,,1x,,0,1,1.25,0.25,,,500,,7.070707070707071,1200,,9,10,100,10,100,,,100,part one,error,timeout,200,part one
    ");
}

fn around() -> comment::Surroundings {
    comment::Surroundings { sha: Some("a".repeat(40)), run_url: Some("https://github.example/acme/serve/actions/runs/1".to_owned()) }
}

#[test]
fn a_comment_says_first_what_changed_then_the_verdict_then_what_broke() {
    let text = comment::render(&made::regression(), &around(), comment::LIMIT);
    let order = [
        "Limits changed",
        "## FAIL: chat-70b",
        "**FAIL:**",
        "+17.2 % (+12.5 % to +22 %)",
        "All 3 rules",
        "Conditions",
        "Baseline: 2",
        "[run",
    ];
    let places: Vec<usize> = order.iter().map(|word| text.find(word).unwrap_or_else(|| panic!("no {word} in {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    let before_fold = text.split("<details>").next().unwrap();
    assert!(before_fold.contains("| **FAIL** |") && !before_fold.contains("| pass |"), "what holds is folded away: {before_fold}");
}

#[test]
fn a_comment_of_two_levels_has_a_chart_and_one_of_one_level_has_none() {
    let mut report = made::pass();
    assert!(!comment::render(&report, &around(), comment::LIMIT).contains("mermaid"));
    report.levels.push(crate::summary::LevelTable { level: "1.5x".to_owned(), ..report.levels[0].clone() });
    let text = comment::render(&report, &around(), comment::LIMIT);
    assert!(
        text.contains("```mermaid\nxychart-beta\n") && text.contains("x-axis [\"1x\", \"1.5x\"]") && text.contains("bar [1230.0, 1230.0]"),
        "{text}"
    );
}

#[test]
fn a_comment_too_long_loses_whole_rows_from_the_end_and_keeps_the_verdict() {
    let mut report = made::fail();
    let rule = report.verdict.as_ref().unwrap().rules[0].clone();
    report.verdict.as_mut().unwrap().rules = vec![rule; 2_000];
    for limit in [2_000, 20_000, comment::LIMIT] {
        let text = comment::render(&report, &around(), limit);
        assert!(text.len() <= limit && text.len() > limit / 2, "{} of {limit}", text.len());
        assert!(
            text.starts_with("## FAIL: chat-70b") && text.contains("left out to fit") && text.contains("[run and full report]"),
            "{text}"
        );
        assert!(text.lines().filter(|line| line.starts_with("| ")).all(|line| line.ends_with(" |")), "a row was cut");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}

#[test]
fn a_comment_names_no_host() {
    let mut report = made::pass();
    report.conditions.target.label = "http://10.1.2.3:8000".to_owned();
    report.conditions.flags = ["endpoint=http://10.1.2.3:8000", "set=target.url=http://10.1.2.3/v1", "seed=7"].map(str::to_owned).to_vec();
    let text = comment::render(&report, &around(), comment::LIMIT);
    assert!(!text.contains("10.1.2.3") && text.contains("a target without alias") && text.contains("seed=7"), "{text}");
    report.conditions.target.label = "staging".to_owned();
    assert!(comment::render(&report, &around(), comment::LIMIT).contains("at staging"));
}
