//! A line of the grammar as words with places.

use crate::spec::quantity::Bad;
use std::ops::Range;

/// The longest line that is read.
const MAX_LINE: usize = 500;

/// A word, a number with its unit, or a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
}

impl Token<'_> {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn is_comparison(&self) -> bool {
        self.text.starts_with(is_comparison)
    }
}

/// What is wrong with a line, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::spec) struct Wrong {
    pub(in crate::spec) code: &'static str,
    pub(in crate::spec) message: String,
    pub(in crate::spec) help: String,
    pub(in crate::spec) span: Range<usize>,
}

impl Wrong {
    pub(super) fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>, span: Range<usize>) -> Self {
        Self { code, message: message.into(), help: help.into(), span }
    }

    pub(super) fn from_bad(bad: Bad, span: Range<usize>) -> Self {
        Self { code: bad.code, message: bad.message, help: bad.help, span }
    }
}

fn is_comparison(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '!' | '≤' | '≥')
}

/// Cuts a line at white space and around comparisons.
pub(super) fn tokens(line: &str) -> Result<Vec<Token<'_>>, Wrong> {
    if line.len() > MAX_LINE {
        return Err(Wrong::new("too-long", "the line is longer than a rule has reason to be", "write one rule a line", 0..line.len()));
    }
    let mut found: Vec<Token<'_>> = Vec::new();
    let mut start = None::<(usize, bool)>;
    let mut close = |start: &mut Option<(usize, bool)>, end: usize| {
        if let Some((from, _)) = start.take() {
            found.push(Token { text: &line[from..end], start: from });
        }
    };
    for (at, c) in line.char_indices() {
        let comparison = is_comparison(c);
        if c.is_whitespace() {
            close(&mut start, at);
        } else if start.is_none_or(|(_, kind)| kind != comparison) {
            close(&mut start, at);
            start = Some((at, comparison));
        }
    }
    close(&mut start, line.len());
    Ok(found)
}
