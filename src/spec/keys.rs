//! The table of keys: one row each, read by the reader (which keys exist), `validate --explain` (defaults) and the JSON Schema.

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// A map of the keys below it.
    Map,
    /// A map of any keys.
    Open,
    /// A scalar, or a map of the keys below it.
    TextOrMap,
    /// A map of the keys below it, or a list of such maps.
    MapOrList,
    /// Any text.
    Text,
    /// Text that a pattern describes, with the pattern; YAML may read it as a number.
    Pattern(&'static str),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number within these bounds.
    Integer(u64, u64),
    /// A number.
    Number,
    /// A list of texts of this pattern.
    Texts(&'static str),
    /// A list of lines of the rule grammar.
    Lines(Grammar),
}

/// Which lines of the rule grammar a list takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    Constraint,
    Require,
    Regression,
    Advise,
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// Where it stands: `target.timeout.connect`.
    pub(super) path: &'static str,
    /// What it takes.
    pub(super) shape: Shape,
    /// Its default as one would write it; empty where there is none.
    pub(super) default: &'static str,
    /// What it means, in a sentence.
    pub(super) doc: &'static str,
}

const DURATION: Shape = Shape::Pattern(r"^([0-9]+(\.[0-9]+)? *(us|ms|s|m|h) *)+$");
const TOKENS: Shape = Shape::Pattern(r"^[0-9]+(\.[0-9]+)? *k?$");
const SHARE: Shape = Shape::Pattern(r"^[0-9]+(\.[0-9]+)? *%$");
const TIMES: &str = r"^[0-9]+(\.[0-9]+)? *x$";
const FORMULA: Shape = Shape::Pattern(r"^(constant|uniform|normal|lognormal)\(.*\)$");

/// The words of `use`.
pub(super) const USES: &[&str] = &["chat", "voice", "code-completion", "document", "agent", "batch", "reasoning"];
/// The bundled lengths.
pub(super) const LENGTHS: &[&str] = &["chat", "code-completion", "long-context-chat", "reasoning", "agent-coding", "batch"];

