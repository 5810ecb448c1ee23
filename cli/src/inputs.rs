//! The names of a command's inputs: arguments, patterns, and `--files-from`.

use crate::error::{Failure, Result};
use reptile_records::place::Place;
use reptile_records::trees::{NamedFile, named_files};
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
    files_from: Option<Place>,
}

impl FilesFrom {
    /// Returns the paths of all inputs: the arguments with patterns expanded, then the listed files.
    ///
    /// # Errors
    /// Returns an error if a pattern matches nothing, or if the list is unreadable, names no file, or names a file that
    /// does not exist.
    pub fn expand(&self, arguments: &[Place]) -> Result<Vec<Place>> {
        let mut paths = globs::expand(arguments)?;
        paths.extend(self.listed(&paths)?);
        Ok(paths)
    }

    /// Returns the files of all inputs, each with a relative path for its output. A folder means the files below it.
    ///
    /// # Errors
    /// Returns the errors of [`FilesFrom::expand`], and an error if a folder is unreadable or has no file.
    pub fn expand_named(&self, arguments: &[Place]) -> Result<Vec<NamedFile>> {
        let mut files = named_files(arguments)?;
        // The listed names exist, so none of them is a pattern.
        files.extend(named_files(&self.listed(arguments)?)?);
        Ok(files)
    }

    /// Returns the names in the list, if it is given. `others` are the other inputs.
    fn listed(&self, others: &[Place]) -> Result<Vec<Place>> {
        let mut paths = Vec::new();
        if let Some(list) = &self.files_from {
            if list.is_standard() && others.contains(list) {
                return Err(Failure::new("--files-from -: standard input is an input too; it can be only one of them"));
            }
            paths.extend(file_list::names(list)?);
        }
        Ok(paths)
    }
}
