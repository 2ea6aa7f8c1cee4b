//! What `check` and `run` share: from options to a recording.

use super::baselines::Stored;
use super::load::{self, Limits, Loaded, Loading};
use super::lookout::Lookout;
use super::source::{self, Loaded as Source};
use super::target::{Ready, Target};
use super::{Error, LoadOptions, SpecOptions, beside, publish};
use crate::console::Console;
use crate::plan::{self, Plan};
use crate::record::{Conditions, HardwareInfo, Side, TargetInfo, baseline_id};
use crate::spec::{ApiChoice, Confidence, OnInconclusive, Spec};
use crate::store::{self, RunFile};
use crate::verdict::power;
use crate::wire::Api;
use sha2::{Digest, Sha256};
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// The run file's name under `--out`.
pub(super) const RUN_FILE: &str = "run.jsonl.zst";
/// The version of the metric definitions; runs of different ones are not comparable.
const DEFINITIONS: u32 = 1;
/// A check longer than this asks first, on a terminal.
const LONG: Duration = Duration::from_secs(600);
/// A check of more tokens than this asks first, on a terminal.
const MANY_TOKENS: u64 = 5_000_000;

/// A spec that was read and planned; nothing was sent yet.
pub(super) struct Prepared {
    pub source: Source,
    plan: Plan,
    salt: u64,
    run_id: String,
    target: Target,
    /// The baseline's side, where there is one.
    other: Option<Other>,
    out: store::Out,
}

/// The baseline's side: the same spec with another target.
struct Other {
    spec: Spec,
    options: SpecOptions,
    load: LoadOptions,
    plan: Plan,
    salt: u64,
    target: Target,
}

/// Reads, checks and plans; fails before anything is sent.
pub(super) fn prepare((options, load): (&SpecOptions, &LoadOptions), needs_rules: bool, console: &Console) -> Result<Prepared, Error> {
    let source = source::load(options, console)?;
    if needs_rules {
        source.need(crate::spec::needs_rules(source.spec()))?;
    }
    source.need(crate::spec::needs_target(source.spec()))?;
    let inputs = source.inputs(options)?;
    let salt = new_salt();
    let in_turns = load.against.as_ref().is_some_and(|against| against.alternate);
    let build = if in_turns { plan::build_turns } else { plan::build };
    let plan = build(source.spec(), &inputs, salt)?;
    for warning in &plan.warnings {
        console.warn(&warning.to_string());
    }
    let out = store::open_out(&load.out).map_err(Error::Out)?;
    forget(&load.out, &publish::FILES)?;
    let target = Target::open(source.spec(), Side::Candidate)?;
    let other = match &load.against {
        Some(against) => {
            let (spec, options) = beside::side(&source, options, against)?;
            let salt = new_salt();
            let plan = build(&spec, &inputs, salt)?;
            let target = Target::open(&spec, Side::Baseline)?;
            Some(Other { spec, options, load: load.clone(), plan, salt, target })
        }
        None => None,
    };
    let withheld = other.as_ref().and_then(|other| other.target.withheld(&other.options, load));
    for why in target.withheld(options, load).into_iter().chain(withheld) {
        console.warn(why);
    }
    Ok(Prepared { source, plan, salt, run_id: run_id(salt), target, other, out })
}

/// A run's name: when it was made, and its salt, which no other run has.
pub(super) fn run_id(salt: u64) -> String {
    format!("{}-{:08x}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ"), salt >> 32)
}

/// Every run, and every side of it, has unique text of its own.
pub(super) fn new_salt() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

