//! Columns that are kept in another Parquet file: [`Kept`] has their types, and [`KeptLeaf`] copies their values.
//!
//! The crate `parquet` decodes and encodes the values together with their levels, so that lists, structs and nulls stay
//! as they are. [`checked`](super::checked) reads the pages within the limits. Values are copied a few rows at a time,
//! and the caller decides how many, so memory depends neither on the file nor on its row groups.

use std::collections::HashSet;
use std::sync::Arc;

use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::column::page::PageWriter;
use parquet::column::reader::ColumnReaderImpl;
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{
    AsBytes, BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::{ColumnDescPtr, Type, TypePtr};

use super::ahead::{AheadPages, Chunk};
use super::checked::{CheckedPages, ReadCounts};
use super::limits::MAX_GROUP_BYTES;
use super::{MessageResult, ParquetFile};
use crate::batches::guard::guarded;
use crate::batches::limits::{max_expanded_bytes, within};
use crate::tables::LINEAGE_KEY;
use crate::{Error, Result};

/// Number of rows decoded at once.
const PIECE_ROWS: usize = 4096;

/// Number of rows decoded at once if a row may have several values.
const PIECE_LISTS: usize = 256;

/// Bytes that each level and value count in addition to the value's own bytes.
const LEVEL_BYTES: usize = 4;

/// Columns that are kept in another file. A column is a field in the schema, with all fields inside it.
///
/// ```
/// use std::sync::Arc;
///
/// use parquet::file::writer::SerializedFileWriter;
/// use parquet::schema::parser::parse_message_type;
/// use reptile_records::parquet::{ParquetFile, kept::Kept};
///
/// let schema = parse_message_type("message table { required binary url; required group at { required int32 x; } }")?;
/// let file = tempfile::NamedTempFile::new()?;
/// SerializedFileWriter::new(file.reopen()?, Arc::new(schema), Arc::default())?.close()?;
///
/// let file = ParquetFile::open(file.path())?;
/// assert_eq!(file.field_names(), ["url", "at"]);
/// let kept = Kept::new(&file, &[1])?;
/// assert_eq!(kept.fields()[0].name(), "at");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Kept {
    file: Arc<ParquetFile>,
    /// The fields' indexes, in writing order.
    fields: Vec<usize>,
}

/// Metadata keys whose values describe a whole schema. Such a value is wrong for any other schema.
const SCHEMA_KEYS: [&str; 7] = [
    "ARROW:schema",
    "avro.schema",
    "geo",
    "iceberg.schema",
    "org.apache.spark.sql.parquet.row.metadata",
    "pandas",
    "parquet.avro.schema",
];

impl Kept {
    /// Selects fields by their indexes.
    ///
    /// # Errors
    /// Returns an error if a field has a type of a newer format, which would be lost.
    pub fn new(file: &ParquetFile, fields: &[usize]) -> Result<Kept> {
        let all = file.schema_fields();
        for field in fields.iter().filter_map(|&at| all.get(at)) {
            if has_unknown_type(field) {
                let name = field.name();
                return Err(file.failure(format!("column {name:?} has a type of a newer format, which is not kept")));
            }
        }
        Ok(Kept { file: Arc::new(file.clone()), fields: fields.to_vec() })
    }

    /// Returns the fields' types.
    #[must_use]
    pub fn fields(&self) -> Vec<TypePtr> {
        let all = self.file.schema_fields();
        self.fields.iter().filter_map(|&at| all.get(at).cloned()).collect()
    }

    /// Returns the metadata entries that stay true in a file with these columns and the `added` ones. Entries that
    /// describe the whole schema stay true only if it does not change.
    #[must_use]
    pub fn metadata(&self, added: &[&str]) -> Vec<KeyValue> {
        let is_whole = added.is_empty() && self.fields.iter().copied().eq(0..self.file.schema_fields().len());
        let is_true = |key: &str| key != LINEAGE_KEY && (is_whole || !SCHEMA_KEYS.contains(&key));
        let all = self.file.metadata.file_metadata().key_value_metadata().into_iter().flatten();
        all.filter(|entry| is_true(&entry.key) && !added.contains(&&*entry.key)).cloned().collect()
    }

    /// Returns the paths of the leaf columns that the file encodes with dictionaries.
    #[must_use]
    pub fn dictionaries(&self) -> HashSet<String> {
        let Some(group) = self.file.metadata.row_groups().first() else { return HashSet::new() };
        let has_dictionary = group.columns().iter().filter(|chunk| chunk.dictionary_page_offset().is_some());
        has_dictionary.map(|chunk| chunk.column_path().string()).collect()
    }

