//! `reptile diff`: the changes between two robots.txt files, between two sets ([`sets`]), or between two dialects'
//! readings of one file ([`readings`]).
//!
//! For files, [`groups`] finds each product token's groups, and [`rules`] compares them and their [`lines`]. [`show`]
//! writes the changes, [`crawlers`] compares the groups that crawlers obey, and [`urls`] compares the verdicts for a
//! list of URLs. The library compares the verdicts for all URLs, and [`paths`] writes the answers.
//!
//! For two files with n bytes in total, everything except `--urls` and the proofs takes n log n steps, O(n) memory, and
//! O(n) bytes of output. The proofs stop after some seconds. The URL list is read as it arrives. Each URL is decided
//! for at most [`urls::MAX_ROWS`] groups of crawlers, or for the given crawlers.

mod crawlers;
mod groups;
mod lines;
mod paths;
mod readings;
mod rules;
mod sets;
mod show;
mod urls;

use std::io::{BufWriter, Write};

use bumpalo::Bump;
use reptile::contents::Set;
use reptile::crawlers::Resolved;
use reptile::diff::{PathDiff, PathRow, PathRows};
use reptile::{Dialect, Profile, dialects};

use crate::error::{Exit, Failure, Result, Stop, note};
use crate::options::{AssumptionOptions, dialects};
use crate::outputs::file::Output;
use crate::sets::Loaded;
use crate::sets::agents::agents_for;
use crate::sets::single::{ONE_ORIGIN, compile_one, obeyed, read_one};
use crate::url_list::{command_line, refuse_url_list};
use groups::{File, Names};
use paths::{PathComparison, Words};
use reptile_records::place::Place;

/// Maximum total size in bytes of two files for proofs, so that both sets fit into memory.
const MAX_PROVED_BYTES: usize = 8 << 20;

/// Compare two robots.txt files, or two sets: changed verdicts for every URL, and changed lines
///
/// The answer comes first, proved for all URLs: "!" marks crawlers for which some URL opens
/// or closes, with the shortest path of each kind and the deciding rules. "=" marks crawlers
/// for which every URL keeps its verdict, even if the lines differ. "?" means unproved: the
/// proof would take too long, and no changed verdict was seen. The crawlers are *, every
/// product token in either file, and the known crawlers that obey one of these too.
/// /robots.txt itself does not count.
///
/// Then come the lines. A line with "@" lists the product tokens of a group, or "all
/// crawlers" for lines such as Sitemap. After it, "-" marks a rule or other directive that
/// only the old file has, and "+" one that only the new file has. "~" marks a moved rule, in
/// dialects where the first matching rule decides. A "~" with a crawler means that it obeys
/// a different group than before. A line with "? not compared" lists product tokens that
/// share too many rules with others. With --urls, listed URLs with changed verdicts come
/// last: URL, agent, old verdict and line, new verdict and line. Product tokens that obey
/// the same groups are listed together, separated by commas; of many, only the first are
/// listed.
///
/// With --dialects the question is whether two dialects read one file alike.
///
/// For two sets, the first line counts all origins, and the second one those proved equal
/// for every URL. "+" marks an origin that only the new set has, "-" one that only the old
/// set has, "~" one with another fetch outcome, and "!", "?" and "=" other changed origins,
/// as above. Each has its changes: an example, the policy source, the product tokens with
/// different rules, other directives. Line numbers and times are not compared. The first
/// 1,000 origins of each kind are listed. With --urls, listed URLs with changed verdicts
/// come last: URL, agents, old verdict and deciding rule, new verdict and deciding rule.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile diff old.txt new.txt
  reptile diff old.txt new.txt --verdicts --only '/shop/*'
  reptile diff old.txt new.txt --urls urls.txt --agent MyBot
  reptile diff old.txt new.txt --verdicts --shapes sitemap.xml
  reptile diff --dialects google,yandex robots.txt
  reptile diff march.reptile april.reptile --urls log.txt.gz

The objects of --json, one on each line, by their field \"change\":
  paths         agents (null for all crawlers); equal: true, false, or null if unproved;
                opens, closes: null, or path, old, new with verdict, reason, rule, line;
                unproved: which of them are; only: the patterns of --only or --shapes
  lines         agents (null for all crawlers), group: kept, removed or added;
                removed, added: lists of line, key, value; moved: with old_line too
  not-compared  agents
  crawler       agent, old, new: the product token that it obeys, or null
  verdict       url, agents and the number of more_agents; old, new: verdict, line
