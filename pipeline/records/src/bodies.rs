//! Reads robots.txt bodies up to the compiler's size limit.
//!
//! ```
//! use std::io::Write;
//!
//! use flate2::{Compression, write::GzEncoder};
//! use reptile_records::{Item, bodies::decompress_and_detect, detect::Content};
//!
//! let robots = b"user-agent: *\ndisallow: /private\n";
//! let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
//! encoder.write_all(robots)?;
//! let packed = encoder.finish()?;
//! assert!(matches!(decompress_and_detect(packed.clone()), Ok((body, Content::Text)) if body == robots));
//!
//! // An unreadable body becomes an item. Messages use the item's name.
//! let cut = decompress_and_detect(packed[..20].to_vec());
//! let bad = cut.err().map(|fault| fault.item("example.com".into())).transpose()?;
//! assert!(matches!(bad, Some(Item::Bad { reason: "unreadable", .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};

use reptile::limits::MAX_BODY_BYTES;

use super::Item;
use super::detect::{Content, detect};
use super::unpack::{Compression, Start, unpack};
use crate::{Error, Result};

/// The reason reported for a body that exceeds the compiler's limit.
pub const TOO_LARGE: &str = "too large";

/// Maximum memory that a command uses per body byte. For 16 MB of empty lines, `diff` needed 540 MB.
const MEMORY_PER_BYTE: usize = 36;

/// Minimum body size for which available memory is checked before parsing. Smaller bodies are not checked.
const TRIED_BYTES: usize = 1 << 20;

/// The reason why a body could not be read.
pub enum Fault {
    /// Reading failed.
    Unreadable(io::Error),
    /// The body's length in bytes, which exceeds [`MAX_BODY_BYTES`].
    TooLarge(u64),
    /// The number of bytes for which there is not enough memory.
    NoMemory(u64),
}

impl Fault {
    /// Returns the item that reports this problem.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory. Skipping such a file would make the set depend on the machine.
    pub fn item(self, name: String) -> Result<Item> {
        let (reason, detail) = match self {
            Fault::Unreadable(error) => ("unreadable", error.to_string()),
            Fault::TooLarge(len) => (TOO_LARGE, format!("{len} bytes; the limit is {MAX_BODY_BYTES}")),
            Fault::NoMemory(len) => return Err(no_memory(&name, len)),
        };
        Ok(Item::Bad { name, reason, detail })
    }
}

/// Returns the error for an input that does not fit into memory.
pub(crate) fn no_memory(name: &str, len: u64) -> Error {
    Error::run(format!("{name}: there is not enough memory for its {len} bytes"))
}

/// Reads a robots.txt file. An oversized file is rejected by its size, before it is read.
pub(crate) fn read_body(file: io::Result<File>) -> std::result::Result<Vec<u8>, Fault> {
    let file = file.map_err(Fault::Unreadable)?;
    let len = file.metadata().map_err(Fault::Unreadable)?.len();
    read_sized(file, len)
}

/// Reads a body with an announced length of `len` bytes. It may be longer, up to the limit.
pub(crate) fn read_sized(source: impl Read, len: u64) -> std::result::Result<Vec<u8>, Fault> {
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
        // Reading reserves memory without aborting, and returns this error if there is not enough.
        Err(error) if error.kind() == ErrorKind::OutOfMemory => Err(Fault::NoMemory(len.max(body.len() as u64 + 1))),
        Err(error) => Err(Fault::Unreadable(error)),
    }
}

/// Returns whether there is enough memory to parse a body of `len` bytes.
///
/// Reserves the memory and releases it immediately, because a failed allocation in the parser aborts the process. That
/// can still happen if other threads take the memory in the meantime.
fn has_room(len: usize) -> bool {
    len < TRIED_BYTES || Vec::<u8>::new().try_reserve_exact(len * MEMORY_PER_BYTE).is_ok()
}

/// Decompresses a fetched body if necessary, and detects its content.
///
/// # Errors
/// Returns an error if the body cannot be decompressed within the limit.
pub fn decompress_and_detect(body: Vec<u8>) -> std::result::Result<(Vec<u8>, Content), Fault> {
    if Compression::of(&body).is_none() {
        let content = detect(&body);
        return Ok((body, content));
    }
    let start = Start::read(Box::new(Cursor::new(body))).map_err(Fault::Unreadable)?;
    let (source, _) = unpack(start).map_err(Fault::Unreadable)?;
    let body = read_sized(source, 0)?;
    let content = detect(&body);
    Ok((body, content))
}