/// Every key, parents before children, in the order of the docs.
pub(super) const KEYS: &[Key] = &[
    key("version", Shape::Integer(1, 1), "1", "The version of this format."),
    key("name", Shape::Pattern("^[a-z0-9-]{1,64}$"), "", "The gate's name; it names the baseline too."),
    key("use", Shape::Choice(USES), "", "What the service is for: picks the advice, no numbers."),
    key("target", Shape::Map, "", "Where the load goes."),
    key(
        "target.url",
        Shape::Text,
        "",
        "The base URL, as http://127.0.0.1:8000/v1, or sim://… for the built-in simulated server. ${NAME} is replaced for GOODPUT_VAR_ names.",
    ),
    key("target.alias", Shape::Text, "", "Shown in reports instead of the URL."),
    key(
        "target.api",
        Shape::Choice(&["chat", "completions", "responses", "messages", "tgi", "ollama", "auto"]),
        "chat",
        "The protocol; responses, messages, tgi and ollama are not in this version yet.",
    ),
    key("target.model", Shape::Text, "auto", "The model's name; auto is the first of GET /models."),
    key("target.hardware", Shape::TextOrMap, "", "What the server runs on: shown, compared, and read for advice and cost."),
    key("target.hardware.name", Shape::Text, "", "A free label, as 1x H100-SXM."),
    key(
        "target.hardware.bandwidth",
        Shape::Pattern(r"^[0-9]+(\.[0-9]+)? *[MGT]i?B/s$"),
        "",
        "Memory bandwidth, as 3350 GB/s; feeds advice.",
    ),
    key(
        "target.hardware.price",
        Shape::Pattern(r"^[0-9]+(\.[0-9]+)? */h$"),
        "",
        "Price per hour in a currency of yours, as 2.5/h; feeds cost.",
    ),
    key("target.model_bytes", Shape::Pattern(r"^[0-9]+(\.[0-9]+)? *[MGT]i?B$"), "", "Size of the weights, as 16.41 GB; feeds advice."),
    key("target.tokenizer", Shape::Text, "", "A tokenizer.json; only in builds with the feature `tokenizer`."),
    key("target.metrics", Shape::Text, "", "The server's Prometheus page, or none; by default it is tried beside the URL."),
    key("target.timeout", Shape::Map, "", "When a request is given up."),
    key("target.timeout.connect", DURATION, "5s", "For opening the connection."),
    key("target.timeout.first_token", DURATION, "60s", "From sending to the first token."),
    key("target.timeout.between_tokens", DURATION, "30s", "Between two tokens."),
    key("target.timeout.total", DURATION, "300s", "For the whole request."),
    key(
        "target.body",
        Shape::Open,
        "{}",
        "Merged into each request's JSON; may not hold what the gate owns (model, messages, max_tokens, …).",
    ),
    key("target.headers", Shape::Open, "{}", "Sent with each request; never a credential."),
    key(
        "workload",
        Shape::MapOrList,
        "",
        "What is sent; or a list of named parts with shares: [{ name: chat, share: 60%, … }, …]. Rules speak of one with `for NAME`.",
    ),
    key("workload.name", Shape::Pattern("^[a-z0-9-]{1,64}$"), "", "The part's name, where the workload is a list."),
    key("workload.share", SHARE, "", "The part's share of the requests, where the workload is a list."),
    key(
        "workload.lengths",
        Shape::TextOrMap,
        "chat",
        "How long prompts and answers are: a bundled sample (chat, code-completion, long-context-chat, reasoning, agent-coding, batch), { file: … } or { input: …, output: … }.",
    ),
    key("workload.lengths.file", Shape::Text, "", "A CSV or JSONL file of pairs, at or below the spec's folder."),
    key(
        "workload.lengths.input",
        FORMULA,
        "",
        "Input tokens: constant(N), uniform(A, B), normal(mean=M, sd=S) or lognormal(mean=M, sd=S).",
    ),
    key(
        "workload.lengths.output",
        FORMULA,
        "",
        "Output tokens: constant(N), uniform(A, B), normal(mean=M, sd=S) or lognormal(mean=M, sd=S).",
    ),
    key("workload.prompts", Shape::TextOrMap, "unique", "unique: text that no other prompt of any run has; or { file: prompts.jsonl }."),
    key(
        "workload.prompts.file",
        Shape::Text,
        "",
        "A JSONL file of texts or messages, or a JSON array of conversations as ShareGPT's, at or below the spec's folder.",
    ),
    key("workload.max_input", TOKENS, "", "Longer pairs are dropped from the sample, never clamped, and counted."),
    key("workload.max_output", TOKENS, "", "Longer pairs are dropped from the sample, never clamped, and counted."),
    key(
        "workload.exact_output",
        Shape::Choice(&["auto", "true", "false"]),
        "auto",
        "Whether exactly that many tokens are asked for (ignore_eos, min_tokens); auto: where the server takes it.",
    ),
    key(
        "workload.turns",
        Shape::Pattern(r"^([0-9]+|geometric\(.*\))$"),
        "1",
        "Turns a session: a number or geometric(mean=4); later turns carry the history. In a closed loop.",
    ),
    key(
        "workload.history",
        Shape::Choice(&["recorded", "live"]),
        "recorded",
        "What later turns carry: canned words of the recorded lengths; live, the answers themselves, is not in this version yet.",
    ),
    key("workload.think", DURATION, "", "From a turn's end to the next: default as recorded (agent-coding), else none."),
    key("workload.shared_prefix", TOKENS, "0", "Tokens that every prompt of a group begins with, as a system prompt."),
    key(
        "workload.prefix_hit",
        SHARE,
        "0%",
        "Offered prefix-cache reuse, the share of each prompt that its group has sent before; 0% is cold.",
    ),
    key(
        "workload.prefix_groups",
        Shape::Integer(1, 100_000),
        "1",
        "Groups of prompts that share a beginning: tenants, documents, system prompts.",
    ),
    key("workload.zipf", Shape::Number, "1", "How unequal the groups are: group g is drawn in proportion to g^-zipf."),
    key("load", Shape::Map, "", "How much is sent."),
    key("load.concurrency", Shape::Integer(1, 100_000), "", "Closed loop: this many requests in flight."),
    key("load.rate", Shape::Pattern(r"^[0-9]+(\.[0-9]+)? */s$"), "", "Open loop: this many requests per second, as 12/s."),
    key(
        "load.arrival",
        Shape::Pattern(r"^(poisson|constant|trace|gamma\(.*\))$"),
        "poisson",
        "How open-loop arrivals are spaced: poisson, constant or gamma(shape=0.5); trace is not in this version yet.",
    ),
    key(
        "load.levels",
        Shape::Texts(TIMES),
        "[1x]",
        "Multiples of the target load, run in this order; a rule applies at 1x unless it says `at 2x`.",
    ),
    key(
        "load.rounds",
        Shape::Pattern(r"^[0-9]+(\.\.[0-9]+)?$"),
        "40",
        "Consecutive blocks of one continuous load; 20..120 goes on while undecided. 12 whole rounds are the fewest that can be judged with intervals.",
    ),
    key(
        "load.round",
        Shape::Pattern(r"^[0-9]+(\.[0-9]+)? *(x|requests?|ms|s|m|h)$"),
        "1x",
        "A round's length: 1x is the level's concurrency and at least 25; or 50 requests; in open loop also 20s.",
    ),
    key(
        "load.warmup",
        Shape::Pattern(r"^[0-9]+(\.[0-9]+)? *(x|requests?)$"),
        "1x",
        "Sent before a level's first round and never counted: 1x is the level's concurrency and at least 20; or 0 requests.",
    ),
    key("load.min_time", DURATION, "0s", "A level lasts at least this long."),
    key("load.seed", Shape::Integer(0, 9_007_199_254_740_991), "42", "Fixes lengths, arrivals and shared text."),
    key("slo", Shape::Map, "", "What must hold."),
    key("slo.request", Shape::Lines(Grammar::Constraint), "", "All of these must hold for a request to count as good."),
    key("slo.require", Shape::Lines(Grammar::Require), "", "Promises of the service."),
    key("slo.regression", Shape::Lines(Grammar::Regression), "", "How much worse than the baseline is allowed."),
    key("slo.advise", Shape::Lines(Grammar::Advise), "", "Shown, never decides."),
    key(
        "slo.confidence",
        Shape::Pattern(r"^(point|[0-9]+(\.[0-9]+)? *%)$"),
        "95%",
        "One-sided, for a fail and for a pass; or point: bare estimates.",
    ),
    key(
        "slo.rule_out",
        Shape::Pattern(TIMES),
        "2.5x",
        "A pass must rule out this multiple of the odds that a rule allows (an allowed 5 %: 11.6 %), or of an allowed change; 1x: a pass must be proven.",
    ),
    key("slo.on_inconclusive", Shape::Choice(&["fail", "warn"]), "fail", "What an inconclusive verdict does to the exit code."),
    key("buckets", Shape::Map, "", "Edges of the length buckets in reports."),
    key("buckets.input", Shape::Texts(r"^[0-9]+(\.[0-9]+)? *k?$"), "[1k, 8k]", "By input tokens."),
    key("buckets.output", Shape::Texts(r"^[0-9]+(\.[0-9]+)? *k?$"), "[300, 1000]", "By output tokens."),
    key("validity", Shape::Map, "", "What makes a run valid."),
    key(
        "validity.client_lag",
        DURATION,
        "",
        "The client's own lateness (P99) beyond which a run is invalid; default max(5 ms, 1 % of the tightest ttft limit).",
    ),
    key("budget", Shape::Map, "", "Where to stop cleanly."),
    key("budget.time", DURATION, "", "Wall time of the load."),
    key("budget.tokens", Shape::Pattern(r"^[0-9]+(\.[0-9]+)? *M?$"), "", "Input and output tokens together, as 5M."),
    key("budget.cost", Shape::Number, "", "In the units of the prices given."),
];

const fn key(path: &'static str, shape: Shape, default: &'static str, doc: &'static str) -> Key {
    Key { path, shape, default, doc }
}

/// The rows right below `path`; the top level for an empty one.
pub(super) fn below(path: &str) -> impl Iterator<Item = &'static Key> {
    let path = path.to_owned();
    KEYS.iter().filter(move |row| row.path.rsplit_once('.').map_or("", |(parent, _)| parent) == path)
}

/// The names of the keys right below `path`.
pub(super) fn children(path: &str) -> Vec<&'static str> {
    below(path).map(|row| row.path.rsplit('.').next().unwrap_or(row.path)).collect()
}

/// The row of `path`.
pub(super) fn row(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|row| row.path == path)
}

/// Whether the map at `path` takes any keys.
pub(super) fn is_open(path: &str) -> bool {
    row(path).is_some_and(|row| row.shape == Shape::Open)
}
