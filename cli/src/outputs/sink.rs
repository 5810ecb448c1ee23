//! Destinations for rows: text, with or without kept columns, or columns in Parquet or Arrow IPC.

use std::io::{self, Write};

use reptile_columns::{AnswerFormat, AnswerRows, ColumnFormat, ColumnType, ColumnWriter, Error, KeptText};
use reptile_records::batches::kept::KeptRows;

use super::file::Output;
use crate::error::{Failure, Result};

/// A destination for rows.
pub enum Sink {
    /// Text rows, written unchanged.
    Text(Box<Output>),
    /// Text rows after kept columns of the input.
    Kept(Box<(Output, KeptText)>),
    /// Columns in Parquet or Arrow IPC.
    Columns(Box<ColumnWriter<Output>>),
}

impl Sink {
    /// Creates a destination for a format: text, or one with these columns. Those that are kept from the input precede.
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
                let Some(kept) = kept else { return Ok(Sink::Text(Box::new(output))) };
                // CSV has every character of a kept text.
                output.pass_bytes_on();
                return Ok(Sink::Kept(Box::new((output, KeptText::new(format, kept)))));
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

    /// Writes a header before the first row, unless it is empty. Columns have no header line.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write_header(&mut self, header: &[u8]) -> Result<()> {
        match self {
            Sink::Kept(kept) => write_text(&mut kept.0, header),
            _ => self.write(&AnswerRows::of_text(header)),
        }
    }

    /// Writes whole rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, rows: &AnswerRows) -> Result<()> {
        match (self, rows) {
            (Sink::Text(output), AnswerRows::Text(text)) => write_text(output, text.as_bytes()),
            (Sink::Kept(kept), AnswerRows::Text(text)) => {
                let (output, columns) = &mut **kept;
                let joined = columns.join(text.as_bytes()).map_err(|error| failure(output, error))?;
                write_text(output, &joined)
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
            Sink::Kept(kept) => {
                kept.1.end_part();
                Ok(())
            }
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
            Sink::Kept(kept) => Ok(kept.0),
            Sink::Columns(mut file) => match file.finish() {
                Ok(()) => Ok(file.into_output()),
                Err(error) => Err(failure(file.output(), error)),
            },
        }
    }
}

/// Writes text that readers of the output should see now.
fn write_text(output: &mut Output, text: &[u8]) -> Result<()> {
    let written = output.write_all(text).and_then(|()| output.flush());
    written.map_err(|error| output.failure(&error))
}

/// Converts an error to a failure that names the output if that cannot be written.
fn failure(output: &Output, error: Error) -> Failure {
    match error.output() {
        Some(error) => output.failure(&io::Error::new(error.kind(), error.to_string())),
        None => Failure::new(error),
    }
}
