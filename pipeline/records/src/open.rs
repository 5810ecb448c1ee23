//! The entry point for inputs. Every command opens each input here once, regardless of its type.
//!
//! The stages are: open a path or standard input (this file), decompress it ([`unpack`](super::unpack)), detect its
//! content ([`detect`](super::detect)), and split it into lines ([`lines`](super::lines)) or robots.txt files
//! ([`folders`](super::folders), [`archives`](super::archives), [`jsonl`](super::jsonl)).
//!
//! ```
//! use reptile_records::detect::{Content, ExpectedInput};
//! use reptile_records::open::{Input, read_input};
//!
//! let file = tempfile::NamedTempFile::new()?;
//! std::fs::write(file.path(), "user-agent: *\ndisallow: /private\n")?;
//! let input = Input::open(file.path())?;
//! assert_eq!(input.content, Content::Text);
//! assert_eq!(read_input(input.text(ExpectedInput::Robots)?)?, b"user-agent: *\ndisallow: /private\n");
//!
//! std::fs::write(file.path(), "<!DOCTYPE html>")?;
//! let error = Input::open(file.path())?.text(ExpectedInput::Robots).err().map(|error| error.to_string());
//! assert!(error.is_some_and(|text| text.contains("is a web page (HTML), not a robots.txt")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::Path;

use reptile::body::{BodyKind, has_directive};
use reptile::limits::MAX_BODY_BYTES;

use super::bodies::{Fault, TOO_LARGE, no_memory, read_sized};
use super::captures::names::TableKind;
use super::csv_captures::table_of;
use super::detect::{Content, ExpectedInput, detect, detect_with};
use super::gzip::Unpack;
use super::tables::quotes::{Quoting, Scan};
use super::tables::{Delimiter, requests_or_captures};
use super::unpack::{Compression, Start, unpack};
use super::warc::index::names::is_index;
use crate::place::Place;
use crate::ranged::Ranged;
use crate::stores::Object;
use crate::{Error, Result};

/// An open input with known content.
pub struct Input {
    /// The name. `-` is standard input.
    pub path: Place,
    /// The decompressed content's type.
    pub content: Content,
    /// The outermost compression format.
    pub compression: Option<Compression>,
    /// Whether the input is a file that can be reopened and mapped, or a remote object.
    pub is_regular: bool,
    source: Start,
    /// Whether this is one robots.txt, whatever its first line looks like.
    is_one: bool,
    /// A second handle of a regular file or an object, for reading it by position.
    ranged: Option<Ranged>,
}

impl Input {
    /// Opens a file, a folder, an object, or standard input for `-`.
    ///
    /// # Errors
    /// Returns an error if the input cannot be opened, or if compressed data is damaged at its start.
    pub fn open(path: impl Into<Place>) -> Result<Input> {
        Input::open_place(path.into())
    }

    fn open_place(path: Place) -> Result<Input> {
        let fail = |error: io::Error| Error::io(&path, error);
        let mut input = Input {
            path: path.clone(),
            content: Content::Folder,
            compression: None,
            is_regular: false,
            source: Start::empty(),
            is_one: false,
            ranged: None,
        };
        let source: Box<dyn Unpack> = match &path {
            Place::Local(_) if path.is_standard() => Box::new(io::stdin()),
            Place::Remote(_) if path.is_remote_folder() => return Ok(input),
            Place::Remote(url) => {
                let object = Object::open(url).map_err(fail)?;
                input.is_regular = true;
                input.ranged = Some(Ranged::of_object(object.clone()));
                Box::new(object.into_reader())
            }
            Place::Local(path) => {
                let file = File::open(path).map_err(fail)?;
                let found = file.metadata().map_err(fail)?;
                if found.is_dir() {
                    return Ok(input);
                }
                input.is_regular = found.is_file();
                let clone = found.is_file().then(|| file.try_clone()).transpose().map_err(fail)?;
                input.ranged = clone.map(|file| Ranged::new(file, found.len()));
                Box::new(file)
            }
        };
        let start = Start::read(source).map_err(fail)?;
        (input.source, input.compression) = unpack(start).map_err(fail)?;
        input.content = detect(&input.source.bytes);
        Ok(input)
    }

    /// Opens an input without waiting for a named pipe. A set must be a file, and only a pipe created by the shell is
    /// sure to have a writer.
    ///
    /// # Errors
    /// Returns the errors of [`Input::open`], and an error if the path is a named pipe or a device.
    pub fn open_no_pipe(path: &Place) -> Result<Input> {
        let is_descriptor = |path: &Path| path.starts_with("/dev/fd") || path.starts_with("/proc");
        if path.is_special() && !path.local().is_some_and(is_descriptor) {
            let text = "is a pipe or a device; a compiled set must be a regular file, so save it as one";
            return Err(Error::at(path, text));
        }
        Input::open(path)
    }

