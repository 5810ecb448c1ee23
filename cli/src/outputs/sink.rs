//! Destinations for rows: plain text, or columns in Parquet or Arrow IPC.

use std::io::{self, Write};

use reptile_columns::{AnswerFormat, AnswerRows, ColumnFormat, ColumnType, ColumnWriter, Error};
use reptile_records::batches::kept::KeptRows;

use super::file::Output;
use crate::error::{Failure, Result};

/// A destination for rows.
pub enum Sink {
    /// Text rows, written unchanged.
    Text(Box<Output>),
    /// Columns in Parquet or Arrow IPC.
    Columns(Box<ColumnWriter<Output>>),
}

impl Sink {
    /// Creates a destination for a format: text, or one with these columns, after those that are kept from the input.
    ///
    /// # Errors
    /// Returns an error if columns would go to a terminal.
    pub fn new(
        mut output: Output,
        format: AnswerFormat,
        columns: Vec<(String, ColumnType)>,
        kept: Option<KeptRows>,
    ) -> Result<Sink> {
        let column_format = match format {
            AnswerFormat::Tsv | AnswerFormat::Csv | AnswerFormat::Delimited(_) | AnswerFormat::Jsonl => {
                return Ok(Sink::Text(Box::new(output)));
            }
            AnswerFormat::Parquet => ColumnFormat::Parquet,
            AnswerFormat::Arrow => ColumnFormat::Arrow,
            AnswerFormat::ArrowStream => ColumnFormat::ArrowStream,
        };
        // Standard output escapes terminal control characters unless raw output is enabled.
        if !output.pass_bytes_on() {
            let message = "standard output is a terminal; name a file with --output";
            return Err(Failure::new(format!("--format {}: {message}", format.name())));
        }
        let file = ColumnWriter::new(output, column_format, columns);
        Ok(Sink::Columns(Box::new(match kept {
            Some(kept) => file.keeping(kept),
            None => file,
        })))
    }

    /// Writes whole rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, rows: &AnswerRows) -> Result<()> {
        match (self, rows) {
            (Sink::Text(output), AnswerRows::Text(text)) => {
                let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
                written.map_err(|error| output.failure(&error))
            }
            (Sink::Columns(file), AnswerRows::Columns(columns)) => {
                file.push(columns).map_err(|error| failure(file.output(), error))
            }
            (Sink::Columns(file), AnswerRows::Selected(rows)) => {
                file.push_selected(rows).map_err(|error| failure(file.output(), error))
            }
            // Columns have no header line.
            (Sink::Columns(_), AnswerRows::Text(text)) if text.as_bytes().is_empty() => Ok(()),
            _ => Err(Failure::new("internal error: rows in another format than the output's; please report it")),
        }
    }

    /// Adds an entry to Parquet or Arrow metadata. Has no effect on text, or on an Arrow stream that has begun, because
    /// its schema comes first.
    pub fn describe(&mut self, key: &str, value: &str) {
        if let Sink::Columns(file) = self {
            file.describe(key, value);
        }
    }

    /// Writes rows that are still in memory, because later rows go to another output.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn end_part(&mut self) -> Result<()> {
        match self {
            Sink::Text(_) => Ok(()),
            Sink::Columns(file) => file.end_part().map_err(|error| failure(file.output(), error)),
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
            Sink::Columns(mut file) => match file.finish() {
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
