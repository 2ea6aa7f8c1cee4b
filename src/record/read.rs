//! Bytes to recordings. A cut or damaged file gives what is whole of it, and says what is not.

use super::lines::{ClientLine, EndLine, FORMAT, HeadroomLine, LoadLine, RequestLine, RoundLine, RunLine, TargetLine};
use super::{
    ClientSample, Conditions, End, EndReason, HardwareInfo, LevelEnd, LevelInfo, LoadInfo, Recording, Request, RoundEnd, Side, TargetInfo,
    WorkloadInfo, gaps,
};
use crate::units::Nanos;
use crate::wire::{ErrorKind, Failure, Outcome, TokenSource};
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read};

/// The longest line that is read: a request with some 400,000 gaps.
const LINE_LIMIT: u64 = 8 << 20;
/// The most text a run file may unpack to.
const TEXT_LIMIT: u64 = 8 << 30;
/// The most damage notes that are kept.
const DAMAGE_LIMIT: usize = 20;

/// Why bytes are no recording.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RecordError {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Not ours.
    #[error("this is not a goodput-gate run file: {0}")]
    Foreign(String),
    /// The same request twice, as in a file that was appended to itself.
    #[error("the file holds request {0} twice")]
    Twice(u64),
    /// From a newer version.
    #[error("the file has the format `{0}`, which this version cannot read")]
    Newer(String),
}

impl RecordError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Empty | Self::Foreign(_) => "give a `run.jsonl.zst` that `goodput-gate run` or `check` wrote".to_owned(),
            Self::Twice(_) => "two runs in one file cannot be told apart; give each its own".to_owned(),
            Self::Newer(_) => format!("this version reads `{FORMAT}`; update goodput-gate"),
        }
    }
}

/// A recording from the bytes of a run file, zstd or plain JSON lines.
///
/// # Errors
/// Where no readable `run` line stands first. Damage further on is kept in [`Recording::damage`].
pub fn decode(bytes: &[u8]) -> Result<Recording, RecordError> {
    if bytes.is_empty() {
        return Err(RecordError::Empty);
    }
    if bytes.starts_with(&zstd::zstd_safe::MAGICNUMBER.to_le_bytes()) {
        let decoder = zstd::stream::read::Decoder::new(bytes).map_err(|e| RecordError::Foreign(e.to_string()))?;
        read_lines(BufReader::new(decoder.take(TEXT_LIMIT)))
    } else {
        read_lines(BufReader::new(bytes))
    }
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

fn read_lines(mut reader: impl BufRead) -> Result<Recording, RecordError> {
    let (mut line, mut scratch) = (Vec::new(), Vec::new());
    let mut number = 0_u64;
    let mut recording: Option<Recording> = None;
    loop {
        line.clear();
        number += 1;
        let read = reader.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line);
        let Some(recording) = recording.as_mut() else {
            read.map_err(|e| RecordError::Foreign(e.to_string()))?;
            recording = Some(first_line(&line)?);
            continue;
        };
        match read {
            Ok(0) => break,
            Ok(_) if line.last() != Some(&b'\n') => {
                note(recording, format!("line {number} is cut short"));
                break;
            }
            Ok(_) => {
                if let Err(why) = add_line(recording, &line, &mut scratch) {
                    note(recording, format!("line {number}: {why}"));
                }
            }
            Err(error) => {
                note(recording, format!("the file breaks off after line {}: {error}", number - 1));
                break;
            }
        }
    }
    let mut recording = recording.ok_or(RecordError::Empty)?;
    recording.requests.sort_by_key(|request| (request.id, request.side != Side::Candidate));
    let same = |pair: &&[Request]| (pair[0].id, pair[0].side) == (pair[1].id, pair[1].side);
    if let Some(pair) = recording.requests.windows(2).find(same) {
        return Err(RecordError::Twice(pair[0].id));
    }
    Ok(recording)
}

fn note(recording: &mut Recording, text: String) {
    if recording.damage.len() < DAMAGE_LIMIT {
        recording.damage.push(text);
    }
}

