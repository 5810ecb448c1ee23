//! Destinations for rows: plain text, or columns in Parquet or Arrow IPC.

use std::io::{self, Write};

use reptile_columns::{ArrowForm, ArrowWriter, Error, Format, Kind, ParquetWriter, Rows};
use reptile_records::batches::kept::KeptRows;
use reptile_records::parquet;
use reptile_records::tables;

use super::file::Output;
use crate::error::{Failure, Result};

/// The columns of the input that an output keeps.
pub enum Kept {
    /// Columns of a Parquet file.
    Parquet(parquet::kept::Kept),
    /// Columns of Arrow record batches.
    Arrow(KeptRows),
}

impl Kept {
    /// Returns the format of the table with these columns.
    pub fn table(&self) -> tables::Format {
        match self {
            Kept::Parquet(_) => tables::Format::Parquet,
            Kept::Arrow(_) => tables::Format::Arrow,
        }
    }

    fn into_parquet(self) -> Option<parquet::kept::Kept> {
        match self {
            Kept::Parquet(kept) => Some(kept),
            Kept::Arrow(_) => None,
        }
    }
}

/// A destination for rows.
pub enum Sink {
    /// Text rows, written unchanged.
    Text(Box<Output>),
    /// Columns in a Parquet file.
    Parquet(Box<ParquetWriter<Output>>),
    /// Columns in Arrow IPC.
    Arrow(Box<ArrowWriter<Output>>),
}

impl Sink {
    /// Creates a destination for a format: text, or one with these columns.
    ///
    /// # Errors
    /// Returns an error if columns would go to a terminal.
    pub fn new(output: Output, format: Format, columns: Vec<(String, Kind)>) -> Result<Sink> {
        if !format.is_columnar() {
            return Ok(Sink::Text(Box::new(output)));
        }
        Sink::of_columns(output, format, columns, None)
    }

    /// Creates a destination for columns after those that are kept from the input.
    ///
    /// # Errors
    /// Returns an error if columns would go to a terminal, or if two columns have one name.
    pub fn keeping(output: Output, format: Format, columns: Vec<(String, Kind)>, kept: Kept) -> Result<Sink> {
        Sink::of_columns(output, format, columns, Some(kept))
    }

    fn of_columns(
        mut output: Output,
        format: Format,
        columns: Vec<(String, Kind)>,
        kept: Option<Kept>,
    ) -> Result<Sink> {
        // Standard output escapes terminal control characters unless raw output is enabled.
        if !output.pass_bytes_on() {
            let message = "standard output is a terminal; name a file with --output";
            return Err(Failure::new(format!("--format {}: {message}", format.name())));
        }
        let form = if format == Format::ArrowStream { ArrowForm::Stream } else { ArrowForm::File };
        Ok(match (format, kept) {
            (Format::Arrow | Format::ArrowStream, None) => {
                Sink::Arrow(Box::new(ArrowWriter::new(output, columns, form)))
            }
            (_, Some(Kept::Arrow(kept))) => Sink::Arrow(Box::new(ArrowWriter::with_kept(output, columns, form, kept))),
            (_, kept) => {
                let kept = kept.and_then(Kept::into_parquet);
                Sink::Parquet(Box::new(ParquetWriter::with_kept(output, columns, kept).map_err(Failure::new)?))
            }
        })
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
            (Sink::Arrow(file), Rows::Columns(columns)) => {
                file.push(columns).map_err(|error| failure(file.output(), error))
            }
            (Sink::Parquet(file), Rows::Selected(rows)) => {
                file.push_selected(rows).map_err(|error| failure(file.output(), error))
            }
            (Sink::Arrow(file), Rows::Selected(rows)) => {
                file.push_selected(rows).map_err(|error| failure(file.output(), error))
            }
            // Columns have no header line.
            (Sink::Parquet(_) | Sink::Arrow(_), Rows::Text(text)) if text.as_bytes().is_empty() => Ok(()),
            _ => Err(Failure::new("internal error: rows in another format than the output's; please report it")),
        }
    }

    /// Adds an entry to Parquet or Arrow metadata. Has no effect on text, or on an Arrow stream that has begun, because
    /// its schema comes first.
    pub fn describe(&mut self, key: &str, value: &str) {
        match self {
            Sink::Text(_) => {}
            Sink::Parquet(file) => file.describe(key, value),
            Sink::Arrow(file) => {
                file.describe(key, value);
            }
        }
    }

    /// Writes rows that are still in memory, because no more rows follow for a while.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn end_rows(&mut self) -> Result<()> {
        match self {
            Sink::Parquet(file) => file.end_group().map_err(|error| failure(file.output(), error)),
            Sink::Text(_) | Sink::Arrow(_) => Ok(()),
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
            Sink::Arrow(mut file) => match file.finish() {
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
