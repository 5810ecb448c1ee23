//! An open file or remote object that any thread can read at any offset: Parquet columns, or records of an archive.

use std::fs::File;
use std::io::Read;

use crate::place::Place;
use crate::stores::Object;

/// An open file or remote object without a read position, so that several threads can read columns.
pub(crate) struct Ranged {
    source: FileOrObject,
    len: u64,
}

enum FileOrObject {
    File(File),
    Object(Object),
}

impl Ranged {
    /// Opens a file or a remote object.
    ///
    /// # Errors
    /// Returns an error if it does not exist or is unreadable.
    pub fn open(place: &Place) -> std::io::Result<Ranged> {
        let path = match place {
            Place::Local(path) => path,
            Place::Remote(url) => return Ok(Ranged::of_object(Object::open(url)?)),
        };
        let file = File::open(path)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(std::io::Error::other("is not a regular file"));
        }
        Ok(Ranged::new(file, found.len()))
    }

    /// Creates a source from an open file of `len` bytes.
    pub fn new(file: File, len: u64) -> Ranged {
        Ranged { source: FileOrObject::File(file), len }
    }

    /// Creates a source from an open object.
    pub fn of_object(object: Object) -> Ranged {
        Ranged { len: object.len(), source: FileOrObject::Object(object) }
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
        OffsetReader { source: self, offset }.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads some bytes at an offset, or none at the end.
    ///
    /// # Errors
    /// Returns an error if the file is unreadable.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        match &self.source {
            FileOrObject::File(file) => read_file_at(file, offset, buffer),
            FileOrObject::Object(object) => object.read_at(offset, buffer),
        }
    }
}

#[cfg(unix)]
fn read_file_at(file: &File, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_file_at(file: &File, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// A reader that starts at a file offset.
struct OffsetReader<'s> {
    source: &'s Ranged,
    offset: u64,
}

impl Read for OffsetReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}
