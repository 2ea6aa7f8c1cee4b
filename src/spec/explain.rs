//! `validate --explain`: the spec with every key in place, and `default` behind each that is not written.

use super::Spec;
use super::issue::clean;
use super::keys::{self, Key, Shape};
use super::parse::Checked;
use super::yaml::{Kind, Node};

/// Every key with its value, as YAML; what the file does not say is marked `# default`. Variables stay as written: a value that
/// the caller released is never printed.
#[must_use]
pub fn explain(checked: &Checked) -> String {
    let mut out = String::new();
    section(&mut out, Some(&checked.written), "", 0, checked);
    out
}

fn section(out: &mut String, node: Option<&Node>, path: &str, depth: usize, checked: &Checked) {
    for row in keys::below(path) {
        let name = row.path.rsplit('.').next().unwrap_or(row.path);
        let value = node.and_then(|node| child(node, name));
        let pad = "  ".repeat(depth);
        let listed = value.is_some_and(|value| matches!(value.kind, Kind::Seq(_)));
        let line = match (row.shape, value) {
            (Shape::Map, _) => format!("{name}:"),
            (Shape::MapOrList, _) if !listed => format!("{name}:"),
            (_, Some(value)) => format!("{name}: {}", flow(value)),
            (_, None) => unwritten(row, name, checked),
        };
        if line != format!("{name}:") {
            if !line.is_empty() {
                out.push_str(&format!("{pad}{line}\n"));
            }
            continue;
        }
        let mut inner = String::new();
        section(&mut inner, value, row.path, depth + 1, checked);
        // A map of nothing but remarks would be a key without a value.
        let says_nothing = inner.lines().all(|line| line.trim_start().starts_with('#'));
        let mark = if says_nothing && value.is_none() { "# " } else { "" };
        out.push_str(&format!("{pad}{mark}{line}\n{inner}"));
    }
}

/// The line of a key that is not written; empty for one that cannot be here.
fn unwritten(row: &Key, name: &str, checked: &Checked) -> String {
    match (row.path, row.default) {
        ("target.url", _) if checked.spec.target.url.is_some() => format!("# {name}: by --endpoint"),
        ("validity.client_lag", _) => format!("{name}: {} # default", milliseconds(&checked.spec)),
        ("load.arrival", default) if takes_arrival(&checked.spec) => format!("{name}: {default} # default"),
        ("load.arrival" | "workload.name" | "workload.share", _) => String::new(),
        ("target.metrics", _) => format!("# {name}: tried beside the URL # default"),
        (_, "") => format!("# {name}: none # default"),
        (_, default) => format!("{name}: {default} # default"),
    }
}

fn takes_arrival(spec: &Spec) -> bool {
    matches!(spec.load.offered, Some(super::Offered::Rate { .. }))
}

fn milliseconds(spec: &Spec) -> String {
    format!("{}ms", crate::units::Nanos::from(spec.client_lag).as_ms())
}

fn child<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.kind {
        Kind::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
        _ => None,
    }
}

/// A node on one line.
fn flow(node: &Node) -> String {
    match &node.kind {
        Kind::Scalar { text, .. } => quoted(text),
        Kind::Seq(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Kind::Map(entries) => {
            let inner: Vec<String> = entries.iter().map(|entry| format!("{}: {}", quoted(&entry.key), flow(&entry.value))).collect();
            if inner.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", inner.join(", ")) }
        }
    }
}

fn quoted(text: &str) -> String {
    let special = text.is_empty()
        || text.contains(['{', '}', '[', ']', ',', '#', '"', '\n'])
        || text.contains(": ")
        || text.ends_with(':')
        || text.starts_with(['&', '*', '!', '|', '>', '\'', '%', '@', '`', '-', '?', ' '])
        || text.ends_with(' ');
    if special { serde_json::Value::from(clean(text)).to_string() } else { clean(text) }
}