fn first_line(line: &[u8]) -> Result<Recording, RecordError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        format: String,
    }
    let head: Head = serde_json::from_slice(line).map_err(|_| RecordError::Foreign("its first line is no `run` line".to_owned()))?;
    if head.kind != "run" {
        return Err(RecordError::Foreign("its first line is no `run` line".to_owned()));
    }
    if head.format != FORMAT {
        let ours = head.format.starts_with("goodput-gate/run/");
        let shown: String = head.format.chars().filter(|c| !c.is_control()).take(60).collect();
        return Err(if ours { RecordError::Newer(shown) } else { RecordError::Foreign("its format is not named".to_owned()) });
    }
    let run: RunLine = serde_json::from_slice(line).map_err(|e| RecordError::Foreign(format!("its first line cannot be read: {e}")))?;
    Ok(Recording {
        conditions: conditions(run),
        requests: Vec::new(),
        rounds: Vec::new(),
        client: Vec::new(),
        end: None,
        headroom: None,
        damage: Vec::new(),
    })
}

fn add_line(recording: &mut Recording, line: &[u8], scratch: &mut Vec<u8>) -> Result<(), String> {
    let kind = if line.starts_with(br#"{"type":"request""#) {
        "request".to_owned()
    } else {
        serde_json::from_slice::<Kind>(line).map_err(|e| e.to_string())?.kind
    };
    let levels = &recording.conditions.load.levels;
    match kind.as_str() {
        "request" => {
            let read = read_request(line, levels, scratch)?;
            recording.requests.push(read);
        }
        "round" => {
            let read: RoundLine = serde_json::from_slice(line).map_err(|e| e.to_string())?;
            let level = level_index(levels, &read.level)?;
            recording.rounds.push(RoundEnd { level, round: read.round, requests: read.requests, gaps: read.gaps_us });
        }
        "client" => {
            let read: ClientLine = serde_json::from_slice(line).map_err(|e| e.to_string())?;
            recording.client.push(ClientSample {
                at: Nanos::from_ms(read.at_ms),
                loop_lag_max: Nanos::from_ms(read.loop_lag_max_ms),
                loop_lag_p99: Nanos::from_ms(read.loop_lag_p99_ms),
                cpu_share: read.cpu_share,
                in_flight: read.in_flight,
                clock_step_ms: read.clock_step_ms,
            });
        }
        "end" => {
            let read = end(serde_json::from_slice(line).map_err(|e| e.to_string())?, levels)?;
            recording.end = Some(read);
        }
        "headroom" => {
            let read: HeadroomLine = serde_json::from_slice(line).map_err(|e| e.to_string())?;
            let high = read.high.unwrap_or(f64::INFINITY);
            if !(read.low >= -1.0 && read.low <= high) {
                return Err("a headroom that cannot be".to_owned());
            }
            recording.headroom = Some((read.low, high));
        }
        // The server's own metrics: kept in the file, judged by later versions.
        "server" => {}
        _ => return Err("unknown type of line".to_owned()),
    }
    Ok(())
}

fn level_index(levels: &[LevelInfo], label: &str) -> Result<usize, String> {
    levels.iter().position(|level| level.label == label).ok_or_else(|| "a level that the first line does not name".to_owned())
}

fn ms(value: Option<f64>) -> Option<Nanos> {
    value.map(Nanos::from_ms)
}

/// Whether an instant can be one: from 0 to ten years, in milliseconds.
fn is_time(ms: f64) -> bool {
    (0.0..3.2e11).contains(&ms)
}

fn check_times(line: &RequestLine) -> Result<(), String> {
    let known = [line.connect_ms, line.headers_ms, line.ttft_ms, line.ttfa_ms, line.e2e_ms, line.closed_ms, line.stall_ms];
    let mut all = known.iter().flatten().chain([&line.scheduled_ms, &line.sent_ms]).chain(&line.itl_ms);
    let ordered = line.ttft_ms.zip(line.e2e_ms).is_none_or(|(first, last)| first <= last);
    if ordered && all.all(|ms| is_time(*ms)) { Ok(()) } else { Err("a time that cannot be".to_owned()) }
}

fn read_request(line: &[u8], levels: &[LevelInfo], scratch: &mut Vec<u8>) -> Result<Request, String> {
    let cut = gaps::cut(line, scratch);
    let text = if cut.is_some() { &scratch[..] } else { line };
    let mut read = request(serde_json::from_slice(text).map_err(|e| e.to_string())?, levels)?;
    if let Some(gaps) = cut {
        read.gaps = gaps;
    }
    Ok(read)
}

