//! Removes the codings from a response's body, and finds out whether the body is complete. Sources: RFC 9112 sections 6
//! and 7; RFC 9110 sections 8.4, 8.6 and 14.4.
//!
//! A crawler may store a body without a coding that its header names: it has decoded the body, or the server has not
//! encoded it. The body is then used as it is if it is certainly text.

use std::io::{self, ErrorKind, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use encoding_rs::Encoding;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use memchr::memchr;
use reptile::limits::MAX_BODY_BYTES;

use super::fields::{fields, number};
use crate::dictionary::unpack_zstd;
use crate::shown::shown;
use crate::unpack::Compression;

/// Maximum number of codings per body. A server applies one, and a proxy may add another.
pub const MAX_CODINGS: usize = 4;

/// Maximum number of bytes by which a coding lengthens a body of [`MAX_BODY_BYTES`] that it cannot compress: a header,
/// and five bytes for each block of 16 KiB. If a crawler has decoded the body, it may be shorter by as much than its
/// Content-Length, which counts encoded bytes.
const MAX_CODING_OVERHEAD_BYTES: u64 = 8 << 10;

/// The reason why a block is not a usable HTTP response: the kind of problem, and its details.
pub type Fault = (&'static str, String);

/// The reason for a block that is not an HTTP response.
pub const MALFORMED: &str = "malformed HTTP answer";

/// The status of a response with a part of the file.
pub const PARTIAL_CONTENT: u16 = 206;

/// The first bytes of a gzip member.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Names that servers use although they name no content coding. A character encoding's name is another one.
const NO_CODINGS: [&[u8]; 4] = [b"none", b"binary", b"7bit", b"8bit"];

/// The reason for a body that cannot be decoded.
const UNDECODABLE: &str = "body that cannot be decoded";

/// The header fields that determine how a body is sent.
#[derive(Default)]
pub struct Framing {
    content_codings: Vec<Vec<u8>>,
    transfer_codings: Vec<Vec<u8>>,
    is_chunked: bool,
    length: Option<Vec<u8>>,
    /// A second length that differs.
    other_length: Option<Vec<u8>>,
    range: Option<Vec<u8>>,
}

/// A decoded body.
#[derive(Default)]
pub struct Body {
    /// The decoded bytes.
    pub bytes: Vec<u8>,
    /// Whether the end of the body is missing.
    pub is_cut: bool,
    /// Whether the body does not have a coding that its header names.
    pub lacks_coding: bool,
}

/// The start of a decoded body.
#[derive(Debug)]
pub struct BodyStart {
    /// The decoded bytes.
    pub bytes: Vec<u8>,
    /// The rest of the body.
    pub rest: Rest,
}

/// The rest of a body, after its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing: the body is whole.
    Nothing,
    /// More of the body.
    More,
    /// A part that the block lacks, or that cannot be decoded.
    Missing,
}

/// How decoding ended.
enum End {
    Complete,
    /// The encoded data is cut.
    Cut,
    Damaged(Fault),
}

impl Framing {
    /// Returns whether a field is relevant, by its name in lower case.
    pub fn is_relevant(name: &[u8]) -> bool {
        matches!(name, b"content-encoding" | b"transfer-encoding" | b"content-length" | b"content-range")
    }

    /// Returns the fields in a header.
    pub fn of(header: &[u8]) -> Framing {
        let mut framing = Framing::default();
        for (name, value) in fields(header) {
            framing.add(&name.to_ascii_lowercase(), &value);
        }
        framing
    }

    /// Adds a field with a name in lower case, if it is relevant.
    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"content-encoding" => add_codings(words(value), &mut self.content_codings),
            b"transfer-encoding" => {
                let is_chunked = |coding: &Vec<u8>| coding == b"chunked";
                self.is_chunked |= words(value).any(|coding| is_chunked(&coding));
                add_codings(words(value).filter(|coding| !is_chunked(coding)), &mut self.transfer_codings);
            }
            b"content-length" => self.add_lengths(value),
            b"content-range" => self.range = Some(value.to_vec()),
            _ => {}
        }
    }

    /// Adds the lengths in a field. It may repeat the same one.
    fn add_lengths(&mut self, value: &[u8]) {
        for length in words(value) {
            match &self.length {
                None => self.length = Some(length),
                Some(first) if *first != length && (number(first).is_none() || number(first) != number(&length)) => {
                    self.other_length = Some(length);
                }
                Some(_) => {}
            }
        }
    }

    /// Decodes the body of a response with this status.
    ///
    /// # Errors
    /// Returns an error if the body cannot be decoded within the limit, if its length is unclear, or if its start is
    /// missing.
    pub fn body(&self, status: u16, body: Vec<u8>) -> Result<Body, Fault> {
        if let (Some(first), Some(second)) = (&self.length, &self.other_length) {
            let (first, second) = (shown(first), shown(second));
            return Err((MALFORMED, format!("its Content-Length is both \"{first}\" and \"{second}\"")));
        }
        let stored = body.len() as u64;
        let mut body = self.decode(body)?;
        let tolerance = if body.lacks_coding { MAX_CODING_OVERHEAD_BYTES } else { 0 };
        body.is_cut |= self.content_length().is_some_and(|length| length > stored + tolerance);
        body.is_cut |= status == PARTIAL_CONTENT && !self.is_whole_range()?;
        Ok(body)
    }

    /// Returns whether a part is the whole file.
    ///
    /// # Errors
    /// Returns an error if the part does not begin where the file begins.
    fn is_whole_range(&self) -> Result<bool, Fault> {
        // A server that names no range usually sends the file, or its start.
        let Some(range) = &self.range else { return Ok(false) };
        let text = String::from_utf8_lossy(range);
        let range_of = |text: &str| {
            let (range, total) = text.strip_prefix("bytes")?.trim_start().split_once('/')?;
            let (first, last) = range.split_once('-')?;
            Some((first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?, total.trim().parse().ok()))
        };
        match range_of(&text.to_ascii_lowercase()) {
            Some((0, last, total)) => Ok(total.is_some_and(|total: u64| last.checked_add(1) == Some(total))),
            _ => Err((MALFORMED, format!("expected a part from byte 0, found Content-Range \"{}\"", shown(range)))),
        }
    }

    /// Removes chunk lengths and codings.
    fn decode(&self, body: Vec<u8>) -> Result<Body, Fault> {
        let mut body = self.without_chunks(body)?;
        for coding in self.codings()? {
            let encoded = std::mem::take(&mut body.bytes);
            if is_no_coding(coding) {
                body.lacks_coding |= coding != b"identity";
                body.bytes = encoded;
                continue;
            }
            let (decoded, end) = decode(coding, &encoded, MAX_BODY_BYTES);
            match end {
                End::Complete => body.bytes = decoded,
                _ if is_unencoded(coding, &encoded) => (body.bytes, body.lacks_coding) = (encoded, true),
                End::Cut => (body.bytes, body.is_cut) = (decoded, true),
                End::Damaged(fault) => return Err(fault),
            }
        }
        match body.is_cut && !is_mostly_text(&body.bytes) {
            true => Err((UNDECODABLE, "the data is cut, and its start is not text".into())),
            false => Ok(body),
        }
    }

    /// Returns up to `limit` bytes from the start of a decoded body. The record has `stored` bytes of the body, and
    /// the given ones are the first.
    ///
    /// # Errors
    /// Returns an error if the start of the body cannot be decoded.
    pub fn start(&self, status: u16, body: &[u8], stored: u64, limit: usize) -> Result<BodyStart, Fault> {
        let is_cut = stored > body.len() as u64;
        let is_plain = self.content_codings.is_empty() && self.transfer_codings.is_empty() && !self.is_chunked;
        let len = if is_plain { body.len().min(limit + 1) } else { body.len() };
        let Body { mut bytes, is_cut: mut is_incomplete, mut lacks_coding } =
            self.without_chunks(body[..len].into())?;
        for coding in self.codings()?.filter(|coding| !is_no_coding(coding)) {
            let (decoded, end) = decode(coding, &bytes, MAX_BODY_BYTES);
            bytes = match end {
                End::Complete => decoded,
                _ if is_unencoded(coding, &bytes) => {
                    lacks_coding = true;
                    bytes
                }
                // The start of a layer is enough for the start of the next one.
                End::Damaged(fault) if decoded.is_empty() => return Err(fault),
                End::Damaged((kind, _)) if kind == crate::bodies::TOO_LARGE => decoded,
                _ => {
                    is_incomplete = true;
                    decoded
                }
            };
        }
        let tolerance = if lacks_coding { MAX_CODING_OVERHEAD_BYTES } else { 0 };
        // The given bytes may end within a coding.
        is_incomplete &= !is_cut || bytes.len() < limit;
        is_incomplete |= self.content_length().is_some_and(|length| length > stored + tolerance);
        is_incomplete |= status == PARTIAL_CONTENT && !self.is_whole_range()?;
        let rest = match bytes.len() > limit || is_cut {
            _ if is_incomplete => Rest::Missing,
            true => Rest::More,
            false => Rest::Nothing,
        };
        bytes.truncate(limit);
        Ok(BodyStart { bytes, rest })
    }

    /// Returns the codings to remove, starting with the coding that was applied last.
    fn codings(&self) -> Result<impl Iterator<Item = &[u8]>, Fault> {
        if self.transfer_codings.len() + self.content_codings.len() > MAX_CODINGS {
            return Err((UNDECODABLE, format!("it has more than {MAX_CODINGS} codings")));
        }
        let (transfer, content) = (self.transfer_codings.iter().rev(), self.content_codings.iter().rev());
        Ok(transfer.chain(content).map(|coding| &**coding))
    }

    fn without_chunks(&self, bytes: Vec<u8>) -> Result<Body, Fault> {
        match self.is_chunked {
            true => without_chunks(bytes),
            false => Ok(Body { bytes, ..Body::default() }),
        }
    }

    /// Returns the number of encoded bytes that the header announces. It does not apply to a body with a transfer
    /// coding.
    fn content_length(&self) -> Option<u64> {
        let has_transfer_coding = self.is_chunked || !self.transfer_codings.is_empty();
        self.length.as_deref().filter(|_| !has_transfer_coding).and_then(number)
    }
}

