//! Where a value was written: in the text, or in a flag of the command line.

use std::ops::Range;

/// Where a value was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Place {
    /// Nowhere: the whole text is meant.
    #[default]
    Nowhere,
    /// In these bytes of the text.
    Text(Range<usize>),
    /// In this flag, as it was given: `--rounds 2`.
    Flag(String),
}

impl From<Range<usize>> for Place {
    fn from(span: Range<usize>) -> Self {
        Self::Text(span)
    }
}

impl From<Option<Range<usize>>> for Place {
    fn from(span: Option<Range<usize>>) -> Self {
        span.map_or(Self::Nowhere, Self::Text)
    }
}
