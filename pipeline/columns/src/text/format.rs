//! The formats of answers, and cells as text: TSV, CSV and JSON Lines.

use reptile::{Group, Verdict};
use reptile_records::tables;
use reptile_records::text::{opaque_column, url_column};
use reptile_records::time::{push_time, show_time};

use crate::column::{Column, Crawlers, Layout, VERDICTS};
use crate::data::{CellSink, ColumnCells, ColumnData};
use crate::error::{Error, ErrorKind};

/// The separator between names in TSV and CSV.
const BETWEEN: &str = ";";

/// An output format for answers. See [`TableDecider`](crate::TableDecider) for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Tabs between the cells.
    #[default]
    Tsv,
    /// Commas between the cells, and quotes where a cell needs them (RFC 4180).
    Csv,
    /// CSV with this byte between the cells, for tables with another delimiter.
    Delimited(u8),
    /// A JSON object on each line.
    Jsonl,
    /// Columns of a Parquet file: texts, numbers, times and lists, with nulls for missing values.
    Parquet,
    /// Columns of an Arrow IPC file, like Parquet.
    Arrow,
    /// Columns of an Arrow IPC stream, like Parquet.
    ArrowStream,
}

impl AnswerFormat {
    /// Returns whether rows are written as columns, and not as text.
    #[must_use]
    pub fn is_columnar(self) -> bool {
        matches!(self, AnswerFormat::Parquet | AnswerFormat::Arrow | AnswerFormat::ArrowStream)
    }

    /// Returns the format for adding columns to a table.
    #[must_use]
    pub fn of_table(format: tables::Format, delimiter: u8) -> AnswerFormat {
        match format {
            tables::Format::Csv if delimiter != b',' => AnswerFormat::Delimited(delimiter),
            tables::Format::List
            | tables::Format::Tsv
            | tables::Format::Cdx
            | tables::Format::Cdxj
            | tables::Format::Log
            | tables::Format::W3cLog
            | tables::Format::Archive => AnswerFormat::Tsv,
            tables::Format::Parquet => AnswerFormat::Parquet,
            tables::Format::Arrow => AnswerFormat::Arrow,
            tables::Format::Csv => AnswerFormat::Csv,
            tables::Format::Jsonl | tables::Format::JsonLog => AnswerFormat::Jsonl,
        }
    }

    /// Returns the format's name: `tsv`, `csv`, `jsonl`, `parquet`, `arrow` or `arrow-stream`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            AnswerFormat::Tsv => "tsv",
            AnswerFormat::Csv | AnswerFormat::Delimited(_) => "csv",
            AnswerFormat::Jsonl => "jsonl",
            AnswerFormat::Parquet => "parquet",
            AnswerFormat::Arrow => "arrow",
            AnswerFormat::ArrowStream => "arrow-stream",
        }
    }

    /// Checks that a layout's columns are unambiguous in this format.
    ///
    /// # Errors
    /// Returns an error if a text format would list a name that contains `;`, or that is `unknown` or `invalid`.
    pub fn check(self, layout: &Layout, crawlers: &Crawlers) -> Result<(), Error> {
        let is_text = matches!(self, AnswerFormat::Tsv | AnswerFormat::Csv | AnswerFormat::Delimited(_));
        let is_unclear = |name: &&String| {
            name.contains(BETWEEN)
                || [Verdict::Unknown, Verdict::Invalid].iter().any(|verdict| name.eq_ignore_ascii_case(verdict.name()))
        };
        let mut listed = crawlers.names().iter().filter(|_| is_text && layout.once.contains(&Column::Refused));
        let Some(name) = listed.find(is_unclear) else { return Ok(()) };
        let message = format!(
            "refused: the name {name:?} would be ambiguous in a {} list, which has ; between names; jsonl, parquet \
             and arrow have lists",
            self.name()
        );
        Err(Error::new(ErrorKind::Column, message))
    }

    /// Returns the byte between two cells.
    pub(crate) fn separator(self) -> u8 {
        match self {
            AnswerFormat::Tsv => b'\t',
            AnswerFormat::Delimited(delimiter) => delimiter,
            AnswerFormat::Csv
            | AnswerFormat::Jsonl
            | AnswerFormat::Parquet
            | AnswerFormat::Arrow
            | AnswerFormat::ArrowStream => b',',
        }
    }

    /// Returns the text before each cell in a row with these column names.
    pub(crate) fn leads(self, names: &[impl AsRef<str>]) -> Vec<Vec<u8>> {
        let lead = |(at, name): (usize, &_)| {
            let mut lead = Vec::new();
            if self == AnswerFormat::Jsonl {
                lead.push(if at == 0 { b'{' } else { b',' });
                self.push(AsRef::<str>::as_ref(name).as_bytes(), &mut lead);
                lead.push(b':');
            } else if at > 0 {
                lead.push(self.separator());
            }
            lead
        };
        names.iter().enumerate().map(lead).collect()
    }

    /// Returns the text after a row's last cell.
    pub(crate) fn row_end(self) -> &'static [u8] {
        if self == AnswerFormat::Jsonl { b"}\n" } else { b"\n" }
    }

    /// Returns the header line, without a line end, for these column names.
    pub(crate) fn header(self, names: &[impl AsRef<str>]) -> Vec<u8> {
        let mut header = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                header.push(self.separator());
            }
            self.push(name.as_ref().as_bytes(), &mut header);
        }
        header
    }

    /// Appends a text cell.
    pub(crate) fn push(self, cell: &[u8], text: &mut Vec<u8>) {
        let cell = url_column(cell);
        match self {
            AnswerFormat::Csv | AnswerFormat::Delimited(_)
                if memchr::memchr2(b'"', self.separator(), &cell).is_some() =>
            {
                text.push(b'"');
                for &byte in &*cell {
                    text.extend_from_slice(if byte == b'"' { b"\"\"" } else { std::slice::from_ref(&byte) });
                }
                text.push(b'"');
            }
            AnswerFormat::Jsonl => push_json(&cell, text),
            _ => text.extend_from_slice(&cell),
        }
    }

    /// Appends part of a cell. Every byte except printable ASCII becomes `%XX`, and so does any character that would
    /// need quotes.
    pub(crate) fn push_part(self, part: &[u8], text: &mut Vec<u8>) {
        for byte in opaque_column(part) {
            match byte {
                b'"' | b',' | b'\\' if self != AnswerFormat::Tsv => {
                    text.extend_from_slice(format!("%{byte:02X}").as_bytes())
                }
                _ => text.push(byte),
            }
        }
    }

    /// Appends an empty cell to a column that does not contain text.
    fn push_nothing(self, text: &mut Vec<u8>) {
        if self == AnswerFormat::Jsonl {
            text.extend_from_slice(b"null");
        }
    }
}

