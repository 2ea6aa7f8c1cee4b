//! Where a run of GitHub Actions is: the values of its environment, read by `cli` and checked here.

use super::{Event, GithubError};
use crate::store;
use crate::units::Secret;
use std::path::PathBuf;

/// The longest payload of an event that is read; GitHub's own limit is 25 MB.
const PAYLOAD_LIMIT: u64 = 32 << 20;

/// The environment of a step of GitHub Actions; each field is the variable of its name.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// `GITHUB_TOKEN`.
    pub token: Option<Secret>,
    /// `GITHUB_API_URL`; on GHES it ends in `/api/v3`.
    pub api_url: Option<String>,
    /// `GITHUB_SERVER_URL`, for links.
    pub server_url: Option<String>,
    /// `GITHUB_REPOSITORY`: `owner/name`.
    pub repository: Option<String>,
    /// `GITHUB_SHA`.
    pub sha: Option<String>,
    /// `GITHUB_REF`.
    pub reference: Option<String>,
    /// `GITHUB_EVENT_NAME`.
    pub event_name: Option<String>,
    /// `GITHUB_EVENT_PATH`.
    pub event_path: Option<PathBuf>,
    /// `GITHUB_RUN_ID`.
    pub run_id: Option<u64>,
    /// `GITHUB_RUN_ATTEMPT`.
    pub run_attempt: Option<u64>,
    /// `GITHUB_STEP_SUMMARY`.
    pub summary: Option<PathBuf>,
    /// `GITHUB_OUTPUT`.
    pub output: Option<PathBuf>,
    /// Whether `GITHUB_ACTIONS` is `true`: only then does anybody read workflow commands.
    pub in_actions: bool,
    /// The working directory below `GITHUB_WORKSPACE`, for the files of annotations.
    pub below_workspace: Option<PathBuf>,
}

impl Context {
    /// The repository, where it is one.
    ///
    /// # Errors
    /// Where `GITHUB_REPOSITORY` is missing or not `owner/name`.
    pub fn repository(&self) -> Result<&str, GithubError> {
        let plain = |part: &str| {
            !part.is_empty() && part.len() <= 100 && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        self.repository
            .as_deref()
            .filter(|text| text.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name)))
            .ok_or(GithubError::Environment { name: "GITHUB_REPOSITORY" })
    }

    /// The page of this run and attempt.
    #[must_use]
    pub fn run_url(&self) -> Option<String> {
        let server = self.server_url.as_deref().unwrap_or("https://github.com").trim_end_matches('/');
        let server = url::Url::parse(server).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let attempt = self.run_attempt.map(|attempt| format!("/attempts/{attempt}")).unwrap_or_default();
        let (repository, run) = (self.repository().ok()?, self.run_id?);
        Some(format!("{}/{repository}/actions/runs/{run}{attempt}", server.as_str().trim_end_matches('/')))
    }

    /// What happened, from the payload. Without one: a commit and nothing more.
    ///
    /// # Errors
    /// Where the payload cannot be read or is no JSON.
    pub fn event(&self) -> Result<Event, GithubError> {
        let payload = match &self.event_path {
            Some(path) => serde_json::from_slice(&store::read(path, PAYLOAD_LIMIT)?).map_err(|_| GithubError::Payload)?,
            None => serde_json::Value::Null,
        };
        Ok(Event::read(self.event_name.as_deref().unwrap_or_default(), &payload, self.sha.as_deref(), self.reference.as_deref()))
    }
}
