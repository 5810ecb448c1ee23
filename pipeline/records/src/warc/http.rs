//! Parses the HTTP response in a record's block: its status, the relevant fields, and its decoded body. Sources: RFC
//! 9112 sections 4, 5 and 7; RFC 9110 section 8.4.

use std::io::{self, Read};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use memchr::memchr;
use reptile::capture::Capture;
use reptile::limits::MAX_BODY_BYTES;
use reptile::{Challenger, capture};

use super::fields::{MAX_NAME_BYTES, fields, lower_name};
use crate::captures::names::MAX_HEADER_BYTES as MAX_FIELD_BYTES;
use crate::shown::shown;
use crate::unpack::unpack_zstd;

/// Maximum number of codings per body. A server applies one, and a proxy may add another.
pub const MAX_CODINGS: usize = 4;

/// The start of a response.
const HTTP: &[u8] = b"HTTP/";

/// An HTTP response.
#[derive(Debug)]
pub struct Answer {
    /// Status, media type, age, and challenge product. The WARC record's own fields are not included.
    pub capture: Capture,
    /// The `Location` field.
    pub location: Option<Vec<u8>>,
    /// The decoded body.
    pub body: Vec<u8>,
}

/// The reason why a block is not a usable HTTP response: the kind of problem, and its details.
pub type Fault = (&'static str, String);

/// The status of a response after which the connection has another protocol.
const SWITCHING_PROTOCOLS: u16 = 101;

/// The reason for a block that is not an HTTP response.
const MALFORMED: &str = "malformed HTTP answer";

/// Parses the response in a block.
///
/// # Errors
/// Returns an error if the block is not an HTTP response, or if its body cannot be decoded within the limit.
pub fn answer(mut block: Vec<u8>) -> Result<Answer, Fault> {
    let (header, body) = final_answer(&block);
    let header_end = block.len() - body.len();
    let status = status(header)?;
    let (mut cache_control, mut content_type) = (None, None);
    let (mut location, mut codings, mut is_chunked) = (None, Vec::new(), false);
    let mut challenger = None;
    let mut memory = [0; MAX_NAME_BYTES];
    for (name, value) in fields(header) {
        match lower_name(name, &mut memory) {
            b"cache-control" => join(&mut cache_control, &value),
            b"content-type" => join(&mut content_type, &value),
            b"location" => location = location.or_else(|| Some(value.to_vec())),
            b"content-encoding" | b"transfer-encoding" => {
                let is_transfer = name.eq_ignore_ascii_case(b"transfer-encoding");
                is_chunked |= add_codings(&value, is_transfer, &mut codings);
            }
            _ => challenger = challenger.or_else(|| challenger_of(name, &value)),
        }
    }
    block.drain(..header_end);
    let body = if is_chunked { without_chunks(block, false) } else { Ok(block) };
    let body = match body.and_then(|body| decode(body, &codings)) {
        // Other responses are used for their status only.
        Err(_) if status / 100 != 2 => Vec::new(),
        body => body?,
    };
    let text = |value: Option<Vec<u8>>| value.map(|value| String::from_utf8_lossy(&value).into_owned());
    let capture = Capture {
        status: Some(status),
        max_age: text(cache_control).as_deref().and_then(capture::max_age),
        media_type: text(content_type).as_deref().map(capture::media_type),
        challenger,
        ..Capture::default()
    };
    Ok(Answer { capture, location, body })
}

/// Returns the product that marks its challenge pages with this field, if any.
fn challenger_of(name: &[u8], value: &[u8]) -> Option<Challenger> {
    let name = capture::challenge_header(str::from_utf8(name).ok()?)?;
    reptile::challenger_of_header(name, &String::from_utf8_lossy(value))
}

/// Parses the response in a block without a body, as in a revisit record.
///
/// # Errors
/// Returns an error if the block is not an HTTP response.
pub fn head(mut block: Vec<u8>) -> Result<Answer, Fault> {
    let (_, body) = final_answer(&block);
    block.truncate(block.len() - body.len());
    answer(block)
}

/// Returns a block's status and `Content-Type`, if they are readable. Other fields are ignored.
pub fn status_and_type(block: &[u8]) -> (Option<u16>, Option<Vec<u8>>) {
    let (header, _) = final_answer(block);
    let media_type = fields(header).find(|(name, _)| name.eq_ignore_ascii_case(b"content-type"));
    (status(header).ok(), media_type.map(|(_, value)| value.into_owned()))
}

/// Returns whether a block's first bytes contain the whole header of its final response.
pub fn has_whole_header(start: &[u8]) -> bool {
    find_header_end(&start[final_start(start)..]).is_some()
}

/// Returns whether a block begins like an HTTP response, and has the first line of the final one.
pub fn is_response(block: &[u8]) -> bool {
    status(&block[final_start(block)..]).is_ok()
}

/// Returns up to `limit` bytes from the start of a response's decoded body. `is_cut` says that the block continues after
/// the given bytes.
///
/// # Errors
/// Returns an error if the start of the body cannot be decoded.
pub fn body_start(block: &[u8], is_cut: bool, limit: usize) -> Result<Vec<u8>, Fault> {
    let (header, body) = final_answer(block);
    let (mut codings, mut is_chunked) = (Vec::new(), false);
    for (name, value) in fields(header) {
        let is_transfer = name.eq_ignore_ascii_case(b"transfer-encoding");
        if is_transfer || name.eq_ignore_ascii_case(b"content-encoding") {
            is_chunked |= add_codings(&value, is_transfer, &mut codings);
        }
    }
    let end = if codings.is_empty() && !is_chunked { limit.min(body.len()) } else { body.len() };
    let body = body[..end].to_vec();
    let body = if is_chunked { without_chunks(body, is_cut)? } else { body };
    // The start of a layer is enough for the start of the next one.
    let mut body = decode_layers(body, &codings, MAX_BODY_BYTES, |decoded, _| !decoded.is_empty())?;
    body.truncate(limit);
    Ok(body)
}

/// Returns the final response's header and body, after any interim responses. Without an empty line after its header,
/// the body is empty.
pub fn final_answer(block: &[u8]) -> (&[u8], &[u8]) {
    let answer = &block[final_start(block)..];
    answer.split_at(find_header_end(answer).unwrap_or(answer.len()))
}

/// Returns the number of bytes of interim responses. These have only a header, with a status 1xx, and announce the
/// final response (RFC 9110, section 15.2).
fn final_start(block: &[u8]) -> usize {
    let mut start = 0;
    while first_status(&block[start..]).is_some_and(is_interim)
        && let Some(len) = find_header_end(&block[start..])
    {
        start += len;
    }
    start
}

/// Returns whether a status announces another response. After 101, the connection has another protocol.
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != SWITCHING_PROTOCOLS
}