/// Returns the words in a list, in lower case and in order.
fn words(list: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    list.split(|&byte| byte == b',').map(|word| word.trim_ascii().to_ascii_lowercase()).filter(|word| !word.is_empty())
}

/// Adds the codings in a field. One more than the limit is enough to reject the response.
fn add_codings(found: impl Iterator<Item = Vec<u8>>, codings: &mut Vec<Vec<u8>>) {
    codings.extend(found.take((MAX_CODINGS + 1).saturating_sub(codings.len())));
}

/// Returns whether a name in Content-Encoding is not a coding's.
fn is_no_coding(name: &[u8]) -> bool {
    name == b"identity" || NO_CODINGS.contains(&name) || Encoding::for_label(name).is_some()
}

/// Returns whether a body that cannot be decoded is text without this coding. Bytes that do not begin as the coding
/// requires may have another character encoding; other bytes may be damaged.
fn is_unencoded(coding: &[u8], body: &[u8]) -> bool {
    let lacks_start = match coding {
        b"gzip" | b"x-gzip" => !body.starts_with(GZIP),
        b"zstd" => Compression::of(body) != Some(Compression::Zstd),
        _ => false,
    };
    is_surely_text(body) || (lacks_start && is_mostly_text(body))
}

/// Returns whether a body is certainly undecoded text: UTF-8, possibly truncated, without control characters. Damaged
/// compressed bytes are almost never valid text, even if they contain some readable passages.
fn is_surely_text(body: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(body).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !has_controls(body)
}