with --dialects:
  reading       the same as paths, with dialects, and with first_only, second_only,
                first, second in place of closes, opens, old, new
and for two sets:
  counts        added, gone, changed, same; of the changed: outcome, verdicts, unproved,
                equal
  origin        origin, kind: added, gone or changed; source: old, new; agents and the
                number of more_agents; other_directives; paths: agents, equal, opens, closes
  verdict       the same, with rule and reason

Exit code: 0 nothing changed; 1 something changed; 2 the command failed, or --urls
has no URL. With --verdicts or --dialects: 0 every verdict is proved equal; 1 some
verdict differs or is unproved."
)]
pub struct Args {
    /// The old robots.txt, or set; with --dialects the only robots.txt
    old: Place,
    /// The new robots.txt, or set
    #[arg(required_unless_present = "dialects", conflicts_with = "dialects")]
    new: Option<Place>,
    /// URLs to decide by both, one on each line, with or without a host; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "dialects")]
    urls: Option<Place>,
    /// A crawler, as in `reptile test`; can be repeated [default: every product token in either file, and *]
    #[arg(short, long = "agent", value_name = "TOKEN")]
    agents: Vec<String>,
    #[command(flatten)]
    assumption: AssumptionOptions,
    /// Compare only verdicts: leave out lines, and origins where no verdict changes
    #[arg(long)]
    verdicts: bool,
    /// The dialect: how the files are interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects(), conflicts_with = "dialects")]
    dialect: Option<&'static Dialect>,
    /// Two dialects, with a comma between them: compare their readings of one file
    #[arg(long, value_name = "A,B", value_parser = dialects(), value_delimiter = ',')]
    dialects: Vec<&'static Dialect>,
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
    let Some(new) = &args.new else { return readings::run(args) };
    match (Loaded::is_set(&args.old)?, Loaded::is_set(new)?) {
        (true, true) => return sets::run(args, new),
        (false, false) => {}
        (is_old, _) => {
            let (set, other) = if is_old { (&args.old, new) } else { (new, &args.old) };
            let other = other.display();
            let message = format!("is a compiled set, and {other} is not: expected two sets, or two robots.txt files");
            return Err(Failure::at(set, message));
        }
    }
    let files = [&args.old, new];
    let profile = Profile::of_dialect(dialect);
    let bodies = [body(&args.old, new, profile)?, body(new, &args.old, profile)?];
    let mut out = BufWriter::new(Output::stdout());
    let compared = compare(args, dialect, files, &bodies, &mut out);
    let any = compared
        .and_then(|any| out.flush().map(|()| any).map_err(Stop::Write))
        .map_err(|stop| out.get_ref().stop_failure(stop, new))?;
    Ok(Exit::from_bad(any))
}

/// Reads one of the files.
///
/// # Errors
/// Returns an error if the file is unreadable, or is a URL list.
fn body(path: &Place, other: &Place, profile: &Profile) -> Result<Vec<u8>> {
    let body = read_one(path, profile)?;
    refuse_url_list(path, &body, || {
        let [list, other] = [path, other].map(|path| path.display().to_string());
        format!("`{}` decides them by two files", command_line(["diff", &other, "NEW.TXT", "--urls", &list]))
    })?;
    Ok(body)
}

