//! `reptile diff --dialects A,B`: whether two dialects read one robots.txt alike.

use std::io::{BufWriter, Write};

use reptile::settings::NotText;
use reptile::{Dialect, Profile};

use super::args::Args;
use super::paths::{self, Words};
use super::proofs::{can_be_proved, open, rows};
use crate::error::{Exit, Failure, Result, Stop};
use crate::outputs::file::Output;
use crate::sets::Loaded;
use crate::sets::agents::agents_for;
use crate::sets::single::{compile_one, read_one};
use crate::url_list::refuse_url_list;

/// Runs the command for two dialects.
///
/// # Errors
/// Returns an error if there are not two dialects, if the file cannot be read or compiled, or the output cannot be
/// written.
pub fn run(args: &Args) -> Result<Exit> {
    let &[first, second] = &args.dialects[..] else {
        let count = args.dialects.len();
        return Err(Failure::new(format!(
            "--dialects: expected two dialects with a comma between them, found {count}"
        )));
    };
    let path = &args.old;
    if Loaded::is_set(path)? {
        return Err(Failure::at(path, "is a compiled set, which has one dialect: expected a robots.txt"));
    }
    // The note is about the dialect that differs more from Google's.
    let ignores = |dialect: &&&Dialect| Profile::of_dialect(dialect).not_text == NotText::Allow;
    let noted = [first, second].iter().find(ignores).map_or(first, |dialect| dialect);
    let body = read_one(path, Profile::of_dialect(noted))?;
    refuse_url_list(path, &body, || "expected a robots.txt".into())?;
    let given = [agents_for(first, &args.agents, &[&body])?, agents_for(second, &args.agents, &[&body])?];
    let words = Words::of_dialects([first.as_str(), second.as_str()], args.assumption.read()?);
    let mut out = BufWriter::new(Output::stdout());
    // Each reading is as large as the file.
    if !can_be_proved([body.len(); 2]) {
        let written = paths::write_unproved(&words, args.json, &mut out);
        let written = written.and_then(|found| out.flush().map(|()| found).map_err(Stop::Write));
        let found = written.map_err(|stop| out.get_ref().stop_failure(stop, path))?;
        return Ok(Exit::from_bad(found.is_unproved));
    }
    let sets = [compile_one(path, &body, first)?, compile_one(path, &body, second)?];
    let compared = open(&sets).and_then(|sets| {
        let rows = rows(&words, [&given[0], &given[1]], &sets)?;
        let found = paths::write(&rows, &words, args.json, &mut out)?;
        out.write_all(found.equal.as_bytes())?;
        out.flush()?;
        Ok(found.is_change || found.is_unproved)
    });
    let any = compared.map_err(|stop| out.get_ref().stop_failure(stop, path))?;
    Ok(Exit::from_bad(any))
}
