//! Workflow commands: lines of a step's log that the runner turns into annotations.

use std::fmt;

/// How an annotation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Red.
    Error,
    /// For whoever looks.
    Notice,
}

/// One annotation. Its `Display` is the line, with everything escaped that would end it or start another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowCommand {
    /// How it is shown.
    pub severity: Severity,
    /// Its title.
    pub title: String,
    /// The file below the repository's root, with line and column from 1.
    pub place: Option<(String, Option<(usize, usize)>)>,
    /// What it says.
    pub message: String,
}

impl fmt::Display for WorkflowCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Notice => "notice",
        };
        write!(f, "::{word} title={}", property(&self.title))?;
        if let Some((file, position)) = &self.place {
            write!(f, ",file={}", property(file))?;
            if let Some((line, column)) = position {
                write!(f, ",line={line},col={column}")?;
            }
        }
        write!(f, "::{}", data(&self.message))
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
