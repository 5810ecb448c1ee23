//! Decompresses gzip, zstd, bzip2 and xz. Formats are detected by their first bytes, never by a name.
//!
//! Memory is bounded for any input. gzip and bzip2 have small windows, and zstd and xz windows over
//! [`MAX_WINDOW_BYTES`] are rejected.
//!
//! ```
//! use std::{fs::File, io::{Read, Write}};
//!
//! use reptile_records::{detect::Content, open::Input};
//! use reptile_records::unpack::{Compression, START_BYTES};
//!
//! let mut file = tempfile::NamedTempFile::new()?;
//! let mut encoder = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
//! encoder.write_all(b"user-agent: *\ndisallow: /private\n")?;
//! encoder.finish()?;
//!
//! let mut start = Vec::new();
//! File::open(file.path())?.take(START_BYTES as u64).read_to_end(&mut start)?;
//! assert_eq!(Compression::of(&start), Some(Compression::Gzip));
//!
//! // An opened input is already decompressed.
//! let input = Input::open(file.path())?;
//! assert_eq!((input.compression, input.content), (Some(Compression::Gzip), Content::Text));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::io::{self, BufReader, Chain, Cursor, Read};

use bzip2::bufread::MultiBzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use zstd::stream::read::Decoder as ZstdDecoder;

use super::dictionary::{self, MAX_WINDOW_LOG, unpack_zstd_with};
use super::gzip::ahead::Chunks;
use super::gzip::{Counted, Members, Unpack};

/// Maximum memory for decompression in bytes.
///
/// It is enough for the largest window of `zstd` without `--long`, and for `xz -9`.
pub(crate) const MAX_WINDOW_BYTES: u64 = 1 << MAX_WINDOW_LOG;

/// Maximum number of compression layers. Servers or crawlers may compress a compressed file again.
pub(crate) const MAX_LAYERS: usize = 4;

/// Number of bytes per read from an input.
pub(crate) const READ_BYTES: usize = 1 << 16;

/// Number of bytes at an input's start that are used to detect its content.
pub const START_BYTES: usize = 4096;

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// The bzip2 program's format.
    Bzip2,
    /// The xz program's format.
    Xz,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
        })
    }
}

impl Compression {
    /// Detects the format by the first bytes.
    pub fn of(start: &[u8]) -> Option<Compression> {
        match start {
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // A skippable zstd frame, which parallel programs write at the start.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some(Compression::Bzip2),
            // Empty bzip2 data.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            _ => None,
        }
    }

    /// Returns a reader that decompresses `source`.
    fn decoder(self, source: Start) -> io::Result<Box<dyn Unpack>> {
        if self == Compression::Gzip {
            return Ok(Box::new(Members::new(Chunks::new(source))));
        }
        let has_dictionary = dictionary::may_follow(&source.bytes);
        let mut source = Counted::new(BufReader::with_capacity(READ_BYTES, source));
        Ok(match self {
            Compression::Zstd => {
                let dictionary = if has_dictionary { dictionary::read(&mut source)? } else { None };
                let decoder = unpack_zstd_with(source, &dictionary.unwrap_or_default())?;
                Box::new(OneMember { decoder, source: ZstdDecoder::get_mut })
            }
            Compression::Xz => {
                let stream = Stream::new_stream_decoder(MAX_WINDOW_BYTES, CONCATENATED)?;
                Box::new(OneMember { decoder: XzDecoder::new_stream(source, stream), source: XzDecoder::get_mut })
            }
            _ => Box::new(OneMember { decoder: MultiBzDecoder::new(source), source: MultiBzDecoder::get_mut }),
        })
    }
}

/// A reader that decompresses, and names the format in its errors.
struct Unpacked {
    compression: Compression,
    decoder: Box<dyn Unpack>,
}

impl Unpack for Unpacked {
    fn member(&self) -> u64 {
        self.decoder.member()
    }

    fn has_members(&self) -> bool {
        self.decoder.has_members()
    }

    fn goes_on(&self) -> bool {
        self.decoder.goes_on()
    }

    fn packed_offset(&mut self) -> Option<u64> {
        self.decoder.packed_offset()
    }

    fn skip(&mut self, most: u64) -> u64 {
        self.decoder.skip(most)
    }

    fn find_member(&mut self) -> io::Result<bool> {
        self.decoder.find_member()
    }

    fn discard(&mut self) -> io::Result<u64> {
        self.decoder.discard()
    }
}

