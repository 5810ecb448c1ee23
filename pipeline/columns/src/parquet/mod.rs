//! A Parquet file of columns: [`ParquetWriter`]. Rows are collected in row groups of bounded size.
//!
//! Texts are UTF-8, repeated texts are dictionary-encoded, and columns that may be empty contain nulls. Another Parquet
//! file's columns can be kept before the others ([`kept`]). [`chunks`] encodes columns, and [`hybrid`] encodes small
//! numbers. The file is never read back, so it can be written to a pipe.

mod chunks;
mod hybrid;
mod kept;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use reptile_records::parquet::kept::Kept;

use crate::data::{ColumnData, Kind, Values, words_of};
use crate::error::{Error, ErrorKind};
use crate::kept::check_names;
use chunks::{Chunk, ZSTD_LEVEL, encode};
use kept::KeptWriter;

pub use kept::KEPT_GROUP_BYTES;

/// Maximum number of rows per row group: similar to DuckDB's, and enough to make dictionaries worthwhile.
pub const MAX_GROUP_ROWS: usize = 1 << 18;

/// Cell bytes at which a row group is written. A text's length counts as 4 bytes.
pub const GROUP_BYTES: usize = 32 << 20;

/// Writes columns to a Parquet file.
///
/// ```
/// use reptile::{Dialect, Robots};
/// use reptile_columns::{Answers, Column, Decider, Format, Layout, ParquetWriter, Rows, TableDecider, columns_of};
/// use reptile_records::tables::{Table, source::Block};
///
/// let robots = Robots::parse("user-agent: *\ndisallow: /private\n", Dialect::google())?;
/// let agents = robots.agents(["GPTBot"])?;
/// let decider = Decider::new(agents, Layout::new(&[Column::Url, Column::Verdict])?)?;
/// let columns = columns_of(decider.layout(), decider.crawlers());
/// let mut file = ParquetWriter::new(Vec::new(), columns)?;
/// let decider = TableDecider::new(decider, Format::Parquet)?;
/// let mut answers = decider.answers();
/// decider.decide(&Table::list(), Block::Text(b"https://example.com/private/1\n"), &mut answers)?;
/// if let Rows::Columns(columns) = &answers.rows {
///     file.push(columns)?;
/// }
/// file.finish()?;
/// assert!(file.into_output().ends_with(b"PAR1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ParquetWriter<W> {
    /// Encodes into memory, so that output errors remain separate.
    encoder: SerializedFileWriter<Vec<u8>>,
    output: W,
    /// The kept columns, which come first.
    kept: Option<KeptWriter>,
    /// The current row group.
    columns: Vec<ColumnData>,
    bytes: usize,
    /// Number of rows in the current row group.
    rows: usize,
    /// The preceding row group, which other threads encode.
    pending: Option<PendingGroup>,
    /// Memory for the next row group.
    spare: Vec<ColumnData>,
}

/// A row group that is being encoded.
struct PendingGroup {
    kept: Vec<Chunk>,
    /// Receives the other columns' chunks.
    encoded: Receiver<Encoded>,
}

/// The chunks of encoded columns, and the columns for reuse.
struct Encoded {
    chunks: Result<Vec<Chunk>, ParquetError>,
    columns: Vec<ColumnData>,
}

impl<W: Write> ParquetWriter<W> {
    /// Starts a file with the named columns.
    ///
    /// # Errors
    /// Returns an error if the columns cannot be represented.
    pub fn new(output: W, columns: Vec<(String, Kind)>) -> Result<ParquetWriter<W>, Error> {
        ParquetWriter::with_kept(output, columns, None)
    }

