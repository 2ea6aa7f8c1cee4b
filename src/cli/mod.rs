//! Flags and environment, and nothing else: what a command needs is read here and handed over as values.

mod args;
mod beside;
mod environment;
mod searching;
mod sending;
mod stored;

use crate::commands::{self, Exit};
use crate::console::Console;
use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// Reads the command line, runs the command, and gives the exit code. A panic is a bug of ours and ends with 70.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Pass };
            // A help text that nobody reads any more is no error.
            let _ = error.print();
            return exit.into();
        }
    };
    let outcome = std::panic::catch_unwind(|| run(cli));
    outcome.unwrap_or(Exit::Bug).into()
}

fn run(cli: Cli) -> Exit {
    let console = Console::new(cli.color, cli.quiet);
    let outcome = match cli.command {
        Command::Check(args) => args.request().and_then(|request| commands::check(&request, &console)),
        Command::Run(args) => args.request().and_then(|request| commands::run(&request, &console)),
        Command::Capacity(args) => args.request().and_then(|request| commands::capacity(&request, &console)),
        Command::Judge(args) => args.request().and_then(|request| commands::judge(&request, &console)),
        Command::Compare(args) => commands::compare(&args.request(), &console),
        Command::Plan(args) => args.request().and_then(|request| commands::plan(&request, &console)),
        Command::Selftest => commands::selftest(&console),
        Command::Baseline { action } => action.request().and_then(|request| commands::baseline(&request, &console)),
        Command::Report(args) => args.request().and_then(|request| commands::report(&request, &console)),
        Command::Validate(args) => args.request().and_then(|request| commands::validate(&request, &console)),
        Command::Simulate(args) => commands::simulate(&args.request(), &console),
        Command::Workloads { name } => commands::workloads(name.as_deref(), &console),
        Command::Schema { of } => print(&console, &schema(of)),
        Command::Completions { shell } => print(&console, &completions(shell)),
        Command::Man => man().and_then(|page| print(&console, &page)),
    };
    outcome.unwrap_or_else(|error| {
        commands::show(&error, &console);
        error.exit()
    })
}

fn print(console: &Console, text: &str) -> Result<Exit, commands::Error> {
    console.result(text).map_err(commands::Error::Stdout)?;
    Ok(Exit::Pass)
}

fn schema(of: args::SchemaOf) -> String {
    let schema = match of {
        args::SchemaOf::Spec => crate::spec::schema(),
        args::SchemaOf::Verdict => crate::report::json::verdict_schema(),
    };
    format!("{schema:#}\n")
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "goodput-gate", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn man() -> Result<String, commands::Error> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(commands::Error::Stdout)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
