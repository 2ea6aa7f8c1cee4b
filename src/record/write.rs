//! Recordings to bytes: lines of JSON in zstd frames, one frame an appended batch, so that a killed run keeps what was flushed.

use super::lines::{
    ClientLine, EndLine, FORMAT, HardwareLine, HeadroomLine, LevelEndLine, LevelLine, LoadLine, RequestLine, RoundLine, RunLine,
    TargetLine, WorkloadLine,
};
use super::{ClientSample, Conditions, End, LevelInfo, Recording, Request, RoundEnd, Side};
use crate::units::Nanos;
use crate::wire::Outcome;

/// Level 1 writes a run twice as fast as level 3, for files that are a few per cent larger.
const LEVEL: i32 = 1;

/// Collects lines and gives them as one zstd frame. Frames may be appended to one another.
#[derive(Debug, Default)]
pub struct Batch {
    text: Vec<u8>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The file's first line.
    pub fn conditions(&mut self, conditions: &Conditions) {
        self.line(&run_line(conditions));
    }

    /// One request.
    pub fn request(&mut self, request: &Request, levels: &[LevelInfo]) {
        self.line(&request_line(request, levels));
    }

    /// One whole round.
    pub fn round(&mut self, round: &RoundEnd, levels: &[LevelInfo]) {
        self.line(&RoundLine {
            kind: "round".to_owned(),
            level: label(levels, round.level),
            round: round.round,
            requests: round.requests,
            gaps_us: round.gaps.clone(),
        });
    }

    /// One second of the client's health.
    pub fn client(&mut self, sample: &ClientSample) {
        self.line(&ClientLine {
            kind: "client".to_owned(),
            at_ms: sample.at.as_ms(),
            loop_lag_max_ms: sample.loop_lag_max.as_ms(),
            loop_lag_p99_ms: sample.loop_lag_p99.as_ms(),
            cpu_share: sample.cpu_share,
            in_flight: sample.in_flight,
            clock_step_ms: sample.clock_step_ms,
        });
    }

    /// The file's last line.
    pub fn end(&mut self, end: &End, levels: &[LevelInfo]) {
        let ends = end.levels.iter().map(|level| LevelEndLine {
            level: label(levels, level.level),
            planned_rounds: level.planned_rounds,
            whole_rounds: level.whole_rounds,
            look: level.look,
            alpha: level.alpha,
        });
        self.line(&EndLine {
            kind: "end".to_owned(),
            at_ms: end.at.as_ms(),
            ended: end.ended.clone(),
            reason: end.reason.name().to_owned(),
            requests: end.requests,
            errors: end.errors,
            levels: ends.collect(),
        });
    }

    /// The bracket of the headroom, after the last line.
    pub fn headroom(&mut self, (low, high): (f64, f64)) {
        self.line(&HeadroomLine { kind: "headroom".to_owned(), low, high: Some(high).filter(|high| high.is_finite()) });
    }

    /// The batch as one whole zstd frame; empty for an empty batch.
    ///
    /// # Errors
    /// Only where the compressor runs out of memory.
    pub fn into_frame(self) -> std::io::Result<Vec<u8>> {
        if self.text.is_empty() { Ok(Vec::new()) } else { zstd::bulk::compress(&self.text, LEVEL) }
    }

    fn line(&mut self, line: &impl serde::Serialize) {
        // Writing plain structs of numbers and strings into memory has no way to fail.
        if serde_json::to_writer(&mut self.text, line).is_ok() {
            self.text.push(b'\n');
        }
    }
}

/// A whole recording as the bytes of a run file.
///
/// # Errors
/// Only where the compressor runs out of memory.
pub fn encode(recording: &Recording) -> std::io::Result<Vec<u8>> {
    let levels = &recording.conditions.load.levels;
    let mut batch = Batch::new();
    batch.conditions(&recording.conditions);
    recording.requests.iter().for_each(|request| batch.request(request, levels));
    recording.client.iter().for_each(|sample| batch.client(sample));
    recording.rounds.iter().for_each(|round| batch.round(round, levels));
    if let Some(end) = &recording.end {
        batch.end(end, levels);
    }
    if let Some(bracket) = recording.headroom {
        batch.headroom(bracket);
    }
    batch.into_frame()
}

