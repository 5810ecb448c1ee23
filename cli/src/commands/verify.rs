//! `reptile verify`: reads every byte of a set file and says whether it is whole.

use std::path::PathBuf;

use crate::error::{Outcome, Result};
use crate::inputs::load::Loaded;
use crate::outputs::file::print;
use crate::outputs::summary::grouped;

/// Check every byte of a set file
#[derive(clap::Args)]
#[command(after_help = "Example:
  reptile verify web.reptile

Exit code: 0 the set is valid, 2 it is not.")]
pub struct Args {
    /// The set file
    set: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    let loaded = Loaded::open_set(&args.set)?;
    let set = loaded.verified()?;
    print(format!(
        "{}: valid, {} origins, {} rulesets, {} bytes\n",
        args.set.display(),
        grouped(set.origin_count()),
        grouped(set.rulesets().len().into()),
        grouped(loaded.byte_len() as u64),
    ))?;
    Ok(Outcome::Done)
}