fn find_header_end(block: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(len) = memchr(b'\n', &block[at..]) {
        let line = &block[at..at + len];
        at += len + 1;
        if line.trim_ascii().is_empty() {
            return Some(at);
        }
    }
    None
}

/// Returns the final response's status.
///
/// # Errors
/// Returns an error if the header has no status, or only an interim one.
fn status(header: &[u8]) -> Result<u16, Fault> {
    match first_status(header) {
        Some(SWITCHING_PROTOCOLS) => Err((MALFORMED, "its status 101 leads to a protocol other than HTTP".into())),
        Some(status) if is_interim(status) => {
            Err((MALFORMED, format!("expected a final response after the interim status {status}, found none")))
        }
        Some(status) => Ok(status),
        None => {
            let found = shown(first_line(header).trim_ascii());
            Err((MALFORMED, format!("expected a line such as \"HTTP/1.1 200 OK\", found \"{found}\"")))
        }
    }
}

/// Parses the status in a first line such as `HTTP/1.1 200 OK`, with any version.
fn first_status(header: &[u8]) -> Option<u16> {
    let mut words = first_line(header).split(|byte| b" \t\r".contains(byte)).filter(|word| !word.is_empty());
    let is_http = words.next()?.get(..HTTP.len()).is_some_and(|start| start.eq_ignore_ascii_case(HTTP));
    let number = words.next().filter(|word| is_http && word.len() == 3 && word.iter().all(u8::is_ascii_digit))?;
    Some(number.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))).filter(|status| *status >= 100)
}

fn first_line(text: &[u8]) -> &[u8] {
    &text[..memchr(b'\n', text).unwrap_or(text.len())]
}

/// Appends a field's value to the preceding values with the same name. Values over the limit are ignored.
fn join(joined: &mut Option<Vec<u8>>, value: &[u8]) {
    let separator: &[u8] = if joined.is_some() { b", " } else { b"" };
    let joined = joined.get_or_insert_default();
    if joined.len() + separator.len() + value.len() <= MAX_FIELD_BYTES {
        joined.extend_from_slice(separator);
        joined.extend_from_slice(value);
    }
}

/// Returns the names in a list of codings, in lower case and in order.
fn words(list: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    list.split(|&byte| byte == b',').map(|word| word.trim_ascii().to_ascii_lowercase()).filter(|word| !word.is_empty())
}