fn request(line: RequestLine, levels: &[LevelInfo]) -> Result<Request, String> {
    check_times(&line)?;
    let outcome = match (line.outcome.as_str(), &line.error_kind) {
        ("ok", None) => Outcome::Ok,
        ("error", Some(kind)) => {
            let kind = ErrorKind::by_name(kind).ok_or("unknown error_kind")?;
            Outcome::Error(Failure::new(kind, line.error.as_deref().unwrap_or_default()))
        }
        _ => return Err("outcome and error_kind do not fit".to_owned()),
    };
    let side = match line.side.as_str() {
        "candidate" => Side::Candidate,
        "baseline" => Side::Baseline,
        _ => return Err("unknown side".to_owned()),
    };
    Ok(Request {
        id: line.id,
        side,
        part: line.part,
        session: line.session,
        level: level_index(levels, &line.level)?,
        round: line.round,
        turn: line.turn,
        scheduled: Nanos::from_ms(line.scheduled_ms),
        sent: Nanos::from_ms(line.sent_ms),
        connect: ms(line.connect_ms),
        headers: ms(line.headers_ms),
        first_token: ms(line.ttft_ms),
        first_answer: ms(line.ttfa_ms),
        last_token: ms(line.e2e_ms),
        closed: ms(line.closed_ms),
        input_tokens: line.input_tokens,
        output_tokens: line.output_tokens,
        asked_input: line.asked_input_tokens,
        asked_output: line.asked_output_tokens,
        cached_tokens: line.cached_tokens,
        token_source: line.token_source.as_deref().and_then(TokenSource::by_name),
        events: line.events,
        gaps: line.itl_ms.into_iter().map(Nanos::from_ms).collect(),
        stall: ms(line.stall_ms),
        finish_reason: line.finish_reason,
        outcome,
        http_status: line.http_status,
        warnings: line.warnings,
    })
}

fn end(line: EndLine, levels: &[LevelInfo]) -> Result<End, String> {
    let ends = line.levels.into_iter().map(|level| {
        Ok(LevelEnd {
            level: level_index(levels, &level.level)?,
            planned_rounds: level.planned_rounds,
            whole_rounds: level.whole_rounds,
            look: level.look,
            alpha: level.alpha.filter(|alpha| *alpha > 0.0 && *alpha <= 0.5),
        })
    });
    Ok(End {
        at: Nanos::from_ms(line.at_ms),
        ended: line.ended,
        reason: EndReason::by_name(&line.reason).ok_or("unknown reason")?,
        requests: line.requests,
        errors: line.errors,
        levels: ends.collect::<Result<_, String>>()?,
    })
}

fn conditions(line: RunLine) -> Conditions {
    Conditions {
        run_id: line.run_id,
        tool: line.tool,
        name: line.name,
        spec_digest: line.spec_digest,
        limits: line.limits,
        target: target(line.target),
        workload: WorkloadInfo {
            label: line.workload.label,
            digest: line.workload.digest,
            dropped: line.workload.dropped,
            input_p50_p95: line.workload.input_p50_p95,
            output_p50_p95: line.workload.output_p50_p95,
            prefix_hit: line.workload.prefix_hit,
        },
        load: load(line.load),
        seed: line.seed,
        started: line.started,
        host_digest: line.host_digest,
        commit: line.commit,
        pull_request: line.pull_request,
        definitions: line.definitions,
        flags: line.flags,
        calibrated: line.calibrated,
    }
}

fn target(line: TargetLine) -> TargetInfo {
    TargetInfo {
        label: line.label,
        api: line.api,
        model: line.model,
        hardware: line.hardware.map(|h| HardwareInfo {
            name: h.name,
            bandwidth: h.bandwidth_bytes_per_s,
            price_per_hour: h.price_per_hour,
        }),
        server: line.server,
    }
}

fn load(line: LoadLine) -> LoadInfo {
    let levels = line.levels.into_iter().map(|level| LevelInfo {
        label: level.label,
        factor: level.factor,
        concurrency: level.concurrency,
        rate: level.rate,
        rounds: level.rounds,
        round_requests: level.round_requests,
        warmup: level.warmup,
        lead: level.lead,
    });
    LoadInfo { concurrency: line.concurrency, rate: line.rate, arrival: line.arrival, levels: levels.collect() }
}
