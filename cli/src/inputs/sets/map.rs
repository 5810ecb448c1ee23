//! The one place where the command maps a file into memory.
//!
//! A mapped file must not change while it is mapped: cutting it short would end this process with SIGBUS, and other
//! changes would be seen half made. `reptile` itself never breaks this, since it only replaces a set by renaming a new
//! file over it, which leaves the old file to whoever has it mapped. That another program writes into a set file while a
//! command runs cannot be ruled out, and is accepted here: the bytes are only read through checked accesses, so that
//! the worst is an error, the end of this process, or a wrong verdict from a file that was being overwritten.

use std::path::Path;

use reptile_engine::platform::Mapped;

use crate::error::{Failure, Result};

/// Maps a set file. Cost: one system call, whatever the size.
///
/// # Errors
/// If the file cannot be opened, is not a regular file, or cannot be mapped.
pub fn map(path: &Path) -> Result<Mapped> {
    Mapped::open(path).map_err(|error| Failure::at(path, error))
}
