//! Made recordings for tests: seeded, with the truth known.

use crate::metric::Metric;
use crate::record::{
    ClientSample, Conditions, End, EndReason, LevelEnd, LevelInfo, LoadInfo, Recording, Request, RoundEnd, Side, TargetInfo, WorkloadInfo,
};
use crate::spec::{Buckets, Cmp, Condition, Confidence, Constraint, Limit, OnInconclusive, Rule, RuleKind, Slo, Test};
use crate::units::{Nanos, Quantile};
use crate::wire::{ErrorKind, Failure, Outcome, TokenSource};

/// A run to be made. Every answer has ttft and tpot around the given ones, spread by `spread` (a log standard deviation).
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) seed: u64,
    pub(crate) rounds: u32,
    pub(crate) per_round: u32,
    pub(crate) ttft_ms: f64,
    pub(crate) tpot_ms: f64,
    pub(crate) tokens: u64,
    pub(crate) spread: f64,
    /// Every n-th request fails; 0: none.
    pub(crate) fails_every: u64,
    /// Open loop, requests a second.
    pub(crate) rate: Option<f64>,
}

impl Default for Made {
    fn default() -> Self {
        Self { seed: 1, rounds: 40, per_round: 25, ttft_ms: 200.0, tpot_ms: 20.0, tokens: 10, spread: 0.1, fails_every: 0, rate: None }
    }
}

/// A generator for tests: SplitMix64, and Box-Muller for normals.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

impl Made {
    pub(crate) fn recording(&self) -> Recording {
        let mut dice = Dice::new(self.seed);
        let step = Nanos::from_ms(self.rate.map_or(10.0, |rate| 1000.0 / rate));
        let mut requests = Vec::new();
        for round in 0..self.rounds {
            for _ in 0..self.per_round {
                let id = requests.len() as u64;
                let ttft = Nanos::from_ms(self.ttft_ms * (self.spread * dice.normal()).exp());
                let gap = Nanos::from_ms(self.tpot_ms * (self.spread * dice.normal()).exp());
                let mut request = request(id, ttft, gap, self.tokens);
                request.round = Some(round);
                request.scheduled = Nanos(id * step.0);
                request.sent = request.scheduled;
                if self.fails_every > 0 && id.is_multiple_of(self.fails_every) {
                    fail(&mut request);
                }
                requests.push(request);
            }
        }
        let rounds = (0..self.rounds).map(|round| RoundEnd { level: 0, round, requests: self.per_round, gaps: None }).collect();
        let sample = |second: u64| ClientSample {
            at: Nanos(second * 1_000_000_000),
            loop_lag_max: Nanos::from_ms(0.5),
            loop_lag_p99: Nanos::from_ms(0.2),
            cpu_share: Some(0.1),
            in_flight: 10,
            clock_step_ms: Some(0.01),
        };
        let end = self.end(&requests);
        Recording {
            conditions: self.conditions(),
            requests,
            rounds,
            client: (0..10).map(sample).collect(),
            end: Some(end),
            headroom: None,
            damage: Vec::new(),
        }
    }

    fn end(&self, requests: &[Request]) -> End {
        let errors = requests.iter().filter(|request| !request.is_ok()).count() as u64;
        let level = LevelEnd { level: 0, planned_rounds: self.rounds, whole_rounds: self.rounds, look: None, alpha: None };
        let ended = "2026-01-01T00:10:00Z".to_owned();
        End { at: Nanos(600_000_000_000), ended, reason: EndReason::Complete, requests: requests.len() as u64, errors, levels: vec![level] }
    }

    fn conditions(&self) -> Conditions {
        let concurrency = self.rate.is_none().then_some(16);
        let level = LevelInfo {
            label: "1x".to_owned(),
            factor: 1.0,
            concurrency,
            rate: self.rate,
            rounds: self.rounds,
            round_requests: vec![self.per_round; self.rounds as usize],
            warmup: 20,
            lead: 0,
        };
        Conditions {
            run_id: format!("run-{}", self.seed),
            tool: "goodput-gate 0.1.0".to_owned(),
            name: "made".to_owned(),
            spec_digest: "00".repeat(32),
            limits: Vec::new(),
            target: TargetInfo { label: "made".to_owned(), api: "chat".to_owned(), model: "m".to_owned(), hardware: None, server: None },
            workload: WorkloadInfo { label: "chat lengths".to_owned(), digest: "ab".repeat(32), ..WorkloadInfo::default() },
            load: LoadInfo { concurrency, rate: self.rate, arrival: "closed".to_owned(), levels: vec![level] },
            seed: 42,
            started: format!("2026-01-01T00:00:{:02}Z", self.seed % 60),
            host_digest: String::new(),
            commit: None,
            pull_request: None,
            definitions: 1,
            flags: Vec::new(),
            calibrated: true,
        }
    }
}

