//! JSON Lines: the capture of a robots.txt on each line.
//!
//! A fetch profile says what its status, redirects, times and errors mean ([`reptile_compiler::capture`]). Here they are
//! only read, and a line that does not describe a capture is refused. [`fields`] has the forms in which they may be written.

mod fields;

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use memchr::memchr;
use reptile_compiler::capture::{self, Capture};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::set::origin::{OwnedOrigin, RobotsUrlError};

use super::bodies::{TOO_LARGE, no_memory};
use super::captures::Lines;
use super::shown::shown;
use super::{Item, Robots, Sink};
use crate::error::{Failure, Result};
use fields::CaptureFields;
pub use fields::{Body, MAX_HEADER_BYTES, base64_body};

/// Bytes of one line: a body of the greatest size, each byte of it written as `\u0000`, and room for the rest.
const MAX_LINE_BYTES: usize = 6 * MAX_BODY_BYTES + (1 << 20);

/// Bytes that are read at once.
pub const READ_BYTES: usize = 1 << 16;

/// Bytes that the buffer of a line keeps from one line to the next.
const KEPT_BYTES: usize = 1 << 20;

/// Bytes of a line from which on it is looked into at once: its body takes less memory, and there may be many such lines.
const LONG_LINE_BYTES: usize = 1 << 20;

/// Reads every line: as an [`Item::Line`], or if it is long as what it is.
///
/// # Errors
/// If the input cannot be read to its end.
pub fn read(path: &Path, source: impl Read, sink: &mut Sink<'_>) -> Result<()> {
    let mut source = BufReader::with_capacity(READ_BYTES, source);
    let lines = Lines { path: path.display().to_string(), columns: None };
    read_lines(&Arc::new(lines), &mut source, 1, sink)
}

/// Reads the lines from a number on.
///
/// # Errors
/// If the input cannot be read to its end.
pub fn read_lines(lines: &Arc<Lines>, source: &mut impl BufRead, first: u64, sink: &mut Sink<'_>) -> Result<()> {
    let mut line = Vec::new();
    for number in first.. {
        let name = || lines.name(number);
        match next_line(source, &mut line, MAX_LINE_BYTES) {
            Err(error) => return Err(Failure::new(format!("{}: cannot be read: {error}", name()))),
            Ok(Next::End) => break,
            Ok(Next::NoMemory(len)) => return Err(no_memory(&name(), len as u64)),
            Ok(Next::TooLong) => sink(Item::Bad {
                name: name(),
                reason: TOO_LARGE,
                detail: format!("the line of a capture has at most {MAX_LINE_BYTES} bytes"),
            })?,
            Ok(Next::Line) if line.trim_ascii().is_empty() => {}
            Ok(Next::Line) if line.len() < LONG_LINE_BYTES => {
                sink(Item::Line { lines: Arc::clone(lines), number, bytes: line[..].into() })?;
            }
            Ok(Next::Line) => sink(lines.item(&line, number)?)?,
        }
        line.clear();
        line.shrink_to(KEPT_BYTES);
    }
    Ok(())
}

/// The capture that a line describes, or what is wrong with the line.
///
/// # Errors
/// If there is no memory for its body.
pub fn item(line: &[u8], name: String) -> Result<Item> {
    let (capture, body, origin) = match capture(line) {
        Ok(found) => found,
        Err((reason, detail)) => return Ok(Item::Bad { name, reason, detail }),
    };
    let body = match body {
        None => None,
        Some(Body::Whole(body)) => Some(body),
        Some(Body::NoMemory(len)) => return Err(no_memory(&name, len as u64)),
        Some(Body::TooLarge(len)) => {
            let detail = format!("{len} bytes; the limit is {MAX_BODY_BYTES}");
            return Ok(Item::Bad { name, reason: TOO_LARGE, detail });
        }
    };
    Ok(Item::Robots(Robots { name, origins: vec![origin], capture, body, is_file: false }))
}

/// The capture that a line describes, its body, and the origin that it is for.
///
/// # Errors
/// The reason and the details of [`Item::Bad`].
fn capture(line: &[u8]) -> std::result::Result<(Capture, Option<Body>, OwnedOrigin), (&'static str, String)> {
    // Serde would also read a list of the values in the order of the fields, which nobody means.
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err(("not a valid capture", format!("expected an object, found: {}", shown(line))));
    }
    let fields: CaptureFields<'_> = serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
        ("not a valid capture", format!("{} (column {})", shown(text.as_bytes()), error.column()))
    })?;
    let url = &*fields.url.0;
    let origin = OwnedOrigin::of_robots_url(url.as_bytes()).map_err(|error| match error {
        RobotsUrlError::OtherPath => ("not the url of a robots.txt", format!("\"{}\"", shown(url.as_bytes()))),
        error => ("no valid url", format!("\"{}\": {error}", shown(url.as_bytes()))),
    })?;
    let headers = fields.headers.unwrap_or_default();
    let capture = Capture {
        status: fields.status.map(|status| status.0),
        redirects: fields.redirects.map_or(0, |redirects| redirects.0),
        time: fields.time.map(|when| when.0),
        max_age: headers.cache_control.as_deref().and_then(capture::max_age),
        media_type: headers.content_type.as_deref().map(capture::media_type),
        truncated: fields.truncated.and_then(|truncated| truncated.0),
        has_failed: fields.error.is_some_and(|error| !error.is_empty),
    };
    Ok((capture, fields.body_base64.map(|body| body.0).or(fields.body), origin))
}

/// The result of looking for the next line.
pub enum Next {
    /// It is in the buffer.
    Line,
    /// It is longer than the limit.
    TooLong,
    /// There is no memory for so many bytes, and the line may have more.
    NoMemory(usize),
    /// There is none.
    End,
}

/// Reads a line into an empty buffer, without its LF, or skips it if it is longer than `limit`.
pub fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Next> {
    let mut has_begun = false;
    loop {
        let read = match source.fill_buf() {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read.is_empty() {
            return Ok(if has_begun { Next::Line } else { Next::End });
        }
        has_begun = true;
        let line_end = memchr(b'\n', read);
        let part = &read[..line_end.unwrap_or(read.len())];
        let len = line.len() + part.len();
        if len > limit {
            source.skip_until(b'\n')?;
            return Ok(Next::TooLong);
        }
        if line.try_reserve(part.len()).is_err() {
            return Ok(Next::NoMemory(len));
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(line_end.is_some());
        source.consume(used);
        if line_end.is_some() {
            return Ok(Next::Line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_line_holds_at_its_edges() {
        for end in ["", "\n", "\nnext"] {
            for (len, fits) in [(7, true), (8, true), (9, false), (100, false)] {
                let text = format!("{}{end}", "a".repeat(len));
                let mut source = text.as_bytes();
                let mut line = Vec::new();
                let next = next_line(&mut source, &mut line, 8).unwrap();
                assert_eq!(matches!(next, Next::Line), fits, "{len}");
                assert!(!fits || line.len() == len);
                line.clear();
                let next = next_line(&mut source, &mut line, 8).unwrap();
                assert_eq!(matches!(next, Next::Line), end == "\nnext");
                assert_eq!(line, end.trim_start().as_bytes());
            }
        }
    }
}