/// A decoder's compressed source.
type Packed = Counted<BufReader<Start>>;

/// A decoder for a format without separate members.
struct OneMember<D> {
    decoder: D,
    /// Returns the decoder's source.
    source: fn(&mut D) -> &mut Packed,
}

impl<D: Read> Read for OneMember<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer)
    }
}

impl<D: Read + Send> Unpack for OneMember<D> {
    fn packed_offset(&mut self) -> Option<u64> {
        Some((self.source)(&mut self.decoder).used())
    }

    fn discard(&mut self) -> io::Result<u64> {
        (self.source)(&mut self.decoder).discard()
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| damaged(self.compression, error))
    }
}

fn damaged(compression: Compression, error: io::Error) -> io::Error {
    // The system's own errors do not indicate damage, and are passed on.
    if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    let error = if compression == Compression::Zstd { dictionary::explain(error) } else { error };
    io::Error::new(error.kind(), format!("its {compression} data cannot be decompressed: {error}"))
}

/// Decompresses all layers. Returns the outermost format.
///
/// # Errors
/// Returns an error if the data is damaged at its start, needs too much memory, or has more than [`MAX_LAYERS`] layers.
pub(crate) fn unpack(mut source: Start) -> io::Result<(Start, Option<Compression>)> {
    let mut outer = None;
    for layer in 0.. {
        let Some(compression) = Compression::of(&source.bytes) else { break };
        outer = outer.or(Some(compression));
        if layer == MAX_LAYERS {
            return Err(io::Error::other(format!("it is compressed more than {MAX_LAYERS} times")));
        }
        let decoder = compression.decoder(source).map_err(|error| damaged(compression, error))?;
        source = Start::read(Box::new(Unpacked { compression, decoder }))?;
    }
    Ok((source, outer))
}

/// A source that still returns all its bytes after its first bytes were inspected.
pub(crate) struct Start {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// Number of these bytes that were already returned.
    at: usize,
    /// The members in these bytes, each with its first byte's index.
    members: Vec<(usize, u64)>,
    rest: Box<dyn Unpack>,
}

impl Start {
    /// Creates a source without bytes.
    pub fn empty() -> Start {
        Start { bytes: Vec::new(), at: 0, members: Vec::new(), rest: Box::new(io::empty()) }
    }

    /// Creates a source from bytes that have already been read.
    pub fn of(bytes: Vec<u8>) -> Start {
        Start { bytes, ..Start::empty() }
    }

    /// Reads a source's first [`START_BYTES`], or fewer at its end. One line is enough, so that slow lists are
    /// processed immediately.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable.
    pub fn read(mut rest: Box<dyn Unpack>) -> io::Result<Start> {
        let mut bytes = vec![0; START_BYTES];
        let mut filled = 0;
        let mut members: Vec<(usize, u64)> = Vec::new();
        while filled < START_BYTES && !bytes[..filled].contains(&b'\n') {
            match rest.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(read) => {
                    let member = rest.member();
                    if members.last().is_none_or(|&(_, last)| last != member) {
                        members.push((filled, member));
                    }
                    filled += read;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(Start { bytes, at: 0, members, rest })
    }

    /// Returns the next bytes, at most `limit`, which are still returned by the next reads.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable. It cannot be read further then.
    pub fn peek(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        let mut source = std::mem::replace(self, Start::empty());
        let (start, mut peeked) = (source.bytes.clone(), Vec::new());
        source.by_ref().take(limit).read_to_end(&mut peeked)?;
        let later = peeked.get(start.len()..).unwrap_or_default().to_vec();
        *self = Start { bytes: start, rest: Box::new(Peeked(Cursor::new(later).chain(source))), ..Start::empty() };
        Ok(peeked)
    }
}

/// A source with bytes that were inspected before.
struct Peeked(Chain<Cursor<Vec<u8>>, Start>);

impl Read for Peeked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Unpack for Peeked {}

impl Read for Start {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let next_member = self.members.iter().map(|&(start, _)| start).find(|&start| start > self.at);
        let left = &self.bytes[self.at..next_member.unwrap_or(self.bytes.len())];
        if left.is_empty() {
            return self.rest.read(buffer);
        }
        let len = left.len().min(buffer.len());
        buffer[..len].copy_from_slice(&left[..len]);
        self.at += len;
        Ok(len)
    }
}

impl Unpack for Start {
    fn member(&self) -> u64 {
        // The last returned byte determines the member.
        let given = self.members.iter().rev().find(|&&(start, _)| start < self.at);
        match given {
            Some(&(_, member)) if self.at < self.bytes.len() => member,
            _ => self.rest.member(),
        }
    }

