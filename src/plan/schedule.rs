//! The plan and what it answers.

use super::bundled::Percentiles;
use super::digest::digest;
use super::error::PlanError;
use super::fit::Fit;
use super::lengths::Pairs;
use super::level::{LevelPlan, Pace};
use super::prompts::Content;
use super::random::Random;
use super::request::{Planned, Prompt};
use super::walker::{Stretch, Walker};
use super::warning::PlanWarning;
use super::words::Words;
use crate::record::{LoadInfo, WorkloadInfo};
use crate::spec::{Arrival, ExactOutput, Offered};
use crate::units::Nanos;
use std::time::Duration;

/// What will be sent and when. Requests are made as they are asked for, so that a plan of millions stays small.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The levels in the order they run.
    pub levels: Vec<LevelPlan>,
    /// What a reader should know before trusting what it measures.
    pub warnings: Vec<PlanWarning>,
    pub(super) seed: u64,
    pub(super) salt: u64,
    pub(super) offered: Option<Offered>,
    pub(super) parts: Vec<PartPlan>,
    pub(super) words: Words,
    pub(super) fit: Fit,
    /// Where rows are sent: for each level and stretch, how many requests of each part came before it.
    pub(super) first_rows: Vec<[Vec<u64>; 2]>,
}

/// One part of the workload, ready to be drawn from.
#[derive(Debug, Clone)]
pub(super) struct PartPlan {
    pub(super) name: Option<String>,
    pub(super) share: f64,
    pub(super) label: String,
    /// Never empty.
    pub(super) pairs: Pairs,
    pub(super) dropped: u64,
    pub(super) content: Content,
    pub(super) exact_output: ExactOutput,
    pub(super) shared_prefix: u64,
}

impl PartPlan {
    /// Its share of 2^64.
    #[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
    pub(super) fn threshold_share(&self) -> u64 {
        (self.share.clamp(0.0, 1.0) * u64::MAX as f64) as u64
    }

    fn is_rows(&self) -> bool {
        matches!(self.content, Content::Rows { .. })
    }
}

