//! `reptile`, the command: compiles robots.txt files and decides URLs by them.
//!
//! This file has the list of commands and the exit codes. Each command is a file or a folder of its name in [`commands`];
//! what comes in is in [`inputs`], what goes out in [`outputs`].
#![deny(unsafe_code, clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod error;
mod inputs;
mod outputs;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{
    agents, check, classify, clean_param, compile, dialects, diff, fields, inspect, lint, test, verify,
};
use crate::error::{Exit, Failure, Result, note};
use crate::outputs::text::printable;

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
    Agents(agents::Args),
    Dialects(dialects::Args),
}

/// The greatest number of threads that can be asked for. More than the largest machines have processors; and thousands of
/// threads that wait for each other take seconds over work of milliseconds.
const MAX_THREADS: u16 = 512;

/// The number of threads, an option of several commands.
#[derive(clap::Args)]
struct Threads {
    /// The number of threads, up to 512; 0 is one for each processor
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads, hide_default_value = true)]
    threads: u16,
}

/// Reads a number of threads.
fn threads(text: &str) -> std::result::Result<u16, String> {
    let number = text.parse().ok().filter(|number| *number <= MAX_THREADS);
    number.ok_or_else(|| format!("expected a number from 0 to {MAX_THREADS}"))
}

impl Threads {
    /// Starts the threads. Called once, before any work.
    ///
    /// # Errors
    /// If the system cannot start so many.
    fn start(&self) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.into()).build_global();
        pool.map_err(|error| Failure::new(format!("the threads cannot be started: {error}")))
    }
}

/// The command line. On a wrong one this prints what is wrong and ends the process.
fn command_line() -> Cli {
    let args: Vec<OsString> = std::env::args_os().collect();
    Cli::try_parse_from(&args).unwrap_or_else(|error| {
        // The message quotes the arguments, so they are read again as they may be shown.
        let shown = args.iter().map(|arg| printable(arg.as_encoded_bytes()));
        Cli::try_parse_from(shown).err().unwrap_or(error).exit()
    })
}

fn main() -> ExitCode {
    let command = command_line().command;
    let result = start_threads(&command).and_then(|()| run(&command));
    match result {
        Ok(Exit::Done) | Err(Failure::Quiet) => ExitCode::SUCCESS,
        Ok(Exit::SomeBad) => ExitCode::from(1),
        Err(Failure::Fatal(message)) => {
            note(message);
            ExitCode::from(2)
        }
    }
}

/// Starts the threads of the commands that compile or decide much. Without this they would start at their first work, and
/// a failure would then be a panic.
fn start_threads(command: &Command) -> Result<()> {
    match command {
        Command::Compile(args) => args.threads.start(),
        Command::Classify(args) => args.threads.start(),
        Command::Verify(args) => args.threads.start(),
        Command::Test(_) | Command::Diff(_) => Ok(()),
        _ => Threads { threads: 0 }.start(),
    }
}

fn run(command: &Command) -> Result<Exit> {
    match command {
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
        Command::Agents(args) => agents::run(args),
        Command::Dialects(args) => dialects::run(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_threads_holds_at_its_edges() {
        for (number, fits) in [(0, true), (MAX_THREADS - 1, true), (MAX_THREADS, true), (MAX_THREADS + 1, false)] {
            assert_eq!(threads(&number.to_string()).is_ok(), fits, "{number}");
        }
        for text in ["", "-1", "1.5", "x", "65536", "18446744073709551616"] {
            assert_eq!(threads(text), Err("expected a number from 0 to 512".into()), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
