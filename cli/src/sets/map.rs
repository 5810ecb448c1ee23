//! The one place where the command maps a file into memory.
//!
//! [`map`] maps a set file, and [`Temporary`] a set in a file that exists only while a command runs.
//!
//! Mapping avoids copying the set: a command opens a set of any size in microseconds, and processes share its pages.
//! A mapped file must not change while it is mapped. No program can enforce that; the comment at the call explains
//! why the risk is accepted.

use std::io::{self, BufWriter, Write};

use reptile::{CompiledSet, MappedFile};
use tempfile::{NamedTempFile, TempPath};

use crate::error::{Failure, Result};
use reptile_records::place::Place;

/// Maps a set file. Cost: one system call, regardless of size. A remote set is first copied to a temporary file.
///
/// # Errors
/// Returns an error if the file cannot be opened, is not a regular file, or cannot be mapped.
#[allow(unsafe_code, reason = "the one map call of the command")]
pub fn map(path: &Place) -> Result<MappedFile> {
    let Place::Local(file) = path else {
        let copied = fetch(path)?;
        let copied_path = Place::from(copied.path());
        // Other systems than Unix cannot remove a mapped file.
        let copy = || MappedFile::copy(copied.path()).map_err(|error| Failure::at(path, error));
        return if cfg!(unix) { map(&copied_path) } else { copy() };
    };
    // Checked first, because opening a pipe would wait for a writer.
    let found = path.metadata().map_err(|error| Failure::at(path, error))?;
    if !found.is_file() {
        let what = if found.is_dir() { "a folder" } else { "a pipe or a device" };
        return Err(Failure::at(path, format!("is {what}; a compiled set must be a regular file, so save it as one")));
    }
    // SAFETY: the file must not change while it is mapped. `reptile` replaces a set only by renaming a new file over
    // it, which leaves the old file to every process that has it mapped. Another program that writes into a set file
    // breaks the contract, and no check here could notice it in time. The user accepts that risk.
    unsafe { MappedFile::open(file) }.map_err(|error| Failure::at(path, error))
}

/// Copies a remote set to a temporary file.
fn fetch(path: &Place) -> Result<NamedTempFile> {
    let mut source = path.open().map_err(|error| Failure::at(path, error))?;
    let mut file = temporary()?;
    io::copy(&mut source, &mut file).map_err(|error| Failure::at(path, format!("cannot be copied: {error}")))?;
    Ok(file)
}

/// Creates a temporary file for a set.
fn temporary() -> Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".reptile-").tempfile().map_err(no_room)
}

fn no_room(error: io::Error) -> Failure {
    Failure::at(std::env::temp_dir(), format!("no room for a set: {error}"))
}

/// A compiled set in a mapped temporary file. Only the pages that are read take memory.
pub struct Temporary {
    mapped: MappedFile,
    /// The file's path on systems that keep mapped files: removed after the map is dropped. `None` elsewhere.
    _path: Option<TempPath>,
}

impl Temporary {
    /// Writes a set to a temporary file, and maps it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written or mapped.
    pub fn new(set: &CompiledSet) -> Result<Temporary> {
        let file = temporary()?;
        let mut out = BufWriter::new(file.as_file());
        set.write(&mut out).and_then(|()| out.flush()).map_err(no_room)?;
        drop(out);
        let mapped = map(&Place::from(file.path()))?;
        let path = file.into_temp_path();
        let path = if cfg!(unix) { path.close().map(|()| None).map_err(no_room)? } else { Some(path) };
        Ok(Temporary { mapped, _path: path })
    }

    /// Returns the set's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.mapped.as_ref()
    }
}
