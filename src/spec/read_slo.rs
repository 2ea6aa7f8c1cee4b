//! Reading of `slo`: the lines, and how they fit the rest of the spec.

use super::grammar::{self, Wrong};
use super::issue::{Issue, meant};
use super::load::Load;
use super::place::Place;
use super::quantity::{Bad, share, times};
use super::raw::{Fields, Sink, choice, list, text};
use super::read_load::same;
use super::yaml::{Kind, Node};
use super::{Confidence, Constraint, OnInconclusive, Rule, RuleKind, Slo, Test, Workload};
use crate::metric::{Better, Metric, Per};
use crate::units::Unit;

/// More lines than this are a slip.
const MOST_LINES: usize = 200;

/// A line with its node, for places.
pub(super) struct Line<'n, T> {
    pub(super) node: &'n Node,
    pub(super) value: T,
}

/// Every line of `slo`, with its place.
pub(super) struct Lines<'n> {
    pub(super) request: Vec<Line<'n, Constraint>>,
    pub(super) rules: Vec<Line<'n, Rule>>,
}

/// What rules refer to.
pub(super) struct Scene<'a> {
    pub(super) load: &'a Load,
    pub(super) workload: &'a Workload,
}

/// Reads `slo`.
pub(super) fn slo<'n>(fields: Fields<'n>, scene: &Scene<'_>, sink: &mut Sink) -> (Slo, Lines<'n>) {
    let confidence = fields.read("confidence", sink, confidence).unwrap_or(Confidence::Level(0.95));
    let rule_out = fields.read("rule_out", sink, rule_out).unwrap_or(2.5);
    let on_inconclusive = fields
        .choice("on_inconclusive", &[("fail", OnInconclusive::Fail), ("warn", OnInconclusive::Warn)], sink)
        .unwrap_or(OnInconclusive::Fail);
    let mut lines = Lines { request: Vec::new(), rules: Vec::new() };
    for (node, line) in written(fields, "request", "[ttft <= 500ms, tpot <= 50ms]", sink) {
        match grammar::constraint(line) {
            Ok(value) => {
                constraint_fits(node, &value, scene, sink);
                lines.request.push(Line { node, value });
            }
            Err(wrong) => sink.push(placed(node, line, wrong)),
        }
    }
    let lists = [
        ("require", RuleKind::Require, "[goodput >= 95%]"),
        ("regression", RuleKind::Regression, "[ttft p95 rises <= 10%]"),
        ("advise", RuleKind::Advise, "[ttft p99.9 <= 3s]"),
    ];
    for (key, kind, example) in lists {
        for (node, line) in written(fields, key, example, sink) {
            match grammar::rule(line, kind) {
                Ok(mut value) => {
                    rule_fits(node, line, &mut value, scene, sink);
                    rule_out_fits(node, &value, confidence, rule_out, sink);
                    lines.rules.push(Line { node, value });
                }
                Err(wrong) => sink.push(placed(node, line, wrong)),
            }
        }
    }
    let slo = Slo {
        request: lines.request.iter().map(|line| line.value.clone()).collect(),
        rules: lines.rules.iter().map(|line| line.value.clone()).collect(),
        confidence,
        rule_out,
        on_inconclusive,
    };
    (slo, lines)
}

fn written<'n>(fields: Fields<'n>, key: &'static str, example: &str, sink: &mut Sink) -> Vec<(&'n Node, &'n str)> {
    let Some(node) = fields.get(key, sink) else { return Vec::new() };
    let items = list(node, key, example, sink);
    if matches!(node.kind, Kind::Seq(_)) && (items.is_empty() || items.len() > MOST_LINES) {
        let issue = Issue::error("empty-list", format!("`{key}` lists {} lines", items.len()));
        sink.push(issue.help(format!("write 1 to {MOST_LINES}, as {example}, or leave the key out")).at(node.span.clone()));
    }
    items.iter().take(MOST_LINES).filter_map(|item| text(item, key, sink).map(|line| (item, line))).collect()
}

/// A problem of the grammar, at its word.
fn placed(node: &Node, line: &str, wrong: Wrong) -> Issue {
    let within = if wrong.span.is_empty() { wrong.span.start.saturating_sub(1).min(line.len())..line.len() } else { wrong.span };
    Issue::error(wrong.code, wrong.message).help(wrong.help).at(node.place(within))
}

/// The place of `word` after `before` in a line, or the whole line.
fn place_of(node: &Node, line: &str, before: &str, word: &str) -> Place {
    let at = line.rfind(&format!("{before} {word}")).map(|at| at + before.len() + 1);
    at.map_or_else(|| node.span.clone(), |at| node.place(at..at + word.len()))
}

