//! `reptile diff`: the changes between two robots.txt files, between two sets ([`sets`]), or between two dialects'
//! readings of one file ([`readings`]).
//!
//! For files, [`groups`] finds each product token's groups, and [`rules`] compares them and their [`lines`]. [`show`]
//! writes the changes, [`crawlers`] compares the groups that crawlers obey, and [`urls`] compares the verdicts for a
//! list of URLs. [`proofs`] compares the verdicts for all URLs with the library, and [`paths`] writes the answers.
//!
//! For two files with n bytes in total, everything except `--urls` and the proofs takes n log n steps, O(n) memory, and
//! O(n) bytes of output. The proofs stop after some seconds. The URL list is read as it arrives. Each URL is decided
//! for at most [`urls::MAX_ROWS`] groups of crawlers, or for the given crawlers.

mod args;
mod crawlers;
mod groups;
mod lines;
mod paths;
mod proofs;
mod readings;
mod rules;
mod sets;
mod show;
mod urls;

use std::io::{BufWriter, Write};

use bumpalo::Bump;
use reptile::{Dialect, Profile, dialects};

pub use self::args::Args;
use crate::error::{Exit, Failure, Result, Stop, note};
use crate::outputs::file::Output;
use crate::sets::Loaded;
use crate::sets::agents::agents_for;
use crate::sets::single::{compile_one, obeyed, read_one};
use crate::url_list::{command_line, refuse_url_list};
use groups::{File, Names};
use paths::{PathComparison, Words};
use proofs::{can_be_proved, open, rows};
use reptile_records::place::Place;

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

/// Compiles both files to sets.
fn compile(paths: [&Place; 2], bodies: &[Vec<u8>; 2], dialect: &'static Dialect) -> Result<[Vec<u8>; 2]> {
    Ok([compile_one(paths[0], &bodies[0], dialect)?, compile_one(paths[1], &bodies[1], dialect)?])
}
