//! Files of columns, in Parquet or Arrow IPC: [`ColumnWriter`]. Rows are collected in record batches of bounded size.
//!
//! The arrays have the same types as in the bindings. [`parquet`] encodes them as row groups, and [`ipc`] as messages.
//! The file is never read back, so it can be written to a pipe. [`text`] writes columns before rows of text.

mod encoder;
mod ipc;
mod parquet;
#[cfg(feature = "tables")]
mod text;

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use ::parquet::file::metadata::KeyValue;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{FieldRef, Metadata, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use reptile_records::batches::kept::KeptRows;

use crate::arrays::{array, field, mask_names};
use crate::data::{ColumnData, ColumnType};
use crate::error::{Error, ErrorKind};
use crate::kept::check_names;

use self::encoder::{Encoded, Encoder};
use self::parquet::RowGroups;
pub use self::parquet::{GROUP_BYTES, GROUP_TEXT_BYTES, MAX_GROUP_ROWS};
#[cfg(feature = "tables")]
pub use self::text::KeptText;

/// Number of rows at which a record batch is complete. A batch with kept columns has the rows of a batch that was read.
pub const BATCH_ROWS: usize = 1 << 16;

/// Bytes of decided texts at which a record batch is complete.
const BATCH_TEXT_BYTES: usize = 32 << 20;

/// A format of files with columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnFormat {
    /// Parquet.
    Parquet,
    /// An Arrow IPC file, which ends with a list of its record batches. Feather version 2 is the same.
    Arrow,
    /// An Arrow IPC stream, which can be read before it is complete.
    ArrowStream,
}

/// Writes columns to a file.
///
/// ```
/// use reptile::{Dialect, Robots};
/// use reptile_columns::{AnswerFormat, AnswerRows, Column, ColumnFormat, ColumnWriter, Decider, Layout, TableDecider};
/// use reptile_columns::columns_of;
/// use reptile_records::tables::{Table, source::Block};
///
/// let robots = Robots::parse("user-agent: *\ndisallow: /private\n", Dialect::google())?;
/// let agents = robots.agents(["GPTBot"])?;
/// let decider = Decider::new(agents, Layout::new(&[Column::Url, Column::Verdict])?)?;
/// let columns = columns_of(decider.layout(), decider.crawlers());
/// let mut file = ColumnWriter::new(Vec::new(), ColumnFormat::Parquet, columns);
/// let decider = TableDecider::new(decider, AnswerFormat::Parquet)?;
/// let mut answers = decider.answers();
/// decider.decide(&Table::list(), Block::Text(b"https://example.com/private/1\n"), &mut answers)?;
/// if let AnswerRows::Columns(columns) = &answers.rows {
///     file.push(columns)?;
/// }
/// file.finish()?;
/// assert!(file.into_output().ends_with(b"PAR1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ColumnWriter<W> {
    output: W,
    format: ColumnFormat,
    names: Vec<String>,
    /// Metadata entries that are given before the first batch.
    metadata: Vec<KeyValue>,
    /// Encodes into memory, so that output errors remain separate.
    encoder: Option<(Box<dyn Encoder>, SchemaRef)>,
    /// The current record batch.
    columns: Vec<ColumnData>,
    text_bytes: usize,
    /// The input's columns that precede these, in the same rows.
    kept: Option<KeptRows>,
    /// The kept columns of the next rows.
    front: Option<RecordBatch>,
    /// Whether each of these rows is written, if the output has only kept columns.
    selected: Vec<bool>,
}

impl<W: Write> ColumnWriter<W> {
    /// Prepares a file with the named columns. Nothing is written yet.
    #[must_use]
    pub fn new(output: W, format: ColumnFormat, columns: Vec<(String, ColumnType)>) -> ColumnWriter<W> {
        let metadata = mask_names(&columns).map(|(name, names)| KeyValue::new(name, names)).into_iter().collect();
        let (names, columns) = columns.into_iter().map(|(name, kind)| (name, ColumnData::new(kind))).unzip();
        let (encoder, text_bytes, kept, front, selected) = (None, 0, None, None, Vec::new());
        ColumnWriter { output, format, names, metadata, encoder, columns, text_bytes, kept, front, selected }
    }

    /// Writes the kept columns of the input, which has the same rows, before the named columns.
    #[must_use]
    pub fn keeping(self, kept: KeptRows) -> ColumnWriter<W> {
        ColumnWriter { kept: Some(kept), ..self }
    }

