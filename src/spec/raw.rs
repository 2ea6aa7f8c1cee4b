//! What the file says, key by key, and nothing else: reading of a node tree that collects every problem on its way.

use super::issue::{Issue, meant};
use super::keys;
use super::place::Place;
use super::quantity::Bad;
use super::yaml::{Entry, Kind, Node, Value, torn};

/// Collects problems.
#[derive(Debug, Default)]
pub(super) struct Sink {
    pub(super) issues: Vec<Issue>,
}

impl Sink {
    pub(super) fn push(&mut self, issue: Issue) {
        self.issues.push(issue);
    }

    /// The value, or `None` and one more problem at `node`.
    pub(super) fn keep<T>(&mut self, node: &Node, result: Result<T, Bad>) -> Option<T> {
        result.map_err(|bad| self.bad(node, bad)).ok()
    }

    pub(super) fn bad(&mut self, node: &Node, bad: Bad) {
        self.push(Issue::error(bad.code, bad.message).help(bad.help).at(node.span.clone()));
    }
}

/// A map whose keys are known by the table of keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'n> {
    path: &'static str,
    entries: &'n [Entry],
    node: Option<&'n Node>,
}

impl<'n> Fields<'n> {
    /// No map at all: every key takes its default.
    pub(super) const fn none(path: &'static str) -> Self {
        Self { path, entries: &[], node: None }
    }

    /// Opens `node` as the map at `path`, and reports keys that are unknown there or written twice.
    pub(super) fn open(node: &'n Node, path: &'static str, sink: &mut Sink) -> Self {
        let entries = match &node.kind {
            Kind::Map(entries) => entries.as_slice(),
            _ => {
                let known = keys::children(path).join(", ");
                let whole = if path.is_empty() { "a spec".to_owned() } else { format!("`{path}`") };
                sink.push(
                    Issue::error("not-a-map", format!("{whole} is a map, not {}", node.what()))
                        .help(format!("its keys are {known}"))
                        .at(node.span.clone()),
                );
                return Self::none(path);
            }
        };
        for (index, entry) in entries.iter().enumerate() {
            check_key(entry, &entries[..index], path, sink);
        }
        Self { path, entries, node: Some(node) }
    }

    /// The map's own node.
    pub(super) const fn node(&self) -> Option<&'n Node> {
        self.node
    }

    /// The value of `key`, where it is written; an empty value counts as a problem.
    pub(super) fn get(&self, key: &str, sink: &mut Sink) -> Option<&'n Node> {
        debug_assert!(keys::children(self.path).contains(&key), "{key} is not in the table of keys under {}", self.path);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        if matches!(entry.value.kind, Kind::Scalar { value: Value::Null, .. }) {
            sink.push(
                Issue::error("empty-value", format!("`{key}` has no value"))
                    .help("give it one, or leave the key out for its default")
                    .at(entry.key_span.clone()),
            );
            return None;
        }
        Some(&entry.value)
    }

    /// Whether `key` is written.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The place of `key` itself.
    pub(super) fn key_span(&self, key: &str) -> Place {
        self.entries.iter().find(|entry| entry.key == key).map_or(Place::Nowhere, |entry| entry.key_span.clone())
    }

    /// The map under `key`; an empty one where it is not written.
    pub(super) fn map(&self, key: &str, path: &'static str, sink: &mut Sink) -> Self {
        self.get(key, sink).map_or(Fields::none(path), |node| Fields::open(node, path, sink))
    }

    /// The scalar under `key`, as text.
    pub(super) fn text(&self, key: &str, sink: &mut Sink) -> Option<(&'n Node, &'n str)> {
        let node = self.get(key, sink)?;
        Some((node, text(node, key, sink)?))
    }

    /// The scalar under `key`, read by `read`.
    pub(super) fn read<T>(&self, key: &str, sink: &mut Sink, read: impl FnOnce(&str) -> Result<T, Bad>) -> Option<T> {
        let (node, text) = self.text(key, sink)?;
        sink.keep(node, read(text))
    }

    /// One of the words of `choices`.
    pub(super) fn choice<T: Copy>(&self, key: &str, choices: &[(&'static str, T)], sink: &mut Sink) -> Option<T> {
        self.read(key, sink, |text| choice(text, choices))
    }
}

/// One of the words of `choices`.
pub(super) fn choice<T: Copy>(text: &str, choices: &[(&'static str, T)]) -> Result<T, Bad> {
    choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Bad::new("unknown-word", format!("`{text}` is not known here"), meant(text, &words))
    })
}

/// A node's text, where it is a scalar.
pub(super) fn text<'n>(node: &'n Node, what: &str, sink: &mut Sink) -> Option<&'n str> {
    match &node.kind {
        Kind::Scalar { text, .. } => {
            if cut_off(text) {
                let issue = Issue::error("unquoted", format!("`{text}` looks cut off"));
                sink.push(issue.help(torn(text).unwrap_or_default()).at(node.span.clone()));
                return None;
            }
            Some(text)
        }
        _ => {
            sink.push(
                Issue::error("not-a-scalar", format!("`{what}` takes a single value, not {}", node.what()))
                    .help("text that holds `: ` or begins with `{` or `[` needs quotes")
                    .at(node.span.clone()),
            );
            None
        }
    }
}

/// `uniform(10`, out of `{ input: uniform(10, 20) }`.
fn cut_off(text: &str) -> bool {
    let formula = ["constant(", "uniform(", "normal(", "lognormal(", "gamma(", "geometric("];
    formula.iter().any(|start| text.starts_with(start)) && !text.contains(')')
}

/// A node's items, where it is a list; a problem otherwise.
pub(super) fn list<'n>(node: &'n Node, what: &str, example: &str, sink: &mut Sink) -> &'n [Node] {
    match &node.kind {
        Kind::Seq(items) => items,
        _ => {
            sink.push(
                Issue::error("not-a-list", format!("`{what}` takes a list, not {}", node.what()))
                    .help(format!("write {example}"))
                    .at(node.span.clone()),
            );
            &[]
        }
    }
}

fn check_key(entry: &Entry, before: &[Entry], path: &'static str, sink: &mut Sink) {
    let key = entry.key.as_str();
    if before.iter().any(|earlier| earlier.key == key) {
        sink.push(
            Issue::error("duplicate-key", format!("`{key}` is written twice"))
                .help("keep one of them; which of two would count is nothing to guess at")
                .at(entry.key_span.clone()),
        );
        return;
    }
    let known = keys::children(path);
    if known.contains(&key) || keys::is_open(path) {
        return;
    }
    let place = if path.is_empty() { "a spec".to_owned() } else { format!("`{path}`") };
    let help = torn(key).map(str::to_owned).or_else(|| elsewhere(key, path, &known)).unwrap_or_else(|| meant(key, &known));
    sink.push(Issue::error("unknown-key", format!("{place} has no key `{key}`")).help(help).at(entry.key_span.clone()));
}

/// A key that is known under another map, and not nearly one of this map.
fn elsewhere(key: &str, path: &str, known: &[&'static str]) -> Option<String> {
    let here = super::issue::near(key, known.iter().copied()).is_some();
    let home = keys::KEYS.iter().find(|row| row.path != path && row.path.rsplit('.').next() == Some(key))?;
    let (parent, _) = home.path.rsplit_once('.').unwrap_or(("the top level", ""));
    (!here).then(|| format!("`{key}` belongs under {parent}"))
}
