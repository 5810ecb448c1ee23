//! Verdicts as a Parquet file. Answer rows are collected by column, and written in row groups with a bounded size.
//!
//! The rows use the cell format for [`Format::Parquet`](super::columns::Format), and [`Kind`] determines each column's
//! format. Texts are UTF-8, repeated texts are dictionary-encoded, and columns that may be empty contain nulls. The
//! file is never read back, so it can be written to a pipe.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use reptile::Verdict;

use super::columns::{Cell, Column, Layout};
use super::file::Output;
use super::over_agents::NO_LIST;
use crate::error::{Failure, Result};

/// Maximum rows per row group: similar to DuckDB, and enough to make dictionaries worthwhile.
pub const MAX_GROUP_ROWS: usize = 1 << 18;

/// Cell bytes at which a row group is written.
pub const GROUP_BYTES: usize = 32 << 20;

/// Number of values per call to the encoder.
const PIECE_VALUES: usize = 1024;

/// Writes answer rows.
pub struct ParquetOutput {
    /// Encodes into memory, so that output errors remain separate.
    writer: SerializedFileWriter<Vec<u8>>,
    output: Output,
    columns: Vec<Collected>,
    rows: usize,
    bytes: usize,
}

/// A column's kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A mostly unique text; empty is null.
    Text,
    /// A frequently repeated text; empty is null.
    Word,
    /// A verdict's number.
    Verdict,
    /// A 32-bit number; 0 is null.
    Number,
    /// A 32-bit number, never null.
    Count,
    /// A 32-bit number stored as 64 bits, or null.
    Id,
    /// A 64-bit number, or null.
    Long,
    /// A 64-bit number, or null, with a bit for each name. The file's metadata lists the names.
    Mask(Vec<String>),
    /// A time in milliseconds since 1970, or null.
    Time,
    /// A list of indexes into these names, or null.
    Names(Vec<String>),
}

/// The definition level for a list that is present, or an element in it.
const LIST: i16 = 1;
const ELEMENT: i16 = 2;

/// One column's cells in the current row group.
struct Collected {
    kind: Kind,
    bytes: Vec<u8>,
    /// The end offsets for texts, the 32-bit numbers, or the name indexes.
    ends: Vec<u32>,
    /// The 64-bit numbers.
    longs: Vec<i64>,
    /// Definition levels: whether each number is present, or which part of a list is.
    levels: Vec<i16>,
    /// Repetition levels for lists: 0 where a row begins.
    repeats: Vec<i16>,
}

impl ParquetOutput {
    /// Starts a file with the named columns.
    ///
    /// # Errors
    /// Returns an error if the output is a terminal or cannot be written.
    pub fn new(mut output: Output, columns: Vec<(String, Kind)>) -> Result<ParquetOutput> {
        // Standard output escapes terminal control characters unless raw output is enabled.
        if !output.pass_bytes_on() {
            return Err(Failure::new("--format parquet: standard output is a terminal; name a file with --output"));
        }
        let fields = columns.iter().map(|(name, kind)| field(name, kind).map(Arc::new));
        let fields = fields.collect::<std::result::Result<Vec<_>, _>>().map_err(cannot)?;
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
                let names = serde_json::to_string(names).map_err(Failure::new)?;
                properties = properties.set_key_value_metadata(Some(vec![KeyValue::new(name.clone(), names)]));
            }
        }
        let columns = columns.into_iter().map(|(_, kind)| Collected::new(kind)).collect();
        let writer =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).map_err(cannot)?;
        Ok(ParquetOutput { writer, output, columns, rows: 0, bytes: 0 })
    }

    /// Adds answer rows.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn push(&mut self, mut rows: &[u8]) -> Result<()> {
        while !rows.is_empty() {
            let before = rows.len();
            if self.columns.iter_mut().try_for_each(|column| column.push(&mut rows)).is_none() || rows.len() == before {
                return Err(Failure::new("a row of answers has no end; this is a fault of reptile"));
            }
            self.rows += 1;
            self.bytes += before - rows.len();
            if self.rows >= MAX_GROUP_ROWS || self.bytes >= GROUP_BYTES {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Writes the collected cells as a row group.
    fn write_group(&mut self) -> Result<()> {
        (self.rows, self.bytes) = (0, 0);
        let columns = &mut self.columns;
        let encoded = self.writer.next_row_group().and_then(|mut group| {
            for column in columns {
                let Some(mut writer) = group.next_column()? else { break };
                column.write(&mut writer)?;
                writer.close()?;
            }
            group.close().map(drop)
        });
        encoded.map_err(cannot)?;
        self.writer.flush().map_err(|error| self.output.failure(&error))?;
        let bytes = std::mem::take(self.writer.inner_mut());
        self.output.write_all(&bytes).map_err(|error| self.output.failure(&error))
    }

    /// Writes the last row group and the footer, and returns the complete output.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn finish(mut self) -> Result<Output> {
        if self.rows > 0 {
            self.write_group()?;
        }
        let bytes = self.writer.into_inner().map_err(cannot)?;
        match self.output.write_all(&bytes).and_then(|()| self.output.flush()) {
            Ok(()) => Ok(self.output),
            Err(error) => Err(self.output.failure(&error)),
        }
    }
}

