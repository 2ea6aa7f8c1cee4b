//! What is wrong with a spec: each problem at its place, with what was meant; all of them at once.

use super::place::Place;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// The most problems that one rendering shows.
const MOST_SHOWN: usize = 50;
/// Messages quote the spec, and a spec may be hostile.
const LONGEST_MESSAGE: usize = 600;

/// A spec's text and the name it is shown under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// A path, `-`, or a preset's name.
    pub name: String,
    /// The text itself.
    pub text: String,
}

/// Whether an issue stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The spec cannot be used.
    Error,
    /// It can, but somebody will be surprised.
    Warning,
}

/// One problem of a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// A stable word for scripts: `unknown-key`, `missing-unit`, …
    pub code: &'static str,
    /// Whether it stops.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where, as bytes of the text; `None` where a flag or the whole text is meant.
    pub span: Option<Range<usize>>,
    /// The flag that holds the problem, as it was given: `--rate 5`; the text is then not at fault.
    pub flag: Option<String>,
    /// Where, as line and column from 1, counted in characters.
    pub position: Option<(usize, usize)>,
}

impl Issue {
    /// A problem that makes the spec unusable.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, message: clean(&message.into()), help: None, span: None, flag: None, position: None }
    }

    /// A problem that only surprises.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(clean(&help.into()));
        self
    }

    /// With its place.
    #[must_use]
    pub(super) fn at(mut self, place: impl Into<Place>) -> Self {
        (self.span, self.flag) = match place.into() {
            Place::Nowhere => (None, None),
            Place::Text(span) => (Some(span), None),
            Place::Flag(flag) => (None, Some(clean(&flag))),
        };
        self
    }

    /// The message, behind the flag that it is about.
    fn title(&self) -> String {
        self.flag.as_ref().map_or_else(|| self.message.clone(), |flag| format!("{flag}: {}", self.message))
    }

    /// Finds line and column in `text`, and keeps the span within it.
    pub(super) fn locate(&mut self, text: &str) {
        let Some(span) = &mut self.span else { return };
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        span.start = floor(span.start);
        span.end = floor(span.end).max(span.start);
        let before = &text[..span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        self.position = Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1));
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(f, "{line}:{column}: ")?;
        }
        f.write_str(&self.title())
    }
}

/// Why a text is no spec, or not one that may be used here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The text has problems: exit code 2.
    #[error("{0}")]
    Problems(Problems),
    /// The spec names a host that the caller did not allow: exit code 4.
    #[error("{0}")]
    HostRefused(Problems),
}

impl SpecError {
    /// What is wrong, in either case.
    #[must_use]
    pub fn problems(&self) -> &Problems {
        match self {
            Self::Problems(problems) | Self::HostRefused(problems) => problems,
        }
    }
}

/// Every problem of one text, in the order of their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// Whose.
    pub source: Source,
    /// At least one.
    pub issues: Vec<Issue>,
}

impl Problems {
    /// Sorts the issues by place and gives each its line and column.
    #[must_use]
    pub fn new(source: &Source, mut issues: Vec<Issue>) -> Self {
        for issue in &mut issues {
            issue.locate(&source.text);
        }
        issues.sort_by_key(|issue| issue.span.as_ref().map_or(usize::MAX, |span| span.start));
        issues.dedup();
        Self { source: source.clone(), issues }
    }

    /// The problems as a compiler would show them: the line, a caret, the advice.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let shown = visible(&self.source.text);
        let mut blocks: Vec<String> = self.issues.iter().take(MOST_SHOWN).map(|issue| self.block(issue, &shown, &renderer)).collect();
        if self.issues.len() > MOST_SHOWN {
            blocks.push(format!("… and {} more", self.issues.len() - MOST_SHOWN));
        }
        blocks.join("\n\n")
    }

    fn block(&self, issue: &Issue, shown: &str, renderer: &Renderer) -> String {
        let level = match issue.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let text = issue.title();
        let title = level.primary_title(text.as_str()).id(issue.code);
        let mut group = match &issue.span {
            Some(span) => title.element(
                Snippet::source(shown).path(clean(&self.source.name)).annotation(AnnotationKind::Primary.span(span.start..span.end)),
            ),
            None if issue.flag.is_some() => Group::with_title(title),
            None => title.element(annotate_snippets::Origin::path(clean(&self.source.name))),
        };
        if let Some(help) = &issue.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = clean(&self.source.name);
        match self.issues.as_slice() {
            [only] if only.flag.is_some() => write!(f, "{only}"),
            [only] => write!(f, "{name}:{only}"),
            all => write!(f, "{name} has {} problems", all.len()),
        }
    }
}

/// A spec is not trusted: what would move a terminal's cursor is shown as a mark instead, and so is a line break, since a CI runner
/// takes `::name::` at the start of a line for a command.
pub(super) fn clean(text: &str) -> String {
    text.chars().take(LONGEST_MESSAGE).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The same for a whole source, byte by byte, so that spans keep their meaning.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => c.to_string(),
            c if c.is_control() => "?".repeat(c.len_utf8()),
            c => c.to_string(),
        })
        .collect()
}

/// The known word nearest to `word`, where one is near enough to have been meant.
pub(super) fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    if word.chars().count() > 64 {
        return None;
    }
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.replace('-', "_")), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(word.len()).div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `did you mean …`, or what there is to choose from.
pub(super) fn meant(word: &str, known: &[&str]) -> String {
    near(word, known.iter().copied())
        .map_or_else(|| format!("known here: {}", known.join(", ")), |candidate| format!("did you mean `{candidate}`?"))
}
