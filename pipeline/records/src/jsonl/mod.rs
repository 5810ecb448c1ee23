//! JSON Lines: one robots.txt capture per line.
//!
//! A fetch profile interprets the status, redirects, times and errors ([`reptile::capture`]). This module only parses
//! them, and rejects lines that do not describe a capture. [`fields`] defines their accepted forms.

mod fields;

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memchr::memchr;
use reptile::capture::Capture;
use reptile::limits::MAX_BODY_BYTES;
use reptile::urls::RobotsUrlError;
use reptile::{Origin, capture};
use serde_json::de::SliceRead;
use serde_json::{Deserializer, StreamDeserializer};

use super::bodies::{TOO_LARGE, no_memory};
pub use super::captures::names::MAX_HEADER_BYTES;
use super::captures::names::{Field, NameUse};
use super::captures::{Lines, NO_CAPTURE, media_type_of};
use super::shown::shown;
use super::time::Zone;
use super::{Item, Robots, Sink};
use crate::{Error, Result};
pub use fields::{Body, base64_body};
use fields::{CaptureFields, Keys};

/// Maximum line length in bytes: a body of maximum size with every byte written as `\u0000`, plus space for other
/// fields.
pub const MAX_LINE_BYTES: usize = 6 * MAX_BODY_BYTES + (1 << 20);

/// Number of bytes per read.
pub const READ_BYTES: usize = 1 << 16;

/// Maximum bytes that the line buffer keeps between lines.
const KEPT_BYTES: usize = 1 << 20;

/// Length in bytes from which a line is parsed immediately. Its body needs less memory, and there may be many such
/// lines.
const LONG_LINE_BYTES: usize = 1 << 20;

/// Size in bytes at which a block of lines is handed to a thread.
const BLOCK_BYTES: usize = 1 << 16;

/// Reads every line. Short lines are grouped as [`Item::Lines`], and long lines are parsed.
///
/// # Errors
/// Returns an error if the input is unreadable.
pub fn read(path: &Path, source: impl Read, zone: &Zone, sink: &mut Sink<'_>) -> Result<()> {
    let mut source = BufReader::with_capacity(READ_BYTES, source);
    let lines = Lines { path: path.display().to_string(), columns: None, zone: zone.clone() };
    read_lines(&Arc::new(lines), &mut source, 1, sink)
}

/// Reads the lines, numbering them from `first`.
///
/// # Errors
/// Returns an error if the input is unreadable.
pub fn read_lines(lines: &Arc<Lines>, source: &mut impl BufRead, first: u64, sink: &mut Sink<'_>) -> Result<()> {
    let (mut line, mut block) = (Vec::new(), Block::default());
    for number in first.. {
        let name = || lines.name(number);
        let next = next_line(source, &mut line, MAX_LINE_BYTES);
        let is_short = matches!(next, Ok(Next::Line)) && line.len() < LONG_LINE_BYTES;
        if !is_short || block.bytes.len() >= BLOCK_BYTES {
            block.give(lines, sink)?;
        }
        match next {
            Err(error) => return Err(Error::new(format!("{}: cannot be read: {error}", name()))),
            Ok(Next::End) => break,
            Ok(Next::NoMemory(len)) => return Err(no_memory(&name(), len as u64)),
            Ok(Next::TooLong) => sink(Item::Bad {
                name: name(),
                reason: TOO_LARGE,
                detail: format!("the line of a capture has at most {MAX_LINE_BYTES} bytes"),
            })?,
            Ok(Next::Line) if is_short => block.push(&line, number),
            Ok(Next::Line) => lines.read(&line, number, sink)?,
        }
        line.clear();
        line.shrink_to(KEPT_BYTES);
    }
    Ok(())
}

/// Consecutive lines.
#[derive(Default)]
struct Block {
    first: u64,
    count: usize,
    bytes: Vec<u8>,
}

impl Block {
    fn push(&mut self, line: &[u8], number: u64) {
        if self.count == 0 {
            self.first = number;
            self.bytes.reserve_exact(BLOCK_BYTES + line.len());
        }
        self.count += 1;
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
    }

    /// Passes on the lines, if there are any, and clears the block.
    fn give(&mut self, lines: &Arc<Lines>, sink: &mut Sink<'_>) -> Result<()> {
        let Block { first, count, bytes } = std::mem::take(self);
        if count == 0 { Ok(()) } else { sink(Item::Lines { lines: Arc::clone(lines), first, count, bytes }) }
    }
}

