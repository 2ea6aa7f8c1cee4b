//! The bundled length samples: real pairs of input and output tokens, 2,048 each, cut from public traces.

use super::rows;
use super::sessions::{Turn, recorded};
use std::collections::BTreeMap;

/// A bundled sample, for the `workloads` command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundledWorkload {
    /// As written in `workload.lengths`.
    pub name: &'static str,
    /// What it stands for.
    pub about: &'static str,
    /// Where it was taken from, and what was done to it.
    pub source: &'static str,
    /// Its licence, its owner, and what to cite.
    pub licence: &'static str,
    /// Pairs of the sample.
    pub pairs: u64,
    /// Input tokens.
    pub input: Percentiles,
    /// Output tokens.
    pub output: Percentiles,
    /// Pairs by input tokens: up to a power of two, and how many.
    pub input_bins: Vec<(u64, u64)>,
    /// Pairs by output tokens, in the same way.
    pub output_bins: Vec<(u64, u64)>,
}

/// How many of `lengths` lie at or below each power of two and above the one before, from the first that holds any to the last.
fn bins(lengths: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut bins = BTreeMap::new();
    for length in lengths {
        *bins.entry(length.max(1).next_power_of_two()).or_insert(0) += 1;
    }
    let (Some(first), Some(last)) = (bins.keys().next().copied(), bins.keys().next_back().copied()) else { return Vec::new() };
    let ends = std::iter::successors(Some(first), |end| end.checked_mul(2)).take_while(|end| *end <= last);
    ends.map(|end| (end, bins.get(&end).copied().unwrap_or(0))).collect()
}

/// Percentiles in tokens, each the smallest value that at least that share lies at or below (nearest rank).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Percentiles {
    /// Half lie at or below.
    pub p50: u64,
    /// 90 % lie at or below.
    pub p90: u64,
    /// 95 % lie at or below.
    pub p95: u64,
    /// 99 % lie at or below.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

struct Sample {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    licence: &'static str,
    csv: &'static str,
}

const AZURE: &str = "CC-BY-4.0 (https://creativecommons.org/licenses/by/4.0/), (c) Microsoft; cite Patel et al., \"Splitwise: Efficient \
                     generative LLM inference using phase splitting\", ISCA 2024";

const SAMPLES: [Sample; 6] = [
    Sample {
        name: "chat",
        about: "conversation: prompts of about a thousand tokens, short answers",
        source: "Azure LLM inference trace 2023 (conversation), https://github.com/Azure/AzurePublicDataset; a 2,048-row systematic \
                 sample, timestamps removed, columns renamed",
        licence: AZURE,
        csv: include_str!("data/chat.csv"),
    },
    Sample {
        name: "code-completion",
        about: "code completion: long prompts, very short answers",
        source: "Azure LLM inference trace 2023 (code), https://github.com/Azure/AzurePublicDataset; a 2,048-row systematic sample, \
                 timestamps removed, columns renamed",
        licence: AZURE,
        csv: include_str!("data/code-completion.csv"),
    },
    Sample {
        name: "long-context-chat",
        about: "documents and retrieval: prompts of many thousand tokens",
        source: "Mooncake FAST'25 conversation_trace.jsonl, https://github.com/kvcache-ai/Mooncake; a 2,048-row systematic sample, \
                 timestamps and hashes removed, columns renamed",
        licence: "Apache-2.0; cite Qin et al., \"Mooncake\", FAST 2025",
        csv: include_str!("data/long-context-chat.csv"),
    },
    Sample {
        name: "reasoning",
        about: "reasoning: short prompts, long answers",
        source: "ServeGen deepseek-r1 client distributions, https://github.com/alibaba/ServeGen; 2,048 sampled pairs",
        licence: "Apache-2.0; cite Xiang et al., arXiv:2505.09999",
        csv: include_str!("data/reasoning.csv"),
    },
    Sample {
        name: "agent-coding",
        about: "coding agents: sessions of many turns, each carrying what was said before",
        source: "Claude Code traces in https://github.com/callanjfox/kv-cache-tester; 96 sessions cut at 126k tokens of context and 80 \
                 turns, think time capped at 60 s",
        licence: "Apache-2.0 (WEKA; agentic-coding-analysis)",
        csv: include_str!("data/agent-coding-sessions.csv"),
    },
    Sample {
        name: "batch",
        about: "offline batches: the lengths of `chat`, for a closed loop at fixed concurrency",
        source: "as `chat`: no public trace of batch traffic is known",
        licence: AZURE,
        csv: include_str!("data/chat.csv"),
    },
];

/// The bundled sessions.
pub(super) fn sessions() -> Vec<Vec<Turn>> {
    SAMPLES.iter().find(|sample| sample.name == "agent-coding").map(|sample| recorded(sample.csv)).unwrap_or_default()
}

/// Every bundled workload with its percentiles, source and licence.
#[must_use]
pub fn workloads() -> Vec<BundledWorkload> {
    SAMPLES
        .iter()
        .map(|sample| {
            let pairs = rows::bundled(sample.csv);
            BundledWorkload {
                name: sample.name,
                about: sample.about,
                source: sample.source,
                licence: sample.licence,
                pairs: pairs.len() as u64,
                input_bins: bins(pairs.iter().map(|pair| pair.0)),
                output_bins: bins(pairs.iter().map(|pair| pair.1)),
                input: Percentiles::of(pairs.iter().map(|pair| (pair.0, 1.0))),
                output: Percentiles::of(pairs.iter().map(|pair| (pair.1, 1.0))),
            }
        })
        .collect()
}

/// The pairs of the sample called `name`.
pub(super) fn sample(name: &str) -> Option<Vec<(u64, u64)>> {
    SAMPLES.iter().find(|sample| sample.name == name).map(|sample| rows::bundled(sample.csv))
}

impl Percentiles {
    /// Of values with weights; zeros where there are none.
    pub(super) fn of(weighted: impl Iterator<Item = (u64, f64)>) -> Self {
        let mut sorted: Vec<_> = weighted.collect();
        sorted.sort_by_key(|each| each.0);
        let total: f64 = sorted.iter().map(|each| each.1).sum();
        let at = |share: f64| {
            let mut sum = 0.0;
            sorted
                .iter()
                .find(|(_, weight)| {
                    sum += weight;
                    sum >= share * total * (1.0 - 1e-9)
                })
                .or(sorted.last())
                .map_or(0, |each| each.0)
        };
        Self { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: sorted.last().map_or(0, |each| each.0) }
    }
}
