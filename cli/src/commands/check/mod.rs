//! `reptile check`: compares the verdicts of compiled robots.txt files with a table of expected verdicts, or proves
//! assertions about every URL for one robots.txt ([`prove`]).
//!
//! The table is in [`rows`]: nothing in a row is trimmed, so that it can hold any bytes but tab and LF. The comparison
//! is in [`expected`]; [`matrix`] counts how often the dialects disagree about the rows.

mod expected;
mod matrix;
mod prove;
mod rows;

use reptile::contents::Set;
use reptile::{CompiledSet, Dialect, Profile, dialects};

use crate::error::{Exit, Failure, Result, damaged};
use crate::options::{CompileOptions, Omitted, SetOptions, dialects};
use crate::outputs::summary::{rate, seconds};
use crate::outputs::terminal::tell;
use crate::sets::assemble::assemble;
use crate::sets::single::one;
use expected::Checker;
use prove::OutcomeFormat;
use reptile_records::Inputs;
use reptile_records::detect::ExpectedInput;
use reptile_records::lists;
use reptile_records::open::Input;
use reptile_records::place::Place;

/// The host that a single file is compiled for.
const ANY_HOST: &str = "localhost";

/// Compare verdicts with expected verdicts, or prove assertions about every URL
///
/// CASES is a table, its columns separated by tabs:
///   host  agent  url  [ALLOW|DISALLOW  [line]]
/// The host, or a URL instead of it, selects the robots.txt. Only the path of the url
/// counts, so a path alone is enough: it begins with a slash, and a URL with its scheme.
/// A row with any other text is malformed. The agent is a product token or a crawler's name
/// that the dialect knows, checked like --agent in other commands: a row with a
/// User-Agent header or a misspelled crawler is malformed. The line is the deciding
/// rule's line, or 0 if no rule decides. A header, empty lines and lines that begin with
/// # are skipped. ALLOW and DISALLOW may be in any letter case; nothing is trimmed.
///
/// A row with a different verdict is a verdict difference, regardless of its line. A row
/// with the right verdict and a different line is a line difference.
///
/// With --prove, each line of the file asserts something about every URL on a site:
///   disallow GPTBot /private/*   GPTBot may fetch no URL that matches
///   allow * /$ /docs/*           every URL that matches either pattern is allowed for *
///   same Googlebot Bingbot       both get the same verdict for every URL
///   GPTBot <= *                  GPTBot may fetch nothing that * may not
/// The last two may have patterns too, and are then about the URLs that match. A crawler
/// is a product token, a known crawler, *, a chain such as "A>B>*", or a group such as
/// @ai-training, which asserts the same for each member. # begins a comment. A pattern is
/// written as in a rule. Each assertion is proved, or refuted by one of the shortest paths.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "reptile check [OPTIONS] CASES --robots INPUT\n       \
                      reptile check [OPTIONS] ROBOTS --prove FILE",
    after_help = "Examples:
  reptile check cases.tsv.gz --robots robots/
  reptile check cases.tsv --robots robots.txt --dialect rfc9309
  reptile check urls.tsv --robots robots.tar.gz --print > verdicts.tsv
  reptile check robots.txt --prove assertions.txt
  reptile check robots.txt --prove assertions.txt --format github

The fields of --format json, an object for each assertion and crawler:
  file, line   the place of the assertion
  assertion    its text; a member replaces a group of crawlers
  result       holds, counterexample, no-group, unproved
  passed       whether the exit code may be 0
  message      the result in words, or null if it holds
  path         the counterexample, or null
  verdicts     for each crawler: crawler, verdict, line and rule (or 0 and null), reason

Exit code: 0 all as expected; 1 differences, malformed rows, or hosts without
robots.txt, or an assertion failed; 2 the command failed, or no row expects a
verdict, or an assertion is malformed."
)]
pub struct Args {
    /// The table, or with --prove the robots.txt; decompressed if necessary; - is standard input
    #[arg(value_name = "CASES|ROBOTS")]
    input: Place,
    /// The robots.txt files: any INPUT of `reptile compile`, or one file for all hosts
    #[arg(long, value_name = "INPUT", required_unless_present = "prove")]
    robots: Option<Place>,
    /// Prove or refute the assertions in this file, one on each line; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = TABLE_OPTIONS)]
    prove: Option<Place>,
    /// With --prove, the output format: `github` for GitHub Actions annotations, `sarif` for code scanning
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "prove", conflicts_with = "robots")]
    format: OutcomeFormat,
    /// With --prove, accept a crawler that no group names: the rules for * apply to it, or no rules
    ///
    /// Otherwise its assertion fails, because a misspelled name or a removed group would not be noticed. A
    /// chain that ends in ">*", such as "GPTBot>*", accepts the rules for * in one assertion.
    #[arg(long, requires = "prove", conflicts_with = "robots")]
    allow_default: bool,
    /// With --prove, accept assertions that are neither proved nor refuted within the limit on steps
    #[arg(long, requires = "prove", conflicts_with = "robots")]
    allow_unproved: bool,
    /// The dialect: how the files are interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
    /// Count the rows that each pair of dialects decides differently, as a Markdown table; with --print, also write
    /// each dialect's verdict and line for each row
    ///
    /// Rows are counted above the diagonal, and their hosts below it. Expected verdicts are ignored.
    #[arg(long, conflicts_with = "dialect", conflicts_with = "max_differences")]
    all_dialects: bool,
    /// Use the agents in all rows unchanged, even headers and misspelled names: for conformance tests
    #[arg(long)]
    exact_agent: bool,
    /// Write each row's host, agent, url, verdict and line to standard output, and differences to standard error
    ///
    /// The verdict for a host without a robots.txt is UNKNOWN. Malformed rows are not written.
    #[arg(long)]
    print: bool,
    /// Maximum number of differences shown; all are counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_differences: usize,
}

/// The options that apply only to a table.
const TABLE_OPTIONS: [&str; 5] = ["robots", "all_dialects", "exact_agent", "print", "max_differences"];

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

impl Args {
    /// Returns the path of the table.
    fn cases(&self) -> &Place {
        &self.input
    }

    /// Returns the path of the robots.txt files. With a table, the command line has one.
    fn robots(&self) -> &Place {
        self.robots.as_ref().unwrap_or(&self.input)
    }
}

/// Rejects a table without rows, which would always pass.
///
/// # Errors
/// Returns an error if there is no row.
fn refuse_nothing(args: &Args, rows: u64) -> Result<()> {
    match rows {
        0 => Err(Failure::at(args.cases(), "contains no rows; expected rows with host, agent and url")),
        _ => Ok(()),
    }
}

/// Returns the set that decides the rows, without other directives.
fn compiled(dialect: &'static Dialect, one_for_all: bool, robots: Inputs<'_>) -> Result<CompiledSet> {
    let options = CompileOptions {
        set: SetOptions {
            dialect: Some(dialect),
            host: one_for_all.then(|| ANY_HOST.to_owned()),
            ..SetOptions::default()
        },
        omit: vec![Omitted::Other],
        ..CompileOptions::default()
    };
    Ok(assemble(robots, &options)?.0)
}

/// Returns the set of these bytes, which were just compiled and so need no check.
fn opened<'s>(args: &Args, bytes: &'s [u8]) -> Result<Set<&'s [u8]>> {
    Set::from_bytes(bytes).map_err(|error| damaged(args.robots(), &error))
}
