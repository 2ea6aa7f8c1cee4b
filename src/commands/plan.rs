//! `plan`: what a check would send, how long it takes, what it costs, and what it can decide at all. Sends nothing.

use super::baselines::{self, Stored};
use super::{BaselineOptions, Error, Exit, SpecOptions, measure, source};
use crate::compare;
use crate::console::Console;
use crate::plan::{self, Plan};
use crate::record::Conditions;
use crate::spec::{Rule, RuleKind, Spec};
use crate::summary::{self, Lens, Summary};
use crate::units::{Unit, show};
use crate::verdict::detect::{self, Detectable, POWER, Reach, RoundsOf};
use crate::verdict::power;
use std::fmt::Write as _;

/// What `plan` was asked for.
#[derive(Debug, Clone)]
pub struct Planning {
    /// Which spec.
    pub spec: SpecOptions,
    /// Which baseline.
    pub baseline: BaselineOptions,
    /// Price of a million input tokens.
    pub price_in: Option<f64>,
    /// Price of a million output tokens.
    pub price_out: Option<f64>,
    /// A regression that shall be found, as a fraction.
    pub detect: Option<f64>,
}

/// Prints the plan.
///
/// # Errors
/// Where the spec, its files or a named baseline cannot be used, and where stdout cannot be written.
pub fn plan(request: &Planning, console: &Console) -> Result<Exit, Error> {
    let source = source::load(&request.spec, console)?;
    let spec = source.spec();
    let plan = plan::build(spec, &source.inputs(&request.spec)?, 0)?;
    for warning in &plan.warnings {
        console.warn(&warning.to_string());
    }
    let stored = baselines::read(&spec.name, &request.baseline, console)?;
    let mut text = format!("{}: what a check sends\n", spec.name);
    load(&mut text, spec, &plan, &stored);
    cost(&mut text, request, spec, &plan, &stored);
    absolute(&mut text, spec, &plan);
    changes(&mut text, request, spec, &plan, stored)?;
    let harmless = text.lines().fold(String::new(), |all, line| all + &crate::report::visible(line) + "\n");
    console.result(&harmless).map_err(Error::Stdout)?;
    Ok(Exit::Pass)
}

fn load(text: &mut String, spec: &Spec, plan: &Plan, stored: &Stored) {
    for level in &plan.levels {
        let info = &level.info;
        let offered = match (info.concurrency, info.rate) {
            (Some(concurrency), _) => format!("concurrency {concurrency}"),
            (None, Some(rate)) => format!("{rate} requests/s"),
            (None, None) => "no load".to_owned(),
        };
        let requests = level.requests();
        let _ = writeln!(
            text,
            "  level {} at {offered}: {requests} requests, {} of them warm-up, {} rounds",
            info.label, info.warmup, info.rounds
        );
    }
    let (input, output) = plan.total_tokens();
    let _ = writeln!(text, "  in all: {} requests, {} tokens ({input} in, {output} out)", plan.total_requests(), input + output);
    let (time, from) = match (plan.estimated_time(), stored.time(plan)) {
        (Some(time), _) => (Some(time), "; the arrivals fix it"),
        (None, Some(time)) => (Some(time), "; at the pace of the newest stored run"),
        (None, None) => (None, "; unknown before a first run"),
    };
    let _ = writeln!(text, "  time: {}{from}", measure::minutes(time, spec.budget.time));
}

fn cost(text: &mut String, request: &Planning, spec: &Spec, plan: &Plan, stored: &Stored) {
    let (input, output) = plan.total_tokens();
    let million = |tokens: u64, price: Option<f64>| price.map_or(0.0, |price| tokens as f64 / 1e6 * price);
    if request.price_in.is_some() || request.price_out.is_some() {
        let cost = million(input, request.price_in) + million(output, request.price_out);
        let _ = writeln!(text, "  cost: {cost:.2} for tokens, in the currency of the prices given");
    }
    let hourly = spec.target.hardware.as_ref().and_then(|hardware| hardware.price_per_hour);
    if let Some((price, time)) = hourly.zip(plan.estimated_time().or_else(|| stored.time(plan))) {
        let _ = writeln!(text, "  cost: {:.2} for the hardware at {price} an hour", price * time.as_secs_f64() / 3600.0);
    }
}