/// Adds the codings in a field. Returns whether a transfer coding divides the body into chunks.
fn add_codings(value: &[u8], is_transfer: bool, codings: &mut Vec<Vec<u8>>) -> bool {
    let mut is_chunked = false;
    for coding in words(value) {
        match &*coding {
            b"chunked" if is_transfer => is_chunked = true,
            // One more is enough to reject the response.
            _ if codings.len() > MAX_CODINGS => break,
            _ => codings.push(coding),
        }
    }
    is_chunked
}

/// Removes chunk lengths from a body. If it is cut, so may be its last chunk. Some crawlers remove them but keep the field that announces them, so a body that
/// does not start like a chunk is returned unchanged.
fn without_chunks(body: Vec<u8>, is_cut: bool) -> Result<Vec<u8>, Fault> {
    if chunk_len(first_line(&body).split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii()).is_none() {
        return Ok(body);
    }
    let fault = |detail: String| (UNDECODABLE, format!("chunked: {detail}"));
    let (mut rest, mut decoded) = (&body[..], Vec::new());
    loop {
        let Some(line_end) = memchr(b'\n', rest) else {
            return if is_cut { Ok(decoded) } else { Err(fault("it ends before its last chunk".into())) };
        };
        let (line, after) = rest.split_at(line_end + 1);
        let size = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        let Some(len) = chunk_len(size) else {
            let found = shown(line.trim_ascii());
            return Err(fault(format!("expected the length of a chunk, in hexadecimal digits, found \"{found}\"")));
        };
        if len == 0 {
            // The body is complete. Any trailer fields do not affect it.
            return Ok(decoded);
        }
        let Some((chunk, after)) = usize::try_from(len).ok().and_then(|len| after.split_at_checked(len)) else {
            if is_cut {
                decoded.extend_from_slice(after);
                return Ok(decoded);
            }
            return Err(fault(format!("it ends after {} of the {len} bytes of a chunk", after.len())));
        };
        decoded.extend_from_slice(chunk);
        rest = match after {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            [] | [b'\r'] => &[],
            _ => return Err(fault(format!("a chunk does not end after its {len} bytes"))),
        };
    }
}

/// Returns a chunk's length, if the text is a hexadecimal number within range.
fn chunk_len(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(text, 16).ok()
}

/// Decodes a whole body, starting with the coding that was applied last.
fn decode(body: Vec<u8>, codings: &[Vec<u8>]) -> Result<Vec<u8>, Fault> {
    decode_layers(body, codings, MAX_BODY_BYTES, |_, _| false)
}

/// Decodes a body, starting with the coding that was applied last. After a fault, `is_enough` tells whether the bytes
/// decoded before it are used.
fn decode_layers(
    mut body: Vec<u8>,
    codings: &[Vec<u8>],
    limit: usize,
    is_enough: impl Fn(&[u8], &Fault) -> bool,
) -> Result<Vec<u8>, Fault> {
    if codings.len() > MAX_CODINGS {
        return Err((UNDECODABLE, format!("it has more than {MAX_CODINGS} codings")));
    }
    for coding in codings.iter().rev() {
        if body.is_empty() {
            break;
        }
        let (decoded, fault) = match &**coding {
            b"identity" => continue,
            b"gzip" | b"x-gzip" => read_all("gzip", GzDecoder::new(&*body), limit),
            // Most servers mean zlib, but some send raw deflate.
            b"deflate" => match read_all("deflate", ZlibDecoder::new(&*body), limit) {
                (decoded, Some(fault)) if !is_enough(&decoded, &fault) => {
                    read_all("deflate", DeflateDecoder::new(&*body), limit)
                }
                read => read,
            },
            b"zstd" => match unpack_zstd(&*body) {
                Ok(decoder) => read_all("zstd", decoder, limit),
                Err(error) => (Vec::new(), Some(undecodable("zstd", &error))),
            },
            b"br" => without_brotli(&body, limit),
            other => (Vec::new(), Some((UNDECODABLE, format!("its coding \"{}\" is not known", shown(other))))),
        };
        body = match fault {
            None => decoded,
            Some(fault) if is_enough(&decoded, &fault) => decoded,
            // Some crawlers decode the body but keep the field.
            Some(_) if is_surely_text(&body) => body,
            Some(fault) => return Err(fault),
        };
    }
    Ok(body)
}

/// Returns whether a body is certainly undecoded text: UTF-8, possibly truncated, without control characters. Damaged
/// compressed bytes are almost never valid text, even if they contain some readable passages.
fn is_surely_text(body: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(body).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !body.iter().any(|byte| byte.is_ascii_control() && !(b'\t'..=b'\r').contains(byte))
}

/// The reason for a body that cannot be decoded.
const UNDECODABLE: &str = "body that cannot be decoded";

fn undecodable(coding: &str, error: &io::Error) -> Fault {
    (UNDECODABLE, format!("{coding}: {error}"))
}

