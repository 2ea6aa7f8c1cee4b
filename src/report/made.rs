//! Made models for the tests of every spelling.

use super::{Report, WhatIf, WhatIfRow};
use crate::record::{Conditions, HardwareInfo, LevelInfo, LoadInfo, Recording, Request, Side, TargetInfo, WorkloadInfo};
use crate::spec::RuleKind;
use crate::summary::{BucketRow, LevelTable, Percentiles};
use crate::units::{Nanos, Unit};
use crate::verdict::{BaselineInfo, Method, RuleResult, Status, Validity, ValidityStatus, Verdict, VerdictStatus};
use crate::wire::{ErrorKind, Failure, Outcome};

/// Every model by its name.
pub(super) fn all() -> Vec<(&'static str, Report)> {
    vec![
        ("pass", pass()),
        ("fail", fail()),
        ("regression", regression()),
        ("inconclusive", inconclusive()),
        ("invalid", invalid()),
        ("measured", measured()),
    ]
}

pub(super) fn pass() -> Report {
    let advice = RuleResult { kind: RuleKind::Advise, status: Status::Fail, ..ttft_rule(Status::Fail) };
    report(VerdictStatus::Pass, 0, vec![goodput_rule(Status::Pass), advice])
}

pub(super) fn fail() -> Report {
    let mut errors = goodput_rule(Status::Fail);
    errors.rule = "goodput >= 99%".to_owned();
    let mut report = report(VerdictStatus::Fail, 10, vec![errors, ttft_rule(Status::Fail), change_rule(Status::NoBaseline)]);
    report.both_conventions = true;
    report.what_if = Some(WhatIf {
        constraints: vec!["tpot <= 15ms".to_owned()],
        rows: vec![WhatIfRow { level: "1x".to_owned(), spec: Some(0.973), spec_rps: Some(9.1), tried: Some(0.612), tried_rps: Some(5.72) }],
    });
    report
}

pub(super) fn regression() -> Report {
    let mut unproven = change_rule(Status::Pass);
    unproven.rule = "tpot p95 rises <= 10% or 1ms".to_owned();
    unproven.warnings = vec!["beyond_limit_unproven".to_owned()];
    let mut report = report(VerdictStatus::Fail, 11, vec![goodput_rule(Status::Pass), change_rule(Status::Fail), unproven]);
    if let Some(verdict) = &mut report.verdict {
        verdict.baseline = BaselineInfo {
            runs: vec!["run-a".to_owned(), "run-b".to_owned()],
            newest: Some("2026-11-29T10:00:00Z".to_owned()),
            distance: None,
            commit: Some("0123456789abcdef0123".to_owned()),
            changed_limits: vec!["was goodput >= 99% / is goodput >= 95%".to_owned()],
            differences: Vec::new(),
        };
    }
    report
}

/// Two stored runs were found, and neither could be compared with.
pub(super) fn not_compared() -> Report {
    let mut second = change_rule(Status::NoBaseline);
    second.rule = "tpot p95 rises <= 10%".to_owned();
    let mut report = report(VerdictStatus::Pass, 0, vec![goodput_rule(Status::Pass), change_rule(Status::NoBaseline), second]);
    if let Some(verdict) = &mut report.verdict {
        verdict.baseline.differences = ["run-a", "run-b"].map(|run| format!("{run}: model: was my-llm, is sim")).to_vec();
        verdict.warnings = vec!["2 of the rules found no baseline and decided nothing".to_owned()];
        report.summary = super::verdict_sentence(verdict);
    }
    report
}

/// Rules that would have passed, failed and been open, of a measurement that may not be judged.
pub(super) fn not_judged() -> Report {
    let mut report = invalid();
    if let Some(verdict) = &mut report.verdict {
        verdict.rules = vec![goodput_rule(Status::Pass), ttft_rule(Status::Fail), ttft_rule(Status::Inconclusive)];
    }
    report
}

pub(super) fn inconclusive() -> Report {
    let mut rule = ttft_rule(Status::Inconclusive);
    rule.why = "P99 812 ms, 770 ms to unbounded, limit 800 ms, 3000 requests; about 2400 more requests would decide it".to_owned();
    rule.high = None;
    report(VerdictStatus::Inconclusive, 12, vec![goodput_rule(Status::Pass), rule])
}

