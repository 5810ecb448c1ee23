//! JSON Lines: one robots.txt capture per line.
//!
//! A fetch profile interprets the status, redirects, times and errors ([`reptile::capture`]). This module only parses
//! them, and rejects lines that do not describe a capture. [`fields`] defines their accepted forms.

mod fields;

use std::ops::Range;

use reptile::capture::Capture;
use reptile::limits::MAX_BODY_BYTES;
use reptile::{Origin, capture};
use serde_json::de::SliceRead;
use serde_json::{Deserializer, StreamDeserializer};

use super::bodies::{TOO_LARGE, no_memory};
use super::captures::names::{Field, NameUse};
use super::captures::{Body, NO_CAPTURE, media_type_of, origin_of, robots_url};
use super::shown::shown;
use super::time::Zone;
use super::{Item, Robots};
use crate::Result;
use fields::{CaptureFields, Keys};

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
    let robots_url = robots_url(fields.url.0.as_bytes())?;
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
    let body = fields.body_base64.map(|body| body.0).or(fields.body);
    let origin = origin_of(robots_url, &capture, body.as_ref())?;
    Ok((capture, body, origin))
}
