//! `--github`: what is worth saying there. Nothing of it changes a verdict or its exit code.

mod annotations;
mod outputs;

use super::{EXITS, Error, Exit};
use crate::console::Console;
use crate::github::{self, Api, Context, Event, GithubError, Marker, Posted, State};
use crate::report::comment::{self, Surroundings};
use crate::report::{Report, visible};
use crate::spec::SpecError;
use std::path::Path;

/// What `--github` was given.
#[derive(Debug, Clone)]
pub struct GithubOptions {
    /// The environment of the step.
    pub context: Context,
    /// When a pull request gets a comment.
    pub comment: CommentWhen,
}

/// When a pull request gets a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum CommentWhen {
    /// Each time.
    #[default]
    Always,
    /// When the exit code differs from that of the comment that is there; a first pass makes none.
    OnChange,
    /// When the gate fails; a comment that is there is kept up to date.
    OnFail,
    /// Never.
    Never,
}

impl CommentWhen {
    /// Whether a comment is made or changed, where the one that is there tells of the exit code `before`.
    fn wants(self, before: Option<u8>, now: Exit) -> bool {
        let fails = now != Exit::Pass;
        match self {
            Self::Always => true,
            Self::OnChange => before.map_or(fails, |before| before != now.code()),
            Self::OnFail => fails || before.is_some(),
            Self::Never => false,
        }
    }
}

/// What became of a command.
pub(super) enum Outcome<'a> {
    /// It gave a verdict; its files lie in the folder.
    Judged { exit: Exit, report: &'a Report, out: &'a Path },
    /// It stopped before one.
    Stopped { error: &'a Error, spec: &'a str },
}

impl Outcome<'_> {
    fn exit(&self) -> Exit {
        match self {
            Self::Judged { exit, .. } => *exit,
            Self::Stopped { error, .. } => error.exit(),
        }
    }

    /// The gate's name. That of a spec with errors is read off its text, where it can be.
    fn name(&self) -> Option<String> {
        match self {
            Self::Judged { report, .. } => Some(report.name().to_owned()),
            Self::Stopped { error: Error::Spec(spec), .. } => name_in(&spec.problems().source.text),
            Self::Stopped { spec, .. } => super::source::read(spec).ok().and_then(|(source, _)| name_in(&source.text)),
        }
    }
}

fn name_in(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("name:"))?.split('#').next()?.trim().trim_matches(['"', '\'']);
    let plain = !value.is_empty() && value.len() <= 64 && value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    plain.then(|| value.to_owned())
}

/// Tells GitHub: annotations, the pull request's comment, a commit status, the step's summary and outputs.
pub(super) fn report(options: &GithubOptions, outcome: &Outcome<'_>, console: &Console) {
    let context = &options.context;
    let mut troubles = Vec::new();
    if context.in_actions {
        annotations::of(outcome, context).iter().for_each(|command| console.rendered(&command.to_string()));
    }
    let event = context.event().unwrap_or_else(|error| {
        troubles.push(error);
        Event { head_sha: context.sha.clone(), ..Event::default() }
    });
    let around = Surroundings { sha: event.head_sha.clone(), run_url: context.run_url() };
    // A signal leaves seconds, and they belong to the files.
    let url = if outcome.exit() == Exit::Interrupted { None } else { send(options, outcome, &event, &around, &mut troubles, console) };
    if let Some(path) = &context.summary {
        let text = body(outcome, &around, github::summary_room(path));
        troubles.extend(github::append_summary(path, &text).map_err(GithubError::File).err());
    }
    if let Some(path) = &context.output {
        let values = outputs::of(outcome, url);
        troubles.extend(github::append_outputs(path, &values).map_err(GithubError::File).err());
    }
    tell(&troubles, context, console);
}

