//! Outputs that are compressed because their names end in `.gz` or `.zst`.
//!
//! Compressed bytes are kept in memory until the output takes them, which works for any kind of output. This module
//! opens no files.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use reptile_records::place::Place;
use zstd::stream::write::Encoder;

/// The zstd level: its own default.
const ZSTD_LEVEL: i32 = 0;

/// Number of bytes per block. Fixed blocks make the compressed bytes independent of the write sizes.
const BLOCK_BYTES: usize = 64 << 10;

/// Compresses written bytes into memory.
pub struct Compressor {
    encoder: Codec,
    /// Less than a block, not yet compressed.
    waiting: Vec<u8>,
}

enum Codec {
    /// RFC 1952.
    Gzip(GzEncoder<Vec<u8>>),
    /// RFC 8878.
    Zstd(Encoder<'static, Vec<u8>>),
}

impl Compressor {
    /// Returns the compressor for a file name, or `None` for other extensions.
    ///
    /// # Errors
    /// Returns an error if zstd cannot be set up.
    pub fn for_name(path: &Place) -> io::Result<Option<Compressor>> {
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let encoder = match end.as_deref() {
            Some("gz") => Codec::Gzip(GzEncoder::new(Vec::new(), Compression::default())),
            Some("zst") => {
                let mut encoder = Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Codec::Zstd(encoder)
            }
            _ => return Ok(None),
        };
        Ok(Some(Compressor { encoder, waiting: Vec::new() }))
    }

    /// Compresses bytes, and returns the finished ones.
    ///
    /// # Errors
    /// Returns an error if the compressor fails.
    pub fn compress(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.waiting.extend_from_slice(bytes);
        let (blocks, rest) = self.waiting.as_chunks::<BLOCK_BYTES>();
        let rest = rest.len();
        blocks.iter().try_for_each(|block| self.encoder.write_all(block))?;
        self.waiting.drain(..self.waiting.len() - rest);
        Ok(self.encoder.take())
    }

    /// Returns the last bytes.
    ///
    /// # Errors
    /// Returns an error if the compressor fails.
    pub fn finish(mut self) -> io::Result<Vec<u8>> {
        self.encoder.write_all(&self.waiting)?;
        match self.encoder {
            Codec::Gzip(encoder) => encoder.finish(),
            Codec::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl Codec {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Codec::Gzip(encoder) => encoder.write_all(bytes),
            Codec::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    /// Returns the finished compressed bytes.
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Codec::Gzip(encoder) => encoder.get_mut(),
            Codec::Zstd(encoder) => encoder.get_mut(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn compressed_bytes_do_not_depend_on_write_sizes() {
        let text: Vec<u8> =
            (0..3 * BLOCK_BYTES as u32).flat_map(|number| (number.wrapping_mul(number) % 9973).to_le_bytes()).collect();
        for name in ["x.gz", "x.zst"] {
            let compressed = |piece: usize| {
                let mut compressor = Compressor::for_name(&Place::from(name)).unwrap().unwrap();
                let mut compressed = Vec::new();
                text.chunks(piece).for_each(|piece| compressed.extend(compressor.compress(piece).unwrap()));
                compressed.extend(compressor.finish().unwrap());
                compressed
            };
            let whole = compressed(text.len());
            for piece in [1000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES] {
                assert!(compressed(piece) == whole, "{name} {piece}");
            }
        }
    }
}
