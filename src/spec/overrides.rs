//! Flags that take the place of what the spec says: written into the tree before it is read, so that one reader checks both.

use super::issue::{Issue, meant};
use super::keys::{self, Shape};
use super::permissions::Overrides;
use super::place::Place;
use super::raw::Sink;
use super::yaml::{Entry, Kind, Node};

/// Longer values of flags are not repeated in messages.
const LONGEST_SHOWN: usize = 60;

/// Writes the flags into the tree.
pub(super) fn apply(root: &mut Node, overrides: &Overrides, sink: &mut Sink) {
    for (key, value) in &overrides.set {
        set(root, key, value, sink);
    }
    let mut put = |path: &str, flag: &str, text: Option<String>| {
        if let Some(text) = text {
            let flag = format!("{flag} {text}");
            insert(root, path, Node::text_from_flag(&text, &flag));
        }
    };
    put("target.model", "--model", overrides.model.clone());
    put("target.api", "--api", overrides.api.clone());
    put("load.rounds", "--rounds", overrides.rounds.clone());
    put("load.seed", "--seed", overrides.seed.map(|seed| seed.to_string()));
    put("load.concurrency", "--concurrency", overrides.concurrency.map(|many| many.to_string()));
    put("load.rate", "--rate", overrides.rate.clone());
    // One of the two loads by flag takes the place of the other in the file; two flags are for the reader to refuse.
    match (&overrides.concurrency, &overrides.rate) {
        (Some(_), None) => {
            remove(root, "load", "rate");
            remove(root, "load", "arrival");
        }
        (None, Some(_)) => remove(root, "load", "concurrency"),
        _ => {}
    }
}

fn set(root: &mut Node, key: &str, value: &str, sink: &mut Sink) {
    // What goes to the target may be a secret, and a flag's value is not repeated then.
    let shown = !key.starts_with("target.") && value.chars().count() <= LONGEST_SHOWN;
    let flag = if shown { format!("--set {key}={value}") } else { format!("--set {key}") };
    let refuse = |sink: &mut Sink, issue: Issue| sink.push(issue.at(Place::Flag(format!("--set {key}"))));
    let all: Vec<&str> = keys::KEYS.iter().map(|row| row.path).collect();
    let open = key.rsplit_once('.').is_some_and(|(parent, _)| keys::is_open(parent));
    if keys::row(key).is_none() && !open {
        let help = meant_path(key, &all);
        refuse(sink, Issue::error("unknown-key", format!("a spec has no key `{key}`")).help(help));
        return;
    }
    if matches!(key, "target.url" | "name" | "version") {
        let help = if key == "target.url" { "use --endpoint, which also says that the host is meant" } else { "it belongs to the file" };
        refuse(sink, Issue::error("not-by-flag", "this key is not set by --set").help(help));
        return;
    }
    let scalar = keys::row(key).is_some_and(|row| {
        !matches!(row.shape, Shape::Map | Shape::Open | Shape::Lines(_) | Shape::Texts(_) | Shape::TextOrMap | Shape::MapOrList)
    });
    if scalar {
        insert(root, key, Node::text_from_flag(value, &flag));
        return;
    }
    let lines = keys::row(key).is_some_and(|row| matches!(row.shape, Shape::Lines(_)));
    match Node::from_flag(value, &flag) {
        // In a file an empty list is a slip; on the command line it is the way to switch a list off.
        Ok(node) if lines && node.kind == Kind::Seq(Vec::new()) => {
            if let Some((parent, key)) = key.rsplit_once('.') {
                remove(root, parent, key);
            }
        }
        Ok(node) => insert(root, key, node),
        Err(issue) => refuse(sink, Issue::error(issue.code, issue.message).help("write a value as the spec would")),
    }
}

fn meant_path(key: &str, all: &[&str]) -> String {
    let (parent, last) = key.rsplit_once('.').unwrap_or(("", key));
    let siblings = keys::children(parent);
    if let Some(near) = super::issue::near(last, siblings.iter().copied()) {
        return if parent.is_empty() { format!("did you mean `{near}`?") } else { format!("did you mean `{parent}.{near}`?") };
    }
    match all.iter().find(|path| path.rsplit('.').next() == Some(last)) {
        Some(path) => format!("did you mean `{path}`?"),
        None if !parent.is_empty() && !siblings.is_empty() => format!("`{parent}` has {}", siblings.join(", ")),
        None => super::issue::near(key, all.iter().copied())
            .map_or_else(|| format!("known at the top: {}", keys::children("").join(", ")), |path| meant(path, &[path])),
    }
}

/// Puts `value` at a dotted path, making maps on its way; what is no map there is left alone for the reader to report.
fn insert(node: &mut Node, path: &str, value: Node) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let Kind::Map(entries) = &mut node.kind else { return };
    let index = entries.iter().position(|entry| entry.key == first).unwrap_or_else(|| {
        let empty = Node { kind: Kind::Map(Vec::new()), span: value.span.clone(), verbatim_from: None };
        entries.push(Entry { key: first.to_owned(), key_span: value.span.clone(), value: empty });
        entries.len() - 1
    });
    match rest {
        None => (entries[index].key_span, entries[index].value) = (value.span.clone(), value),
        Some(rest) => insert(&mut entries[index].value, rest, value),
    }
}

fn remove(root: &mut Node, parent: &str, key: &str) {
    let Kind::Map(entries) = &mut root.kind else { return };
    if let Some(Kind::Map(inner)) = entries.iter_mut().find(|entry| entry.key == parent).map(|entry| &mut entry.value.kind) {
        inner.retain(|entry| entry.key != key);
    }
}
