//! `reptile check`: compares the verdicts of compiled robots.txt files with a table of expected verdicts, or proves
//! assertions about every URL for one robots.txt ([`prove`]).
//!
//! The table is in [`rows`]: nothing in a row is trimmed, so that it can hold any bytes but tab and LF. The comparison
//! is in [`expected`]; [`matrix`] counts how often the dialects disagree about the rows. [`set`] compiles the files.

mod args;
mod expected;
mod matrix;
mod prove;
mod rows;
mod set;

use reptile::{Profile, dialects};

pub use self::args::Args;
use crate::error::{Exit, Failure, Result};
use crate::outputs::summary::{rate, seconds};
use crate::outputs::terminal::tell;
use crate::sets::single::one;
use expected::Checker;
use reptile_records::Inputs;
use reptile_records::detect::ExpectedInput;
use reptile_records::lists;
use reptile_records::open::Input;
use rows::refuse_nothing;
use set::{compiled, opened};

/// Runs the command.
///
/// # Errors
/// Returns an error if the table, the assertions or the robots.txt files cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    if let Some(list) = &args.prove {
        return prove::run(args, list);
    }
    let start = std::time::Instant::now();
    let cases = lists::open_table(args.cases())?;
    let robots = Input::open(args.robots())?.prefer_robots()?;
    let one_for_all = !robots.is_collection();
    let dialect = args.dialect.unwrap_or(dialects::DEFAULT);
    let profile = Profile::of_dialect(dialect);
    let robots = if one_for_all { one(robots, ExpectedInput::Robots, profile)? } else { robots };
    if args.all_dialects {
        return matrix::run(args, cases, one_for_all);
    }
    let bytes = compiled(dialect, one_for_all, Inputs::Opened(Box::new(robots)))?.to_bytes();
    let set = opened(args, &bytes)?;

    let checker = Checker {
        set,
        dialect,
        one_for_all,
        is_exact: args.exact_agent,
        print: args.print,
        max_shown: args.max_differences,
    };
    let total = checker.check_all(cases, args)?;
    tell(&format!(
        "{} rows: {} checked, {} verdict differences, {} line differences, {} without robots.txt{} ({}, {} rows/s)\n",
        total.read - total.skipped,
        total.checked,
        total.verdicts,
        total.lines,
        total.unknown,
        if total.malformed > 0 { format!(", {} malformed rows", total.malformed) } else { String::new() },
        seconds(start.elapsed()),
        rate(total.read, start.elapsed()),
    ));
    refuse_nothing(args, total.read - total.skipped)?;
    if !args.print && total.checked == 0 && total.shown_of == 0 {
        let message = "no row expects a verdict, so there is nothing to compare; --print writes the verdicts";
        return Err(Failure::at(args.cases(), message));
    }
    Ok(Exit::from_bad(total.shown_of > 0))
}
