//! Parquet files: their columns by name, and the selected columns' cells in batches.
//!
//! The crate `parquet` reads the footer after [`footer`] has checked its shape. Pages are read, decompressed and checked
//! here ([`page`], [`ahead`], [`checked`]), all within the limits in [`limits`], and the crate decodes their values
//! ([`rows`]). [`fields`] has the supported column types. [`captures`] turns rows into robots.txt captures,
//! [`batches`](crate::batches) into URL table rows.
//!
//! ```
//! use std::sync::Arc;
//!
//! use parquet::file::writer::SerializedFileWriter;
//! use parquet::schema::parser::parse_message_type;
//! use reptile_records::batches::urls::Splitting;
//! use reptile_records::parquet::ParquetFile;
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
mod checked;
mod encoding;
mod fields;
mod footer;
mod limits;
mod page;
mod rows;
mod runs;

use std::sync::Arc;

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::{ColumnDescriptor, TypePtr};

use crate::batches::cells::Class;
use crate::batches::guard::guarded;
use crate::batches::urls::{Rows, Selected, Splitting};
use crate::magic::{ENCRYPTED_PARQUET, PARQUET};
use crate::place::Place;
use crate::ranged::Ranged;
use crate::tables::Table;
use crate::tables::named::NamedColumns;
use crate::tables::open::Opening;
use crate::{Error, Result};
use limits::MAX_FOOTER_BYTES;
use rows::Batches;

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
        fields::class_of(column)
    }

    fn type_name(&self, at: usize) -> String {
        self.columns().get(at).map(|column| fields::type_name(column)).unwrap_or_default()
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

/// Finds a table's columns, with the URL column first. Uses Common Crawl's index columns if the file has no other URL
/// column.
///
/// # Errors
/// Returns an error if there is no such column, or if one has the wrong type.
pub(crate) fn open(file: ParquetFile, opening: &Opening, splitting: Splitting) -> Result<(Table, Rows)> {
    let find = || {
        let mut selected = Selected::find(&file, opening, splitting)?;
        let kept = opening.kept.as_ref();
        let batches = Batches::new(file.clone(), &selected.places, selected.host(), kept)?;
        let table = Table::of_parquet(std::mem::take(&mut selected.names));
        Ok((table, Rows::new(Box::new(batches), &selected, opening.kept.clone())))
    };
    find().map_err(|text: String| file.failure(text))
}

impl ParquetFile {
    /// Returns the names of the schema's fields, which are the table's columns.
    #[must_use]
    pub fn field_names(&self) -> Vec<&str> {
        self.schema_fields().iter().map(|field| field.name()).collect()
    }

    fn schema_fields(&self) -> &[TypePtr] {
        self.metadata.file_metadata().schema_descr().root_schema().get_fields()
    }
}