fn cannot(error: ParquetError) -> Failure {
    Failure::new(format!("the columns cannot be written as Parquet: {error}"))
}

/// Returns a layout's columns for these agents.
pub fn columns_of(layout: &Layout, agents: &[String]) -> Vec<(String, Kind)> {
    let kinds = layout.cells(agents.len()).into_iter().map(|cell| match cell {
        Cell::Url => Kind::Text,
        Cell::Once(column) | Cell::Agent(_, column) => kind_of(column, agents),
        Cell::AnyOf => Kind::Verdict,
    });
    layout.names(agents).into_iter().zip(kinds).collect()
}

/// Returns a column's kind.
fn kind_of(column: Column, agents: &[String]) -> Kind {
    match column {
        Column::Url => Kind::Text,
        Column::Verdict => Kind::Verdict,
        Column::Line => Kind::Number,
        Column::Ruleset => Kind::Id,
        Column::CaptureTime => Kind::Time,
        Column::Mask => Kind::Mask(agents.to_vec()),
        Column::Refused => Kind::Names(agents.to_vec()),
        Column::Agent | Column::Rule | Column::Group | Column::Reason => Kind::Word,
    }
}

/// Returns a column's schema field.
fn field(name: &str, kind: &Kind) -> std::result::Result<Type, ParquetError> {
    let (physical, logical, converted) = match kind {
        Kind::Number | Kind::Count | Kind::Id => {
            (PhysicalType::INT32, LogicalType::integer(32, false), ConvertedType::UINT_32)
        }
        Kind::Long | Kind::Mask(_) => (PhysicalType::INT64, LogicalType::integer(64, false), ConvertedType::UINT_64),
        Kind::Time => {
            let logical = LogicalType::timestamp(true, TimeUnit::MILLIS);
            (PhysicalType::INT64, logical, ConvertedType::TIMESTAMP_MILLIS)
        }
        Kind::Text | Kind::Word | Kind::Verdict | Kind::Names(_) => {
            (PhysicalType::BYTE_ARRAY, LogicalType::String, ConvertedType::UTF8)
        }
    };
    let is_list = matches!(kind, Kind::Names(_));
    let repetition = match kind {
        Kind::Verdict | Kind::Count | Kind::Names(_) => Repetition::REQUIRED,
        _ => Repetition::OPTIONAL,
    };
    let column = Type::primitive_type_builder(if is_list { "element" } else { name }, physical)
        .with_repetition(repetition)
        .with_logical_type(Some(logical))
        .with_converted_type(converted)
        .build()?;
    if is_list { list(name, column) } else { Ok(column) }
}