    /// Returns the leaf columns, which are written as the columns `written`.
    ///
    /// # Errors
    /// Returns an error if the written columns differ from these.
    pub fn leaves(&self, written: &[ColumnDescPtr]) -> Result<Vec<Box<dyn KeptLeaf>>> {
        let schema = self.file.metadata.file_metadata().schema_descr();
        let places = self.fields.iter().flat_map(|&field| {
            (0..schema.num_columns()).filter(move |&leaf| schema.get_column_root_idx(leaf) == field)
        });
        let places: Vec<usize> = places.collect();
        if places.len() != written.len() {
            return Err(self.file.failure("internal error: the kept columns differ; please report it"));
        }
        Ok(places.into_iter().zip(written).map(|(place, written)| self.leaf(place, written)).collect())
    }

    fn leaf(&self, place: usize, written: &ColumnDescPtr) -> Box<dyn KeptLeaf> {
        match written.physical_type() {
            PhysicalType::BOOLEAN => Leaf::<BoolType>::boxed(self, place, written),
            PhysicalType::INT32 => Leaf::<Int32Type>::boxed(self, place, written),
            PhysicalType::INT64 => Leaf::<Int64Type>::boxed(self, place, written),
            PhysicalType::INT96 => Leaf::<Int96Type>::boxed(self, place, written),
            PhysicalType::FLOAT => Leaf::<FloatType>::boxed(self, place, written),
            PhysicalType::DOUBLE => Leaf::<DoubleType>::boxed(self, place, written),
            PhysicalType::BYTE_ARRAY => Leaf::<ByteArrayType>::boxed(self, place, written),
            PhysicalType::FIXED_LEN_BYTE_ARRAY => Leaf::<FixedLenByteArrayType>::boxed(self, place, written),
        }
    }

    /// Creates an error for the file.
    #[must_use]
    pub fn failure(&self, text: String) -> Error {
        self.file.failure(format!("cannot be read: {text}"))
    }

    /// Checks that the pages that leaf columns need at once are within the limit.
    ///
    /// # Errors
    /// Returns an error if they exceed it.
    pub fn check_memory<'l>(leaves: impl Iterator<Item = &'l (dyn KeptLeaf + 'static)>) -> MessageResult<()> {
        let bytes = leaves.map(KeptLeaf::page_bytes).sum();
        within(|| "bytes of the largest pages of its kept columns:".into(), bytes, MAX_GROUP_BYTES)
    }
}

/// Returns whether a type or one of its fields comes from a newer format.
fn has_unknown_type(of: &Type) -> bool {
    let is_unknown = matches!(of.get_basic_info().logical_type_ref(), Some(LogicalType::_Unknown { .. }));
    is_unknown || of.is_group() && of.get_fields().iter().any(|field| has_unknown_type(field))
}

/// A leaf column whose values are copied. See [`Kept`] for an example. The texts of errors continue a sentence about the
/// file.
pub trait KeptLeaf: Send {
    /// Begins a row group in the written file.
    fn begin(&mut self, properties: &WriterPropertiesPtr, pages: Box<dyn PageWriter>);

    /// Decodes rows unless some are unused. Returns how many rows are unused, or 0 at the end.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or over a limit.
    fn ready(&mut self) -> MessageResult<usize>;

    /// Returns how many of the next `rows` unused rows have at most `limit` bytes, but at least 1.
    fn fit(&self, rows: usize, limit: usize) -> usize;

    /// Writes the next unused rows that are selected, or all of them. Returns their bytes before compression.
    ///
    /// # Errors
    /// Returns an error if the values do not fit the column's type.
    fn copy(&mut self, rows: usize, selected: Option<&[bool]>) -> MessageResult<usize>;

    /// Ends the row group in the written file.
    ///
    /// # Errors
    /// Returns an error if there is no row group, or the values cannot be encoded.
    fn finish(&mut self) -> MessageResult<ColumnCloseResult>;

    /// Returns the memory that the current row group's pages need at once.
    fn page_bytes(&self) -> u64;
}

/// A leaf column with values of one type.
struct Leaf<T: DataType> {
    file: Arc<ParquetFile>,
    place: usize,
    descr: ColumnDescPtr,
    /// The next row group's index.
    next_group: usize,
    /// Remaining rows and levels in the current row group.
    rows_left: u64,
    levels_left: u64,
    page_bytes: u64,
    /// Bytes decoded so far.
    expanded: u64,
    reader: Option<ColumnReaderImpl<T>>,
    counts: Arc<ReadCounts>,
    writer: Option<ColumnWriterImpl<'static, T>>,
    /// Decoded rows.
    decoded: Levels<T::T>,
    /// Numbers of used rows, levels and values.
    used: (usize, usize, usize),
    rows: usize,
    /// Selected rows.
    selected: Levels<T::T>,
}

