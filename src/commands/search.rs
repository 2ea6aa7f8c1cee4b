//! The loop of a capacity search: plan, run, summary, verdict, and what the search says next; no algorithm stands here.

use super::baselines::Chosen;
use super::decide::Judging;
use super::load::{self, Limits, Loading};
use super::lookout::Lookout;
use super::measure::{self, RUN_FILE};
use super::source::{self, Loaded as Source};
use super::target::{Ready, Target};
use super::{Error, LoadOptions, SpecOptions};
use crate::console::Console;
use crate::metric::Metric;
use crate::plan::{self, Inputs};
use crate::record::{Conditions, EndReason, Recording, Side};
use crate::search::{self, Axis, Findings, Held, Next, Point, Settings, Stop};
use crate::spec::{Budget, Offered, RuleKind, Spec};
use crate::store::{self, RunFile};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The label of the one level that a point has.
const LEVEL: &str = "1x";

/// A spec whose capacity can be searched for.
pub(super) struct Bench {
    pub source: Source,
    inputs: Inputs,
    /// The spec with the rules that must hold at every load, and one level.
    spec: Spec,
    target: Target,
}

/// What a search came to.
pub(super) struct Searched {
    pub findings: Findings,
    /// Each point with its run file, below `--out`.
    pub points: Vec<(Point, Option<String>)>,
    pub conditions: Option<Conditions>,
    /// Whether any request was answered, and whether each found a target that cannot be used.
    pub answered: bool,
    pub unusable: bool,
    /// Run files that could not be written.
    pub failures: Vec<Error>,
}

/// Reads and checks the spec, and finds the target; nothing is sent.
pub(super) fn open((options, load): (&SpecOptions, &LoadOptions), console: &Console) -> Result<Bench, Error> {
    let source = source::load(options, console)?;
    source.need(crate::spec::needs_rules(source.spec()))?;
    source.need(crate::spec::needs_target(source.spec()))?;
    let inputs = source.inputs(options)?;
    let spec = at_every_load(source.spec())?;
    // Planned once at the target load, so that what cannot be planned is told before anything is sent.
    for warning in &plan::build(&spec, &inputs, 0)?.warnings {
        console.warn(&warning.to_string());
    }
    let target = Target::open(&spec, Side::Candidate)?;
    if let Some(why) = target.withheld(options, load) {
        console.warn(why);
    }
    Ok(Bench { source, inputs, spec, target })
}

/// The spec with what must hold at every load: the `require` rules of the target level, headroom itself left out.
fn at_every_load(spec: &Spec) -> Result<Spec, Error> {
    let target = spec.load.levels.iter().find(|(_, factor)| (factor - 1.0).abs() < 1e-9).map(|(label, _)| label.clone());
    let mut spec = spec.clone();
    spec.slo.rules.retain(|rule| rule.kind == RuleKind::Require && rule.metric != Metric::Headroom && Some(&rule.level) == target.as_ref());
    if spec.slo.rules.is_empty() {
        return Err(Error::usage(
            "a search for the capacity needs a `require` rule at 1x: what has to hold at each load",
            "add require: [goodput >= 95%]; changes against a baseline and rules of other levels say nothing of other loads",
        ));
    }
    spec.slo.rules.iter_mut().for_each(|rule| LEVEL.clone_into(&mut rule.level));
    spec.load.levels = vec![(LEVEL.to_owned(), 1.0)];
    Ok(spec)
}

impl Bench {
    /// Which load is varied, and the target.
    pub(super) fn axis(&self) -> (Axis, f64) {
        match self.spec.load.offered {
            Some(Offered::Rate { per_second, .. }) => (Axis::Rate, per_second),
            Some(Offered::Concurrency(many)) => (Axis::Concurrency, many as f64),
            None => (Axis::Concurrency, 1.0),
        }
    }

    /// The rules that must hold, as written.
    pub(super) fn rules(&self) -> Vec<String> {
        self.spec.slo.rules.iter().map(|rule| rule.text.clone()).collect()
    }

