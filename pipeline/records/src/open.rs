//! The entry point for inputs. Every command opens each input here once, regardless of its type.
//!
//! The stages are: open a path or standard input (this file), decompress it ([`unpack`](super::unpack)), detect its
//! content ([`recognise`](super::recognise)), and split it into lines ([`lines`](super::lines)) or robots.txt files
//! ([`folders`](super::folders), [`archives`](super::archives), [`jsonl`](super::jsonl)).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::captures::names::TableKind;
use super::csv_captures::{Delimiter, table_of};
use super::gzip::Unpack;
use super::recognise::{Content, Wanted, recognise};
use super::unpack::{Packing, unpack};
use crate::{Error, Result};

/// Number of bytes at an input's start that are used to detect its content.
pub const START_BYTES: usize = 4096;

/// An open input with known content.
pub struct Input {
    /// The path. `-` is standard input.
    pub path: PathBuf,
    /// The decompressed content's type.
    pub content: Content,
    /// The outermost compression format.
    pub packing: Option<Packing>,
    /// Whether the input is a file that can be reopened and mapped.
    pub is_regular: bool,
    source: Start,
}

impl Input {
    /// Opens a path, or standard input for `-`.
    ///
    /// # Errors
    /// Returns an error if the input cannot be opened, or if compressed data is damaged at its start.
    pub fn open(path: &Path) -> Result<Input> {
        let fail = |error: io::Error| Error::io(path, error);
        let mut input = Input {
            path: path.into(),
            content: Content::Folder,
            packing: None,
            is_regular: false,
            source: Start::empty(),
        };
        let source: Box<dyn Unpack> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            let file = File::open(path).map_err(fail)?;
            let found = file.metadata().map_err(fail)?;
            if found.is_dir() {
                return Ok(input);
            }
            input.is_regular = found.is_file();
            Box::new(file)
        };
        let start = Start::read(source).map_err(fail)?;
        (input.source, input.packing) = unpack(start).map_err(fail)?;
        input.content = recognise(&input.source.bytes);
        Ok(input)
    }

    /// Opens an input without waiting for a named pipe. A set must be a file, and only a pipe created by the shell is
    /// sure to have a writer.
    ///
    /// # Errors
    /// Returns the errors of [`Input::open`], and an error if the path is a named pipe or a device.
    pub fn open_no_pipe(path: &Path) -> Result<Input> {
        let is_descriptor = path == Path::new("-") || path.starts_with("/dev/fd") || path.starts_with("/proc");
        let found = if is_descriptor { None } else { fs::metadata(path).ok() };
        if found.is_some_and(|found| !found.is_file() && !found.is_dir()) {
            let text = "is a pipe or a device; a compiled set must be a regular file, so save it as one";
            return Err(Error::at(path, text));
        }
        Input::open(path)
    }

    /// Returns a reader of the decompressed bytes, from the first one.
    pub fn into_source(self) -> impl Unpack + 'static {
        self.source
    }

    /// Returns the kind and delimiter of a table, if this is text whose first line names a URL column.
    pub fn table(&self) -> Option<(TableKind, Delimiter)> {
        if self.content != Content::Text {
            return None;
        }
        table_of(first_line(&self.source.bytes)).filter(|(kind, _)| *kind != TableKind::Other)
    }

    /// Returns whether the input holds captures that name their own origins. The first bytes decide, and in TSV and CSV
    /// they may also belong to a URL table.
    pub fn is_captures(&self) -> bool {
        self.content.is_captures() || self.table().is_some_and(|(kind, _)| kind == TableKind::Captures)
    }

    /// Describes the input if it certainly contains more than one robots.txt.
    pub fn collection(&self) -> Option<&'static str> {
        let is_url = |line: &[u8]| line.starts_with(b"http://") || line.starts_with(b"https://");
        match self.table() {
            _ if self.content.is_collection() => Some(self.content.describe()),
            Some((TableKind::Captures, _)) => Some("a table of captures"),
            Some(_) => Some("a table of URLs"),
            None if self.content == Content::Text && is_url(&self.source.bytes) => Some("a list of URLs"),
            None => None,
        }
    }

    /// Returns whether the input holds several robots.txt files, each with a host name or URL.
    pub fn is_collection(&self) -> bool {
        self.content.is_collection() || self.is_captures()
    }

    /// Returns the input if it is text or empty.
    ///
    /// # Errors
    /// Otherwise returns an error that describes the content and suggests a suitable input.
    pub fn text(self, wanted: Wanted) -> Result<Input> {
        if matches!(self.content, Content::Text | Content::Empty) { Ok(self) } else { Err(self.refused(wanted)) }
    }

    /// Returns the input if it holds rows: text, or JSON where rows may be JSON.
    ///
    /// # Errors
    /// Returns the errors of [`Input::text`].
    pub fn rows(self, wanted: Wanted) -> Result<Input> {
        let is_json = self.content == Content::Json && wanted == Wanted::Urls;
        if is_json { Ok(self) } else { self.text(wanted) }
    }

    /// Returns the error for an input with unsuitable content.
    pub fn refused(&self, wanted: Wanted) -> Error {
        let packed = self.packing.map(|packing| format!(", packed with {packing}")).unwrap_or_default();
        let shown = self.path.display().to_string();
        let path = if shown == "-" { "standard input".to_owned() } else { shown.clone() };
        if (self.content, wanted) == (Content::Set, Wanted::Set) {
            let place = if packed.is_empty() { ", but not a regular file" } else { &*packed };
            return Error::unsuitable(format!("{path}: is a compiled set{place}; save it, unpacked, as a file"));
        }
        let (what, hint) = (self.content.describe(), self.content.hint(wanted, &shown));
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Error::unsuitable(format!("{path}: is {what}{packed}, not {}{hint}", wanted.describe()))
    }
}

