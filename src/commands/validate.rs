//! `validate`: every problem of every spec at once, and what it comes to.

use super::{Error, Exit, SpecOptions, measure, source};
use crate::console::Console;
use crate::plan;
use crate::spec;

/// What `validate` was asked for.
#[derive(Debug, Clone)]
pub struct Validate {
    /// The specs.
    pub specs: Vec<SpecOptions>,
    /// Print every key with its value and whether it is a default.
    pub explain: bool,
}

/// Checks each spec; the worst code of all.
///
/// # Errors
/// Where stdout cannot be written.
pub fn validate(request: &Validate, console: &Console) -> Result<Exit, Error> {
    let mut worst = Exit::Pass;
    for options in &request.specs {
        match one(options, request.explain, console) {
            Ok(text) => console.result(&text).map_err(Error::Stdout)?,
            Err(error) => {
                super::show(&error, console);
                worst = worst.worst(error.exit());
            }
        }
    }
    Ok(worst)
}

fn one(options: &SpecOptions, explain: bool, console: &Console) -> Result<String, Error> {
    let loaded = source::load(options, console)?;
    if let Some(issue) = spec::needs_rules(loaded.spec()) {
        console.warn(&issue.message);
    }
    if loaded.spec().load.offered.is_some() {
        let inputs = loaded.inputs(options)?;
        let plan = plan::build(loaded.spec(), &inputs, 0)?;
        for warning in &plan.warnings {
            console.warn(&warning.to_string());
        }
        for rule in measure::cannot_pass(loaded.spec(), &plan) {
            console.warn(&rule);
        }
    } else {
        console.note("the spec names no load, so whether its rules can pass was not checked: write load.concurrency or load.rate, or give --concurrency or --rate to check");
    }
    Ok(if explain { spec::explain(&loaded.checked) } else { format!("{}: ok\n", crate::report::visible(&options.spec)) })
}
