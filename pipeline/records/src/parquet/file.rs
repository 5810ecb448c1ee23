//! An open Parquet file with its checked footer: [`ParquetFile`].

use std::sync::Arc;

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::{ColumnDescriptor, TypePtr};

use super::footer;
use super::limits::MAX_FOOTER_BYTES;
use crate::batches::guard::guarded;
use crate::magic::{ENCRYPTED_PARQUET, PARQUET};
use crate::place::Place;
use crate::ranged::Ranged;
use crate::{Error, Result};
/// Size in bytes of the footer length and the magic bytes at a file's end.
const TAIL_BYTES: u64 = 8;

/// A result whose error text continues a sentence that begins with the file's path.
pub type MessageResult<T> = std::result::Result<T, String>;

/// An open Parquet file. Clones share it.
#[derive(Clone)]
pub struct ParquetFile {
    pub(super) path: Place,
    pub(super) source: Arc<Ranged>,
    pub(super) metadata: Arc<ParquetMetaData>,
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
    pub(super) fn columns(&self) -> &[Arc<ColumnDescriptor>] {
        self.metadata.file_metadata().schema_descr().columns()
    }

    /// Creates an error for this file.
    pub(super) fn failure(&self, text: impl std::fmt::Display) -> Error {
        Error::at(&self.path, text)
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

impl ParquetFile {
    /// Returns the names of the schema's fields, which are the table's columns.
    #[must_use]
    pub fn field_names(&self) -> Vec<&str> {
        self.schema_fields().iter().map(|field| field.name()).collect()
    }

    pub(super) fn schema_fields(&self) -> &[TypePtr] {
        self.metadata.file_metadata().schema_descr().root_schema().get_fields()
    }
}
