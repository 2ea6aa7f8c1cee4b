//! The handed stream cases: what a server does (`stream.txt`), and what a client must report (`expect.json`); see FORMAT.md beside
//! them. Also the comparison of the two.

use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// One case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Its folder's name, `002-llamacpp-role-null-content`.
    pub(crate) name: String,
    /// What the server does.
    pub(crate) stream: Stream,
    /// What it does with the next request on the same connection, or with the redirected one.
    pub(crate) second: Option<Stream>,
    /// What a client must report.
    pub(crate) expect: Expect,
}

/// What a server does with one request.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    /// The status; `None`: it never answers.
    pub(crate) status: Option<u16>,
    /// The writes are the exact bytes after the headers; a close is a plain FIN.
    pub(crate) raw: bool,
    /// HTTP/2, one DATA frame a write.
    pub(crate) h2: bool,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// In order of time.
    pub(crate) steps: Vec<Step>,
}

/// One thing a server does, so many milliseconds after the full request was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Write these bytes (one chunk where the transfer is chunked); the first write sends the head before it.
    Write(u64, Vec<u8>),
    /// End the body properly and close the connection.
    Close(u64),
    /// Abort the connection.
    Reset(u64),
    /// Send nothing more and leave the connection open.
    Hang,
}

impl Stream {
    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let mut status = lines.next().unwrap().strip_prefix("STATUS ").unwrap().split_whitespace();
        let code = status.next().unwrap();
        let flags: Vec<_> = status.collect();
        let headers = lines
            .by_ref()
            .take_while(|line| !line.is_empty())
            .map(|line| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).unwrap())
            .collect();
        let steps = lines.filter(|line| !line.trim().is_empty()).map(Step::parse).collect();
        Self { status: code.parse().ok(), raw: flags.contains(&"RAW"), h2: flags.contains(&"H2"), headers, steps }
    }
}

impl Step {
    fn parse(line: &str) -> Self {
        if line.trim() == "HANG" {
            return Self::Hang;
        }
        let (at, what) = line.strip_prefix('@').unwrap().split_once(' ').unwrap();
        let at = at.parse().unwrap();
        match what.trim() {
            "CLOSE" => Self::Close(at),
            "RESET" => Self::Reset(at),
            "HANG" => Self::Hang,
            text => {
                let text: String = serde_json::from_str(text).unwrap();
                Self::Write(at, text.chars().map(|byte| u8::try_from(u32::from(byte)).unwrap()).collect())
            }
        }
    }
}

/// What a client must report.
#[derive(Debug, Clone)]
pub(crate) struct Expect(Map<String, Value>);

/// What a client reported. Instants are milliseconds after the request was sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Observed {
    /// `None`: the request was `ok`.
    pub(crate) error_kind: Option<String>,
    /// First token.
    pub(crate) ttft_ms: Option<f64>,
    /// `usage.completion_tokens`, or the estimate.
    pub(crate) output_tokens: Option<u64>,
    /// `usage` or `chunks`.
    pub(crate) token_source: Option<String>,
    /// Gaps between token-bearing events.
    pub(crate) itl_count: u64,
    /// Token-bearing events; `None` where the reporter does not tell.
    pub(crate) token_events: Option<u64>,
    /// Last token.
    pub(crate) e2e_ms: Option<f64>,
    /// By metrics.md: null below 2 tokens, and where all came in one read.
    pub(crate) tpot_ms: Option<f64>,
    /// The last one given.
    pub(crate) finish_reason: Option<String>,
    /// Not compared where `None`.
    pub(crate) done_ms: Option<f64>,
    /// Not compared where `None`.
    pub(crate) close_ms: Option<f64>,
    /// Not compared where `None`.
    pub(crate) http_status: Option<u16>,
    /// What the client found odd.
    pub(crate) warnings: Vec<String>,
}

