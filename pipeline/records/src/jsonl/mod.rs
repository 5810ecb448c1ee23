//! JSON Lines: one robots.txt capture per line.
//!
//! [`fields`] turns the values of a line's keys into the cells that a table would have. [`captures`](crate::captures) reads
//! them, by the rules of all formats.

mod fields;

use std::ops::Range;

use serde_json::de::SliceRead;
use serde_json::{Deserializer, StreamDeserializer};

use super::Item;
use super::captures::names::{Field, NameUse};
use super::captures::{NO_CAPTURE, item_of_json};
use super::shown::shown;
use super::time::Zone;
use crate::Result;
use fields::{CaptureFields, Headers, Keys};

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
    reader: &mut FieldReader<'_>,
    line: Range<usize>,
    name: String,
    zone: &Zone,
    names: &mut NameUse,
) -> Result<Item> {
    let text = &reader.lines[line.clone()];
    // Serde would also accept a list with the values in field order, which is never intended.
    if !text.trim_ascii_start().starts_with(b"{") {
        reader.go_to(line.end);
        let detail = format!("expected an object, found: {}", shown(text));
        return Ok(Item::Bad { name, reason: NO_CAPTURE, detail });
    }
    let mut fields = match reader.read(line) {
        Ok(fields) => fields,
        Err(error) => {
            let text = error.to_string();
            let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
            let detail = format!("{} (column {})", shown(text.as_bytes()), error.column());
            return Ok(Item::Bad { name, reason: NO_CAPTURE, detail });
        }
    };
    reader.note_keys(std::mem::take(&mut fields.keys), names);
    let challenger = fields.headers.as_ref().and_then(Headers::challenger);
    let body = fields.body.take();
    item_of_json(name, fields.cells(), body, challenger, zone)
}
