//! A Parquet file of columns: [`ParquetWriter`]. Rows are collected in row groups of bounded size.
//!
//! Texts are UTF-8, repeated texts are dictionary-encoded, and columns that may be empty contain nulls. The file is
//! never read back, so it can be written to a pipe.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use crate::data::{ColumnData, Kind, Values, words_of};
use crate::error::{Error, ErrorKind};

/// Maximum number of rows per row group: similar to DuckDB's, and enough to make dictionaries worthwhile.
pub const MAX_GROUP_ROWS: usize = 1 << 18;

/// Cell bytes at which a row group is written. A text's length counts as 4 bytes.
pub const GROUP_BYTES: usize = 32 << 20;

/// Number of values per call to the encoder.
const PIECE_VALUES: usize = 1024;

/// The definition level for a list that is present, or an element in it.
const LIST: i16 = 1;
const ELEMENT: i16 = 2;

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
    /// The current row group.
    columns: Vec<ColumnData>,
    bytes: usize,
}

impl<W: Write> ParquetWriter<W> {
    /// Starts a file with the named columns.
    ///
    /// # Errors
    /// Returns an error if the columns cannot be represented.
    pub fn new(output: W, columns: Vec<(String, Kind)>) -> Result<ParquetWriter<W>, Error> {
        let fields = columns.iter().map(|(name, kind)| field(name, kind).map(Arc::new));
        let fields = fields.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(cannot)?;
        let level = ZstdLevel::try_new(1).map_err(cannot)?;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("reptile version ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::Chunk);
        for (name, _) in columns.iter().filter(|(_, kind)| *kind == Kind::Text) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(vec![name.clone()]), false);
        }
        for (name, kind) in &columns {
            if let Kind::Mask(names) = kind {
                let names =
                    serde_json::to_string(names).map_err(|error| cannot(ParquetError::External(error.into())))?;
                properties = properties.set_key_value_metadata(Some(vec![KeyValue::new(name.clone(), names)]));
            }
        }
        let columns = columns.into_iter().map(|(_, kind)| ColumnData::new(kind)).collect();
        let encoder =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).map_err(cannot)?;
        Ok(ParquetWriter { encoder, output, columns, bytes: 0 })
    }

    /// Adds rows, as columns of the file's kinds.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if the columns' kinds differ from the file's.
    pub fn push(&mut self, columns: &[ColumnData]) -> Result<(), Error> {
        let is_same = |(own, other): (&ColumnData, &ColumnData)| own.kind == other.kind;
        if columns.len() != self.columns.len() || !self.columns.iter().zip(columns).all(is_same) {
            return Err(Error::new(ErrorKind::Column, "the columns differ from the file's columns"));
        }
        let rows = columns.first().map_or(0, ColumnData::len);
        let mut start = 0;
        while start < rows {
            let end = self.end_of_group(columns, start..rows);
            self.columns.iter_mut().zip(columns).for_each(|(own, other)| own.append(other, start..end));
            self.bytes += columns.iter().map(|column| cell_bytes(column, start..end)).sum::<usize>();
            start = end;
            if self.rows() >= MAX_GROUP_ROWS || self.bytes >= GROUP_BYTES {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Returns the number of rows in the current group.
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, ColumnData::len)
    }

    /// Returns the end of the rows that belong to the current group. The row that reaches a limit is the group's last.
    fn end_of_group(&self, columns: &[ColumnData], rows: Range<usize>) -> usize {
        let end = rows.end.min(rows.start + MAX_GROUP_ROWS - self.rows());
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

    /// Writes the collected rows as a row group.
    fn write_group(&mut self) -> Result<(), Error> {
        self.bytes = 0;
        let columns = &mut self.columns;
        let encoded = self.encoder.next_row_group().and_then(|mut group| {
            for column in columns {
                let Some(mut writer) = group.next_column()? else { break };
                write_column(column, &mut writer)?;
                writer.close()?;
                column.clear();
            }
            group.close().map(drop)
        });
        encoded.map_err(cannot)?;
        self.encoder.flush().map_err(unwritable)?;
        let bytes = std::mem::take(self.encoder.inner_mut());
        self.output.write_all(&bytes).map_err(unwritable)
    }

    /// Adds an entry to the file's metadata, which is written at its end.
    pub fn describe(&mut self, key: &str, value: &str) {
        self.encoder.append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_owned()));
    }

    /// Writes the last row group and the footer. Until then, the file is incomplete. Call it once, after all rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.rows() > 0 {
            self.write_group()?;
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

