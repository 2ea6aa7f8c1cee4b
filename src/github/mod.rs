//! GitHub's API and the files of GitHub Actions. It sends and appends what it is given; it makes no Markdown and does not decide
//! what is worth saying.

mod ancestry;
mod api;
mod branch;
mod comment;
mod context;
mod error;
mod event;
mod files;
mod pulls;
mod retry;
mod status;
mod workflow_command;

pub use ancestry::{Ancestor, ancestors};
pub use api::Api;
pub use branch::DataBranch;
pub use comment::{Marker, Posted, upsert};
pub use context::Context;
pub use error::GithubError;
pub use event::Event;
pub use files::{SUMMARY_LIMIT, append_outputs, append_summary, summary_room};
pub use pulls::pull_of;
pub use status::{State, set_status};
pub use workflow_command::{Severity, WorkflowCommand};

#[cfg(test)]
mod tests;
