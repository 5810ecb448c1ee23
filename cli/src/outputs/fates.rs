//! The output file of `compile --fates`: a row for each capture, with its fate.

use std::collections::BTreeMap;

use reptile_columns::{AnswerFormat, AnswerRows, ColumnType, RowFormat};

use super::endings;
use super::file::{Complete, Output};
use super::sink::Sink;
use crate::error::{Failure, Result};
use crate::run::lineage::{METADATA_KEY, NamedCounts, named};
use crate::sets::fates::FateRow;
use reptile_records::place::Place;

/// The columns and their types.
const COLUMNS: [(&str, ColumnType); 11] = [
    ("file", ColumnType::Word),
    ("record", ColumnType::Long),
    ("capture", ColumnType::Text),
    ("url", ColumnType::Text),
    ("time", ColumnType::Time),
    ("status", ColumnType::Long),
    ("redirects", ColumnType::Long),
    ("redirect_chain", ColumnType::Text),
    ("fate", ColumnType::Word),
    ("detail", ColumnType::Text),
    ("digest", ColumnType::Text),
];

/// Text bytes, or rows of columns, per write.
const WRITTEN_SIZE: usize = 1 << 16;

/// A writer of captures' fates.
pub struct FateWriter {
    format: RowFormat,
    sink: Sink,
    rows: AnswerRows,
    /// The input paths, as given.
    inputs: Vec<String>,
    /// Number of captures with each fate.
    counts: BTreeMap<&'static str, u64>,
}

impl FateWriter {
    /// Starts a file. Its extension determines the format: TSV, CSV, JSON Lines, Parquet or Arrow.
    ///
    /// # Errors
    /// Returns an error if the extension implies no format, or if the file cannot be written.
    pub fn new(path: &Place, output: Output, inputs: Vec<String>) -> Result<FateWriter> {
        let format = format_of(path)?;
        let columns = COLUMNS.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let has_header = matches!(format, AnswerFormat::Tsv | AnswerFormat::Csv);
        let sink = Sink::new(output, format, columns.clone(), None)?;
        let format = RowFormat::new(format, columns);
        let rows = if has_header { AnswerRows::of_text(&format.header()) } else { format.rows() };
        Ok(FateWriter { format, sink, rows, inputs, counts: BTreeMap::new() })
    }

    /// Adds a capture's row.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, row: &FateRow) -> Result<()> {
        *self.counts.entry(row.fate.as_str()).or_default() += 1;
        let file = self.inputs.get(row.input).map_or("", |path| path);
        let mut cells = self.format.begin(&mut self.rows);
        cells.text(file.as_bytes());
        cells.long(row.record);
        cells.text(row.name.as_bytes());
        cells.text(row.url.as_bytes());
        cells.time(row.time);
        cells.long(row.status.map(u64::from));
        cells.long((!row.url.is_empty()).then_some(row.redirect_count.into()));
        cells.text(row.redirects.join(" ").as_bytes());
        cells.text(row.fate.as_str().as_bytes());
        cells.text(row.detail.as_bytes());
        cells.text(row.digest.as_bytes());
        cells.end();
        if self.rows.len() >= WRITTEN_SIZE { self.write() } else { Ok(()) }
    }

    /// Returns the number of captures with each fate.
    pub fn counts(&self) -> NamedCounts {
        named(&self.counts)
    }

    fn write(&mut self) -> Result<()> {
        self.sink.write(&self.rows)?;
        self.rows.clear();
        Ok(())
    }

    /// Writes the remaining rows, and the stamp of a Parquet or Arrow file. The caller still has to publish the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self, stamp: &str) -> Result<Option<Complete>> {
        self.write()?;
        self.sink.describe(METADATA_KEY, stamp);
        self.sink.finish()?.complete()
    }
}

/// Returns the format that a file's extension implies.
///
/// # Errors
/// Returns an error if it implies none.
pub fn format_of(path: &Place) -> Result<AnswerFormat> {
    let message =
        "--fates: unknown format; expected a file name that ends in .tsv, .csv, .jsonl, .parquet, .arrow or .arrows";
    endings::format_of(path).ok_or_else(|| Failure::at(path, message))
}
