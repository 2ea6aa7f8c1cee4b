//! What can go wrong while reporting.

use crate::store::StoreError;

/// A report that could not be made. It never changes a verdict.
#[derive(Debug, thiserror::Error)]
pub enum GithubError {
    /// The token has no right to it, as that of a pull request from a fork.
    #[error("the token may not {what} (HTTP {status})")]
    Forbidden {
        /// To do what.
        what: &'static str,
        /// The permission that the workflow would have to grant, as it is written there.
        scope: &'static str,
        /// GitHub's status.
        status: u16,
    },
    /// GitHub asked to wait, and longer than a report is worth.
    #[error("GitHub's rate limit leaves no time to {what}")]
    Limited {
        /// To do what.
        what: &'static str,
    },
    /// No answer came.
    #[error("no answer from GitHub to the wish to {what}: {why}")]
    Unreachable {
        /// To do what.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// GitHub refused.
    #[error("GitHub answered HTTP {status} to the wish to {what}: {message}")]
    Refused {
        /// To do what.
        what: &'static str,
        /// GitHub's status.
        status: u16,
        /// GitHub's own words.
        message: String,
    },
    /// The answer is not what GitHub's description says.
    #[error("GitHub's answer to the wish to {what} has no {field}")]
    Answer {
        /// To do what.
        what: &'static str,
        /// What is missing.
        field: &'static str,
    },
    /// The environment does not tell what is needed.
    #[error("{name} is not set, or not what GitHub Actions sets")]
    Environment {
        /// The variable.
        name: &'static str,
    },
    /// That is no name of a branch.
    #[error("that is no name of a branch")]
    Branch,
    /// Others push to the branch faster than we do.
    #[error("others pushed to the branch each time before we could")]
    Race,
    /// The client could not be made.
    #[error("could not set up the client for GitHub: {why}")]
    Client {
        /// Why.
        why: String,
    },
    /// A file of GitHub Actions could not be used.
    #[error(transparent)]
    File(#[from] StoreError),
    /// The payload of the event is no JSON.
    #[error("the event's payload is not JSON")]
    Payload,
}

impl GithubError {
    /// The permission that is missing, where that is what is wrong.
    #[must_use]
    pub fn missing_scope(&self) -> Option<&'static str> {
        match self {
            Self::Forbidden { scope, .. } => Some(scope),
            _ => None,
        }
    }

    /// Whether the server may have done what was asked all the same.
    #[must_use]
    pub(super) fn leaves_doubt(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Answer { .. } => true,
            Self::Refused { status, .. } => *status >= 500,
            _ => false,
        }
    }
}
