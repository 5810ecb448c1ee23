//! Parquet files: their columns by name, and the selected columns' cells in batches.
//!
//! The crate `parquet` reads the footer after [`footer`] has checked its shape. Pages are read and decompressed here
//! ([`page`], [`ahead`]), and their values become cells ([`decode`], [`runs`]), all within the limits in [`limits`].
//! [`kinds`] lists the supported column types. [`urls`] turns cells into URL table rows, [`captures`] into robots.txt
//! captures.
//! [`kept`] copies the columns that another Parquet file keeps, whose pages [`checked`] checks.
//!
//! ```
//! use std::sync::Arc;
//!
//! use parquet::file::writer::SerializedFileWriter;
//! use parquet::schema::parser::parse_message_type;
//! use reptile_records::parquet::{ParquetFile, urls::Splitting};
//! use reptile_records::tables::{open::Opening, source::Source};
//!
//! let schema = parse_message_type("message table { required int64 id; required binary url (UTF8); }")?;
//! let file = tempfile::NamedTempFile::new()?;
//! SerializedFileWriter::new(file.reopen()?, Arc::new(schema), Arc::default())?.close()?;
//!
//! let source = Source::Parquet(ParquetFile::open(file.path())?, Splitting::default());
//! let (table, mut rows) = source.open_rows(&Opening::of(file.path()))?;
//! assert_eq!(table.to_string(), "Parquet, URLs in column 2 (\"url\")");
//! assert!(rows.next(Vec::new(), &|| true)?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ahead;
pub(crate) mod captures;
pub(crate) mod cells;
mod checked;
mod column;
mod decode;
mod encoding;
mod footer;
pub(crate) mod guard;
pub mod kept;
pub(crate) mod kinds;
pub(crate) mod limits;
mod page;
mod runs;
pub mod urls;

use std::sync::Arc;

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::ColumnDescriptor;

use crate::magic::{ENCRYPTED_PARQUET, PARQUET};
use crate::place::Place;
use crate::ranged::Ranged;
use crate::tables::named::NamedColumns;
use crate::{Error, Result};
use column::Column;
use guard::guarded;
use kinds::Class;
use limits::{MAX_FOOTER_BYTES, MAX_GROUP_BYTES, max_expanded_bytes, within};

/// Size in bytes of the footer length and the magic bytes at a file's end.
const TAIL_BYTES: u64 = 8;

/// A result whose error text continues a sentence that begins with the file's path.
type MessageResult<T> = std::result::Result<T, String>;

/// An open Parquet file. Clones share it.
#[derive(Clone)]
pub struct ParquetFile {
    path: Place,
    source: Arc<Ranged>,
    metadata: Arc<ParquetMetaData>,
}

impl ParquetFile {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// Returns an error if the file is unreadable, or if its footer is missing, invalid or over a limit.
    pub fn open(path: impl Into<Place>) -> Result<ParquetFile> {
        let path = &path.into();
        ParquetFile::of(path, Ranged::open(path).map_err(|error| Error::io(path, error))?)
    }

    /// Reads the footer of an open file.
    ///
    /// # Errors
    /// Returns the errors of [`ParquetFile::open`].
    pub(crate) fn of(path: &Place, source: Ranged) -> Result<ParquetFile> {
        let fail = |text: String| Error::at(path, text);
        let metadata = Arc::new(read_footer(&source).map_err(fail)?);
        Ok(ParquetFile { path: path.into(), source: Arc::new(source), metadata })
    }

    /// Returns the descriptions of all columns.
    fn columns(&self) -> &[Arc<ColumnDescriptor>] {
        self.metadata.file_metadata().schema_descr().columns()
    }

    /// Creates an error for this file.
    fn failure(&self, text: impl std::fmt::Display) -> Error {
        Error::at(&self.path, text)
    }
}

impl NamedColumns for ParquetFile {
    fn column_count(&self) -> usize {
        self.columns().len()
    }

    fn name(&self, at: usize) -> String {
        self.columns().get(at).map(|column| column.path().string()).unwrap_or_default()
    }

    fn class(&self, at: usize) -> MessageResult<Class> {
        let column = self.columns().get(at).ok_or("has no columns")?;
        kinds::class_of(column).map(|(class, _)| class)
    }

    fn type_name(&self, at: usize) -> String {
        self.columns().get(at).map(|column| kinds::type_name(column)).unwrap_or_default()
    }

    fn text_types(&self) -> &'static str {
        "text (BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY)"
    }
}