/// Values with their levels.
struct Levels<V> {
    values: Vec<V>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl<V> Levels<V> {
    fn new() -> Levels<V> {
        Levels { values: Vec::new(), definition: Vec::new(), repetition: Vec::new() }
    }

    fn clear(&mut self) {
        self.values.clear();
        self.definition.clear();
        self.repetition.clear();
    }
}

impl<T: DataType> Leaf<T> {
    fn boxed(kept: &Kept, place: usize, written: &ColumnDescPtr) -> Box<dyn KeptLeaf> {
        Box::new(Leaf::<T> {
            file: Arc::clone(&kept.file),
            place,
            descr: Arc::clone(written),
            next_group: 0,
            rows_left: 0,
            levels_left: 0,
            page_bytes: 0,
            expanded: 0,
            reader: None,
            counts: Arc::default(),
            writer: None,
            decoded: Levels::new(),
            used: (0, 0, 0),
            rows: 0,
            selected: Levels::new(),
        })
    }

    /// Opens the next row group with rows. Returns whether there is one.
    fn open(&mut self) -> MessageResult<bool> {
        while self.rows_left == 0 {
            let metadata = &self.file.metadata;
            if self.next_group == metadata.num_row_groups() {
                return Ok(false);
            }
            let group = metadata.row_group(self.next_group);
            self.next_group += 1;
            self.reader = None;
            self.rows_left = u64::try_from(group.num_rows()).map_err(|_| "a row group has a negative length")?;
            if self.rows_left == 0 {
                continue;
            }
            let chunk = group.columns().get(self.place).ok_or("a row group lacks a column")?;
            let values = u64::try_from(chunk.num_values()).map_err(|_| "has a negative number of values")?;
            let is_flat = self.descr.max_rep_level() == 0;
            if values < self.rows_left || is_flat && values > self.rows_left {
                return Err(format!("has {values} values, and its row group has {} rows", self.rows_left));
            }
            let chunk = Chunk::new(&self.file.source, &self.descr, chunk, values)?;
            self.page_bytes = chunk.survey(values, is_flat)?.memory;
            self.levels_left = values;
            let pages = CheckedPages::new(AheadPages::single(chunk), &self.descr, self.place, Arc::clone(&self.counts));
            let descr = Arc::clone(&self.descr);
            self.reader = Some(guarded(|| Ok::<_, String>(ColumnReaderImpl::new(descr, Box::new(pages))))?);
        }
        Ok(true)
    }

    fn decode(&mut self) -> MessageResult<()> {
        let (max_definition, max_repetition) = (self.descr.max_def_level(), self.descr.max_rep_level());
        let piece = if max_repetition > 0 { PIECE_LISTS } else { PIECE_ROWS };
        let rows = usize::try_from(self.rows_left).unwrap_or(piece).min(piece);
        self.decoded.clear();
        (self.used, self.rows) = ((0, 0, 0), 0);
        self.counts.reset();
        let Leaf { reader: Some(reader), decoded, .. } = self else { return Err("was not opened".into()) };
        let Levels { values, definition, repetition } = decoded;
        let read = guarded(|| {
            let definition = (max_definition > 0).then_some(&mut *definition);
            let repetition = (max_repetition > 0).then_some(&mut *repetition);
            reader.read_records(rows, definition, repetition, values)
        });
        // After an error, the reader's state is undefined.
        let (records, found, levels) = read.inspect_err(|_| self.reader = None)?;
        let is_within = |levels: &[i16], max: i16| levels.iter().all(|&level| (0..=max).contains(&level));
        let Levels { values, definition, repetition } = &self.decoded;
        let begun = if max_repetition > 0 { repetition.iter().filter(|&&level| level == 0).count() } else { levels };
        let present = definition.iter().filter(|&&level| level == max_definition).count();
        let is_consistent = records > 0
            && is_within(definition, max_definition)
            && is_within(repetition, max_repetition)
            && begun == records
            && repetition.first().is_none_or(|&level| level == 0)
            && found == values.len()
            && (max_definition == 0 || (present, definition.len()) == (found, levels))
            && (max_repetition == 0 || repetition.len() == levels);
        let left = self.levels_left.checked_sub(levels as u64);
        let Some(levels_left) = left.filter(|_| is_consistent) else {
            return Err(format!("has damaged pages: {} rows before the end of its row group", self.rows_left));
        };
        self.levels_left = levels_left;
        self.rows_left -= records as u64;
        self.rows = records;
        if self.rows_left == 0 && self.levels_left > 0 {
            return Err(format!("has {} values more than its row group has rows for", self.levels_left));
        }
        self.expanded = self.expanded.saturating_add(self.bytes(0..levels, 0..found) as u64);
        within(|| "bytes of its values so far:".into(), self.expanded, max_expanded_bytes(self.file.source.len()))
    }

