//! `reptile`, the command: compiles robots.txt files and decides URLs by them.
//!
//! This file contains the command list and the exit codes. Each command has a file or folder with its name in
//! [`commands`]. Input is handled in [`inputs`], and output in [`outputs`].
#![deny(unsafe_code, clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod error;
mod failures;
mod help;
mod inputs;
mod options;
mod outputs;
mod removed;
mod run;
mod same_file;
mod sets;
mod tables;
mod threads;
mod url_list;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    agents, audit, check, classify, compile, dialects, diff, fields, filter, inspect, lint, manual, merge, summarize,
    test, timeline, update, verify,
};
use crate::error::{Exit, Failure, Result, complain};
use crate::outputs::terminal::{self, Color};
use crate::run::metrics::MetricsOptions;
use crate::run::options::options_of;
use crate::run::{Run, exit_code};
use crate::threads::Threads;
use reptile_records::text::printable;

/// In `compile`, memory allocated by one thread is freed by another, which is slow with most system allocators.
/// mimalloc is as fast, but needs half as much memory again for one large file, and aborts without a message when
/// address space is scarce.
#[cfg(all(feature = "jemalloc", unix, any(target_arch = "x86_64", target_arch = "aarch64", target_os = "macos")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Compile robots.txt files into a set, and decide millions of URLs per second
#[derive(Parser)]
#[command(
    name = "reptile",
    version,
    propagate_version = true,
    after_help = "Examples:
  reptile compile -o web.reptile robots/
  reptile classify web.reptile urls.txt --agent MyBot -o verdicts.tsv
  reptile test robots.txt --agent MyBot https://example.com/private

Exit code: 0 done; 1 some inputs were bad, or differences were found; 2 invalid
usage, or the command failed; 130 interrupted. No file is ever left incomplete."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print only results and errors; no figures, remarks or progress
    #[arg(short, long, global = true)]
    quiet: bool,
    /// When to use colors: auto means on a terminal, unless NO_COLOR is set
    #[arg(long = "color", value_name = "WHEN", global = true, default_value = "auto", hide_default_value = true)]
    color: Color,
}

#[derive(Subcommand)]
enum Command {
    Compile(compile::Args),
    Merge(merge::Args),
    Update(update::Args),
    Classify(Box<classify::Args>),
    Test(test::Args),
    Check(check::Args),
    Lint(lint::Args),
    Diff(diff::Args),
    Inspect(inspect::Args),
    Summarize(summarize::Args),
    Audit(Box<audit::Args>),
    Timeline(timeline::Args),
    Filter(Box<filter::Args>),
    Fields(fields::Args),
    Verify(verify::Args),
    Agents(agents::Args),
    Dialects(dialects::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// Returns the commands and their options.
fn described() -> clap::Command {
    help::shaped(Cli::command())
}

/// Returns the parsed command line, and the record of the run that it starts. If it is invalid, prints the error and
/// ends the process.
fn command_line() -> (Cli, Run) {
    let args = help::help_last(std::env::args_os().collect());
    let command = || described().color(wanted_color(&args).into());
    let read = |args: Vec<OsString>| -> clap::error::Result<(Cli, Run)> {
        let matches = command().try_get_matches_from(args)?;
        let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))?;
        let (name, matches) = matches.subcommand().unwrap_or(("", &matches));
        let options = described().find_subcommand(name).map(|command| options_of(command, matches));
        Ok((cli, Run::new(name, options.unwrap_or_default())))
    };
    read(args.clone()).unwrap_or_else(|error| {
        if let Some(sentence) = removed::explained(&args, &error) {
            clap::Error::raw(ErrorKind::UnknownArgument, format!("{sentence}\n")).exit();
        }
        // The message quotes the arguments, so they are parsed again in printable form.
        let shown = args.iter().map(|arg| printable(arg.as_encoded_bytes()).into());
        read(shown.collect()).err().unwrap_or(error).exit()
    })
}

/// Returns the color setting for help and for command line errors, before the command line is parsed.
fn wanted_color(args: &[OsString]) -> Color {
    let words: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap_or_default()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let separate = words.windows(2).find_map(|pair| (pair[0] == "--color").then_some(pair[1]));
    Color::from_name(joined.or(separate).unwrap_or_default()).unwrap_or(Color::Auto)
}

fn main() -> ExitCode {
    let (Cli { command, quiet, color }, mut record) = command_line();
    terminal::set_up(color, quiet);
    let opened = record.open_metrics(metrics_options(&command));
    let result = opened.and_then(|()| start_threads(&command)).and_then(|()| run(command, &record));
    let result = record.finish(result);
    if let Err(failure @ Failure::Fatal(_)) = &result {
        complain(format_args!("{failure:#}"));
    }
    ExitCode::from(exit_code(&result))
}

/// Returns the options for metrics, of the commands that have them.
fn metrics_options(command: &Command) -> Option<&MetricsOptions> {
    match command {
        Command::Compile(args) => Some(&args.metrics),
        Command::Merge(args) => Some(&args.metrics),
        Command::Update(args) => Some(&args.metrics),
        Command::Classify(args) => Some(&args.metrics),
        Command::Lint(args) => Some(&args.metrics),
        Command::Summarize(args) => Some(&args.rows.metrics),
        Command::Audit(args) => Some(&args.metrics),
        Command::Timeline(args) => Some(&args.rows.metrics),
        Command::Filter(args) => Some(&args.metrics),
        Command::Verify(args) => Some(&args.metrics),
        _ => None,
    }
}

/// Starts the threads for commands that compile or decide many items. Otherwise they would start at their first work,
/// and an error would be a panic.
fn start_threads(command: &Command) -> Result<()> {
    match command {
        Command::Compile(args) => args.threads.start(),
        Command::Merge(args) => args.threads.start(),
        Command::Update(args) => args.threads.start(),
        Command::Classify(args) => args.threads.start(),
        Command::Verify(args) => args.threads.start(),
        Command::Summarize(args) => args.rows.threads.start(),
        Command::Audit(args) => args.threads.start(),
        Command::Timeline(args) => args.rows.threads.start(),
        Command::Filter(args) => args.threads.start(),
        Command::Test(_) | Command::Diff(_) | Command::Completions(_) | Command::Man(_) => Ok(()),
        _ => Threads { threads: 0 }.start(),
    }
}

fn run(command: Command, record: &Run) -> Result<Exit> {
    match command {
        Command::Compile(args) => compile::run(&args, record),
        Command::Merge(args) => merge::run(&args, record),
        Command::Update(args) => update::run(&args, record),
        Command::Classify(args) => classify::run(*args, record),
        Command::Test(args) => test::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Lint(args) => lint::run(&args, record),
        Command::Diff(args) => diff::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Summarize(args) => summarize::run(&args, record),
        Command::Audit(args) => audit::run(&args, record),
        Command::Timeline(args) => timeline::run(&args, record),
        Command::Filter(args) => filter::run(*args, record),
        Command::Fields(args) => fields::run(&args),
        Command::Verify(args) => verify::run(&args, record),
        Command::Agents(args) => agents::run(&args),
        Command::Dialects(args) => dialects::run(&args),
        Command::Completions(args) => manual::completions(&args, described()),
        Command::Man(args) => manual::man(&args, described()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        described().debug_assert();
    }
}
