//! Answer rows before they are written: [`AnswerRows`], as text or as columns. [`RowFormat`] fills them cell by cell.

use reptile::Verdict;

use crate::data::{CellSink, ColumnData, ColumnType};
use crate::text::format::{AnswerFormat, TextCell, safe_cells, verdict_words};
use crate::text::pieces::Text;

/// Consecutive rows as text, columns or a selection of the input rows. See [`TableDecider`](crate::TableDecider) for an
/// example.
pub enum AnswerRows {
    /// Text.
    Text(Text),
    /// The columns of Parquet or Arrow.
    Columns(Vec<ColumnData>),
    /// Whether a Parquet or Arrow output keeps each input row.
    Selected(Vec<bool>),
}

impl Default for AnswerRows {
    fn default() -> AnswerRows {
        AnswerRows::Text(Text::default())
    }
}

impl AnswerRows {
    /// Returns rows with this text.
    #[must_use]
    pub fn of_text(text: &[u8]) -> AnswerRows {
        let mut rows = Text::default();
        rows.push(text);
        AnswerRows::Text(rows)
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            AnswerRows::Text(text) => text.as_bytes().is_empty(),
            AnswerRows::Columns(columns) => columns.iter().all(ColumnData::is_empty),
            AnswerRows::Selected(rows) => rows.is_empty(),
        }
    }

    /// Removes all rows, and keeps the memory.
    pub fn clear(&mut self) {
        match self {
            AnswerRows::Text(text) => text.clear(),
            AnswerRows::Columns(columns) => columns.iter_mut().for_each(ColumnData::clear),
            AnswerRows::Selected(rows) => rows.clear(),
        }
    }

    /// Returns the text's size in bytes, or the number of rows in columns or a selection.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            AnswerRows::Text(text) => text.as_bytes().len(),
            AnswerRows::Columns(columns) => columns.first().map_or(0, ColumnData::len),
            AnswerRows::Selected(rows) => rows.len(),
        }
    }
}

/// The format of a table's rows, for tables other than verdicts.
///
/// ```
/// use reptile_columns::{AnswerFormat, AnswerRows, ColumnType, RowFormat};
///
/// let columns = vec![("host".into(), ColumnType::Text), ("count".into(), ColumnType::Count)];
/// let format = RowFormat::new(AnswerFormat::Csv, columns);
/// let mut rows = format.rows();
/// let mut row = format.begin(&mut rows);
/// row.text(b"example.com");
/// row.number(3);
/// row.end();
/// assert_eq!(format.header(), b"host,count\n");
/// let AnswerRows::Text(text) = rows else { return };
/// assert_eq!(text.as_bytes(), b"example.com,3\n");
/// ```
pub struct RowFormat {
    format: AnswerFormat,
    /// The names and kinds of all columns.
    columns: Vec<(String, ColumnType)>,
    /// The text before each cell.
    leads: Vec<Vec<u8>>,
    words: [String; 4],
}

impl RowFormat {
    /// Creates a format for rows with these columns.
    #[must_use]
    pub fn new(format: AnswerFormat, columns: Vec<(String, ColumnType)>) -> RowFormat {
        let names: Vec<&str> = columns.iter().map(|(name, _)| &**name).collect();
        let leads = format.leads(&names);
        RowFormat { format, columns, leads, words: verdict_words() }
    }

    /// Returns the columns' names and kinds.
    #[must_use]
    pub fn columns(&self) -> &[(String, ColumnType)] {
        &self.columns
    }

    /// Returns the header line with the column names, for the formats TSV and CSV.
    #[must_use]
    pub fn header(&self) -> Vec<u8> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| &**name).collect();
        let mut header = self.format.header(&names);
        header.push(b'\n');
        header
    }

    /// Returns empty rows.
    #[must_use]
    pub fn rows(&self) -> AnswerRows {
        match self.format {
            format if format.is_columnar() => {
                AnswerRows::Columns(self.columns.iter().map(|(_, kind)| ColumnData::new(kind.clone())).collect())
            }
            _ => AnswerRows::default(),
        }
    }

    /// Begins a row. Its cells follow in the columns' order.
    pub fn begin<'r>(&'r self, rows: &'r mut AnswerRows) -> RowCells<'r> {
        RowCells { format: self, rows, cell: 0, text: Vec::new() }
    }
}

/// A row that is being written. See [`RowFormat`] for an example.
pub struct RowCells<'r> {
    format: &'r RowFormat,
    rows: &'r mut AnswerRows,
    /// The next cell's index.
    cell: usize,
    text: Vec<u8>,
}

impl RowCells<'_> {
    fn write(&mut self, write: impl Fn(&mut dyn CellSink)) {
        let cell = self.cell;
        self.cell += 1;
        match self.rows {
            AnswerRows::Text(_) => {
                self.text.extend_from_slice(self.format.leads.get(cell).map_or(&[], |lead| lead));
                let RowFormat { format, words, .. } = self.format;
                write(&mut TextCell { format: *format, words, text: &mut self.text });
            }
            AnswerRows::Columns(columns) => {
                if let Some(column) = columns.get_mut(cell) {
                    write(&mut safe_cells(column));
                }
            }
            AnswerRows::Selected(_) => {}
        }
    }

    /// Writes a text cell. Bytes that act on a terminal or break the format become `%XX`.
    pub fn text(&mut self, text: &[u8]) {
        self.write(|out| out.text(text));
    }

    /// Writes a verdict.
    pub fn verdict(&mut self, verdict: Verdict) {
        self.write(|out| out.verdict(verdict));
    }

    /// Writes a numeric cell.
    pub fn number(&mut self, number: u32) {
        self.write(|out| out.number(number));
    }

    /// Writes a 64-bit numeric cell, or an empty cell.
    pub fn long(&mut self, number: Option<u64>) {
        self.write(|out| out.long(number));
    }

    /// Writes a time in seconds since 1970, or an empty cell.
    pub fn time(&mut self, time: Option<i64>) {
        self.write(|out| out.time(time));
    }

    /// Ends the row.
    pub fn end(self) {
        if let AnswerRows::Text(rows) = self.rows {
            rows.push(&self.text);
            rows.push(self.format.format.row_end());
        }
    }
}
