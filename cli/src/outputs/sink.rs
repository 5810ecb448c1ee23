//! Destinations for rows: plain text, or the columns in a Parquet file.

use std::io::{self, Write};

use reptile_columns::{Error, Kind, ParquetWriter, Rows};
use reptile_records::parquet::kept::Kept;

use super::file::Output;
use crate::error::{Failure, Result};

/// A destination for rows.
pub enum Sink {
    /// Text rows, written unchanged.
    Text(Box<Output>),
    /// Columns in a Parquet file.
    Parquet(Box<ParquetWriter<Output>>),
}

impl Sink {
    /// Creates a text destination, or a Parquet file with these columns.
    ///
    /// # Errors
    /// Returns an error if a Parquet file would go to a terminal.
    pub fn new(output: Output, columns: Option<Vec<(String, Kind)>>) -> Result<Sink> {
        match columns {
            Some(columns) => Sink::parquet(output, columns, None),
            None => Ok(Sink::Text(Box::new(output))),
        }
    }

    /// Creates a Parquet file with these columns, after the columns that are kept from another file.
    ///
    /// # Errors
    /// Returns an error if the file would go to a terminal, or if two columns have one name.
    pub fn parquet(mut output: Output, columns: Vec<(String, Kind)>, kept: Option<Kept>) -> Result<Sink> {
        // Standard output escapes terminal control characters unless raw output is enabled.
        if !output.pass_bytes_on() {
            return Err(Failure::new("--format parquet: standard output is a terminal; name a file with --output"));
        }
        Ok(Sink::Parquet(Box::new(ParquetWriter::with_kept(output, columns, kept).map_err(Failure::new)?)))
    }

    /// Writes whole rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, rows: &Rows) -> Result<()> {
        match (self, rows) {
            (Sink::Text(output), Rows::Text(text)) => {
                let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
                written.map_err(|error| output.failure(&error))
            }
            (Sink::Parquet(file), Rows::Columns(columns)) => {
                file.push(columns).map_err(|error| failure(file.output(), error))
            }
            (Sink::Parquet(file), Rows::Selected(rows)) => {
                file.push_selected(rows).map_err(|error| failure(file.output(), error))
            }
            // A Parquet file has no header line.
            (Sink::Parquet(_), Rows::Text(text)) if text.as_bytes().is_empty() => Ok(()),
            _ => Err(Failure::new("internal error: rows in another format than the output's; please report it")),
        }
    }

    /// Adds an entry to a Parquet file's metadata. Text has none.
    pub fn describe(&mut self, key: &str, value: &str) {
        if let Sink::Parquet(file) = self {
            file.describe(key, value);
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
            Sink::Parquet(mut file) => match file.finish() {
                Ok(()) => Ok(file.into_output()),
                Err(error) => Err(failure(file.output(), error)),
            },
        }
    }
}

/// Converts an error to a failure that names the output if that cannot be written.
fn failure(output: &Output, error: Error) -> Failure {
    match error.output() {
        Some(error) => output.failure(&io::Error::new(error.kind(), error.to_string())),
        None => Failure::new(error),
    }
}