/// What goes through the API. Gives the comment's page.
fn send(
    options: &GithubOptions,
    outcome: &Outcome<'_>,
    event: &Event,
    around: &Surroundings,
    troubles: &mut Vec<GithubError>,
    console: &Console,
) -> Option<String> {
    let name = outcome.name()?;
    let sha = event.head_sha.as_deref()?;
    let api = Api::open(&options.context).map_err(|error| troubles.push(error)).ok()?;
    let posted = match options.comment {
        CommentWhen::Never => Ok(None),
        _ => comment_on(&api, options, outcome, event, around, &name),
    };
    let posted = posted.unwrap_or_else(|error| {
        troubles.push(error);
        None
    });
    if let Some(Posted::Outdated(why)) = &posted {
        console.note(&format!("no comment: {why}"));
    }
    let description = match outcome {
        Outcome::Judged { report, .. } => comment::status_line(report),
        Outcome::Stopped { error, .. } => format!("NOT JUDGED: exit code {}, {}", error.exit().code(), meaning(error.exit())),
    };
    let status = (state(outcome), description.as_str());
    let set = github::set_status(&api, sha, &format!("goodput-gate/{name}"), status, around.run_url.as_deref());
    troubles.extend(set.err());
    match posted {
        Some(Posted::Created(url) | Posted::Updated(url)) => Some(url),
        Some(Posted::Left(url)) => url,
        Some(Posted::Outdated(_)) | None => None,
    }
}

fn comment_on(
    api: &Api,
    options: &GithubOptions,
    outcome: &Outcome<'_>,
    event: &Event,
    around: &Surroundings,
    name: &str,
) -> Result<Option<Posted>, GithubError> {
    let pull = if event.wants_pull() { github::pull_of(api, event)? } else { event.pull };
    let (Some(pull), Some(sha)) = (pull, &event.head_sha) else { return Ok(None) };
    let exit = outcome.exit();
    let marker = Marker {
        gate: name.to_owned(),
        sha: sha.clone(),
        run: options.context.run_id.unwrap_or_default(),
        attempt: options.context.run_attempt.unwrap_or(1),
        exit: exit.code(),
    };
    let text = body(outcome, around, comment::LIMIT - marker.line().len() - 1);
    github::upsert(api, pull, &marker, &text, |before| options.comment.wants(before.map(|marker| marker.exit), exit)).map(Some)
}

fn body(outcome: &Outcome<'_>, around: &Surroundings, limit: usize) -> String {
    match outcome {
        Outcome::Judged { report, .. } => comment::render(report, around, limit),
        Outcome::Stopped { error, .. } => {
            let lines: Vec<String> = match error {
                Error::Spec(SpecError::Problems(problems)) => problems.issues.iter().map(ToString::to_string).collect(),
                _ => Vec::new(),
            };
            let name = outcome.name().unwrap_or_else(|| "goodput-gate".to_owned());
            comment::render_stopped(&name, (error.exit().code(), meaning(error.exit())), &lines, around, limit)
        }
    }
}

fn meaning(exit: Exit) -> &'static str {
    EXITS.iter().find(|(known, _)| *known == exit).map_or("", |(_, meaning)| meaning)
}

fn state(outcome: &Outcome<'_>) -> State {
    match outcome.exit() {
        Exit::Pass => State::Success,
        Exit::Broken | Exit::Regression | Exit::Inconclusive => State::Failure,
        _ => State::Error,
    }
}

/// Missing rights are normal for a fork: one notice names them all. Everything else is a warning.
fn tell(troubles: &[GithubError], context: &Context, console: &Console) {
    let mut scopes: Vec<&str> = troubles.iter().filter_map(GithubError::missing_scope).collect();
    scopes.dedup();
    for trouble in troubles.iter().filter(|trouble| trouble.missing_scope().is_none()) {
        console.warn(&format!("not reported to GitHub: {trouble}"));
    }
    if scopes.is_empty() {
        return;
    }
    let text = format!(
        "this token may not write here: the job lacks `permissions: {}`, which a pull request from a fork never gets. The step's summary has the report; the verdict is the same.",
        scopes.join("`, `")
    );
    if context.in_actions {
        console.rendered(&annotations::notice(&text).to_string());
    } else {
        console.warn(&visible(&text));
    }
}