    /// Requests and tokens of a point at `load`, as far as they can be known.
    pub(super) fn cost(&self, load: f64) -> Result<(u64, u64), Error> {
        let plan = plan::build(&self.at(load, 1), &self.inputs, 0)?;
        let (input, output) = plan.total_tokens();
        Ok((plan.total_requests(), input + output))
    }

    /// The spec at one load. Its numbers are those of the axis.
    #[expect(clippy::cast_possible_truncation, reason = "the search offers whole loads on this axis, and `as` saturates")]
    fn at(&self, load: f64, effort: u32) -> Spec {
        let mut spec = self.spec.clone();
        spec.load.offered = spec.load.offered.map(|offered| match offered {
            Offered::Rate { arrival, .. } => Offered::Rate { per_second: load, arrival },
            Offered::Concurrency(_) => Offered::Concurrency(load.round().max(1.0) as u64),
        });
        spec.load.rounds.min = spec.load.rounds.min.saturating_mul(effort);
        spec.load.rounds.max = spec.load.rounds.max.saturating_mul(effort);
        spec
    }

    /// Measures point after point below `out` until `settings` know enough.
    pub(super) fn search(
        &self,
        options: (&SpecOptions, &LoadOptions),
        settings: &Settings,
        out: &Path,
        console: &Console,
    ) -> Result<Searched, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
        runtime.block_on(async {
            let salt = measure::new_salt();
            let epoch = Instant::now();
            let (_, target) = self.axis();
            let plan = plan::build(&self.at(target, 1), &self.inputs, salt)?;
            let ready = tokio::select! {
                ready = self.target.ready(&self.spec, options, (plan, salt), epoch, console) => ready?,
                _ = tokio::signal::ctrl_c() => return Err(Error::Interrupted),
            };
            let bounds = self.bounds();
            let settings = Settings { bounds: search::Bounds { points: settings.bounds.points, ..bounds }, ..settings.clone() };
            let mut running = Running {
                bench: self,
                options,
                ready,
                salt,
                out,
                epoch,
                searched: Searched {
                    findings: search::findings(&settings, &[], Stop::Points),
                    points: Vec::new(),
                    conditions: None,
                    answered: false,
                    unusable: true,
                    failures: Vec::new(),
                },
            };
            let stop = running.go(&settings, console).await?;
            let mut searched = running.searched;
            let points: Vec<Point> = searched.points.iter().map(|(point, _)| point.clone()).collect();
            searched.findings = search::findings(&settings, &points, stop);
            Ok(searched)
        })
    }

    /// What the budget leaves to the whole search. Money is time at the target's price.
    fn bounds(&self) -> search::Bounds {
        let budget = &self.spec.budget;
        let paid = budget.cost.zip(self.price()).map(|(cost, price)| cost / price * 3600.0);
        let seconds = budget.time.map(|time| time.as_secs_f64()).into_iter().chain(paid).reduce(f64::min);
        search::Bounds { points: 0, tokens: budget.tokens, seconds }
    }

    fn price(&self) -> Option<f64> {
        self.spec.target.hardware.as_ref().and_then(|hardware| hardware.price_per_hour).filter(|price| *price > 0.0)
    }
}

/// A search under way.
struct Running<'a> {
    bench: &'a Bench,
    options: (&'a SpecOptions, &'a LoadOptions),
    ready: Ready,
    salt: u64,
    out: &'a Path,
    epoch: Instant,
    searched: Searched,
}

