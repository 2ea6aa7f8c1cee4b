//! Wrong indentation, in the words of the author: which line, and how far off what.

use super::issue::Issue;
use std::ops::Range;

/// What the indentation of the line at `at` has wrong, where that is what stopped the YAML reader.
pub(super) fn explain(text: &str, at: usize, span: Option<Range<usize>>) -> Option<Issue> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next()?;
    let number = text[..start].matches('\n').count() + 1;
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    if line[..blank].contains('\t') {
        let issue = Issue::error("indentation", format!("line {number} is indented with a tab"));
        return Some(issue.help("indent with spaces").at(start..start + blank));
    }
    if inside_flow(&text[..start]) {
        return None;
    }
    let own = entry(line)?;
    let (other, off) = misfit(&text[..start], own.indent)?;
    let (many, way) = (off.unsigned_abs(), if off > 0 { "more" } else { "less" });
    let spaces = if many == 1 { "one space".to_owned() } else { format!("{many} spaces") };
    let message = format!("line {number} is indented {spaces} {way} than `{}` above", other.name);
    let help = format!(
        "what belongs together begins in the same column; if `{}` is meant to stand beside it, indent by {}",
        own.name, other.indent
    );
    Some(Issue::error("indentation", message).help(help).at(span))
}

/// A line of a block: a key or an item of a list.
#[derive(Debug, Clone, Copy)]
struct Entry<'t> {
    indent: usize,
    name: &'t str,
}

fn entry(line: &str) -> Option<Entry<'_>> {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    if rest.starts_with("- ") {
        let name = rest.char_indices().nth(40).map_or(rest, |(end, _)| &rest[..end]);
        return Some(Entry { indent, name: name.trim_end() });
    }
    let (name, value) = rest.split_once(':')?;
    let key = !name.is_empty() && name.len() <= 40 && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    (key && (value.is_empty() || value.starts_with([' ', '\r']))).then_some(Entry { indent, name })
}

/// The line above that a line of this indentation should have lined up with, and by how many spaces it does not.
fn misfit(above: &str, indent: usize) -> Option<(Entry<'_>, isize)> {
    let mut open: Vec<Entry<'_>> = Vec::new();
    for other in above.lines().filter_map(entry) {
        open.retain(|earlier| earlier.indent < other.indent);
        open.push(other);
    }
    let deeper = open.iter().find(|other| other.indent > indent).copied();
    let outer = open.iter().rfind(|other| other.indent <= indent).copied();
    match (deeper, outer) {
        (_, Some(outer)) if outer.indent == indent => None,
        (Some(near), _) | (None, Some(near)) => Some((near, isize::try_from(indent).ok()? - isize::try_from(near.indent).ok()?)),
        (None, None) => None,
    }
}

/// Whether a `{` or `[` is still open, in which indentation means nothing. Brackets in quotes and comments are rare enough.
fn inside_flow(above: &str) -> bool {
    let count = |marks: [char; 2]| above.matches(marks).count();
    count(['{', '[']) > count(['}', ']'])
}
