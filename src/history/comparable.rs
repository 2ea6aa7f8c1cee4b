//! Whether two runs may be compared, and what differs where they may not.

use crate::record::{Conditions, LevelInfo, LoadInfo};
use std::fmt;

/// One condition that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which: `model`, `workload`, `load`, …
    pub what: &'static str,
    /// What the stored run was made with.
    pub stored: String,
    /// What this run was made with.
    pub candidate: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: was {}, is {}", self.what, self.stored, self.candidate)
    }
}

/// What keeps `candidate` from being compared with `stored`; empty where nothing does.
///
/// Model, workload, load (concurrency or rate, arrival, levels, round, warm-up; not the number of rounds), seed and definitions must
/// be the same, and the hardware where both name it.
#[must_use]
pub fn comparable(stored: &Conditions, candidate: &Conditions) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut same = |what: &'static str, stored: String, candidate: String| {
        if stored != candidate {
            differences.push(Difference { what, stored, candidate });
        }
    };
    same("model", stored.target.model.clone(), candidate.target.model.clone());
    same("workload", workload(stored), workload(candidate));
    same("load", load(&stored.load), load(&candidate.load));
    same("levels", levels(&stored.load), levels(&candidate.load));
    same("round", rounds(&stored.load, &candidate.load), rounds(&candidate.load, &stored.load));
    same("warm-up", warmup(&stored.load), warmup(&candidate.load));
    same("seed", stored.seed.to_string(), candidate.seed.to_string());
    same("metric definitions", stored.definitions.to_string(), candidate.definitions.to_string());
    if let (Some(old), Some(new)) = (&stored.target.hardware, &candidate.target.hardware) {
        same("hardware", old.name.clone(), new.name.clone());
    }
    differences
}

/// Every condition that differs between two runs, those that forbid a comparison first.
#[must_use]
pub fn differing(stored: &Conditions, candidate: &Conditions) -> Vec<Difference> {
    let mut differences = comparable(stored, candidate);
    let mut same = |what: &'static str, stored: String, candidate: String| {
        if stored != candidate {
            differences.push(Difference { what, stored, candidate });
        }
    };
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    same("target", stored.target.label.clone(), candidate.target.label.clone());
    same("api", stored.target.api.clone(), candidate.target.api.clone());
    same("server", text(&stored.target.server), text(&candidate.target.server));
    same("commit", text(&stored.commit), text(&candidate.commit));
    same("spec", digest(&stored.spec_digest), digest(&candidate.spec_digest));
    same("number of rounds", planned(&stored.load), planned(&candidate.load));
    same("calibrated", stored.calibrated.to_string(), candidate.calibrated.to_string());
    same("set by flag", stored.flags.join(" "), candidate.flags.join(" "));
    same("sent from the machine", digest(&stored.host_digest), digest(&candidate.host_digest));
    same("tool", stored.tool.clone(), candidate.tool.clone());
    differences
}

fn digest(digest: &str) -> String {
    digest.chars().take(12).collect()
}

fn planned(load: &LoadInfo) -> String {
    load.levels.iter().map(|level| level.rounds.to_string()).collect::<Vec<_>>().join(", ")
}

/// Lines of `slo` that differ between the spec of the baseline and this run's, each as `was … / is …`; empty where none does.
#[must_use]
pub fn changed_limits(baseline: &Conditions, candidate: &Conditions) -> Vec<String> {
    let gone: Vec<&String> = missing_from(&baseline.limits, &candidate.limits);
    let mut new: Vec<&String> = missing_from(&candidate.limits, &baseline.limits);
    let mut lines = Vec::new();
    for old in gone {
        // The line that took its place speaks of the same metric and statistic.
        match new.iter().position(|line| subject(line) == subject(old)) {
            Some(at) => lines.push(format!("was {old} / is {}", new.remove(at))),
            None => lines.push(format!("was {old} / is no longer there")),
        }
    }
    lines.extend(new.into_iter().map(|line| format!("was not there / is {line}")));
    lines
}

fn missing_from<'a>(lines: &'a [String], other: &[String]) -> Vec<&'a String> {
    let mut left: Vec<&String> = other.iter().collect();
    lines
        .iter()
        .filter(|line| match left.iter().position(|known| known == line) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        })
        .collect()
}

/// The words of a line before its comparison.
fn subject(line: &str) -> String {
    line.split(['<', '>']).next().unwrap_or(line).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn workload(conditions: &Conditions) -> String {
    let digest = digest(&conditions.workload.digest);
    if conditions.workload.digest.len() <= 12 { digest } else { format!("{} ({digest}…)", conditions.workload.label) }
}

fn load(load: &LoadInfo) -> String {
    match (load.concurrency, load.rate) {
        (Some(concurrency), _) => format!("concurrency {concurrency}, {}", load.arrival),
        (None, Some(rate)) => format!("{rate} requests/s, {}", load.arrival),
        (None, None) => "none".to_owned(),
    }
}

fn levels(load: &LoadInfo) -> String {
    let each = |level: &LevelInfo| match (level.concurrency, level.rate) {
        (Some(concurrency), _) => format!("{} = {concurrency} in flight", level.label),
        (None, Some(rate)) => format!("{} = {rate}/s", level.label),
        (None, None) => level.label.clone(),
    };
    load.levels.iter().map(each).collect::<Vec<_>>().join(", ")
}

/// Requests of the rounds that both runs planned; their number may differ.
fn rounds(load: &LoadInfo, other: &LoadInfo) -> String {
    let each = |(level, other): (&LevelInfo, &LevelInfo)| {
        let common = level.round_requests.len().min(other.round_requests.len());
        let counts = &level.round_requests[..common];
        match counts.first() {
            Some(first) if counts.iter().all(|count| count == first) => format!("{first} requests"),
            Some(_) => counts.iter().map(u32::to_string).collect::<Vec<_>>().join("+"),
            None => "none".to_owned(),
        }
    };
    load.levels.iter().zip(&other.levels).map(each).collect::<Vec<_>>().join(", ")
}

fn warmup(load: &LoadInfo) -> String {
    let each = |level: &LevelInfo| match level.lead {
        0 => format!("{} requests", level.warmup),
        lead => format!("{lead} requests a block"),
    };
    load.levels.iter().map(each).collect::<Vec<_>>().join(", ")
}