/// Returns whether a body looks like text in any character encoding that contains ASCII: at least half of it is ASCII,
/// and nothing is a control character.
fn is_mostly_text(body: &[u8]) -> bool {
    let ascii = body.iter().filter(|byte| byte.is_ascii()).count();
    ascii * 2 >= body.len() && !has_controls(body)
}

fn has_controls(body: &[u8]) -> bool {
    body.iter().any(|byte| byte.is_ascii_control() && !(b'\t'..=b'\r').contains(byte))
}

/// Removes chunk lengths from a body. Some crawlers remove them but keep the field that announces them, so a body that
/// does not start like a chunk is returned unchanged.
fn without_chunks(body: Vec<u8>) -> Result<Body, Fault> {
    if chunk_len(first_line(&body)).is_none() {
        return Ok(Body { bytes: body, ..Body::default() });
    }
    let fault = |detail: String| (UNDECODABLE, format!("chunked: {detail}"));
    let (mut rest, mut bytes) = (&body[..], Vec::new());
    while let Some(line_end) = memchr(b'\n', rest) {
        let (line, after) = rest.split_at(line_end + 1);
        let Some(len) = chunk_len(line) else {
            let found = shown(line.trim_ascii());
            return Err(fault(format!("expected the length of a chunk, in hexadecimal digits, found \"{found}\"")));
        };
        if len == 0 {
            // The body is complete. Any trailer fields do not affect it.
            return Ok(Body { bytes, ..Body::default() });
        }
        let Some((chunk, after)) = usize::try_from(len).ok().and_then(|len| after.split_at_checked(len)) else {
            bytes.extend_from_slice(after);
            break;
        };
        bytes.extend_from_slice(chunk);
        rest = match after {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            [] | [b'\r'] => &[],
            _ => return Err(fault(format!("a chunk does not end after its {len} bytes"))),
        };
    }
    Ok(Body { bytes, is_cut: true, ..Body::default() })
}

