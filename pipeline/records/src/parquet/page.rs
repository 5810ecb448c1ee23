//! A column chunk's pages: their headers, their checksums, and their decompressed bytes.
//!
//! Header fields are checked before any memory is reserved, and a decompressed page must have exactly the declared
//! length. Sources: the Parquet format, parquet.thrift, Compression.md.

use std::io::{Cursor, Read};

use bytes::Bytes;
use parquet::basic::CompressionCodec;

use super::encoding::Encoding;
use super::footer::{Skim, types};
use super::limits::{MAX_HEADER_BYTES, MAX_PAGE_BYTES};
use crate::batches::limits::within;
use crate::ranged::Ranged;

/// Initial read size in bytes for a page header.
const HEADER_BYTES: usize = 1 << 10;

/// A page header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Header length in bytes.
    pub len: u64,
    /// Decompressed page length in bytes, without the header.
    pub unpacked: u64,
    /// Page length in the file in bytes, without the header.
    pub packed: u64,
    /// The checksum for the page's bytes in the file.
    crc: Option<u32>,
    /// The page's kind.
    pub kind: ParquetPageKind,
}

/// A page's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParquetPageKind {
    /// A dictionary with this number of values.
    Dictionary(u32, Encoding),
    /// Row values.
    Data(Data),
    /// An index, which is not used.
    Index,
}

/// A data page's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Number of values, including nulls.
    pub values: u32,
    /// The encoding of non-null values.
    pub encoding: Encoding,
    /// The location of the levels that mark nulls.
    pub levels: Levels,
}

/// The location of a page's levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// Compressed together with the values, preceded by their length.
    V1 {
        /// The encoding of the definition levels.
        encoding: Encoding,
        /// The encoding of the repetition levels, if it is known.
        repetition: Option<Encoding>,
    },
    /// Before the values, never compressed.
    V2 {
        /// Number of nulls.
        nulls: u32,
        /// Number of rows.
        rows: u32,
        /// Length of the repetition levels in bytes.
        repetition: u32,
        /// Length of the definition levels in bytes. They follow the repetition levels.
        definition: u32,
        /// Whether the values are compressed.
        is_packed: bool,
    },
}

/// A decompressed page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The header's offset in the file.
    pub offset: u64,
    /// The page's kind.
    pub kind: ParquetPageKind,
    /// The bytes after the header.
    pub bytes: Bytes,
}

/// Reads a page header at an offset, within the limits.
///
/// # Errors
/// Returns an error if there is no valid header, if the page is too large, or if the file is unreadable.
pub fn read_header(source: &Ranged, offset: u64) -> Result<Header, String> {
    let left = source.len().saturating_sub(offset);
    let read = |limit: usize| {
        let bytes = source.at(offset, left.min(limit as u64) as usize);
        bytes.map_err(|error| format!("cannot be read: {error}"))
    };
    let mut header = header(&read(HEADER_BYTES)?);
    if header.is_none() {
        header = self::header(&read(MAX_HEADER_BYTES)?);
    }
    let header = header.ok_or_else(|| in_page(offset, "its header is damaged"))??;
    for (what, bytes) in [("decompressed", header.unpacked), ("compressed", header.packed)] {
        within(|| in_page(offset, format!("its bytes, {what}:")), bytes, MAX_PAGE_BYTES)?;
    }
    Ok(header)
}

/// The start of a page's error message.
pub const IN_PAGE: &str = "the page at byte ";

/// Returns a page's error message with the page's offset.
pub fn in_page(offset: u64, text: impl std::fmt::Display) -> String {
    format!("{IN_PAGE}{offset}: {text}")
}

