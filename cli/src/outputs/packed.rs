//! Outputs that are packed because their name says so: `.gz` and `.zst`.
//!
//! The packed bytes are kept until the output takes them, so that an output is packed whatever it is. Nothing here opens a
//! file.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use zstd::stream::write::Encoder;

/// The level of zstd: its own default.
const ZSTD_LEVEL: i32 = 0;

/// Packs what is written, into memory.
pub enum Packer {
    /// RFC 1952.
    Gzip(GzEncoder<Vec<u8>>),
    /// RFC 8878.
    Zstd(Encoder<'static, Vec<u8>>),
}

impl Packer {
    /// The packer for a file of this name, if its name asks for one.
    ///
    /// # Errors
    /// If zstd cannot be set up.
    pub fn for_name(path: &Path) -> io::Result<Option<Packer>> {
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        Ok(match end.as_deref() {
            Some("gz") => Some(Packer::Gzip(GzEncoder::new(Vec::new(), Compression::default()))),
            Some("zst") => {
                let mut encoder = Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Some(Packer::Zstd(encoder))
            }
            _ => None,
        })
    }

    /// Packs bytes, and returns those that are ready.
    ///
    /// # Errors
    /// If the packer fails.
    pub fn pack(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Packer::Gzip(encoder) => encoder.write_all(bytes).map(|()| std::mem::take(encoder.get_mut())),
            Packer::Zstd(encoder) => encoder.write_all(bytes).map(|()| std::mem::take(encoder.get_mut())),
        }
    }

    /// The last bytes.
    ///
    /// # Errors
    /// If the packer fails.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Packer::Gzip(encoder) => encoder.finish(),
            Packer::Zstd(encoder) => encoder.finish(),
        }
    }
}
