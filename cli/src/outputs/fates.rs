//! The output file of `compile --fates`: a row for each capture, with its fate.

use std::path::Path;

use super::columns::Format;
use super::endings;
use super::file::{Complete, Output};
use super::parquet::Kind;
use super::sink::Sink;
use crate::error::{Failure, Result};
use crate::sets::fates::FateRow;

/// The columns and their types.
const COLUMNS: [(&str, Kind); 10] = [
    ("file", Kind::Word),
    ("record", Kind::Long),
    ("capture", Kind::Text),
    ("url", Kind::Text),
    ("time", Kind::Time),
    ("status", Kind::Long),
    ("redirects", Kind::Long),
    ("redirect_chain", Kind::Text),
    ("fate", Kind::Word),
    ("detail", Kind::Text),
];

/// Number of bytes per write.
const WRITTEN_BYTES: usize = 1 << 16;

/// A writer of captures' fates.
pub struct FateWriter {
    format: Format,
    leads: Vec<Vec<u8>>,
    sink: Sink,
    text: Vec<u8>,
    /// The input paths, as given.
    inputs: Vec<String>,
}

impl FateWriter {
    /// Starts a file. Its extension determines the format: TSV, CSV, JSON Lines or Parquet.
    ///
    /// # Errors
    /// Returns an error if the extension implies no format, or if the file cannot be written.
    pub fn new(path: &Path, output: Output, inputs: Vec<String>) -> Result<FateWriter> {
        let format = format_of(path)?;
        let names = COLUMNS.map(|(name, _)| name);
        let columns = COLUMNS.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let sink = Sink::new(output, (format == Format::Parquet).then_some(columns))?;
        let mut text = Vec::new();
        if matches!(format, Format::Tsv | Format::Csv | Format::Delimited(_)) {
            text = format.header(&names);
            text.push(b'\n');
        }
        Ok(FateWriter { format, leads: format.leads(&names), sink, text, inputs })
    }

    /// Adds a capture's row.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, row: &FateRow) -> Result<()> {
        let (format, text) = (self.format, &mut self.text);
        let mut leads = self.leads.iter();
        let mut cell = |text: &mut Vec<u8>, push: &dyn Fn(&mut Vec<u8>)| {
            text.extend_from_slice(leads.next().map_or(&[], |lead| lead));
            push(text);
        };
        let file = self.inputs.get(row.input).map_or("", |path| path);
        let number = |number: Option<u64>| move |text: &mut Vec<u8>| format.push_long(number, text);
        cell(text, &|text| format.push(file.as_bytes(), text));
        cell(text, &number(row.record));
        cell(text, &|text| format.push(row.name.as_bytes(), text));
        cell(text, &|text| format.push(row.url.as_bytes(), text));
        cell(text, &|text| format.push_time(row.time, text));
        cell(text, &number(row.status.map(u64::from)));
        cell(text, &number((!row.url.is_empty()).then_some(row.redirect_count.into())));
        cell(text, &|text| format.push(row.redirects.join(" ").as_bytes(), text));
        cell(text, &|text| format.push(row.fate.as_str().as_bytes(), text));
        cell(text, &|text| format.push(row.detail.as_bytes(), text));
        match format {
            Format::Jsonl => text.extend_from_slice(b"}\n"),
            Format::Tsv | Format::Csv | Format::Delimited(_) => text.push(b'\n'),
            Format::Parquet => {}
        }
        if text.len() >= WRITTEN_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.sink.write(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// Writes the remaining rows. The caller still has to publish the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self) -> Result<Option<Complete>> {
        self.write()?;
        self.sink.finish()?.complete()
    }
}

/// Returns the format that a file's extension implies.
///
/// # Errors
/// Returns an error if it implies none.
pub fn format_of(path: &Path) -> Result<Format> {
    let message = "--fates: unknown format; expected a file name that ends in .tsv, .csv, .jsonl or .parquet";
    endings::format_of(path).ok_or_else(|| Failure::at(path, message))
}
