//! The comment of a pull request and the summary of a step: what a reader needs first stands first, and public pages name no host.

use super::markdown::{self, code, folded, plain};
use super::rows::{self, Mark, Row};
use super::{Report, facts, measured_sentence};
use crate::record::Conditions;
use std::fmt::Write;

/// The most characters of a comment on GitHub.
pub const LIMIT: usize = 65_536;
/// Room for the line that tells what was left out.
const NOTE: usize = 120;
/// A chart of one level shows nothing.
const FEWEST_BARS: usize = 2;

/// What surrounds a report.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The commit that was judged.
    pub sha: Option<String>,
    /// The page of the CI system's run.
    pub run_url: Option<String>,
}

/// One part. Rows may be left out from the end, the rest of it goes with all of them.
struct Section {
    head: String,
    rows: Vec<String>,
    tail: String,
}

impl Section {
    fn text(text: String) -> Self {
        Self { head: text, rows: Vec::new(), tail: String::new() }
    }
}

/// Spells `report` in at most `limit` bytes. Where it does not fit, whole rows are left out from the end, and a line says how many.
#[must_use]
pub fn render(report: &Report, around: &Surroundings, limit: usize) -> String {
    let public = Report { conditions: public(&report.conditions), ..report.clone() };
    let foot = foot(&public, around);
    let mut sections = vec![changed_limits(&public), Section::text(verdict(&public)), broken(&public), Section::text(chart(&public))];
    sections.push(all_rules(&public));
    sections.push(Section::text(markdown::measurement(&public)));
    sections.push(Section::text(markdown::what_if(&public)));
    sections.extend(public.levels.iter().map(|level| Section::text(markdown::folded_level(level, public.both_conventions))));
    sections.push(Section::text(markdown::conditions(&public)));
    fit(&sections, &foot, limit)
}

/// Spells what became of a gate that gave no verdict: `meaning` is that of its exit code, `lines` are what is wrong with the spec.
#[must_use]
pub fn render_stopped(name: &str, (exit, meaning): (u8, &str), lines: &[String], around: &Surroundings, limit: usize) -> String {
    let head = format!(
        "## NOT JUDGED: {}\n\n**Exit code {exit}:** {}. Nothing was judged; the job's log says more.\n",
        plain(name),
        plain(meaning)
    );
    let rows = lines.iter().map(|line| format!("- {}\n", plain(line))).collect();
    let gap = if lines.is_empty() { String::new() } else { "\n".to_owned() };
    fit(&[Section::text(head), Section { head: gap, rows, tail: String::new() }], &foot_of(around), limit)
}

/// The verdict in one line of plain text, for a commit status.
#[must_use]
pub fn status_line(report: &Report) -> String {
    let (_, word) = rows::headline(report);
    super::visible(&format!("{word}: {}", report.summary))
}

/// Every deciding rule that is broken, or undecided where that fails, in one line of plain text each, with its title.
#[must_use]
pub fn broken_rules(report: &Report) -> Vec<(String, String)> {
    deciding(report)
        .into_iter()
        .map(|row| (super::visible(&format!("{} {}", row.status, row.rule)), super::visible(&sentence(&row))))
        .collect()
}

fn sentence(row: &Row) -> String {
    let mut parts = vec![format!("observed {}", row.observed)];
    let mut add = |label: &str, text: &str| {
        if text != rows::NOTHING {
            parts.push(format!("{label} {text}"));
        }
    };
    add("interval", &row.interval);
    add("limit", &row.limit);
    add("baseline", &row.baseline);
    add("change", &row.change);
    parts.join(", ")
}

/// Conditions without hosts: comments are public, and a staging server's address is nobody's business. A simulated one tells nothing.
fn public(conditions: &Conditions) -> Conditions {
    let mut public = conditions.clone();
    let names_host = |text: &str| text.contains("://") && !text.contains("sim://");
    if names_host(&public.target.label) {
        public.target.label = "a target without alias".to_owned();
    }
    for flag in &mut public.flags {
        if let Some((name, _)) = flag.clone().split_once('=').filter(|(name, value)| *name == "endpoint" || names_host(value)) {
            let key = if name == "set" { flag.split('=').nth(1).map(|key| format!("set={key}=***")) } else { None };
            *flag = key.unwrap_or_else(|| format!("{name}=***"));
        }
    }
    public
}

fn changed_limits(report: &Report) -> Section {
    let changed = facts::changed_limits(report);
    if changed.is_empty() {
        return Section::text(String::new());
    }
    let rows = changed.iter().map(|line| format!("- {}\n", code(line))).collect();
    Section { head: "**Limits changed since the baseline:**\n\n".to_owned(), rows, tail: "\n".to_owned() }
}

fn verdict(report: &Report) -> String {
    let (_, word) = rows::headline(report);
    let mut out = format!("## {word}: {}\n\n**{word}:** {}\n", plain(report.name()), plain(&report.summary));
    if let (Some(_), Some(level)) = (&report.verdict, report.main_level()) {
        let sentence = measured_sentence(level, &report.conditions, &report.constraints, report.headroom);
        let _ = writeln!(out, "\nMeasured: {}", plain(&sentence));
    }
    out
}

