//! What is legal and yet surprises: warnings, and what a command needs beyond a legal spec.

use super::issue::Issue;
use super::raw::{Fields, Sink};
use super::read_load::{below_one_slot, same};
use super::read_slo::{Line, Lines, sees_rare_stalls};
use super::{Confidence, Offered, Rule, RuleKind, Spec, Test};
use crate::metric::{Better, Metric};
use crate::units::Unit;

/// Below this a stored baseline can hardly tell a change from the site's own noise (statistics, INVALID).
const SMALL_CHANGE: f64 = 0.10;

/// Adds the warnings about a spec that is otherwise legal.
pub(super) fn warn(spec: &Spec, lines: &Lines<'_>, load: Fields<'_>, sink: &mut Sink) {
    let (short_round, short_warmup) = below_one_slot(&spec.load);
    if short_round {
        let issue = Issue::warning("short-round", "a round has fewer requests than the load has slots");
        sink.push(issue.help("round: 1x gives every slot one request a round").at(load.key_span("round")));
    }
    if short_warmup {
        let issue = Issue::warning(
            "short-warmup",
            "the warm-up is shorter than one request a slot: the starting stampede is counted as the service",
        );
        sink.push(issue.help("warmup: 1x sends one request a slot before anything counts").at(load.key_span("warmup")));
    }
    if spec.slo.confidence != Confidence::Point && spec.load.rounds.max < 12 {
        let issue = Issue::warning("few-rounds", "fewer than 12 rounds cannot be judged with intervals: such a run is invalid");
        sink.push(issue.help("40 are usual; or confidence: point for bare estimates").at(load.key_span("rounds")));
    }
    for line in &lines.rules {
        rule(spec, line, sink);
    }
    redundant(&lines.rules, sink);
    lists(spec, lines, sink);
}

fn rule(spec: &Spec, line: &Line<'_, Rule>, sink: &mut Sink) {
    let rule = &line.value;
    let span = || line.node.span.clone();
    if rule.metric == Metric::Speed
        && let (Some(stat), Test::Absolute { .. }) = (rule.stat, rule.test)
        && stat.fraction() > 0.5
    {
        let issue = Issue::warning("fast-users", format!("`speed {stat} >=` speaks of the fastest users"));
        sink.push(issue.help("slow users are at p5: write `speed p5 >= …`").at(span()));
    }
    if let Test::Change { limit } = rule.test
        && limit.relative.is_some_and(|relative| relative < SMALL_CHANGE - 1e-9)
        && limit.absolute.is_none()
        && spec.slo.confidence != Confidence::Point
        && rule.kind == RuleKind::Regression
    {
        let issue = Issue::warning(
            "small-change",
            "limits under about 10 % are below the noise from run to run of most sites: expect inconclusive",
        );
        sink.push(
            issue.help("use --against URL (both sides in the same weather), a long history of a quiet site, or a limit of 10 %").at(span()),
        );
    }
    if let (Some(Offered::Rate { per_second, .. }), Test::Absolute { value, .. }) = (spec.load.offered, rule.test)
        && rule.metric.row().unit == Unit::PerSecond
        && rule.kind != RuleKind::Advise
    {
        let factor = spec.load.levels.iter().find(|(label, _)| *label == rule.level).map_or(1.0, |(_, factor)| *factor);
        if value > per_second * factor {
            let issue = Issue::warning("cannot-pass", format!("the offered rate is {}/s: no more can be finished", per_second * factor));
            sink.push(issue.help("raise `rate`, or lower the limit").at(span()));
        }
    }
}

