//! A table's rows from any input: text in any format, or a Parquet file. [`Source`] opens it, and [`Rows`] reads it.
//!
//! ```
//! use bumpalo::Bump;
//! use reptile_records::parquet::urls::Splitting;
//! use reptile_records::tables::{open::Opening, source::{Block, Source}};
//!
//! let file = tempfile::NamedTempFile::new()?;
//! std::fs::write(file.path(), "url\tid\nhttps://example.com/\t1\nhttps://example.org/\t2\n")?;
//! let (table, mut rows) = Source::open(file.path(), Splitting::default())?.open_rows(&Opening::of(file.path()))?;
//! let mut count = 0;
//! while let Some(part) = rows.next(Vec::new(), || true)? {
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

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::open::{self, Opening};
use super::{Format, Table};
use crate::detect::Content;
use crate::lines::{self, Chunk, Chunks};
use crate::open::Input;
use crate::parquet::ParquetFile;
use crate::parquet::urls::{self, Splitting};
use crate::{Error, Result};

/// An open input, before any row is read.
pub enum Source {
    /// Text.
    Text(Box<dyn Read + Send>),
    /// A Parquet file, and the location of its URLs.
    Parquet(ParquetFile, Splitting),
}

/// The remaining rows of a table.
pub enum Rows {
    /// Rows of text.
    Text(Box<Chunks<open::Rows>>),
    /// Rows of a Parquet file.
    Parquet(urls::Rows),
}

/// A block of rows, the work of one thread.
#[derive(Clone, Copy)]
pub enum Block<'b> {
    /// Whole text rows.
    Text(&'b [u8]),
    /// Rows from a Parquet file.
    Cells(urls::Block<'b>),
}

/// Rows that were read together.
pub enum Part {
    /// Rows of text.
    Text(Chunk),
    /// Rows of a Parquet file.
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
    /// Opens the input at a path. `-` is standard input, which is read as text.
    ///
    /// # Errors
    /// Returns an error if the input cannot be opened, if it is neither text nor an uncompressed Parquet file, or if an
    /// option for Parquet files is given with text.
    pub fn open(path: &Path, splitting: Splitting) -> Result<Source> {
        let is_file = path != Path::new("-") && fs::metadata(path).is_ok_and(|found| found.is_file());
        let input = is_file.then(|| Input::open(path)).transpose()?;
        let input = match input {
            Some(input) if is_parquet(&input) => {
                return Ok(Source::Parquet(ParquetFile::of(path, input.into_file()?)?, splitting));
            }
            input => input,
        };
        let Splitting { is_split, absent_is_empty } = splitting;
        for (option, is_given) in [("--split-columns", is_split), ("--missing-columns", absent_is_empty)] {
            if is_given {
                return Err(Error::at(path, format!("{option}: is not a Parquet file")));
            }
        }
        Ok(Source::Text(match input {
            Some(input) => lines::urls_of(input)?,
            None => lines::open_urls(path)?,
        }))
    }

    /// Finds the table's columns. Returns the table and its remaining rows.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, if a wanted column is missing, or if the format is not the user's.
    pub fn open_rows(self, opening: &Opening) -> Result<(Table, Rows)> {
        match self {
            Source::Text(source) => {
                let (table, rows) = opening.read(source)?;
                let ends = table.row_ends();
                Ok((table, Rows::Text(Box::new(Chunks::of_rows(rows, ends)))))
            }
            Source::Parquet(file, splitting) => {
                if let Some(format) = opening.format.filter(|&format| format != Format::Parquet) {
                    let message = format!("--input-format: is a Parquet file, not {format}");
                    return Err(Error::at(&opening.path, message));
                }
                if opening.delimiter.is_some() {
                    return Err(Error::at(&opening.path, "--delimiter: is a Parquet file, not CSV"));
                }
                let (table, rows) = urls::Rows::open(file, opening, splitting)?;
                Ok((table, Rows::Parquet(rows)))
            }
        }
    }
}

/// Returns whether an input is an uncompressed Parquet file on disk, which can be read from its end.
fn is_parquet(input: &Input) -> bool {
    input.content == Content::Parquet && input.compression.is_none() && input.is_regular
}

impl Rows {
    /// Returns the next rows, or `None` at the end. Text rows are read into `buffer`. `is_awaited` is as for
    /// [`Chunks::next`].
    ///
    /// # Errors
    /// Returns an error if the input cannot be read.
    pub fn next(&mut self, buffer: Vec<u8>, is_awaited: impl Fn() -> bool) -> io::Result<Option<Part>> {
        match self {
            Rows::Text(chunks) => Ok(chunks.next(buffer, is_awaited)?.map(Part::Text)),
            Rows::Parquet(rows) => Ok(rows.next_batch().map_err(io::Error::other)?.map(Part::Cells)),
        }
    }
}