/// Parses a header. Returns `None` if it is damaged, repeats a field, or does not end within `bytes`, and an error if
/// it is complete but contains an unknown value.
fn header(bytes: &[u8]) -> Option<Result<Header, String>> {
    let mut skim = Skim { rest: bytes };
    let (mut id, mut numbers) = (0, [None; 4]);
    let (mut v1, mut v2, mut dictionary) = (None, None, None);
    while let Some((kind, number)) = skim.field(id)? {
        id = number;
        let is_known = match (number, kind) {
            (1..=4, 4..=6) => {
                let slot = numbers.get_mut(usize::try_from(number - 1).ok()?)?;
                slot.replace(skim.signed()?).is_some()
            }
            (5, types::STRUCT) => v1.replace(skim.numbers::<4>()?).is_some(),
            (7, types::STRUCT) => dictionary.replace(skim.numbers::<2>()?).is_some(),
            (8, types::STRUCT) => v2.replace(skim.numbers::<7>()?).is_some(),
            _ => {
                skim.skip_any(kind)?;
                false
            }
        };
        if is_known {
            return None;
        }
    }
    let [kind, unpacked, packed, crc] = numbers;
    let count = |number: Option<i32>| u32::try_from(number?).ok();
    let kind = match kind? {
        0 => {
            let [values, encoding, definition, repetition] = v1?;
            let values = count(values)?;
            match (Encoding::of(encoding?), Encoding::of(definition?)) {
                (Ok(encoding), Ok(definition)) => {
                    let repetition = repetition.and_then(|number| Encoding::of(number).ok());
                    let levels = Levels::V1 { encoding: definition, repetition };
                    ParquetPageKind::Data(Data { values, encoding, levels })
                }
                (Err(error), _) | (_, Err(error)) => return Some(Err(error)),
            }
        }
        1 => ParquetPageKind::Index,
        2 => {
            let [values, encoding] = dictionary?;
            match Encoding::of(encoding?) {
                Ok(encoding) => ParquetPageKind::Dictionary(count(values)?, encoding),
                Err(error) => return Some(Err(error)),
            }
        }
        3 => {
            let [values, nulls, rows, encoding, definition, repetition, is_packed] = v2?;
            let values = count(values)?;
            let levels = Levels::V2 {
                nulls: count(nulls)?,
                rows: count(rows)?,
                repetition: count(repetition)?,
                definition: count(definition)?,
                is_packed: is_packed != Some(0),
            };
            match Encoding::of(encoding?) {
                Ok(encoding) => ParquetPageKind::Data(Data { values, encoding, levels }),
                Err(error) => return Some(Err(error)),
            }
        }
        other => {
            return Some(Err(format!("a page is of type {other}, which is not known; it may be of a newer format")));
        }
    };
    let len = (bytes.len() - skim.rest.len()) as u64;
    let crc = crc.map(|crc| crc as u32);
    Some(Ok(Header { len, unpacked: count(unpacked)?.into(), packed: count(packed)?.into(), crc, kind }))
}

/// Reads, checks and decompresses a page whose header has been read.
///
/// # Errors
/// Returns an error if the file is unreadable, if the checksum is wrong, or if the page does not decompress to the
/// declared length.
pub fn read_page(source: &Ranged, offset: u64, header: &Header, codec: CompressionCodec) -> Result<Page, String> {
    let packed = source.at(offset + header.len, header.packed as usize);
    let packed = packed.map_err(|error| in_page(offset, format!("cannot be read: {error}")))?;
    if let Some(expected) = header.crc {
        let mut crc = flate2::Crc::new();
        crc.update(&packed);
        if crc.sum() != expected {
            return Err(in_page(offset, "its bytes do not have the checksum in its header"));
        }
    }
    let (start, is_packed) = match header.kind {
        ParquetPageKind::Data(Data { levels: Levels::V2 { repetition, definition, is_packed, .. }, .. }) => {
            (repetition as usize + definition as usize, is_packed)
        }
        _ => (0, true),
    };
    let bytes = if is_packed && codec != CompressionCodec::UNCOMPRESSED {
        unpack(codec, &packed, start, header.unpacked as usize).map_err(|text| in_page(offset, text))?
    } else {
        packed
    };
    Ok(Page { offset, kind: header.kind, bytes: bytes.into() })
}

