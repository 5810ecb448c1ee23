//! The names of a command's inputs: arguments, patterns, and `--files-from`.

use std::path::{Path, PathBuf};

use crate::error::{Failure, Result};
use reptile_records::{file_list, globs};

/// The option to read input names from a file. Every command with many inputs has it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FilesFrom {
    /// Also read the files named in FILE, one per line; - is standard input
    ///
    /// The names are relative to the working folder, and are not patterns. There are no comments; empty lines are
    /// skipped. If FILE contains a NUL, each name ends with one, as `find -print0` writes them. The files follow those
    /// given as arguments.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
}

impl FilesFrom {
    /// Returns the paths of all inputs: the arguments with patterns expanded, then the listed files.
    ///
    /// # Errors
    /// Returns an error if a pattern matches nothing, or if the list is unreadable, names no file, or names a file that
    /// does not exist.
    pub fn expand(&self, arguments: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut paths = globs::expand(arguments)?;
        if let Some(list) = &self.files_from {
            if list == Path::new("-") && paths.contains(list) {
                return Err(Failure::new("--files-from -: standard input is an input too; it can be only one of them"));
            }
            paths.extend(file_list::names(list)?);
        }
        Ok(paths)
    }
}