/// Encodes a column.
fn write_column(column: &mut ColumnData, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    let kind = &column.kind;
    match &mut column.values {
        Values::Texts { bytes, bounds } => {
            let bytes = Bytes::from(std::mem::take(bytes));
            write_texts(&bytes, bounds, writer)
        }
        Values::Keys(keys) => write_keys(keys, kind, writer),
        // The bits are the same as in the unsigned number.
        Values::Numbers(numbers) if *kind == Kind::Count => {
            let counts: Vec<i32> = numbers.iter().map(|&count| count as i32).collect();
            writer.typed::<Int32Type>().write_batch(&counts, None, None)?;
            Ok(())
        }
        Values::Numbers(numbers) => write_numbers(numbers, writer),
        Values::Longs { longs, present } => {
            let levels: Vec<i16> = present.iter().map(|&present| i16::from(present)).collect();
            let mut present = longs.iter().zip(present).filter(|(_, present)| **present).map(|(&long, _)| long);
            if *kind == Kind::Id {
                let ids: Vec<i32> = present.map(|id| id as i32).collect();
                writer.typed::<Int32Type>().write_batch(&ids, Some(&levels), None)?;
            } else {
                let longs: Vec<i64> = present.by_ref().collect();
                writer.typed::<Int64Type>().write_batch(&longs, Some(&levels), None)?;
            }
            Ok(())
        }
        Values::Lists { items, ends, present } => {
            let Kind::Names(names) = kind else { return Ok(()) };
            write_lists(names, items, ends, present, writer)
        }
    }
}

fn write_keys(keys: &[i8], kind: &Kind, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    let words: Vec<ByteArray> =
        words_of(kind).into_iter().map(|word| Bytes::from_static(word.as_bytes()).into()).collect();
    let (mut values, mut levels) = (Vec::with_capacity(PIECE_VALUES), Vec::with_capacity(PIECE_VALUES));
    for piece in keys.chunks(PIECE_VALUES) {
        values.clear();
        levels.clear();
        // Nulls have no words.
        let found = |key: &i8| usize::try_from(*key).ok().and_then(|key| words.get(key)).cloned();
        values.extend(piece.iter().filter_map(found));
        levels.extend(piece.iter().map(|&key| i16::from(key >= 0)));
        writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
    }
    Ok(())
}

fn write_numbers(numbers: &[u32], writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for piece in numbers.chunks(PIECE_VALUES) {
        values.clear();
        levels.clear();
        levels.extend(piece.iter().map(|&number| i16::from(number > 0)));
        values.extend(piece.iter().filter(|&&number| number > 0).map(|&number| number as i32));
        writer.typed::<Int32Type>().write_batch(&values, Some(&levels), None)?;
    }
    Ok(())
}

/// Writes texts that are stored sequentially in `bytes`.
fn write_texts(bytes: &Bytes, bounds: &[i64], writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    let (mut values, mut levels, mut start) = (Vec::new(), Vec::new(), 0);
    for piece in bounds.get(1..).unwrap_or_default().chunks(PIECE_VALUES) {
        values.clear();
        levels.clear();
        for &end in piece {
            let range = std::mem::replace(&mut start, end as usize)..end as usize;
            levels.push(i16::from(!range.is_empty()));
            if !range.is_empty() {
                values.push(ByteArray::from(bytes.slice(range)));
            }
        }
        writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
    }
    Ok(())
}

/// Writes lists of names. Only whole rows are passed to the encoder.
fn write_lists(
    names: &[String],
    items: &[u32],
    ends: &[u32],
    present: &[bool],
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let names: Vec<ByteArray> = names.iter().map(|name| Bytes::copy_from_slice(name.as_bytes()).into()).collect();
    let (mut values, mut levels, mut repeats, mut start) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (row, (&end, &is_present)) in ends.iter().zip(present).enumerate() {
        let items = &items[std::mem::replace(&mut start, end as usize)..end as usize];
        if items.is_empty() {
            levels.push(if is_present { LIST } else { 0 });
            repeats.push(0);
        }
        for (place, &item) in items.iter().enumerate() {
            values.extend(names.get(item as usize).cloned());
            levels.push(ELEMENT);
            repeats.push(i16::from(place > 0));
        }
        if levels.len() >= PIECE_VALUES || row + 1 == ends.len() {
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), Some(&repeats))?;
            values.clear();
            levels.clear();
            repeats.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