    /// Takes text whose first line looks like rows for one robots.txt if it has a directive, because the website may have
    /// written that line. No row of a log, a list or an index is a directive. In a table, only the starts of rows
    /// count, because cells may be captured bodies.
    ///
    /// # Errors
    /// Returns an error if the input is unreadable.
    pub fn prefer_robots(mut self) -> Result<Input> {
        let may_be_rows = match self.content {
            Content::Text | Content::Json => self.collection().is_some(),
            content => content == Content::CrawlLog,
        };
        if !may_be_rows {
            return Ok(self);
        }
        let limit = MAX_BODY_BYTES as u64;
        let text = self.source.peek(limit + 1).map_err(|error| Error::io(&self.path, error))?;
        self.is_one =
            text.len() as u64 <= limit && has_own_directive(&text, self.table().map(|(_, delimiter)| delimiter));
        if self.is_one {
            self.content = Content::Text;
        }
        Ok(self)
    }

    /// Returns the stored file or object, for reading it by position.
    ///
    /// # Errors
    /// Returns an error if it is not a regular file.
    pub(crate) fn into_ranged(self) -> Result<Ranged> {
        self.ranged.ok_or_else(|| Error::at(&self.path, "is not a regular file"))
    }

    /// Returns a reader of the decompressed bytes, from the first one.
    pub(crate) fn into_source(self) -> Start {
        self.source
    }

    /// Returns the first decompressed bytes.
    pub(crate) fn start(&self) -> &[u8] {
        &self.source.bytes
    }

    /// Returns whether the input is an Arrow IPC file, and not a stream.
    pub fn is_arrow_file(&self) -> bool {
        self.content == Content::Arrow && crate::magic::is_arrow_file(&self.source.bytes)
    }

    /// Returns whether this is text that may contain rows instead of one robots.txt.
    fn may_have_rows(&self) -> bool {
        self.content == Content::Text && !self.is_one
    }

    /// Returns the kind and delimiter of a table, if this is text whose first line names a URL column.
    pub(crate) fn table(&self) -> Option<(TableKind, Delimiter)> {
        if !self.may_have_rows() {
            return None;
        }
        table_of(first_line(&self.source.bytes)).filter(|(kind, _)| *kind != TableKind::Other)
    }

    /// Returns whether the input holds captures that name their own origins. The first bytes decide, and in TSV and CSV
    /// they may also belong to a URL table.
    pub fn is_captures(&self) -> bool {
        !self.is_document() && self.content.is_captures()
            || self.table().is_some_and(|(kind, _)| kind == TableKind::Captures)
    }

