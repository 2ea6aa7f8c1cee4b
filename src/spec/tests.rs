//! The spec as its users meet it: texts in, values or told problems out.

mod bad;
mod contract;
mod messages;
mod properties;
mod reach;
mod warnings;

use super::*;

fn source(text: &str) -> Source {
    Source { name: "gate.yaml".into(), text: text.into() }
}

/// The checked spec; a panic that shows the problems otherwise.
fn good(text: &str) -> Spec {
    match parse(&source(text), &Permissions::default()) {
        Ok(checked) => checked.spec,
        Err(error) => panic!("{}", error.problems().render(false)),
    }
}

/// Each problem as `line:column code`.
fn codes(text: &str, permissions: &Permissions) -> Vec<String> {
    match parse(&source(text), permissions) {
        Ok(_) => Vec::new(),
        Err(error) => error
            .problems()
            .issues
            .iter()
            .map(|issue| issue.position.map_or(format!("- {}", issue.code), |(line, column)| format!("{line}:{column} {}", issue.code)))
            .collect(),
    }
}

/// The problems as a user sees them.
fn shown(text: &str) -> String {
    parse(&source(text), &Permissions::default()).unwrap_err().problems().render(false)
}

/// A spec around one line of `slo`.
fn with_line(list: &str, line: &str) -> String {
    format!("name: a\nload: {{ concurrency: 4, levels: [1x, 2x] }}\nslo:\n  {list}:\n    - {line}\n")
}