/// How far reported times may be from the schedule's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tolerance {
    /// Earlier by so much.
    pub(crate) early_ms: f64,
    /// Later by so much.
    pub(crate) late_ms: f64,
}

impl Tolerance {
    /// Virtual time.
    pub(crate) const EXACT: Self = Self { early_ms: 0.0, late_ms: 0.0 };

    fn holds(self, expected: f64, observed: f64) -> bool {
        // The expectations are written with six digits.
        let rounding = expected.abs() * 1e-5;
        observed >= expected - self.early_ms - rounding && observed <= expected + self.late_ms + rounding
    }
}

impl Expect {
    /// `chat`, `completions`, and APIs of later builds.
    pub(crate) fn endpoint(&self) -> &str {
        self.0["endpoint"].as_str().unwrap()
    }

    /// What the client's total timeout should be set to.
    pub(crate) fn client_timeout_ms(&self) -> Option<u64> {
        self.0.get("request")?.get("client_timeout_ms")?.as_u64()
    }

    /// Whether the request asks for usage.
    pub(crate) fn asks_for_usage(&self) -> bool {
        self.0.get("request").is_some_and(|request| request.get("stream_options").is_some())
    }

    /// What should be warned of, informative in the format.
    pub(crate) fn should_warn(&self) -> Vec<&str> {
        self.0.get("should_warn").and_then(Value::as_array).map_or(Vec::new(), |words| words.iter().filter_map(Value::as_str).collect())
    }

