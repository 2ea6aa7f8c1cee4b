//! Writing what was found: files under `--out`, the result on stdout. A failing output never hides a verdict.

use super::{Error, Exit, Format};
use crate::console::Console;
use crate::report::{self, Report};
use crate::store;
use std::path::Path;

/// The files of a report under `--out`.
pub(super) const FILES: [&str; 4] = ["verdict.json", "report.md", "report.html", "junit.xml"];
/// What a pull request's comment may hold, in bytes; a little under its 65,536 characters.
const MARKDOWN_LIMIT: usize = 65_000;

/// Writes every file of `report`, then the result in `format` to stdout. Gives the exit code that is left, and the report with
/// the files named in it.
pub(super) fn publish(mut report: Report, out: &Path, format: Format, mut failures: Vec<Error>, console: &Console) -> (Exit, Report) {
    for name in FILES {
        match store::replace(out, name, spell(&report, name).as_bytes()) {
            Ok(()) => report.files.push(out.join(name).display().to_string()),
            Err(error) => failures.push(Error::Output(error)),
        }
    }
    if let Err(error) = console.result(&text(&report, format, console)) {
        failures.push(Error::Stdout(error));
    }
    let exit = super::EXITS.iter().find(|(exit, _)| exit.code() == report.exit_code).map_or(Exit::Bug, |(exit, _)| *exit);
    (after(exit, &failures, console), report)
}

/// Shows what could not be written, and the exit code that is left: no failing output hides a verdict.
pub(super) fn after(exit: Exit, failures: &[Error], console: &Console) -> Exit {
    for failure in failures {
        super::show(failure, console);
    }
    if failures.is_empty() { exit } else { exit.worst(Exit::Output) }
}

fn spell(report: &Report, name: &str) -> String {
    match name {
        "verdict.json" => report::json::render(report),
        "report.md" => report::markdown::render(report, MARKDOWN_LIMIT),
        "report.html" => report::html::render(report),
        _ => report::junit::render(report),
    }
}

/// A report in the spelling that stdout gets. The request lines of a run are no report: `Csv` is spelt as JSON here.
pub(super) fn text(report: &Report, format: Format, console: &Console) -> String {
    match format {
        Format::Terminal => report::terminal::render(report, console.look()),
        Format::Markdown => report::markdown::render(report, MARKDOWN_LIMIT),
        Format::Html => report::html::render(report),
        Format::Json | Format::Csv => report::json::render(report),
        Format::Junit => report::junit::render(report),
    }
}
