//! Arrow IPC from columns: [`ArrowWriter`], as a file or a stream. Rows are collected in record batches of bounded size.
//!
//! The arrays have the same types as in the bindings. Verdicts are dictionaries, whose words are written once.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::arrays::{array, field, mask_names};
use crate::data::{ColumnData, Kind};
use crate::error::{Error, ErrorKind};

/// Number of rows at which a record batch is written.
pub const BATCH_ROWS: usize = 1 << 16;

/// Text bytes in a column at which a record batch is written.
const BATCH_TEXT_BYTES: usize = 32 << 20;

/// A form of Arrow IPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowForm {
    /// A file, which ends with a list of its record batches. Feather version 2 is the same.
    File,
    /// A stream, whose reader can begin before it is complete.
    Stream,
}

/// Writes columns as Arrow IPC.
///
/// ```
/// use reptile::{Dialect, Robots};
/// use reptile_columns::{Answers, ArrowForm, ArrowWriter, Column, Decider, Format, Layout, Rows, TableDecider, columns_of};
/// use reptile_records::tables::{Table, source::Block};
///
/// let robots = Robots::parse("user-agent: *\ndisallow: /private\n", Dialect::google())?;
/// let decider = Decider::new(robots.agents(["GPTBot"])?, Layout::new(&[Column::Url, Column::Verdict])?)?;
/// let columns = columns_of(decider.layout(), decider.crawlers());
/// let mut file = ArrowWriter::new(Vec::new(), columns, ArrowForm::File);
/// let decider = TableDecider::new(decider, Format::Arrow)?;
/// let mut answers = decider.answers();
/// decider.decide(&Table::list(), Block::Text(b"https://example.com/private/1\n"), &mut answers)?;
/// if let Rows::Columns(columns) = &answers.rows {
///     file.push(columns)?;
/// }
/// file.finish()?;
/// assert!(file.into_output().ends_with(b"ARROW1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArrowWriter<W> {
    form: ArrowForm,
    output: W,
    fields: Vec<Field>,
    /// Entries for the schema's metadata.
    metadata: HashMap<String, String>,
    /// Encodes into memory, so that output errors remain separate. It begins with the schema and its metadata.
    encoder: Option<Encoder>,
    /// The current record batch.
    columns: Vec<ColumnData>,
}

enum Encoder {
    File(Box<FileWriter<Vec<u8>>>, SchemaRef),
    Stream(Box<StreamWriter<Vec<u8>>>, SchemaRef),
}

impl Encoder {
    fn new(form: ArrowForm, schema: Schema) -> Result<Encoder, ArrowError> {
        let schema = Arc::new(schema);
        Ok(match form {
            ArrowForm::File => Encoder::File(Box::new(FileWriter::try_new(Vec::new(), &schema)?), schema),
            ArrowForm::Stream => Encoder::Stream(Box::new(StreamWriter::try_new(Vec::new(), &schema)?), schema),
        })
    }

    fn schema(&self) -> SchemaRef {
        match self {
            Encoder::File(_, schema) | Encoder::Stream(_, schema) => Arc::clone(schema),
        }
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Encoder::File(writer, _) => writer.write(batch),
            Encoder::Stream(writer, _) => writer.write(batch),
        }
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        match self {
            Encoder::File(writer, _) => writer.finish(),
            Encoder::Stream(writer, _) => writer.finish(),
        }
    }

    /// Returns the bytes encoded since the last call.
    fn take(&mut self) -> Vec<u8> {
        match self {
            Encoder::File(writer, _) => std::mem::take(writer.get_mut()),
            Encoder::Stream(writer, _) => std::mem::take(writer.get_mut()),
        }
    }
}

