//! The bytes of a robots.txt, up to the limit of the compiler.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

use reptile::limits::MAX_BODY_BYTES;

use super::Item;
use super::open::{Input, START_BYTES, Start};
use super::recognise::{Content, Wanted, recognise};
use super::unpack::{Packing, unpack};
use crate::{Error, Result};

/// The reason given for a robots.txt with more bytes than the compiler takes.
pub const TOO_LARGE: &str = "too large";

/// Bytes of memory that a command may take for each byte of a body: of empty lines, 16 MB took 540 MB in `diff`.
const MEMORY_PER_BYTE: usize = 36;

/// Bytes of a body from which on its memory is tried before it is parsed. What a smaller body takes is no matter.
const TRIED_BYTES: usize = 1 << 20;

/// The reason why a body could not be read.
pub enum Fault {
    /// Reading failed.
    Unreadable(io::Error),
    /// The body has so many bytes, more than [`MAX_BODY_BYTES`].
    TooLarge(u64),
    /// There is no memory for so many bytes.
    NoMemory(u64),
}

impl Fault {
    /// The fault as an item for the user.
    ///
    /// # Errors
    /// If there is no memory, which is not a fault of the file: a set without it would depend on the machine.
    pub fn item(self, name: String) -> Result<Item> {
        let (reason, detail) = match self {
            Fault::Unreadable(error) => ("unreadable", error.to_string()),
            Fault::TooLarge(len) => (TOO_LARGE, format!("{len} bytes; the limit is {MAX_BODY_BYTES}")),
            Fault::NoMemory(len) => return Err(no_memory(&name, len)),
        };
        Ok(Item::Bad { name, reason, detail })
    }
}

/// The failure of an input for which there is not enough memory.
pub fn no_memory(name: &str, len: u64) -> Error {
    Error::new(format!("{name}: there is not enough memory for its {len} bytes"))
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
    let mut body = Vec::new();
    body.try_reserve_exact(len as usize).map_err(|_| Fault::NoMemory(len))?;
    match source.take(limit + 1).read_to_end(&mut body) {
        Ok(read) if read as u64 > limit => Err(Fault::TooLarge(read as u64)),
        Ok(_) if has_room(body.len()) => Ok(body),
        Ok(_) => Err(Fault::NoMemory(body.len() as u64)),
        // The reading grows the memory without aborting; this is its error when memory is short.
        Err(error) if error.kind() == ErrorKind::OutOfMemory => Err(Fault::NoMemory(len.max(body.len() as u64 + 1))),
        Err(error) => Err(Fault::Unreadable(error)),
    }
}

/// Whether there is memory to parse a body of so many bytes. It is asked for and given back at once, since the parser
/// could only abort. Other threads may take it in the meantime; then they do abort.
fn has_room(len: usize) -> bool {
    len < TRIED_BYTES || Vec::<u8>::new().try_reserve_exact(len * MEMORY_PER_BYTE).is_ok()
}

/// Reads the robots.txt at a path, unpacked; `-` is standard input.
///
/// # Errors
/// If it cannot be read, has more than [`MAX_BODY_BYTES`], or is something else than text.
pub fn read_robots(path: &Path) -> Result<Vec<u8>> {
    read_input(Input::open(path)?.text(Wanted::Robots)?)
}

/// Reads a single body from an input, whatever it holds.
///
/// # Errors
/// If it cannot be read, or has more than [`MAX_BODY_BYTES`].
pub fn read_input(input: Input) -> Result<Vec<u8>> {
    let path = input.path.clone();
    read_sized(input.into_source(), 0).map_err(|fault| match fault {
        Fault::Unreadable(error) => Error::io(&path, error),
        Fault::TooLarge(_) => Error::at(&path, format!("{TOO_LARGE}; the limit is {MAX_BODY_BYTES} bytes")),
        Fault::NoMemory(len) => no_memory(&path.display().to_string(), len),
    })
}

/// A body as it was fetched, unpacked if it is packed, and what it holds.
///
/// # Errors
/// If it is packed and cannot be unpacked within the limit.
pub fn settle(body: Vec<u8>) -> std::result::Result<(Vec<u8>, Content), Fault> {
    if Packing::of(&body).is_none() {
        let content = recognise(&body[..body.len().min(START_BYTES)]);
        return Ok((body, content));
    }
    let start = Start::read(Box::new(Cursor::new(body))).map_err(Fault::Unreadable)?;
    let (source, _) = unpack(start).map_err(Fault::Unreadable)?;
    let content = recognise(&source.bytes);
    Ok((read_sized(source, 0)?, content))
}
