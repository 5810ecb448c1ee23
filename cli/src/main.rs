//! `reptile`, the command: compiles robots.txt files and decides URLs by them.
//!
//! This file has the list of commands and the exit codes. Each command is a file or a folder of its name in [`commands`];
//! what comes in is in [`inputs`], what goes out in [`outputs`].
#![deny(unsafe_code)]

mod commands;
mod error;
mod inputs;
mod outputs;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{check, classify, clean_param, compile, diff, fields, inspect, lint, test, verify};
use crate::error::{Exit, Failure, Result, note};

/// Compile robots.txt files into a set, and decide millions of URLs a second by it
#[derive(Parser)]
#[command(
    name = "reptile",
    version,
    propagate_version = true,
    after_help = "Examples:
  reptile compile -o web.reptile robots/
  reptile classify web.reptile urls.txt --agent MyBot -o verdicts.tsv
  reptile test robots.txt --agent MyBot https://example.com/private

Exit code: 0 done; 1 some inputs were bad, or differences were found; 2 wrong
usage, or the command could not go on; 130 interrupted. No file is ever left half
written."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Compile(compile::Args),
    Classify(classify::Args),
    Test(test::Args),
    Check(check::Args),
    Lint(lint::Args),
    Diff(diff::Args),
    Inspect(inspect::Args),
    Fields(fields::Args),
    CleanParam(clean_param::Args),
    Verify(verify::Args),
}

/// The number of threads, an option of several commands.
#[derive(clap::Args)]
struct Threads {
    /// The number of threads; 0 is one for each processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

impl Threads {
    /// Starts the threads. Called once, before any work.
    ///
    /// # Errors
    /// If the system cannot start so many.
    fn apply(&self) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build_global();
        pool.map_err(|error| Failure::new(format!("the threads cannot be started: {error}")))
    }
}

fn main() -> ExitCode {
    let result = match &Cli::parse().command {
        Command::Compile(args) => compile::run(args),
        Command::Classify(args) => classify::run(args),
        Command::Test(args) => test::run(args),
        Command::Check(args) => check::run(args),
        Command::Lint(args) => lint::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Fields(args) => fields::run(args),
        Command::CleanParam(args) => clean_param::run(args),
        Command::Verify(args) => verify::run(args),
    };
    match result {
        Ok(Exit::Done) | Err(Failure::Quiet) => ExitCode::SUCCESS,
        Ok(Exit::SomeBad) => ExitCode::from(1),
        Err(Failure::Fatal(message)) => {
            note(message);
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