    /// The time of an informative instant: `done_ms`, `close_ms`.
    pub(crate) fn instant(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    /// What must be reported of the following requests.
    pub(crate) fn then(&self) -> Vec<Self> {
        let list = self.0.get("then").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().map(|value| Self(value.as_object().unwrap().clone())).collect()
    }

    /// Whether the report is what is expected, or one of the readings that count as well.
    ///
    /// # Errors
    /// What differs from each of them.
    pub(crate) fn matches(&self, observed: &Observed, tolerance: Tolerance) -> Result<(), String> {
        let mut wrong = Vec::new();
        for reading in self.readings() {
            match differences(&reading, observed, tolerance) {
                found if found.is_empty() => return Ok(()),
                found => wrong.push(found.join(", ")),
            }
        }
        Err(wrong.join("; and not as an alternative: "))
    }

    /// The expectation, and each alternative: fields given there override, and where the outcome turns, the rest is left open.
    fn readings(&self) -> Vec<Map<String, Value>> {
        let mut all = vec![self.0.clone()];
        for also in self.0.get("accept_also").and_then(Value::as_array).map_or(&[][..], Vec::as_slice) {
            let also = also.as_object().unwrap();
            let turned = also.get("outcome").is_some_and(|outcome| Some(outcome) != self.0.get("outcome"));
            let mut reading = if turned { Map::new() } else { self.0.clone() };
            reading.extend(also.clone());
            all.push(reading);
        }
        all
    }
}

fn differences(expected: &Map<String, Value>, observed: &Observed, tolerance: Tolerance) -> Vec<String> {
    let mut wrong = Vec::new();
    let partial = expected.get("partial").and_then(Value::as_object);
    let found = |key: &str| -> Option<Value> {
        Some(match key {
            "outcome" => if observed.error_kind.is_some() { "error" } else { "ok" }.into(),
            "error_kind" => observed.error_kind.clone().into(),
            "ttft_ms" => observed.ttft_ms.into(),
            "output_tokens" => observed.output_tokens.into(),
            "token_source" => observed.token_source.clone().into(),
            "itl_count" => observed.itl_count.into(),
            "e2e_ms" | "last_token_ms" => observed.e2e_ms.into(),
            "tpot_ms" => observed.tpot_ms.into(),
            "finish_reason" => observed.finish_reason.clone().into(),
            "token_events" => observed.token_events?.into(),
            "done_ms" => observed.done_ms?.into(),
            "close_ms" => observed.close_ms?.into(),
            "http_status" => observed.http_status?.into(),
            _ => return None,
        })
    };
    for (key, value) in expected.iter().chain(partial.into_iter().flatten()) {
        let Some(found) = found(key) else { continue };
        let same = match (key.ends_with("_ms"), value.as_f64(), found.as_f64()) {
            (true, Some(value), Some(found)) => tolerance.holds(value, found),
            _ => *value == found,
        };
        if !same {
            wrong.push(format!("{key} should be {value}, is {found}"));
        }
    }
    if expected.get("must_warn") == Some(&Value::Bool(true)) && observed.warnings.is_empty() {
        wrong.push("a warning should be given".to_owned());
    }
    wrong
}

/// Where the cases are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Every case, of all endpoints, by name.
pub(crate) fn load_all() -> Vec<Case> {
    let mut folders: Vec<PathBuf> = fs::read_dir(folder().join("streams")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders.iter().map(|path| load(path)).collect()
}

/// The cases of the APIs that this build speaks.
pub(crate) fn load_spoken() -> Vec<Case> {
    let mut cases = load_all();
    cases.retain(|case| matches!(case.expect.endpoint(), "chat" | "completions"));
    cases
}

fn load(folder: &Path) -> Case {
    let read = |name: &str| fs::read_to_string(folder.join(name));
    Case {
        name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
        stream: Stream::parse(&read("stream.txt").unwrap()),
        second: read("stream-2.txt").ok().map(|text| Stream::parse(&text)),
        expect: Expect(serde_json::from_str(&read("expect.json").unwrap()).unwrap()),
    }
}

#[test]
fn the_comparison_finds_a_wrong_report() {
    let expect = |text: &str| Expect(serde_json::from_str(text).unwrap());
    let observed = Observed { ttft_ms: Some(100.0), output_tokens: Some(3), e2e_ms: Some(160.0), ..Observed::default() };
    let base = expect(r#"{"outcome": "ok", "ttft_ms": 100, "output_tokens": 3, "finish_reason": null, "tpot_ms": null}"#);
    assert_eq!(base.matches(&observed, Tolerance::EXACT), Ok(()));
    assert!(base.matches(&Observed { ttft_ms: Some(101.0), ..observed.clone() }, Tolerance::EXACT).is_err());
    assert!(base.matches(&Observed { finish_reason: Some("stop".to_owned()), ..observed.clone() }, Tolerance::EXACT).is_err());
    assert!(base.matches(&Observed { error_kind: Some("empty".to_owned()), ..observed.clone() }, Tolerance::EXACT).is_err());
    let late = Tolerance { early_ms: 1.0, late_ms: 5.0 };
    assert_eq!(base.matches(&Observed { ttft_ms: Some(104.0), ..observed.clone() }, late), Ok(()));
    assert!(base.matches(&Observed { ttft_ms: Some(98.0), ..observed.clone() }, late).is_err());

    let also = expect(
        r#"{"outcome": "error", "error_kind": "truncated", "partial": {"token_events": 9},
            "accept_also": [{"outcome": "ok", "ttft_ms": 100, "must_warn": true}, {"outcome": "error", "error_kind": "malformed"}]}"#,
    );
    assert!(also.matches(&observed, Tolerance::EXACT).is_err(), "no warning");
    assert_eq!(also.matches(&Observed { warnings: vec!["x".to_owned()], ..observed.clone() }, Tolerance::EXACT), Ok(()));
    let failed = |kind: &str, events| Observed { error_kind: Some(kind.to_owned()), token_events: Some(events), ..Observed::default() };
    assert_eq!(also.matches(&failed("truncated", 9), Tolerance::EXACT), Ok(()));
    assert!(also.matches(&failed("truncated", 8), Tolerance::EXACT).is_err());
    assert_eq!(also.matches(&failed("malformed", 9), Tolerance::EXACT), Ok(()));
    assert!(also.matches(&failed("empty", 9), Tolerance::EXACT).is_err());
}