    /// Starts a file with another file's columns before the named columns.
    ///
    /// # Errors
    /// Returns an error if the columns cannot be represented, or if two columns have one name.
    pub fn with_kept(output: W, columns: Vec<(String, Kind)>, kept: Option<Kept>) -> Result<ParquetWriter<W>, Error> {
        let kept_fields = kept.as_ref().map(Kept::fields).unwrap_or_default();
        let names: Vec<&str> = columns.iter().map(|(name, _)| &**name).collect();
        check_names(&kept_fields.iter().map(|field| field.name()).collect::<Vec<_>>(), &names)?;
        let fields = columns.iter().map(|(name, kind)| field(name, kind).map(Arc::new));
        let fields = kept_fields.into_iter().map(Ok).chain(fields);
        let fields = fields.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(cannot)?;
        let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(cannot)?;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("reptile version ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::Chunk);
        let mut metadata = kept.as_ref().map(|kept| kept.metadata(&names)).unwrap_or_default();
        for (name, kind) in &columns {
            if let Kind::Mask(names) = kind {
                let names =
                    serde_json::to_string(names).map_err(|error| cannot(ParquetError::External(error.into())))?;
                metadata.push(KeyValue::new(name.clone(), names));
            }
        }
        if !metadata.is_empty() {
            properties = properties.set_key_value_metadata(Some(metadata));
        }
        let schema = Arc::new(schema);
        if let Some(kept) = &kept {
            let dictionaries = kept.dictionaries();
            for column in parquet::schema::types::SchemaDescriptor::new(Arc::clone(&schema)).columns() {
                let has_dictionary = dictionaries.contains(&column.path().string());
                properties = properties.set_column_dictionary_enabled(column.path().clone(), has_dictionary);
            }
        }
        for (name, kind) in &columns {
            let path = ColumnPath::from(match kind {
                Kind::Names(_) => vec![name.clone(), "list".into(), "element".into()],
                _ => vec![name.clone()],
            });
            properties = properties.set_column_dictionary_enabled(path, *kind != Kind::Text);
        }
        let columns: Vec<ColumnData> = columns.into_iter().map(|(_, kind)| ColumnData::new(kind)).collect();
        let encoder = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).map_err(cannot)?;
        let kept = kept.map(|kept| {
            let written = encoder.schema_descr().columns();
            let count = written.len() - columns.len();
            KeptWriter::new(kept, &written[..count], encoder.properties())
        });
        let kept = kept.transpose()?;
        let (bytes, rows, pending, spare) = (0, 0, None, Vec::new());
        Ok(ParquetWriter { encoder, output, kept, columns, bytes, rows, pending, spare })
    }

    /// Adds rows, as columns of the file's kinds. Each row takes the kept columns' next row.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, if the kept columns cannot be read, or if the columns' kinds
    /// differ from the file's.
    pub fn push(&mut self, columns: &[ColumnData]) -> Result<(), Error> {
        let is_same = |(own, other): (&ColumnData, &ColumnData)| own.kind == other.kind;
        if columns.len() != self.columns.len() || !self.columns.iter().zip(columns).all(is_same) {
            return Err(Error::new(ErrorKind::Column, "the columns differ from the file's columns"));
        }
        let rows = columns.first().map_or(0, ColumnData::len);
        let mut start = 0;
        while start < rows {
            let mut end = self.end_of_group(columns, start..rows);
            let mut kept_bytes = 0;
            if let Some(kept) = &mut self.kept {
                let (copied, bytes) = kept.copy(end - start, None)?;
                (end, kept_bytes) = (start + copied, bytes);
            }
            self.columns.iter_mut().zip(columns).for_each(|(own, other)| own.append(other, start..end));
            self.bytes += columns.iter().map(|column| cell_bytes(column, start..end)).sum::<usize>();
            self.add_rows(end - start, kept_bytes)?;
            start = end;
        }
        Ok(())
    }

    /// Adds the kept columns' next rows, if selected, to a file without other columns.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, if the kept columns cannot be read, or if the file has other
    /// columns.
    pub fn push_selected(&mut self, mut selected: &[bool]) -> Result<(), Error> {
        if !self.columns.is_empty() {
            return Err(Error::new(ErrorKind::Column, "the columns differ from the file's columns"));
        }
        while !selected.is_empty() {
            let Some(kept) = &mut self.kept else {
                return Err(Error::new(ErrorKind::Column, "the file has no kept columns"));
            };
            let (copied, bytes) = kept.copy(selected.len().min(MAX_GROUP_ROWS - self.rows), Some(selected))?;
            let (now, rest) = selected.split_at(copied);
            self.add_rows(now.iter().filter(|&&is_selected| is_selected).count(), bytes)?;
            selected = rest;
        }
        Ok(())
    }

