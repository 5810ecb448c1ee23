//! The one place where the command maps a file into memory.
//!
//! Mapping instead of reading saves a copy of the set: a command opens a set of any size in microseconds, and processes
//! share its pages. A mapped file must not change while it is mapped. No program can force that; the call says why it is
//! accepted here.

use std::fs;
use std::path::Path;

use reptile_engine::platform::MappedFile;

use crate::error::{Failure, Result};

/// Maps a set file. Cost: one system call, whatever the size.
///
/// # Errors
/// If the file cannot be opened, is not a regular file, or cannot be mapped.
#[allow(unsafe_code, reason = "the one map call of the command")]
pub fn map(path: &Path) -> Result<MappedFile> {
    // Looked at first, since opening a pipe would wait for a writer.
    let found = fs::metadata(path).map_err(|error| Failure::at(path, error))?;
    if !found.is_file() {
        let what = if found.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(Failure::at(path, format!("is {what}; a compiled set must be a regular file, so save it as one")));
    }
    // SAFETY: the file must not change while it is mapped. `reptile` only ever replaces a set by renaming a new file over
    // it, which leaves the old file to every process that has it mapped. Another program that writes into a set file
    // breaks the contract, and no check here could notice it in time; whoever does that accepts what follows.
    unsafe { MappedFile::open(path) }.map_err(|error| Failure::at(path, error))
}
