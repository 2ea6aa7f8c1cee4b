//! `sim://…`: what a simulated server does, as text and as values.

use super::SimError;
use super::value::{choice, count, duration, factor, on_off, share, sigma, word};
use std::time::Duration;

/// What a simulated server does.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// When tokens come.
    pub kind: Kind,
    /// The served model's name.
    pub model: String,
    /// The served context in tokens, told by `/v1/models`; longer requests get HTTP 400.
    pub context: u64,
    /// σ of a log-normal factor with median 1, drawn once a request for its time to first token and once for its token gaps.
    pub jitter: f64,
    /// The share of requests whose time to first token is `tail_factor` times as long.
    pub tail: f64,
    /// See `tail`.
    pub tail_factor: f64,
    /// Every time is this many times as long: a regression to be found.
    pub slow: f64,
    /// The share of requests that fail.
    pub errors: f64,
    /// How these fail.
    pub error: Fault,
    /// Tokens in one event; an event is written when its last token is due.
    pub tokens_per_event: u64,
    /// Whether a chat stream begins with an event that holds a role and no text.
    pub role: bool,
    /// Whether `usage` is given when it is asked for.
    pub usage: bool,
    /// Prompt tokens reported as read from a prefix cache.
    pub cached: u64,
    /// Tokens that its prefix cache holds; 0: it has none.
    pub cache: u64,
    /// Tokens after which the model stops by itself where `ignore_eos` and `min_tokens` let it; 0: never before `max_tokens`.
    pub natural: u64,
    /// Of every draw.
    pub seed: u64,
}

/// When tokens come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Token k, from 0, is written at arrival + ttft + k × tpot, whatever the load.
    Steady {
        /// Arrival to the first token.
        ttft: Duration,
        /// Between tokens.
        tpot: Duration,
    },
    /// First come, first served: a request waits for one of the slots, holds it for prefill + tokens × tpot, and its token k
    /// is written at its start + prefill + k × tpot.
    Queue {
        /// Requests served at once.
        slots: usize,
        /// A slot's start to the first token.
        prefill: Duration,
        /// More prefill for each prompt token.
        prefill_per_token: Duration,
        /// Between tokens.
        tpot: Duration,
    },
}

/// How a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// HTTP 500 at once.
    Http500,
    /// HTTP 429 at once.
    Http429,
    /// HTTP 503 at once.
    Http503,
    /// Half of the tokens, then an error object in the stream.
    InStream,
    /// Half of the tokens, then a clean end.
    Truncated,
    /// Half of the tokens, then the connection is cut.
    Disconnect,
    /// Half of the tokens, then nothing more.
    Stall,
    /// A whole stream without a token.
    Empty,
}

/// Each fault and its word.
const FAULTS: [(&str, Fault); 8] = [
    ("http_500", Fault::Http500),
    ("http_429", Fault::Http429),
    ("http_503", Fault::Http503),
    ("in_stream", Fault::InStream),
    ("truncated", Fault::Truncated),
    ("disconnect", Fault::Disconnect),
    ("stall", Fault::Stall),
    ("empty", Fault::Empty),
];

/// Options of every kind, each with an example.
const COMMON: [(&str, &str); 15] = [
    ("model", "model=sim"),
    ("context", "context=131072"),
    ("jitter", "jitter=0.1"),
    ("tail", "tail=1%"),
    ("tail_factor", "tail_factor=10"),
    ("slow", "slow=1.5"),
    ("errors", "errors=1%"),
    ("error", "error=http_500, or http_429, http_503, in_stream, truncated, disconnect, stall, empty"),
    ("tokens_per_event", "tokens_per_event=1"),
    ("role", "role=on"),
    ("usage", "usage=on"),
    ("cached", "cached=0"),
    ("cache", "cache=1000000"),
    ("natural", "natural=0"),
    ("seed", "seed=42"),
];
const STEADY: [(&str, &str); 2] = [("ttft", "ttft=200ms"), ("tpot", "tpot=20ms")];
const QUEUE: [(&str, &str); 4] =
    [("slots", "slots=8"), ("prefill", "prefill=100ms"), ("prefill_per_token", "prefill_per_token=20us"), ("tpot", "tpot=10ms")];

/// Reads `sim://KIND?option=value&…`.
///
/// # Errors
/// [`SimError`]: a kind, an option or a value that does not exist; options that were probably meant are named.
pub fn parse(url: &str) -> Result<Profile, SimError> {
    let address = || SimError::Address { text: url.to_owned() };
    let rest = url.strip_prefix("sim://").ok_or_else(address)?;
    let (kind, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (kind_name, kind) = match kind.trim_end_matches('/') {
        "steady" => ("steady", Kind::Steady { ttft: Duration::from_millis(200), tpot: Duration::from_millis(20) }),
        "queue" => (
            "queue",
            Kind::Queue {
                slots: 8,
                prefill: Duration::from_millis(100),
                prefill_per_token: Duration::ZERO,
                tpot: Duration::from_millis(10),
            },
        ),
        "" => return Err(address()),
        other => return Err(SimError::Kind { kind: other.to_owned() }),
    };
    let mut profile = Profile { kind, ..Profile::default() };
    let mut seen: Vec<String> = Vec::new();
    for (option, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let Some(known) = options(kind_name).into_iter().find(|known| *known == option) else {
            return Err(SimError::Option { kind: kind_name, near: near(kind_name, &option), option: option.into_owned() });
        };
        if seen.iter().any(|before| *before == option) {
            return Err(SimError::Twice { option: option.into_owned() });
        }
        profile.set(known, &value)?;
        seen.push(option.into_owned());
    }
    Ok(profile)
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            kind: Kind::Steady { ttft: Duration::from_millis(200), tpot: Duration::from_millis(20) },
            model: "sim".to_owned(),
            context: 131_072,
            jitter: 0.0,
            tail: 0.0,
            tail_factor: 10.0,
            slow: 1.0,
            errors: 0.0,
            error: Fault::Http500,
            tokens_per_event: 1,
            role: true,
            usage: true,
            cached: 0,
            cache: 0,
            natural: 0,
            seed: 42,
        }
    }
}

