//! Reading of `workload`.

use super::issue::{Issue, meant};
use super::keys;
use super::place::Place;
use super::quantity::{Bad, MOST, count, duration, number, scaled, share, split, tokens};
use super::raw::{Fields, Sink};
use super::yaml::{Kind, Node};
use super::{Distribution, ExactOutput, Lengths, Part, Prompts, Turns, Workload};
use std::path::PathBuf;

/// More parts than this are a slip.
const MOST_PARTS: usize = 50;
/// More groups of prompts than this are a slip.
const MOST_GROUPS: u64 = 100_000;

/// Reads `workload`: a map, or a list of named parts.
pub(super) fn workload(node: Option<&Node>, sink: &mut Sink) -> Workload {
    let Some(node) = node else { return Workload { parts: vec![part(Fields::none("workload"), None, 1.0, sink)] } };
    let Kind::Seq(items) = &node.kind else {
        let fields = Fields::open(node, "workload", sink);
        for key in ["name", "share"] {
            if fields.has(key) {
                let issue = Issue::error("not-a-list", format!("`{key}` is for the parts of a list"));
                sink.push(issue.help("write workload: [{ name: chat, share: 60%, … }, …]").at(fields.key_span(key)));
            }
        }
        return Workload { parts: vec![part(fields, None, 1.0, sink)] };
    };
    if items.is_empty() || items.len() > MOST_PARTS {
        let issue = Issue::error("empty-list", format!("`workload` lists {} parts", items.len()));
        sink.push(issue.help(format!("list 1 to {MOST_PARTS} parts")).at(node.span.clone()));
    }
    let mut parts: Vec<Part> = Vec::new();
    for item in items.iter().take(MOST_PARTS) {
        let fields = Fields::open(item, "workload", sink);
        let name = named(fields, &parts, sink);
        let share = fields.read("share", sink, share);
        if share.is_none() && fields.node().is_some() && !fields.has("share") {
            let issue = Issue::error("missing-key", "a part of the workload has no `share`");
            sink.push(issue.help("write share: 60%; all shares sum to 100 %").at(item.span.clone()));
        }
        parts.push(part(fields, name, share.unwrap_or(0.0), sink));
    }
    let sum: f64 = parts.iter().map(|part| part.share).sum();
    if !parts.is_empty() && parts.iter().all(|part| part.share > 0.0) && (sum - 1.0).abs() > 1e-6 {
        let issue = Issue::error("shares", format!("the shares of the parts sum to {:.4} %", sum * 100.0));
        sink.push(issue.help("they must sum to 100 %").at(node.span.clone()));
    }
    Workload { parts }
}

fn named(fields: Fields<'_>, before: &[Part], sink: &mut Sink) -> Option<String> {
    let Some((node, text)) = fields.text("name", sink) else {
        if fields.node().is_some() && !fields.has("name") {
            let span = fields.node().map_or(Place::Nowhere, |node| node.span.clone());
            sink.push(
                Issue::error("missing-key", "a part of the workload has no `name`").help("rules speak of a part by its name").at(span),
            );
        }
        return None;
    };
    let name = sink.keep(node, super::parse::name(text))?;
    if before.iter().any(|part| part.name.as_deref() == Some(&name)) {
        let issue = Issue::error("duplicate-name", format!("two parts are called `{name}`"));
        sink.push(issue.help("rules speak of a part by its name; give each its own").at(node.span.clone()));
    }
    Some(name)
}

fn part(fields: Fields<'_>, name: Option<String>, share_of_all: f64, sink: &mut Sink) -> Part {
    const EXACT: &[(&str, ExactOutput)] = &[("auto", ExactOutput::Auto), ("true", ExactOutput::Always), ("false", ExactOutput::Never)];
    let turns = fields.read("turns", sink, turns).unwrap_or(Turns::Fixed(1));
    let prompts = prompts(fields, sink);
    sessions(fields, turns, &prompts, sink);
    let prefix = prefix(fields, &prompts, sink);
    Part {
        name,
        share: share_of_all,
        lengths: lengths(fields, sink),
        prompts,
        max_input: fields.read("max_input", sink, some_tokens),
        max_output: fields.read("max_output", sink, some_tokens),
        exact_output: fields.choice("exact_output", EXACT, sink).unwrap_or(ExactOutput::Auto),
        turns,
        think: fields.read("think", sink, duration),
        shared_prefix: prefix.0,
        prefix_hit: prefix.1,
        prefix_groups: fields.read("prefix_groups", sink, groups).unwrap_or(1),
        zipf: fields.read("zipf", sink, zipf).unwrap_or(1.0),
    }
}

