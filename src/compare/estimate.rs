//! The estimates of a regression rule, on this run and on the stored ones.

use super::blocks::{LEAST_BLOCKS, blocks, in_blocks};
use crate::metric::{Better, Metric, Per};
use crate::spec::{Rule, Test};
use crate::stats::{self, Change, Estimate};
use crate::summary::{Cell, GapRound, Gaps, Level, Rate, Subject, Summary};
use std::ops::Range;

/// How many requests a block of a scope must hold.
const BLOCK_REQUESTS: u64 = 20;
/// A percentile beyond this, on either side, needs [`TAIL_PER_BLOCK`] and [`TAIL_SAMPLES`].
const TAIL: f64 = 0.95;
const TAIL_PER_BLOCK: usize = 20;
const TAIL_SAMPLES: usize = 1000;
/// The run-to-run deviation expected before any is known, of log latencies and log rates.
const TAU_LOG: f64 = 0.03;
/// The same of shares.
const TAU_SHARE: f64 = 0.004;
/// The shortest time that has a logarithm here: 1 ns, in milliseconds.
const SHORTEST_MS: f64 = 1e-6;

/// A run beside the stored ones, or beside the one that shared its weather.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// One for each rule that was given, in their order; `None` for rules that ask for no change.
    pub rows: Vec<Option<Row>>,
    /// How many runs it is compared with.
    pub stored: usize,
    /// Whether the other run is the other side of this one, rounds in pairs (statistics E).
    pub paired: bool,
}

/// How the other runs relate to the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// Runs of other days: a run-to-run term.
    Stored,
    /// The other side of the same run: rounds are paired by index.
    Beside,
}

/// What can be said of one rule.
pub type Row = Result<Estimates, Obstacle>;

/// On what scale a change is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Differences of logarithms.
    Log,
    /// Differences of shares.
    Share,
}

/// The change of one rule's figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// Candidate minus the mean of the stored runs.
    pub change: Change,
    /// On which scale.
    pub scale: Scale,
    /// The candidate's own.
    pub candidate: Estimate,
    /// Those of the stored runs.
    pub stored: Vec<Estimate>,
    /// The mean of the stored runs' estimates, on `scale`.
    pub center: f64,
    /// The candidate's pooled value in the metric's unit; `None` where it is unbounded.
    pub observed: Option<f64>,
    /// The stored runs' pooled value in the metric's unit.
    pub baseline: Option<f64>,
    /// The candidate's samples.
    pub samples: u64,
    /// Its rounds, or blocks of rounds.
    pub blocks: usize,
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The level did not run here.
    NoLevel,
    /// There are no data in this run.
    NoData,
    /// The stored runs have none.
    NoBaselineData,
    /// The scope fills too few blocks.
    FewBlocks {
        /// How many it fills.
        blocks: usize,
    },
    /// Too few samples for a percentile that far out.
    ThinTail {
        /// Fewest samples in a block.
        per_block: usize,
        /// All samples.
        samples: usize,
    },
    /// Failed requests leave the stored runs' figure unbounded, so that nothing can be worse.
    BaselineUnbounded,
}

/// `candidate` beside `stored`, for each of `rules` that asks for a change. All are cut to the rounds they have in common.
#[must_use]
pub fn against(candidate: &Summary, stored: &[Summary], rules: &[Rule]) -> Comparison {
    Comparison { rows: rows(candidate, stored, rules, Relation::Stored), stored: stored.len(), paired: false }
}

/// `candidate` beside the `baseline` that was loaded at the same time, for each of `rules` that asks for a change: rounds are paired
/// by index and their differences estimated, without a run-to-run term (statistics E). Both are cut to the rounds they have in common.
#[must_use]
pub fn beside(candidate: &Summary, baseline: &Summary, rules: &[Rule]) -> Comparison {
    Comparison { rows: rows(candidate, std::slice::from_ref(baseline), rules, Relation::Beside), stored: 1, paired: true }
}

fn rows(candidate: &Summary, others: &[Summary], rules: &[Rule], relation: Relation) -> Vec<Option<Row>> {
    let one = |rule: &Rule| match rule.test {
        Test::Change { .. } => Some(row(candidate, others, &Subject::of(rule), relation)),
        Test::Absolute { .. } => None,
    };
    rules.iter().map(one).collect()
}

