//! One self-contained page: the same tables, escaped; no script, nothing loaded.

use super::rows::{self, LATENCY_HEADS, Row, WHAT_IF_HEADS};
use super::text::{base64, visible};
use super::{Report, facts, measured_sentence};
use crate::summary::LevelTable;
use askama::Template;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("html/style.css");

/// Spells `report` as a page.
#[must_use]
pub fn render(report: &Report) -> String {
    Page::of(report).render().expect("a template of plain strings into memory cannot fail")
}

/// What the template spells. Every string of it is escaped by the template and made visible here.
#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    style: &'static str,
    /// The policy lets in this one style by its digest, and nothing else.
    style_digest: String,
    name: String,
    mark: &'static str,
    word: &'static str,
    summary: String,
    measured: Option<String>,
    changed_limits: Vec<String>,
    rule_heads: Vec<&'static str>,
    rules: Vec<RuleRow>,
    notes: Vec<String>,
    latency_heads: [&'static str; 7],
    latency_note: &'static str,
    levels: Vec<Section>,
    what_if: Option<(String, Vec<Vec<String>>)>,
    what_if_heads: [&'static str; 5],
    conditions: Vec<String>,
    tool: String,
}

struct RuleRow {
    class: &'static str,
    status: &'static str,
    rule: String,
    /// Each with its head, which stands beside it where the page is narrow.
    figures: Vec<(&'static str, String)>,
    why: String,
    warnings: Vec<String>,
}

struct Section {
    title: String,
    latencies: Vec<Vec<String>>,
    facts: Vec<(&'static str, String)>,
}

impl Page {
    fn of(report: &Report) -> Self {
        let (mark, word) = rows::headline(report);
        let rules = rows::rules(report);
        let columns = rows::columns(&rules);
        let judged = report.verdict.is_some();
        Self {
            style: STYLE,
            style_digest: base64(&Sha256::digest(STYLE.as_bytes())),
            name: visible(report.verdict.as_ref().map_or(&report.conditions.name, |verdict| &verdict.name)),
            mark: mark.class(),
            word,
            summary: visible(&report.summary),
            measured: report
                .main_level()
                .filter(|_| judged)
                .map(|level| visible(&measured_sentence(level, &report.conditions, &report.constraints, report.headroom))),
            changed_limits: shown(&facts::changed_limits(report)),
            rule_heads: Row::HEADS[..columns].to_vec(),
            rules: rules.iter().map(|row| RuleRow::of(row, columns)).collect(),
            notes: notes(report),
            latency_heads: LATENCY_HEADS,
            latency_note: rows::latency_note(report.both_conventions),
            levels: report.levels.iter().map(|level| Section::of(level, report.both_conventions)).collect(),
            what_if: report
                .what_if
                .as_ref()
                .map(|what_if| (visible(&what_if.constraints.join(", ")), rows::what_if(report).iter().map(|row| shown(row)).collect())),
            what_if_heads: WHAT_IF_HEADS,
            conditions: conditions(report),
            tool: visible(&report.conditions.tool),
        }
    }
}

impl RuleRow {
    fn of(row: &Row, columns: usize) -> Self {
        Self {
            class: row.mark.class(),
            status: row.status,
            rule: visible(&row.rule),
            figures: Row::HEADS[2..columns].iter().copied().zip(row.cells()[2..columns].iter().map(|cell| visible(cell))).collect(),
            why: visible(&row.why),
            warnings: shown(&row.warnings),
        }
    }
}

impl Section {
    fn of(level: &LevelTable, both_conventions: bool) -> Self {
        let latencies = rows::latencies(level, both_conventions);
        Self {
            title: visible(&facts::level_title(level)),
            latencies: latencies.iter().map(|line| shown(line)).collect(),
            facts: facts::level(level).into_iter().map(|(label, value)| (label, visible(&value))).collect(),
        }
    }
}

fn notes(report: &Report) -> Vec<String> {
    let unwell = facts::unwell(report).into_iter().map(|row| format!("measurement, {} ({}): {}", row.check, row.status.name(), row.text));
    let early = facts::early(report).into_iter().map(|line| format!("ended early: {line}"));
    let warnings = facts::warnings(report).into_iter().map(|warning| format!("warning: {warning}"));
    let title = facts::differences_title(report);
    let differences = facts::differences(report).into_iter().map(|line| format!("{title}: {line}"));
    unwell.chain(early).chain(warnings).chain(differences).chain(facts::client(report)).map(|note| visible(&note)).collect()
}

fn conditions(report: &Report) -> Vec<String> {
    let mut lines = shown(&facts::conditions(&report.conditions));
    lines.extend(facts::baseline(report).map(|baseline| visible(&format!("baseline: {baseline}"))));
    lines
}

fn shown(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| visible(text)).collect()
}