/// Lines that another line already implies.
fn redundant(rules: &[Line<'_, Rule>], sink: &mut Sink) {
    for (index, line) in rules.iter().enumerate() {
        for earlier in &rules[..index] {
            let (a, b) = (&earlier.value, &line.value);
            let alike = a.metric == b.metric && a.stat == b.stat && a.when == b.when && a.level == b.level && a.part == b.part;
            if !alike || a.kind != b.kind {
                continue;
            }
            let message = match (a.test, b.test) {
                (left, right) if left == right => format!("`{}` is written twice", b.text),
                (Test::Absolute { value: left, share_of_rounds: None, .. }, Test::Absolute { value: right, share_of_rounds: None, .. }) => {
                    let first_is_tighter = (left <= right) == (a.metric.row().better == Better::Low);
                    let (tight, loose) = if first_is_tighter { (a, b) } else { (b, a) };
                    format!("`{}` already implies `{}`", tight.text, loose.text)
                }
                (Test::Change { .. }, Test::Change { .. }) => format!("`{}` and `{}` limit the same change", a.text, b.text),
                _ => continue,
            };
            sink.push(Issue::warning("redundant-rule", message).help("keep the one that is meant").at(line.node.span.clone()));
        }
    }
}

fn lists(spec: &Spec, lines: &Lines<'_>, sink: &mut Sink) {
    for (index, line) in lines.request.iter().enumerate() {
        for earlier in &lines.request[..index] {
            let (a, b) = (&earlier.value, &line.value);
            if a.metric == b.metric && a.when == b.when && a.part == b.part {
                let message = if (a.cmp, a.value) == (b.cmp, b.value) {
                    format!("`{}` is written twice", b.text)
                } else {
                    format!("`{}` and `{}` limit the same value; the tighter one decides", a.text, b.text)
                };
                let issue = Issue::warning("redundant-rule", message);
                sink.push(issue.help("keep the one that is meant").at(line.node.span.clone()));
            }
        }
    }
    let of_goodput = |rule: &&Line<'_, Rule>| matches!(rule.value.metric, Metric::Goodput | Metric::GoodputRps | Metric::GoodputTps);
    if let Some(line) = lines.rules.iter().find(of_goodput)
        && spec.slo.request.is_empty()
    {
        let issue = Issue::warning("goodput-without-limits", "without `slo.request` every request that did not fail is good");
        sink.push(issue.help("write what a good request is, as request: [ttft <= 500ms, tpot <= 50ms]").at(line.node.span.clone()));
    }
    let decides = |rule: &&Line<'_, Rule>| rule.value.kind != RuleKind::Advise;
    let trimmed = |rule: &&Line<'_, Rule>| matches!(rule.value.test, Test::Change { .. }) && !sees_rare_stalls(&rule.value);
    if let Some(line) = lines.rules.iter().filter(decides).find(trimmed)
        && !lines.rules.iter().filter(decides).any(|rule| sees_rare_stalls(&rule.value))
    {
        let issue =
            Issue::warning("blind-to-stalls", "these rules look at the typical round: stalls in under a fifth of the rounds go unseen");
        sink.push(issue.help("add `goodput drops <= 2pp` to regression, or `goodput >= 95%` to require").at(line.node.span.clone()));
    }
}

/// What `check`, `judge`, `audit` and `capacity` need: a rule that can fail. `None` where there is one.
#[must_use]
pub fn needs_rules(spec: &Spec) -> Option<Issue> {
    let decides = spec.slo.rules.iter().any(|rule| matches!(rule.kind, RuleKind::Require | RuleKind::Regression));
    if !decides {
        let message = "nothing here can fail: `slo` has neither a `require` nor a `regression` rule";
        return Some(Issue::error("nothing-can-fail", message).help("add require: [goodput >= 95%]"));
    }
    // A search for the headroom asks whether the SLO holds at higher loads, so there has to be something that holds.
    let asks = spec.slo.rules.iter().any(|rule| rule.metric == Metric::Headroom);
    let at_target = |label: &str| spec.load.levels.iter().any(|(known, factor)| known == label && same(*factor, 1.0));
    let holds = |rule: &Rule| rule.kind == RuleKind::Require && rule.metric != Metric::Headroom && at_target(&rule.level);
    (asks && !spec.slo.rules.iter().any(holds)).then(|| {
        let message = "headroom needs another `require` rule at 1x: what has to hold at each load";
        Issue::error("headroom-of-nothing", message).help("add one, as goodput >= 95%")
    })
}

/// What sending traffic needs: a URL and a load. Empty where both are there.
#[must_use]
pub fn needs_target(spec: &Spec) -> Vec<Issue> {
    let mut missing = Vec::new();
    if spec.target.url.is_none() {
        missing.push(Issue::error("no-target", "there is no `target.url` to send load to").help("write one, or give --endpoint URL"));
    }
    if spec.load.offered.is_none() {
        missing.push(
            Issue::error("no-load", "there is neither `load.concurrency` nor `load.rate`")
                .help("write one, or give --concurrency N or --rate N/s"),
        );
    }
    missing
}

/// Files that a spec names, as written, for `store` to read: lengths and prompts, each once.
#[must_use]
pub fn files(spec: &Spec) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for part in &spec.workload.parts {
        if let super::Lengths::File(path) = &part.lengths {
            files.push(path.clone());
        }
        if let super::Prompts::File(path) = &part.prompts {
            files.push(path.clone());
        }
    }
    files.sort();
    files.dedup();
    files
}