fn too_large() -> Fault {
    (crate::bodies::TOO_LARGE, format!("decoded, it has more than {MAX_BODY_BYTES} bytes"))
}

/// Reads a decoder's whole output, up to the limit. Also returns the fault that ended it early.
fn read_all(coding: &str, decoder: impl Read, limit: usize) -> (Vec<u8>, Option<Fault>) {
    let mut body = Vec::new();
    let read = decoder.take(limit as u64 + 1).read_to_end(&mut body);
    let fault = match read {
        Err(error) => Some(undecodable(coding, &error)),
        Ok(_) if body.len() > limit => Some(too_large()),
        Ok(_) => None,
    };
    (body, fault)
}

/// Decodes Brotli. A window has at most 16 MiB (RFC 7932 section 9.1). The windows of up to 1 GiB in a later draft are
/// rejected.
fn without_brotli(packed: &[u8], limit: usize) -> (Vec<u8>, Option<Fault>) {
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
            return (body, Some(too_large()));
        }
        match result {
            BrotliResult::ResultSuccess => return (body, None),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput => return (body, Some((UNDECODABLE, "br: the data is cut".into()))),
            BrotliResult::ResultFailure => return (body, Some((UNDECODABLE, "br: the data is damaged".into()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn decoded_bodies_over_the_limit_are_rejected() {
        for len in [MAX_BODY_BYTES - 1, MAX_BODY_BYTES, MAX_BODY_BYTES + 1] {
            let body = vec![b'#'; len];
            let found = decode(gzip(&body), &[b"gzip".to_vec()]);
            assert_eq!(found.map(|found| found.len()).ok(), (len <= MAX_BODY_BYTES).then_some(len));
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
            let (found, fault) = without_brotli(&packed.bytes, MAX_BODY_BYTES);
            assert_eq!(fault.is_none().then_some(found.len()), (len <= MAX_BODY_BYTES).then_some(len));
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
    fn the_final_response_follows_any_interim_ones() {
        let last = "http/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
        let hints = "HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n\r\n";
        let switching = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
        for (start, status) in [
            (last.to_owned(), Some(200)),
            (format!("HTTP/1.1 100 Continue\r\n\r\n{last}"), Some(200)),
            (format!("HTTP/1.1 102\n\n{hints}HTTP/2 199\r\n\r\n{last}"), Some(200)),
            (format!("{hints}{switching}{last}"), None),
            (hints.to_owned(), None),
            (hints.trim_end().to_owned(), None),
            ("HTTP/1.1 100 Continue\r\n".to_owned() + last, None),
        ] {
            let block = format!("{start}body").into_bytes();
            let text = Some(&b"text/plain"[..]).filter(|_| status.is_some());
            let (found, media_type) = status_and_type(&block);
            assert_eq!((found, is_response(&block)), (status, status.is_some()), "{start}");
            assert!(status.is_none() || media_type.as_deref() == text && final_answer(&block).1 == b"body", "{start}");
            let is_whole = |len: usize| has_whole_header(&block[..len]);
            assert!(status.is_none() || is_whole(start.len()) && !is_whole(start.len() - 1), "{start}");
            assert_eq!(head(block.clone()).ok().map(|answer| answer.body), status.map(|_| Vec::new()), "{start}");
            let answer = answer(block).map(|answer| (answer.capture.status, answer.body));
            assert_eq!(answer.ok(), status.map(|status| (Some(status), b"body".to_vec())), "{start}");
        }
    }

    #[test]
    fn bodies_with_too_many_codings_are_rejected() {
        for count in [MAX_CODINGS - 1, MAX_CODINGS, MAX_CODINGS + 1] {
            let body = (0..count).fold(b"Disallow: /".to_vec(), |body, _| gzip(&body));
            let found = decode(body, &vec![b"gzip".to_vec(); count]);
            assert_eq!(found.is_ok(), count <= MAX_CODINGS, "{found:?}");
        }
    }

    #[test]
    fn large_brotli_windows_are_rejected() {
        // The bits that declare a window of 2^30 bytes.
        assert!(without_brotli(&[0x11, 30, 3], MAX_BODY_BYTES).1.is_some());
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
                let is_cut = len < block.len();
                let found = body_start(&block[..len], is_cut, 100).unwrap();
                assert_eq!(found == text.as_bytes()[..100], is_text, "{header} {len}");
                assert_eq!(found.len(), 100, "{header} {len}");
            }
        }
        let damaged = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\xff\xff";
        assert!(body_start(damaged, false, 100).is_err());
        // A cut response is decoded, and a complete one with a missing chunk is not.
        let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
        assert_eq!(body_start(cut, true, 100).unwrap(), b"ab");
        assert!(body_start(cut, false, 100).is_err());
    }
}
