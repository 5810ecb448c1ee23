//! The lists and their output files.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use reptile_records::fingerprint::Fingerprint;
use reptile_records::stores::{is_remote, join, without_query};

use super::super::Args;
use crate::error::{Failure, Result};
use crate::outputs::build_record;
use crate::same_file::refuse_overwriting;

/// Returns a list's current state.
///
/// # Errors
/// Returns an error if it is not a regular file.
pub fn state_of(list: &Path) -> Result<Fingerprint> {
    if list == Path::new("-") {
        return Err(Failure::new("--output-folder cannot name a file after standard input; give the lists as files"));
    }
    if list.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(Failure::at(list, "is not a regular file; --output-folder requires one for each list"));
    }
    Ok(Fingerprint::of(list)?)
}

/// Creates the folder unless it exists. Remote folders need not be created.
pub fn create(folder: &Path) -> Result<()> {
    if is_remote(folder) {
        return Ok(());
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        created => created.map_err(|error| Failure::at(folder, format!("the folder cannot be created: {error}"))),
    }
}

/// Returns each list with its output file.
///
/// # Errors
/// Returns an error if a file or its record would replace the set, a list, or another list's file.
pub fn jobs(args: &Args, folder: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let mut lists: HashMap<PathBuf, &Path> = HashMap::new();
    let mut jobs = Vec::new();
    for list in &args.lists {
        state_of(list)?;
        let named = without_query(list);
        let mut name = named.file_name().unwrap_or_default().to_owned();
        match args.written.ending() {
            Some(ending) => name.push(ending),
            // Outputs are never compressed this way.
            None if named.extension().is_some_and(|ending| ending == "bz2" || ending == "xz") => {
                name = named.file_stem().unwrap_or_default().to_owned();
            }
            None => {}
        }
        let file = join(folder, Path::new(&name));
        for path in [file.clone(), build_record::path_of(&file)?] {
            refuse_overwriting(&path, args.lists.iter().chain([&args.set]).map(PathBuf::as_path))?;
            if let Some(other) = lists.insert(path.clone(), list) {
                let message = format!("would be the file for both {} and {}", other.display(), list.display());
                return Err(Failure::at(&path, message));
            }
        }
        jobs.push((list.clone(), file));
    }
    Ok(jobs)
}