    /// Adds rows, as columns of the file's kinds. Each row takes the kept columns' next row.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, if the columns' kinds differ from the file's, or if a kept
    /// column has the name of another column or cannot be written in the format.
    pub fn push(&mut self, columns: &[ColumnData]) -> Result<(), Error> {
        let is_same = |(own, other): (&ColumnData, &ColumnData)| own.kind == other.kind;
        if columns.len() != self.columns.len() || !self.columns.iter().zip(columns).all(is_same) {
            return Err(Error::new(ErrorKind::Column, "the columns differ from the file's columns"));
        }
        let rows = columns.first().map_or(0, ColumnData::len);
        let mut start = 0;
        while start < rows {
            let room = self.front_rows()?.unwrap_or(BATCH_ROWS);
            let end = self.end_of_batch(columns, start..rows.min(start + room - self.rows()));
            self.text_bytes += text_bytes(columns, start..end);
            self.columns.iter_mut().zip(columns).for_each(|(own, other)| own.append(other, start..end));
            start = end;
            if self.rows() >= room || self.text_bytes >= BATCH_TEXT_BYTES {
                self.write_batch()?;
            }
        }
        Ok(())
    }

    /// Returns the end of the rows that belong to the current batch. The row that reaches the byte limit is its last.
    fn end_of_batch(&self, columns: &[ColumnData], rows: Range<usize>) -> usize {
        let is_full = |end| self.text_bytes + text_bytes(columns, rows.start..end) >= BATCH_TEXT_BYTES;
        if !is_full(rows.end) {
            return rows.end;
        }
        // The sizes grow with the rows, so the first row that reaches the limit is found by bisection.
        let (mut low, mut high) = (rows.start + 1, rows.end);
        while low < high {
            let middle = low.midpoint(high);
            if is_full(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Adds the kept columns' next rows, if selected, to a file without other columns.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if there are no kept columns or others.
    pub fn push_selected(&mut self, mut rows: &[bool]) -> Result<(), Error> {
        if !self.columns.is_empty() {
            return Err(Error::new(ErrorKind::Column, "the columns differ from the file's columns"));
        }
        while !rows.is_empty() {
            let room = self.front_rows()?.ok_or_else(no_kept_rows)?;
            let (now, later) = rows.split_at(rows.len().min(room - self.selected.len()));
            self.selected.extend_from_slice(now);
            rows = later;
            if self.selected.len() < room {
                continue;
            }
            let selected = BooleanArray::from(std::mem::take(&mut self.selected));
            let front = self.front.take().ok_or_else(no_kept_rows)?;
            let batch = filter_record_batch(&front, &selected)?;
            self.write(batch.columns().to_vec(), batch.num_rows())?;
        }
        Ok(())
    }

    /// Returns the number of rows that the next kept columns have, if columns are kept.
    fn front_rows(&mut self) -> Result<Option<usize>, Error> {
        let Some(kept) = &self.kept else { return Ok(None) };
        while self.front.as_ref().is_none_or(|front| front.num_rows() == 0) {
            self.front = Some(kept.next().ok_or_else(no_kept_rows)?);
        }
        Ok(self.front.as_ref().map(RecordBatch::num_rows))
    }

    /// Returns the number of rows in the current record batch.
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, ColumnData::len)
    }

    /// Writes the current record batch, with the kept columns of its rows.
    fn write_batch(&mut self) -> Result<(), Error> {
        let rows = self.rows();
        self.text_bytes = 0;
        let mut arrays = Vec::new();
        if let Some(front) = self.front.take() {
            arrays.extend_from_slice(front.slice(0, rows).columns());
            self.front = Some(front.slice(rows, front.num_rows() - rows)).filter(|front| front.num_rows() > 0);
        }
        for column in &mut self.columns {
            let empty = ColumnData::new(column.kind.clone());
            arrays.push(array(std::mem::replace(column, empty), None)?);
        }
        self.write(arrays, rows)
    }

    fn write(&mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<(), Error> {
        if rows == 0 {
            return Ok(());
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        self.encode(|encoder, schema| {
            encoder.write(&RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?)
        })
    }

    /// Encodes something, and writes the bytes that are complete.
    fn encode(&mut self, work: impl FnOnce(&mut dyn Encoder, &SchemaRef) -> Encoded) -> Result<(), Error> {
        let format = self.format;
        if self.encoder.is_none() {
            self.encoder = Some(self.start()?);
        }
        let Some((encoder, schema)) = &mut self.encoder else { return Ok(()) };
        let encoded = work(&mut **encoder, schema).and_then(|()| encoder.take());
        let bytes = encoded.map_err(|error| cannot(format, &*error))?;
        self.output.write_all(&bytes).map_err(Error::unwritable)
    }

    /// Creates the encoder, once the kept columns are known.
    fn start(&self) -> Result<(Box<dyn Encoder>, SchemaRef), Error> {
        let kept = self.kept.as_ref().map(|kept| kept.schema().ok_or_else(no_kept_rows)).transpose()?;
        let kept = kept.unwrap_or_else(|| Arc::new(Schema::empty()));
        let parquet = self.kept.as_ref().and_then(KeptRows::parquet);
        check_names(&kept.fields().iter().map(|field| field.name()).collect::<Vec<_>>(), &self.names)?;
        let decided: Vec<(&str, &ColumnType)> =
            self.names.iter().zip(&self.columns).map(|(name, column)| (name.as_str(), &column.kind)).collect();
        let mut metadata = match &parquet {
            Some(parquet) => parquet.metadata(&self.names.iter().map(String::as_str).collect::<Vec<_>>()),
            None => kept.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect(),
        };
        metadata.retain(|entry| !self.metadata.iter().any(|own| own.key == entry.key));
        metadata.extend_from_slice(&self.metadata);
        let fields = decided.iter().map(|(name, kind)| Arc::new(field(name, kind)));
        let fields: Vec<FieldRef> = kept.fields().iter().cloned().chain(fields).collect();
        let entries = metadata.iter().map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default()));
        let schema = Arc::new(Schema::new_with_metadata(fields, entries.collect::<Metadata>()));
        let encoder = match self.format {
            ColumnFormat::Parquet => RowGroups::new(&kept, parquet.as_deref(), &decided, metadata).map(boxed),
            ColumnFormat::Arrow => ipc::file(&schema).map(boxed),
            ColumnFormat::ArrowStream => ipc::stream(&schema).map(boxed),
        };
        Ok((encoder.map_err(|error| cannot(self.format, &*error))?, schema))
    }

    /// Adds a metadata entry. In Arrow IPC, it is in the schema before the first record batch, and in a file's footer
    /// after it. Returns whether it was added: a stream that has begun has no place for it.
    pub fn describe(&mut self, key: &str, value: &str) -> bool {
        let entry = KeyValue::new(key.to_owned(), value.to_owned());
        match &mut self.encoder {
            Some((encoder, _)) => encoder.describe(entry),
            None => {
                self.metadata.push(entry);
                true
            }
        }
    }

    /// Writes the rows that are still in memory as a row group of Parquet. Call it if no more rows follow for a while.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn end_group(&mut self) -> Result<(), Error> {
        self.write_batch()?;
        self.encode(|encoder, _| encoder.end_rows())
    }

