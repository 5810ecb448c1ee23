//! Measures any implementation of robots.txt, in any language: its verdicts and its speed.
//!
//! `PROTOCOL.md` says how implementations take part, `bench/engines.toml` which ones do.
//!
//! | module | does |
//! |---|---|
//! | [`frame`] | messages |
//! | [`process`] | processes with limits |
//! | [`engines`], [`engine`] | what engines there are, and asking one |
//! | [`try_engine`] | holds one engine against the protocol |
//! | [`corpus`] | what engines are asked, and what the dialects answer |
//! | [`verdicts`], [`minimise`] | asks, compares, and makes differences small |
//! | [`traced`] | asks again about differences whose reasons are known |
//! | [`speed`] | lets engines measure themselves, and checks what they say |
//! | [`records`], [`report`] | what a run leaves, and the page that is made of it |
#![forbid(unsafe_code)]

mod commands;
mod corpus;
mod engine;
mod engines;
mod frame;
mod letters;
mod minimise;
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

use crate::engines::Entry;

/// Measures any implementation of robots.txt, in any language: its verdicts and its speed
#[derive(Parser)]
#[command(
    name = "reptile-judge",
    version,
    after_help = "Exit code: 0 done; 1 an engine failed or differences were found; 2 wrong usage, or the command could not go on."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the engines: which are there, and which are absent and why
    Engines {
        #[command(flatten)]
        source: Source,
        /// Run the builds first, each command once
        #[arg(long)]
        build: bool,
    },
    /// Hold one engine against the protocol, and say what it gets wrong
    Try {
        /// The name of the engine
        name: String,
        #[command(flatten)]
        source: Source,
    },
    /// Measure engines: verdicts and speed
    Run(Box<commands::RunArgs>),
    /// Compare two engines with each other, and make the differences small
    Compare(commands::CompareArgs),
    /// Make the page of a run: Markdown, HTML, plots and CSV beside its records
    Report {
        /// The folder of the run
        folder: PathBuf,
    },
    /// Write the verdicts of an engine as those that the corpus of our own expects
    Expect {
        /// The name of the engine; the recorded file is that of Google's library
        name: String,
        #[command(flatten)]
        source: Source,
    },
}

/// Where the engines are.
#[derive(clap::Args)]
struct Source {
    /// The file that lists the engines
    #[arg(long, value_name = "FILE", default_value = "bench/engines.toml")]
    engines: PathBuf,
}

impl Source {
    /// Reads the file.
    fn entries(&self) -> Result<Vec<Entry>, String> {
        engines::read(&self.engines)
    }

    /// Finds an engine in it.
    fn entry(&self, name: &str) -> Result<Entry, String> {
        let mut entries = self.entries()?;
        let names = entries.iter().map(|entry| &*entry.name).collect::<Vec<_>>().join(", ");
        let index = entries.iter().position(|entry| entry.name == name);
        let index = index.ok_or_else(|| format!("{}: no engine {name}, but {names}", self.engines.display()))?;
        Ok(entries.swap_remove(index))
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Engines { source, build } => commands::list(&source, build),
        Command::Try { name, source } => commands::try_one(&name, &source),
        Command::Run(arguments) => commands::run(&arguments),
        Command::Compare(arguments) => commands::compare(&arguments),
        Command::Report { folder } => report::write(&folder).map(|files| {
            files.iter().for_each(|file| println!("{}", folder.join(file).display()));
            true
        }),
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
