//! Arrow IPC from columns: [`ArrowWriter`], as a file or a stream. Rows are collected in record batches of bounded
//! size.
//!
//! The arrays have the same types as in the bindings. Verdicts are dictionaries, whose words are written once.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Field, FieldRef, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use reptile_records::batches::kept::KeptRows;

use crate::arrays::{array, field, mask_names};
use crate::data::{ColumnData, Kind};
use crate::error::{Error, ErrorKind};
use crate::kept::check_names;

/// Number of rows at which a record batch is written.
pub const BATCH_ROWS: usize = 1 << 16;

/// Text bytes in a column at which a record batch is written.
const BATCH_TEXT_BYTES: usize = 32 << 20;

/// A form of Arrow IPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowForm {
    /// A file, which ends with a list of its record batches. Feather version 2 is the same.
    File,
    /// A stream, which can be read before it is complete.
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
    /// The input's columns that precede these, in the same rows.
    kept: Option<KeptRows>,
    /// The kept columns of the current record batch, which has as many rows.
    front: Option<RecordBatch>,
    /// Whether each row of the current record batch is written, if the output has only kept columns.
    selected: Vec<bool>,
}

enum Encoder {
    File(Box<FileWriter<Vec<u8>>>, SchemaRef),
    Stream(Box<StreamWriter<Vec<u8>>>, SchemaRef),
}

impl Encoder {
    fn new(form: ArrowForm, schema: Schema) -> Result<Encoder, ArrowError> {
        let schema = Arc::new(schema);
        // A kept dictionary may grow, but a file cannot replace it.
        let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
        Ok(match form {
            ArrowForm::File => {
                let writer = FileWriter::try_new_with_options(Vec::new(), &schema, options)?;
                Encoder::File(Box::new(writer), schema)
            }
            ArrowForm::Stream => {
                let writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options)?;
                Encoder::Stream(Box::new(writer), schema)
            }
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
        let (front, selected) = (None, Vec::new());
        ArrowWriter { form, output, fields, metadata, encoder: None, columns, kept: None, front, selected }
    }

    /// Starts a file or a stream with the named columns, after the kept columns of the input, which has the same rows.
    #[must_use]
    pub fn with_kept(output: W, columns: Vec<(String, Kind)>, form: ArrowForm, kept: KeptRows) -> ArrowWriter<W> {
        ArrowWriter { kept: Some(kept), ..ArrowWriter::new(output, columns, form) }
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
            let end = rows.min(start + self.room()? - self.rows());
            self.columns.iter_mut().zip(columns).for_each(|(own, other)| own.append(other, start..end));
            start = end;
            let is_large = |column: &ColumnData| column.text_bytes() >= BATCH_TEXT_BYTES;
            let is_full = self.front.is_none() && self.columns.iter().any(is_large);
            if self.rows() >= self.room()? || is_full {
                self.write_batch()?;
            }
        }
        Ok(())
    }

    /// Adds the kept columns' next rows, if selected.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if there are no kept columns.
    pub fn push_selected(&mut self, mut rows: &[bool]) -> Result<(), Error> {
        while !rows.is_empty() {
            let room = self.room()?;
            let (now, later) = rows.split_at(rows.len().min(room - self.selected.len()));
            self.selected.extend_from_slice(now);
            rows = later;
            if self.selected.len() < room {
                continue;
            }
            let mask = BooleanArray::from(std::mem::take(&mut self.selected));
            let front = self.front.take().ok_or_else(no_kept_rows)?;
            let batch = filter_record_batch(&front, &mask).map_err(cannot)?;
            if batch.num_rows() > 0 {
                self.write(&batch)?;
            }
        }
        Ok(())
    }

    /// Returns the number of rows in the current record batch when it is complete.
    fn room(&mut self) -> Result<usize, Error> {
        let Some(kept) = &self.kept else { return Ok(BATCH_ROWS) };
        if self.front.is_none() {
            self.front = Some(kept.next().ok_or_else(no_kept_rows)?);
        }
        Ok(self.front.as_ref().map_or(0, RecordBatch::num_rows))
    }

    /// Returns the number of rows in the current record batch.
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, ColumnData::len)
    }

    /// Returns the encoder, and starts it with the schema if necessary.
    fn encoder(&mut self) -> Result<&mut Encoder, Error> {
        if self.encoder.is_none() {
            let kept = self.kept.as_ref().map(|kept| kept.schema().ok_or_else(no_kept_rows)).transpose()?;
            let mut metadata = kept.as_ref().map(|kept| kept.metadata().clone()).unwrap_or_default();
            metadata.extend(self.metadata.clone());
            let kept: Vec<FieldRef> = kept.iter().flat_map(|kept| kept.fields().iter().cloned()).collect();
            let names: Vec<&str> = kept.iter().map(|field| field.name().as_str()).collect();
            let written: Vec<&str> = self.fields.iter().map(|field| field.name().as_str()).collect();
            check_names(&names, &written)?;
            let fields = kept.into_iter().chain(self.fields.iter().cloned().map(Arc::new));
            let schema = Schema::new_with_metadata(fields.collect::<Vec<FieldRef>>(), metadata);
            self.encoder = Some(Encoder::new(self.form, schema).map_err(cannot)?);
        }
        self.encoder.as_mut().ok_or_else(|| Error::new(ErrorKind::Column, "the output was not started"))
    }

    /// Writes the collected rows as a record batch.
    fn write_batch(&mut self) -> Result<(), Error> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows()));
        let mut arrays = self.front.take().map(|front| front.columns().to_vec()).unwrap_or_default();
        let taken = self.columns.iter_mut().map(|column| {
            let empty = ColumnData::new(column.kind.clone());
            array(std::mem::replace(column, empty), None)
        });
        arrays.extend(taken.collect::<Result<Vec<_>, Error>>()?);
        let schema = self.encoder()?.schema();
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options).map_err(cannot)?;
        self.write(&batch)
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let form = self.form;
        let encoder = self.encoder()?;
        encoder.write(batch).map_err(|error| {
            let is_replacement = form == ArrowForm::File && error.to_string().contains("replacement");
            match is_replacement {
                true => {
                    Error::new(ErrorKind::Column, "a dictionary changes, which only a stream can have: write .arrows")
                }
                false => cannot(error),
            }
        })?;
        let bytes = encoder.take();
        self.output.write_all(&bytes).map_err(Error::unwritable)
    }

    /// Adds a metadata entry: to the schema before the first record batch is written, and to a file's footer after it.
    /// Returns whether it was added. A stream that has begun has no place for it.
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

fn no_kept_rows() -> Error {
    Error::new(ErrorKind::Column, "there are more rows than kept ones")
}

fn cannot(error: ArrowError) -> Error {
    Error::new(ErrorKind::Column, format!("the columns cannot be written as Arrow: {error}"))
}
