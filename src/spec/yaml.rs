//! Text to a tree of nodes that know their place. The only file that knows the YAML crate.
//!
//! The tree is read by hand (`raw.rs`) and not by derived structs: a derived reader stops at its first problem, and a spec's
//! author should see all of them at once.

use super::indent;
use super::issue::Issue;
use super::place::Place;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Budget, DuplicateKeyPolicy, Error, MergeKeyPolicy, NonFiniteFloatPolicy, Options, Spanned};
use std::fmt;
use std::ops::Range;

/// The largest text that is looked at.
pub(super) const MAX_BYTES: usize = 256 * 1024;
const MAX_DEPTH: usize = 32;
const FLOW_HINT: &str = "inside { } and [ ], quote what holds `{`, `}`, `,` or `: `, as in { url: \"${GOODPUT_VAR_URL}\" }";

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Place,
    /// Whether the value's text stands in the source just as it is, so that a place in one is a place in the other.
    pub(super) verbatim_from: Option<usize>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Scalar { text: String, value: Value },
    Seq(Vec<Node>),
    Map(Vec<Entry>),
}

/// How YAML 1.2 reads a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Place,
    pub(super) value: Node,
}

/// Reads one document.
pub(super) fn load(text: &str) -> Result<Node, Issue> {
    if text.len() > MAX_BYTES {
        return Err(Issue::error("too-large", format!("the spec has {} bytes; at most {MAX_BYTES} are read", text.len()))
            .help("lengths and prompts belong in files of their own: lengths: { file: lengths.csv }"));
    }
    if text.trim_matches([' ', '\n', '\r', '\t', '\u{feff}']).is_empty() {
        return Err(empty());
    }
    let tree: Spanned<Tree> = serde_yaml::from_str_with_options(text, options()).map_err(|error| explain(&error, text))?;
    Ok(node(tree, text))
}

fn empty() -> Issue {
    Issue::error("empty", "the spec is empty").help("it needs `name` and `slo`")
}

fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_events = 20_000;
    budget.max_nodes = 5_000;
    budget.max_aliases = 100;
    budget.max_anchors = 100;
    budget.max_depth = MAX_DEPTH;
    budget.flow_nesting_limit = MAX_DEPTH;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits.max_total_replayed_events = 5_000;
    options.duplicate_keys = DuplicateKeyPolicy::PassThrough;
    options.merge_keys = MergeKeyPolicy::AsOrdinary;
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    options.strict_booleans = true;
    options.null_as_string = true;
    options.leading_zero_numbers_as_strings = true;
    options.with_snippet = false;
    options
}

fn explain(error: &Error, text: &str) -> Issue {
    let span = error.location().and_then(|place| offset(place, text)).map(|at| at..at.saturating_add(1).min(text.len()).max(at));
    match error.without_snippet() {
        Error::MultipleDocuments { .. } => Issue::error("two-documents", "the file holds more than one YAML document")
            .help("one spec a file; remove what follows the second `---`")
            .at(span),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => {
            Issue::error("too-complex", "the spec nests, repeats or refers to itself more than a spec has reason to")
                .help(format!("at most {MAX_DEPTH} levels, 5000 values and 100 aliases are read"))
                .at(span)
        }
        Error::Eof { .. } => empty(),
        other => syntax(other, span, text),
    }
}

/// The byte that a place means; the scanner's own errors have only line and column.
fn offset(place: serde_yaml::Location, text: &str) -> Option<usize> {
    if let Some(at) = place.span().byte_offset() {
        return usize::try_from(at).ok();
    }
    let (line, column) = (usize::try_from(place.line()).ok()?.checked_sub(1)?, usize::try_from(place.column()).ok()?.checked_sub(1)?);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(start..)?;
    Some(start + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at))
}