impl Plan {
    /// The requests of a level in the order they leave: the warm-up (`round: None`), then round by round. Always the same.
    /// Nothing where there is no such level.
    pub fn requests(&self, level: usize) -> impl Iterator<Item = Planned> + '_ {
        self.levels.get(level).into_iter().flat_map(move |planned| self.warm_up(level, planned).chain(self.rounds(level, planned)))
    }

    fn warm_up<'a>(&'a self, level: usize, planned: &'a LevelPlan) -> impl Iterator<Item = Planned> + 'a {
        let mut walker = Walker::new(self, level, Stretch::WarmUp);
        (0..planned.info.warmup).map(move |index| {
            let id = planned.first_id + index;
            walker.next(id, None, planned.pace.due(index))
        })
    }

    fn rounds<'a>(&'a self, level: usize, planned: &'a LevelPlan) -> impl Iterator<Item = Planned> + 'a {
        let mut walker = Walker::new(self, level, Stretch::Rounds);
        let rounds = (0_u32..).zip(&planned.info.round_requests);
        let lead = planned.info.lead as usize;
        let rounds = rounds
            .flat_map(move |(round, requests)| std::iter::repeat_n(None, lead).chain(std::iter::repeat_n(Some(round), *requests as usize)));
        (planned.info.warmup..).zip(rounds).map(move |(place, round)| {
            let id = planned.first_id + place;
            walker.next(id, round, planned.pace.due(place))
        })
    }

    /// The requests of one round, planned or beyond: a closed loop takes more rounds until `min_time` has passed. Rounds beyond the
    /// planned ones are as long as the last, and their ids go on from its. Empty where there is no such level, or where an open
    /// loop would last over 30 days or have over 5 million requests.
    #[must_use]
    pub fn round_requests(&self, level: usize, round: u32) -> Vec<Planned> {
        let Some(planned) = self.levels.get(level) else {
            return Vec::new();
        };
        let sizes = &planned.info.round_requests;
        let lead = u64::from(planned.info.lead);
        let mut first: u64 = sizes.iter().take(round as usize).map(|requests| u64::from(*requests) + lead).sum();
        let mut size = u64::from(sizes.get(round as usize).or(sizes.last()).copied().unwrap_or(0)) + lead;
        let mut later_due = None;
        if round as usize >= sizes.len() {
            if let Some(open) = &planned.open {
                let Ok(due) = open.due(round.saturating_add(1), Duration::ZERO) else {
                    return Vec::new();
                };
                first = due.rounds.iter().take(round as usize).map(|requests| u64::from(*requests)).sum();
                size = u64::from(due.rounds.get(round as usize).copied().unwrap_or(0));
                later_due = Some(due.at);
            } else {
                first += size * (u64::from(round) - sizes.len() as u64);
            }
        }
        let mut walker = Walker::new(self, level, Stretch::Rounds);
        walker.skip(first);
        (first..first + size)
            .map(|index| {
                let place = planned.info.warmup + index;
                let due = later_due.as_deref().map_or_else(|| planned.pace.due(place), |due| at(due, place));
                let counted = (index - first >= lead).then_some(round);
                walker.next(planned.first_id + place, counted, due)
            })
            .collect()
    }

    /// The requests of one round as a block of its own: those that begin it and are not counted (`round: None`), then the round's. In
    /// an open loop they are due from the block's start.
    #[must_use]
    pub fn block(&self, level: usize, round: u32) -> Vec<Planned> {
        let mut requests = self.round_requests(level, round);
        let start = requests.first().and_then(|request| request.due).unwrap_or_default();
        for request in &mut requests {
            request.due = request.due.map(|due| due.since(start));
        }
        requests
    }

    /// What a planned request says: exactly as many words as make its input length, at least one, and the unique ones first; or the
    /// row of the file that is its turn.
    #[must_use]
    pub fn prompt(&self, planned: &Planned) -> Prompt {
        let number = self.parts.iter().position(|part| part.name == planned.part).unwrap_or(0);
        let part = &self.parts[number];
        let stretch = if planned.round.is_some() { Stretch::Rounds } else { Stretch::WarmUp };
        if let Content::Rows { rows, .. } = &part.content {
            let before = self.first_rows.get(planned.level).and_then(|level| level[stretch as usize].get(number));
            let place = (before.copied().unwrap_or(0) + planned.draw) % rows.len() as u64;
            return rows[usize::try_from(place).unwrap_or(0)].clone();
        }
        let words = self.fit.words(planned.asked_input);
        let shared = self.fit.words(part.shared_prefix.saturating_add(self.fit.c0)).min(words - 1);
        let shared = if part.shared_prefix == 0 { 0 } else { shared };
        let mut group = Random::stream(self.seed, "shared", &[number as u64, 0]);
        let mut unique = Random::stream(self.salt, "unique", &[planned.level as u64, stretch as u64, planned.index]);
        Prompt::Text(self.words.text(words, shared, &mut group, &mut unique))
    }

    /// Whether exactly `asked_output` tokens are to be asked for.
    #[must_use]
    pub fn exact_output(&self, planned: &Planned) -> ExactOutput {
        self.parts.iter().find(|part| part.name == planned.part).map_or(ExactOutput::Auto, |part| part.exact_output)
    }

    /// All planned requests, warm-up included.
    #[must_use]
    pub fn total_requests(&self) -> u64 {
        self.levels.iter().map(LevelPlan::requests).sum()
    }

    /// Input and output tokens of all planned requests, warm-up included. The input of prompts from a file is guessed, at four
    /// bytes a token.
    #[must_use]
    pub fn total_tokens(&self) -> (u64, u64) {
        let guess = |planned: &Planned| {
            self.parts.iter().find(|part| part.name == planned.part).map_or(0, |part| match part.content {
                Content::Rows { mean_tokens, .. } => mean_tokens,
                Content::Words => 0,
            })
        };
        (0..self.levels.len()).flat_map(|level| self.requests(level)).fold((0, 0), |(input, output), planned| {
            let asked = if planned.asked_input == 0 { guess(&planned) } else { planned.asked_input };
            (input + asked, output + planned.asked_output)
        })
    }

    /// How long the arrivals of all levels take; `None` in a closed loop, whose pace is the server's.
    #[must_use]
    pub fn estimated_time(&self) -> Option<Duration> {
        self.levels.iter().map(|level| level.end.map(Duration::from)).sum()
    }

    /// What the run file keeps of the workload.
    #[must_use]
    pub fn workload_info(&self) -> WorkloadInfo {
        let of = |length: fn(&(u64, u64)) -> u64| {
            let weighted = self.parts.iter().flat_map(|part| {
                let weight = part.share / part.pairs.len() as f64;
                part.pairs.iter().map(move |pair| (length(pair), weight))
            });
            let found = Percentiles::of(weighted);
            (found.p50, found.p95)
        };
        let labels: Vec<_> = self.parts.iter().map(|part| part.label.as_str()).collect();
        WorkloadInfo {
            label: labels.join("; "),
            digest: self.digest(),
            dropped: self.parts.iter().map(|part| part.dropped).sum(),
            input_p50_p95: (!self.parts.iter().any(PartPlan::is_rows)).then(|| of(|pair| pair.0)),
            output_p50_p95: Some(of(|pair| pair.1)),
            prefix_hit: 0.0,
        }
    }

    /// What the run file keeps of the load.
    #[must_use]
    pub fn load_info(&self) -> LoadInfo {
        let (concurrency, rate, arrival) = match self.offered {
            Some(Offered::Rate { per_second, arrival }) => (None, Some(per_second), arrival_word(arrival)),
            Some(Offered::Concurrency(concurrency)) => (Some(concurrency), None, "closed".to_owned()),
            None => (None, None, "closed".to_owned()),
        };
        LoadInfo { concurrency, rate, arrival, levels: self.levels.iter().map(|level| level.info.clone()).collect() }
    }

    /// SHA-256 in hex over lengths, arrivals and shared text: not over salts, nor over what is compared by itself (rate, levels,
    /// number of rounds). Changes where [`Plan::fit`] drops pairs.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(self)
    }

    /// The plan after the start-up probes: prompts as long as the server counts, without words that it splits, and without pairs over
    /// its context, which are dropped (never clamped) and counted. Due times and the numbers of requests stay.
    ///
    /// # Errors
    /// [`PlanError::AllDropped`] where no pair of a part fits the context.
    pub fn fit(mut self, fit: &Fit) -> Result<Self, PlanError> {
        let least = fit.least();
        for part in self.parts.iter_mut().filter(|part| !part.is_rows()) {
            if let Some(context) = fit.context {
                let of = part.pairs.len() as u64;
                part.pairs.retain(|(input, output)| (*input).max(least).saturating_add(*output) <= context);
                let dropped = of - part.pairs.len() as u64;
                part.dropped += dropped;
                if part.pairs.is_empty() {
                    return Err(PlanError::AllDropped { part: part.name.clone(), dropped });
                }
                if dropped > 0 {
                    self.warnings.push(PlanWarning::OverContext { part: part.name.clone(), dropped, of, context });
                }
            }
            let below = part.pairs.iter().filter(|pair| pair.0 < least).count() as u64;
            if below > 0 {
                self.warnings.push(PlanWarning::BelowTemplate { part: part.name.clone(), pairs: below, least });
            }
        }
        if let Some(slope) = fit.approximate {
            self.warnings.push(PlanWarning::ApproximateLengths { slope });
        }
        self.words = Words::without(&fit.bad_words);
        self.fit = fit.clone();
        Ok(self)
    }

    /// Lets the rows of files go on from stretch to stretch, and warns where they are used up.
    pub(super) fn place_rows(&mut self) {
        if !self.parts.iter().any(PartPlan::is_rows) {
            return;
        }
        let mut used = vec![0_u64; self.parts.len()];
        let mut first_rows = Vec::new();
        for (level, planned) in self.levels.iter().enumerate() {
            let mut before: [Vec<u64>; 2] = Default::default();
            for (stretch, requests) in [(Stretch::WarmUp, planned.info.warmup), (Stretch::Rounds, planned.in_rounds())] {
                before[stretch as usize].clone_from(&used);
                let mut walker = Walker::new(self, level, stretch);
                walker.skip(requests);
                used.iter_mut().zip(&walker.draws).for_each(|(used, draws)| *used += draws);
            }
            first_rows.push(before);
        }
        self.first_rows = first_rows;
        for (part, requests) in self.parts.iter().zip(used) {
            if let Content::Rows { path, rows, .. } = &part.content {
                let rows = rows.len() as u64;
                if requests > rows {
                    self.warnings.push(PlanWarning::RepeatedPrompts { path: path.clone(), rows, requests });
                }
            }
        }
    }
}

impl Pace {
    fn due(&self, place: u64) -> Option<Nanos> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { due } => at(due, place),
        }
    }
}

fn at(due: &[Nanos], place: u64) -> Option<Nanos> {
    usize::try_from(place).ok().and_then(|place| due.get(place)).copied()
}

fn arrival_word(arrival: Arrival) -> String {
    match arrival {
        Arrival::Poisson => "poisson".to_owned(),
        Arrival::Constant => "constant".to_owned(),
        Arrival::Gamma { shape } => format!("gamma(shape={shape})"),
        Arrival::Trace => "trace".to_owned(),
    }
}
