//! Marks for the lines of access logs whose `#Fields:` line changes.
//!
//! A mark is the number of the `#Fields:` line that names a line's fields, so that threads can read lines in any order.
//! Lines before the first change are not marked.

use std::io::{self, Read};
use std::sync::Arc;

use memchr::{memchr, memmem};

use super::{FIRST_NUMBER, MARK, MAX_LAYOUTS, Names, W3c};
use crate::lines::{MAX_LINE_BYTES, without_line_end};

/// Number of bytes per read.
const READ_BYTES: usize = 1 << 16;

/// A number without a layout.
const NONE: u8 = 0xff;

const _: () = assert!(MAX_LAYOUTS < (NONE - FIRST_NUMBER) as usize);

/// A reader that marks lines.
pub(crate) struct Marked<R> {
    source: R,
    log: Arc<W3c>,
    /// The different `#Fields:` lines, by number.
    headers: Vec<Vec<u8>>,
    /// The current header's number.
    number: usize,
    /// Text that was read and is not yet marked. It begins at a line's start, or within a line if `is_in_line`.
    text: Vec<u8>,
    is_in_line: bool,
    /// Marked text to return, from `at` on.
    ready: Vec<u8>,
    at: usize,
    at_end: bool,
}

impl<R: Read> Marked<R> {
    /// Creates the reader of a log's lines after its first `#Fields:` line, `header`.
    pub fn new(source: R, log: Arc<W3c>, header: &[u8]) -> Marked<R> {
        let headers = vec![without_line_end(header).to_vec()];
        let (text, ready) = (Vec::new(), Vec::new());
        Marked { source, log, headers, number: 0, text, is_in_line: false, ready, at: 0, at_end: false }
    }

    /// Marks the text up to the last line whose mark is certain.
    fn mark(&mut self) {
        let text = std::mem::take(&mut self.text);
        let mut rest = &text[..];
        while !rest.is_empty() {
            if self.number == 0 && !self.is_in_line && rest[0] != b'#' {
                // Lines without a mark, up to the next line that begins with a sign.
                let end = memmem::find(rest, b"\n#").map_or(rest.len(), |at| at + 1);
                self.ready.extend_from_slice(&rest[..end]);
                self.is_in_line = !rest[..end].ends_with(b"\n");
                rest = &rest[end..];
                continue;
            }
            let end = memchr(b'\n', rest).map(|at| at + 1);
            let is_whole = end.is_some() || self.at_end || rest.len() > MAX_LINE_BYTES;
            let line = &rest[..end.unwrap_or(rest.len())];
            if !self.is_in_line {
                if line[0] == b'#' && !is_whole {
                    break;
                }
                self.begin(line);
            }
            self.ready.extend_from_slice(line);
            self.is_in_line = end.is_none();
            rest = &rest[line.len()..];
        }
        self.text = rest.to_vec();
    }

    /// Notes a `#Fields:` line, or writes the mark of another line.
    fn begin(&mut self, line: &[u8]) {
        if let Some(names) = Names::of(without_line_end(line)) {
            let is_read = line.len() <= MAX_LINE_BYTES;
            let line = without_line_end(line);
            let known = self.headers.iter().position(|header| header == line);
            self.number = known.unwrap_or(if is_read { self.headers.len() } else { MAX_LAYOUTS });
            if self.number == self.headers.len() && self.number < MAX_LAYOUTS {
                self.log.put(self.number, &names);
                self.headers.push(line.to_vec());
            }
        } else if line.starts_with(MARK) || (self.number >= MAX_LAYOUTS && line[0] != b'#') {
            // A mark in the log itself has no meaning.
            self.ready.extend_from_slice(&[MARK, &[NONE]].concat());
        } else if self.number > 0 && line[0] != b'#' {
            self.ready.extend_from_slice(&[MARK, &[FIRST_NUMBER + self.number as u8]].concat());
        }
    }
}

impl<R: Read> Read for Marked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() && !(self.at_end && self.text.is_empty()) {
            self.ready.clear();
            self.at = 0;
            let filled = self.text.len();
            self.text.resize(filled + READ_BYTES, 0);
            let read = self.source.read(&mut self.text[filled..]);
            self.text.truncate(filled + *read.as_ref().unwrap_or(&0));
            self.at_end = read? == 0;
            self.mark();
        }
        let read = (&self.ready[self.at..]).read(to)?;
        self.at += read;
        Ok(read)
    }
}
