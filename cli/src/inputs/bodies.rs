//! The bytes of a robots.txt, up to the limit of the compiler.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use reptile_compiler::limits::MAX_BODY_BYTES;

use super::Item;
use crate::error::{Failure, Result};

/// The reason given for a robots.txt with more bytes than the compiler takes.
pub const TOO_LARGE: &str = "too large";

/// The reason why a body could not be read.
pub enum Fault {
    /// Reading failed.
    Unreadable(io::Error),
    /// The body has so many bytes, more than [`MAX_BODY_BYTES`].
    TooLarge(u64),
}

impl Fault {
    /// The fault as an item for the user.
    pub fn item(self, name: String) -> Item {
        let (reason, detail) = match self {
            Fault::Unreadable(error) => ("unreadable", error.to_string()),
            Fault::TooLarge(len) => (TOO_LARGE, format!("{len} bytes; the limit is {MAX_BODY_BYTES}")),
        };
        Item::Bad { name, reason, detail }
    }
}

/// Reads a robots.txt from a file. One that is too large is refused by its size, before it is read.
pub fn read_body(file: io::Result<File>) -> std::result::Result<Vec<u8>, Fault> {
    let file = file.map_err(Fault::Unreadable)?;
    let len = file.metadata().map_err(Fault::Unreadable)?.len();
    read_sized(file, len)
}

/// Reads a body that is said to have `len` bytes. It may turn out to have more, up to the limit.
pub fn read_sized(source: impl Read, len: u64) -> std::result::Result<Vec<u8>, Fault> {
    let limit = MAX_BODY_BYTES as u64;
    if len > limit {
        return Err(Fault::TooLarge(len));
    }
    let mut body = Vec::with_capacity(len as usize);
    match source.take(limit + 1).read_to_end(&mut body) {
        Ok(read) if read as u64 > limit => Err(Fault::TooLarge(read as u64)),
        Ok(_) => Ok(body),
        Err(error) => Err(Fault::Unreadable(error)),
    }
}

/// Reads a single robots.txt to its end; the path is for messages only.
///
/// # Errors
/// If it cannot be read, or has more than [`MAX_BODY_BYTES`].
pub fn read_single(source: impl Read, path: &Path) -> Result<Vec<u8>> {
    read_sized(source, 0).map_err(|fault| match fault {
        Fault::Unreadable(error) => Failure::at(path, error),
        Fault::TooLarge(_) => Failure::at(path, format!("{TOO_LARGE}; the limit is {MAX_BODY_BYTES} bytes")),
    })
}

/// Opens a single robots.txt and reads it as [`read_single`] does.
///
/// # Errors
/// If it cannot be opened, and those of [`read_single`].
pub fn read_single_file(path: &Path) -> Result<Vec<u8>> {
    read_single(File::open(path).map_err(|error| Failure::at(path, error))?, path)
}