    fn has_members(&self) -> bool {
        self.rest.has_members()
    }

    fn goes_on(&self) -> bool {
        self.rest.goes_on()
    }

    fn packed_offset(&mut self) -> Option<u64> {
        self.rest.packed_offset()
    }

    fn is_ready(&self) -> bool {
        self.rest.is_ready()
    }

    fn skip(&mut self, most: u64) -> u64 {
        if self.at < self.bytes.len() { 0 } else { self.rest.skip(most) }
    }

    fn find_member(&mut self) -> io::Result<bool> {
        self.rest.find_member()
    }

    fn discard(&mut self) -> io::Result<u64> {
        // The inspected bytes are decompressed; compressed bytes are counted from the current position.
        let waiting = std::mem::replace(&mut self.at, self.bytes.len());
        let unpacked = if self.rest.packed_offset().is_none() { self.bytes.len() - waiting } else { 0 };
        Ok(unpacked as u64 + self.rest.discard()?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::gzip::tests::gzip;

    fn bzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).unwrap()
    }

    type Pack = fn(&[u8]) -> Vec<u8>;

    fn read(bytes: Vec<u8>) -> Result<(Vec<u8>, Option<Compression>), String> {
        let start = Start::read(Box::new(io::Cursor::new(bytes))).unwrap();
        let (mut source, compression) = unpack(start).map_err(|error| error.to_string())?;
        let mut unpacked = Vec::new();
        source.read_to_end(&mut unpacked).map_err(|error| error.to_string())?;
        Ok((unpacked, compression))
    }

    #[test]
    fn every_format_is_decompressed_even_if_concatenated() {
        let text: Vec<u8> = (0..20_000).flat_map(|number: u32| format!("{number}\n").into_bytes()).collect();
        assert_eq!(read(text.clone()), Ok((text.clone(), None)));
        let all: [(Pack, Compression); 4] =
            [(gzip, Compression::Gzip), (bzip, Compression::Bzip2), (xz, Compression::Xz), (zst, Compression::Zstd)];
        for (pack, compression) in all {
            assert_eq!(read(pack(&text)), Ok((text.clone(), Some(compression))));
            assert_eq!(read(pack(b"")), Ok((Vec::new(), Some(compression))));
            let (first, second) = text.split_at(1234);
            assert_eq!(
                read([pack(first), pack(second)].concat()),
                Ok((text.clone(), Some(compression))),
                "{compression}"
            );
            // Truncated data is an error, and never a shorter text.
            let packed = pack(&text);
            for len in [8, packed.len() / 2, packed.len() - 1] {
                assert!(
                    packed.len() > 20
                        && (len < 12 && compression == Compression::Bzip2 || read(packed[..len].to_vec()).is_err()),
                    "{compression} {len}"
                );
            }
        }
    }

    #[test]
    fn more_layers_than_the_limit_are_errors() {
        for layers in [MAX_LAYERS - 1, MAX_LAYERS, MAX_LAYERS + 1] {
            let packed = (0..layers).fold(b"text".to_vec(), |bytes, _| gzip(&bytes));
            let found = read(packed);
            assert_eq!(found.is_ok(), layers <= MAX_LAYERS, "{found:?}");
        }
    }

    #[test]
    fn windows_over_the_limit_are_errors() {
        for log in [MAX_WINDOW_LOG - 1, MAX_WINDOW_LOG, MAX_WINDOW_LOG + 1] {
            // A frame with that window size and a raw one-byte block.
            let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0][..], &[((log - 10) << 3) as u8, 9, 0, 0, b'x']].concat();
            assert_eq!(read(frame).is_ok(), log <= MAX_WINDOW_LOG, "{log}");
        }
        for (dictionary, fits) in [(64 << 20, true), (96 << 20, true), (192 << 20, false)] {
            let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
            options.dict_size(dictionary);
            let mut filters = liblzma::stream::Filters::new();
            filters.lzma2(&options);
            let stream = Stream::new_stream_encoder(&filters, liblzma::stream::Check::Crc32).unwrap();
            let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
            encoder.write_all(b"text").unwrap();
            assert_eq!(read(encoder.finish().unwrap()).is_ok(), fits, "{dictionary}");
        }
    }
}
