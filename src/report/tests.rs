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
    assert_eq!(
        sentence,
        "TTFT (queueing included) P50 not measured, P99 not measured, TPOT P99 not measured, input P95 4200 tokens asked, model \
         llama-3.1-70b on 1x H100; goodput not measured against ttft <= 2s; headroom not measured"
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
            "goodput >= 99% is broken: observed 97.3 % (interval 96.4 % to 98.1 %), limit 99 %; 1 more rule is broken; 1 regression rule had no baseline",
            "ttft p95 rises <= 10% is a regression: changed by +17.2 % (+12.5 % to +22 %), allowed +10 %",
            "ttft p99 <= 800ms is undecided: P99 812 ms, 770 ms to unbounded, limit 800 ms, 3000 requests; about 2400 more requests would decide it",
            "the measurement may not be judged: start lag P99 41.0 ms, limit 5.00 ms: the gate itself was late; run the gate on a faster or idler machine, or lower the load",
        ]
    );
    assert_eq!(
        unproven,
        "both judged rules hold; not proven to stay within the limit: tpot p95 rises <= 10% or 1ms (changed by +17.2 % (+12.5 % to +22 %), allowed +10 %)"
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
fn limits_that_changed_come_before_all_else() {
    let report = made::regression();
    let change = "was goodput >= 99% / is goodput >= 95%";
    assert!(terminal::render(&report, PLAIN).lines().nth(1).unwrap().contains(change));
    assert!(markdown::render(&report, usize::MAX).lines().take(3).any(|line| line.contains("was goodput &gt;= 99%")));
    let page = html::render(&report);
    assert!(page.find("was goodput").unwrap() < page.find("<h1>").unwrap());
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
