//! Texts that attack a reader's terminal, browser, spreadsheet or CI log, against every spelling.

use super::made;
use super::terminal::Look;
use super::*;

/// Payloads, and what of each must never come out as it is.
const PAYLOADS: &[&str] = &[
    "\x1b[31mred\x1b]0;title\x07",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "a | b || c \\| d",
    "one\r\ntwo\n\n# three\n| four |",
    "=cmd|' /C calc'!A1",
    "@SUM(1+1)",
    "\t=1+1",
    "::error file=a::boo",
    "\n::add-mask::x",
    "##[error]boo",
    "admin\u{202e}nimda\u{2066}x\u{200b}",
    "nul\0nul\u{1}\u{fffe}\u{ffff}",
    "`code` ``` **bold** [x](http://evil.example) ![i](http://evil.example/x.png)",
    "@octocat fixes #1 GH-1 org/repo#2 https://evil.example www.evil.example",
    "]]> & <![CDATA[ &lt;",
];

/// A report in which every text that can come from a spec or a server is `payload`.
fn hostile(payload: &str) -> Report {
    let mut report = made::regression();
    let text = || payload.to_owned();
    let verdict = report.verdict.as_mut().unwrap();
    verdict.name = text();
    for rule in &mut verdict.rules {
        (rule.rule, rule.level, rule.why, rule.scope) = (text(), text(), text(), Some(text()));
        rule.warnings.push(text());
    }
    for row in &mut verdict.validity {
        row.text = text();
    }
    verdict.warnings.push(text());
    let baseline = &mut verdict.baseline;
    (baseline.changed_limits, baseline.differences, baseline.commit, baseline.newest) =
        (vec![text()], vec![text()], Some(text()), Some(text()));
    let level = &mut report.levels[0];
    level.level = text();
    level.buckets[0].label = text();
    level.broken_constraints[0].0 = text();
    let conditions = &mut report.conditions;
    (conditions.name, conditions.flags, conditions.commit) = (text(), vec![text()], Some(text()));
    (conditions.target.label, conditions.target.model, conditions.target.server) = (text(), text(), Some(text()));
    conditions.target.hardware.as_mut().unwrap().name = text();
    conditions.workload.label = text();
    conditions.load.levels[0].label = text();
    report.constraints = vec![text()];
    report.what_if = made::fail().what_if;
    report.what_if.as_mut().unwrap().constraints = vec![text()];
    report.files = vec![text()];
    report.summary = verdict_sentence(report.verdict.as_ref().unwrap());
    report
}

fn deceptive(text: &str) -> Option<char> {
    text.chars().find(|c| *c != '\n' && text::is_deceptive(*c))
}

#[test]
fn hostile_text_cannot_steer_a_terminal_or_a_ci_log() {
    for payload in PAYLOADS {
        for width in [40, 100] {
            let text = terminal::render(&hostile(payload), Look { color: false, width });
            assert_eq!(deceptive(&text), None, "{payload:?}");
            assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{payload:?}: {text}");
            assert!(!text.contains("##["), "{payload:?}");
        }
    }
}

#[test]
fn hostile_text_stays_text_in_markdown() {
    let harmless = markdown::render(&hostile("x"), usize::MAX);
    for payload in PAYLOADS {
        let text = markdown::render(&hostile(payload), usize::MAX);
        assert_eq!(deceptive(&text), None, "{payload:?}");
        assert_eq!(text.lines().count(), harmless.lines().count(), "{payload:?} breaks lines");
        assert_eq!(text.matches('|').count(), harmless.matches('|').count(), "{payload:?} adds cells");
        assert_eq!(text.matches('<').count(), harmless.matches('<').count(), "{payload:?} adds tags");
        let text = text.replace("&#", "&");
        for word in ["@octocat", "@SUM", "#1", "#2", "GH-1", "https://", "http://", "www.", "](", "`", "::error", "##["] {
            assert!(!text.contains(word), "{payload:?} leaves {word} in {text}");
        }
    }
}

#[test]
fn hostile_text_stays_text_in_a_comment_and_in_what_stands_beside_it() {
    let around = comment::Surroundings::default();
    let harmless = comment::render(&hostile("x"), &around, usize::MAX);
    for payload in PAYLOADS {
        let report = hostile(payload);
        let text = comment::render(&report, &around, usize::MAX);
        assert_eq!(deceptive(&text), None, "{payload:?}");
        assert_eq!(text.lines().count(), harmless.lines().count(), "{payload:?} breaks lines");
        assert_eq!(text.matches('|').count(), harmless.matches('|').count(), "{payload:?} adds cells");
        assert_eq!(text.matches('<').count(), harmless.matches('<').count(), "{payload:?} adds tags");
        let stopped = comment::render_stopped("x", (2, "spec error"), &[(*payload).to_owned()], &around, usize::MAX);
        assert_eq!(stopped.lines().count(), 5, "{stopped}");
        for text in [text, stopped] {
            let text = text.replace("&#", "&");
            for word in ["@octocat", "@SUM", "#1", "#2", "GH-1", "https://", "http://", "www.", "](", "`", "::error", "##["] {
                assert!(!text.contains(word), "{payload:?} leaves {word} in {text}");
            }
        }
        let lines =
            comment::broken_rules(&report).into_iter().flat_map(|(title, text)| [title, text]).chain([comment::status_line(&report)]);
        for line in lines {
            assert!(!line.contains(['\n', '\r']) && deceptive(&line).is_none() && !line.starts_with("::"), "{payload:?}: {line}");
        }
    }
}

#[test]
fn hostile_text_stays_text_in_the_page() {
    let harmless = html::render(&hostile("x"));
    for payload in PAYLOADS {
        let page = html::render(&hostile(payload));
        assert_eq!(deceptive(&page), None, "{payload:?}");
        assert_eq!(page.matches('<').count(), harmless.matches('<').count(), "{payload:?} adds tags");
        assert_eq!(page.matches('"').count(), harmless.matches('"').count(), "{payload:?} adds quotes");
        assert!(!page.contains("<script"));
    }
}

#[test]
fn hostile_text_stays_text_in_junit() {
    let harmless = junit::render(&hostile("x"));
    for payload in PAYLOADS {
        let xml = junit::render(&hostile(payload));
        assert_eq!(deceptive(&xml), None, "{payload:?}");
        assert!(!xml.contains(['\u{fffe}', '\u{ffff}']), "{payload:?} leaves what XML forbids");
        assert_eq!(xml.matches('<').count(), harmless.matches('<').count(), "{payload:?} adds tags");
        let read = quick_junit::Report::deserialize_from_str(&xml).unwrap();
        assert_eq!(read.test_suites[0].test_cases.len(), 3);
    }
}

#[test]
fn json_keeps_hostile_text_whole_and_harmless() {
    for payload in PAYLOADS {
        let text = json::render(&hostile(payload));
        assert_eq!(deceptive(&text), None, "{payload:?}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["rules"][0]["rule"], *payload);
        assert_eq!(value["conditions"]["target"]["server"], *payload);
    }
}

#[test]
fn hostile_text_is_no_formula_in_csv() {
    for payload in PAYLOADS {
        let text = csv::render(&made::recording(payload));
        assert_eq!(text.lines().count(), 2, "{payload:?} breaks lines");
        assert_eq!(deceptive(&text.replace('\r', "")), None, "{payload:?}");
        assert!(!text.contains("own words"), "the server's words stay in the run file");
        let cell = text.lines().nth(1).unwrap().split_once("candidate,").unwrap().1.trim_start_matches('"');
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t']), "{payload:?} is a formula: {cell}");
    }
}
