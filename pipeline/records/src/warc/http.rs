//! Parses the HTTP response in a record's block: its status, the relevant fields, and its decoded body. Interim
//! responses are skipped. [`codings`](super::codings) decodes the body. Sources: RFC 9112 sections 4 and 5; RFC 9110
//! section 15.2.

use memchr::memchr;
use reptile::capture::Capture;
use reptile::{Challenger, Truncation, capture};

pub use super::codings::Fault;
use super::codings::{Body, BodyStart, Framing, MALFORMED, PARTIAL_CONTENT, first_line};
use super::fields::{MAX_NAME_BYTES, fields, lower_name};
use crate::captures::names::MAX_HEADER_BYTES as MAX_FIELD_BYTES;
use crate::shown::shown;

/// The start of a response.
const HTTP: &[u8] = b"HTTP/";

/// The status of a response after which the connection has another protocol.
const SWITCHING_PROTOCOLS: u16 = 101;

/// An HTTP response.
#[derive(Debug, Default)]
pub struct Answer {
    /// Status, media type, age, challenge product, and whether the body is cut. The WARC record's own fields are not
    /// included.
    pub capture: Capture,
    /// The `Location` field.
    pub location: Option<Vec<u8>>,
    /// The decoded body.
    pub body: Vec<u8>,
    /// Whether the body does not have a coding that its header names, and is used as it is.
    pub lacks_coding: bool,
}

/// Parses the response in a block.
///
/// # Errors
/// Returns an error if the block is not an HTTP response, or if its body cannot be decoded within the limit.
pub fn answer(mut block: Vec<u8>) -> Result<Answer, Fault> {
    let (header, body) = final_answer(&block);
    let header_end = block.len() - body.len();
    let (mut answer, framing) = read_header(header)?;
    block.drain(..header_end);
    let status = answer.capture.status.unwrap_or_default();
    let is_success = status / 100 == 2;
    if status == PARTIAL_CONTENT && answer.capture.media_type.as_deref() == Some("multipart/byteranges") {
        return Err((MALFORMED, "it has several parts of the file, which are not put together".into()));
    }
    let Body { bytes, is_cut, lacks_coding } = match framing.body(status, block) {
        // Other responses are used for their status only.
        Err(_) if !is_success => Body::default(),
        body => body?,
    };
    answer.capture.truncated = (is_cut && is_success).then_some(Truncation::Unspecified);
    (answer.body, answer.lacks_coding) = (bytes, lacks_coding && is_success);
    Ok(answer)
}

/// Parses the response in a block without a body, as in a revisit record.
///
/// # Errors
/// Returns an error if the block is not an HTTP response.
pub fn head(block: &[u8]) -> Result<Answer, Fault> {
    read_header(final_answer(block).0).map(|(answer, _)| answer)
}

/// Parses a response's header.
fn read_header(header: &[u8]) -> Result<(Answer, Framing), Fault> {
    let status = status(header)?;
    let (mut cache_control, mut content_type) = (None, None);
    let (mut location, mut challenger, mut framing) = (None, None, Framing::default());
    let mut memory = [0; MAX_NAME_BYTES];
    for (name, value) in fields(header) {
        match lower_name(name, &mut memory) {
            b"cache-control" => join(&mut cache_control, &value),
            b"content-type" => join(&mut content_type, &value),
            b"location" => location = location.or_else(|| Some(value.to_vec())),
            name if Framing::is_relevant(name) => framing.add(name, &value),
            _ => challenger = challenger.or_else(|| challenger_of(name, &value)),
        }
    }
    let capture = Capture {
        status: Some(status),
        max_age: cache_control.as_deref().map(String::from_utf8_lossy).as_deref().and_then(capture::max_age),
        media_type: content_type.as_deref().map(String::from_utf8_lossy).as_deref().map(capture::media_type),
        challenger,
        ..Capture::default()
    };
    Ok((Answer { capture, location, ..Answer::default() }, framing))
}

/// Returns the product that marks its challenge pages with this field, if any.
fn challenger_of(name: &[u8], value: &[u8]) -> Option<Challenger> {
    let name = capture::challenge_header(str::from_utf8(name).ok()?)?;
    reptile::challenger_of_header(name, &String::from_utf8_lossy(value))
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

/// Returns whether a block begins with the name of HTTP, as each of its responses does.
pub fn has_protocol(block: &[u8]) -> bool {
    block.get(..HTTP.len()).is_some_and(|start| start.eq_ignore_ascii_case(HTTP))
}

/// Returns whether a block begins like an HTTP response, and has the first line of the final one.
pub fn is_response(block: &[u8]) -> bool {
    status(&block[final_start(block)..]).is_ok()
}

/// Returns up to `limit` bytes from the start of a response's decoded body. The record's block has `block_len` bytes,
/// and the given ones are the first.
///
/// # Errors
/// Returns an error if the block is not an HTTP response, or if the start of its body cannot be decoded.
pub fn body_start(block: &[u8], block_len: u64, limit: usize) -> Result<BodyStart, Fault> {
    let (header, body) = final_answer(block);
    let stored = block_len - (block.len() - body.len()) as u64;
    Framing::of(header).start(status(header)?, body, stored, limit)
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
    let is_http = has_protocol(words.next()?);
    let number = words.next().filter(|word| is_http && word.len() == 3 && word.iter().all(u8::is_ascii_digit))?;
    Some(number.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))).filter(|status| *status >= 100)
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

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(head(&block).ok().map(|answer| answer.body), status.map(|_| Vec::new()), "{start}");
            let answer = answer(block).map(|answer| (answer.capture.status, answer.body));
            assert_eq!(answer.ok(), status.map(|status| (Some(status), b"body".to_vec())), "{start}");
        }
    }
}