/// Returns the bytes before the first line end, or no bytes without a line end.
fn first_line(bytes: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', bytes).map_or(b"", |end| &bytes[..end])
}

/// A source that still returns all its bytes after its first bytes were inspected.
pub struct Start {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// Number of these bytes that were already returned.
    at: usize,
    /// The members in these bytes, each with its first byte's index.
    members: Vec<(usize, u64)>,
    rest: Box<dyn Unpack>,
}

impl Start {
    /// Creates a source without bytes.
    fn empty() -> Start {
        Start { bytes: Vec::new(), at: 0, members: Vec::new(), rest: Box::new(io::empty()) }
    }

    /// Reads a source's first [`START_BYTES`], or fewer at its end. One line is enough, so that slow lists are
    /// processed immediately.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable.
    pub fn read(mut rest: Box<dyn Unpack>) -> io::Result<Start> {
        let mut bytes = vec![0; START_BYTES];
        let mut filled = 0;
        let mut members: Vec<(usize, u64)> = Vec::new();
        while filled < START_BYTES && !bytes[..filled].contains(&b'\n') {
            match rest.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(read) => {
                    let member = rest.member();
                    if members.last().is_none_or(|&(_, last)| last != member) {
                        members.push((filled, member));
                    }
                    filled += read;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(Start { bytes, at: 0, members, rest })
    }
}

impl Read for Start {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let next_member = self.members.iter().map(|&(start, _)| start).find(|&start| start > self.at);
        let left = &self.bytes[self.at..next_member.unwrap_or(self.bytes.len())];
        if left.is_empty() {
            return self.rest.read(buffer);
        }
        let len = left.len().min(buffer.len());
        buffer[..len].copy_from_slice(&left[..len]);
        self.at += len;
        Ok(len)
    }
}

impl Unpack for Start {
    fn member(&self) -> u64 {
        // The last returned byte determines the member.
        let given = self.members.iter().rev().find(|&&(start, _)| start < self.at);
        match given {
            Some(&(_, member)) if self.at < self.bytes.len() => member,
            _ => self.rest.member(),
        }
    }

    fn has_members(&self) -> bool {
        self.rest.has_members()
    }

    fn goes_on(&self) -> bool {
        self.rest.goes_on()
    }

    fn packed_offset(&mut self) -> Option<u64> {
        self.rest.packed_offset()
    }

    fn find_member(&mut self) -> io::Result<bool> {
        self.rest.find_member()
    }

    fn discard(&mut self) -> io::Result<u64> {
        // The inspected bytes are decompressed; compressed bytes are counted from the current position.
        let waiting = std::mem::replace(&mut self.at, self.bytes.len());
        let unpacked = if self.rest.packed_offset().is_none() { self.bytes.len() - waiting } else { 0 };
        Ok(unpacked as u64 + self.rest.discard()?)
    }
}
