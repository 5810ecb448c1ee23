//! `reptile diff`: the changes between two robots.txt files, or between two sets ([`sets`]).
//!
//! For files, [`groups`] finds each product token's groups, and [`rules`] compares them and their [`lines`]. [`show`]
//! writes the changes, [`crawlers`] compares the groups that crawlers obey, and [`urls`] compares verdicts.
//!
//! For two files with n bytes in total, everything but `--urls` takes n log n steps, O(n) memory, and O(n) bytes of
//! output. The URL list is read as it arrives. Each URL is decided for at most [`urls::MAX_ROWS`] groups of crawlers,
//! or for the given crawlers.

mod crawlers;
mod groups;
mod lines;
mod rules;
mod sets;
mod show;
mod urls;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use reptile::{Dialect, dialects};

use crate::error::{Exit, Failure, Result, Stop, note};
use crate::options::{ExactAgent, dialects};
use crate::outputs::file::Output;
use crate::sets::Loaded;
use crate::sets::agents::agents_for;
use crate::sets::single::compile_one;
use crate::url_list::{command_line, refuse_url_list};
use groups::{File, Names};
use reptile_records::open::read_robots;

/// Compare two robots.txt files, or two sets: added and removed lines, and changed verdicts
///
/// A line with "@" lists the product tokens of a group, or "all crawlers" for lines such
/// as Sitemap. After it, "-" marks a rule or other directive that only the old file has,
/// and "+" one that only the new file has. "~" marks a moved rule, in dialects where the
/// first matching rule decides. A "~" with a crawler means that it obeys a different group
/// than before. A line with "?" lists product tokens that were not compared, because they
/// share too many rules with others. With --urls, URLs with changed verdicts come last:
/// URL, agent, old verdict and line, new verdict and line. Product tokens that obey the
/// same groups are listed together, separated by commas; of many, only the first are
/// listed.
///
/// For two sets, "+" marks an origin that only the new set has, "-" one that only the old
/// set has, and "~" a changed origin with its changes: the policy source, the product
/// tokens with different rules, other directives. Line numbers and times are not compared.
/// All origins are counted, and the first 1,000 of each kind are listed. With --urls, URLs
/// with changed verdicts come last: URL, agents, old verdict and deciding rule, new verdict
/// and deciding rule.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile diff old.txt new.txt
  reptile diff old.txt new.txt --urls urls.txt --agent MyBot
  reptile diff march.reptile april.reptile --urls log.txt.gz

The objects of --json, one on each line, by their field \"change\":
  lines         agents (null for all crawlers), group: kept, removed or added;
                removed, added: lists of line, key, value; moved: with old_line too
  not-compared  agents
  crawler       agent, old, new: the product token that it obeys, or null
  verdict       url, agents and the number of more_agents; old, new: verdict, line
and for two sets:
  counts        added, gone, changed, same
  origin        origin, kind: added, gone or changed; source: old, new; agents and the
                number of more_agents; other_directives
  verdict       the same, with rule and reason

Exit code: 0 nothing changed; 1 something changed; 2 the command failed, or --urls
has no URL."
)]
pub struct Args {
    /// The old robots.txt, or set
    old: PathBuf,
    /// The new robots.txt, or set
    new: PathBuf,
    /// URLs to decide by both, one on each line, with or without a host; - is standard input
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// A crawler, as in `reptile test`; can be repeated [default: every product token in either file, and *]
    #[arg(short, long = "agent", value_name = "TOKEN")]
    agents: Vec<String>,
    #[command(flatten)]
    exact: ExactAgent,
    /// The dialect: how the files are interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
    /// Print a JSON object for each change
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if a file or the list of URLs cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let dialect = args.dialect.unwrap_or(dialects::DEFAULT);
    match (Loaded::is_set(&args.old)?, Loaded::is_set(&args.new)?) {
        (true, true) => return sets::run(args),
        (false, false) => {}
        (is_old, _) => {
            let (set, other) = if is_old { (&args.old, &args.new) } else { (&args.new, &args.old) };
            let other = other.display();
            let message = format!("is a compiled set, and {other} is not: expected two sets, or two robots.txt files");
            return Err(Failure::at(set, message));
        }
    }
    let bodies = [body(args, &args.old)?, body(args, &args.new)?];
    let mut out = BufWriter::new(Output::stdout());
    let compared = compare(args, dialect, &bodies, &mut out);
    let any = compared
        .and_then(|any| out.flush().map(|()| any).map_err(Stop::Write))
        .map_err(|stop| out.get_ref().stop_failure(stop, &args.new))?;
    Ok(Exit::from_bad(any))
}

/// Reads one of the files.
///
/// # Errors
/// Returns an error if the file is unreadable, or is a URL list.
fn body(args: &Args, path: &Path) -> Result<Vec<u8>> {
    let body = read_robots(path)?;
    refuse_url_list(path, &body, || {
        let other = if path == args.old { &args.new } else { &args.old };
        let [list, other] = [path, other].map(|path| path.display().to_string());
        format!("`{}` decides them by two files", command_line(["diff", &other, "NEW.TXT", "--urls", &list]))
    })?;
    Ok(body)
}

/// Writes the changes. Returns whether there are any.
fn compare(
    args: &Args,
    dialect: &'static Dialect,
    bodies: &[Vec<u8>; 2],
    out: &mut impl Write,
) -> std::result::Result<bool, Stop> {
    let given = agents_for(dialect, &args.agents, args.exact, &[&bodies[0], &bodies[1]]).map_err(Stop::Other)?;
    let arena = Bump::new();
    let mut files = [File::new(&bodies[0], dialect, &arena), File::new(&bodies[1], dialect, &arena)];
    let names = Names::new(&mut files);
    if names.is_cut {
        let limit = groups::MAX_SEARCHED_BYTES;
        note(format_args!("the search for product tokens that contain others stopped after {limit} bytes"));
    }
    let mut any = false;
    if bodies[0] != bodies[1] {
        let changes = rules::compare(&names, &files);
        any |= !changes.is_empty();
        if args.json {
            show::json(&changes, out)?
        } else {
            show::text(&changes, out)?
        }
        any |= crawlers::compare(&names, &given, dialect, &files, args.json, out)?;
    }
    if let Some(list) = &args.urls {
        let rows = if given.is_empty() {
            urls::rows_of_names(&names, &files, dialect).map_err(Stop::Other)?
        } else {
            urls::rows_of(given)
        };
        let set = |path, body: &Vec<u8>| compile_one(path, body, dialect).map_err(Stop::Other);
        let sets = [set(&args.old, &bodies[0])?, set(&args.new, &bodies[1])?];
        any |= urls::compare(&sets, &rows, list, args.json, out)?;
    }
    Ok(any)
}
