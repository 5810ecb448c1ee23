//! Temporary storage for data that does not fit in memory.
//!
//! Nothing here opens a file: the caller does.

use std::io::{self, Write};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// A factory for spools, such as a folder for temporary files, or memory.
pub trait Store: Sync {
    /// Creates an empty spool.
    ///
    /// # Errors
    /// Returns an error if there is no space for it.
    fn create(&self) -> io::Result<Box<dyn Spool>>;
}

/// Bytes that are written sequentially and then read back.
pub trait Spool: Write + Send + Sync {
    /// Writes all bytes to `out`.
    ///
    /// # Errors
    /// Returns an error if reading the bytes or writing to `out` fails.
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Spools in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Store for Memory {
    fn create(&self) -> io::Result<Box<dyn Spool>> {
        Ok(Box::new(Vec::new()))
    }
}

impl Spool for Vec<u8> {
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self)
    }
}

/// The bytes of a section that is ready to be written.
pub enum SectionBytes {
    /// Bytes in memory.
    Held(Vec<u8>),
    /// Bytes that many sets share.
    Shared(SharedSection),
    /// Bytes in a spool.
    Spooled {
        /// Number of bytes.
        len: u64,
        /// The bytes' checksum.
        checksum: u64,
        /// The spool that holds the bytes.
        spool: Box<dyn Spool>,
    },
}

/// A section's bytes, which live as long as the process, with their checksum, which is computed once.
#[derive(Clone, Copy, Debug)]
pub struct SharedSection {
    bytes: &'static [u8],
    checksum: u64,
}

impl SharedSection {
    /// Creates a section, and computes its checksum.
    #[must_use]
    pub fn new(bytes: &'static [u8]) -> SharedSection {
        SharedSection { bytes, checksum: xxh3_64(bytes) }
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &'static [u8] {
        self.bytes
    }
}

impl SectionBytes {
    /// Returns the number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            SectionBytes::Held(bytes) => bytes.len() as u64,
            SectionBytes::Shared(shared) => shared.bytes.len() as u64,
            SectionBytes::Spooled { len, .. } => *len,
        }
    }

    /// Returns whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes' checksum.
    ///
    /// Computed on each call for [`SectionBytes::Held`].
    #[must_use]
    pub fn checksum(&self) -> u64 {
        match self {
            SectionBytes::Held(bytes) => xxh3_64(bytes),
            SectionBytes::Shared(shared) => shared.checksum,
            SectionBytes::Spooled { checksum, .. } => *checksum,
        }
    }

    /// Writes the bytes to `out`.
    ///
    /// # Errors
    /// Returns an error if reading the bytes or writing to `out` fails.
    pub fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            SectionBytes::Held(bytes) => out.write_all(bytes),
            SectionBytes::Shared(shared) => out.write_all(shared.bytes),
            SectionBytes::Spooled { spool, .. } => spool.copy_to(out),
        }
    }
}

/// A sequential writer for a section's bytes.
pub(crate) trait Sink {
    /// The error type.
    type Error;

    /// Appends bytes.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

impl Sink for Vec<u8> {
    type Error = std::convert::Infallible;

    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Number of bytes collected before they go to the spool.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes a section to a spool and computes its checksum along the way.
pub(crate) struct SectionWriter {
    spool: Box<dyn Spool>,
    buffer: Vec<u8>,
    checksum: Xxh3Default,
    len: u64,
}

impl SectionWriter {
    /// Starts an empty section.
    pub fn new(spool: Box<dyn Spool>) -> SectionWriter {
        SectionWriter { spool, buffer: Vec::new(), checksum: Xxh3Default::new(), len: 0 }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.checksum.update(&self.buffer);
        self.spool.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Flushes and returns the section.
    pub fn finish(mut self) -> io::Result<SectionBytes> {
        self.flush()?;
        self.spool.flush()?;
        Ok(SectionBytes::Spooled { len: self.len, checksum: self.checksum.digest(), spool: self.spool })
    }
}

impl Sink for SectionWriter {
    type Error = io::Error;

    #[inline]
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.len += bytes.len() as u64;
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too many bytes")]
    fn spooled_shared_and_held_sections_are_equal() {
        for len in [0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 3 * BUFFER_BYTES] {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let mut writer = SectionWriter::new(Box::new(Vec::new()));
            bytes.chunks(7_000).for_each(|chunk| writer.put(chunk).unwrap());
            let (spooled, held) = (writer.finish().unwrap(), SectionBytes::Held(bytes.clone()));
            let shared = SectionBytes::Shared(SharedSection::new(bytes.clone().leak()));
            for other in [spooled, shared] {
                assert_eq!((other.len(), other.checksum()), (held.len(), held.checksum()), "{len}");
                let mut copy = Vec::new();
                other.copy_to(&mut copy).unwrap();
                assert!(copy == bytes);
            }
        }
    }
}