/// Checks that a codec is supported.
///
/// # Errors
/// Returns an error that names the codec and the supported codecs.
pub fn check_codec(codec: CompressionCodec) -> Result<(), String> {
    if codec == CompressionCodec::LZO {
        return Err("is compressed with LZO, which is not read; write it with snappy, zstd, gzip, LZ4 or brotli".into());
    }
    Ok(())
}

/// Decompresses a page to `len` bytes. The first `start` bytes are not compressed.
fn unpack(codec: CompressionCodec, packed: &[u8], start: usize, len: usize) -> Result<Vec<u8>, String> {
    let no_memory = |_| format!("there is no memory for its {len} bytes");
    let (Some((levels, packed)), true) = (packed.split_at_checked(start), start <= len) else {
        return Err("its levels are longer than the page".into());
    };
    if let Some(most) = most_unpacked(codec, packed.len())
        && len - start > most
    {
        return Err(format!("declares {len} decompressed bytes, and has at most {most}"));
    }
    let mut bytes = Vec::new();
    // One more byte, so that an overlong page is detected.
    bytes.try_reserve_exact(len + 1).map_err(no_memory)?;
    bytes.extend_from_slice(levels);
    if len > start {
        let left = len - start;
        let done = match codec {
            CompressionCodec::SNAPPY => {
                bytes.resize(len, 0);
                snap::raw::Decoder::new().decompress(packed, &mut bytes[start..]).map_err(|error| error.to_string())
            }
            CompressionCodec::GZIP => read_all(flate2::read::MultiGzDecoder::new(packed), left, &mut bytes),
            CompressionCodec::BROTLI => {
                read_all(brotli_decompressor::Decompressor::new(packed, 1 << 16), left, &mut bytes)
            }
            CompressionCodec::ZSTD => {
                let mut to = Cursor::new(&mut bytes);
                to.set_position(start as u64);
                zstd::bulk::Decompressor::new()
                    .and_then(|mut decoder| decoder.decompress_to_buffer(packed, &mut to))
                    .map_err(|error| error.to_string())
            }
            CompressionCodec::LZ4_RAW => {
                bytes.resize(len, 0);
                lz4_flex::block::decompress_into(packed, &mut bytes[start..]).map_err(|error| error.to_string())
            }
            CompressionCodec::LZ4 => unpack_lz4(packed, start, len, &mut bytes),
            CompressionCodec::LZO | CompressionCodec::UNCOMPRESSED => Err("the compression is not known".into()),
        };
        let done = done.map_err(|error| format!("cannot be decompressed: {error}"))?;
        if done != left {
            bytes.truncate(start);
        }
    }
    if bytes.len() == len {
        return Ok(bytes);
    }
    Err(format!("does not have the {len} decompressed bytes that its header declares"))
}

/// Returns the maximum decompressed length of `packed` bytes, for codecs with a low limit whose decoders fill the
/// output first.
fn most_unpacked(codec: CompressionCodec, packed: usize) -> Option<usize> {
    match codec {
        // A 64-byte copy takes two bytes.
        CompressionCodec::SNAPPY => Some(packed.saturating_mul(32)),
        // Each byte adds at most 255 to a copy's length, and a copy begins with a few bytes.
        CompressionCodec::LZ4 | CompressionCodec::LZ4_RAW => Some(packed.saturating_mul(256).saturating_add(256)),
        _ => None,
    }
}

/// Reads a decoder's whole output, but stops one byte after `len`.
fn read_all(decoder: impl Read, len: usize, bytes: &mut Vec<u8>) -> Result<usize, String> {
    decoder.take(len as u64 + 1).read_to_end(bytes).map_err(|error| error.to_string())
}

/// Decompresses LZ4, which writers have interpreted in three ways: blocks preceded by their lengths (Hadoop), LZ4
/// frames, and a single block.
fn unpack_lz4(packed: &[u8], start: usize, len: usize, bytes: &mut Vec<u8>) -> Result<usize, String> {
    bytes.resize(len, 0);
    if let Some(done) = unpack_blocks(packed, &mut bytes[start..]) {
        return Ok(done);
    }
    bytes.truncate(start);
    if let Ok(done) = read_all(lz4_flex::frame::FrameDecoder::new(packed), len - start, bytes) {
        return Ok(done);
    }
    bytes.resize(len, 0);
    lz4_flex::block::decompress_into(packed, &mut bytes[start..]).map_err(|error| error.to_string())
}