fn row(candidate: &Summary, stored: &[Summary], subject: &Subject, relation: Relation) -> Row {
    // The stored runs first: whether a rule has a baseline must not hang on whether its level was reached.
    let others: Vec<&Level> = stored.iter().filter_map(|summary| summary.level(&subject.level)).collect();
    if others.is_empty() {
        return Err(Obstacle::NoBaselineData);
    }
    let own = candidate.level(&subject.level).ok_or(Obstacle::NoLevel)?;
    let rounds = others.iter().map(|level| level.round_count()).chain([own.round_count()]).min().unwrap_or(0);
    let own = own.first_rounds(rounds);
    let others: Vec<Level> = others.iter().map(|level| level.first_rounds(rounds)).collect();
    match subject.metric.row().per {
        Per::Request | Per::Session => latency(&own, &others, subject, relation),
        Per::Gap => gaps(&own, &others, subject, relation),
        Per::Rate => rates(&own, &others, subject, relation),
        Per::Ratio => ratio(&own, &others, subject, relation),
        Per::Search => Err(Obstacle::NoData),
    }
}

/// How many a block must hold: enough for a scope, and at least something where every request counts.
fn least(subject: &Subject) -> u64 {
    if subject.scope.is_everything() { 1 } else { BLOCK_REQUESTS }
}

/// Blocks that every side can fill, if they are enough. Rounds that are too few altogether are for the validity checks to name.
fn common_blocks(counts: &[Vec<u64>], subject: &Subject) -> Result<Vec<Range<usize>>, Obstacle> {
    let total = |side: &Vec<u64>| side.iter().sum::<u64>();
    if counts.first().is_none_or(|own| total(own) == 0) {
        return Err(Obstacle::NoData);
    }
    if counts[1..].iter().any(|side| total(side) == 0) {
        return Err(Obstacle::NoBaselineData);
    }
    let found = blocks(counts, least(subject));
    if found.is_empty() || (!subject.scope.is_everything() && found.len() < LEAST_BLOCKS) {
        return Err(Obstacle::FewBlocks { blocks: found.len() });
    }
    Ok(found)
}

fn tail(q: f64, sizes: &[usize]) -> Result<(), Obstacle> {
    let (per_block, samples) = (sizes.iter().min().copied().unwrap_or(0), sizes.iter().sum());
    let is_far = q.max(1.0 - q) > TAIL + 1e-9;
    if is_far && (per_block < TAIL_PER_BLOCK || samples < TAIL_SAMPLES) {
        return Err(Obstacle::ThinTail { per_block, samples });
    }
    Ok(())
}