    /// Ends a part of a table whose kept columns go on in another file. Writes the rows so far, and leaves the kept
    /// columns of later rows to the next writer. Only [`ColumnWriter::finish`] may follow.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn end_part(&mut self) -> Result<(), Error> {
        let selected = std::mem::take(&mut self.selected);
        if let Some(front) = self.front.take_if(|_| !selected.is_empty()) {
            let rows = selected.len();
            let batch = filter_record_batch(&front.slice(0, rows), &BooleanArray::from(selected))?;
            self.front = Some(front.slice(rows, front.num_rows() - rows));
            self.write(batch.columns().to_vec(), batch.num_rows())?;
        }
        self.end_group()?;
        if let Some((kept, front)) = self.kept.take().zip(self.front.take().filter(|front| front.num_rows() > 0)) {
            kept.put_back(front);
        }
        Ok(())
    }

    /// Writes the last rows, and the end: a footer, or a stream's marker. Until then, the output is incomplete. Call it
    /// once, after all rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if the kept columns have more rows.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.write_batch()?;
        if self.front.is_some() || self.kept.as_ref().is_some_and(|kept| kept.next().is_some()) {
            return Err(Error::new(ErrorKind::Column, "there are more kept rows than other ones"));
        }
        self.encode(|encoder, _| encoder.finish())?;
        self.output.flush().map_err(Error::unwritable)
    }

    /// Returns the output, for error messages.
    pub fn output(&self) -> &W {
        &self.output
    }

    /// Returns the output. It is complete after [`ColumnWriter::finish`].
    pub fn into_output(self) -> W {
        self.output
    }
}