/// An answer of `tokens` tokens, one an event, `gap` apart.
pub(crate) fn request(id: u64, ttft: Nanos, gap: Nanos, tokens: u64) -> Request {
    let gaps = vec![gap; usize::try_from(tokens.saturating_sub(1)).unwrap()];
    let last = Nanos(ttft.0 + gap.0 * tokens.saturating_sub(1));
    Request {
        id,
        side: Side::Candidate,
        part: None,
        session: None,
        level: 0,
        round: Some(0),
        turn: 0,
        scheduled: Nanos::ZERO,
        sent: Nanos::ZERO,
        connect: None,
        headers: Some(Nanos(1)),
        first_token: Some(ttft),
        first_answer: Some(ttft),
        last_token: Some(last),
        closed: Some(last),
        input_tokens: Some(500),
        output_tokens: Some(tokens),
        asked_input: 500,
        asked_output: tokens,
        cached_tokens: None,
        token_source: Some(TokenSource::Usage),
        events: tokens,
        stall: None,
        gaps,
        finish_reason: Some("length".to_owned()),
        outcome: Outcome::Ok,
        http_status: Some(200),
        warnings: Vec::new(),
    }
}

/// Makes `request` an error that came before its first token.
pub(crate) fn fail(request: &mut Request) {
    request.outcome = Outcome::Error(Failure::new(ErrorKind::Timeout, "no first token"));
    request.gaps = Vec::new();
    (request.first_token, request.first_answer, request.last_token) = (None, None, None);
    (request.input_tokens, request.output_tokens, request.token_source, request.events) = (None, None, None, 0);
}

/// Makes all tokens of `request` come in one read.
pub(crate) fn buffer(request: &mut Request) {
    request.first_token = request.last_token;
    request.gaps = vec![Nanos::ZERO; request.gaps.len()];
}

/// `slo.request`: a limit in the metric's unit.
pub(crate) fn constraint(metric: Metric, cmp: Cmp, value: f64) -> Constraint {
    Constraint { text: format!("{} {value}", metric.name()), metric, cmp, value, when: Condition::default(), part: None }
}

/// `require`: at 1x, over every request.
pub(crate) fn require(metric: Metric, percent: Option<f64>, cmp: Cmp, value: f64) -> Rule {
    rule(metric, percent, RuleKind::Require, Test::Absolute { cmp, value, share_of_rounds: None })
}

/// `regression`: at 1x, over every request.
pub(crate) fn regression(metric: Metric, percent: Option<f64>, relative: Option<f64>, absolute: Option<f64>) -> Rule {
    rule(metric, percent, RuleKind::Regression, Test::Change { limit: Limit { relative, absolute } })
}

fn rule(metric: Metric, percent: Option<f64>, kind: RuleKind, test: Test) -> Rule {
    let stat = percent.map(|percent| Quantile::from_percent(percent).unwrap());
    let text = stat.map_or_else(|| metric.name().to_owned(), |stat| format!("{} {stat}", metric.name()));
    Rule { text, kind, metric, stat, test, when: Condition::default(), level: "1x".to_owned(), part: None }
}

/// An `slo` at 95 % and 2.5x.
pub(crate) fn slo(request: Vec<Constraint>, rules: Vec<Rule>) -> Slo {
    Slo { request, rules, confidence: Confidence::Level(0.95), rule_out: 2.5, on_inconclusive: OnInconclusive::Fail }
}

/// The default bucket edges.
pub(crate) fn buckets() -> Buckets {
    Buckets { input: vec![1024, 8192], output: vec![300, 1000] }
}
