//! Mapping a file into memory: the one place with `unsafe` in this crate.
//!
//! Gain over reading the file: opening takes the same few microseconds for any size, processes share the pages,
//! and only what is touched is resident. The safe twin is `Set::from_bytes(std::fs::read(path)?)`; the tests run
//! every case through both.

use std::fs::File;
use std::io;
use std::path::Path;

/// A file mapped read-only.
#[derive(Debug)]
pub struct Mapped {
    // `memmap2` refuses to map nothing, so an empty file is `None`.
    map: Option<memmap2::Mmap>,
}

impl Mapped {
    /// Maps a file. Cost: one system call, whatever the size.
    ///
    /// If another process truncates the file while it is mapped, touching what is gone kills this process with
    /// `SIGBUS`; replace a set by renaming a new file over it, as `reptile compile` does, and never write into it.
    ///
    /// # Errors
    /// When the file cannot be opened, is no regular file, or cannot be mapped.
    pub fn open(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if metadata.len() == 0 {
            return Ok(Mapped { map: None });
        }
        // SAFETY: `Mmap::map` asks that nobody changes the file while it is mapped. That cannot be forced, so
        // nothing here relies on it: the bytes are read through checked accesses only, never twice with the
        // first reading trusted, and never as a type with invalid values. What remains is truncation, which
        // ends the process as documented above.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Mapped { map: Some(map) })
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
