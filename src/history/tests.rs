use super::*;
use crate::metric::Metric;
use crate::record::{EndReason, HardwareInfo};
use crate::summary::made::{Made, buckets, fail, slo};
use crate::summary::{self, Lens, Scope};

fn made(seed: u64) -> crate::record::Recording {
    Made { seed, rounds: 12, ..Made::default() }.recording()
}

#[test]
fn a_folded_run_gives_the_same_figures() {
    let mut run = made(1);
    fail(&mut run.requests[7]);
    let folded = fold(&run);
    assert!(folded.requests.iter().all(|request| request.gaps.is_empty()));
    let lens = Lens::new(&slo(Vec::new(), Vec::new()), &buckets());
    let (whole, kept) = (summary::of(&run, &lens), summary::of(&folded, &lens));
    assert_eq!(whole.tables(), kept.tables());
    let everything = Scope::default();
    let (whole, kept) = (whole.level("1x").unwrap(), kept.level("1x").unwrap());
    assert_eq!(whole.gaps(&everything), kept.gaps(&everything));
    assert_eq!(whole.samples(Metric::Stall, &everything), kept.samples(Metric::Stall, &everything));
    assert_eq!(fold(&folded), folded, "folding twice changes nothing");
    let text = format!("{folded:?}");
    assert!(!text.contains("no first token"), "a server's words are not kept in a baseline");
}

#[test]
fn what_differs_is_named_and_the_number_of_rounds_is_not() {
    let stored = made(1).conditions;
    let mut now = Made { seed: 2, rounds: 30, ..Made::default() }.recording().conditions;
    assert_eq!(comparable(&stored, &now), []);
    now.target.hardware = Some(HardwareInfo { name: "1x H100".to_owned(), ..HardwareInfo::default() });
    assert_eq!(comparable(&stored, &now), [], "hardware that one side does not name is not compared");
    now.target.model = "other".to_owned();
    now.workload.digest = "cd".repeat(32);
    now.load.concurrency = Some(32);
    now.load.levels[0].round_requests = vec![50; 30];
    now.load.levels[0].warmup = 0;
    now.seed = 7;
    now.definitions = 2;
    let named: Vec<&str> = comparable(&stored, &now).iter().map(|difference| difference.what).collect();
    assert_eq!(named, ["model", "workload", "load", "round", "warm-up", "seed", "metric definitions"]);
    assert_eq!(comparable(&stored, &now)[0].to_string(), "model: was m, is other");
}

#[test]
fn a_run_counts_once_and_never_against_itself() {
    let mut renamed = made(1);
    renamed.conditions.run_id = "copy".to_owned();
    let mut early = made(3);
    early.end.as_mut().unwrap().reason = EndReason::Decided;
    let mut other = made(4);
    other.conditions.seed = 9;
    let mut short = made(6);
    short.rounds.truncate(11);
    let stored = vec![made(2), made(1), made(1), renamed, early, other, short, made(5)];
    let selection = select(stored, &made(5).conditions);
    let ids = |runs: &[crate::record::Recording]| runs.iter().map(|run| run.conditions.run_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&selection.runs).len(), 2);
    assert!(ids(&selection.runs).contains(&"run-2".to_owned()));
    assert_eq!(selection.left_out.len(), 6);
    assert!(selection.left_out.iter().any(|out| out.why == ["it has 11 whole rounds at 1x, and 12 are needed"]));
    assert!(selection.left_out.iter().any(|out| out.why == ["seed: was 9, is 42"]));
}

#[test]
fn changed_limits_are_listed_side_by_side() {
    let mut was = made(1).conditions;
    let mut is = was.clone();
    was.limits = ["ttft p99 <= 800ms", "errors <= 1%", "tpot p95 rises <= 10%"].map(str::to_owned).to_vec();
    is.limits = ["ttft p99 <= 900ms", "errors <= 1%", "goodput >= 95%"].map(str::to_owned).to_vec();
    assert_eq!(
        changed_limits(&was, &is),
        [
            "was ttft p99 <= 800ms / is ttft p99 <= 900ms",
            "was tpot p95 rises <= 10% / is no longer there",
            "was not there / is goodput >= 95%"
        ]
    );
    assert_eq!(changed_limits(&is, &is), Vec::<String>::new());
}
