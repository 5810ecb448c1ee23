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
//! use reptile_records::parquet::ParquetFile;
//! use reptile_records::tables::{open::Opening, source::Source};
//!
//! let schema = parse_message_type("message table { required int64 id; required binary url (UTF8); }")?;
//! let file = tempfile::NamedTempFile::new()?;
//! SerializedFileWriter::new(file.reopen()?, Arc::new(schema), Arc::default())?.close()?;
//!
//! let source = Source::Parquet(ParquetFile::open(file.path())?);
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
mod file;
mod footer;
mod limits;
mod page;
mod rows;
mod runs;

use crate::Result;
use crate::batches::urls::{Selected, UrlRows};
use crate::tables::Table;
use crate::tables::open::Opening;
use rows::Batches;

pub use file::ParquetFile;

/// Finds a table's columns, with the URL column first. Uses Common Crawl's index columns if the file has no other URL
/// column.
///
/// # Errors
/// Returns an error if there is no such column, or if one has the wrong type.
pub(crate) fn open(file: ParquetFile, opening: &Opening) -> Result<(Table, UrlRows)> {
    let find = || {
        let mut selected = Selected::find(&file, opening)?;
        let kept = opening.kept.as_ref();
        let batches = Batches::new(file.clone(), &selected.places, selected.host(), kept)?;
        let table = Table::of_parquet(std::mem::take(&mut selected.names));
        Ok((table, UrlRows::new(Box::new(batches), &selected, opening.kept.clone())))
    };
    find().map_err(|text: String| file.failure(text))
}
