//! A table's rows from any input: text in any format, a Parquet file, or Arrow IPC. [`Source`] opens the input, and
//! [`Rows`] reads it.
//!
//! ```
//! use bumpalo::Bump;
//! use reptile_records::tables::{open::Opening, source::{Block, Source}};
//!
//! let file = tempfile::NamedTempFile::new()?;
//! std::fs::write(file.path(), "url\tid\nhttps://example.com/\t1\nhttps://example.org/\t2\n")?;
//! let (table, mut rows) = Source::open(file.path())?.open_rows(&Opening::of(file.path()))?;
//! let mut count = 0;
//! while let Some(part) = rows.next(Vec::new(), &|| true)? {
//!     for block in part.blocks() {
//!         count += match block {
//!             Block::Text(block) => table.rows(block, &Bump::new()).count(),
//!             Block::Cells(block) => block.row_count(),
//!         };
//!     }
//! }
//! assert_eq!(count, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Read};

use super::open::{self, Opening};
use super::{Format, Table};
use crate::arrow;
use crate::batches::urls;
use crate::detect::Content;
use crate::lines::{Chunk, Chunks};
use crate::lists;
use crate::open::Input;
use crate::parquet::{self, ParquetFile};
use crate::place::Place;
use crate::{Error, Result};

/// An open input, before any row is read.
pub enum Source {
    /// Text.
    Text(Box<dyn Read + Send>),
    /// A Parquet file, and the location of its URLs.
    Parquet(ParquetFile),
    /// Arrow IPC, and the location of its URLs.
    Arrow(Box<Input>),
    /// A pipe, whose content is detected when it is read. The first bytes may arrive late, and other errors must not
    /// wait for them.
    Pipe(Place),
}

/// The remaining rows of a table.
pub enum Rows {
    /// Rows of text.
    Text(Box<Chunks<open::TableBytes>>),
    /// Rows of Parquet or Arrow IPC.
    Cells(Box<urls::UrlRows>),
}

/// A block of rows, the work of one thread.
#[derive(Clone, Copy)]
pub enum Block<'b> {
    /// Whole text rows.
    Text(&'b [u8]),
    /// Rows from Parquet or Arrow IPC.
    Cells(urls::BatchRows<'b>),
}

/// Rows that were read together.
pub enum Part {
    /// Rows of text.
    Text(Chunk),
    /// Rows of Parquet or Arrow IPC.
    Cells(urls::Batch),
}

impl Part {
    /// Returns the approximate number of bytes that were read.
    pub fn byte_len(&self) -> usize {
        match self {
            Part::Text(chunk) => chunk.filled,
            Part::Cells(batch) => batch.byte_len(),
        }
    }

    /// Returns the rows in blocks, each for one thread.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        match self {
            Part::Text(chunk) => chunk.blocks().into_iter().map(Block::Text).collect(),
            Part::Cells(batch) => batch.blocks().map(Block::Cells).collect(),
        }
    }
}

impl Source {
    /// Opens the input at a path. `-` is standard input. A pipe is only opened when it is read.
    ///
    /// # Errors
    /// Returns an error if the input cannot be opened, or if it is neither text, Arrow IPC nor an uncompressed
    /// Parquet file.
    pub fn open(path: impl Into<Place>) -> Result<Source> {
        let path = path.into();
        if path.is_standard() || path.is_special() {
            return Ok(Source::Pipe(path));
        }
        Source::of_input(Input::open(path)?)
    }

    /// Detects the content of an open input.
    fn of_input(input: Input) -> Result<Source> {
        let path = input.path.clone();
        if is_parquet(&input) {
            return Ok(Source::Parquet(ParquetFile::of(&path, input.into_ranged()?)?));
        }
        if input.content == Content::Arrow {
            return Ok(Source::Arrow(Box::new(input)));
        }
        Ok(Source::Text(lists::urls_of(input)?))
    }

    /// Finds the table's columns. Returns the table and its remaining rows.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, if a wanted column is missing, or if the format is not the user's.
    pub fn open_rows(self, opening: &Opening) -> Result<(Table, Rows)> {
        match self {
            Source::Text(_) if opening.kept.is_some() => {
                let message =
                    "is text, expected Arrow IPC, whose columns can be kept; --add-columns keeps rows of text";
                Err(Error::at(&opening.path, message))
            }
            Source::Text(source) => {
                let (table, rows) = opening.read(source)?;
                let ends = table.row_ends();
                Ok((table, Rows::Text(Box::new(Chunks::of_rows(rows, ends)))))
            }
            Source::Parquet(file) => {
                opening.check(Format::Parquet, "a Parquet file")?;
                let (table, rows) = parquet::open(file, opening)?;
                Ok((table, Rows::Cells(Box::new(rows))))
            }
            Source::Arrow(input) => {
                opening.check(Format::Arrow, "Arrow IPC")?;
                let (table, rows) = arrow::open(*input, opening)?;
                Ok((table, Rows::Cells(Box::new(rows))))
            }
            Source::Pipe(path) => Source::of_input(Input::open(&path)?)?.open_rows(opening),
        }
    }
}

impl Opening {
    /// Checks the user's options for a table in columns.
    ///
    /// # Errors
    /// Returns an error if the user gives another format, a delimiter or an escape.
    fn check(&self, format: Format, what: &str) -> Result<()> {
        if let Some(other) = self.format.filter(|&other| other != format) {
            return Err(Error::at(&self.path, format!("--input-format: is {what}, not {other}")));
        }
        if self.delimiter.is_some() {
            return Err(Error::at(&self.path, format!("--delimiter: is {what}, not CSV")));
        }
        if self.escape.is_some() {
            return Err(Error::at(&self.path, format!("--escape: is {what}, not CSV")));
        }
        Ok(())
    }
}

/// Returns whether an input is an uncompressed Parquet file or object, which can be read from its end.
fn is_parquet(input: &Input) -> bool {
    input.content == Content::Parquet && input.compression.is_none() && input.is_regular
}

impl Rows {
    /// Returns the next rows, or `None` at the end. Text rows are read into `buffer`. `is_awaited` is as for
    /// [`Chunks::next`].
    ///
    /// # Errors
    /// Returns an error if the input cannot be read.
    // Not generic, so that it is compiled and optimized with this crate.
    pub fn next(&mut self, buffer: Vec<u8>, is_awaited: &dyn Fn() -> bool) -> io::Result<Option<Part>> {
        match self {
            Rows::Text(chunks) => Ok(chunks.next(buffer, is_awaited)?.map(Part::Text)),
            Rows::Cells(rows) => Ok(rows.next_batch().map_err(io::Error::other)?.map(Part::Cells)),
        }
    }
}