/// The rows that made the verdict: those that are broken, else those that are undecided.
fn deciding(report: &Report) -> Vec<Row> {
    let advice = |row: &Row| row.rule.ends_with(" (advice)");
    let all = rows::rules(report);
    let bad: Vec<Row> = all.iter().filter(|row| matches!(row.mark, Mark::Bad | Mark::Void)).cloned().collect();
    if !bad.is_empty() {
        return bad;
    }
    all.into_iter().filter(|row| row.mark == Mark::Open && !advice(row)).collect()
}

fn broken(report: &Report) -> Section {
    let rows = deciding(report);
    if rows.is_empty() {
        return Section::text(String::new());
    }
    let columns = rows::columns(&rows);
    section("\n".to_owned(), &rows, columns, |row| Some(plain(&row.why)), String::new())
}

fn all_rules(report: &Report) -> Section {
    let rows = rows::rules(report);
    if rows.is_empty() {
        return Section::text(String::new());
    }
    let head = format!("\n<details><summary>All {} rules</summary>\n\n", rows.len());
    let why = |row: &Row| {
        let warnings: Vec<String> = row.warnings.iter().map(|word| format!(" (warning: {})", plain(word))).collect();
        Some(format!("{}{}", plain(&row.why), warnings.concat()))
    };
    section(head, &rows, rows::columns(&rows), why, "\n</details>\n".to_owned())
}

fn section(head: String, rows: &[Row], columns: usize, why: impl Fn(&Row) -> Option<String>, tail: String) -> Section {
    let mut heads = Row::HEADS[..columns].to_vec();
    heads.push("why");
    let body = rows.iter().map(|row| {
        let mut cells: Vec<String> = row.cells()[..columns].iter().map(|cell| plain(cell)).collect();
        cells[0] = if matches!(row.mark, Mark::Bad | Mark::Void) { format!("**{}**", row.status) } else { row.status.to_owned() };
        cells[1] = code(&row.rule);
        cells.extend(why(row));
        format!("| {} |\n", cells.join(" | "))
    });
    Section { head: format!("{head}{}", markdown::table(&heads, 2, std::iter::empty())), rows: body.collect(), tail }
}

/// P99 TTFT by load level, as a chart that GitHub draws itself.
fn chart(report: &Report) -> String {
    let points: Vec<(&str, f64)> = report
        .levels
        .iter()
        .filter(|level| !level.level.is_empty() && level.level.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'x')))
        .filter_map(|level| Some((level.level.as_str(), level.ttft.p99.filter(|value| value.is_finite())?)))
        .collect();
    if points.len() < FEWEST_BARS {
        return String::new();
    }
    let labels: Vec<String> = points.iter().map(|(label, _)| format!("\"{label}\"")).collect();
    let values: Vec<String> = points.iter().map(|(_, value)| format!("{value:.1}")).collect();
    let top = points.iter().fold(1.0_f64, |top, (_, value)| top.max(*value)) * 1.1;
    let text = format!(
        "```mermaid\nxychart-beta\n  title \"P99 TTFT by load level\"\n  x-axis [{}]\n  y-axis \"ms\" 0 --> {top:.0}\n  bar [{}]\n```\n",
        labels.join(", "),
        values.join(", ")
    );
    folded("P99 TTFT by load level", &text)
}

fn foot(report: &Report, around: &Surroundings) -> String {
    let baseline = facts::baseline(report).map(|used| format!("\nBaseline: {}\n", plain(&used)));
    baseline.unwrap_or_default() + &foot_of(around)
}

/// `run_url` is made of GitHub's own variables, not of anybody's text.
fn foot_of(around: &Surroundings) -> String {
    let commit = around.sha.as_ref().map(|sha| format!("commit {}", plain(sha.get(..12).unwrap_or(sha))));
    let run = around.run_url.as_ref().map(|url| format!("[run and full report]({url})"));
    let parts: Vec<String> = [commit, run].into_iter().flatten().collect();
    if parts.is_empty() { String::new() } else { format!("\n<sub>{}</sub>\n", parts.join(" · ")) }
}

fn fit(sections: &[Section], foot: &str, limit: usize) -> String {
    let room = limit.saturating_sub(foot.len()).saturating_sub(NOTE);
    let mut out = String::new();
    let mut left_out = 0;
    for section in sections {
        let least = section.head.len() + section.tail.len() + section.rows.first().map_or(0, String::len);
        if left_out > 0 || out.len() + least > room {
            left_out += section.rows.len().max(usize::from(!section.head.is_empty()));
            continue;
        }
        out.push_str(&section.head);
        for row in &section.rows {
            if left_out > 0 || out.len() + row.len() + section.tail.len() > room {
                left_out += 1;
            } else {
                out.push_str(row);
            }
        }
        out.push_str(&section.tail);
    }
    if left_out > 0 {
        let _ = writeln!(out, "\n_{left_out} rows or sections were left out to fit; the run's own report has them._");
    }
    out + foot
}