impl Running<'_> {
    async fn go(&mut self, settings: &Settings, console: &Console) -> Result<Stop, Error> {
        loop {
            let points: Vec<Point> = self.searched.points.iter().map(|(point, _)| point.clone()).collect();
            let (load, effort) = match search::next(settings, &points) {
                Next::Done(stop) => return Ok(stop),
                Next::Measure { load, effort } => (load, effort),
            };
            let reason = self.point(load, effort, console).await?;
            match reason {
                Some(EndReason::Interrupted) => return Ok(Stop::Interrupted),
                Some(EndReason::Unusable) => return Ok(Stop::Lost),
                Some(EndReason::Budget) => return Ok(Stop::Budget),
                Some(EndReason::Complete | EndReason::Decided) | None => {}
            }
        }
    }

    /// One point: planned, sent, judged, kept. Gives why its run ended.
    async fn point(&mut self, load: f64, effort: u32, console: &Console) -> Result<Option<EndReason>, Error> {
        let number = self.searched.points.len() + 1;
        let spec = self.bench.at(load, effort);
        let salt = self.salt.wrapping_add(number as u64);
        let plan = plan::build(&spec, &self.bench.inputs, salt)?.fit(&self.ready.fit)?;
        let label = spec.load.offered.map_or_else(String::new, spelt);
        let longer = if effort > 1 { format!(", {effort} times the rounds") } else { String::new() };
        console.note(&format!("point {number}: {label}{longer}, {} requests", plan.total_requests()));

        let epoch = Instant::now();
        let ready = Ready {
            client: self.ready.client.from_epoch(epoch),
            plan,
            model: self.ready.model.clone(),
            fit: self.ready.fit.clone(),
            ..self.ready
        };
        let run_id = format!("{}-{number:02}", measure::run_id(self.salt));
        let conditions = measure::conditions(&spec, &ready, &self.bench.target.label, (run_id, self.options.1));
        self.searched.conditions.get_or_insert_with(|| conditions.clone());
        let judging = Arc::new(Judging::new(&spec, Chosen::default(), ready.shared_tokens));
        let lookout = Lookout::over(Arc::clone(&judging));
        let name = format!("points/{number:02}");
        let folder = self.out.join(&name);
        let _held = store::open_out(&folder).map_err(Error::Out)?;
        store::remove(&folder, RUN_FILE).map_err(Error::Out)?;
        let limits =
            Limits { budget: self.left(), price_per_hour: None, unusable_after: Some(2 * conditions.load.concurrency.unwrap_or(20)) };
        let loading = Loading { ready, conditions, file: RunFile::at(&folder, RUN_FILE) };
        let loaded = load::send(loading, None, (limits, &spec.slo.request, lookout), epoch, console).await?;

        let (summary, verdict) = judging.verdict(&loaded.recording, None);
        let point = Point::of(load, effort, &loaded.recording, &summary, &verdict);
        console.note(&format!("point {number}: {label} {}", told(&point)));
        self.note(&loaded.recording);
        let file = loaded.failure.is_none().then(|| format!("{name}/{RUN_FILE}"));
        self.searched.failures.extend(loaded.failure.map(Error::Output));
        self.searched.points.push((point, file));
        Ok(loaded.recording.end.map(|end| end.reason))
    }

    fn note(&mut self, recording: &Recording) {
        self.searched.answered |= recording.requests.iter().any(|request| request.round.is_some() && request.is_ok());
        self.searched.unusable &= recording.requests.iter().all(load::is_unusable);
    }

    /// What is left of the budget for the next point.
    fn left(&self) -> Budget {
        let bounds = self.bench.bounds();
        let used: u64 = self.searched.points.iter().map(|(point, _)| point.tokens).sum();
        let seconds = bounds.seconds.map(|seconds| (seconds - self.epoch.elapsed().as_secs_f64()).max(0.0));
        Budget { time: seconds.map(Duration::from_secs_f64), tokens: bounds.tokens.map(|tokens| tokens.saturating_sub(used)), cost: None }
    }
}

fn spelt(offered: Offered) -> String {
    match offered {
        Offered::Concurrency(many) => format!("{many} in flight"),
        Offered::Rate { per_second, .. } => format!("{per_second:.3} requests/s"),
    }
}

fn told(point: &Point) -> String {
    match point.held {
        Held::Holds => "holds".to_owned(),
        held => format!("{}: {}", held.name(), point.why),
    }
}
