//! The environment, read once and nowhere else.

use crate::commands::Error;
use crate::github::Context;
use crate::units::Secret;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The variable that holds the API key unless a flag names another.
const KEY: &str = "GOODPUT_API_KEY";

/// What a spec may see: `GOODPUT_VAR_…`, and what the caller released.
pub(super) fn visible(released: &[String]) -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("GOODPUT_VAR_") || released.contains(name))
        .collect()
}

/// The API key, from the named variable or the default one.
pub(super) fn key(named: Option<&str>) -> Result<Option<Secret>, Error> {
    let value = std::env::var(named.unwrap_or(KEY)).ok().filter(|value| !value.is_empty());
    if let (Some(named), None) = (named, &value) {
        return Err(Error::Usage {
            message: format!("--api-key-env names {named}, which is not set"),
            help: "set that variable to the key, or drop the flag".to_owned(),
        });
    }
    Ok(value.map(Secret::new))
}

/// Whether this is a step of GitHub Actions.
pub(super) fn is_github_actions() -> bool {
    std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true")
}

/// The commit under test, where a CI system tells.
pub(super) fn commit() -> Option<String> {
    let names = ["GITHUB_SHA", "CI_COMMIT_SHA"];
    let found = names.iter().find_map(|name| std::env::var(name).ok())?;
    (found.len() <= 64 && !found.is_empty() && found.bytes().all(|b| b.is_ascii_hexdigit())).then_some(found)
}

/// The pull request under test, where GitHub tells: `refs/pull/7/merge`.
pub(super) fn pull_request() -> Option<u64> {
    let reference = std::env::var("GITHUB_REF").ok()?;
    reference.strip_prefix("refs/pull/")?.split('/').next()?.parse().ok()
}

/// What GitHub Actions tells a step.
pub(super) fn github() -> Context {
    let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let workspace = path("GITHUB_WORKSPACE").and_then(|workspace| workspace.canonicalize().ok());
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    Context {
        token: text("GITHUB_TOKEN").map(Secret::new),
        api_url: text("GITHUB_API_URL"),
        server_url: text("GITHUB_SERVER_URL"),
        repository: text("GITHUB_REPOSITORY"),
        sha: text("GITHUB_SHA"),
        reference: text("GITHUB_REF"),
        event_name: text("GITHUB_EVENT_NAME"),
        event_path: path("GITHUB_EVENT_PATH"),
        run_id: text("GITHUB_RUN_ID").and_then(|id| id.parse().ok()),
        run_attempt: text("GITHUB_RUN_ATTEMPT").and_then(|attempt| attempt.parse().ok()),
        summary: path("GITHUB_STEP_SUMMARY"),
        output: path("GITHUB_OUTPUT"),
        in_actions: is_github_actions(),
        below_workspace: here.zip(workspace).and_then(|(here, workspace)| here.strip_prefix(workspace).ok().map(PathBuf::from)),
    }
}