    /// Describes the input if it certainly contains more than one robots.txt.
    pub(crate) fn collection(&self) -> Option<&'static str> {
        let is_url = |line: &[u8]| line.starts_with(b"http://") || line.starts_with(b"https://");
        match self.rows_in_text() {
            _ if self.is_several() => Some(self.content.describe()),
            None if self.may_have_rows() && is_url(&self.source.bytes) => Some("a list of URLs"),
            rows => rows,
        }
    }

    /// Describes text that certainly has rows and therefore is not a robots.txt.
    ///
    /// Does not recognize URL lists, because that requires all lines.
    pub fn rows_in_text(&self) -> Option<&'static str> {
        match self.table() {
            _ if !self.may_have_rows() => None,
            _ if is_index(self.start()) => Some("an index of WARC records"),
            Some((TableKind::Captures, _)) => Some("a table of captures"),
            Some(_) => Some("a table of URLs"),
            None => requests_or_captures(&self.source.bytes),
        }
    }

    /// Returns whether this is a zip archive that begins with the list of an Office document's parts.
    fn is_office(&self) -> bool {
        self.content == Content::Zip && memchr::memmem::find(&self.source.bytes, b"[Content_Types].xml").is_some()
    }

    /// Suggests a suitable command or input, if a command cannot use this one.
    fn hint(&self, wanted: ExpectedInput, path: &str) -> Option<String> {
        match self.rows_in_text() {
            Some(_) if self.is_captures() => {
                Some(format!("`reptile compile -o SET {path}` makes a set of all robots.txt files in it"))
            }
            Some(_) => Some(classify_hint(path)),
            None if self.is_document() => Content::Html.hint(wanted, path),
            None if self.is_office() => Some("save its sheet as CSV".into()),
            // The hint for text assumes a robots.txt. A set compiled from any other text allows everything.
            None if self.content.is_text() && !has_directive(&self.source.bytes) => None,
            None => self.content.hint(wanted, path),
        }
    }

    /// Returns whether the input holds several robots.txt files, each with a host name or URL.
    pub fn is_collection(&self) -> bool {
        self.is_several() || self.is_captures()
    }

    /// Returns whether the content can only be several robots.txt files.
    fn is_several(&self) -> bool {
        self.content.is_collection() && !self.is_document()
    }

    /// Returns whether this is a JSON document that contains none of the words for capture fields, such as a server's
    /// error message.
    pub(crate) fn is_document(&self) -> bool {
        if self.content != Content::Json {
            return false;
        }
        let start = self.source.bytes.to_ascii_lowercase();
        ![&b"url"[..], b"uri", b"body"].iter().any(|word| memchr::memmem::find(&start, word).is_some())
    }

    /// Returns the input if it is text or empty.
    ///
    /// # Errors
    /// Otherwise returns an error that describes the content and suggests a suitable input.
    pub fn text(self, wanted: ExpectedInput) -> Result<Input> {
        if matches!(self.content, Content::Text | Content::Empty) { Ok(self) } else { Err(self.refused(wanted)) }
    }

    /// Reads a single robots.txt into memory, and returns it with its kind. All bytes determine the kind. Another
    /// format is accepted if it has rules, because most crawlers obey them.
    ///
    /// # Errors
    /// Returns an error if the input is unreadable, larger than [`MAX_BODY_BYTES`], several files, or another format
    /// without rules.
    pub fn one(mut self, wanted: ExpectedInput) -> Result<(Input, BodyKind)> {
        let is_text = matches!(self.content, Content::Text | Content::Empty);
        let may_be_one = is_text || self.content.may_have_rules() || self.is_document();
        if !may_be_one || self.rows_in_text().is_some() {
            return Err(self.refused(wanted));
        }
        let body = self.read()?;
        let kind = BodyKind::of(&body);
        if !body.is_empty() {
            self.content = detect_with(&body, || kind.format());
        }
        self.source = Start::of(body);
        match kind {
            BodyKind::Other(_) => Err(self.refused(wanted)),
            kind => Ok((self, kind)),
        }
    }

    /// Reads the rest of the input.
    fn read(&mut self) -> Result<Vec<u8>> {
        let source = std::mem::replace(&mut self.source, Start::empty());
        read_sized(source, 0).map_err(|fault| match fault {
            Fault::Unreadable(error) => Error::io(&self.path, error),
            Fault::TooLarge(_) => Error::at(&self.path, format!("{TOO_LARGE}; the limit is {MAX_BODY_BYTES} bytes")),
            Fault::NoMemory(len) => no_memory(&self.path.display().to_string(), len),
        })
    }

    /// Returns the input if it holds rows: text, or JSON where rows may be JSON.
    ///
    /// # Errors
    /// Returns the errors of [`Input::text`].
    pub(crate) fn rows(self, wanted: ExpectedInput) -> Result<Input> {
        let is_json = self.content == Content::Json && wanted == ExpectedInput::Urls;
        if is_json { Ok(self) } else { self.text(wanted) }
    }

    /// Returns the error for an input with unsuitable content.
    pub fn refused(&self, wanted: ExpectedInput) -> Error {
        let packed = self.compression.map(|compression| format!(", compressed with {compression}")).unwrap_or_default();
        let (shown, input) = (self.path.display().to_string(), self.path.as_input());
        let path = input.display();
        if (self.content, wanted) == (Content::Set, ExpectedInput::Set) {
            let place = if packed.is_empty() { ", but not a regular file" } else { &*packed };
            return Error::unsuitable(format!("{path}: is a compiled set{place}; save it as an uncompressed file"));
        }
        let hint = self.hint(wanted, &shown);
        let what = match self.rows_in_text() {
            Some(rows) => rows,
            None if self.is_office() => "an Office document, such as an Excel workbook",
            None => self.content.describe(),
        };
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Error::unsuitable(format!("{path}: is {what}{packed}, not {}{hint}", wanted.describe()))
    }
}

/// Returns the advice for a file with URLs.
pub(crate) fn classify_hint(path: impl Display) -> String {
    format!("`reptile classify SET {path}` decides its URLs")
}

/// Reads and decompresses the robots.txt at a path. `-` is standard input.
///
/// # Errors
/// The errors of [`Input::one`].
pub fn read_robots(path: impl Into<Place>) -> Result<Vec<u8>> {
    read_input(Input::open(path)?.prefer_robots()?.one(ExpectedInput::Robots)?.0)
}

/// Reads a single body from an input with any content.
///
/// # Errors
/// Returns an error if the input is unreadable or larger than [`MAX_BODY_BYTES`].
pub fn read_input(mut input: Input) -> Result<Vec<u8>> {
    input.read()
}

/// Returns whether a line is a directive. In a table, it must be at a row's start, before any quote or CR, regardless
/// of how the table escapes quotes.
fn has_own_directive(text: &[u8], delimiter: Option<Delimiter>) -> bool {
    let Some(delimiter) = delimiter else { return has_directive(text) };
    let quoting = Quoting { may_be_plain: delimiter == Delimiter(b'\t'), ..Quoting::csv(delimiter.0) };
    let mut open: Option<Scan> = None;
    text.split_inclusive(|&byte| byte == b'\n').any(|line| {
        let starts_row = open.is_none();
        let mut scan = open.take().unwrap_or_default();
        open = scan.read(line, quoting).is_none().then(|| scan.next_piece());
        let start = memchr::memchr2(b'"', b'\r', line).map_or(line, |end| &line[..end]);
        starts_row && has_directive(start)
    })
}

/// Returns the bytes before the first line end, or no bytes without a line end.
fn first_line(bytes: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', bytes).map_or(b"", |end| &bytes[..end])
}