/// Appends a JSON string. Invalid UTF-8 bytes become `%XX`, which means the same in a URL.
fn push_json(cell: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    for chunk in cell.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        for byte in chunk.invalid() {
            text.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    text.push(b'"');
}

/// Returns the words for verdicts in text, in numeric order.
pub(crate) fn verdict_words() -> [String; 4] {
    VERDICTS.map(|verdict| verdict.name().to_owned())
}

/// A cell in a text row.
pub(crate) struct TextCell<'t> {
    pub(crate) format: AnswerFormat,
    /// The verdicts as displayed, in numeric order.
    pub(crate) words: &'t [String; 4],
    pub(crate) text: &'t mut Vec<u8>,
}

impl CellSink for TextCell<'_> {
    fn text(&mut self, text: &[u8]) {
        self.format.push(text, self.text);
    }

    fn verdict(&mut self, verdict: Verdict) {
        let quote: &[u8] = if self.format == AnswerFormat::Jsonl { b"\"" } else { b"" };
        let word = self.words[verdict as usize].as_bytes();
        [quote, word, quote].iter().for_each(|part| self.text.extend_from_slice(part));
    }

    fn group(&mut self, group: Group) {
        self.text(group.as_str().as_bytes());
    }

    fn number(&mut self, number: u32) {
        self.text.extend_from_slice(number.to_string().as_bytes());
    }

    fn long(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.text.extend_from_slice(number.to_string().as_bytes()),
            None => self.format.push_nothing(self.text),
        }
    }

    fn time(&mut self, time: Option<i64>) {
        match (time, self.format) {
            (None, _) => self.format.push_nothing(self.text),
            // The delimiter may occur in a time.
            (Some(time), AnswerFormat::Delimited(_)) => self.text(show_time(time).as_bytes()),
            (Some(time), format) => {
                let quote: &[u8] = if format == AnswerFormat::Jsonl { b"\"" } else { b"" };
                self.text.extend_from_slice(quote);
                push_time(time, self.text);
                self.text.extend_from_slice(quote);
            }
        }
    }

    fn list(&mut self, names: &[String], places: Result<&mut dyn Iterator<Item = usize>, Verdict>) {
        let places = match (places, self.format) {
            (Ok(places), _) => places,
            (Err(_), AnswerFormat::Jsonl) => return self.format.push_nothing(self.text),
            // An empty cell would be an empty list.
            (Err(verdict), _) => return self.text(verdict.name().as_bytes()),
        };
        let listed = places.filter_map(|at| names.get(at)).enumerate();
        if self.format == AnswerFormat::Jsonl {
            self.text.push(b'[');
            for (place, name) in listed {
                if place > 0 {
                    self.text.push(b',');
                }
                self.format.push(name.as_bytes(), self.text);
            }
            self.text.push(b']');
            return;
        }
        let start = self.text.len();
        for (place, name) in listed {
            self.text.extend_from_slice(if place > 0 { BETWEEN.as_bytes() } else { b"" });
            self.text.extend_from_slice(name.as_bytes());
        }
        // Nearly all names need no quotes or escapes.
        if !self.text[start..].iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b',')) {
            let cell = self.text.split_off(start);
            self.format.push(&cell, self.text);
        }
    }
}

/// Returns a sink that appends cells, with texts made safe for a terminal as in the text formats.
pub(crate) fn safe_cells(column: &mut ColumnData) -> ColumnCells<'_> {
    ColumnCells { column, clean: url_column }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_formats_reject_ambiguous_names() {
        let (refused, mask) = (Layout::new(&[Column::Refused]).unwrap(), Layout::new(&[Column::Mask]).unwrap());
        for name in ["a;b", "Unknown", "invalid"] {
            let names = Crawlers::Named(vec![name.to_owned()]);
            assert!(AnswerFormat::Csv.check(&refused, &names).is_err(), "{name}");
            assert!(AnswerFormat::Jsonl.check(&refused, &names).is_ok(), "{name}");
            assert!(AnswerFormat::Csv.check(&mask, &names).is_ok(), "{name}");
        }
    }
}
