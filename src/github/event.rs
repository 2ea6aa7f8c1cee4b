//! What started the workflow, from its payload. Read field by field: a payload has hundreds of them, and they change.

use serde_json::Value;

/// What started the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// `pull_request`, `push`, …
    pub name: String,
    /// The pull request, where the payload tells. That of a `workflow_run` is looked up instead: the payload's is empty for forks.
    pub pull: Option<u64>,
    /// The commit under test: a pull request's own head, not the merge that was checked out.
    pub head_sha: Option<String>,
    /// The branch and the repository that a `workflow_run`'s commit came from.
    pub head: Option<(String, String)>,
    /// The tip of the branch that a pull request or a merge group is for.
    pub base_sha: Option<String>,
    /// The branch that a pull request is for.
    pub base_ref: Option<String>,
    /// The repository's default branch.
    pub default_branch: Option<String>,
    /// The branch that the workflow runs for, where it runs for one.
    pub branch: Option<String>,
    /// Whether the code comes from another repository than this one.
    pub from_fork: bool,
}

impl Event {
    /// Reads the payload of the event `name`; `sha` and `reference` are those of the environment.
    #[must_use]
    pub fn read(name: &str, payload: &Value, sha: Option<&str>, reference: Option<&str>) -> Self {
        let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str);
        let commit = |pointer: &str| text(pointer).and_then(as_sha);
        let environment = sha.and_then(as_sha);
        let mut event = Self {
            name: name.to_owned(),
            head_sha: environment.clone(),
            default_branch: text("/repository/default_branch").map(str::to_owned),
            branch: reference.and_then(|reference| reference.strip_prefix("refs/heads/")).map(str::to_owned),
            ..Self::default()
        };
        let differs = |pointer: &str| text(pointer).is_some_and(|repo| Some(repo) != text("/repository/full_name"));
        if payload.pointer("/pull_request").is_some() {
            event.pull = payload.pointer("/pull_request/number").and_then(Value::as_u64);
            event.head_sha = commit("/pull_request/head/sha").or(environment);
            event.base_sha = commit("/pull_request/base/sha");
            event.base_ref = text("/pull_request/base/ref").map(str::to_owned);
            event.from_fork = differs("/pull_request/head/repo/full_name");
            event.branch = None;
        } else if name == "merge_group" {
            event.head_sha = commit("/merge_group/head_sha").or(environment);
            event.base_sha = commit("/merge_group/base_sha");
            event.branch = None;
        } else if name == "workflow_run" {
            event.head_sha = commit("/workflow_run/head_sha");
            event.head = text("/workflow_run/head_branch")
                .zip(text("/workflow_run/head_repository/full_name"))
                .map(|(branch, repo)| (branch.to_owned(), repo.to_owned()));
            event.from_fork = differs("/workflow_run/head_repository/full_name");
            let of_pull = text("/workflow_run/event").is_some_and(|event| event.starts_with("pull_request"));
            event.branch = if of_pull { None } else { text("/workflow_run/head_branch").map(str::to_owned) };
        }
        event
    }

    /// Whether this is the default branch itself: no pull request, no merge group, no fork.
    #[must_use]
    pub fn is_default_branch(&self) -> bool {
        let branch = self.branch.as_deref();
        branch.is_some() && branch == self.default_branch.as_deref() && self.pull.is_none() && !self.from_fork
    }

    /// What the commit under test will be merged into, where it will be. The name of a pull request's branch comes before the hash in its
    /// payload, which is that of the time it was opened.
    pub(super) fn base(&self) -> Option<String> {
        let default = || self.default_branch.clone().filter(|_| self.wants_pull());
        self.base_ref.clone().or_else(|| self.base_sha.clone()).or_else(default)
    }

    /// Whether the pull request has to be looked up by its commit.
    #[must_use]
    pub fn wants_pull(&self) -> bool {
        self.name == "workflow_run" && self.branch.is_none()
    }
}

/// A whole commit hash in lower case, or nothing.
pub(super) fn as_sha(text: &str) -> Option<String> {
    (matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text.to_ascii_lowercase())
}