/// Which rules against a number can pass at all.
fn absolute(text: &mut String, spec: &Spec, plan: &Plan) {
    let rules = spec.slo.rules.iter().filter(|rule| rule.kind == RuleKind::Require);
    let lines: Vec<String> = rules.filter_map(|rule| can_pass(spec, plan, rule)).collect();
    if !lines.is_empty() {
        let _ = writeln!(text, "what these requests can decide:\n{}", lines.join("\n"));
    }
    for line in measure::cannot_pass(spec, plan) {
        let _ = writeln!(text, "  {line}");
    }
}

fn can_pass(spec: &Spec, plan: &Plan, rule: &Rule) -> Option<String> {
    let held = measure::population(plan, rule)?;
    let needed = power::needed_n_eff(&spec.slo, rule, held.rounds)?;
    let at = if plan.levels.len() > 1 { format!(" at {}", rule.level) } else { String::new() };
    (held.requests as f64 >= needed)
        .then(|| format!("  `{}`{at}: can pass; it takes {needed:.0} independent requests and has {}", rule.text, held.requests))
}

/// The smallest regression that each rule finds, as far as stored runs tell.
fn changes(text: &mut String, request: &Planning, spec: &Spec, plan: &Plan, stored: Stored) -> Result<(), Error> {
    if !spec.slo.rules.iter().any(|rule| rule.kind == RuleKind::Regression) {
        return Ok(());
    }
    let runs = match stored.newest().map(|newest| as_if_now(newest, spec, plan)) {
        Some(conditions) => stored.choose(&conditions, &conditions.limits)?.runs,
        None => Vec::new(),
    };
    let lens = Lens::new(&spec.slo, &spec.buckets);
    let summaries: Vec<Summary> = runs.iter().map(|run| summary::of(run, &lens)).collect();
    let Some(newest) = summaries.last() else {
        let _ = writeln!(text, "what a regression must be to be found: unknown; no comparable run is stored (check SPEC --save-baseline)");
        return Ok(());
    };
    let comparison = compare::against(newest, &summaries, &spec.slo.rules);
    let rounds = |rule: &Rule| {
        let stored = summaries.iter().filter_map(|summary| summary.level(&rule.level)).map(|level| level.round_count()).min()?;
        let planned = plan.levels.iter().find(|level| level.info.label == rule.level)?.info.rounds;
        Some(RoundsOf { stored: u32::try_from(stored).unwrap_or(u32::MAX), planned })
    };
    let Some(found) = detect::detectable(&spec.slo, &comparison, rounds, request.detect) else { return Ok(()) };
    let _ =
        writeln!(text, "what a regression must be to be found in {:.0} % of checks, by {} stored runs:", POWER * 100.0, summaries.len());
    for rule in &found {
        let _ = writeln!(text, "  {}", spelt(rule, request.detect));
    }
    Ok(())
}

fn spelt(rule: &Detectable, wanted: Option<f64>) -> String {
    let head = format!("`{}`: {} or more", rule.rule, show(rule.smallest, rule.unit));
    let wanted = wanted.map_or_else(String::new, |wanted| show(wanted, Unit::Share));
    match rule.wanted {
        None => head,
        Some(Reach::Rounds(rounds)) => format!("{head}; {wanted} takes {rounds} rounds, in the stored runs too"),
        Some(Reach::Allowed) => format!("{head}; {wanted} is within what the rule allows"),
        Some(Reach::Never) => {
            format!(
                "{head}; {wanted} is beyond any number of rounds, since runs here differ by too much: `--against` a baseline side by side"
            )
        }
    }
}

/// Conditions that a run of the plan would have. What only the target could tell, its model, is taken from the newest stored run.
fn as_if_now(newest: &Conditions, spec: &Spec, plan: &Plan) -> Conditions {
    let mut conditions = newest.clone();
    conditions.run_id = String::new();
    if let Some(model) = &spec.target.model {
        conditions.target.model.clone_from(model);
    }
    conditions.workload = plan.workload_info();
    conditions.load = plan.load_info();
    conditions.seed = spec.load.seed;
    conditions
}
