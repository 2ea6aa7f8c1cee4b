//! Pull requests: which one a commit belongs to, and where it stands now.

use super::api::{Api, Wish};
use super::{Event, GithubError, event};

const READ: Wish = Wish { what: "read the pull request", scope: "pull-requests: read" };

/// The open pull request of the commit that `event` is about, asked of GitHub itself: an artifact could name any.
///
/// # Errors
/// Where GitHub refuses or is silent.
pub fn pull_of(api: &Api, event: &Event) -> Result<Option<u64>, GithubError> {
    let Some(sha) = &event.head_sha else { return Ok(None) };
    let mut number = None;
    api.pages(&api.route("/pulls?state=open"), READ, |pull| {
        let head = &pull["head"];
        let same_commit = head["sha"].as_str().and_then(event::as_sha).as_ref() == Some(sha);
        // Two pull requests can have one commit; the branch and the repository tell them apart.
        let same_branch = event
            .head
            .as_ref()
            .is_none_or(|(branch, repo)| head["ref"].as_str() == Some(branch) && head["repo"]["full_name"].as_str() == Some(repo));
        number = pull["number"].as_u64().filter(|_| same_commit && same_branch);
        number.is_none()
    })?;
    Ok(number)
}

/// The commit that a pull request stands at.
pub(super) fn head_sha(api: &Api, pull: u64) -> Result<String, GithubError> {
    let answer = api.get(&api.route(&format!("/pulls/{pull}")), READ)?;
    answer.body["head"]["sha"].as_str().and_then(event::as_sha).ok_or(GithubError::Answer { what: READ.what, field: "head.sha" })
}
