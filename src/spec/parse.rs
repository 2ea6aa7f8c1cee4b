//! A text to a checked spec: every room of it in order, every problem kept.

use super::issue::{Issue, Problems, Severity, Source, SpecError};
use super::lint;
use super::overrides;
use super::permissions::Permissions;
use super::quantity::{Bad, count, duration, number, token_budget, tokens};
use super::raw::{Fields, Sink, list, text};
use super::read_load::load;
use super::read_slo::{Scene, slo};
use super::read_target::{Reading, target};
use super::read_workload::workload;
use super::yaml::{self, Node};
use super::{Buckets, Budget, Constraint, Slo, Spec, grammar, keys};
use crate::metric::Metric;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// A checked spec, and what is worth saying about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// With every default filled in.
    pub spec: Spec,
    /// What does not stop, but should be known.
    pub warnings: Vec<Issue>,
    /// What it was read from.
    pub source: Source,
    /// What the file and the flags said, for `explain`.
    pub(super) written: Node,
}

impl Checked {
    /// The warnings, ready to be rendered; `None` where there are none.
    #[must_use]
    pub fn warnings(&self) -> Option<Problems> {
        (!self.warnings.is_empty()).then(|| Problems::new(&self.source, self.warnings.clone()))
    }
}

impl Source {
    /// A source out of the bytes of a file.
    ///
    /// # Errors
    /// Where the bytes are not UTF-8, with the place of the first that is not.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, SpecError> {
        let name = name.into();
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let source = Self { name, text };
                let issue = Issue::error("not-utf-8", "the spec is not UTF-8 text").help("save the file as UTF-8").at(Some(at..at + 3));
                Err(SpecError::Problems(Problems::new(&source, vec![issue])))
            }
        }
    }
}

/// Reads a spec.
///
/// # Errors
/// [`SpecError::Problems`] with every problem of the text at once; [`SpecError::HostRefused`] where only hosts are named that the
/// caller did not allow.
pub fn parse(source: &Source, permissions: &Permissions) -> Result<Checked, SpecError> {
    let problems = |issues| SpecError::Problems(Problems::new(source, issues));
    let mut written = yaml::load(&source.text).map_err(|issue| problems(vec![issue]))?;
    let mut sink = Sink::default();
    overrides::apply(&mut written, &permissions.overrides, &mut sink);
    let (spec, refused) = read(&written, source, permissions, &mut sink);
    let (errors, warnings): (Vec<Issue>, Vec<Issue>) = sink.issues.into_iter().partition(|issue| issue.severity == Severity::Error);
    let spec = match spec {
        Some(spec) if errors.is_empty() => spec,
        _ => return Err(problems(errors.into_iter().chain(warnings).collect())),
    };
    if !refused.is_empty() && !permissions.sends_nothing {
        return Err(SpecError::HostRefused(Problems::new(source, refused)));
    }
    let warnings = Problems::new(source, warnings).issues;
    Ok(Checked { spec, warnings, source: source.clone(), written })
}

fn read(written: &Node, source: &Source, permissions: &Permissions, sink: &mut Sink) -> (Option<Spec>, Vec<Issue>) {
    let top = Fields::open(written, "", sink);
    if top.node().is_none() {
        return (None, Vec::new());
    }
    top.read("version", sink, version);
    let before = errors(sink);
    let name = required_name(top, sink);
    let of_name = errors(sink) - before;
    let uses: Vec<(&'static str, &'static str)> = keys::USES.iter().map(|word| (*word, *word)).collect();
    let use_case = top.choice("use", &uses, sink).map(str::to_owned);
    let target_fields = top.map("target", "target", sink);
    let mut reading = Reading::new(permissions, sink);
    let target = target(target_fields, &mut reading);
    let refused = reading.refused;
    let workload_node = top.get("workload", sink);
    let workload = workload(workload_node, sink);
    let load_fields = top.map("load", "load", sink);
    let load = load(load_fields, sink);
    let slo_fields = top.map("slo", "slo", sink);
    let (slo, lines) = slo(slo_fields, &Scene { load: &load, workload: &workload }, sink);
    some_line(top, slo_fields, sink);
    let client_lag = top.map("validity", "validity", sink).read("client_lag", sink, duration);
    let buckets = buckets(top.map("buckets", "buckets", sink), sink);
    let budget = budget(top.map("budget", "budget", sink), sink);
    // Without a name the rest is checked all the same; what is wrong with the lines themselves would make false warnings.
    let sound = errors(sink) == of_name;
    let named = name.is_some();
    let spec = Spec {
        client_lag: client_lag.unwrap_or_else(|| default_client_lag(&slo)),
        digest: digest(&source.text),
        name: name.unwrap_or_default(),
        use_case,
        target,
        workload,
        load,
        slo,
        buckets,
        budget,
    };
    if sound {
        lint::warn(&spec, &lines, load_fields, sink);
    }
    (named.then_some(spec), refused)
}