fn latency(own: &Level, others: &[Level], subject: &Subject, relation: Relation) -> Row {
    let q = subject.stat.map_or(0.5, |stat| stat.fraction());
    let all: Vec<_> = std::iter::once(own).chain(others).map(|level| level.samples(subject.metric, &subject.scope)).collect();
    if all[0].known == 0 && all[0].errored < all[0].len() as u64 {
        return Err(Obstacle::NoData);
    }
    let counts: Vec<Vec<u64>> = all.iter().map(|side| side.rounds.iter().map(|round| round.len() as u64).collect()).collect();
    let blocks = common_blocks(&counts, subject)?;
    let merged = |side: usize| {
        in_blocks(&all[side].rounds, &blocks, |rounds| {
            let mut values: Vec<f64> = rounds.iter().flatten().copied().collect();
            values.sort_by(f64::total_cmp);
            values
        })
    };
    tail(q, &merged(0).iter().map(Vec::len).collect::<Vec<_>>())?;
    let series: Vec<Vec<f64>> =
        (0..all.len()).map(|side| merged(side).iter().map(|values| log_of(stats::quantile(values, q), subject.metric)).collect()).collect();
    let pooled_others = {
        let mut values: Vec<f64> = all[1..].iter().flat_map(|side| side.rounds.iter().flatten().copied()).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let pooled = (stats::quantile(&all[0].pooled(), q), stats::quantile(&pooled_others, q));
    by_series(&series, pooled, (all[0].len() as u64, blocks.len()), relation)
}

fn gaps(own: &Level, others: &[Level], subject: &Subject, relation: Relation) -> Row {
    let q = subject.stat.map_or(0.5, |stat| stat.fraction());
    let own = own.gaps(&subject.scope).ok_or(Obstacle::NoData)?;
    let others: Vec<Vec<GapRound>> =
        others.iter().map(|level| level.gaps(&subject.scope)).collect::<Option<_>>().ok_or(Obstacle::NoBaselineData)?;
    let all: Vec<Vec<GapRound>> = std::iter::once(own).chain(others).collect();
    let size = |round: &GapRound| round.gaps.count() + round.errored;
    // A block must hold requests for a scope, and gaps in any case.
    let weight = |round: &GapRound| if size(round) == 0 { 0 } else { round.requests.max(1) };
    let counts: Vec<Vec<u64>> = all.iter().map(|side| side.iter().map(weight).collect()).collect();
    let blocks = common_blocks(&counts, subject)?;
    let sizes = in_blocks(&all[0], &blocks, |rounds| usize::try_from(rounds.iter().map(size).sum::<u64>()).unwrap_or(usize::MAX));
    tail(q, &sizes)?;
    let at = |rounds: &[GapRound]| {
        let failed = rounds.iter().map(|round| round.errored).sum();
        Gaps::pool(rounds.iter().map(|round| &round.gaps)).quantile(q, failed)
    };
    let series: Vec<Vec<f64>> = all.iter().map(|side| in_blocks(side, &blocks, |rounds| log_of(at(rounds), subject.metric))).collect();
    let pooled = (at(&all[0]), at(&all[1..].concat()));
    by_series(&series, pooled, (all[0].iter().map(size).sum(), blocks.len()), relation)
}

fn rates(own: &Level, others: &[Level], subject: &Subject, relation: Relation) -> Row {
    let all: Vec<Vec<Rate>> = std::iter::once(own).chain(others).map(|level| level.rates(subject.metric, &subject.scope)).collect();
    let counts: Vec<Vec<u64>> = std::iter::once(own).chain(others).map(|level| level.requests(&subject.scope)).collect();
    if all[0].is_empty() {
        return Err(Obstacle::NoData);
    }
    if all[1..].iter().any(Vec::is_empty) {
        return Err(Obstacle::NoBaselineData);
    }
    let blocks = common_blocks(&counts, subject)?;
    let series: Vec<Vec<f64>> = all.iter().map(|side| in_blocks(side, &blocks, |rounds| pooled_rate(rounds).ln())).collect();
    let pooled = (Some(pooled_rate(&all[0])), Some(pooled_rate(&all[1..].concat())));
    by_series(&series, pooled, (counts[0].iter().sum(), blocks.len()), relation)
}

fn pooled_rate(rounds: &[Rate]) -> f64 {
    rounds.iter().map(|round| round.amount).sum::<f64>() / rounds.iter().map(|round| round.seconds).sum::<f64>()
}

/// The estimate of a rate's logarithm over rounds, or blocks of a scope (statistics B), for a floor on it, and how many blocks there
/// are.
///
/// # Errors
/// An [`Obstacle`] where there are no rates, or too few blocks.
pub fn rate_estimate(level: &Level, subject: &Subject) -> Result<(Estimate, usize), Obstacle> {
    let rates = level.rates(subject.metric, &subject.scope);
    if rates.is_empty() {
        return Err(Obstacle::NoData);
    }
    let blocks = common_blocks(&[level.requests(&subject.scope)], subject)?;
    let y: Vec<f64> = in_blocks(&rates, &blocks, |rounds| pooled_rate(rounds).ln());
    let estimate = centre(&y).ok_or(Obstacle::NoData)?;
    Ok((estimate, blocks.len()))
}

/// B on each side's rounds, then C; or B on the differences of paired rounds.
fn by_series(series: &[Vec<f64>], pooled: (Option<f64>, Option<f64>), size: (u64, usize), relation: Relation) -> Row {
    let own = centre(&series[0]).ok_or(Obstacle::NoData)?;
    let stored: Vec<Estimate> = series[1..].iter().map(|y| centre(y)).collect::<Option<_>>().ok_or(Obstacle::NoBaselineData)?;
    bounded(&stored)?;
    let change = match (relation, series) {
        (Relation::Beside, [own, other]) => paired(own, other),
        _ => stats::against_history(&own, &stored, TAU_LOG),
    };
    finish(change, (own, stored), Scale::Log, pooled, size)
}

/// The change of paired rounds. One pair alone has no variance; it serves bare estimates.
fn paired(own: &[f64], other: &[f64]) -> Option<Change> {
    let differences: Vec<f64> = own.iter().zip(other).map(|(own, other)| own - other).collect();
    match differences.as_slice() {
        [only] if !only.is_nan() => Some(Change { difference: *only, se: 0.0, df: 2.0, tau: 0.0 }),
        differences => stats::paired(differences),
    }
}

fn bounded(stored: &[Estimate]) -> Result<(), Obstacle> {
    if stored.iter().any(|estimate| estimate.theta.is_infinite()) { Err(Obstacle::BaselineUnbounded) } else { Ok(()) }
}

fn ratio(own: &Level, others: &[Level], subject: &Subject, relation: Relation) -> Row {
    let cells: Vec<Vec<Cell>> = std::iter::once(own).chain(others).map(|level| cells(level, subject)).collect();
    let counts: Vec<Vec<u64>> = std::iter::once(own).chain(others).map(|level| level.requests(&subject.scope)).collect();
    let empty = |side: &Vec<Cell>| side.iter().all(|cell| cell.whole <= 0.0);
    if empty(&cells[0]) {
        return Err(Obstacle::NoData);
    }
    if cells[1..].iter().any(empty) {
        return Err(Obstacle::NoBaselineData);
    }
    let blocks = common_blocks(&counts, subject)?;
    let merged: Vec<Vec<(f64, f64)>> = cells.iter().map(|side| in_blocks(side, &blocks, sum)).collect();
    let runs = merged.len() - 1;
    let (own, stored) = if subject.metric == Metric::CacheHit {
        let of = |side: &Vec<(f64, f64)>| {
            let df = ((runs as f64 + 1.0) * (side.len() as f64 - 1.0) / 2.0).max(2.0);
            stats::ratio_cells(side).map(|(theta, variance)| Estimate { theta, variance, df })
        };
        (of(&merged[0]), merged[1..].iter().map(of).collect::<Option<Vec<_>>>())
    } else {
        let own = stats::proportion(&merged[0], None).map(|share| share.as_candidate(runs));
        (own, merged[1..].iter().map(|side| stats::proportion(side, None).map(|share| share.as_stored())).collect::<Option<Vec<_>>>())
    };
    let share = |side: &[Cell]| Some(sum(side)).filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| part / whole);
    let pooled = (share(&cells[0]), share(&cells[1..].concat()));
    let (own, stored) = (own.ok_or(Obstacle::NoData)?, stored.ok_or(Obstacle::NoBaselineData)?);
    let change = match (relation, merged.as_slice()) {
        (Relation::Beside, [own, other]) => stats::paired_shares(other, own),
        _ => stats::against_history(&own, &stored, TAU_SHARE),
    };
    finish(change, (own, stored), Scale::Share, pooled, (counts[0].iter().sum(), blocks.len()))
}

