//! JSON Lines: the capture of a robots.txt on each line.
//!
//! A fetch profile says what its status, redirects, times and errors mean ([`reptile_compiler::capture`]). Here they are
//! only read, and a line that does not describe a capture is refused. [`fields`] has the forms in which they may be written.

mod fields;

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use reptile_compiler::capture::{self, Capture};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::set::origin::{OwnedOrigin, RobotsUrlError};

use super::bodies::TOO_LARGE;
use super::{Item, Robots, Sink};
use crate::error::{Failure, Result};
use fields::{CaptureFields, Status};

/// Bytes of one line: a body of the greatest size, each byte of it written as `\u0000`, and room for the rest.
const MAX_LINE_BYTES: usize = 6 * MAX_BODY_BYTES + (1 << 20);

/// Bytes that the buffer of a line keeps from one line to the next.
const KEPT_BYTES: usize = 1 << 20;

/// Reads every line.
///
/// # Errors
/// If the input cannot be read to its end. A line that is not a capture is an [`Item::Bad`].
pub fn read(path: &Path, source: impl Read, sink: &mut Sink<'_>) -> Result<()> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    let mut line = Vec::new();
    for number in 1_u64.. {
        let name = || format!("{}:{number}", path.display());
        match next_line(&mut source, &mut line, MAX_LINE_BYTES) {
            Err(error) => return Err(Failure::new(format!("{}: cannot be read: {error}", name()))),
            Ok(Next::End) => break,
            Ok(Next::TooLong) => sink(Item::Bad {
                name: name(),
                reason: TOO_LARGE,
                detail: format!("the line of a capture has at most {MAX_LINE_BYTES} bytes"),
            })?,
            Ok(Next::Line) if line.trim_ascii().is_empty() => {}
            Ok(Next::Line) => sink(item(&line, name()))?,
        }
        line.clear();
        line.shrink_to(KEPT_BYTES);
    }
    Ok(())
}

/// The capture that a line describes, or what is wrong with the line.
fn item(line: &[u8], name: String) -> Item {
    match robots(line, &name) {
        Ok(robots) => Item::Robots(robots),
        Err((reason, detail)) => Item::Bad { name, reason, detail },
    }
}

/// The capture that a line describes.
///
/// # Errors
/// The reason and the details of [`Item::Bad`].
fn robots(line: &[u8], name: &str) -> std::result::Result<Robots, (&'static str, String)> {
    // Serde would also read a list of the values in the order of the fields, which nobody means.
    if line.trim_ascii_start().starts_with(b"[") {
        return Err(("not a valid capture", "expected an object, found a list".into()));
    }
    let fields: CaptureFields<'_> = serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
        ("not a valid capture", format!("{text} (column {})", error.column()))
    })?;
    let origin = OwnedOrigin::of_robots_url(fields.url.as_bytes()).map_err(|error| match error {
        RobotsUrlError::OtherPath => ("not the url of a robots.txt", format!("\"{}\"", fields.url.escape_debug())),
        error => ("no valid url", format!("\"{}\": {error}", fields.url.escape_debug())),
    })?;
    let status = fields.status.map(|Status::Code(status)| status);
    if let Some(status) = status.filter(|status| !(100..=999).contains(status)) {
        return Err(("no valid status", format!("expected a number from 100 to 999, found {status}")));
    }
    let headers = fields.headers.unwrap_or_default();
    let capture = Capture {
        status,
        redirects: fields.redirects.map_or(0, |redirects| redirects.0),
        time: fields.time.map(|when| when.0),
        max_age: headers.cache_control.as_deref().and_then(capture::max_age),
        media_type: headers.content_type.as_deref().map(capture::media_type),
        truncated: fields.truncated.and_then(|truncated| truncated.0),
        has_failed: fields.error.is_some_and(|error| !error.is_empty()),
    };
    if let Some(body) = fields.body.as_ref().filter(|body| body.len() > MAX_BODY_BYTES) {
        return Err((TOO_LARGE, format!("{} bytes; the limit is {MAX_BODY_BYTES}", body.len())));
    }
    Ok(Robots { name: name.into(), origins: vec![origin], capture, body: fields.body.map(String::into_bytes) })
}

/// The result of looking for the next line.
enum Next {
    Line,
    TooLong,
    End,
}

/// Reads a line into an empty buffer, or skips it if it is longer than `limit`.
fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Next> {
    let read = source.by_ref().take(limit as u64 + 1).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Next::End);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= limit {
        return Ok(Next::Line);
    }
    source.skip_until(b'\n')?;
    Ok(Next::TooLong)
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
