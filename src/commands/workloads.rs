//! `workloads`: the bundled samples, their percentiles, sources and licences.

use super::{Error, Exit};
use crate::console::Console;
use crate::plan;
use std::fmt::Write as _;

/// Lists them, or shows one.
///
/// # Errors
/// Where there is none of that name, or stdout cannot be written.
pub fn workloads(name: Option<&str>, console: &Console) -> Result<Exit, Error> {
    let all = plan::workloads();
    let shown: Vec<_> = all.iter().filter(|workload| name.is_none_or(|name| workload.name == name)).collect();
    if shown.is_empty() {
        let names: Vec<_> = all.iter().map(|workload| workload.name).collect();
        return Err(Error::usage("there is no bundled workload of that name", format!("bundled: {}", names.join(", "))));
    }
    let mut text = String::new();
    for workload in &shown {
        let (input, output) = (&workload.input, &workload.output);
        let _ = writeln!(
            text,
            "{}: {} pairs\n  input  P50 {} P90 {} P95 {} P99 {} tokens\n  output P50 {} P90 {} P95 {} P99 {} tokens\n  source  {}\n  licence {}\n",
            workload.name,
            workload.pairs,
            input.p50,
            input.p90,
            input.p95,
            input.p99,
            output.p50,
            output.p90,
            output.p95,
            output.p99,
            workload.source,
            workload.licence
        );
    }
    if let (Some(_), [workload]) = (name, shown.as_slice()) {
        let _ = write!(text, "{}", workload.about);
        for (side, bins) in [("input", &workload.input_bins), ("output", &workload.output_bins)] {
            let _ = write!(text, "\n\n{side} tokens, up to");
            histogram(&mut text, bins, workload.pairs);
        }
        text.push('\n');
    }
    console.result(&text).map_err(Error::Stdout)?;
    Ok(Exit::Pass)
}

/// A line a bin, its bar as long as its share of the largest.
fn histogram(text: &mut String, bins: &[(u64, u64)], all: u64) {
    const WIDTH: u64 = 40;
    let most = bins.iter().map(|bin| bin.1).max().unwrap_or(1).max(1);
    for (end, count) in bins {
        let bar = "#".repeat(usize::try_from((count * WIDTH).div_ceil(most)).unwrap_or(0));
        let share = 100.0 * *count as f64 / all.max(1) as f64;
        let _ = write!(text, "\n  {end:>7} {share:>5.1} % {bar}");
    }
}