impl<W: Write> ArrowWriter<W> {
    /// Starts a file or a stream with the named columns. Nothing is written yet.
    #[must_use]
    pub fn new(output: W, columns: Vec<(String, Kind)>, form: ArrowForm) -> ArrowWriter<W> {
        let fields = columns.iter().map(|(name, kind)| field(name, kind)).collect();
        let metadata = mask_names(&columns).into_iter().collect();
        let columns = columns.into_iter().map(|(_, kind)| ColumnData::new(kind)).collect();
        ArrowWriter { form, output, fields, metadata, encoder: None, columns }
    }

    /// Adds rows, as columns of the writer's kinds.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if the columns' kinds differ from the writer's.
    pub fn push(&mut self, columns: &[ColumnData]) -> Result<(), Error> {
        let is_same = |(own, other): (&ColumnData, &ColumnData)| own.kind == other.kind;
        if columns.len() != self.columns.len() || !self.columns.iter().zip(columns).all(is_same) {
            return Err(Error::new(ErrorKind::Column, "the columns differ from the output's columns"));
        }
        let rows = columns.first().map_or(0, ColumnData::len);
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + BATCH_ROWS - self.rows());
            self.columns.iter_mut().zip(columns).for_each(|(own, other)| own.append(other, start..end));
            start = end;
            let is_large = |column: &ColumnData| column.text_bytes() >= BATCH_TEXT_BYTES;
            if self.rows() >= BATCH_ROWS || self.columns.iter().any(is_large) {
                self.write_batch()?;
            }
        }
        Ok(())
    }

    /// Returns the number of rows in the current record batch.
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, ColumnData::len)
    }

    /// Returns the encoder, and starts it with the schema if necessary.
    fn encoder(&mut self) -> Result<&mut Encoder, Error> {
        if self.encoder.is_none() {
            let schema = Schema::new_with_metadata(self.fields.clone(), self.metadata.clone());
            self.encoder = Some(Encoder::new(self.form, schema).map_err(cannot)?);
        }
        self.encoder.as_mut().ok_or_else(|| Error::new(ErrorKind::Column, "the output was not started"))
    }

    /// Writes the collected rows as a record batch.
    fn write_batch(&mut self) -> Result<(), Error> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows()));
        let taken = self.columns.iter_mut().map(|column| {
            let empty = ColumnData::new(column.kind.clone());
            array(std::mem::replace(column, empty), None)
        });
        let arrays = taken.collect::<Result<Vec<_>, Error>>()?;
        let encoder = self.encoder()?;
        let batch = RecordBatch::try_new_with_options(encoder.schema(), arrays, &options).map_err(cannot)?;
        encoder.write(&batch).map_err(cannot)?;
        let bytes = encoder.take();
        self.output.write_all(&bytes).map_err(Error::unwritable)
    }

    /// Adds an entry to the metadata: of the schema before the first record batch is written, and of a file's footer
    /// after that. Returns whether it was added; a stream that has begun has no place for it.
    pub fn describe(&mut self, key: &str, value: &str) -> bool {
        match &mut self.encoder {
            None => drop(self.metadata.insert(key.to_owned(), value.to_owned())),
            Some(Encoder::File(writer, _)) => writer.write_metadata(key, value),
            Some(Encoder::Stream(..)) => return false,
        }
        true
    }

    /// Writes the last record batch, and the end: a stream's marker, or a file's footer. Until then, the output is
    /// incomplete. Call it once, after all rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.rows() > 0 {
            self.write_batch()?;
        }
        let encoder = self.encoder()?;
        encoder.finish().map_err(cannot)?;
        let bytes = encoder.take();
        self.output.write_all(&bytes).and_then(|()| self.output.flush()).map_err(Error::unwritable)
    }

    /// Returns the output, for error messages.
    pub fn output(&self) -> &W {
        &self.output
    }

    /// Returns the output. It is complete after [`ArrowWriter::finish`].
    pub fn into_output(self) -> W {
        self.output
    }
}

fn cannot(error: ArrowError) -> Error {
    Error::new(ErrorKind::Column, format!("the columns cannot be written as Arrow: {error}"))
}