/// Returns the length in a chunk's first line, if it is a hexadecimal number within range.
fn chunk_len(line: &[u8]) -> Option<u64> {
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(text, 16).ok()
}

/// Removes a coding. Returns the decoded bytes, and how they end.
fn decode(coding: &[u8], body: &[u8], limit: usize) -> (Vec<u8>, End) {
    if body.is_empty() {
        return (Vec::new(), End::Complete);
    }
    match coding {
        b"gzip" | b"x-gzip" => without_gzip(body, limit),
        b"deflate" => without_deflate(body, limit),
        b"zstd" => match unpack_zstd(body) {
            Ok(decoder) => read_all("zstd", decoder, limit),
            Err(error) => (Vec::new(), End::Damaged(undecodable("zstd", &error))),
        },
        b"br" => without_brotli(body, limit),
        other => {
            let fault = (UNDECODABLE, format!("its coding \"{}\" is not known", shown(other)));
            (Vec::new(), End::Damaged(fault))
        }
    }
}

fn undecodable(coding: &str, error: &io::Error) -> Fault {
    (UNDECODABLE, format!("{coding}: {error}"))
}

fn too_large() -> Fault {
    (crate::bodies::TOO_LARGE, format!("decoded, it has more than {MAX_BODY_BYTES} bytes"))
}

/// Reads a decoder's whole output, up to the limit.
fn read_all(coding: &str, decoder: impl Read, limit: usize) -> (Vec<u8>, End) {
    let mut body = Vec::new();
    let end = add_all(coding, decoder, limit, &mut body);
    (body, end)
}

/// Appends a decoder's whole output to a body, up to the limit.
fn add_all(coding: &str, decoder: impl Read, limit: usize, body: &mut Vec<u8>) -> End {
    let room = (limit - body.len()) as u64;
    match decoder.take(room + 1).read_to_end(body) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => End::Cut,
        Err(error) => End::Damaged(undecodable(coding, &error)),
        Ok(_) if body.len() > limit => End::Damaged(too_large()),
        Ok(_) => End::Complete,
    }
}

/// Decodes gzip members. Other bytes after the last one are ignored, as gzip does.
fn without_gzip(body: &[u8], limit: usize) -> (Vec<u8>, End) {
    if !body.starts_with(GZIP) {
        return (Vec::new(), End::Damaged((UNDECODABLE, "gzip: the data does not begin like gzip".into())));
    }
    let (mut rest, mut decoded) = (body, Vec::new());
    loop {
        let mut decoder = GzDecoder::new(rest);
        let end = add_all("gzip", &mut decoder, limit, &mut decoded);
        rest = decoder.into_inner();
        let has_more = !rest.is_empty() && (rest.starts_with(GZIP) || GZIP.starts_with(rest));
        if !matches!(end, End::Complete) || !has_more {
            return (decoded, end);
        }
    }
}

