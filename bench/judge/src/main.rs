//! Compares robots.txt implementations in any language: verdicts and speed.
//!
//! `PROTOCOL.md` defines how implementations take part, and `bench/engines.toml` lists them.
//!
//! | module | purpose |
//! |---|---|
//! | [`frame`] | messages |
//! | [`process`] | processes with limits |
//! | [`engines`], [`engine`] | the list of engines, and communication with an engine |
//! | [`try_engine`] | checks that an engine follows the protocol |
//! | [`corpus`] | questions for engines, and the dialects' answers |
//! | [`verdicts`], [`minimize`] | asks, compares, and minimizes differences |
//! | [`traced`] | repeats questions about differences with known causes |
//! | [`speed`] | lets engines measure themselves, and verifies the results |
//! | [`records`], [`report`] | a run's records and report |
#![forbid(unsafe_code)]

mod commands;
mod corpus;
mod engine;
mod engines;
mod frame;
mod letters;
mod minimize;
mod process;
mod records;
mod report;
mod speed;
mod traced;
mod try_engine;
mod verdicts;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::EngineListArgs;

/// Compare robots.txt implementations in any language: verdicts and speed
#[derive(Parser)]
#[command(
    name = "reptile-judge",
    version,
    after_help = "Exit code: 0 success; 1 an engine failed or differences were found; 2 wrong usage or a fatal error."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the engines, and why some are absent
    Engines {
        #[command(flatten)]
        source: EngineListArgs,
        /// Run the builds first, each command once
        #[arg(long)]
        build: bool,
    },
    /// Check that an engine follows the protocol, and list its mistakes
    Try {
        /// The name of the engine
        name: String,
        #[command(flatten)]
        source: EngineListArgs,
    },
    /// Measure engines: verdicts and speed
    Run(Box<commands::RunArgs>),
    /// Compare two engines and minimize their differences
    Compare(commands::CompareArgs),
    /// Write the report of a run: Markdown, HTML, plots and CSV next to its records
    Report {
        /// The folder of the run
        folder: PathBuf,
    },
    /// Draw the URLs per second in a run's report: chart.svg next to it
    Chart {
        /// The folder of the run
        folder: PathBuf,
        #[command(flatten)]
        source: EngineListArgs,
    },
    /// Record an engine's verdicts as the expected verdicts of the web corpus
    Expect {
        /// The name of the engine; the recorded file comes from Google's library
        name: String,
        #[command(flatten)]
        source: EngineListArgs,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Engines { source, build } => commands::list(&source, build),
        Command::Try { name, source } => commands::try_one(&name, &source),
        Command::Run(arguments) => commands::run(&arguments),
        Command::Compare(arguments) => commands::compare(&arguments),
        Command::Report { folder } => report::write(&folder).map(|files| {
            files.iter().for_each(|file| commands::say(folder.join(file).display()));
            true
        }),
        Command::Chart { folder, source } => commands::chart(&folder, &source),
        Command::Expect { name, source } => commands::expect(&name, &source),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(fault) => {
            eprintln!("reptile-judge: {fault}");
            ExitCode::from(2)
        }
    }
}