/// The cells of a ratio in its own direction: goodput counts the good ones here.
fn cells(level: &Level, subject: &Subject) -> Vec<Cell> {
    let mut cells = level.cells(subject.metric, &subject.scope);
    if subject.metric == Metric::Goodput {
        for cell in &mut cells {
            cell.part = cell.whole - cell.part;
        }
    }
    cells
}

fn sum(cells: &[Cell]) -> (f64, f64) {
    (cells.iter().map(|cell| cell.part).sum(), cells.iter().map(|cell| cell.whole).sum())
}

fn finish(
    change: Option<Change>,
    (candidate, stored): (Estimate, Vec<Estimate>),
    scale: Scale,
    pooled: (Option<f64>, Option<f64>),
    (samples, blocks): (u64, usize),
) -> Row {
    let change = change.ok_or(Obstacle::NoData)?;
    let center = stored.iter().map(|estimate| estimate.theta).sum::<f64>() / stored.len() as f64;
    let bounded = |value: Option<f64>| value.filter(|value| value.is_finite());
    let (observed, baseline) = (bounded(pooled.0), bounded(pooled.1));
    Ok(Estimates { change, scale, candidate, stored, center, observed, baseline, samples, blocks })
}

/// A latency of nothing is the shortest there is; a speed of nothing is a failed request's, and stays unbounded.
fn log_of(value: Option<f64>, metric: Metric) -> f64 {
    match (value, metric.row().better) {
        (None, _) => f64::NAN,
        (Some(value), Better::Low) => value.max(SHORTEST_MS).ln(),
        (Some(value), Better::High) => value.ln(),
    }
}

/// The centre of a series by statistics B. One block alone has no variance; it serves bare estimates, for intervals need more.
fn centre(y: &[f64]) -> Option<Estimate> {
    match y {
        [only] if !only.is_nan() => Some(Estimate { theta: *only, variance: 0.0, df: 2.0 }),
        _ => stats::trimmed(y).map(Estimate::from),
    }
}