    /// Counts rows that were added, and writes the row group if it is complete.
    fn add_rows(&mut self, rows: usize, kept_bytes: usize) -> Result<(), Error> {
        self.rows += rows;
        let is_full = self.kept.as_mut().is_some_and(|kept| kept.is_full(kept_bytes));
        if is_full || self.rows >= MAX_GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Returns the end of the rows that belong to the current group. The row that reaches a limit is the group's last.
    fn end_of_group(&self, columns: &[ColumnData], rows: Range<usize>) -> usize {
        let end = rows.end.min(rows.start + MAX_GROUP_ROWS - self.rows);
        let bytes = |end| columns.iter().map(|column| cell_bytes(column, rows.start..end)).sum::<usize>();
        if self.bytes + bytes(end) < GROUP_BYTES {
            return end;
        }
        // The sizes grow with the rows, so the first row that reaches the limit is found by bisection.
        let (mut low, mut high) = (rows.start + 1, end);
        while low < high {
            let middle = low.midpoint(high);
            if self.bytes + bytes(middle) >= GROUP_BYTES { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Starts to encode the collected rows as a row group, and writes the preceding one.
    fn write_group(&mut self) -> Result<(), Error> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.bytes, self.rows) = (0, 0);
        let kept = self.kept.as_mut().map(KeptWriter::finish_group).transpose()?.unwrap_or_default();
        let written = self.encoder.schema_descr().columns();
        let written = written[written.len() - self.columns.len()..].to_vec();
        let kinds = self.columns.iter().map(|column| column.kind.clone());
        let next = match self.spare.len() == self.columns.len() {
            true => std::mem::take(&mut self.spare),
            false => kinds.map(ColumnData::new).collect(),
        };
        let columns = std::mem::replace(&mut self.columns, next);
        let properties = Arc::clone(self.encoder.properties());
        let (sender, encoded) = mpsc::sync_channel(1);
        rayon::spawn(move || {
            let chunks = encode_all(&columns, &written, &properties);
            // After a write error, the receiver no longer exists.
            let _ = sender.send(Encoded { chunks, columns });
        });
        let before = self.pending.replace(PendingGroup { kept, encoded });
        before.map_or(Ok(()), |group| self.append(group))
    }

    /// Appends an encoded row group to the file.
    fn append(&mut self, group: PendingGroup) -> Result<(), Error> {
        let stopped = |_| Error::new(ErrorKind::Panic, "internal error: an encoding thread failed; please report it");
        let Encoded { chunks, mut columns } = group.encoded.recv().map_err(stopped)?;
        columns.iter_mut().for_each(ColumnData::clear);
        self.spare = columns;
        let chunks = chunks.map_err(cannot)?;
        let written = self.encoder.next_row_group().and_then(|mut to| {
            group.kept.into_iter().chain(chunks).try_for_each(|chunk| to.append_column(&chunk.bytes, chunk.close))?;
            to.close().map(drop)
        });
        written.map_err(cannot)?;
        self.encoder.flush().map_err(unwritable)?;
        let bytes = std::mem::take(self.encoder.inner_mut());
        self.output.write_all(&bytes).map_err(unwritable)
    }

    /// Adds an entry to the file's metadata, which is written at its end.
    pub fn describe(&mut self, key: &str, value: &str) {
        self.encoder.append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_owned()));
    }

    /// Writes the rows that are still in memory. Call it if no more rows follow for a while.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn end_group(&mut self) -> Result<(), Error> {
        self.write_group()?;
        match self.pending.take() {
            Some(group) => self.append(group),
            None => Ok(()),
        }
    }

    /// Writes the last row group and the footer. Until then, the file is incomplete. Call it once, after all rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if the kept columns have more rows.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.end_group()?;
        if let Some(kept) = &mut self.kept {
            kept.check_end()?;
        }
        self.encoder.finish().map_err(cannot)?;
        let bytes = std::mem::take(self.encoder.inner_mut());
        self.output.write_all(&bytes).and_then(|()| self.output.flush()).map_err(unwritable)
    }

    /// Returns the output, for error messages.
    pub fn output(&self) -> &W {
        &self.output
    }

    /// Returns the output. The file is complete after [`ParquetWriter::finish`].
    pub fn into_output(self) -> W {
        self.output
    }
}

/// Encodes columns on all threads.
fn encode_all(
    columns: &[ColumnData],
    written: &[ColumnDescPtr],
    properties: &WriterPropertiesPtr,
) -> Result<Vec<Chunk>, ParquetError> {
    columns.par_iter().zip(written).with_max_len(1).map(|(column, descr)| encode(column, descr, properties)).collect()
}

fn cannot(error: ParquetError) -> Error {
    Error::new(ErrorKind::Column, format!("the columns cannot be written as Parquet: {error}"))
}

fn unwritable(error: io::Error) -> Error {
    Error::unwritable(error)
}

