//! Where words go: the result to stdout, everything else to stderr.

use super::{ColorChoice, Progress, color_wanted};
use crate::report::terminal::Look;
use crate::report::visible;
use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use std::io::{self, IsTerminal, Write};

/// Columns where the terminal does not tell.
const DEFAULT_WIDTH: usize = 100;
/// Running text gets no wider: longer lines are hard to read.
const WIDEST: usize = 120;

/// Standard error, shared with a bar that may be drawn there.
#[derive(Debug, Clone)]
pub(super) struct Errors {
    bars: MultiProgress,
    color: bool,
}

impl Errors {
    /// Writes one line without tearing a bar. A reader that went away is nobody's trouble.
    pub(super) fn line(&self, line: &str) {
        self.bars.suspend(|| {
            let _ = writeln!(io::stderr().lock(), "{line}");
        });
    }

    fn styled(&self, word: &str, color: AnsiColor) -> String {
        let style = Style::new().bold().fg_color(Some(color.into()));
        if self.color { format!("{style}{word}{style:#}") } else { word.to_owned() }
    }
}

/// The user's terminal.
#[derive(Debug)]
pub struct Console {
    quiet: bool,
    look: Look,
    errors: Errors,
}

impl Console {
    /// From the flags `--color` and `--quiet`, and the process's environment and streams.
    #[must_use]
    pub fn new(choice: ColorChoice, quiet: bool) -> Self {
        let env = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let width = terminal_size::terminal_size_of(io::stdout()).map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0).min(WIDEST));
        Self {
            quiet,
            look: Look { color: color_wanted(choice, io::stdout().is_terminal(), env), width },
            errors: Errors {
                bars: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
                color: color_wanted(choice, io::stderr().is_terminal(), env),
            },
        }
    }

    /// How to render the result for stdout.
    #[must_use]
    pub fn look(&self) -> Look {
        self.look
    }

    /// Whether stderr is coloured, for diagnostics that are rendered elsewhere.
    #[must_use]
    pub fn colors_errors(&self) -> bool {
        self.errors.color
    }

    /// Whether a person can be asked: stdin and stderr are terminals.
    #[must_use]
    pub fn is_interactive(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks a yes-or-no question on stderr; anything but yes is no.
    #[must_use]
    pub fn confirm(&self, question: &str) -> bool {
        let mut answer = String::new();
        self.errors.bars.suspend(|| {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "{} [y/N] ", visible(question)).and_then(|()| stderr.flush());
            io::stdin().read_line(&mut answer).is_ok() && is_yes(&answer)
        })
    }

    /// Writes the result to stdout as it is, with a line break at its end. A reader that went away (`| head`) is no error.
    ///
    /// # Errors
    /// What the system says, where stdout could not be written for another reason, such as a full disk.
    pub fn result(&self, text: &str) -> io::Result<()> {
        self.errors.bars.suspend(|| write_result(&mut io::stdout().lock(), text))
    }

    /// A plain line on stderr; not with `--quiet`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.errors.line(&visible(text));
        }
    }

    /// `warning: …` on stderr, with `--quiet` too.
    pub fn warn(&self, text: &str) {
        self.errors.line(&format!("{}: {}", self.errors.styled("warning", AnsiColor::Yellow), visible(text)));
    }

    /// `error: …` on stderr, and its help on a line of its own; with `--quiet` too.
    pub fn error(&self, text: &str, help: Option<&str>) {
        self.errors.line(&format!("{}: {}", self.errors.styled("error", AnsiColor::Red), visible(text)));
        if let Some(help) = help {
            self.errors.line(&format!("{}: {}", self.errors.styled("help", AnsiColor::Cyan), visible(help)));
        }
    }

    /// Diagnostics of several lines, rendered and made harmless elsewhere; written to stderr as they are, with `--quiet` too.
    pub fn rendered(&self, text: &str) {
        self.errors.line(text.trim_end());
    }

    /// Progress on stderr: a bar on a terminal, else a plain line every ten seconds; nothing with `--quiet`.
    #[must_use]
    pub fn progress(&self) -> Progress {
        match (self.quiet, io::stderr().is_terminal()) {
            (true, _) => Progress::quiet(),
            (false, true) => Progress::bar(self.errors.bars.add(ProgressBar::new(0))),
            (false, false) => Progress::lines(self.errors.clone()),
        }
    }
}

fn write_result(to: &mut impl Write, text: &str) -> io::Result<()> {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    match to.write_all(text.as_bytes()).and_then(|()| to.write_all(end.as_bytes())).and_then(|()| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(io::ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_reader_that_went_away_is_no_error_and_a_full_disk_is() {
        assert!(write_result(&mut Broken(io::ErrorKind::BrokenPipe), "x").is_ok());
        let full = write_result(&mut Broken(io::ErrorKind::StorageFull), "x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_result_ends_with_one_line_break() {
        for (text, written) in [("a", "a\n"), ("a\n", "a\n"), ("", "")] {
            let mut out = Vec::new();
            write_result(&mut out, text).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), written);
        }
    }

    #[test]
    fn only_yes_is_yes() {
        assert!(is_yes("y\n") && is_yes(" YES \r\n"));
        assert!(!is_yes("") && !is_yes("\n") && !is_yes("n") && !is_yes("yep"));
    }
}
