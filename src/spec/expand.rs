//! `${NAME}` and `${NAME:-default}`, in the four places where a spec may name a variable.

use super::issue::Issue;
use super::permissions::Permissions;
use super::place::Place;
use super::raw::Sink;
use super::yaml::Node;

const OPEN_PREFIX: &str = "GOODPUT_VAR_";
const LONGEST: usize = 8 * 1024;

/// A text with its variables replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// Whether a value that the caller released by `--allow-env` is in it: it may then go only to a host that the caller named.
    pub(super) released: bool,
}

/// Replaces the variables of `text`, which is the scalar of `node`. Values are never part of a message.
pub(super) fn expand(node: &Node, text: &str, permissions: &Permissions, sink: &mut Sink) -> Option<Expanded> {
    let mut out = String::with_capacity(text.len());
    let mut released = false;
    let mut rest = text;
    let mut fine = true;
    while let Some(open) = rest.find("${") {
        out.push_str(&rest[..open]);
        let from = text.len() - rest.len() + open;
        let inside = &rest[open + 2..];
        let Some(close) = inside.find('}') else {
            sink.push(
                Issue::error("open-variable", "`${` is never closed").help("write ${GOODPUT_VAR_NAME}").at(node.place(from..text.len())),
            );
            return None;
        };
        let place = node.place(from..from + close + 3);
        match lookup(&inside[..close], permissions, place) {
            Ok((value, secret)) => {
                out.push_str(value);
                released |= secret;
            }
            Err(issue) => {
                sink.push(issue);
                fine = false;
            }
        }
        rest = &inside[close + 1..];
    }
    out.push_str(rest);
    if out.len() > LONGEST {
        sink.push(Issue::error("too-long", "the text is too long once its variables are replaced").at(node.span.clone()));
        fine = false;
    }
    fine.then_some(Expanded { text: out, released })
}

fn lookup<'v>(inside: &'v str, permissions: &'v Permissions, place: Place) -> Result<(&'v str, bool), Issue> {
    let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, default)| (name, Some(default)));
    let is_name =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(Issue::error("not-a-variable", format!("`{name}` is no name of a variable"))
            .help("write ${GOODPUT_VAR_NAME} or ${GOODPUT_VAR_NAME:-default}")
            .at(place));
    }
    let open = name.starts_with(OPEN_PREFIX);
    let released = !open && permissions.allow_env.iter().any(|allowed| allowed == name);
    if !open && !released {
        return Err(Issue::error("variable-not-allowed", format!("a spec may not read the variable {name}"))
            .help(format!("name it {OPEN_PREFIX}…, or let the caller release it by --allow-env {name}; a key goes in GOODPUT_API_KEY"))
            .at(place));
    }
    // As in a shell, `:-` also stands in for a variable that is set but empty.
    let value = permissions.env.get(name).map(String::as_str).filter(|value| !value.is_empty() || default.is_none());
    match (value, default) {
        (Some(value), _) => Ok((value, released)),
        (None, Some(default)) => Ok((default, false)),
        (None, None) => Err(Issue::error("variable-not-set", format!("the variable {name} is not set"))
            .help(format!("set it, or write ${{{name}:-default}}"))
            .at(place)),
    }
}
