//! `reptile diff`: two robots.txt files, and what changed between them.
//!
//! [`rules`] compares the groups and their rules, [`crawlers`] which group each crawler obeys, and [`urls`] the verdicts.

mod crawlers;
mod rules;
mod urls;

use std::collections::BTreeSet;
use std::path::PathBuf;

use bumpalo::Bump;
use reptile_compiler::advice::explanation::Reading;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::rules::groups::Named;

use crate::error::{Exit, Failure, Result};
use crate::inputs::bodies::read_single_file;
use crate::inputs::lines::open;
use crate::inputs::options::dialects;
use crate::inputs::sets::agents::agents_under;
use crate::inputs::sets::damaged;
use crate::inputs::sets::single::compile_one;
use crate::outputs::file::print;

/// Compare two robots.txt files: rules that came and went, and URLs whose verdict flips
///
/// A line with "@" gives the product tokens of a group. Below it, "-" marks a rule
/// that the old file has and "+" a rule that the new one has, each with its line; "~"
/// marks a rule that moved, under dialects where the first rule that matches decides.
/// A "~" with a crawler says that it obeys another group than before. With --urls,
/// the URLs whose verdict flips come last: URL, agent, verdict and line by the old
/// file, verdict and line by the new one.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile diff old.txt new.txt
  reptile diff old.txt new.txt --urls urls.txt --agent MyBot

Exit code: 0 nothing changed; 1 something changed; 2 the command could not go on."
)]
pub struct Args {
    /// The old robots.txt
    old: PathBuf,
    /// The new robots.txt
    new: PathBuf,
    /// URLs to decide by both files, one on each line, with a host or without; - is standard input
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// A crawler, as in `reptile test`; may be given again [default: every product token that either file names, and *]
    #[arg(short, long = "agent", value_name = "TOKEN")]
    agents: Vec<String>,
    /// The dialect: which reading of the protocol the files are given [default: google-lib]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
}

/// Runs the command.
///
/// # Errors
/// If a file or the list of URLs cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    let dialect = args.dialect.unwrap_or(dialect::ALL[0]);
    let (old, new) = (read_single_file(&args.old)?, read_single_file(&args.new)?);
    let arena = Bump::new();
    let readings = [Reading::new(&old, dialect, &arena), Reading::new(&new, dialect, &arena)];
    let names = names(&readings);
    let mut text = String::new();
    rules::compare(&names, &readings, &mut text);
    let given = agents_under(dialect, &args.agents)?;
    crawlers::compare(&names, &given, &readings, &mut text);
    if let Some(path) = &args.urls {
        let mut list = Vec::new();
        open(path)?.read_to_end(&mut list).map_err(|error| Failure::at(path, error))?;
        let agents = if given.is_empty() {
            names.iter().map(|name| of_name(name.as_deref().unwrap_or(b"*"), dialect)).collect()
        } else {
            given
        };
        let sets = [compile_one(&args.old, &old, dialect)?, compile_one(&args.new, &new, dialect)?];
        let flips = urls::compare(&sets, &agents, &list).map_err(|error| damaged(&args.new, &error))?;
        text.push_str(&flips);
    }
    let outcome = Exit::from_bad(!text.is_empty());
    print(text)?;
    Ok(outcome)
}

/// Product tokens in lower case, and `None` for the default group.
type Names = BTreeSet<Option<Vec<u8>>>;

/// The product tokens that either file names, and the default group.
fn names(readings: &[Reading<'_>; 2]) -> Names {
    let of_file = |named: Named<'_>| match named {
        Named::Everyone => None,
        Named::Token(token) => Some(token.to_ascii_lowercase()),
    };
    // The default group is compared even if neither file has one, which is no change.
    readings.iter().flat_map(Reading::named).map(of_file).chain([None]).collect()
}
