//! Markdown for pull requests and job summaries. Every text of others is written so that GitHub renders it as plain text.

use super::rows::{self, LATENCY_HEADS, Mark, Row, WHAT_IF_HEADS};
use super::text::visible;
use super::{Report, facts, measured_sentence};
use crate::summary::LevelTable;
use std::fmt::Write;

/// GitHub's limit for a comment's body, in bytes to be safe (it counts characters).
pub const COMMENT_LIMIT: usize = 65_536;

/// Spells `report` in at most `limit` bytes: whole sections are dropped from the end, and a last line says so.
#[must_use]
pub fn render(report: &Report, limit: usize) -> String {
    let head = head(report);
    let mut sections = vec![rules(report), measurement(report), what_if(report)];
    sections.extend(report.levels.iter().map(|level| folded_level(level, report.both_conventions)));
    sections.push(conditions(report));
    sections.retain(|section| !section.is_empty());
    fit(&head, &sections, limit).unwrap_or_else(|| bare_head(report, limit))
}

fn fit(head: &str, sections: &[String], limit: usize) -> Option<String> {
    (0..=sections.len()).rev().find_map(|kept| {
        let mut text = head.to_owned();
        sections.iter().take(kept).for_each(|section| text.push_str(section));
        match sections.len() - kept {
            0 => {}
            1 => text.push_str("\n_1 section was left out to fit; the other reports have it._\n"),
            left => {
                let _ = writeln!(text, "\n_{left} sections were left out to fit; the other reports have them._");
            }
        }
        (text.len() <= limit).then_some(text)
    })
}

/// Where not even the head fits: the verdict's word, then as much as fits of the rest.
fn bare_head(report: &Report, limit: usize) -> String {
    let (_, word) = rows::headline(report);
    let text = format!("## {word}\n\nThe rest was left out to fit; the other reports have it.\n");
    text.chars()
        .scan(0, |size, c| {
            Some((*size, c)).filter(|_| {
                *size += c.len_utf8();
                *size <= limit
            })
        })
        .map(|(_, c)| c)
        .collect()
}

fn head(report: &Report) -> String {
    let mut out = String::new();
    let (_, word) = rows::headline(report);
    let name = report.verdict.as_ref().map_or(&report.conditions.name, |verdict| &verdict.name);
    let _ = writeln!(out, "## {word}: {}\n", plain(name));
    let changed: Vec<String> = facts::changed_limits(report).iter().map(|line| code(line)).collect();
    if !changed.is_empty() {
        let _ = writeln!(out, "**Limits changed since the baseline:** {}\n", changed.join(", "));
    }
    let _ = writeln!(out, "**{word}:** {}", plain(&report.summary));
    if let (Some(_), Some(level)) = (&report.verdict, report.main_level()) {
        let sentence = measured_sentence(level, &report.conditions, &report.constraints, report.headroom);
        let _ = writeln!(out, "\nMeasured: {}", plain(&sentence));
    }
    out
}

fn rules(report: &Report) -> String {
    let rows = rows::rules(report);
    if rows.is_empty() {
        return String::new();
    }
    let columns = rows::columns(&rows);
    let mut heads = Row::HEADS[..columns].to_vec();
    heads.push("why");
    let body = rows.iter().map(|row| {
        let mut cells: Vec<String> = row.cells()[..columns].iter().map(|cell| plain(cell)).collect();
        cells[0] = if matches!(row.mark, Mark::Bad | Mark::Void) { format!("**{}**", row.status) } else { row.status.to_owned() };
        cells[1] = code(&row.rule);
        let warnings: Vec<String> = row.warnings.iter().map(|word| format!(" (warning: {})", plain(word))).collect();
        cells.push(format!("{}{}", plain(&row.why), warnings.concat()));
        cells
    });
    format!("\n{}", table(&heads, 2, body))
}

pub(super) fn measurement(report: &Report) -> String {
    let mut out = String::new();
    for row in facts::unwell(report) {
        let _ = writeln!(out, "- measurement, {} ({}): {}", plain(row.check), row.status.name(), plain(&row.text));
    }
    for line in facts::early(report) {
        let _ = writeln!(out, "- ended early: {}", plain(&line));
    }
    for warning in facts::warnings(report) {
        let _ = writeln!(out, "- warning: {}", plain(&warning));
    }
    for difference in facts::differences(report) {
        let _ = writeln!(out, "- {}: {}", facts::differences_title(report), plain(&difference));
    }
    if let Some(client) = facts::client(report) {
        let _ = writeln!(out, "- {}", plain(&client));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

pub(super) fn what_if(report: &Report) -> String {
    let Some(what_if) = &report.what_if else { return String::new() };
    let body = rows::what_if(report).into_iter().map(|row| row.iter().map(|cell| plain(cell)).collect());
    format!("\n### What if: {}\n\n{}", code(&what_if.constraints.join(", ")), table(&WHAT_IF_HEADS, 1, body))
}

pub(super) fn folded_level(level: &LevelTable, both_conventions: bool) -> String {
    let lines = rows::latencies(level, both_conventions);
    let mut body = String::new();
    if !lines.is_empty() {
        body = table(&LATENCY_HEADS, 1, lines.into_iter().map(|line| line.iter().map(|cell| plain(cell)).collect()));
        let _ = writeln!(body, "\n{}\n", plain(rows::latency_note(both_conventions)));
    }
    for (label, value) in facts::level(level) {
        let _ = writeln!(body, "- {label}: {}", plain(&value));
    }
    folded(&plain(&facts::level_title(level)), &body)
}

pub(super) fn conditions(report: &Report) -> String {
    let mut body = String::new();
    for line in facts::conditions(&report.conditions) {
        let _ = writeln!(body, "- {}", plain(&line));
    }
    if let Some(baseline) = facts::baseline(report) {
        let _ = writeln!(body, "- baseline: {}", plain(&baseline));
    }
    folded("Conditions", &body)
}

pub(super) fn folded(summary: &str, body: &str) -> String {
    format!("\n<details><summary>{summary}</summary>\n\n{body}\n</details>\n")
}

/// A table whose first `left` columns and last one are flush left.
pub(super) fn table(heads: &[&str], left: usize, body: impl Iterator<Item = Vec<String>>) -> String {
    let why = heads.last() == Some(&"why");
    let rule = (0..heads.len()).map(|column| if column < left || why && column + 1 == heads.len() { "---" } else { "---:" });
    let mut out = format!("| {} |\n| {} |\n", heads.join(" | "), rule.collect::<Vec<_>>().join(" | "));
    for cells in body {
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

/// `text` of others as code, in which GitHub looks for neither mentions nor links.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", plain(text))
}

/// `text` of others as plain text: what Markdown, HTML or GitHub would read as more than text is written as an entity, and a mention or
/// a reference is broken by an invisible space.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    let text = visible(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '@' | '#' => {
                let _ = write!(out, "&#{};&#8203;", u32::from(c));
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '|' | '$' | '!' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            ':' if rest.peek() == Some(&'/') => out.push_str("&#58;"),
            '.' if ends_with_word(&out, "www") => out.push_str("&#46;"),
            '-' if ends_with_word(&out, "gh") => out.push_str("&#45;&#8203;"),
            c => out.push(c),
        }
    }
    out
}

fn ends_with_word(out: &str, word: &str) -> bool {
    out.len() >= word.len() && out.as_bytes()[out.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
}