impl Profile {
    fn set(&mut self, option: &'static str, value: &str) -> Result<(), SimError> {
        match option {
            "model" => self.model = word(option, value)?,
            "context" => self.context = count(option, value, 1)?,
            "jitter" => self.jitter = sigma(option, value)?,
            "tail" => self.tail = share(option, value)?,
            "tail_factor" => self.tail_factor = factor(option, value)?,
            "slow" => self.slow = factor(option, value)?,
            "errors" => self.errors = share(option, value)?,
            "error" => self.error = choice(option, value, &FAULTS)?,
            "tokens_per_event" => self.tokens_per_event = count(option, value, 1)?,
            "role" => self.role = on_off(option, value)?,
            "usage" => self.usage = on_off(option, value)?,
            "cached" => self.cached = count(option, value, 0)?,
            "cache" => self.cache = count(option, value, 0)?,
            "natural" => self.natural = count(option, value, 0)?,
            "seed" => self.seed = count(option, value, 0)?,
            _ => self.kind.set(option, value)?,
        }
        Ok(())
    }
}

impl Kind {
    fn set(&mut self, option: &'static str, value: &str) -> Result<(), SimError> {
        match (self, option) {
            (Self::Steady { ttft, .. }, "ttft") => *ttft = duration(option, value)?,
            (Self::Queue { slots, .. }, "slots") => {
                *slots = usize::try_from(count(option, value, 1)?.min(1_000_000)).unwrap_or(usize::MAX);
            }
            (Self::Queue { prefill, .. }, "prefill") => *prefill = duration(option, value)?,
            (Self::Queue { prefill_per_token, .. }, "prefill_per_token") => *prefill_per_token = duration(option, value)?,
            (Self::Steady { tpot, .. } | Self::Queue { tpot, .. }, "tpot") => *tpot = duration(option, value)?,
            _ => {}
        }
        Ok(())
    }
}

fn table(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let own: &[(&str, &str)] = if kind == "queue" { &QUEUE } else { &STEADY };
    own.iter().chain(COMMON.iter()).copied()
}

/// The options of a kind, by name.
pub(super) fn options(kind: &str) -> Vec<&'static str> {
    table(kind).map(|(name, _)| name).collect()
}

/// How an option is written.
pub(super) fn example(option: &str) -> &'static str {
    table("steady").chain(table("queue")).find(|(name, _)| *name == option).map_or("", |(_, example)| example)
}

fn near(kind: &str, option: &str) -> Option<&'static str> {
    options(kind)
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(known, option), known))
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1))
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_the_rest_keeps_its_default() {
        let profile = parse("sim://steady?ttft=350ms&tpot=1.5ms&jitter=0.2&errors=2%&error=stall&model=a/b&slow=1.5&usage=off").unwrap();
        assert_eq!(profile.kind, Kind::Steady { ttft: Duration::from_millis(350), tpot: Duration::from_micros(1500) });
        assert_eq!((profile.jitter, profile.errors, profile.error, profile.slow), (0.2, 0.02, Fault::Stall, 1.5));
        assert_eq!((profile.model.as_str(), profile.usage, profile.role), ("a/b", false, true));
        assert_eq!(parse("sim://steady").unwrap(), Profile::default());
        let queue = parse("sim://queue?slots=2&prefill=1s&prefill_per_token=10us&tpot=0ms").unwrap();
        let expected =
            Kind::Queue { slots: 2, prefill: Duration::from_secs(1), prefill_per_token: Duration::from_micros(10), tpot: Duration::ZERO };
        assert_eq!(queue.kind, expected);
    }

    #[test]
    fn a_mistyped_option_names_the_one_that_was_meant() {
        let error = parse("sim://steady?tfft=1ms").unwrap_err();
        assert_eq!(error.to_string(), "`steady` has no option `tfft`");
        assert_eq!(error.help(), "did you mean `ttft`?");
        assert!(parse("sim://steady?slots=3").unwrap_err().help().contains("ttft, tpot"), "an option of another kind");
    }

    #[test]
    fn bad_addresses_kinds_and_values_say_what_would_do() {
        for (url, message) in [
            ("sim:steady", "`sim:steady` is no address of a simulated server"),
            ("sim://", "`sim://` is no address of a simulated server"),
            ("sim://engine?gpu=h100", "there is no simulated server `engine`"),
            ("sim://steady?ttft=200", "`ttft=200` is not a time with a unit"),
            ("sim://steady?ttft=-1ms", "`ttft=-1ms` is not a time with a unit"),
            ("sim://steady?ttft=2h", "`ttft=2h` is not a time with a unit"),
            ("sim://steady?errors=101%", "`errors=101%` is not a share between 0% and 100%"),
            ("sim://steady?slow=0", "`slow=0` is not a factor between 0.001 and 1000"),
            ("sim://steady?slow=NaN", "`slow=NaN` is not a factor between 0.001 and 1000"),
            ("sim://steady?error=oops", "`error=oops` is not one of its words"),
            ("sim://steady?role=yes", "`role=yes` is not on or off"),
            ("sim://queue?slots=0", "`slots=0` is not a whole number of at least 1"),
            ("sim://steady?seed=1&seed=2", "the option `seed` stands twice"),
        ] {
            let error = parse(url).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(!error.help().is_empty());
        }
        assert!(parse("sim://engine").unwrap_err().help().contains("sim://queue"), "unknown kinds say which exist");
    }
}
