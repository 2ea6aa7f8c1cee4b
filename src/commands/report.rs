//! `report`: a stored run in any spelling.

use super::decide::judge as decide;
use super::{BaselineOptions, Error, Exit, Format, SpecOptions, beside, judge, measure, publish, source};
use crate::console::Console;
use crate::report::{self, Report};
use crate::spec::Buckets;
use crate::summary::{self, Lens};
use std::path::PathBuf;

/// What `report` was asked for.
#[derive(Debug, Clone)]
pub struct Show {
    /// The run file.
    pub run: PathBuf,
    /// With a spec, the run is judged too.
    pub spec: Option<SpecOptions>,
    /// What goes to stdout.
    pub format: Format,
    /// Show both conventions of TPOT.
    pub both_conventions: bool,
}

/// Shows a stored run. Its exit code says whether it could be shown, not what the verdict is.
///
/// # Errors
/// Where the run or the spec cannot be used.
pub fn report(request: &Show, console: &Console) -> Result<Exit, Error> {
    let recording = judge::read(&request.run, console)?;
    if request.format == Format::Csv {
        console.result(&report::csv::render(&recording)).map_err(Error::Stdout)?;
        return Ok(Exit::Pass);
    }
    let mut shown = match &request.spec {
        Some(options) => {
            let source = source::load(options, console)?;
            let limits = measure::limits(source.spec());
            let other = beside::stored_side((&recording, &request.run), &limits, &BaselineOptions::default(), console)?;
            decide(source.spec(), &recording, other.unwrap_or_default(), None).report
        }
        None => {
            let lens = Lens {
                constraints: Vec::new(),
                buckets: Buckets { input: vec![1024, 8192], output: vec![300, 1000] },
                gap_scopes: Vec::new(),
            };
            let tables = summary::of(&recording, &lens).tables();
            Report::new(None, Exit::Pass.code(), tables, recording.conditions.clone(), Vec::new())
        }
    };
    shown.both_conventions = request.both_conventions;
    console.result(&publish::text(&shown, request.format, console)).map_err(Error::Stdout)?;
    Ok(Exit::Pass)
}