/// What goes with sessions.
fn sessions(fields: Fields<'_>, turns: Turns, prompts: &Prompts, sink: &mut Sink) {
    if turns != Turns::Fixed(1) && *prompts != Prompts::Unique {
        let issue = Issue::error("turns-of-a-file", "`turns` is for prompts made of words, and `prompts` names a file");
        sink.push(issue.help("whole conversations can stand in the file as messages").at(fields.key_span("turns")));
    }
    const HISTORY: &[(&str, bool)] = &[("recorded", false), ("live", true)];
    if fields.choice("history", HISTORY, sink) == Some(true) {
        sink.push(
            unsupported("`history: live`", "recorded history sends canned words of the answers' lengths").at(fields.key_span("history")),
        );
    }
}

/// `shared_prefix` and `prefix_hit`, which make words of the list; prompts from a file share what they share.
fn prefix(fields: Fields<'_>, prompts: &Prompts, sink: &mut Sink) -> (u64, f64) {
    let shared = fields.read("shared_prefix", sink, tokens).unwrap_or(0);
    let hit = fields.read("prefix_hit", sink, share).unwrap_or(0.0);
    for (key, is_set) in [("shared_prefix", shared > 0), ("prefix_hit", hit > 0.0)] {
        if is_set && *prompts != Prompts::Unique {
            let issue = Issue::error("prefix-of-a-file", format!("`{key}` is for prompts made of words, and `prompts` names a file"));
            sink.push(issue.help("leave it out: prompts from a file share what they share").at(fields.key_span(key)));
        }
    }
    (shared, hit)
}

fn groups(text: &str) -> Result<u32, Bad> {
    match count(text)? {
        groups @ 1..=MOST_GROUPS => Ok(u32::try_from(groups).unwrap_or(1)),
        _ => Err(Bad::new("out-of-range", format!("`{text}` groups is out of range"), format!("write 1 to {MOST_GROUPS}"))),
    }
}

fn zipf(text: &str) -> Result<f64, Bad> {
    match number(text)? {
        exponent if (0.01..=10.0).contains(&exponent) => Ok(exponent),
        _ => Err(Bad::new(
            "out-of-range",
            format!("a zipf exponent of `{text}` is out of range"),
            "write 0.01 (all groups nearly alike) to 10",
        )),
    }
}

/// What the contract knows and this version does not do yet: refused, so that it is never silently ignored.
pub(super) fn unsupported(what: &str, help: &str) -> Issue {
    Issue::error("not-supported-yet", format!("{what} is not supported by this version yet")).help(help)
}

fn some_tokens(text: &str) -> Result<u64, Bad> {
    match tokens(text)? {
        0 => Err(Bad::new("out-of-range", "0 tokens would drop every pair", "write a count above 0, as `8k`")),
        tokens => Ok(tokens),
    }
}

fn lengths(fields: Fields<'_>, sink: &mut Sink) -> Lengths {
    let default = Lengths::Bundled("chat".to_owned());
    let Some(node) = fields.get("lengths", sink) else { return default };
    if let Kind::Scalar { text, .. } = &node.kind {
        if !keys::LENGTHS.contains(&text.as_str()) {
            let help = if text.contains(['.', '/']) {
                format!("for a file write {{ file: {text} }}")
            } else if text.contains('(') {
                "a formula each: { input: \"uniform(10, 20)\", output: \"constant(100)\" }".to_owned()
            } else {
                meant(text, keys::LENGTHS)
            };
            sink.push(Issue::error("unknown-lengths", format!("no lengths are called `{text}`")).help(help).at(node.span.clone()));
        }
        return Lengths::Bundled(text.clone());
    }
    let map = Fields::open(node, "workload.lengths", sink);
    let file = map.read("file", sink, path);
    let input = map.read("input", sink, distribution);
    let output = map.read("output", sink, distribution);
    match (map.has("file"), map.has("input"), map.has("output")) {
        (true, false, false) => file.map_or(default, Lengths::File),
        (false, true, true) => input.zip(output).map_or(default, |(input, output)| Lengths::Formula { input, output }),
        _ if map.node().is_none() => default,
        _ => {
            sink.push(
                Issue::error("lengths", "lengths are a bundled name, a `file`, or `input` and `output` together")
                    .help("write chat, { file: lengths.csv } or { input: \"constant(800)\", output: \"constant(150)\" }")
                    .at(node.span.clone()),
            );
            default
        }
    }
}

