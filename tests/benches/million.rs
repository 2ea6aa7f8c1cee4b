//! A run of a million requests (or as many as the first argument says): seconds to write, read and judge it, and the most memory that
//! was held, as one line of JSON. Once, not by criterion: it takes minutes.

#![expect(clippy::print_stdout, reason = "its one line is what it is for")]

mod made;

use goodput_gate::record;
use made::judging;
use std::time::Instant;

fn main() {
    let requests = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let (spec, plan) = made::planned(requests);
    let (_, small) = made::planned(20_000);
    let stored: Vec<_> = (2..7).map(|seed| judging::figures(&spec, &made::run(&small, seed))).collect();
    let run = made::run(&plan, 1);
    drop(plan);
    let (writing, file) = timed(|| record::encode(&run).expect("memory"));
    drop(run);
    let (reading, run) = timed(|| record::decode(&file).expect("a run file"));
    drop(file);
    let before = peak_mb();
    let (judging, verdict) = timed(|| judging::judge(&spec, &run, &stored));
    println!(
        "{{\"requests\": {requests}, \"write_s\": {writing:.2}, \"read_s\": {reading:.2}, \"judge_s\": {judging:.2}, \
         \"read_peak_mb\": {before}, \"peak_mb\": {}, \"rules\": {}}}",
        peak_mb(),
        verdict.rules.len()
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let made = work();
    (start.elapsed().as_secs_f64(), made)
}

/// The most memory this process ever held; 0 where the system does not tell.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