/// Returns a nullable list in the form that every reader knows.
fn list(name: &str, element: Type) -> std::result::Result<Type, ParquetError> {
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

impl Collected {
    fn new(kind: Kind) -> Collected {
        let (longs, levels, repeats) = (Vec::new(), Vec::new(), Vec::new());
        Collected { kind, bytes: Vec::new(), ends: Vec::new(), longs, levels, repeats }
    }

    /// Removes the next cell from the rows. Returns `None` if the cell is incomplete.
    fn push(&mut self, rows: &mut &[u8]) -> Option<()> {
        match self.kind {
            Kind::Verdict => self.bytes.push(*rows.split_off_first()?),
            Kind::Number | Kind::Count => self.ends.push(u32::from_le_bytes(take_four(rows)?)),
            Kind::Id | Kind::Long | Kind::Mask(_) | Kind::Time => {
                let level = i16::from(*rows.split_off_first()?);
                self.levels.push(level);
                let long = i64::from_le_bytes(rows.split_off(..8)?.first_chunk().copied()?);
                self.longs.extend((level > 0).then_some(long));
            }
            Kind::Names(_) => self.push_list(rows)?,
            Kind::Text | Kind::Word => {
                let len = u32::from_le_bytes(take_four(rows)?) as usize;
                self.bytes.extend_from_slice(rows.split_off(..len)?);
                self.ends.push(u32::try_from(self.bytes.len()).ok()?);
            }
        }
        Some(())
    }

    /// Removes the next list from the rows.
    fn push_list(&mut self, rows: &mut &[u8]) -> Option<()> {
        let len = u32::from_le_bytes(take_four(rows)?);
        if matches!(len, 0 | NO_LIST) {
            self.repeats.push(0);
            self.levels.push(if len == 0 { LIST } else { 0 });
            return Some(());
        }
        for place in 0..len {
            self.ends.push(u32::from_le_bytes(take_four(rows)?));
            self.repeats.push(i16::from(place > 0));
            self.levels.push(ELEMENT);
        }
        Some(())
    }

    /// Encodes and clears the cells.
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        match &self.kind {
            Kind::Verdict => self.write_verdicts(writer),
            Kind::Number => self.write_numbers(writer),
            Kind::Count => {
                // The bits are the same as in the unsigned number.
                let counts: Vec<i32> = self.ends.iter().map(|&count| count as i32).collect();
                writer.typed::<Int32Type>().write_batch(&counts, None, None)?;
                Ok(())
            }
            Kind::Id => {
                let ids: Vec<i32> = self.longs.iter().map(|&id| id as i32).collect();
                writer.typed::<Int32Type>().write_batch(&ids, Some(&self.levels), None)?;
                Ok(())
            }
            Kind::Long | Kind::Mask(_) | Kind::Time => {
                writer.typed::<Int64Type>().write_batch(&self.longs, Some(&self.levels), None)?;
                Ok(())
            }
            Kind::Names(names) => self.write_lists(names, writer),
            Kind::Text | Kind::Word => {
                let bytes = Bytes::from(std::mem::take(&mut self.bytes));
                self.write_texts(&bytes, writer)
            }
        }?;
        self.bytes.clear();
        self.ends.clear();
        self.longs.clear();
        self.levels.clear();
        self.repeats.clear();
        Ok(())
    }

    fn write_verdicts(&self, writer: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        let names: Vec<ByteArray> = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid]
            .map(|verdict| Bytes::from_static(verdict.name().as_bytes()).into())
            .into();
        let mut values = Vec::with_capacity(PIECE_VALUES);
        for piece in self.bytes.chunks(PIECE_VALUES) {
            values.clear();
            values.extend(piece.iter().filter_map(|&verdict| names.get(usize::from(verdict)).cloned()));
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
        Ok(())
    }

    fn write_numbers(&self, writer: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        for piece in self.ends.chunks(PIECE_VALUES) {
            values.clear();
            levels.clear();
            levels.extend(piece.iter().map(|&number| i16::from(number > 0)));
            // The bits are the same as in the unsigned number.
            values.extend(piece.iter().filter(|&&number| number > 0).map(|&number| number as i32));
            writer.typed::<Int32Type>().write_batch(&values, Some(&levels), None)?;
        }
        Ok(())
    }

    /// Writes texts that are stored sequentially in `bytes`.
    fn write_texts(
        &self,
        bytes: &Bytes,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> std::result::Result<(), ParquetError> {
        let (mut values, mut levels, mut start) = (Vec::new(), Vec::new(), 0);
        for piece in self.ends.chunks(PIECE_VALUES) {
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
        &self,
        names: &[String],
        writer: &mut SerializedColumnWriter<'_>,
    ) -> std::result::Result<(), ParquetError> {
        let names: Vec<ByteArray> = names.iter().map(|name| Bytes::copy_from_slice(name.as_bytes()).into()).collect();
        let (mut rest, mut places) = (0..self.levels.len(), self.ends.iter());
        while !rest.is_empty() {
            let begins = |at: &usize| self.repeats.get(*at) == Some(&0);
            let end = (rest.start + PIECE_VALUES..rest.end).find(begins).unwrap_or(rest.end);
            let (levels, repeats) = (&self.levels[rest.start..end], &self.repeats[rest.start..end]);
            let count = levels.iter().filter(|&&level| level == ELEMENT).count();
            let values = places.by_ref().take(count).filter_map(|&place| names.get(place as usize).cloned());
            let values: Vec<ByteArray> = values.collect();
            writer.typed::<ByteArrayType>().write_batch(&values, Some(levels), Some(repeats))?;
            rest.start = end;
        }
        Ok(())
    }
}

fn take_four(rows: &mut &[u8]) -> Option<[u8; 4]> {
    rows.split_off(..4)?.first_chunk().copied()
}