/// Reads the capture fields on several lines.
///
/// A JSON reader decodes escaped strings in a buffer that starts empty. With a new reader for each line, a third of the
/// time would be spent in the allocator.
pub struct FieldReader<'l> {
    lines: &'l [u8],
    /// The reader's start position, after a line.
    start: usize,
    reader: StreamDeserializer<'l, SliceRead<'l>, CaptureFields<'l>>,
    /// The preceding line's keys. Most lines repeat them.
    last_keys: Keys<'l>,
}

impl<'l> FieldReader<'l> {
    /// Creates a reader at the start of `lines`.
    pub fn new(lines: &'l [u8]) -> FieldReader<'l> {
        FieldReader { lines, start: 0, reader: Deserializer::from_slice(lines).into_iter(), last_keys: Keys::default() }
    }

    /// Continues at an offset.
    fn go_to(&mut self, start: usize) {
        self.start = start;
        self.reader = Deserializer::from_slice(&self.lines[start..]).into_iter();
    }

    /// Returns the fields in a nonblank line.
    ///
    /// # Errors
    /// Returns an error unless the line is a single object with these fields.
    fn read(&mut self, line: Range<usize>) -> serde_json::Result<CaptureFields<'l>> {
        let text = &self.lines[line.clone()];
        let blank = text.iter().rev().take_while(|byte| b" \t\r".contains(byte)).count();
        match self.reader.next() {
            Some(Ok(fields)) if self.start + self.reader.byte_offset() == line.end - blank => Ok(fields),
            // The line is invalid, or the value does not end with it. The line is parsed again on its own to get a
            // precise error.
            _ => {
                self.go_to(line.end);
                serde_json::from_slice(text)
            }
        }
    }

    /// Records a line's keys.
    fn note_keys(&mut self, keys: Keys<'l>, names: &mut NameUse) {
        if keys == self.last_keys {
            return;
        }
        for (field, name) in Field::all().zip(&keys.used) {
            name.iter().for_each(|name| names.add_used(field, name.as_bytes()));
        }
        keys.unused.iter().for_each(|name| names.add_unused(name.as_bytes()));
        if keys.has_more {
            names.add_more();
        }
        self.last_keys = keys;
    }
}

