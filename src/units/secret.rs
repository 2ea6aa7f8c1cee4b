//! A value that must never be printed.

use std::fmt;

/// An API key or a header's value. Prints `***` however it is formatted; only `client` and `github` may [`Secret::reveal`] it, and `cli`, which splits a
/// header's name off.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `value` from being printed.
    #[must_use]
    pub fn new(value: String) -> Self {
        Self(value)
    }

    /// The value itself, for the one header it is meant for.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