pub(super) fn invalid() -> Report {
    let mut rule = ttft_rule(Status::Invalid);
    rule.observed = None;
    rule.low = None;
    rule.high = None;
    rule.why = "no request had an input of 1k to 8k tokens".to_owned();
    let mut report = report(VerdictStatus::Invalid, 6, vec![rule]);
    report.levels = vec![LevelTable { level: "1x".to_owned(), requests: 60, errors: 60, ..LevelTable::default() }];
    if let Some(verdict) = &mut report.verdict {
        verdict.validity[0].status = ValidityStatus::Invalid;
        verdict.validity[0].text = "start lag P99 41.0 ms, loop lag P99 1.10 ms, at most 5.00 ms".to_owned();
        verdict.warnings.push("all prompts have the same length, so batching looks better than in production".to_owned());
        report.summary = super::sentence::judged(verdict, &report.levels);
    }
    report
}

pub(super) fn measured() -> Report {
    Report::new(None, 0, vec![level()], conditions(), constraints())
}

fn constraints() -> Vec<String> {
    vec!["ttft <= 2s".to_owned()]
}

fn report(status: VerdictStatus, exit_code: u8, rules: Vec<RuleResult>) -> Report {
    let verdict = Verdict {
        early: Vec::new(),
        name: "chat-70b".to_owned(),
        status,
        rules,
        validity: vec![
            Validity {
                check: "client_lag",
                status: ValidityStatus::Ok,
                text: "start lag P99 0.60 ms, loop lag P99 1.10 ms, at most 5.00 ms".to_owned(),
            },
            Validity { check: "rounds", status: ValidityStatus::Ok, text: "40 whole rounds".to_owned() },
            Validity { check: "drift", status: ValidityStatus::Warn, text: "TTFT rose by 4 % over the run".to_owned() },
        ],
        warnings: Vec::new(),
        baseline: BaselineInfo::default(),
    };
    Report::new(Some(verdict), exit_code, vec![level()], conditions(), constraints())
}

fn goodput_rule(status: Status) -> RuleResult {
    RuleResult {
        rule: "goodput >= 95%".to_owned(),
        kind: RuleKind::Require,
        level: "1x".to_owned(),
        scope: None,
        status,
        observed: Some(0.973),
        unit: Unit::Share,
        low: Some(0.964),
        high: Some(0.981),
        limit: Some(if status == Status::Fail { 0.99 } else { 0.95 }),
        baseline: None,
        change: None,
        change_low: None,
        change_high: None,
        change_unit: None,
        change_limit: None,
        samples: 3000,
        n_eff: Some(1850.5),
        method: Some(Method::Proportion),
        why: "97.3 % of 3000 requests were good".to_owned(),
        warnings: Vec::new(),
    }
}

fn ttft_rule(status: Status) -> RuleResult {
    RuleResult {
        rule: "ttft p99 <= 800ms".to_owned(),
        observed: Some(912.0),
        unit: Unit::Ms,
        low: Some(880.4),
        high: Some(10_950.0),
        limit: Some(800.0),
        why: "P99 912 ms is above 800 ms: 1.6 % of 3000 requests took longer, 1 % may".to_owned(),
        ..goodput_rule(status)
    }
}

fn change_rule(status: Status) -> RuleResult {
    let known = status != Status::NoBaseline;
    let only = |value: f64| known.then_some(value);
    RuleResult {
        rule: "ttft p95 rises <= 10%".to_owned(),
        kind: RuleKind::Regression,
        status,
        observed: only(702.0),
        unit: Unit::Ms,
        low: None,
        high: None,
        limit: None,
        baseline: only(600.0),
        change: only(0.172),
        change_low: only(0.125),
        change_high: only(0.22),
        change_unit: known.then_some(Unit::Change),
        change_limit: only(0.1),
        method: known.then_some(Method::Change),
        why: if known {
            "the typical round rose by 17.2 % over 2 stored runs"
        } else {
            "no baseline; `goodput-gate baseline save` makes one"
        }
        .to_owned(),
        ..goodput_rule(status)
    }
}

fn percentiles(p50: f64) -> Percentiles {
    Percentiles {
        samples: 2992,
        p50: Some(p50),
        p90: Some(p50 * 2.0),
        p95: Some(p50 * 2.5),
        p99: Some(p50 * 3.0),
        mean: Some(p50 * 1.1),
        max: Some(p50 * 40.0),
    }
}

