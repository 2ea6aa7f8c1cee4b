//! Which commits a commit comes from, nearest first: a baseline is worth something only where the code under test grew out of it.

use super::api::{Api, Wish};
use super::{Event, GithubError, event};

const READ: Wish = Wish { what: "read the commits", scope: "contents: read" };
/// Commits that are looked at; an older baseline is another service.
const FARTHEST: usize = 500;

/// An ancestor that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// Its hash.
    pub sha: String,
    /// Commits between it and where the walk began.
    pub distance: usize,
}

/// The nearest ancestors, at most `most`, that are `known`. A pull request's walk begins at its merge base: the tip of its branch may
/// have what the pull request has not.
///
/// # Errors
/// Where GitHub refuses or is silent.
pub fn ancestors(api: &Api, event: &Event, most: usize, known: impl Fn(&str) -> bool) -> Result<Vec<Ancestor>, GithubError> {
    let Some(head) = &event.head_sha else { return Ok(Vec::new()) };
    let start = match event.base() {
        Some(base) => merge_base(api, &base, head)?,
        None => head.clone(),
    };
    let (mut found, mut distance) = (Vec::new(), 0);
    api.pages(&api.route(&format!("/commits?sha={start}")), READ, |commit| {
        if let Some(sha) = commit["sha"].as_str().and_then(event::as_sha).filter(|sha| known(sha)) {
            found.push(Ancestor { sha, distance });
        }
        distance += 1;
        found.len() < most && distance < FARTHEST
    })?;
    Ok(found)
}

fn merge_base(api: &Api, base: &str, head: &str) -> Result<String, GithubError> {
    let base: String = url::form_urlencoded::byte_serialize(base.as_bytes()).collect();
    let answer = api.get(&api.route(&format!("/compare/{base}...{head}?per_page=1")), READ)?;
    let sha = answer.body["merge_base_commit"]["sha"].as_str().and_then(event::as_sha);
    sha.ok_or(GithubError::Answer { what: READ.what, field: "merge_base_commit" })
}