fn errors(sink: &Sink) -> usize {
    sink.issues.iter().filter(|issue| issue.severity == Severity::Error).count()
}

/// `[a-z0-9-]`, at most 64.
pub(super) fn name(text: &str) -> Result<String, Bad> {
    let fine = (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    fine.then(|| text.to_owned()).ok_or_else(|| {
        Bad::new("not-a-name", "a name has a to z, 0 to 9 and `-`, and at most 64 of them", "names become folders: write chat-70b")
    })
}

fn required_name(top: Fields<'_>, sink: &mut Sink) -> Option<String> {
    if !top.has("name") {
        sink.push(Issue::error("missing-key", "the spec has no `name`").help("write name: chat; it names the baseline too"));
    }
    top.read("name", sink, name)
}

fn some_line(top: Fields<'_>, slo: Fields<'_>, sink: &mut Sink) {
    let example = "write slo: { request: [ttft <= 500ms, tpot <= 50ms], require: [goodput >= 95%] }";
    if !top.has("slo") {
        sink.push(Issue::error("missing-key", "the spec has no `slo`").help(example));
    } else if slo.node().is_some() && !["request", "require", "regression", "advise"].iter().any(|key| slo.has(key)) {
        sink.push(Issue::error("empty-slo", "`slo` has no line").help(example).at(top.key_span("slo")));
    }
}

fn version(text: &str) -> Result<(), Bad> {
    match count(text)? {
        1 => Ok(()),
        _ => Err(Bad::new(
            "unknown-version",
            format!("version {text} of the spec is not known to this build"),
            "write version: 1, or use a newer build",
        )),
    }
}

/// max(5 ms, 1 % of the tightest ttft limit).
fn default_client_lag(slo: &Slo) -> Duration {
    let constraints = slo.request.iter().filter(|line| line.metric == Metric::Ttft).map(|line| line.value);
    let rules = slo.rules.iter().filter(|rule| rule.metric == Metric::Ttft).filter_map(|rule| match rule.test {
        super::Test::Absolute { value, .. } => Some(value),
        super::Test::Change { .. } => None,
    });
    let tightest = constraints.chain(rules).fold(f64::INFINITY, f64::min);
    let lag = if tightest.is_finite() { (tightest * 0.01).max(5.0) } else { 5.0 };
    crate::units::Nanos::from_ms(lag).into()
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn buckets(fields: Fields<'_>, sink: &mut Sink) -> Buckets {
    let mut edges = |key: &'static str, default: &[u64]| {
        let Some(node) = fields.get(key, sink) else { return default.to_vec() };
        let items = list(node, key, "[1k, 8k]", sink);
        let mut edges: Vec<u64> = Vec::new();
        for item in items {
            let Some(written) = text(item, key, sink) else { continue };
            let Some(edge) = sink.keep(item, tokens(written)) else { continue };
            if edge == 0 || edges.last().is_some_and(|last| *last >= edge) {
                let issue = Issue::error("not-ascending", format!("the edge `{written}` is not above the one before"));
                sink.push(issue.help("edges ascend from above 0").at(item.span.clone()));
            }
            edges.push(edge);
        }
        if edges.len() > 20 {
            sink.push(Issue::error("too-many", "more than 20 edges").help("a report has room for fewer").at(node.span.clone()));
        }
        edges
    };
    Buckets { input: edges("input", &[1024, 8192]), output: edges("output", &[300, 1000]) }
}

fn budget(fields: Fields<'_>, sink: &mut Sink) -> Budget {
    let above_zero = |what: &'static str| {
        Bad::new("out-of-range", format!("a budget of no {what} would send nothing"), "write more than 0, or leave it out")
    };
    Budget {
        time: fields
            .read("time", sink, |text| duration(text).and_then(|time| if time.is_zero() { Err(above_zero("time")) } else { Ok(time) })),
        tokens: fields.read("tokens", sink, |text| token_budget(text).and_then(|n| if n == 0 { Err(above_zero("tokens")) } else { Ok(n) })),
        cost: fields.read("cost", sink, |text| number(text).and_then(|n| if n > 0.0 { Ok(n) } else { Err(above_zero("cost")) })),
    }
}

/// Reads the constraint of `judge --what-if`.
///
/// # Errors
/// What is wrong with it, with its place in `text`.
pub fn parse_what_if(text: &str) -> Result<Constraint, Issue> {
    grammar::constraint(text).map_err(|wrong| {
        let mut issue = Issue::error(wrong.code, wrong.message).help(wrong.help).at(Some(wrong.span));
        issue.locate(text);
        issue
    })
}