impl Prepared {
    /// The first line: what will be sent. On a terminal a long run is asked about.
    pub(super) fn announce(&self, load: &LoadOptions, stored: Option<&Stored>, console: &Console) -> Result<(), Error> {
        let sides = if self.other.is_some() { 2 } else { 1 };
        let (input, output) = self.plan.total_tokens();
        let (input, output) = (input * sides, output * sides);
        let in_turns = self.plan.levels.iter().any(plan::LevelPlan::takes_turns);
        let time = self.plan.estimated_time().map(|time| if in_turns { time * 2 } else { time });
        let time = time.or_else(|| stored.and_then(|stored| stored.time(&self.plan)));
        let minutes = minutes(time, self.source.spec().budget.time);
        console.note(&format!(
            "{}: {} requests, {} tokens ({input} in, {output} out), {minutes}",
            self.source.spec().name,
            self.plan.total_requests() * sides,
            input + output,
        ));
        if let Some(other) = &self.other {
            console.note(&beside::announcement(&other.target.label, &self.plan));
        }
        for rule in cannot_pass(self.source.spec(), &self.plan) {
            console.warn(&rule);
        }
        let long = time.is_some_and(|time| time > LONG) || input + output > MANY_TOKENS;
        if long && !load.yes && console.is_interactive() && !console.confirm("This is a long run. Send it?") {
            return Err(Error::usage("nothing was sent", "answer y, or give --yes"));
        }
        Ok(())
    }

    /// Finds the target, lets `before` look at the conditions while nothing but probes was sent, then sends the load, to its end or to
    /// the look that decides it.
    pub(super) fn measure(
        self,
        (options, load): (&SpecOptions, &LoadOptions),
        before: impl FnOnce(&Conditions, &Ready, Option<&Conditions>) -> Result<Option<Lookout>, Error>,
        console: &Console,
    ) -> Result<(Loaded, Source, store::Out), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
        let measured = runtime.block_on(async {
            let epoch = Instant::now();
            let spec = self.source.spec();
            let shown = self.plan.warnings.clone();
            let both = async {
                let other = match self.other {
                    Some(other) => Some(other.ready(epoch, console).await?),
                    None => None,
                };
                let ready = self.target.ready(spec, (options, load), (self.plan, self.salt), epoch, console).await?;
                Ok::<_, Error>((ready, other))
            };
            let (ready, other) = tokio::select! {
                both = both => both?,
                _ = tokio::signal::ctrl_c() => return Err(Error::Interrupted),
            };
            for warning in ready.plan.warnings.iter().filter(|warning| !shown.contains(warning)) {
                console.warn(&warning.to_string());
            }
            let other = other.map(|(other, ready, target, options)| {
                let conditions = conditions(&other, &ready, &target.label, (baseline_id(&self.run_id), &options));
                (Loading { ready, conditions, file: RunFile::at(&load.out, beside::FILE) }, target)
            });
            let conditions = conditions(spec, &ready, &self.target.label, (self.run_id, load));
            let lookout = before(&conditions, &ready, other.as_ref().map(|(other, _)| &other.conditions))?;
            forget(&load.out, &[RUN_FILE, beside::FILE])?;
            let limits = Limits {
                budget: spec.budget,
                price_per_hour: spec.target.hardware.as_ref().and_then(|hardware| hardware.price_per_hour),
                unusable_after: Some(2 * conditions.load.levels.first().and_then(|level| level.concurrency).unwrap_or(20)),
            };
            let file = RunFile::at(&load.out, RUN_FILE);
            // A simulated server of the other side must run until the load has ended.
            let (other, _running) = other.unzip();
            load::send(Loading { ready, conditions, file }, other, (limits, &spec.slo.request, lookout), epoch, console).await
        })?;
        Ok((measured, self.source, self.out))
    }
}

/// How long, as far as arrivals, a stored run or a budget tell.
pub(super) fn minutes(time: Option<Duration>, budget: Option<Duration>) -> String {
    let spelt = |time: Duration| format!("{:.1} minutes", time.as_secs_f64() / 60.0);
    match (time, budget) {
        (Some(time), Some(budget)) if time > budget => format!("at most {} (budget)", spelt(budget)),
        (Some(time), _) => format!("about {}", spelt(time)),
        (None, Some(budget)) => format!("as long as the target takes, at most {} (budget)", spelt(budget)),
        (None, None) => "as long as the target takes".to_owned(),
    }
}

impl Other {
    /// Its side ready to be loaded, with what it is described by.
    async fn ready(self, epoch: Instant, console: &Console) -> Result<(Spec, Ready, Target, LoadOptions), Error> {
        let options = (&self.options, &self.load);
        let ready = self.target.ready(&self.spec, options, (self.plan, self.salt), epoch, console).await?;
        Ok((self.spec, ready, self.target, self.load))
    }
}

