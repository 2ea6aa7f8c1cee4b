//! `compare`: two stored runs side by side; nothing is sent.

use super::baselines::Chosen;
use super::decide::{Judged, judge as judge_run};
use super::{Error, Exit, Format, SpecOptions, judge, publish, source};
use crate::console::Console;
use crate::history;
use crate::record::Conditions;
use crate::spec::{self, Constraint, Permissions, Rule, RuleKind, Source, Spec};
use crate::store;
use crate::verdict::{Status, VerdictStatus};
use std::path::PathBuf;
use std::time::Duration;

/// The folder under `--out`, so that no check's verdict is replaced.
const FOLDER: &str = "compare";
/// A stored run may name any number of levels; these are enough to read.
const MOST_LEVELS: usize = 20;
/// What is compared unless a spec says: the usual figures, each with a limit that a reader would call a change.
const USUAL: &str = "name: compare\n\
    slo:\n\
    \x20 regression:\n\
    \x20   - ttft p50 rises <= 10%\n\
    \x20   - ttft p95 rises <= 10%\n\
    \x20   - tpot p50 rises <= 10%\n\
    \x20   - tpot p95 rises <= 10%\n\
    \x20   - itl p95 rises <= 10%\n\
    \x20   - e2e p95 rises <= 10%\n\
    \x20   - goodput drops <= 2pp\n\
    \x20   - errors rises <= 2pp\n\
    \x20   - throughput_tps drops <= 10%\n";

/// What `compare` was asked for.
#[derive(Debug, Clone)]
pub struct Compare {
    /// The run that is compared with.
    pub base: PathBuf,
    /// The run in question.
    pub candidate: PathBuf,
    /// Whose regression rules are judged; the usual figures without it.
    pub spec: Option<SpecOptions>,
    /// Exit 11 where a rule fails.
    pub fail: bool,
    /// Compare what is not comparable.
    pub force: bool,
    /// Where the files go.
    pub out: PathBuf,
    /// What goes to stdout.
    pub format: Format,
}

/// Compares two stored runs.
///
/// # Errors
/// Where a run or the spec cannot be used, and where the runs are not comparable and nobody forced it.
pub fn compare(request: &Compare, console: &Console) -> Result<Exit, Error> {
    let (base, candidate) = (judge::read(&request.base, console)?, judge::read(&request.candidate, console)?);
    let spec = match &request.spec {
        Some(options) => ruled(source::load(options, console)?.spec())?,
        None => usual(&candidate.conditions)?,
    };
    let apart = history::comparable(&base.conditions, &candidate.conditions);
    if !apart.is_empty() && !request.force {
        let lines: Vec<String> = apart.iter().map(|difference| format!("\n  {difference}")).collect();
        return Err(Error::Baseline {
            why: format!("the two runs are not comparable{}", lines.concat()),
            help: "compare runs of the same model, workload, load and seed, or go on with --force".to_owned(),
        });
    }
    if base.conditions.run_id == candidate.conditions.run_id {
        console.warn("both are the same run");
    }
    let differing = history::differing(&base.conditions, &candidate.conditions);
    let differences = differing.iter().filter(|difference| !apart.contains(difference)).map(ToString::to_string).collect();
    let forced = apart.iter().map(ToString::to_string).collect();
    let chosen = Chosen { forced, ..Chosen::beside(base, &candidate.conditions, differences) };
    let mut judged = judge_run(&spec, &candidate, chosen, None);
    let out = request.out.join(FOLDER);
    let _out = store::open_out(&out).map_err(Error::Out)?;
    let exit = if request.fail { failing(&judged) } else { Exit::Pass };
    judged.report.exit_code = exit.code();
    Ok(publish::publish(judged.report, &out, request.format, Vec::new(), console).0)
}

/// With `--fail`: a regression, else what may not be judged; what is undecided is no failure.
fn failing(judged: &Judged) -> Exit {
    let Some(verdict) = &judged.report.verdict else { return Exit::Invalid };
    if verdict.status == VerdictStatus::Invalid {
        Exit::Invalid
    } else if verdict.rules.iter().any(|rule| rule.kind == RuleKind::Regression && rule.status == Status::Fail) {
        Exit::Regression
    } else {
        Exit::Pass
    }
}

/// `spec` with nothing but its rules on changes.
fn ruled(spec: &Spec) -> Result<Spec, Error> {
    let mut spec = spec.clone();
    spec.slo.rules.retain(|rule| matches!(rule.test, spec::Test::Change { .. }));
    if spec.slo.rules.iter().any(|rule| rule.kind == RuleKind::Regression) {
        return Ok(spec);
    }
    Err(Error::usage("the spec has no `regression` rule, so nothing is compared", "add one, or leave --spec out for the usual figures"))
}

/// The usual figures at every level of the candidate, goodput by the constraints it was measured with.
fn usual(candidate: &Conditions) -> Result<Spec, Error> {
    let source = Source { name: "compare".to_owned(), text: USUAL.to_owned() };
    let mut spec = spec::parse(&source, &Permissions { sends_nothing: true, ..Permissions::default() })?.spec;
    spec.name.clone_from(&candidate.name);
    spec.slo.request = constraints(candidate);
    let rules = std::mem::take(&mut spec.slo.rules);
    let has_constraints = !spec.slo.request.is_empty();
    for level in candidate.load.levels.iter().take(MOST_LEVELS) {
        let known = rules.iter().filter(|rule| has_constraints || rule.metric != crate::metric::Metric::Goodput);
        spec.slo.rules.extend(known.map(|rule| at(rule, &level.label)));
    }
    if let Some(lag) = client_lag(candidate) {
        spec.client_lag = lag;
    }
    Ok(spec)
}

fn at(rule: &Rule, level: &str) -> Rule {
    let text = if level == "1x" { rule.text.clone() } else { format!("{} at {level}", rule.text) };
    Rule { text, level: level.to_owned(), ..rule.clone() }
}

/// Those lines of the run's `slo` that are constraints: the first ones, up to the first that is a rule or a setting.
fn constraints(conditions: &Conditions) -> Vec<Constraint> {
    conditions.limits.iter().map_while(|line| spec::parse_what_if(line).ok()).collect()
}

/// The client lag that the run was allowed, from the line that [`super::limits`] wrote.
fn client_lag(conditions: &Conditions) -> Option<Duration> {
    let line = conditions.limits.iter().find_map(|line| line.strip_prefix("client_lag <= "))?;
    let ms: f64 = line.strip_suffix("ms")?.parse().ok()?;
    Duration::try_from_secs_f64(ms / 1000.0).ok()
}
