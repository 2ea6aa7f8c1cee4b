//! Populations that rules are judged on, round by round.

use super::{Fact, Gaps, Level, Sample, Scope};
use crate::metric::{Better, Metric};

/// A share's parts in one round: `part` of `whole`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cell {
    /// The part: bad requests, errored requests, cached tokens.
    pub part: f64,
    /// The whole: requests, or input tokens.
    pub whole: f64,
}

/// What one round did in its time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rate {
    /// Requests or tokens.
    pub amount: f64,
    /// Seconds to the next round's first request.
    pub seconds: f64,
}

/// A per-request metric, round by round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples {
    /// Each round's values in ascending order. What counts as over any limit is `+inf`, or 0 for what is better high.
    pub rounds: Vec<Vec<f64>>,
    /// How many of all values were measured; the others count as over any limit.
    pub known: u64,
    /// How many of them are errored requests.
    pub errored: u64,
}

/// The gaps of one round, for rules on itl.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GapRound {
    /// The gaps of its answers.
    pub gaps: Gaps,
    /// Its errored requests, each one more gap over any limit.
    pub errored: u64,
    /// Its requests in the scope.
    pub requests: u64,
}

impl Samples {
    /// How many, over all rounds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// Whether there is nothing to judge by.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values in ascending order.
    #[must_use]
    pub fn pooled(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.rounds.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

impl Level {
    /// Values of a per-request or per-session metric in `scope`; a session belongs to the round in which it began.
    #[must_use]
    pub fn samples(&self, metric: Metric, scope: &Scope) -> Samples {
        let mut found = Samples { rounds: vec![Vec::new(); self.round_count()], ..Samples::default() };
        let worst = if metric.row().better == Better::Low { f64::INFINITY } else { 0.0 };
        let by_session = matches!(metric, Metric::SessionTtft | Metric::SessionE2e);
        for fact in self.facts.iter().filter(|fact| fact.is_in(scope) && (!by_session || fact.opens_session)) {
            let value = match fact.sample(metric) {
                Sample::Value(value) => {
                    found.known += 1;
                    value
                }
                Sample::Worst | Sample::Unknown => worst,
                Sample::Outside => continue,
            };
            found.errored += u64::from(!fact.ok);
            found.rounds[fact.round].push(value);
        }
        for round in &mut found.rounds {
            round.sort_by(f64::total_cmp);
        }
        found
    }

    /// Gaps in `scope`; `None` where the recording does not keep them for this scope.
    #[must_use]
    pub fn gaps(&self, scope: &Scope) -> Option<Vec<GapRound>> {
        let (_, gaps) = self.gaps.iter().find(|(kept, _)| kept == scope)?;
        let mut rounds: Vec<GapRound> = gaps.iter().map(|gaps| GapRound { gaps: gaps.clone(), ..GapRound::default() }).collect();
        for fact in self.facts.iter().filter(|fact| fact.is_in(scope)) {
            rounds[fact.round].requests += 1;
            rounds[fact.round].errored += u64::from(!fact.ok);
        }
        Some(rounds)
    }

    /// The cells of a ratio in `scope`. The part is what the metric's own limit speaks of: for goodput the requests that are NOT
    /// good, for errors the errored ones, for `cache_hit` cached tokens of input tokens. Empty for other metrics.
    #[must_use]
    pub fn cells(&self, metric: Metric, scope: &Scope) -> Vec<Cell> {
        let count: fn(&Fact) -> Option<(f64, f64)> = match metric {
            Metric::Goodput => |fact| Some((if fact.good { 0.0 } else { 1.0 }, 1.0)),
            Metric::Errors => |fact| Some((if fact.ok { 0.0 } else { 1.0 }, 1.0)),
            Metric::CacheHit => |fact| fact.cached.map(|(cached, input)| (cached as f64, input as f64)),
            _ => return Vec::new(),
        };
        let mut cells = vec![Cell::default(); self.round_count()];
        for fact in self.facts.iter().filter(|fact| fact.is_in(scope)) {
            if let Some((part, whole)) = count(fact) {
                cells[fact.round].part += part;
                cells[fact.round].whole += whole;
            }
        }
        cells
    }

    /// What each round did in its time, in `scope`. Empty for metrics that are no rates, and where a round's time is unknown.
    #[must_use]
    pub fn rates(&self, metric: Metric, scope: &Scope) -> Vec<Rate> {
        let amount: fn(&Fact) -> u64 = match metric {
            Metric::GoodputRps => |fact| u64::from(fact.good),
            Metric::GoodputTps => |fact| if fact.good { fact.tokens } else { 0 },
            Metric::ThroughputRps => |fact| u64::from(fact.ok),
            Metric::ThroughputTps => |fact| fact.tokens,
            _ => return Vec::new(),
        };
        let Some(seconds) = self.seconds.iter().copied().collect::<Option<Vec<f64>>>() else { return Vec::new() };
        let mut rates: Vec<Rate> = seconds.into_iter().map(|seconds| Rate { amount: 0.0, seconds }).collect();
        for fact in self.facts.iter().filter(|fact| fact.is_in(scope)) {
            rates[fact.round].amount += amount(fact) as f64;
        }
        rates
    }

    /// How many requests of each round lie in `scope`.
    #[must_use]
    pub fn requests(&self, scope: &Scope) -> Vec<u64> {
        let mut counts = vec![0; self.round_count()];
        for fact in self.facts.iter().filter(|fact| fact.is_in(scope)) {
            counts[fact.round] += 1;
        }
        counts
    }
}