/// What an earlier run left must not be taken for this one's, whatever becomes of it.
fn forget(out: &Path, names: &[&str]) -> Result<(), Error> {
    names.iter().try_for_each(|name| store::remove(out, name).map_err(Error::Out))
}

/// The rules that could not pass even if every request were good, each as a warning.
pub(super) fn cannot_pass(spec: &Spec, plan: &Plan) -> Vec<String> {
    power::cannot_pass(&spec.slo, |rule| population(plan, rule))
        .iter()
        .map(|rule| {
            format!(
                "`{}` cannot pass even if every request is good: it has {} requests in {} rounds and needs {} ({} rounds)",
                rule.rule, rule.requests, rule.rounds, rule.needed_requests, rule.needed_rounds
            )
        })
        .collect()
}

/// How much of a rule's population `plan` holds.
pub(super) fn population(plan: &Plan, rule: &crate::spec::Rule) -> Option<power::Planned> {
    let level = plan.levels.iter().position(|level| level.info.label == rule.level)?;
    let per_session = rule.metric.row().per == crate::metric::Per::Session;
    let in_scope = plan
        .requests(level)
        .filter(|planned| planned.round.is_some() && (planned.turn == 0 || !per_session) && covers(rule, planned))
        .count();
    Some(power::Planned { rounds: plan.levels[level].info.rounds, requests: in_scope as u64 })
}

fn covers(rule: &crate::spec::Rule, planned: &plan::Planned) -> bool {
    use crate::spec::Field;
    rule.when.clauses.iter().all(|(field, low, high)| {
        let value = match field {
            Field::InputTokens => planned.asked_input,
            Field::OutputTokens => planned.asked_output,
            Field::Turn => u64::from(planned.turn) + 1,
        };
        (*low..=*high).contains(&value)
    }) && (rule.part.is_none() || rule.part == planned.part)
}

pub(super) fn conditions(spec: &Spec, ready: &Ready, label: &str, (run_id, load): (String, &LoadOptions)) -> Conditions {
    let api = match spec.target.api {
        ApiChoice::Fixed(api) => api,
        ApiChoice::Auto => Api::Chat,
    };
    Conditions {
        run_id,
        tool: concat!("goodput-gate ", env!("CARGO_PKG_VERSION")).to_owned(),
        name: spec.name.clone(),
        spec_digest: spec.digest.clone(),
        limits: limits(spec),
        target: TargetInfo {
            label: label.to_owned(),
            api: api.name().to_owned(),
            model: ready.model.clone(),
            hardware: spec.target.hardware.as_ref().map(|hardware| HardwareInfo {
                name: hardware.name.clone(),
                bandwidth: hardware.bandwidth,
                price_per_hour: hardware.price_per_hour,
            }),
            server: None,
        },
        workload: ready.plan.workload_info(),
        load: ready.plan.load_info(),
        seed: spec.load.seed,
        started: jiff::Timestamp::now().to_string(),
        host_digest: host_digest(),
        commit: load.commit.clone(),
        pull_request: load.pull_request,
        definitions: DEFINITIONS,
        flags: load.flags.clone(),
        calibrated: ready.calibrated,
    }
}

/// Every line that decides, so that a report can list which of them changed since the baseline.
#[must_use]
pub fn limits(spec: &Spec) -> Vec<String> {
    let slo = &spec.slo;
    let mut lines: Vec<String> = slo.request.iter().map(|constraint| constraint.text.clone()).collect();
    lines.extend(slo.rules.iter().map(|rule| format!("{} {}", rule.kind.name(), rule.text)));
    lines.push(match slo.confidence {
        Confidence::Level(level) => format!("confidence >= {}%", level * 100.0),
        Confidence::Point => "confidence >= point".to_owned(),
    });
    lines.push(format!("rule_out <= {}x", slo.rule_out));
    if slo.on_inconclusive == OnInconclusive::Warn {
        lines.push("on_inconclusive: warn".to_owned());
    }
    lines.push(format!("client_lag <= {}ms", spec.client_lag.as_secs_f64() * 1000.0));
    lines
}

/// Which machine sent the load, without its name.
fn host_digest() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("COMPUTERNAME")).unwrap_or_default();
    Sha256::digest(name.trim().as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