fn level() -> LevelTable {
    LevelTable {
        level: "1x".to_owned(),
        concurrency: Some(60),
        offered_rps: None,
        rounds: 40,
        requests: 3000,
        errors: 8,
        error_kinds: vec![(ErrorKind::Timeout, 7), (ErrorKind::HttpStatus, 1)],
        error_statuses: vec![(503, 1)],
        window_s: Some(320.6),
        goodput: Some(0.973),
        goodput_rps: Some(9.1),
        goodput_tps: Some(1820.0),
        throughput_rps: Some(9.33),
        throughput_tps: Some(1866.4),
        cache_hit: Some(0.0),
        ttft: percentiles(410.0),
        ttfa: percentiles(410.0),
        tpot: percentiles(15.0),
        e2e_per_token: percentiles(17.4),
        itl: percentiles(14.2),
        stall: percentiles(61.0),
        e2e: percentiles(3500.0),
        tokens_per_event: Some(1.02),
        buffered: Some(0.0),
        opened_connection: Some(0.004),
        estimated_tokens: 0,
        input_tokens_p50_p95: Some((1020.0, 4198.0)),
        parts: Vec::new(),
        buckets: vec![BucketRow { metric: "ttft", by: "input_tokens", label: "1k–8k".to_owned(), percentiles: percentiles(520.0) }],
        broken_constraints: vec![("ttft <= 2s".to_owned(), 73)],
        broken_in_one_read: vec![0],
    }
}

fn conditions() -> Conditions {
    Conditions {
        run_id: "run-c".to_owned(),
        tool: "goodput-gate 0.1.0".to_owned(),
        name: "chat-70b".to_owned(),
        spec_digest: "ab".repeat(32),
        limits: vec!["goodput >= 95%".to_owned()],
        target: TargetInfo {
            label: "staging".to_owned(),
            api: "chat".to_owned(),
            model: "llama-3.1-70b".to_owned(),
            hardware: Some(HardwareInfo { name: "1x H100".to_owned(), bandwidth: Some(3.35e12), price_per_hour: None }),
            server: Some("vllm 0.11".to_owned()),
        },
        workload: WorkloadInfo {
            label: "chat lengths, unique prompts, one turn".to_owned(),
            digest: "cd".repeat(32),
            dropped: 3,
            input_p50_p95: Some((1024, 4200)),
            output_p50_p95: Some((200, 700)),
            prefix_hit: 0.0,
        },
        load: LoadInfo {
            concurrency: Some(60),
            rate: None,
            arrival: "closed".to_owned(),
            levels: vec![LevelInfo {
                label: "1x".to_owned(),
                factor: 1.0,
                concurrency: Some(60),
                rate: None,
                rounds: 40,
                round_requests: vec![75; 40],
                warmup: 60,
                lead: 0,
            }],
        },
        seed: 42,
        started: "2026-11-30T20:00:00Z".to_owned(),
        host_digest: "ef".repeat(32),
        commit: Some("fedcba9876543210".to_owned()),
        pull_request: Some(7),
        definitions: 1,
        flags: vec!["concurrency=60".to_owned()],
        calibrated: true,
    }
}

/// A recording of one errored request with `payload` wherever text can come from outside.
pub(super) fn recording(payload: &str) -> Recording {
    let request = Request {
        id: 0,
        side: Side::Candidate,
        part: Some(payload.to_owned()),
        session: None,
        level: 0,
        round: None,
        turn: 0,
        scheduled: Nanos(1_000_000),
        sent: Nanos(1_250_000),
        connect: None,
        headers: None,
        first_token: Some(Nanos(500_000_000)),
        first_answer: None,
        last_token: Some(Nanos(1_200_000_000)),
        closed: None,
        input_tokens: Some(10),
        output_tokens: Some(100),
        asked_input: 10,
        asked_output: 100,
        cached_tokens: None,
        token_source: None,
        events: 100,
        gaps: vec![Nanos(7_000_000), Nanos(9_000_000)],
        stall: None,
        finish_reason: Some(payload.to_owned()),
        outcome: Outcome::Error(Failure::new(ErrorKind::Timeout, "the server's own words")),
        http_status: Some(200),
        warnings: vec![payload.to_owned()],
    };
    let conditions = measured().conditions;
    Recording { conditions, requests: vec![request], rounds: Vec::new(), client: Vec::new(), end: None, headroom: None, damage: Vec::new() }
}