/// Decodes deflate. Most servers mean zlib, but some send raw deflate.
fn without_deflate(body: &[u8], limit: usize) -> (Vec<u8>, End) {
    let zlib = read_all("deflate", ZlibDecoder::new(body), limit);
    if matches!(zlib.1, End::Complete) {
        return zlib;
    }
    let raw = read_all("deflate", DeflateDecoder::new(body), limit);
    if matches!(zlib.1, End::Cut) && !matches!(raw.1, End::Complete) { zlib } else { raw }
}

/// Decodes Brotli. A window has at most 16 MiB (RFC 7932 section 9.1). The windows of up to 1 GiB in a later draft are
/// rejected.
fn without_brotli(packed: &[u8], limit: usize) -> (Vec<u8>, End) {
    let alloc = StandardAlloc::default();
    let mut state = BrotliState::new_strict(alloc, alloc, alloc);
    let (mut left, mut used, mut total) = (packed.len(), 0, 0);
    let mut body = Vec::new();
    let mut part = vec![0; 1 << 16];
    loop {
        let (mut room, mut filled) = (part.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut used,
            packed,
            &mut room,
            &mut filled,
            &mut part,
            &mut total,
            &mut state,
        );
        body.extend_from_slice(&part[..filled]);
        if body.len() > limit {
            return (body, End::Damaged(too_large()));
        }
        match result {
            BrotliResult::ResultSuccess => return (body, End::Complete),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput => return (body, End::Cut),
            BrotliResult::ResultFailure => {
                return (body, End::Damaged((UNDECODABLE, "br: the data is damaged".into())));
            }
        }
    }
}

