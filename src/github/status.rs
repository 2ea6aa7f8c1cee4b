//! A commit status, which branch protection and the list of commits show.

use super::GithubError;
use super::api::{Api, Wish};
use serde_json::json;

const WRITE: Wish = Wish { what: "set a commit status", scope: "statuses: write" };
/// The longest description, characters; GitHub refuses a longer one.
const DESCRIPTION: usize = 140;

/// What a status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Kept.
    Success,
    /// Broken, or not decided where that fails.
    Failure,
    /// Not judged.
    Error,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Error => "error",
        }
    }
}

/// Sets the status `context` of a commit; the newest of a context counts.
///
/// # Errors
/// Where GitHub refuses, is silent, or the token lacks the right.
pub fn set_status(
    api: &Api,
    sha: &str,
    context: &str,
    (state, description): (State, &str),
    target: Option<&str>,
) -> Result<(), GithubError> {
    let mut body = json!({ "state": state.name(), "context": context, "description": cut(description) });
    if let Some(target) = target {
        body["target_url"] = json!(target);
    }
    api.post_repeatable(&api.route(&format!("/statuses/{sha}")), &body, WRITE).map(|_| ())
}

fn cut(text: &str) -> String {
    if text.chars().count() <= DESCRIPTION {
        return text.to_owned();
    }
    text.chars().take(DESCRIPTION - 1).chain(['…']).collect()
}
