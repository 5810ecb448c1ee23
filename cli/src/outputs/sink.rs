//! Where rows go: to a text as they are, or into the columns of a Parquet file.

use std::io::Write;

use super::file::Output;
use super::parquet::{Kind, ParquetOutput};
use crate::error::Result;

/// Takes rows.
pub enum Sink {
    /// As text, as they are.
    Text(Box<Output>),
    /// As columns of a Parquet file.
    Parquet(Box<ParquetOutput>),
}

impl Sink {
    /// Rows of text, or of a Parquet file with these columns.
    ///
    /// # Errors
    /// If a Parquet file would go to a terminal, or cannot be written.
    pub fn new(output: Output, columns: Option<Vec<(String, Kind)>>) -> Result<Sink> {
        match columns {
            None => Ok(Sink::Text(Box::new(output))),
            Some(columns) => Ok(Sink::Parquet(Box::new(ParquetOutput::new(output, columns)?))),
        }
    }

    /// Writes whole rows.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write(&mut self, rows: &[u8]) -> Result<()> {
        match self {
            Sink::Text(output) => {
                let written = output.write_all(rows).and_then(|()| output.flush());
                written.map_err(|error| output.failure(&error))
            }
            Sink::Parquet(output) => output.push(rows),
        }
    }

    /// Writes what only a whole file has: called when all rows were written, so that what a failed run has written to a pipe
    /// does not pass for whole.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn finish(self) -> Result<Output> {
        match self {
            Sink::Text(output) => Ok(*output),
            Sink::Parquet(output) => output.finish(),
        }
    }
}