/// Returns the size of some cells in bytes: 1 per verdict, 4 per number, 9 per optional number, and 4 per text, group
/// or list in addition to its content.
fn cell_bytes(column: &ColumnData, rows: Range<usize>) -> usize {
    match &column.values {
        Values::Texts { bounds, .. } => 4 * rows.len() + (bounds[rows.end] - bounds[rows.start]) as usize,
        Values::Keys(keys) if column.kind == Kind::Group => {
            let words = words_of(&column.kind);
            keys[rows].iter().map(|&key| 4 + words.get(key as usize).map_or(0, |word| word.len())).sum()
        }
        Values::Keys(_) => rows.len(),
        Values::Numbers(_) => 4 * rows.len(),
        Values::Longs { .. } => 9 * rows.len(),
        Values::Lists { ends, .. } => {
            let end_of = |row: usize| row.checked_sub(1).map_or(0, |last| ends[last]) as usize;
            4 * rows.len() + 4 * (end_of(rows.end) - end_of(rows.start))
        }
    }
}

/// Returns a column's schema field.
fn field(name: &str, kind: &Kind) -> Result<Type, ParquetError> {
    let (physical, logical, converted) = match kind {
        Kind::Number | Kind::Count | Kind::Id => {
            (PhysicalType::INT32, LogicalType::integer(32, false), ConvertedType::UINT_32)
        }
        Kind::Long | Kind::Mask(_) => (PhysicalType::INT64, LogicalType::integer(64, false), ConvertedType::UINT_64),
        Kind::Time => {
            let logical = LogicalType::timestamp(true, TimeUnit::MILLIS);
            (PhysicalType::INT64, logical, ConvertedType::TIMESTAMP_MILLIS)
        }
        Kind::Text | Kind::Word | Kind::Verdict | Kind::Group | Kind::Names(_) => {
            (PhysicalType::BYTE_ARRAY, LogicalType::String, ConvertedType::UTF8)
        }
    };
    let is_list = matches!(kind, Kind::Names(_));
    let repetition = match kind {
        Kind::Count | Kind::Names(_) => Repetition::REQUIRED,
        _ => Repetition::OPTIONAL,
    };
    let column = Type::primitive_type_builder(if is_list { "element" } else { name }, physical)
        .with_repetition(repetition)
        .with_logical_type(Some(logical))
        .with_converted_type(converted)
        .build()?;
    if is_list { list(name, column) } else { Ok(column) }
}

/// Returns a nullable list type in the form that every reader supports.
fn list(name: &str, element: Type) -> Result<Type, ParquetError> {
    let group = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_converted_type(ConvertedType::LIST)
        .with_fields(vec![Arc::new(group)])
        .build()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::data::CellSink;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    /// Writes texts of one size in chunks, and returns each row group's row count.
    fn groups(texts: usize, len: usize, chunk: usize) -> Vec<i64> {
        let mut file = ParquetWriter::new(Vec::new(), vec![("text".into(), Kind::Text)]).unwrap();
        let mut column = ColumnData::new(Kind::Text);
        for text in 1..=texts {
            column.cells().text(&vec![b'x'; len]);
            if text % chunk == 0 || text == texts {
                file.push(std::slice::from_ref(&column)).unwrap();
                column.clear();
            }
        }
        file.finish().unwrap();
        let file = SerializedFileReader::new(Bytes::from(file.into_output())).unwrap();
        file.metadata().row_groups().iter().map(|group| group.num_rows()).collect()
    }

    #[test]
    fn row_groups_end_at_the_row_limit() {
        let most = MAX_GROUP_ROWS as i64;
        for (rows, expected) in [
            (MAX_GROUP_ROWS - 1, vec![most - 1]),
            (MAX_GROUP_ROWS, vec![most]),
            (MAX_GROUP_ROWS + 1, vec![most, 1]),
            (2 * MAX_GROUP_ROWS + 3, vec![most, most, 3]),
        ] {
            for chunk in [1000, 4096, usize::MAX] {
                assert_eq!(groups(rows, 1, chunk), expected, "{rows} {chunk}");
            }
        }
    }

    #[test]
    fn row_groups_end_with_the_row_that_reaches_the_byte_limit() {
        let len = 1 << 16;
        let most = GROUP_BYTES.div_ceil(len + 4);
        for (rows, expected) in [(most - 1, vec![most - 1]), (most, vec![most]), (most + 1, vec![most, 1])] {
            for chunk in [1, 100, usize::MAX] {
                let expected: Vec<i64> = expected.iter().map(|&rows| rows as i64).collect();
                assert_eq!(groups(rows, len, chunk), expected, "{rows} {chunk}");
            }
        }
    }

    #[test]
    fn other_columns_are_an_error() {
        let mut file = ParquetWriter::new(Vec::new(), vec![("text".into(), Kind::Text)]).unwrap();
        for columns in [vec![], vec![ColumnData::new(Kind::Word)], vec![ColumnData::new(Kind::Text); 2]] {
            assert_eq!(file.push(&columns).unwrap_err().kind(), ErrorKind::Column);
        }
    }
}
