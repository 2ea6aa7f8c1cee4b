//! Tables of fixed pitch, laid out to a width.

use super::rows::{NOTHING, Row};
use super::text::visible;

/// The rules' table: its head, where it has one, and for each row its line and what no longer fits on it.
pub(super) struct Rules {
    pub(super) head: Option<String>,
    pub(super) rows: Vec<(String, String)>,
}

/// Lays out `rows` of `columns` columns in `width`: first baseline and change move to a line of their own, then all figures do.
pub(super) fn rules(rows: &[Row], columns: usize, width: usize) -> Rules {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells().iter().map(|cell| visible(cell)).collect()).collect();
    let fits = |kept: usize| {
        let body: Vec<Vec<String>> = cells.iter().map(|line| line[..kept].to_vec()).collect();
        let lines = align(&Row::HEADS[..kept], &body, 2);
        lines.iter().all(|line| line.trim_end().chars().count() <= width).then_some((lines, kept))
    };
    let (lines, kept) = fits(columns).or_else(|| fits(columns.min(5))).unwrap_or_else(|| {
        let body: Vec<Vec<String>> = cells.iter().map(|line| line[..2].to_vec()).collect();
        (align(&Row::HEADS[..2], &body, 2), 2)
    });
    let mut lines = lines.into_iter();
    let head = lines.next().filter(|_| kept > 2);
    Rules { head, rows: lines.zip(&cells).map(|(line, cells)| (line, rest(&cells[kept..columns], kept))).collect() }
}

/// Figures that did not fit, each with its head.
fn rest(cells: &[String], from: usize) -> String {
    let named = cells.iter().zip(&Row::HEADS[from..]).filter(|(cell, _)| *cell != NOTHING);
    named.map(|(cell, head)| format!("{} {cell}", head.trim_end_matches(" (interval)"))).collect::<Vec<_>>().join(", ")
}

/// Lines of a table, its head first: the first `left` columns flush left, the others flush right, all indented by two.
pub(super) fn align(heads: &[&str], body: &[Vec<String>], left: usize) -> Vec<String> {
    let width = |column: usize| {
        let cells = body.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count());
        cells.chain(heads.get(column).map(|head| head.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let spell = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") });
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
    };
    let mut lines = vec![spell(&mut heads.iter().copied())];
    lines.extend(body.iter().map(|line| spell(&mut line.iter().map(String::as_str))));
    lines
}
