//! Verdicts as a Parquet file: rows of answers are collected by column, and written by row groups of bounded size.
//!
//! The rows come in the form that [`Format::Parquet`](super::columns::Format) gives their cells. Texts are UTF-8, the few
//! that repeat are encoded by a dictionary, and columns that may be empty have nulls. Nothing is ever read back, so that the
//! file can be written to a pipe.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};
use reptile::Verdict;

use super::columns::{Column, Layout};
use super::file::Output;
use crate::error::{Failure, Result};

/// Rows of a row group: about as many as DuckDB writes, and enough for a dictionary to pay.
pub const MAX_GROUP_ROWS: usize = 1 << 18;

/// Bytes of the cells of a row group from which on it is written.
pub const GROUP_BYTES: usize = 32 << 20;

/// Values that are handed to the encoder at once.
const PIECE_VALUES: usize = 1024;

/// Writes rows of answers.
pub struct ParquetOutput {
    /// Encodes into memory, so that the errors of the output stay its own.
    writer: SerializedFileWriter<Vec<u8>>,
    output: Output,
    columns: Vec<Collected>,
    rows: usize,
    bytes: usize,
}

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A text of which most are different; empty is null.
    Text,
    /// A text of which there are few; empty is null.
    Word,
    /// A verdict.
    Verdict,
    /// A number; 0 is null.
    Number,
}

/// The cells of one column of the row group that is being collected.
struct Collected {
    kind: Kind,
    bytes: Vec<u8>,
    /// Where each text ends, or each number.
    ends: Vec<u32>,
}

impl ParquetOutput {
    /// Begins a file with the columns of a layout for these agents.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn new(output: Output, layout: &Layout, agents: &[String]) -> Result<ParquetOutput> {
        let mut kinds = Vec::new();
        kinds.extend(layout.has_url.then_some(Kind::Text));
        for _ in agents {
            kinds.extend(layout.columns.iter().map(|&column| kind_of(column)));
        }
        kinds.extend(layout.any_of.then_some(Kind::Verdict));
        let names = layout.names(agents);
        let fields = names.iter().zip(&kinds).map(|(name, &kind)| field(name, kind).map(Arc::new));
        let fields = fields.collect::<std::result::Result<Vec<_>, _>>().map_err(cannot)?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(cannot)?;
        let level = ZstdLevel::try_new(1).map_err(cannot)?;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("reptile version ", env!("CARGO_PKG_VERSION")).into())
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::Chunk);
        for (name, &kind) in names.iter().zip(&kinds) {
            let path = ColumnPath::from(vec![name.clone()]);
            properties = properties.set_column_dictionary_enabled(path, kind != Kind::Text);
        }
        let columns = kinds.into_iter().map(|kind| Collected { kind, bytes: Vec::new(), ends: Vec::new() }).collect();
        let writer =
            SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties.build())).map_err(cannot)?;
        Ok(ParquetOutput { writer, output, columns, rows: 0, bytes: 0 })
    }

    /// Adds rows of answers.
    ///
    /// # Errors
    /// If the output cannot be written.
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

    /// Writes what was collected as a row group.
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

    /// Writes the last row group and the footer. Returns the output, which has all bytes then.
    ///
    /// # Errors
    /// If the output cannot be written.
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

/// The kind of an agent's column.
fn kind_of(column: Column) -> Kind {
    match column {
        Column::Url => Kind::Text,
        Column::Verdict => Kind::Verdict,
        Column::Line => Kind::Number,
        Column::Agent | Column::Rule | Column::Group | Column::Reason => Kind::Word,
    }
}

/// The column in the schema.
fn field(name: &str, kind: Kind) -> std::result::Result<Type, ParquetError> {
    let repetition = if kind == Kind::Verdict { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    let (physical, logical, converted) = match kind {
        Kind::Number => {
            let logical = LogicalType::integer(32, false);
            (PhysicalType::INT32, logical, ConvertedType::UINT_32)
        }
        _ => (PhysicalType::BYTE_ARRAY, LogicalType::String, ConvertedType::UTF8),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(Some(logical))
        .with_converted_type(converted)
        .build()
}

impl Collected {
    /// Takes the next cell off the rows. `None` if it has no end.
    fn push(&mut self, rows: &mut &[u8]) -> Option<()> {
        match self.kind {
            Kind::Verdict => self.bytes.push(*rows.split_off_first()?),
            Kind::Number => self.ends.push(u32::from_le_bytes(take_four(rows)?)),
            Kind::Text | Kind::Word => {
                let len = u32::from_le_bytes(take_four(rows)?) as usize;
                self.bytes.extend_from_slice(rows.split_off(..len)?);
                self.ends.push(u32::try_from(self.bytes.len()).ok()?);
            }
        }
        Some(())
    }

    /// Encodes the cells, and forgets them.
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        match self.kind {
            Kind::Verdict => self.write_verdicts(writer),
            Kind::Number => self.write_numbers(writer),
            Kind::Text | Kind::Word => self.write_texts(writer),
        }
    }

    fn write_verdicts(&mut self, writer: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        let names: Vec<ByteArray> = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid]
            .map(|verdict| Bytes::from_static(verdict.name().as_bytes()).into())
            .into();
        let mut values = Vec::with_capacity(PIECE_VALUES);
        for piece in self.bytes.chunks(PIECE_VALUES) {
            values.clear();
            values.extend(piece.iter().filter_map(|&verdict| names.get(usize::from(verdict)).cloned()));
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
        self.bytes.clear();
        Ok(())
    }

    fn write_numbers(&mut self, writer: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        for piece in self.ends.chunks(PIECE_VALUES) {
            values.clear();
            levels.clear();
            levels.extend(piece.iter().map(|&number| i16::from(number > 0)));
            // The bits are those of the number without a sign.
            values.extend(piece.iter().filter(|&&number| number > 0).map(|&number| number as i32));
            writer.typed::<Int32Type>().write_batch(&values, Some(&levels), None)?;
        }
        self.ends.clear();
        Ok(())
    }

    fn write_texts(&mut self, writer: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        let bytes = Bytes::from(std::mem::take(&mut self.bytes));
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
        self.ends.clear();
        Ok(())
    }
}

fn take_four(rows: &mut &[u8]) -> Option<[u8; 4]> {
    rows.split_off(..4)?.first_chunk().copied()
}
