//! Every handed stream of chat and completions, read in virtual time: the instants must be exact.

use crate::cases::{self, Case, Observed, Step, Stream, Tolerance};
use goodput_gate::units::Nanos;
use goodput_gate::wire::{AnswerReader, Api, Ending, Head, Outcome, Reading, Warning};

/// The client's total timeout where the case names none.
const TIMEOUT_MS: u64 = 5000;

#[test]
fn every_stream_is_read_right_at_exact_times() {
    let cases = cases::load_spoken();
    assert_eq!(cases.len(), 77, "chat and completions cases");
    let wrong: Vec<String> = cases.iter().filter_map(|case| check(case).err().map(|why| format!("{}: {why}", case.name))).collect();
    assert!(wrong.is_empty(), "{} of {} read wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn all_cases_can_be_loaded() {
    assert_eq!(cases::load_all().len(), 82);
}

/// The parser tests share it.
pub(crate) fn api(case: &Case) -> Api {
    if case.expect.endpoint() == "chat" { Api::Chat } else { Api::Completions }
}

fn check(case: &Case) -> Result<(), String> {
    let timeout = case.expect.client_timeout_ms().unwrap_or(TIMEOUT_MS);
    let mut expected = vec![case.expect.clone()];
    expected.extend(case.expect.then());
    let streams = [Some(&case.stream), case.second.as_ref()].into_iter().flatten();
    for (stream, expect) in streams.zip(&expected) {
        let observed = play(api(case), stream, timeout, case.expect.asks_for_usage());
        expect.matches(&observed, Tolerance::EXACT)?;
        if expect.instant("done_ms").is_some() && observed.done_ms.is_none() {
            return Err("the terminator was not seen".to_owned());
        }
        let missing: Vec<_> = expect.should_warn().into_iter().filter(|word| !observed.warnings.iter().any(|w| w == word)).collect();
        let unexplained: Vec<_> =
            observed.warnings.iter().filter(|word| Warning::by_name(word).and_then(Warning::meaning).is_none()).collect();
        if !unexplained.is_empty() {
            return Err(format!("nothing says what these mean: {unexplained:?}"));
        }
        if !missing.is_empty() {
            return Err(format!("no warning {missing:?} in {:?}", observed.warnings));
        }
    }
    Ok(())
}

/// The transport, without a transport: the stream's bytes as a client's reads deliver them.
fn play(api: Api, stream: &Stream, timeout: u64, asks_for_usage: bool) -> Observed {
    let Some(status) = stream.status else {
        return Observed { error_kind: Some("timeout".to_owned()), ..Observed::default() };
    };
    let head = Head { status, content_type: stream.header("content-type"), content_encoding: stream.header("content-encoding") };
    let mut reader = AnswerReader::new(api, &head).asked_for_usage(asks_for_usage);
    let delivered = deliver(stream);
    for (at, bytes) in delivered.reads.iter().filter(|(at, _)| *at < timeout) {
        reader.push(bytes, ms(*at));
    }
    let (ending, close) = match delivered.end {
        Some((at, ending)) if at < timeout => (ending, Some(at)),
        _ => (Ending::TimedOut("the total timeout".to_owned()), None),
    };
    let mut observed = observe(&reader.finish(ending));
    // A body of length 0 ends with its head, whatever is written after it.
    observed.close_ms = close.filter(|_| stream.header("content-length") != Some("0")).map(|at| at as f64);
    observed.http_status = Some(status);
    observed
}

struct Delivered {
    reads: Vec<(u64, Vec<u8>)>,
    end: Option<(u64, Ending)>,
}

fn deliver(stream: &Stream) -> Delivered {
    // Chunks and DATA frames are given as lines; only RAW has framing in its bytes.
    let chunked = stream.raw && !stream.h2 && stream.header("transfer-encoding") == Some("chunked");
    let length: Option<usize> = stream.header("content-length").and_then(|length| length.parse().ok());
    let mut framing = Dechunker::default();
    let mut delivered = Delivered { reads: Vec::new(), end: None };
    let mut total = 0;
    for step in &stream.steps {
        match step {
            Step::Write(at, bytes) => {
                let bytes = if chunked { framing.push(bytes) } else { bytes.clone() };
                let room = length.map_or(bytes.len(), |length| (length - total).min(bytes.len()));
                total += room;
                delivered.reads.push((*at, bytes[..room].to_vec()));
            }
            Step::Close(at) => {
                let whole = (!chunked || framing.ended) && length.is_none_or(|length| total == length);
                let broken = || Ending::Broken("the connection was closed before the body's end".to_owned());
                delivered.end = Some((*at, if whole { Ending::Clean } else { broken() }));
            }
            Step::Reset(at) => delivered.end = Some((*at, Ending::Broken("reset by the server".to_owned()))),
            Step::Hang => {}
        }
    }
    delivered
}

/// Takes a chunked body's framing away, in the least code.
#[derive(Default)]
struct Dechunker {
    held: Vec<u8>,
    ended: bool,
}

impl Dechunker {
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let mut body = Vec::new();
        while let Some(line) = self.held.windows(2).position(|two| two == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&self.held[..line]).unwrap().trim(), 16).unwrap();
            if self.held.len() < line + 2 + size + 2 {
                break;
            }
            body.extend_from_slice(&self.held[line + 2..line + 2 + size]);
            self.held.drain(..line + 2 + size + 2);
            self.ended |= size == 0;
        }
        body
    }
}

fn ms(at: u64) -> Nanos {
    Nanos(at * 1_000_000)
}

/// A reading of a request that was sent at 0.
fn observe(reading: &Reading) -> Observed {
    let error_kind = match &reading.outcome {
        Outcome::Ok => None,
        Outcome::Error(failure) => Some(failure.kind.name().to_owned()),
    };
    let span = reading.last_token.zip(reading.first_token).map(|(last, first)| last.since(first));
    let tpot_ms = match (reading.output_tokens, span) {
        (Some(tokens), Some(span)) if tokens >= 2 && span > Nanos::ZERO => Some(span.as_ms() / (tokens - 1) as f64),
        _ => None,
    };
    Observed {
        error_kind,
        ttft_ms: reading.first_token.map(Nanos::as_ms),
        output_tokens: reading.output_tokens,
        token_source: reading.token_source.map(|source| source.name().to_owned()),
        itl_count: reading.gaps.len() as u64,
        token_events: Some(reading.events),
        e2e_ms: reading.last_token.map(Nanos::as_ms),
        tpot_ms,
        finish_reason: reading.finish_reason.clone(),
        done_ms: reading.done.map(Nanos::as_ms),
        close_ms: None,
        http_status: None,
        warnings: reading.warnings.iter().map(|warning| warning.0.to_owned()).collect(),
    }
}
