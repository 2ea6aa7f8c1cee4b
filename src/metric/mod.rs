//! The catalogue of metrics: one row each, read by the rule parser, the summary, the reports and the docs.

use crate::units::Unit;

/// Every metric a spec may name. Definitions: the catalogue's `doc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Time to first token.
    Ttft,
    /// Time to first answer token (reasoning left out).
    Ttfa,
    /// Time per output token after the first.
    Tpot,
    /// Longest gap inside one answer.
    Stall,
    /// End to end.
    E2e,
    /// Tokens per second of one answer, 1/tpot.
    Speed,
    /// Sum of the ttft of a session's turns.
    SessionTtft,
    /// A session from first scheduled to last token, less think time.
    SessionE2e,
    /// Gaps between token-bearing events, pooled.
    Itl,
    /// Share of requests that meet every constraint.
    Goodput,
    /// Share of errored requests.
    Errors,
    /// Share of input tokens read from the prefix cache.
    CacheHit,
    /// Good requests per second.
    GoodputRps,
    /// Output tokens of good requests per second.
    GoodputTps,
    /// Finished requests per second.
    ThroughputRps,
    /// Output tokens per second.
    ThroughputTps,
    /// Capacity over target load, less one.
    Headroom,
}

/// What one value of a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// One request; a rule needs a percentile; may stand in `slo.request`.
    Request,
    /// One session; a rule needs a percentile; may stand in `slo.request`.
    Session,
    /// One gap between events; a rule needs a percentile; may not stand in `slo.request`.
    Gap,
    /// The whole service as a share of requests or tokens; no percentile.
    Ratio,
    /// The whole service as a rate; no percentile.
    Rate,
    /// The capacity search; no percentile.
    Search,
}

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less is better: limits are `<=` or `<`, regressions `rises`.
    Low,
    /// More is better: limits are `>=` or `>`, regressions `drops`.
    High,
}

/// One row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Which metric.
    pub metric: Metric,
    /// Its word in specs and files.
    pub name: &'static str,
    /// Its name in tables, as the field writes it.
    pub label: &'static str,
    /// The unit its values are held in.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// What one value belongs to.
    pub per: Per,
    /// Its definition in one sentence.
    pub doc: &'static str,
}

/// Every metric, in the order of the docs.
pub const CATALOGUE: &[Row] = &[
    row(
        Metric::Ttft,
        "ttft",
        "TTFT",
        Unit::Ms,
        Better::Low,
        Per::Request,
        "From when the request was due to leave until its first generated token arrived: queue, network and prefill.",
    ),
    row(Metric::Ttfa, "ttfa", "TTFA", Unit::Ms, Better::Low, Per::Request, "As ttft, but to the first token that is not reasoning."),
    row(
        Metric::Tpot,
        "tpot",
        "TPOT",
        Unit::Ms,
        Better::Low,
        Per::Request,
        "(last token - first token) / (output tokens - 1), a mean within one answer; see stall and itl for its bumps.",
    ),
    row(
        Metric::Stall,
        "stall",
        "stall",
        Unit::Ms,
        Better::Low,
        Per::Request,
        "The longest gap between token-bearing events of one answer.",
    ),
    row(
        Metric::E2e,
        "e2e",
        "E2E",
        Unit::Ms,
        Better::Low,
        Per::Request,
        "From when the request was due to leave until its last generated token arrived.",
    ),
    row(
        Metric::Speed,
        "speed",
        "speed",
        Unit::TokensPerSecond,
        Better::High,
        Per::Request,
        "1 / tpot; slow users are at its low percentiles.",
    ),
    row(
        Metric::SessionTtft,
        "session_ttft",
        "session TTFT",
        Unit::Ms,
        Better::Low,
        Per::Session,
        "The sum of ttft over a session's turns.",
    ),
    row(
        Metric::SessionE2e,
        "session_e2e",
        "session E2E",
        Unit::Ms,
        Better::Low,
        Per::Session,
        "From a session's first scheduled to its last token, less think time.",
    ),
    row(
        Metric::Itl,
        "itl",
        "ITL",
        Unit::Ms,
        Better::Low,
        Per::Gap,
        "The gaps between successive token-bearing events of one answer, every gap a sample.",
    ),
    row(
        Metric::Goodput,
        "goodput",
        "goodput",
        Unit::Share,
        Better::High,
        Per::Ratio,
        "The share of all requests that meet every slo.request constraint; an errored request is not good.",
    ),
    row(Metric::Errors, "errors", "errors", Unit::Share, Better::Low, Per::Ratio, "The share of all requests that errored."),
    row(
        Metric::CacheHit,
        "cache_hit",
        "cache hit",
        Unit::Share,
        Better::High,
        Per::Ratio,
        "The share of input tokens that the server read from its prefix cache.",
    ),
    row(
        Metric::GoodputRps,
        "goodput_rps",
        "goodput req/s",
        Unit::PerSecond,
        Better::High,
        Per::Rate,
        "Good requests per second of the measured window.",
    ),
    row(
        Metric::GoodputTps,
        "goodput_tps",
        "goodput tok/s",
        Unit::TokensPerSecond,
        Better::High,
        Per::Rate,
        "Output tokens of good requests per second of the measured window.",
    ),
    row(
        Metric::ThroughputRps,
        "throughput_rps",
        "throughput req/s",
        Unit::PerSecond,
        Better::High,
        Per::Rate,
        "Finished requests per second of the measured window.",
    ),
    row(
        Metric::ThroughputTps,
        "throughput_tps",
        "throughput tok/s",
        Unit::TokensPerSecond,
        Better::High,
        Per::Rate,
        "Output tokens per second of the measured window.",
    ),
    row(
        Metric::Headroom,
        "headroom",
        "headroom",
        Unit::Share,
        Better::High,
        Per::Search,
        "The highest load that still meets the SLO, over the target load, less one.",
    ),
];

#[expect(clippy::too_many_arguments, reason = "a row of the table above, cell by cell")]
const fn row(metric: Metric, name: &'static str, label: &'static str, unit: Unit, better: Better, per: Per, doc: &'static str) -> Row {
    Row { metric, name, label, unit, better, per, doc }
}

impl Metric {
    /// This metric's row.
    #[must_use]
    pub fn row(self) -> &'static Row {
        CATALOGUE.iter().find(|row| row.metric == self).unwrap_or(&CATALOGUE[0])
    }

    /// Its word in specs and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The metric with this word.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        CATALOGUE.iter().find(|row| row.name == name).map(|row| row.metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_one_row_under_its_own_name() {
        for row in CATALOGUE {
            assert_eq!(row.metric.row().name, row.name);
            assert_eq!(Metric::by_name(row.name), Some(row.metric));
            assert_eq!(CATALOGUE.iter().filter(|other| other.name == row.name).count(), 1);
        }
        assert_eq!(CATALOGUE.len(), Metric::Headroom as usize + 1);
    }
}
