//! `reptile verify`: reads every byte of a set file and reports whether it is valid.

use std::path::PathBuf;

use crate::error::{Exit, Result};
use crate::inputs::sets::Loaded;
use crate::outputs::file::print;
use crate::outputs::summary::grouped;

/// Check every byte of a set file
///
/// Checks that no byte has changed since the set was written, and that every part of
/// it is well formed.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:
  reptile verify web.reptile

Exit code: 0 the set is valid; 2 it is damaged, or cannot be read."
)]
pub struct Args {
    /// The set file
    set: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If the set is damaged or cannot be read.
pub fn run(args: &Args) -> Result<Exit> {
    let loaded = Loaded::open_set(&args.set)?;
    let set = loaded.verified()?;
    print(format!(
        "{}: valid, {} origins, {} rulesets, {} bytes\n",
        args.set.display(),
        grouped(set.origin_count()),
        grouped(set.rulesets().len().into()),
        grouped(loaded.bytes().len() as u64),
    ))?;
    Ok(Exit::Done)
}