/// Returns a text's first line, without its LF.
pub fn first_line(text: &[u8]) -> &[u8] {
    &text[..memchr(b'\n', text).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::warc::http::body_start;

    /// Decodes the body of a response with these header fields.
    fn body_of(fields: &str, body: &[u8]) -> Result<Body, Fault> {
        Framing::of(format!("HTTP/1.1 200\r\n{fields}\r\n").as_bytes()).body(200, body.to_vec())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn decoded_bodies_over_the_limit_are_rejected() {
        for len in [MAX_BODY_BYTES - 1, MAX_BODY_BYTES, MAX_BODY_BYTES + 1] {
            let body = vec![b'#'; len];
            let found = body_of("Content-Encoding: gzip\r\n", &gzip(&body));
            assert_eq!(found.map(|found| found.bytes.len()).ok(), (len <= MAX_BODY_BYTES).then_some(len));
            // An uncompressed block has at most 65,536 bytes; see RFC 7932 section 9.2.
            let mut packed = Bits::default();
            packed.add(0, 1);
            for part in body.chunks(1 << 16) {
                packed.add(0, 1 + 2);
                packed.add(part.len() as u32 - 1, 16);
                packed.add(1, 1);
                packed.bytes(part);
            }
            packed.add(3, 2);
            let (found, end) = without_brotli(&packed.bytes, MAX_BODY_BYTES);
            assert_eq!(matches!(end, End::Complete).then_some(found.len()), (len <= MAX_BODY_BYTES).then_some(len));
        }
    }

    /// Bits in ascending order.
    #[derive(Default)]
    struct Bits {
        bytes: Vec<u8>,
        used: u32,
    }

    impl Bits {
        fn add(&mut self, value: u32, count: u32) {
            for bit in 0..count {
                if self.used.is_multiple_of(8) {
                    self.bytes.push(0);
                }
                *self.bytes.last_mut().unwrap() |= ((value >> bit & 1) as u8) << (self.used % 8);
                self.used += 1;
            }
        }

        fn bytes(&mut self, bytes: &[u8]) {
            self.bytes.extend_from_slice(bytes);
            self.used = 0;
        }
    }

    #[test]
    fn decoded_bodies_may_be_shorter_than_their_length_up_to_the_overhead() {
        let text = b"User-agent: *\n";
        for overhead in [MAX_CODING_OVERHEAD_BYTES - 1, MAX_CODING_OVERHEAD_BYTES, MAX_CODING_OVERHEAD_BYTES + 1] {
            let length = format!("Content-Length: {}\r\n", text.len() as u64 + overhead);
            let body = body_of(&format!("Content-Encoding: br\r\n{length}"), text).unwrap();
            assert!(body.lacks_coding && body.is_cut == (overhead > MAX_CODING_OVERHEAD_BYTES), "{overhead}");
            assert!(body_of(&length, text).unwrap().is_cut);
        }
    }

    #[test]
    fn bodies_with_too_many_codings_are_rejected() {
        for count in [MAX_CODINGS - 1, MAX_CODINGS, MAX_CODINGS + 1] {
            let body = (0..count).fold(b"Disallow: /".to_vec(), |body, _| gzip(&body));
            for (name, other) in [("Content", "Transfer"), ("Transfer", "Content")] {
                let header =
                    format!("{name}-Encoding: gzip{}\r\n{other}-Encoding: gzip\r\n", ",gzip".repeat(count - 2));
                assert_eq!(body_of(&header, &body).is_ok(), count <= MAX_CODINGS, "{header}");
            }
        }
    }

    #[test]
    fn large_brotli_windows_are_rejected() {
        // The bits that declare a window of 2^30 bytes.
        assert!(matches!(without_brotli(&[0x11, 30, 3], MAX_BODY_BYTES).1, End::Damaged(_)));
    }

    #[test]
    fn the_start_of_a_body_needs_only_the_start_of_its_block() {
        let text = "<meta name=robots content=noai>".repeat(4000);
        let mut chunked = Vec::new();
        for part in text.as_bytes().chunks(1000) {
            chunked.extend(format!("{:x}\r\n", part.len()).bytes().chain(part.iter().copied()).chain(*b"\r\n"));
        }
        chunked.extend(b"0\r\n\r\n");
        let packed = gzip(&text.bytes().enumerate().map(|(at, byte)| byte ^ (at % 7) as u8).collect::<Vec<u8>>());
        for (header, body, is_text) in [
            ("", text.as_bytes().to_vec(), true),
            ("Transfer-Encoding: chunked\r\n", chunked, true),
            ("Content-Encoding: gzip\r\n", gzip(text.as_bytes()), true),
            ("Content-Encoding: gzip\r\n", text.as_bytes().to_vec(), true),
            ("Content-Encoding: gzip\r\n", packed, false),
        ] {
            let block = [b"HTTP/1.1 200 OK\r\n", header.as_bytes(), b"\r\n", &*body].concat();
            for len in [block.len(), block.len() - 1, block.len() / 2] {
                let found = body_start(&block[..len], block.len() as u64, 100).unwrap();
                assert_eq!(found.bytes == text.as_bytes()[..100], is_text, "{header} {len}");
                assert_eq!((found.bytes.len(), found.rest), (100, Rest::More), "{header} {len}");
            }
        }
        let damaged = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\xff\xff";
        assert_eq!(body_start(damaged, damaged.len() as u64, 100).unwrap().rest, Rest::Missing);
        let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
        let whole = [&b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"[..], &gzip(text.as_bytes())].concat();
        let short = format!("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n{}", &text[..100]).into_bytes();
        let part = format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/101\r\n\r\n{}", &text[..100]);
        for (block, more, limit, expected) in [
            (&cut[..], 1, 100, Rest::Missing),
            (&cut[..], 1, 2, Rest::More),
            (&cut[..], 0, 100, Rest::Missing),
            (&whole, 0, 100, Rest::More),
            (&whole, 0, text.len(), Rest::Nothing),
            (&whole[..whole.len() - 9], 0, 100, Rest::Missing),
            (&whole[..whole.len() - 9], 9, 100, Rest::More),
            (&short, 0, 100, Rest::Missing),
            (&short, 0, 99, Rest::Missing),
            (&short, 1, 99, Rest::More),
            (part.as_bytes(), 0, 100, Rest::Missing),
        ] {
            let found = body_start(block, (block.len() + more) as u64, limit).unwrap();
            assert_eq!(found.rest, expected, "{} + {more} bytes, {limit}", block.len());
        }
    }
}