fn prompts(fields: Fields<'_>, sink: &mut Sink) -> Prompts {
    let Some(node) = fields.get("prompts", sink) else { return Prompts::Unique };
    if let Kind::Scalar { text, .. } = &node.kind {
        if text != "unique" {
            let help = "write unique, or { file: prompts.jsonl }";
            sink.push(Issue::error("unknown-word", format!("`{text}` is not known here")).help(help).at(node.span.clone()));
        }
        return Prompts::Unique;
    }
    let map = Fields::open(node, "workload.prompts", sink);
    if map.node().is_some() && !map.has("file") {
        sink.push(Issue::error("missing-key", "`prompts` names no `file`").help("write { file: prompts.jsonl }").at(node.span.clone()));
    }
    map.read("file", sink, path).map_or(Prompts::Unique, Prompts::File)
}

/// A path as written; whether it may be read is the store's to say, once links are resolved.
fn path(text: &str) -> Result<PathBuf, Bad> {
    let fine = !text.is_empty() && text.len() <= 1024 && !text.chars().any(char::is_control) && !text.contains("://");
    fine.then(|| PathBuf::from(text))
        .ok_or_else(|| Bad::new("not-a-path", "not the path of a file", "write a path at or below the spec's folder"))
}

fn turns(text: &str) -> Result<Turns, Bad> {
    if let Some((name, arguments)) = call(text) {
        let mean = if name == "geometric" { named_numbers(arguments, &["mean"]) } else { None };
        return match mean.as_deref() {
            Some([mean]) if *mean >= 1.0 && *mean <= 1000.0 => Ok(Turns::Geometric { mean: *mean }),
            _ => Err(Bad::new(
                "not-a-formula",
                format!("`{text}` is no number of turns"),
                "write a number or geometric(mean=4), of mean 1 to 1000",
            )),
        };
    }
    match count(text)? {
        turns @ 1..=1000 => Ok(Turns::Fixed(u32::try_from(turns).unwrap_or(1))),
        _ => Err(Bad::new("out-of-range", format!("`{text}` turns is out of range"), "write 1 to 1000")),
    }
}

/// `constant(N)`, `uniform(A, B)`, `normal(mean=M, sd=S)`, `lognormal(mean=M, sd=S)`.
fn distribution(text: &str) -> Result<Distribution, Bad> {
    let help = "write \"constant(N)\", \"uniform(A, B)\", \"normal(mean=M, sd=S)\" or \"lognormal(mean=M, sd=S)\", in tokens";
    let wrong = |message: String| Bad::new("not-a-formula", message, help);
    let (name, arguments) = call(text).ok_or_else(|| wrong(format!("`{text}` is no formula for lengths")))?;
    let bare = || arguments.split(',').map(|part| tokens(part.trim())).collect::<Result<Vec<u64>, Bad>>();
    let spread = || {
        named_numbers(arguments, &["mean", "sd"])
            .filter(|values| values[0] >= 1.0 && values.iter().all(|value| *value <= MOST as f64))
            .ok_or_else(|| wrong(format!("`{text}` needs a mean of at least 1 and an sd")))
    };
    match name {
        "constant" => match bare()?.as_slice() {
            [length] if *length >= 1 => Ok(Distribution::Constant(*length)),
            _ => Err(wrong(format!("`{text}` needs one length of at least 1"))),
        },
        "uniform" => match bare()?.as_slice() {
            [low, high] if *low >= 1 && low <= high => Ok(Distribution::Uniform(*low, *high)),
            _ => Err(wrong(format!("`{text}` needs two lengths, the smaller first, from 1 up"))),
        },
        "normal" => spread().map(|values| Distribution::Normal { mean: values[0], sd: values[1] }),
        "lognormal" => spread().map(|values| Distribution::Lognormal { mean: values[0], sd: values[1] }),
        other => Err(Bad::new(
            "not-a-formula",
            format!("`{other}` is no distribution"),
            meant(other, &["constant", "uniform", "normal", "lognormal"]),
        )),
    }
}

/// `name(arguments)`.
pub(super) fn call(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.trim().split_once('(')?;
    Some((name.trim(), rest.strip_suffix(')')?))
}

/// `a=1, b=2`, exactly these names in any order; the values in the order of `names`.
pub(super) fn named_numbers(arguments: &str, names: &[&str]) -> Option<Vec<f64>> {
    let pairs: Vec<(&str, &str)> =
        arguments.split(',').map(|pair| pair.split_once('=').map(|(a, b)| (a.trim(), b.trim()))).collect::<Option<_>>()?;
    if pairs.len() != names.len() {
        return None;
    }
    names
        .iter()
        .map(|name| {
            let (_, value) = pairs.iter().find(|(key, _)| key == name)?;
            let (digits, unit) = split(value)?;
            if unit == "k" { Some(scaled(digits, 0) * 1024.0) } else { number(value).ok() }
        })
        .collect()
}
