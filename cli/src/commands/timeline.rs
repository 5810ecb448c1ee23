//! `reptile timeline`: crawler access per origin over time.
//!
//! A row is a row of [`summarize`](super::summarize) for one period.

use super::summarize::args::RowArgs;
use super::summarize::rows::RowWriter;
use super::summarize::write::{RowKind, write};
use crate::error::{Exit, Result};
use crate::run::Run;

/// Write each crawler's access per origin over time
///
/// Writes a row for each origin of SET, or of ORIGINS, each period and each agent, in their
/// order. SET must be compiled with --by-time. A period begins when another policy became
/// active and lasts until the next. A policy covers all crawlers, so consecutive rows of one
/// agent may be equal. Before the origin's first capture there is no row: the access is
/// unknown. An origin of ORIGINS that SET does not have, or an invalid line, has one row
/// without times.
///
/// The columns are the key, agent, and
///   valid_from, valid_to      the first and last second of the period; empty if unlimited
///   access to disallowed_path as in `summarize`; group is inherited if the agent's own token
///                             is not named, but another that it obeys
///   source                    rules, last-good-copy, allow-all or disallow-all
///   cause                     the fetch outcome, if it decided instead of a current
///                             robots.txt: 404, network error ...
///   managed                   yes if a vendor-managed block, such as Cloudflare's, has rules
///                             for the agent, elsewhere if it only has rules for others, no
///                             without a block; empty without a file, and for any file except
///                             the one at SET's time, because SET only has that file's comments
///   capture_time, status      of the capture that decided at valid_from
///   digest                    xxh3-64: and the XXH3 of its body; empty if its rules do not
///                             decide
/// and one for each use in --usage, as in `summarize`.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile compile --by-time -o years.reptile captures/
  reptile timeline years.reptile --agent GPTBot --agent CCBot -o timeline.parquet
  reptile timeline years.reptile panel.txt --agent @ai-training --key host,url --header
  reptile timeline years.reptile --agent CCBot --usage train-ai --usage-from all -o uses.csv

Exit code: 0 done, regardless of the access; 1 SET was compiled from an input with bad
files; 2 the command failed, and -o left no file."
)]
pub struct Args {
    #[command(flatten)]
    pub rows: RowArgs,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set cannot be read, is damaged or has no times, an argument is invalid, or the output cannot
/// be written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    let rows = &args.rows;
    let uses = rows.uses()?;
    write(rows, RowWriter::of_periods(rows.format()?, rows.keys()?, &uses)?, uses, RowKind::Periods, run)
}
