//! Outputs that are compressed because their names end in `.gz` or `.zst`.
//!
//! Compressed bytes are kept in memory until the output takes them, which works for any kind of output. This module
//! opens no files.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use zstd::stream::write::Encoder;

/// The zstd level: its own default.
const ZSTD_LEVEL: i32 = 0;

/// Number of bytes per block. Fixed blocks make the compressed bytes independent of the write sizes.
const BLOCK_BYTES: usize = 64 << 10;

/// Compresses written bytes into memory.
pub struct Packer {
    encoder: Packing,
    /// Less than a block, not yet compressed.
    waiting: Vec<u8>,
}

enum Packing {
    /// RFC 1952.
    Gzip(GzEncoder<Vec<u8>>),
    /// RFC 8878.
    Zstd(Encoder<'static, Vec<u8>>),
}

impl Packer {
    /// Returns the compressor for a file name, or `None` for other extensions.
    ///
    /// # Errors
    /// Returns an error if zstd cannot be set up.
    pub fn for_name(path: &Path) -> io::Result<Option<Packer>> {
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let encoder = match end.as_deref() {
            Some("gz") => Packing::Gzip(GzEncoder::new(Vec::new(), Compression::default())),
            Some("zst") => {
                let mut encoder = Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Packing::Zstd(encoder)
            }
            _ => return Ok(None),
        };
        Ok(Some(Packer { encoder, waiting: Vec::new() }))
    }

    /// Compresses bytes, and returns the finished ones.
    ///
    /// # Errors
    /// Returns an error if the compressor fails.
    pub fn pack(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
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
            Packing::Gzip(encoder) => encoder.finish(),
            Packing::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl Packing {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Packing::Gzip(encoder) => encoder.write_all(bytes),
            Packing::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    /// Returns the finished compressed bytes.
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Packing::Gzip(encoder) => encoder.get_mut(),
            Packing::Zstd(encoder) => encoder.get_mut(),
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
            let packed = |piece: usize| {
                let mut packer = Packer::for_name(Path::new(name)).unwrap().unwrap();
                let mut packed = Vec::new();
                text.chunks(piece).for_each(|piece| packed.extend(packer.pack(piece).unwrap()));
                packed.extend(packer.finish().unwrap());
                packed
            };
            let whole = packed(text.len());
            for piece in [1000, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES] {
                assert!(packed(piece) == whole, "{name} {piece}");
            }
        }
    }
}
