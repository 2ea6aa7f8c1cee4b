//! One comment a gate on a pull request: found by its marker and author, made once, then updated in place.

use super::api::{Api, Wish};
use super::pulls::head_sha;
use super::{GithubError, event};
use serde_json::{Value, json};

const LIST: Wish = Wish { what: "read the pull request's comments", scope: "pull-requests: read" };
const WRITE: Wish = Wish { what: "comment on the pull request", scope: "pull-requests: write" };
const HEAD: &str = "<!-- goodput-gate";

/// What the first line of a comment tells, hidden from readers: whose it is, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The gate's name.
    pub gate: String,
    /// The commit that was judged.
    pub sha: String,
    /// The workflow's run, which grows with time.
    pub run: u64,
    /// The run's attempt.
    pub attempt: u64,
    /// The exit code.
    pub exit: u8,
}

impl Marker {
    /// The line itself.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { gate, sha, run, attempt, exit } = self;
        format!("{HEAD} name={gate} sha={sha} run={run} attempt={attempt} exit={exit} -->")
    }

    /// Reads the first line of a comment's body.
    #[must_use]
    pub fn parse(body: &str) -> Option<Self> {
        let line = body.lines().next()?.trim_end();
        let mut words = line.strip_prefix(HEAD)?.strip_suffix("-->")?.split_whitespace();
        let mut value = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
        Some(Self {
            gate: value("name")?,
            sha: event::as_sha(&value("sha")?)?,
            run: value("run")?.parse().ok()?,
            attempt: value("attempt")?.parse().ok()?,
            exit: value("exit")?.parse().ok()?,
        })
    }

    fn is_newer_than(&self, other: &Self) -> bool {
        self.sha == other.sha && (self.run, self.attempt) > (other.run, other.attempt)
    }
}

/// What became of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Posted {
    /// A new one; its page.
    Created(String),
    /// The one that was there, with new text; its page.
    Updated(String),
    /// Left as it is, because the caller wants no change; its page, where there is one.
    Left(Option<String>),
    /// Left, because the pull request or the comment is newer than what was judged; why.
    Outdated(String),
}

/// A comment of ours.
#[derive(Debug)]
struct Found {
    id: u64,
    url: String,
    marker: Marker,
}

/// Writes `body` below its marker, where `wanted` (asked with the marker of the comment that is there) says so.
///
/// # Errors
/// Where GitHub refuses, is silent, or the token lacks a right.
pub fn upsert(api: &Api, pull: u64, marker: &Marker, body: &str, wanted: impl Fn(Option<&Marker>) -> bool) -> Result<Posted, GithubError> {
    let author = api.author();
    let found = find(api, pull, &marker.gate, &author)?;
    if !wanted(found.as_ref().map(|found| &found.marker)) {
        return Ok(Posted::Left(found.map(|found| found.url)));
    }
    if found.as_ref().is_some_and(|found| found.marker.is_newer_than(marker)) {
        return Ok(Posted::Outdated("its comment is of a later run of this commit".to_owned()));
    }
    // Read last: measuring took minutes, and a push in between makes this verdict old news.
    let head = head_sha(api, pull)?;
    if head != marker.sha {
        return Ok(Posted::Outdated(format!("the pull request has moved on to commit {}", head.get(..12).unwrap_or(&head))));
    }
    let body = json!({ "body": format!("{}\n{body}", marker.line()) });
    match found {
        Some(found) => {
            api.patch(&api.route(&format!("/issues/comments/{}", found.id)), &body, WRITE)?;
            Ok(Posted::Updated(found.url))
        }
        None => create(api, pull, marker, &body, &author),
    }
}

/// After a reply that was lost the comment may be there: it is looked for before another one is made.
fn create(api: &Api, pull: u64, marker: &Marker, body: &Value, author: &str) -> Result<Posted, GithubError> {
    let route = api.route(&format!("/issues/{pull}/comments"));
    let post = || -> Result<Posted, GithubError> {
        let answer = api.post(&route, body, WRITE)?;
        let url = answer.body["html_url"].as_str().ok_or(GithubError::Answer { what: WRITE.what, field: "html_url" })?;
        Ok(Posted::Created(url.to_owned()))
    };
    match post() {
        Err(error) if error.leaves_doubt() => match find(api, pull, &marker.gate, author)? {
            Some(found) if found.marker == *marker => Ok(Posted::Created(found.url)),
            _ => post(),
        },
        other => other,
    }
}

/// The oldest comment of the gate `name` by `author`.
fn find(api: &Api, pull: u64, name: &str, author: &str) -> Result<Option<Found>, GithubError> {
    let mut found = None;
    api.pages(&api.route(&format!("/issues/{pull}/comments")), LIST, |comment| {
        found = read(comment, author).filter(|comment| comment.marker.gate == name);
        found.is_none()
    })?;
    Ok(found)
}

fn read(comment: &Value, author: &str) -> Option<Found> {
    if comment["user"]["login"].as_str()? != author {
        return None;
    }
    let marker = Marker::parse(comment["body"].as_str()?)?;
    Some(Found { id: comment["id"].as_u64()?, url: comment["html_url"].as_str()?.to_owned(), marker })
}