/// Decompresses LZ4 blocks, each preceded by its decompressed and its compressed length. Returns `None` for any other
/// format.
fn unpack_blocks(mut packed: &[u8], bytes: &mut [u8]) -> Option<usize> {
    let mut done = 0_usize;
    while !packed.is_empty() {
        let len = u32::from_be_bytes(*packed.split_off(..4)?.first_chunk()?) as usize;
        let packed_len = u32::from_be_bytes(*packed.split_off(..4)?.first_chunk()?) as usize;
        let block = packed.split_off(..packed_len)?;
        let to = bytes.get_mut(done..done.checked_add(len)?)?;
        if lz4_flex::block::decompress_into(block, to).ok()? != len {
            return None;
        }
        done += len;
    }
    Some(done)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Type 0, 300 bytes decompressed, 200 compressed, and a data page with two values.
    const HEADER: [u8; 18] = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0x90, 3, 0x2c, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0];

    fn source(bytes: &[u8]) -> Ranged {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Ranged::new(file, bytes.len() as u64)
    }

    #[test]
    fn only_complete_and_valid_headers_are_parsed() {
        let whole = [&HEADER[..], &[0]].concat();
        let data = Data {
            values: 2,
            encoding: Encoding::Plain,
            levels: Levels::V1 { encoding: Encoding::Rle, repetition: Some(Encoding::Rle) },
        };
        let expected = Header {
            len: whole.len() as u64,
            unpacked: 300,
            packed: 200,
            crc: None,
            kind: ParquetPageKind::Data(data),
        };
        assert_eq!(header(&whole), Some(Ok(expected)));
        assert_eq!(header(&[&whole[..], b"the page"].concat()), Some(Ok(expected)));
        for len in 0..whole.len() {
            assert_eq!(header(&whole[..len]), None, "{len}");
        }
        let twice = [&HEADER[..8], &[5, 4, 0x90, 3, 0]].concat();
        assert_eq!(header(&twice), None);
        // A negative length.
        assert_eq!(header(&[0x15, 0, 0x15, 1, 0x15, 2, 0]), None);
        // An unknown encoding and an unknown page type.
        for (at, number) in [(12, 22), (1, 8)] {
            let mut newer = whole.clone();
            newer[at] = number;
            assert!(matches!(header(&newer), Some(Err(_))), "{at}");
        }
    }

    #[test]
    fn headers_over_the_limit_are_rejected() {
        for (len, fits) in [
            (HEADER_BYTES, true),
            (MAX_HEADER_BYTES - 1, true),
            (MAX_HEADER_BYTES, true),
            (MAX_HEADER_BYTES + 1, false),
        ] {
            // A trailing text that makes the header `len` bytes long.
            let mut bytes = [&HEADER[..], &[0xf8]].concat();
            let text = len - bytes.len() - 4;
            bytes.extend([text as u8 | 0x80, (text >> 7) as u8 | 0x80, (text >> 14) as u8]);
            bytes.resize(len - 1, b'a');
            bytes.extend(b"\0the page");
            assert_eq!(read_header(&source(&bytes), 0).is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn pages_over_the_limit_are_rejected() {
        for (len, fits) in
            [(MAX_PAGE_BYTES - 1, true), (MAX_PAGE_BYTES, true), (MAX_PAGE_BYTES + 1, false), (i32::MAX as u64, false)]
        {
            for is_packed in [false, true] {
                let size = |is_long: bool| {
                    let number = if is_long { len * 2 } else { 2 };
                    let parts = [0, 7, 14, 21].map(|shift| (number >> shift) as u8 | 0x80);
                    [&[0x15][..], &parts, &[(number >> 28) as u8]].concat()
                };
                let header = [&HEADER[..2], &size(!is_packed), &size(is_packed), &HEADER[8..], &[0, 0, 0, 0]].concat();
                let found = read_header(&source(&header), 0);
                assert_eq!(found.is_ok(), fits, "{len} {found:?}");
            }
        }
    }

    /// Tests the same text in every codec, intact and damaged in its middle and at its end.
    #[test]
    fn every_codec_is_decompressed_to_the_declared_length() {
        let text: Vec<u8> = (0..3_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        let gzip = {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(&text).unwrap();
            encoder.finish().unwrap()
        };
        let frame = {
            let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
            encoder.write_all(&text).unwrap();
            encoder.finish().unwrap()
        };
        let block = lz4_flex::block::compress(&text);
        let lens = [text.len(), block.len()].map(|len| (len as u32).to_be_bytes()).concat();
        // One uncompressed Brotli block, and the end.
        let brotli = {
            let len = text.len() - 1;
            let header = (len as u32) << 4 | 1 << 20;
            [&header.to_le_bytes()[..3], &text, &[3]].concat()
        };
        let snappy = snap::raw::Encoder::new().compress_vec(&text).unwrap();
        for (codec, packed) in [
            (CompressionCodec::SNAPPY, snappy),
            (CompressionCodec::GZIP, gzip),
            (CompressionCodec::ZSTD, zstd::encode_all(&text[..], 1).unwrap()),
            (CompressionCodec::LZ4_RAW, block.clone()),
            (CompressionCodec::LZ4, [&lens, &block[..]].concat()),
            (CompressionCodec::LZ4, frame),
            (CompressionCodec::LZ4, block.clone()),
            (CompressionCodec::BROTLI, brotli),
        ] {
            assert_eq!(unpack(codec, &packed, 0, text.len()).as_ref(), Ok(&text), "{codec:?}");
            // The same after levels.
            let with_levels = [&b"levels"[..], &packed].concat();
            let expected = [&b"levels"[..], &text].concat();
            assert_eq!(unpack(codec, &with_levels, 6, expected.len()), Ok(expected), "{codec:?}");
            for len in [0, 1, text.len() - 1, text.len() + 1, 2 * text.len()] {
                let found = unpack(codec, &packed, 0, len);
                assert_eq!(found.is_ok(), len == 0, "{codec:?} {len}");
            }
            assert!(unpack(codec, &packed[..packed.len() - 5], 0, text.len()).is_err(), "{codec:?}");
            assert!(unpack(codec, &packed, packed.len() + 1, text.len()).is_err(), "{codec:?}");
        }
        assert!(check_codec(CompressionCodec::LZO).is_err() && check_codec(CompressionCodec::BROTLI).is_ok());
    }

    /// Tests that decompression stops at the first byte over the declared length.
    #[test]
    fn overlong_pages_need_no_extra_memory() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let zeros = vec![0; 1 << 20];
        for _ in 0..64 {
            encoder.write_all(&zeros).unwrap();
        }
        let packed = encoder.finish().unwrap();
        let mut bytes = Vec::with_capacity(101);
        assert_eq!(read_all(flate2::read::MultiGzDecoder::new(&packed[..]), 100, &mut bytes), Ok(101));
        assert!(bytes.capacity() < 1 << 16);
        assert!(unpack(CompressionCodec::GZIP, &packed, 0, 100).is_err());
    }

    #[test]
    fn checksums_are_verified() {
        let body = b"the bytes of a page";
        let mut crc = flate2::Crc::new();
        crc.update(body);
        for (sum, is_ok) in [(None, true), (Some(crc.sum()), true), (Some(!crc.sum()), false)] {
            let header = Header { len: 3, unpacked: 19, packed: 19, crc: sum, kind: ParquetPageKind::Index };
            let source = source(&[&b"abc"[..], body].concat());
            let page = read_page(&source, 0, &header, CompressionCodec::UNCOMPRESSED);
            assert_eq!(page.is_ok(), is_ok, "{page:?}");
        }
    }
}
