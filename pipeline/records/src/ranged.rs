//! An open file that any thread can read at any offset: Parquet columns, or records of an archive.

use std::fs::File;
use std::io::Read;

/// An open file without a read position, so that several threads can read columns.
pub(crate) struct Ranged {
    file: File,
    len: u64,
}

impl Ranged {
    /// Creates a source from an open file of `len` bytes.
    pub fn new(file: File, len: u64) -> Ranged {
        Ranged { file, len }
    }

    /// Returns the file length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reads `len` bytes at an offset.
    ///
    /// # Errors
    /// Returns an error if the file ends too early or is unreadable.
    pub fn at(&self, offset: u64, len: usize) -> std::io::Result<Vec<u8>> {
        // Zeroed memory is cheap to get from the system, and callers never request more bytes than the file has.
        let mut bytes = vec![0; len];
        At { source: self, offset }.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }
}

/// A reader that starts at a file offset.
struct At<'s> {
    source: &'s Ranged,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}