    /// Returns the bytes that levels and values take.
    fn bytes(&self, levels: std::ops::Range<usize>, values: std::ops::Range<usize>) -> usize {
        let sizes = self.decoded.values[values].iter().map(|value| value.as_bytes().len());
        LEVEL_BYTES * levels.len() + sizes.sum::<usize>()
    }

    /// Returns the ends of a row's levels and values, which start at the given ones.
    fn row_end(&self, level: usize, value: usize) -> (usize, usize) {
        let Levels { definition, repetition, .. } = &self.decoded;
        let more = repetition.get(level + 1..).unwrap_or_default().iter().take_while(|&&level| level > 0).count();
        let end = level + 1 + more;
        let max = self.descr.max_def_level();
        let values = match definition.get(level..end) {
            Some(definition) => definition.iter().filter(|&&level| level == max).count(),
            None => 1,
        };
        (end, value + values)
    }

    fn copy_rows(&mut self, rows: usize, selected: Option<&[bool]>) -> MessageResult<usize> {
        let (_, first_level, first_value) = self.used;
        let (mut level, mut value) = (first_level, first_value);
        self.selected.clear();
        for row in 0..rows {
            let (level_end, value_end) = self.row_end(level, value);
            if selected.is_some_and(|selected| selected.get(row) == Some(&true)) {
                let (from, to) = (&self.decoded, &mut self.selected);
                to.values.extend_from_slice(&from.values[value..value_end]);
                to.definition.extend_from_slice(from.definition.get(level..level_end).unwrap_or_default());
                to.repetition.extend_from_slice(from.repetition.get(level..level_end).unwrap_or_default());
            }
            (level, value) = (level_end, value_end);
        }
        self.used = (self.used.0 + rows, level, value);
        let all = &self.decoded;
        let of =
            |levels: &'_ [i16]| -> std::ops::Range<usize> { if levels.is_empty() { 0..0 } else { first_level..level } };
        let (values, definition, repetition) = match selected {
            Some(_) => (&self.selected.values[..], &self.selected.definition[..], &self.selected.repetition[..]),
            None => (
                &all.values[first_value..value],
                &all.definition[of(&all.definition)],
                &all.repetition[of(&all.repetition)],
            ),
        };
        let definition_levels = (self.descr.max_def_level() > 0).then_some(definition);
        let repetition_levels = (self.descr.max_rep_level() > 0).then_some(repetition);
        if values.is_empty() && definition.is_empty() {
            return Ok(0);
        }
        let Some(writer) = &mut self.writer else { return Err("was not begun".into()) };
        guarded(|| writer.write_batch(values, definition_levels, repetition_levels).map(drop))?;
        let sizes = values.iter().map(|value| value.as_bytes().len()).sum::<usize>();
        Ok(sizes + LEVEL_BYTES * definition.len())
    }

    fn damage(&self, text: &str) -> String {
        self.file.damage(self.next_group.saturating_sub(1), self.place, text)
    }
}

impl<T: DataType> KeptLeaf for Leaf<T> {
    fn begin(&mut self, properties: &WriterPropertiesPtr, pages: Box<dyn PageWriter>) {
        self.writer = Some(ColumnWriterImpl::new(Arc::clone(&self.descr), Arc::clone(properties), pages));
    }

    fn ready(&mut self) -> MessageResult<usize> {
        if self.used.0 == self.rows {
            let opened = self.open().map_err(|text| self.damage(&text))?;
            if !opened {
                return Ok(0);
            }
            self.decode().map_err(|text| self.damage(&text))?;
        }
        Ok(self.rows - self.used.0)
    }

    fn fit(&self, rows: usize, limit: usize) -> usize {
        let (_, mut level, mut value) = self.used;
        let levels = level..self.decoded.definition.len().max(self.rows);
        if self.bytes(levels, value..self.decoded.values.len()) <= limit {
            return rows;
        }
        let mut left = limit;
        for row in 0..rows {
            let (level_end, value_end) = self.row_end(level, value);
            match left.checked_sub(self.bytes(level..level_end, value..value_end)) {
                Some(rest) => left = rest,
                None => return row.max(1),
            }
            (level, value) = (level_end, value_end);
        }
        rows
    }

    fn copy(&mut self, rows: usize, selected: Option<&[bool]>) -> MessageResult<usize> {
        self.copy_rows(rows.min(self.rows - self.used.0), selected).map_err(|text| self.damage(&text))
    }

    fn finish(&mut self) -> MessageResult<ColumnCloseResult> {
        let writer = self.writer.take().ok_or("internal error: no row group was begun; please report it")?;
        guarded(|| writer.close()).map_err(|text| self.damage(&text))
    }

    fn page_bytes(&self) -> u64 {
        self.page_bytes
    }
}
