//! An open file that any thread can read at any offset.

use std::fs::File;
use std::io::Read;

/// An open file. Reads move no position, so that columns can be read on several threads.
pub struct Source {
    file: File,
    len: u64,
}

impl Source {
    /// Takes an open file of so many bytes.
    pub fn new(file: File, len: u64) -> Source {
        Source { file, len }
    }

    /// The length of the file.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bytes at an offset.
    ///
    /// # Errors
    /// If the file ends before them, or cannot be read.
    pub fn at(&self, offset: u64, len: usize) -> std::io::Result<Vec<u8>> {
        // Zeroed memory from the system is cheap, and callers never request more bytes than the file has.
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

/// A reader that begins at an offset of a file.
struct At<'s> {
    source: &'s Source,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}
