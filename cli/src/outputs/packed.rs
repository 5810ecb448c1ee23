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

/// Bytes that are packed at once. The packed bytes depend on it, and so not on the pieces in which they are written.
const BLOCK_BYTES: usize = 64 << 10;

/// Packs what is written, into memory.
pub struct Packer {
    encoder: Packing,
    /// Less than a block that is not packed yet.
    waiting: Vec<u8>,
}

enum Packing {
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

    /// Packs bytes, and returns those that are ready.
    ///
    /// # Errors
    /// If the packer fails.
    pub fn pack(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.waiting.extend_from_slice(bytes);
        let (blocks, rest) = self.waiting.as_chunks::<BLOCK_BYTES>();
        let rest = rest.len();
        blocks.iter().try_for_each(|block| self.encoder.write_all(block))?;
        self.waiting.drain(..self.waiting.len() - rest);
        Ok(self.encoder.take())
    }

    /// The last bytes.
    ///
    /// # Errors
    /// If the packer fails.
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

    /// The packed bytes that are ready.
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
    fn packed_bytes_do_not_depend_on_the_pieces() {
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
