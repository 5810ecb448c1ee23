//! Destinations for rows: plain text, or the columns in a Parquet file.

use std::io::Write;

use super::file::Output;
use super::parquet::{Kind, ParquetOutput};
use crate::error::Result;

/// A destination for rows.
pub enum Sink {
    /// Text rows, written unchanged.
    Text(Box<Output>),
    /// Columns in a Parquet file.
    Parquet(Box<ParquetOutput>),
}

impl Sink {
    /// Creates a text destination, or a Parquet file with these columns.
    ///
    /// # Errors
    /// Returns an error if a Parquet file would go to a terminal, or cannot be written.
    pub fn new(output: Output, columns: Option<Vec<(String, Kind)>>) -> Result<Sink> {
        match columns {
            None => Ok(Sink::Text(Box::new(output))),
            Some(columns) => Ok(Sink::Parquet(Box::new(ParquetOutput::new(output, columns)?))),
        }
    }

    /// Writes whole rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, rows: &[u8]) -> Result<()> {
        match self {
            Sink::Text(output) => {
                let written = output.write_all(rows).and_then(|()| output.flush());
                written.map_err(|error| output.failure(&error))
            }
            Sink::Parquet(output) => output.push(rows),
        }
    }

    /// Writes the trailer of a complete file. Called only after all rows were written, so that the output of a failed
    /// run to a pipe does not look complete.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(self) -> Result<Output> {
        match self {
            Sink::Text(output) => Ok(*output),
            Sink::Parquet(output) => output.finish(),
        }
    }
}