/// Returns the next line's capture, or an item that describes the problem. Records the line's keys.
///
/// # Errors
/// Returns an error if there is not enough memory for the body.
pub fn item(
    fields: &mut FieldReader<'_>,
    line: Range<usize>,
    name: String,
    zone: &Zone,
    names: &mut NameUse,
) -> Result<Item> {
    let (capture, body, origin) = match capture(fields, line, zone, names) {
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
    Ok(Item::Robots(Robots { name, origins: vec![origin], capture, body, is_file: false, fetch: None }))
}

/// Returns a line's capture with its body and origin.
///
/// # Errors
/// Returns the reason and the details of [`Item::Bad`].
fn capture(
    reader: &mut FieldReader<'_>,
    line: Range<usize>,
    zone: &Zone,
    names: &mut NameUse,
) -> std::result::Result<(Capture, Option<Body>, Origin), (&'static str, String)> {
    let text = &reader.lines[line.clone()];
    // Serde would also accept a list with the values in field order, which is never intended.
    if !text.trim_ascii_start().starts_with(b"{") {
        reader.go_to(line.end);
        return Err((NO_CAPTURE, format!("expected an object, found: {}", shown(text))));
    }
    let mut fields = reader.read(line).map_err(|error| {
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
        (NO_CAPTURE, format!("{} (column {})", shown(text.as_bytes()), error.column()))
    })?;
    reader.note_keys(std::mem::take(&mut fields.keys), names);
    let url = &*fields.url.0;
    let origin = Origin::of_robots_url(url.as_bytes()).map_err(|error| match error {
        RobotsUrlError::OtherPath => ("not the url of a robots.txt", format!("\"{}\"", shown(url.as_bytes()))),
        error => ("no valid url", format!("\"{}\": {error}", shown(url.as_bytes()))),
    })?;
    let headers = fields.headers.unwrap_or_default();
    let challenger = headers.challenger();
    let content_type = fields.content_type.map(|value| value.0).or(headers.content_type);
    let cache_control = fields.cache_control.map(|value| value.0).or(headers.cache_control);
    let capture = Capture {
        status: fields.status.map(|status| status.0),
        redirects: fields.redirects.map_or(0, |redirects| redirects.0),
        time: fields.time.map(|when| when.0.in_zone(zone)).transpose().map_err(|text| (NO_CAPTURE, text))?,
        max_age: cache_control.as_deref().and_then(capture::max_age),
        media_type: content_type.as_deref().and_then(media_type_of),
        challenger,
        truncated: fields.truncated.and_then(|truncated| truncated.0),
        has_failed: fields.error.is_some_and(|error| error.is_error) || fields.failed.is_some_and(|failed| failed.0),
    };
    Ok((capture, fields.body_base64.map(|body| body.0).or(fields.body), origin))
}

/// The result of looking for the next line.
pub enum Next {
    /// The line is in the buffer.
    Line,
    /// The line exceeds the limit.
    TooLong,
    /// There is not enough memory for this many bytes. The line may be even longer.
    NoMemory(usize),
    /// There are no more lines.
    End,
}

/// Reads a line without its LF into an empty buffer, or skips it if it exceeds `limit` bytes.
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

    /// Describes an item's content.
    fn words(item: &Item) -> String {
        match item {
            Item::Robots(Robots { name, origins, capture, body, .. }) => {
                format!("{name} {} {capture:?} {body:?}", origins[0])
            }
            Item::Bad { name, reason, detail } => format!("{name} {reason} {detail}"),
            Item::Lines { .. }
            | Item::LeftOut { .. }
            | Item::Untrusted { .. }
            | Item::Names(_)
            | Item::SameBody { .. } => String::new(),
        }
    }

    fn read_block(bytes: &[u8], first: u64) -> Vec<String> {
        let (lines, mut found) = (Lines { path: "p".into(), columns: None, zone: Zone::default() }, Vec::new());
        let read = lines.read(bytes, first, &mut |item| {
            if !matches!(item, Item::Names(_)) {
                found.push(words(&item));
            }
            Ok(())
        });
        read.unwrap();
        found
    }

    /// A block shares one reader, so a line's result must not depend on the preceding lines.
    #[test]
    fn lines_are_independent_of_preceding_lines() {
        let lines: [&[u8]; 18] = [
            br#"{"url":"http://a.example/robots.txt","status":200,"body":"user-agent: *\n"}"#,
            br#"{"url":"http://b.example/robots.txt","body":"\u0041\t"} "#,
            b"{\"url\":\"http://c.example/robots.txt\"}\r",
            b"\x0c{\"url\":\"http://d.example/robots.txt\"}",
            b"{\"url\":\"http://e.example/robots.txt\"}\x0c",
            br#"{"url":"http://f.example/robots.txt"} {"url":"http://g.example/robots.txt"}"#,
            br#"{"url":"http://h.example/robots.txt","more":"#,
            br#"{"url":"http://i.example/robots.txt"}}"#,
            br#"{"status":"100000"}"#,
            br#"{"body":"\x"}"#,
            br#"{"body":"unended"#,
            br#"["http://j.example/robots.txt",200,"body",null,null,null,null,null,"#,
            br#"{"a":1}]"#,
            br#"{"url":7}"#,
            b"{}",
            b"null",
            b"",
            b" \t",
        ];
        let alone = |line: &[u8], number| read_block(line, number);
        assert_eq!(lines.iter().flat_map(|line| alone(line, 1)).count(), lines.len() - 2);
        for (a, b, c) in (0..lines.len().pow(3)).map(|n| (n % 18, n / 18 % 18, n / 324)) {
            let block = [lines[a], lines[b], lines[c]].join(&b'\n');
            let expected = [(a, 5), (b, 6), (c, 7)].map(|(line, number)| alone(lines[line], number)).concat();
            assert_eq!(read_block(&block, 5), expected);
            assert_eq!(read_block(&[&block[..], b"\n"].concat(), 5), expected);
        }
    }

    #[test]
    fn a_block_ends_with_the_line_that_fills_it() {
        for (len, blocks) in [(BLOCK_BYTES - 2, 1), (BLOCK_BYTES - 1, 2), (BLOCK_BYTES, 2)] {
            let text = format!("{}\nx\n", "a".repeat(len));
            let lines = Arc::new(Lines { path: "p".into(), columns: None, zone: Zone::default() });
            let (mut found, mut read) = (Vec::new(), Vec::new());
            let result = read_lines(&lines, &mut text.as_bytes(), 3, &mut |item| {
                let Item::Lines { first, count, bytes, .. } = item else { panic!("not lines") };
                found.push((first, count));
                read.extend(bytes);
                Ok(())
            });
            result.unwrap();
            assert_eq!(read, text.as_bytes());
            assert_eq!(found, if blocks == 1 { vec![(3, 2)] } else { vec![(3, 1), (4, 1)] }, "{len}");
        }
    }

    #[test]
    fn lines_over_the_limit_are_too_long() {
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
