//! Opens lists and tables with a row on each line. A sitemap in XML is a list of URLs.
//!
//! ```
//! use std::io::Read;
//!
//! let file = tempfile::NamedTempFile::new()?;
//! let sitemap = "<?xml version='1.0'?><urlset><url><loc>https://example.com/</loc></url></urlset>";
//! std::fs::write(file.path(), sitemap)?;
//! let mut urls = String::new();
//! reptile_records::lists::open(file.path())?.read_to_string(&mut urls)?;
//! assert_eq!(urls, "https://example.com/\n");
//! assert!(reptile_records::lists::open_table(file.path()).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Read};

use crate::Result;
use crate::detect::{Content, ExpectedInput};
use crate::open::Input;
use crate::place::Place;
use crate::sitemap::lines_of;

/// Opens and decompresses a line list. `-` is standard input.
///
/// # Errors
/// Returns an error if the input cannot be opened or is not text.
pub fn open(path: impl Into<Place>) -> Result<Box<dyn Read + Send>> {
    open_as(path.into(), ExpectedInput::List)
}

/// Reads a URL list or table from an open input.
///
/// # Errors
/// Returns an error if the input is not text.
pub(crate) fn urls_of(input: Input) -> Result<Box<dyn Read + Send>> {
    source_of(input, ExpectedInput::Urls)
}

/// Opens a table with one row per line like [`open`].
///
/// # Errors
/// Returns the errors of [`open`].
pub fn open_table(path: impl Into<Place>) -> Result<Box<dyn Read + Send>> {
    open_as(path.into(), ExpectedInput::Table)
}

/// Returns an input's lines. A sitemap in XML is a list of URLs.
fn source_of(input: Input, wanted: ExpectedInput) -> Result<Box<dyn Read + Send>> {
    let is_sitemap = input.content == Content::Xml && matches!(wanted, ExpectedInput::List | ExpectedInput::Urls);
    match is_sitemap {
        true => Ok(Box::new(lines_of(input))),
        false => Ok(Box::new(input.rows(wanted)?.into_source())),
    }
}

fn open_as(path: Place, wanted: ExpectedInput) -> Result<Box<dyn Read + Send>> {
    if path.is_standard() || path.is_special() {
        return Ok(Box::new(PipedList { path, wanted, source: None }));
    }
    source_of(Input::open(path)?, wanted)
}

/// A list from a pipe, whose content is detected at the first read. The first bytes may arrive late, and other errors
/// in the command must not wait for them.
struct PipedList {
    path: Place,
    wanted: ExpectedInput,
    source: Option<Box<dyn Read + Send>>,
}

impl Read for PipedList {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(source) = &mut self.source {
            return source.read(buffer);
        }
        let source = Input::open(&self.path).and_then(|input| source_of(input, self.wanted));
        self.source.insert(source.map_err(io::Error::other)?).read(buffer)
    }
}