/// Writes the changes. Returns whether there are any.
fn compare(
    args: &Args,
    dialect: &'static Dialect,
    paths: [&Place; 2],
    bodies: &[Vec<u8>; 2],
    out: &mut impl Write,
) -> std::result::Result<bool, Stop> {
    let given = agents_for(dialect, &args.agents, &[&bodies[0], &bodies[1]]).map_err(Stop::Other)?;
    let words = Words::of_versions(args.assumption.read()?);
    let is_same = bodies[0] == bodies[1];
    let is_provable = is_same || can_be_proved(bodies.each_ref().map(Vec::len));
    let is_needed = args.urls.is_some() || !is_same && is_provable;
    let compiled = if is_needed { compile(paths, bodies, dialect).map(Some) } else { Ok(None) };
    let found = match &compiled {
        _ if is_same => PathComparison::of_equal(&words, args.json)?,
        _ if !is_provable => paths::write_unproved(&words, args.json, out)?,
        Ok(Some(sets)) => {
            let sets = open(sets)?;
            paths::write(&rows(&words, [&given, &given], &sets)?, &words, args.json, out)?
        }
        Err(failure) if args.urls.is_none() => {
            note(format_args!("{failure}; therefore nothing is proved"));
            paths::write_unproved(&words, args.json, out)?
        }
        // Listed URLs need the sets too.
        Ok(None) | Err(_) => PathComparison::default(),
    };
    // Large sets and the structures below do not fit into memory together.
    let compiled = if args.urls.is_some() { compiled? } else { None };
    let mut any = found.is_change || found.is_unproved && args.verdicts;
    if args.verdicts {
        out.write_all(found.equal.as_bytes())?;
        if args.urls.is_none() {
            return Ok(any);
        }
    }
    let arena = Bump::new();
    let mut files = bodies.each_ref().map(|body| File::new(obeyed(body, dialect), dialect, &arena));
    let names = Names::new(&mut files);
    if names.is_cut {
        let limit = groups::MAX_SEARCHED_BYTES;
        note(format_args!("the search for product tokens that contain others stopped after {limit} bytes"));
    }
    if !is_same && !args.verdicts {
        let changes = rules::compare(&names, &files);
        if !changes.is_empty() {
            out.write_all(found.equal.as_bytes())?;
            any = true;
        }
        if args.json {
            show::json(&changes, out)?
        } else {
            show::text(&changes, out)?
        }
        any |= crawlers::compare(&names, &given, dialect, &files, args.json, out)?;
    }
    if let Some(list) = &args.urls
        && let Some(sets) = compiled
    {
        let rows = if given.is_empty() {
            urls::rows_of_names(&names, &files, dialect).map_err(Stop::Other)?
        } else {
            urls::rows_of(given)
        };
        any |= urls::compare(&open(&sets)?, &rows, list, args.json, out)?;
    }
    Ok(any)
}

/// Returns whether files with these lengths are small enough for proofs, and prints a note if they are not.
fn can_be_proved(lengths: [usize; 2]) -> bool {
    let is_small = lengths[0].saturating_add(lengths[1]) <= MAX_PROVED_BYTES;
    if !is_small {
        note(format_args!("nothing is proved, because the files have more than {MAX_PROVED_BYTES} bytes in total"));
    }
    is_small
}

/// Compiles both files to sets.
fn compile(paths: [&Place; 2], bodies: &[Vec<u8>; 2], dialect: &'static Dialect) -> Result<[Vec<u8>; 2]> {
    Ok([compile_one(paths[0], &bodies[0], dialect)?, compile_one(paths[1], &bodies[1], dialect)?])
}

fn open(sets: &[Vec<u8>; 2]) -> std::result::Result<[Set<&[u8]>; 2], Stop> {
    Ok([Set::from_bytes(&sets[0][..])?, Set::from_bytes(&sets[1][..])?])
}

/// Compares two single-file sets over all URLs, for the given crawlers or else for all. The crawlers have the same
/// order on both sides.
///
/// # Errors
/// Returns an error if a set is damaged.
fn rows<'s>(
    words: &Words,
    given: [&'s [Resolved]; 2],
    sets: &'s [Set<&'s [u8]>; 2],
) -> std::result::Result<PathRows<'s>, Stop> {
    let failure = |error: reptile::Error| Stop::Other(Failure::new(error));
    let assumption = words.assumed.assumption(sets[0].normal_form())?;
    let mut diff = PathDiff::new(&sets[0], &sets[1]).under(assumption);
    let (Some(old), Some(new)) = (sets[0].policy(&ONE_ORIGIN)?, sets[1].policy(&ONE_ORIGIN)?) else {
        return Ok(PathRows::default());
    };
    let policies = [old, new];
    if given[0].is_empty() {
        return diff.rows(&policies).map_err(failure);
    }
    let mut rows = PathRows::default();
    for (old, new) in given[0].iter().zip(given[1]) {
        let agents = [old.look_up(&sets[0])?, new.look_up(&sets[1])?];
        let change = diff.change(&policies, &agents).map_err(failure)?;
        rows.rows.push(PathRow { names: vec![old.name.as_bytes()], change });
    }
    Ok(rows)
}
