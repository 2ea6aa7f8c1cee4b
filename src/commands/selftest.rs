//! `selftest`: proves that this build can block. Made runs go the whole way of `judge`, from the bytes of a run file to the exit code.

use super::baselines::Chosen;
use super::{Error, Exit, decide};
use crate::console::Console;
use crate::plan::{self, Inputs, Plan};
use crate::record::{self, Conditions, Recording, TargetInfo};
use crate::sim::{Truth, made};
use crate::spec::{self, Permissions, Source, Spec};
use std::fmt::Write as _;

/// Judged as any spec is; nothing is ever sent to its target.
const SPEC: &str = "name: selftest
workload: { lengths: { input: 'uniform(100, 900)', output: 'uniform(20, 60)' } }
load: { concurrency: 16 }
slo:
  request: [ttft <= 1s, tpot <= 50ms]
  require: [goodput >= 95%, ttft p99 <= 1s, errors <= 1%]
  regression: [goodput drops <= 2pp, ttft p95 rises <= 10%, tpot p95 rises <= 10%]
";
/// A healthy server.
const HEALTHY: Truth = Truth { ttft_ms: 200.0, tpot_ms: 20.0, jitter: 0.25, seed: 0 };
/// Runs that it is compared with.
const STORED: u64 = 5;

/// What must come of one made run.
struct Case {
    what: &'static str,
    must_be: Exit,
    truth: Option<Truth>,
}

const CASES: [Case; 4] = [
    Case { what: "an unchanged server", must_be: Exit::Pass, truth: Some(HEALTHY) },
    Case { what: "a run in which nothing was measured", must_be: Exit::Invalid, truth: None },
    Case { what: "a server over its limits", must_be: Exit::Broken, truth: Some(Truth { ttft_ms: 1400.0, ..HEALTHY }) },
    Case {
        what: "a server half again as slow to its first token",
        must_be: Exit::Regression,
        truth: Some(Truth { ttft_ms: 300.0, ..HEALTHY }),
    },
];

/// Judges every case; one line each. [`Exit::Bug`] where one came out otherwise.
///
/// # Errors
/// Where stdout cannot be written.
pub fn selftest(console: &Console) -> Result<Exit, Error> {
    let source = Source { name: "selftest".to_owned(), text: SPEC.to_owned() };
    // Whatever goes wrong here is a bug of this build, and never the user's.
    let bug = |error: &dyn std::error::Error| Error::Runtime(std::io::Error::other(error.to_string()));
    let spec = spec::parse(&source, &Permissions::default()).map_err(|error| bug(&error))?.spec;
    let plan = plan::build(&spec, &Inputs::default(), 0).map_err(|error| bug(&error))?;
    let mut exit = Exit::Pass;
    let mut text = String::new();
    for (number, case) in (0..).zip(&CASES) {
        let found = judge(&spec, &plan, number, case).map_err(Error::Runtime)?;
        let holds = found == case.must_be;
        exit = if holds { exit } else { Exit::Bug };
        let word = if holds { "ok" } else { "WRONG" };
        let _ = writeln!(text, "{word}: {} gives {} and must give {}", case.what, found.code(), case.must_be.code());
    }
    let _ = writeln!(text, "{}", if exit == Exit::Pass { "this build can block" } else { "this build must not be used as a gate" });
    console.result(&text).map_err(Error::Stdout)?;
    Ok(exit)
}

fn judge(spec: &Spec, plan: &Plan, number: u64, case: &Case) -> std::io::Result<Exit> {
    let run = |seed: u64, truth: Option<Truth>| filed(plan, seed, truth);
    let stored = (1..=STORED).map(|seed| run(seed, Some(HEALTHY))).collect::<Result<Vec<_>, _>>()?;
    let candidate = run(100 + number, case.truth)?;
    let chosen = Chosen { runs: stored, ..Chosen::default() };
    Ok(decide::judge(spec, &candidate, chosen, None).exit)
}

/// A made run as it is after a run file was written and read again. Without a truth nothing was ever sent.
fn filed(plan: &Plan, seed: u64, truth: Option<Truth>) -> std::io::Result<Recording> {
    let mut recording = made(plan, conditions(plan, seed), &Truth { seed, ..truth.unwrap_or(HEALTHY) });
    if truth.is_none() {
        recording.requests.clear();
        recording.rounds.clear();
    }
    record::decode(&record::encode(&recording)?).map_err(std::io::Error::other)
}

fn conditions(plan: &Plan, seed: u64) -> Conditions {
    Conditions {
        run_id: format!("selftest-{seed}"),
        tool: concat!("goodput-gate ", env!("CARGO_PKG_VERSION")).to_owned(),
        name: "selftest".to_owned(),
        spec_digest: String::new(),
        limits: Vec::new(),
        target: TargetInfo { label: "made".to_owned(), api: "chat".to_owned(), model: "made".to_owned(), ..TargetInfo::default() },
        workload: plan.workload_info(),
        load: plan.load_info(),
        seed: 42,
        started: format!("2026-01-01T00:00:{:02}Z", seed % 60),
        host_digest: String::new(),
        commit: None,
        pull_request: None,
        definitions: 1,
        flags: Vec::new(),
        calibrated: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_gives_what_it_must() {
        let source = Source { name: "selftest".to_owned(), text: SPEC.to_owned() };
        let spec = spec::parse(&source, &Permissions::default()).unwrap().spec;
        let plan = plan::build(&spec, &Inputs::default(), 0).unwrap();
        for (number, case) in (0..).zip(&CASES) {
            assert_eq!(judge(&spec, &plan, number, case).unwrap(), case.must_be, "{}", case.what);
        }
    }
}
