//! The one way to GitHub's API. Everything that octocrab does for us is in this file.

use super::retry::{self, Next, PATIENCE, Repeat};
use super::{Context, GithubError};
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt, Limited};
use octocrab::Octocrab;
use serde_json::Value;
use std::cell::Cell;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Connecting takes at most so long.
const CONNECT: Duration = Duration::from_secs(10);
/// One exchange, its redirects included, takes at most so long.
const EXCHANGE: Duration = Duration::from_secs(30);
/// The longest answer that is read. A page of a hundred comments at their limit has less.
const ANSWER_LIMIT: usize = 32 << 20;
/// Entries a page; GitHub's own maximum.
const PAGE: usize = 100;
/// The most pages that are read of one list.
const PAGES: usize = 100;

/// To do what, and the permission that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    pub(super) what: &'static str,
    pub(super) scope: &'static str,
}

/// A repository at one API host. The token goes to that host only, through redirects too.
pub struct Api {
    runtime: Runtime,
    crab: Octocrab,
    repository: String,
    /// Whose comments are ours, where the token tells by its form.
    is_installation: bool,
    patience: Cell<Duration>,
}

/// An answer that was not refused.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
    has_next: Option<bool>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").field("repository", &self.repository).finish_non_exhaustive()
    }
}

impl Api {
    /// The API that `context` names.
    ///
    /// # Errors
    /// Where the environment lacks the token or the repository, or the client cannot be made.
    pub fn open(context: &Context) -> Result<Self, GithubError> {
        let repository = context.repository()?.to_owned();
        let token = context.token.as_ref().ok_or(GithubError::Environment { name: "GITHUB_TOKEN" })?;
        let url = context.api_url.as_deref().unwrap_or("https://api.github.com").trim_end_matches('/');
        let parsed = url::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.username().is_empty());
        parsed.ok_or(GithubError::Environment { name: "GITHUB_API_URL" })?;
        let client = |why: String| GithubError::Client { why };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| client(error.to_string()))?;
        // One crypto provider for the whole process; a second call finds the first one's.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let entered = runtime.enter();
        let crab = Octocrab::builder()
            .personal_token(token.reveal().to_owned())
            .set_connect_timeout(Some(CONNECT))
            .set_read_timeout(Some(EXCHANGE))
            .set_write_timeout(Some(EXCHANGE))
            .base_uri(url)
            .and_then(|builder| builder.upload_uri(url))
            .and_then(|builder| builder.build())
            .map_err(|error| client(error.to_string()))?;
        drop(entered);
        Ok(Self { runtime, crab, repository, is_installation: token.reveal().starts_with("ghs_"), patience: Cell::new(PATIENCE) })
    }

    /// `/repos/OWNER/NAME` and `rest`.
    pub(super) fn route(&self, rest: &str) -> String {
        format!("/repos/{}{rest}", self.repository)
    }

    /// The login whose comments are ours. An installation's token cannot ask who it is; that of a workflow is `github-actions[bot]`.
    pub(super) fn author(&self) -> String {
        let bot = || "github-actions[bot]".to_owned();
        if self.is_installation {
            return bot();
        }
        let wish = Wish { what: "ask whose token it is", scope: "none" };
        let login = self.get("/user", wish).ok().and_then(|answer| answer.body["login"].as_str().map(str::to_owned));
        login.unwrap_or_else(bot)
    }

    pub(super) fn get(&self, route: &str, wish: Wish) -> Result<Answer, GithubError> {
        self.call(&Method::GET, route, None, Repeat::Safe, wish)
    }

    pub(super) fn patch(&self, route: &str, body: &Value, wish: Wish) -> Result<Answer, GithubError> {
        self.call(&Method::PATCH, route, Some(body), Repeat::Safe, wish)
    }

    /// Creates something. An answer that never came leaves open whether it was made: the caller looks before it asks again.
    pub(super) fn post(&self, route: &str, body: &Value, wish: Wish) -> Result<Answer, GithubError> {
        let answer = self.call(&Method::POST, route, Some(body), Repeat::Unsafe, wish)?;
        created(answer, wish)
    }

    /// Creates something that is the same when it was made twice.
    pub(super) fn post_repeatable(&self, route: &str, body: &Value, wish: Wish) -> Result<Answer, GithubError> {
        let answer = self.call(&Method::POST, route, Some(body), Repeat::Safe, wish)?;
        created(answer, wish)
    }

    /// Every entry of a list, page by page, until `enough` of the newest page says so.
    pub(super) fn pages(&self, route: &str, wish: Wish, mut take: impl FnMut(&Value) -> bool) -> Result<(), GithubError> {
        let mark = if route.contains('?') { '&' } else { '?' };
        for page in 1..=PAGES {
            let answer = self.get(&format!("{route}{mark}per_page={PAGE}&page={page}"), wish)?;
            let entries = answer.body.as_array().ok_or(GithubError::Answer { what: wish.what, field: "list" })?;
            for entry in entries {
                if !take(entry) {
                    return Ok(());
                }
            }
            if !answer.has_next.unwrap_or(entries.len() == PAGE) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn call(&self, method: &Method, route: &str, body: Option<&Value>, repeat: Repeat, wish: Wish) -> Result<Answer, GithubError> {
        let mut attempt = 0;
        loop {
            let left = self.patience.get();
            let wait = match self.exchange(method, route, body) {
                Err(why) => match retry::after_silence(repeat, attempt, left) {
                    Some(wait) => wait,
                    None => return Err(GithubError::Unreachable { what: wish.what, why }),
                },
                Ok((status, headers, body)) => {
                    let message = body["message"].as_str().unwrap_or_default();
                    let now = jiff::Timestamp::now().as_second();
                    match retry::after_answer((status, &headers, message), repeat, attempt, now, left) {
                        Next::Again(wait) => wait,
                        Next::Limited => return Err(GithubError::Limited { what: wish.what }),
                        Next::Take => return take(status, &headers, body, wish),
                    }
                }
            };
            self.patience.set(left.saturating_sub(wait));
            std::thread::sleep(wait);
            attempt += 1;
        }
    }

    /// One exchange: status, headers, body; or why there was none.
    fn exchange(&self, method: &Method, route: &str, body: Option<&Value>) -> Result<(u16, HeaderMap, Value), String> {
        let exchange = async {
            let builder = Request::builder().method(method.clone()).uri(route).header("x-github-api-version", "2022-11-28");
            let request = self.crab.build_request(builder, body).map_err(|error| reason(&error))?;
            let response = self.crab.execute(request).await.map_err(|error| reason(&error))?;
            let (parts, body) = response.into_parts();
            let bytes = Limited::new(body, ANSWER_LIMIT).collect().await.map_err(|error| error.to_string())?.to_bytes();
            Ok((parts.status.as_u16(), parts.headers, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
        };
        self.runtime
            .block_on(async { tokio::time::timeout(EXCHANGE, exchange).await })
            .unwrap_or_else(|_| Err(format!("none within {} s", EXCHANGE.as_secs())))
    }
}

/// The innermost cause: the outer ones repeat one another.
fn reason(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

fn take(status: u16, headers: &HeaderMap, body: Value, wish: Wish) -> Result<Answer, GithubError> {
    match status {
        200..=299 => {
            let links = headers.get("link").and_then(|value| value.to_str().ok());
            Ok(Answer { status, body, has_next: links.map(|links| links.contains("rel=\"next\"")) })
        }
        // GitHub hides what a token may not see behind 404.
        401 | 403 | 404 => Err(GithubError::Forbidden { what: wish.what, scope: wish.scope, status }),
        _ => {
            let message = body["message"].as_str().unwrap_or("no message").chars().take(200).collect();
            Err(GithubError::Refused { what: wish.what, status, message })
        }
    }
}

/// A redirect may have turned a POST into a GET, which creates nothing.
fn created(answer: Answer, wish: Wish) -> Result<Answer, GithubError> {
    if answer.status == 201 {
        return Ok(answer);
    }
    Err(GithubError::Refused { what: wish.what, status: answer.status, message: "nothing was created".to_owned() })
}
