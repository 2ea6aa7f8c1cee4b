//! At most ten annotations: GitHub drops more without a word.

use super::Outcome;
use crate::commands::Error;
use crate::github::{Context, Severity, WorkflowCommand};
use crate::report::{comment, visible};
use crate::spec::{Issue, Problems};
use std::path::Path;

/// The most errors of one step that GitHub shows.
const MOST: usize = 10;

/// Spec errors at their place, or the rules that made the verdict.
pub(super) fn of(outcome: &Outcome<'_>, context: &Context) -> Vec<WorkflowCommand> {
    let mut all: Vec<WorkflowCommand> = match outcome {
        Outcome::Stopped { error: Error::Spec(spec), .. } => {
            spec.problems().issues.iter().map(|issue| of_issue(issue, spec.problems(), context)).collect()
        }
        Outcome::Stopped { error, .. } => vec![error_command("goodput-gate: not judged", visible(&error.to_string()))],
        Outcome::Judged { report, exit, .. } if exit.code() != 0 => {
            let name = report.name();
            let rules = comment::broken_rules(report);
            match rules.is_empty() {
                true => vec![error_command(&format!("goodput-gate {name}"), comment::status_line(report))],
                false => rules.iter().map(|(title, text)| error_command(&format!("goodput-gate {name}: {title}"), text.clone())).collect(),
            }
        }
        Outcome::Judged { .. } => Vec::new(),
    };
    if all.len() > MOST {
        let rest = all.len() - MOST + 1;
        all.truncate(MOST - 1);
        all.push(error_command("goodput-gate", format!("{rest} more are in the log and the summary")));
    }
    all
}

/// A line for whoever looks.
pub(super) fn notice(text: &str) -> WorkflowCommand {
    WorkflowCommand { severity: Severity::Notice, title: "goodput-gate".to_owned(), place: None, message: visible(text) }
}

fn error_command(title: &str, message: String) -> WorkflowCommand {
    WorkflowCommand { severity: Severity::Error, title: visible(title), place: None, message }
}

fn of_issue(issue: &Issue, problems: &Problems, context: &Context) -> WorkflowCommand {
    let help = issue.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
    let mut command = error_command("goodput-gate: the spec", visible(&format!("{}{help}", issue.message)));
    let name = &problems.source.name;
    if Path::new(name).is_file() {
        let below = context.below_workspace.as_deref().map_or_else(|| Path::new(name).to_owned(), |below| below.join(name));
        command.place = Some((visible(&below.display().to_string()), issue.position));
    }
    command
}
