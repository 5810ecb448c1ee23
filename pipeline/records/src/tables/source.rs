//! A table's rows from any input: text in any format, or a Parquet file. [`Source`] opens it, and [`Rows`] reads it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::open::{self, Opening};
use super::{Format, Table};
use crate::lines::{self, Chunk, Chunks};
use crate::open::Input;
use crate::parquet::ParquetFile;
use crate::parquet::urls::{self, Splitting};
use crate::recognise::Content;
use crate::{Error, Result};

/// An input that is open, and whose rows were not looked at yet.
pub enum Source {
    /// Text.
    Text(Box<dyn Read + Send>),
    /// A Parquet file, and the location of its URLs.
    Parquet(ParquetFile, Splitting),
}

/// The rows of a table that are still to come.
pub enum Rows {
    /// Rows of text.
    Text(Box<Chunks<open::Rows>>),
    /// Rows of cells.
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
    /// Bytes that were read.
    pub fn byte_len(&self) -> usize {
        match self {
            Part::Text(chunk) => chunk.filled,
            Part::Cells(batch) => batch.byte_len(),
        }
    }

    /// Returns the whole rows, cut into blocks, each the work of one thread.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        match self {
            Part::Text(chunk) => chunk.blocks().into_iter().map(Block::Text).collect(),
            Part::Cells(batch) => batch.blocks().map(Block::Cells).collect(),
        }
    }
}

impl Source {
    /// Opens the input at a path; `-` is standard input, which is text.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, or is neither text nor Parquet in a file of its own.
    pub fn open(path: &Path, splitting: Splitting) -> Result<Source> {
        let is_file = path != Path::new("-") && fs::metadata(path).is_ok_and(|found| found.is_file());
        if is_file && is_parquet(&Input::open(path)?) {
            return Ok(Source::Parquet(ParquetFile::open(path)?, splitting));
        }
        let Splitting { is_split, absent_is_empty } = splitting;
        for (option, is_given) in [("--split-columns", is_split), ("--missing-columns", absent_is_empty)] {
            if is_given {
                return Err(Error::at(path, format!("{option}: is not a Parquet file")));
            }
        }
        Ok(Source::Text(lines::open_urls(path)?))
    }

    /// Finds the columns of the table.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, or does not have the wanted columns or the format.
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
                let (table, rows) = urls::Rows::open(file, &opening.wanted, splitting)?;
                Ok((table, Rows::Parquet(rows)))
            }
        }
    }
}

/// Returns whether an input is a Parquet file that can be read from its end on.
fn is_parquet(input: &Input) -> bool {
    input.content == Content::Parquet && input.packing.is_none() && input.is_regular
}

impl Rows {
    /// Returns the next rows, those of text in the memory of `buffer`; `None` at the end. `is_awaited` is as for
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