fn constraint_fits(node: &Node, constraint: &Constraint, scene: &Scene<'_>, sink: &mut Sink) {
    part_exists(node, constraint.part.as_deref(), &constraint.text, scene, sink);
}

fn part_exists(node: &Node, part: Option<&str>, line: &str, scene: &Scene<'_>, sink: &mut Sink) {
    let Some(part) = part else { return };
    let names: Vec<&str> = scene.workload.parts.iter().filter_map(|part| part.name.as_deref()).collect();
    if !names.contains(&part) {
        let help = if names.is_empty() { "only a workload that is a list has named parts".to_owned() } else { meant(part, &names) };
        let issue = Issue::error("unknown-part", format!("the workload has no part `{part}`"));
        sink.push(issue.help(help).at(place_of(node, line, "for", part)));
    }
}

fn rule_fits(node: &Node, line: &str, rule: &mut Rule, scene: &Scene<'_>, sink: &mut Sink) {
    part_exists(node, rule.part.as_deref(), line, scene, sink);
    if rule.metric.row().per == Per::Search {
        of_headroom(node, rule, sink);
    }
    let wanted = times(&rule.level).unwrap_or(1.0);
    match scene.load.levels.iter().find(|(_, factor)| same(*factor, wanted)) {
        Some((label, _)) => rule.level.clone_from(label),
        None => {
            let listed: Vec<&str> = scene.load.levels.iter().map(|(label, _)| label.as_str()).collect();
            let said = line.contains(&format!("at {}", rule.level));
            let message = if said {
                format!("the level `{}` is not listed in `load.levels`", rule.level)
            } else {
                "a rule applies at 1x unless it says otherwise, and 1x is not listed in `load.levels`".to_owned()
            };
            let help = format!("listed are {}; add the level there, or write `at {}`", listed.join(", "), listed[0]);
            sink.push(Issue::error("unknown-level", message).help(help).at(place_of(node, line, "at", &rule.level)));
        }
    }
}

/// Headroom is one number of the whole service, found by a search over loads.
fn of_headroom(node: &Node, rule: &Rule, sink: &mut Sink) {
    let of_rounds = matches!(rule.test, Test::Absolute { share_of_rounds: Some(_), .. });
    let message = if matches!(rule.test, Test::Change { .. }) {
        "headroom is judged against a number, not against a baseline"
    } else if of_rounds || !rule.when.is_everything() || rule.part.is_some() || times(&rule.level).is_ok_and(|level| !same(level, 1.0)) {
        "headroom is one number of the whole service: it has no rounds, no scope and no level"
    } else {
        return;
    };
    sink.push(Issue::error("whole-service", message).help("write `headroom >= 40%`").at(node.span.clone()));
}

/// Rates drop: ln(1 − r·x) must exist (statistics, D).
fn rule_out_fits(node: &Node, rule: &Rule, confidence: Confidence, rule_out: f64, sink: &mut Sink) {
    let Test::Change { limit } = rule.test else { return };
    let row = rule.metric.row();
    let scale = if confidence == Confidence::Point { 1.0 } else { rule_out };
    if let Some(relative) = limit.relative
        && row.better == Better::High
        && row.unit != Unit::Share
        && scale * relative >= 1.0
    {
        let most = 100.0 / scale;
        sink.push(
            Issue::error("rule-out", format!("a pass would have to rule out a drop of {:.0} %", scale * relative * 100.0))
                .help(format!("with rule_out {scale}x a drop must be limited below {most:.0} %, or set a smaller rule_out"))
                .at(node.span.clone()),
        );
    }
}

fn confidence(text: &str) -> Result<Confidence, Bad> {
    if text == "point" {
        return Ok(Confidence::Point);
    }
    if !text.ends_with('%') && text.starts_with(|c: char| c.is_alphabetic()) {
        return choice(text, &[("point", Confidence::Point)]);
    }
    match share(text)? {
        level if (0.5..1.0).contains(&level) && level > 0.5 => Ok(Confidence::Level(level)),
        _ => Err(Bad::new("out-of-range", format!("a confidence of {text} is out of range"), "write above 50% and below 100%, or point")),
    }
}

fn rule_out(text: &str) -> Result<f64, Bad> {
    match times(text)? {
        factor if (1.0..=100.0).contains(&factor) => Ok(factor),
        _ => Err(Bad::new("out-of-range", format!("a rule_out of {text} is out of range"), "write 1x to 100x; 1x: a pass must be proven")),
    }
}

/// Whether a metric belongs to ratios that trimming cannot blind: goodput, errors and the exceedance rows of percentiles.
pub(super) fn sees_rare_stalls(rule: &Rule) -> bool {
    match rule.test {
        Test::Absolute { .. } => rule.metric.row().per != Per::Rate,
        Test::Change { .. } => matches!(rule.metric, Metric::Goodput | Metric::Errors),
    }
}