fn label(levels: &[LevelInfo], index: usize) -> String {
    levels.get(index).map(|level| level.label.clone()).unwrap_or_default()
}

fn ms(value: Option<Nanos>) -> Option<f64> {
    value.map(Nanos::as_ms)
}

fn request_line(request: &Request, levels: &[LevelInfo]) -> RequestLine {
    let (outcome, kind, error) = match &request.outcome {
        Outcome::Ok => ("ok", None, None),
        Outcome::Error(failure) => ("error", Some(failure.kind.name().to_owned()), Some(failure.message.clone())),
    };
    RequestLine {
        kind: "request".to_owned(),
        id: request.id,
        side: match request.side {
            Side::Candidate => "candidate",
            Side::Baseline => "baseline",
        }
        .to_owned(),
        part: request.part.clone(),
        session: request.session,
        level: label(levels, request.level),
        round: request.round,
        turn: request.turn,
        scheduled_ms: request.scheduled.as_ms(),
        sent_ms: request.sent.as_ms(),
        start_lag_ms: request.start_lag().as_ms(),
        connect_ms: ms(request.connect),
        headers_ms: ms(request.headers),
        ttft_ms: ms(request.first_token),
        ttfa_ms: ms(request.first_answer),
        tpot_ms: request.tpot().map(|ns| ns / 1e6),
        e2e_ms: ms(request.last_token),
        closed_ms: ms(request.closed),
        stall_ms: ms(request.stall.or_else(|| request.gaps.iter().copied().max())),
        input_tokens: request.input_tokens,
        output_tokens: request.output_tokens,
        asked_input_tokens: request.asked_input,
        asked_output_tokens: request.asked_output,
        cached_tokens: request.cached_tokens,
        token_source: request.token_source.map(|source| source.name().to_owned()),
        events: request.events,
        itl_ms: request.gaps.iter().map(|gap| gap.as_ms()).collect(),
        finish_reason: request.finish_reason.clone(),
        outcome: outcome.to_owned(),
        error_kind: kind,
        error,
        http_status: request.http_status,
        warnings: request.warnings.clone(),
    }
}

fn run_line(c: &Conditions) -> RunLine {
    RunLine {
        kind: "run".to_owned(),
        format: FORMAT.to_owned(),
        run_id: c.run_id.clone(),
        tool: c.tool.clone(),
        name: c.name.clone(),
        spec_digest: c.spec_digest.clone(),
        limits: c.limits.clone(),
        target: TargetLine {
            label: c.target.label.clone(),
            api: c.target.api.clone(),
            model: c.target.model.clone(),
            hardware: c.target.hardware.as_ref().map(|h| HardwareLine {
                name: h.name.clone(),
                bandwidth_bytes_per_s: h.bandwidth,
                price_per_hour: h.price_per_hour,
            }),
            server: c.target.server.clone(),
        },
        workload: WorkloadLine {
            label: c.workload.label.clone(),
            digest: c.workload.digest.clone(),
            dropped: c.workload.dropped,
            input_p50_p95: c.workload.input_p50_p95,
            output_p50_p95: c.workload.output_p50_p95,
            prefix_hit: c.workload.prefix_hit,
        },
        load: load_line(c),
        seed: c.seed,
        started: c.started.clone(),
        host_digest: c.host_digest.clone(),
        commit: c.commit.clone(),
        pull_request: c.pull_request,
        definitions: c.definitions,
        flags: c.flags.clone(),
        calibrated: c.calibrated,
    }
}

fn load_line(c: &Conditions) -> LoadLine {
    let levels = c.load.levels.iter().map(|level| LevelLine {
        label: level.label.clone(),
        factor: level.factor,
        concurrency: level.concurrency,
        rate: level.rate,
        rounds: level.rounds,
        round_requests: level.round_requests.clone(),
        warmup: level.warmup,
        lead: level.lead,
    });
    LoadLine { concurrency: c.load.concurrency, rate: c.load.rate, arrival: c.load.arrival.clone(), levels: levels.collect() }
}
