//! The terminal's spelling: the verdict first, then each rule with its evidence, then the figures.

use super::rows::{self, LATENCY_HEADS, Mark, Row, WHAT_IF_HEADS};
use super::table::{self, align};
use super::text::{visible, wrap};
use super::{Report, facts, measured_sentence};
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

/// How the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether to colour.
    pub color: bool,
    /// Columns that fit. Running text is wrapped to it; the rules' table moves figures to a second line.
    pub width: usize,
}

/// Spells `report` for a terminal or a CI log. Only ASCII of our own; texts of others are made harmless.
#[must_use]
pub fn render(report: &Report, look: Look) -> String {
    let mut page = Page { out: String::new(), look };
    page.head(report);
    page.rules(&rows::rules(report));
    let unwell: Vec<String> =
        facts::unwell(report).iter().map(|row| format!("{} ({}): {}", row.check, row.status.name(), row.text)).collect();
    page.list("measurement", &unwell, Some(Mark::Open));
    page.list("ended early", &facts::early(report), None);
    page.list("warnings", &facts::warnings(report), Some(Mark::Open));
    page.list(facts::differences_title(report), &facts::differences(report), None);
    page.levels(report);
    page.what_if(report);
    page.conditions(report);
    page.list("files", &report.files, None);
    page.out
}

struct Page {
    out: String,
    look: Look,
}

impl Page {
    fn head(&mut self, report: &Report) {
        let (mark, word) = rows::headline(report);
        let name = visible(report.verdict.as_ref().map_or(&report.conditions.name, |verdict| &verdict.name));
        let title = format!("{} {}", self.paint(word, Some(mark)), self.bold(&name));
        self.line(&title);
        let changed = facts::changed_limits(report);
        if !changed.is_empty() {
            let text = format!("limits changed since the baseline: {}", changed.join(", ").replace('→', "->"));
            let text = self.paint(&wrap(&visible(&text), self.look.width, 2), Some(Mark::Open));
            self.line(&format!("  {text}"));
        }
        self.text(&report.summary, 2);
        if let (Some(_), Some(level)) = (&report.verdict, report.main_level()) {
            self.text(&measured_sentence(level, &report.conditions, &report.constraints, report.headroom), 2);
        }
    }

    fn rules(&mut self, rows: &[Row]) {
        if rows.is_empty() {
            return;
        }
        let table = table::rules(rows, rows::columns(rows), self.look.width);
        self.title("rules");
        if let Some(head) = &table.head {
            self.line(&self.dim(head));
        }
        for (row, (line, rest)) in rows.iter().zip(&table.rows) {
            let line = line.replacen(row.status, &self.paint(row.status, Some(row.mark)), 1);
            self.line(&line);
            self.text(rest, 6);
            self.text(&row.why, 6);
            for warning in &row.warnings {
                self.text(&format!("warning: {warning}"), 6);
            }
        }
    }

    fn levels(&mut self, report: &Report) {
        for level in &report.levels {
            self.title(&visible(&facts::level_title(level)));
            let latencies = rows::latencies(level, report.both_conventions);
            if !latencies.is_empty() {
                self.table(&LATENCY_HEADS, &latencies);
                self.text(rows::latency_note(report.both_conventions), 2);
            }
            for (label, value) in facts::level(level) {
                self.text(&format!("{label}: {value}"), 2);
            }
        }
    }

    fn what_if(&mut self, report: &Report) {
        let Some(what_if) = &report.what_if else { return };
        self.title(&format!("what if: {}", visible(&what_if.constraints.join(", "))));
        self.table(&WHAT_IF_HEADS, &rows::what_if(report));
    }

    fn conditions(&mut self, report: &Report) {
        self.title("conditions");
        for line in facts::conditions(&report.conditions).into_iter().chain(facts::client(report)) {
            self.text(&line, 2);
        }
        if let Some(baseline) = facts::baseline(report) {
            self.text(&format!("baseline: {baseline}"), 2);
        }
    }

    fn list(&mut self, title: &str, items: &[String], mark: Option<Mark>) {
        if items.is_empty() {
            return;
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let title = self.paint(title, mark);
        self.line(&title);
        for item in items {
            self.text(item, 2);
        }
    }

    fn table<const N: usize>(&mut self, heads: &[&str; N], body: &[[String; N]]) {
        let body: Vec<Vec<String>> = body.iter().map(|line| line.iter().map(|cell| visible(cell)).collect()).collect();
        let lines = align(heads, &body, 1);
        let head = self.dim(&lines[0]);
        self.line(&head);
        for line in &lines[1..] {
            self.line(line);
        }
    }

    fn title(&mut self, title: &str) {
        let title = self.bold(title);
        let _ = writeln!(self.out, "\n{title}");
    }

    /// Running text of others, indented and wrapped.
    fn text(&mut self, text: &str, indent: usize) {
        if !text.is_empty() {
            let text = format!("{:indent$}{}", "", wrap(&visible(text), self.look.width, indent));
            self.line(&text);
        }
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn paint(&self, word: &str, mark: Option<Mark>) -> String {
        let color = match mark {
            Some(Mark::Good) => AnsiColor::Green,
            Some(Mark::Bad) => AnsiColor::Red,
            Some(Mark::Open) => AnsiColor::Yellow,
            Some(Mark::Void) => AnsiColor::Magenta,
            Some(Mark::Mute) => return self.styled(word, Style::new().dimmed()),
            None => return self.bold(word),
        };
        self.styled(word, Style::new().bold().fg_color(Some(color.into())))
    }

    fn bold(&self, text: &str) -> String {
        self.styled(text, Style::new().bold())
    }

    fn dim(&self, text: &str) -> String {
        self.styled(text, Style::new().dimmed())
    }

    fn styled(&self, text: &str, style: Style) -> String {
        if self.look.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