fn syntax(error: &Error, span: Option<Range<usize>>, text: &str) -> Issue {
    let whole = error.to_string();
    let message = whole.lines().next().unwrap_or("not valid YAML");
    // The crate repeats the place in its message; the snippet shows it already.
    let message = message.split(" at line ").next().unwrap_or(message);
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let at = span.as_ref().map(|span| (0..=span.start.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
    if let Some(issue) = at.and_then(|at| indent::explain(text, at, span.clone())) {
        return issue;
    }
    let mut issue = Issue::error("not-yaml", format!("not valid YAML: {message}"));
    let line = at.and_then(|at| text[text[..at].rfind('\n').map_or(0, |end| end + 1)..].lines().next());
    if line.is_some_and(|line| line.contains(['{', '['])) {
        issue = issue.help(FLOW_HINT);
    }
    issue.at(span)
}

/// The advice for a value or key that looks torn apart by a comma inside `{ }`.
pub(super) fn torn(text: &str) -> Option<&'static str> {
    (text.matches('(').count() != text.matches(')').count() || text.contains(['{', '}'])).then_some(FLOW_HINT)
}

/// A node without its place.
enum Tree {
    Scalar { text: Option<String>, value: Value },
    Seq(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<String>, Spanned<Self>)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyNode;
        impl<'de> Visitor<'de> for AnyNode {
            type Value = Tree;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, a list or a map")
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Tree, E> {
                Ok(bare(Value::Bool(value)))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Tree, E> {
                Ok(bare(Value::Unsigned(value)))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Tree, E> {
                Ok(bare(u64::try_from(value).map_or(Value::Signed(value), Value::Unsigned)))
            }
            fn visit_u128<E: de::Error>(self, value: u128) -> Result<Tree, E> {
                Ok(bare(Value::Float(value as f64)))
            }
            fn visit_i128<E: de::Error>(self, value: i128) -> Result<Tree, E> {
                Ok(bare(Value::Float(value as f64)))
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Tree, E> {
                Ok(bare(Value::Float(value)))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Tree, E> {
                Ok(bare(Value::Null))
            }
            fn visit_none<E: de::Error>(self) -> Result<Tree, E> {
                Ok(bare(Value::Null))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::Scalar { text: Some(text.to_owned()), value: Value::Text })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Tree::Seq(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Tree::Map(entries))
            }
        }
        deserializer.deserialize_any(AnyNode)
    }
}

fn bare(value: Value) -> Tree {
    Tree::Scalar { text: None, value }
}

fn node(tree: Spanned<Tree>, source: &str) -> Node {
    let span = range(tree.referenced, source);
    let defined = range(tree.defined, source);
    let mut verbatim_from = None;
    let kind = match tree.value {
        Tree::Scalar { text, value } => {
            let written = defined.clone().map_or("", |range| &source[range]);
            let text = text.unwrap_or_else(|| written.trim().to_owned());
            if defined == span {
                verbatim_from = defined.and_then(|range| verbatim(written, &text).map(|offset| range.start + offset));
            }
            Kind::Scalar { text, value }
        }
        Tree::Seq(items) => Kind::Seq(items.into_iter().map(|item| node(item, source)).collect()),
        Tree::Map(entries) => Kind::Map(
            entries
                .into_iter()
                .map(|(key, value)| Entry { key_span: range(key.referenced, source).into(), key: key.value, value: node(value, source) })
                .collect(),
        ),
    };
    Node { kind, span: span.into(), verbatim_from }
}

/// Where `text` begins in what was written for it: at once in a plain scalar, after the mark in a quoted one without escapes.
fn verbatim(written: &str, text: &str) -> Option<usize> {
    if written.starts_with(text) {
        return Some(0);
    }
    let inner = written.strip_prefix(['"', '\''])?;
    (inner.starts_with(text) && inner.len() == text.len() + 1).then_some(1)
}

fn range(place: serde_yaml::Location, source: &str) -> Option<Range<usize>> {
    let span = place.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let end = start.saturating_add(usize::try_from(span.byte_len()?).ok()?).min(source.len());
    source.get(start..end).map(|_| start..end)
}

impl Node {
    /// A value that a flag gave: read as YAML reads a plain one.
    pub(super) fn from_flag(text: &str, flag: &str) -> Result<Self, Issue> {
        let mut node = load(text)?;
        node.move_to(&Place::Flag(flag.to_owned()));
        Ok(node)
    }

    /// Text that a flag gave, as it is.
    pub(super) fn text_from_flag(text: &str, flag: &str) -> Self {
        let kind = Kind::Scalar { text: text.to_owned(), value: Value::Text };
        Self { kind, span: Place::Flag(flag.to_owned()), verbatim_from: None }
    }

    fn move_to(&mut self, place: &Place) {
        (self.span, self.verbatim_from) = (place.clone(), None);
        match &mut self.kind {
            Kind::Scalar { .. } => {}
            Kind::Seq(items) => items.iter_mut().for_each(|item| item.move_to(place)),
            Kind::Map(entries) => entries.iter_mut().for_each(|entry| {
                entry.key_span = place.clone();
                entry.value.move_to(place);
            }),
        }
    }

    /// The place of bytes `within` of a scalar's text, or of the whole scalar where the source spells it differently.
    pub(super) fn place(&self, within: Range<usize>) -> Place {
        match self.verbatim_from {
            Some(from) => Place::Text(from + within.start..from + within.end),
            None => self.span.clone(),
        }
    }

    /// What it is, for messages.
    pub(super) fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar { value: Value::Null, .. } => "nothing",
            Kind::Scalar { .. } => "a single value",
            Kind::Seq(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
}
