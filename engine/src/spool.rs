//! Where work that does not fit in memory keeps bytes for a while. Nothing here opens a file: the caller does.

use std::io::{self, Write};

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Makes spools: a folder for temporary files, or memory.
pub trait Store: Sync {
    /// What it makes.
    type Spool: Spool + 'static;

    /// Makes an empty spool.
    ///
    /// # Errors
    /// When there is no room for it.
    fn create(&self) -> io::Result<Self::Spool>;
}

/// Bytes that are written from start to end and then read again.
pub trait Spool: Write + Send + Sync {
    /// Writes all of the bytes to `out`.
    ///
    /// # Errors
    /// The errors of reading them, and those of `out`.
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Keeps everything in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Store for Memory {
    type Spool = Vec<u8>;

    fn create(&self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

impl Spool for Vec<u8> {
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self)
    }
}

/// The bytes of a section that is ready to be written.
pub enum SectionBytes {
    /// In memory.
    Held(Vec<u8>),
    /// In a spool.
    Spooled {
        /// How many bytes.
        len: u64,
        /// Their checksum.
        checksum: u64,
        /// The bytes.
        spool: Box<dyn Spool>,
    },
}

impl SectionBytes {
    /// How many bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            SectionBytes::Held(bytes) => bytes.len() as u64,
            SectionBytes::Spooled { len, .. } => *len,
        }
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The checksum of the bytes. Reads them if they are in memory.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        match self {
            SectionBytes::Held(bytes) => xxh3_64(bytes),
            SectionBytes::Spooled { checksum, .. } => *checksum,
        }
    }

    /// Writes the bytes to `out`.
    ///
    /// # Errors
    /// The errors of reading them, and those of `out`.
    pub fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            SectionBytes::Held(bytes) => out.write_all(bytes),
            SectionBytes::Spooled { spool, .. } => spool.copy_to(out),
        }
    }
}

/// Takes the bytes of a section from start to end.
pub(crate) trait Sink {
    /// What may go wrong.
    type Error;

    /// Takes the next bytes.
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

/// Bytes that are collected before they go to a spool.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes a section to a spool, and computes its checksum on the way.
pub(crate) struct SectionWriter<P> {
    spool: P,
    buffer: Vec<u8>,
    checksum: Xxh3Default,
    len: u64,
}

impl<P: Spool + 'static> SectionWriter<P> {
    /// A section without bytes.
    pub fn new(spool: P) -> SectionWriter<P> {
        SectionWriter { spool, buffer: Vec::new(), checksum: Xxh3Default::new(), len: 0 }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.checksum.update(&self.buffer);
        self.spool.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The whole section.
    pub fn finish(mut self) -> io::Result<SectionBytes> {
        self.flush()?;
        self.spool.flush()?;
        Ok(SectionBytes::Spooled { len: self.len, checksum: self.checksum.digest(), spool: Box::new(self.spool) })
    }
}

impl<P: Spool + 'static> Sink for SectionWriter<P> {
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
    fn a_spooled_section_is_the_one_in_memory() {
        for len in [0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 3 * BUFFER_BYTES] {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let mut writer = SectionWriter::new(Vec::new());
            bytes.chunks(7_000).for_each(|chunk| writer.put(chunk).unwrap());
            let (spooled, held) = (writer.finish().unwrap(), SectionBytes::Held(bytes.clone()));
            assert_eq!((spooled.len(), spooled.checksum()), (held.len(), held.checksum()), "{len}");
            let mut copy = Vec::new();
            spooled.copy_to(&mut copy).unwrap();
            assert!(copy == bytes);
        }
    }
}