fn boxed(encoder: impl Encoder + 'static) -> Box<dyn Encoder> {
    Box::new(encoder)
}

/// Returns the bytes of some rows' texts. The names in a list count as the longest one.
fn text_bytes(columns: &[ColumnData], rows: Range<usize>) -> usize {
    columns.iter().map(|column| column.text_bytes(rows.clone())).sum()
}

fn no_kept_rows() -> Error {
    Error::new(ErrorKind::Column, "there are more rows than kept ones")
}

fn cannot(format: ColumnFormat, error: &dyn std::error::Error) -> Error {
    let name = if format == ColumnFormat::Parquet { "Parquet" } else { "Arrow" };
    Error::new(ErrorKind::Column, format!("the columns cannot be written as {name}: {error}"))
}

#[cfg(test)]
mod tests {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use arrow_ipc::reader::StreamReader;
    use bytes::Bytes;

    use super::*;
    use crate::data::CellSink;

    /// Writes texts of one size in chunks, and returns the row counts of each record batch or row group.
    fn parts(format: ColumnFormat, texts: usize, len: usize, chunk: usize) -> Vec<usize> {
        let mut file = ColumnWriter::new(Vec::new(), format, vec![("text".into(), ColumnType::Text)]);
        let mut column = ColumnData::new(ColumnType::Text);
        for text in 1..=texts {
            column.cells().text(&vec![b'x'; len]);
            if text % chunk == 0 || text == texts {
                file.push(std::slice::from_ref(&column)).unwrap();
                column.clear();
            }
        }
        file.finish().unwrap();
        let bytes = file.into_output();
        if format == ColumnFormat::ArrowStream {
            return StreamReader::try_new(&bytes[..], None).unwrap().map(|batch| batch.unwrap().num_rows()).collect();
        }
        let file = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
        file.metadata().row_groups().iter().map(|group| group.num_rows() as usize).collect()
    }

    #[test]
    fn batches_and_row_groups_end_at_the_limits() {
        let (batch, group, long) = (BATCH_ROWS, MAX_GROUP_ROWS, 1 << 16);
        let longs = BATCH_TEXT_BYTES / long;
        let mut cases = 0;
        for (format, len, rows, expected) in [
            (ColumnFormat::ArrowStream, 1, batch - 1, vec![batch - 1]),
            (ColumnFormat::ArrowStream, 1, batch, vec![batch]),
            (ColumnFormat::ArrowStream, 1, batch + 1, vec![batch, 1]),
            (ColumnFormat::ArrowStream, long, longs - 1, vec![longs - 1]),
            (ColumnFormat::ArrowStream, long, longs, vec![longs]),
            (ColumnFormat::ArrowStream, long, longs + 1, vec![longs, 1]),
            (ColumnFormat::Parquet, 1, group - 1, vec![group - 1]),
            (ColumnFormat::Parquet, 1, group, vec![group]),
            (ColumnFormat::Parquet, 1, group + 1, vec![group, 1]),
        ] {
            // The result does not depend on the pushed chunks. Row groups consist of batches.
            let chunks = if format == ColumnFormat::Parquet { &[4096][..] } else { &[1000, 4096, usize::MAX] };
            for &chunk in chunks {
                assert_eq!(parts(format, rows, len, chunk), expected, "{format:?} {len} {rows} {chunk}");
                cases += 1;
            }
        }
        assert_eq!(cases, 21);
    }

    #[test]
    fn other_columns_are_an_error() {
        let mut file = ColumnWriter::new(Vec::new(), ColumnFormat::Parquet, vec![("text".into(), ColumnType::Text)]);
        for columns in [vec![], vec![ColumnData::new(ColumnType::Word)], vec![ColumnData::new(ColumnType::Text); 2]] {
            assert_eq!(file.push(&columns).unwrap_err().kind(), ErrorKind::Column);
        }
        assert!(file.push_selected(&[true]).is_err());
        // There are no kept columns to select.
        assert!(ColumnWriter::new(Vec::new(), ColumnFormat::Parquet, Vec::new()).push_selected(&[true]).is_err());
    }
}