/// Reads a file's footer.
fn read_footer(source: &Ranged) -> MessageResult<ParquetMetaData> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let damaged = "is a damaged Parquet file: it does not end with the magic bytes PAR1; it may be cut off";
    let end = source.len().checked_sub(TAIL_BYTES).ok_or(damaged)?;
    let tail = source.at(end, TAIL_BYTES as usize).map_err(cannot)?;
    let len = match tail.split_first_chunk() {
        Some((&len, PARQUET)) => u32::from_le_bytes(len) as usize,
        Some((_, ENCRYPTED_PARQUET)) => return Err(footer::ENCRYPTED.into()),
        _ => return Err(damaged.into()),
    };
    if len > MAX_FOOTER_BYTES {
        return Err(format!("is a damaged Parquet file: its footer has {len} bytes; the limit is {MAX_FOOTER_BYTES}"));
    }
    let start = end.checked_sub(len as u64).ok_or("is a damaged Parquet file: its footer is longer than the file")?;
    let footer = source.at(start, len).map_err(cannot)?;
    footer::check(&footer)?;
    let metadata = guarded(|| ParquetMetaDataReader::decode_metadata(&footer))
        .map_err(|text| format!("is a damaged Parquet file: {text}"))?;
    let rows = metadata.row_groups().iter().try_fold(0_i64, |sum, group| sum.checked_add(group.num_rows()));
    if rows != Some(metadata.file_metadata().num_rows()) {
        let whole = metadata.file_metadata().num_rows();
        return Err(format!("is a damaged Parquet file: its row groups do not have the {whole} rows in its footer"));
    }
    Ok(metadata)
}

/// Reads several columns in parallel, one row group at a time.
struct Batches {
    file: Arc<ParquetFile>,
    columns: Vec<Column>,
    /// The next row group's index.
    next_group: usize,
    /// Number of unused rows in the current row group.
    left: u64,
    /// Cell bytes read so far.
    expanded: u64,
}

impl Batches {
    /// Creates a reader for the columns with these indexes, each with its maximum length in bytes for kept cells.
    ///
    /// # Errors
    /// Returns an error if a column is a list, or has an unsupported type.
    pub fn new(file: Arc<ParquetFile>, columns: &[(usize, usize)]) -> MessageResult<Batches> {
        let columns: MessageResult<Vec<Column>> = columns
            .iter()
            .map(|&(at, limit)| {
                let descr = file.columns().get(at).ok_or("has no columns")?;
                Column::new(at, Arc::clone(descr), limit).map_err(|text| format!("{} {text}", file.describe(at)))
            })
            .collect();
        Ok(Batches { columns: columns?, file, next_group: 0, left: 0, expanded: 0 })
    }

    /// Reads more cells for each column without unused cells. Returns the number of rows that are ready in every
    /// column, or 0 at the end.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or over a limit.
    pub fn fill(&mut self) -> MessageResult<usize> {
        use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
        while self.left == 0 {
            let metadata = &self.file.metadata;
            if self.next_group == metadata.num_row_groups() {
                return Ok(0);
            }
            let group = metadata.row_group(self.next_group);
            self.left = u64::try_from(group.num_rows()).map_err(|_| "a row group has a negative length")?;
            let mut memory = 0;
            for column in &mut self.columns {
                let chunk = group.columns().get(column.place()).ok_or("a row group lacks a column")?;
                memory += column
                    .begin(&self.file.source, chunk, self.left)
                    .map_err(|text| self.file.damage(self.next_group, column.place(), &text))?;
            }
            self.next_group += 1;
            let what = || format!("row group {}: bytes of the largest pages of its columns:", self.next_group);
            within(what, memory, MAX_GROUP_BYTES)?;
        }
        let (file, group) = (&self.file, self.next_group - 1);
        let fill = |column: &mut Column| column.fill().map_err(|text| file.damage(group, column.place(), &text));
        // If several columns are damaged, the reported one is always the same.
        let filled: Vec<MessageResult<u64>> = self.columns.par_iter_mut().map(fill).collect();
        for bytes in filled {
            self.expanded = self.expanded.saturating_add(bytes?);
        }
        within(|| "bytes of its cells so far:".into(), self.expanded, max_expanded_bytes(file.source.len()))?;
        Ok(self.columns.iter().map(Column::waiting).min().unwrap_or(0))
    }

    /// Marks rows as used: at most the number that [`Batches::fill`] returned.
    pub fn take(&mut self, rows: usize) {
        self.left = self.left.saturating_sub(rows as u64);
        self.columns.iter_mut().for_each(|column| column.take(rows));
    }
}

impl ParquetFile {
    /// Describes damage to a column in a row group.
    fn damage(&self, group: usize, column: usize, text: &str) -> String {
        format!("row group {}, {}: {text}", group + 1, self.describe(column))
    }
}
