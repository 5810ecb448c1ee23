//! URL tables: lists, TSV, CSV, JSON Lines, CDX, CDXJ and access logs. Reads rows and finds their wanted cells.
//!
//! [`open`] recognizes the format, [`delimiter`] detects delimiters, and [`columns`] finds the columns. This file returns
//! the rows in a block. [`csv`], [`json`], [`cdx`], [`json_rows`], [`cdxj`] and [`log`] read rows in their formats, and
//! [`address`] completes partial URLs. Cells are not interpreted here, and rows need no allocation unless a cell
//! contains quotes or escapes. URLs that are built from several cells or a log's fields use the block's memory.
//!
//! ```
//! use bumpalo::Bump;
//! use reptile_records::tables::open::Opening;
//! use reptile_records::tables::source::{Block, Source};
//! use reptile_records::tables::{Fault, Format};
//!
//! let text = b"id,url\n1,\"https://example.com/a,b\"\n2\n";
//! let (table, mut rows) = Source::Text(Box::new(&text[..])).open_rows(&Opening::of("urls.csv"))?;
//! assert_eq!((table.format, &table.header[..]), (Format::Csv, &b"id,url\n"[..]));
//! let (arena, mut found) = (Bump::new(), Vec::new());
//! while let Some(part) = rows.next(Vec::new(), &|| true)? {
//!     for block in part.blocks() {
//!         let Block::Text(block) = block else { continue };
//!         found.extend(table.rows(block, &arena).map(|row| (row.cells[0].map(<[u8]>::to_vec), row.fault)));
//!     }
//! }
//! assert_eq!(found, [(Some(b"https://example.com/a,b".to_vec()), None), (None, Some(Fault::FewCells))]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod address;
mod cdx;
mod cdxj;
mod columns;
pub mod csv;
mod delimiter;
mod guess;
mod json;
mod json_rows;
pub mod log;
pub(crate) mod named;
pub mod open;
pub mod quotes;
mod row;
pub mod source;
mod whole;

use std::fmt;
use std::sync::Arc;

use bumpalo::Bump;
use memchr::memchr;

use super::lines::{MAX_LINE_BYTES, RowEnds, trimmed_url, without_lf, without_line_end};
use super::time::Zone;
use address::UrlCells;
use cdx::Cdx;
use cdxj::Cdxj;
use csv::{Records, RowKind, UnclearCell, count_cells, plain_cells};
use delimiter::shown_delimiter;
use json::Fields;
use json_rows::JsonRows;
use log::Log;
use log::json::JsonLog;
use log::w3c::{W3c, without_mark};
use quotes::{Escape, Quoting};
use row::{is_url, pick};

pub(crate) use cdxj::{is_cdxj, is_marked};
pub(crate) use guess::requests_or_captures;
pub(crate) use row::{MAX_RAW_CELLS, is_url_name};

pub use csv::COMMA;
pub use delimiter::Delimiter;
pub use guess::hint;
pub use row::{Cells, ColumnOption, Fault, MAX_CELLS};
pub use whole::NamedCells;

/// The metadata key under which an output says how it was made. An output never keeps its input's entry.
pub const LINEAGE_KEY: &str = "reptile";

/// The UTF-8 byte order mark, which some programs write.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The format of a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A URL on each line
    List,
    /// A row on each line, tabs between its cells, no line ends in quotes
    Tsv,
    /// Commas or --delimiter between the cells of a row; cells may have quotes (RFC 4180)
    Csv,
    /// A JSON object on each line
    Jsonl,
    /// The classic index of a web archive: a legend in the first line, and cells with its delimiter in all others; or
    /// the server's lines without a legend, as text or in JSON
    Cdx,
    /// The index of a web archive: a key, a time and a JSON object with the URL on each line
    Cdxj,
    /// An access log with a line for each request, in the common or the combined format or in the user's
    Log,
    /// An access log with a JSON object on each line, with the fields of a known program
    JsonLog,
    /// An access log whose #Fields: line names the fields (W3C): IIS, CloudFront
    W3cLog,
    /// A Parquet file
    Parquet,
    /// Arrow IPC, a file or a stream
    Arrow,
    /// A crawl archive, whose rows are pages
    Archive,
}

impl Format {
    /// Returns whether the rows are requests to a server.
    #[must_use]
    pub fn is_log(self) -> bool {
        matches!(self, Format::Log | Format::JsonLog | Format::W3cLog)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::List => "a list of URLs",
            Format::Tsv => "TSV",
            Format::Csv => "CSV",
            Format::Jsonl => "JSON Lines",
            Format::Cdx => "CDX",
            Format::Cdxj => "CDXJ",
            Format::Log => "an access log",
            Format::JsonLog => "an access log in JSON",
            Format::W3cLog => "an access log with a #Fields: line",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow IPC",
            Format::Archive => "a crawl archive",
        })
    }
}

/// A table with a known format and known columns.
#[derive(Debug)]
pub struct Table {
    /// The format.
    pub format: Format,
    /// The delimiter between cells in a CSV row.
    pub delimiter: u8,
    /// The rules for quotes, unless they are text.
    quoting: Option<Quoting>,
    /// The first row with its line end if it names the columns, or else empty.
    pub header: Vec<u8>,
    /// The number of lines before the header or the first row, which only describe the file.
    pub lines_before: u64,
    /// The wanted columns' names, for messages.
    names: Vec<String>,
    columns: Columns,
    assembly: Assembly,
}

/// The rule that makes a URL from a row's cells.
#[derive(Debug)]
enum Assembly {
    /// The first cell is the URL.
    Whole,
    /// The first cell is the URL, which gets this scheme if it lacks one.
    Completed(&'static str),
    /// The first cells are parts of the URL.
    Parts(UrlCells),
    /// The cells are the fields of a request.
    Request(JsonLog),
}

/// The locations of a row's wanted cells.
#[derive(Debug)]
enum Columns {
    /// The line is the only cell.
    Line,
    /// The line is the only cell, and must be a URL without spaces.
    Url,
    /// Cell numbers, from 0.
    Numbers(Numbers),
    /// JSON fields.
    Fields(Fields),
    /// Cells of a CDX line.
    Cdx(Cdx),
    /// Cells of a CDX line in JSON.
    JsonRows(JsonRows),
    /// Parts of a CDXJ line.
    Cdxj(Cdxj),
    /// Parts of an access log line.
    Log(Box<Log>),
    /// Fields of an access log line, named by an earlier `#Fields:` line.
    W3c(Arc<W3c>),
    /// No text to search: reading Parquet or Arrow IPC returns the cells.
    AtHand,
}

/// The wanted cells' numbers, and the number of cells that a row has.
#[derive(Debug, Default)]
struct Numbers {
    /// Cell numbers, from 0.
    wanted: Vec<usize>,
    /// Number of cells in the first row, without empty names at its end.
    least: usize,
    /// Number of cells in the first row. Further cells must be empty.
    most: usize,
}

impl Numbers {
    /// Returns the fault of a row with this number of cells. `is_empty_from` returns whether all cells from a number on
    /// are empty.
    #[inline]
    fn fault(&self, count: usize, is_empty_from: impl Fn(usize) -> bool) -> Option<Fault> {
        match count {
            count if count < self.least => Some(Fault::FewCells),
            count if count > self.most && !is_empty_from(self.most) => Some(Fault::ManyCells),
            _ => None,
        }
    }
}

impl Fault {
    /// Describes the problem, in the same words for all affected rows.
    pub fn describe(self, table: &Table) -> String {
        match self {
            Fault::TooLong => format!("more than {MAX_LINE_BYTES} bytes"),
            Fault::Unclosed => "a quote that is not closed".into(),
            Fault::NotJson => "not a JSON object".into(),
            Fault::NoCell => format!("without {}", table.names.first().map_or("the column", String::as_str)),
            Fault::NoTime => format!("no time in {}", table.names.get(1).map_or("the column", String::as_str)),
            Fault::NotCdx => "not a line of CDX with a cell for each column".into(),
            Fault::NotCdxj => "not a line of CDXJ".into(),
            Fault::NotLog => "not a line of an access log".into(),
            Fault::NoRequest => "an empty request".into(),
            Fault::BrokenRequest => "a broken request".into(),
            Fault::NoTarget => "a request for no URL (CONNECT or *)".into(),
            Fault::NoHost => "no virtual host".into(),
            Fault::NoScheme => "no scheme, or one other than http, https and ftp".into(),
            Fault::NotHost => "a malformed host".into(),
            Fault::NotPort => "no port from 1 to 65535, or two ports".into(),
            Fault::NotPath => "a path without a slash at its start".into(),
            Fault::TwoQueries => "a query in both the path and its own column".into(),
            Fault::OtherHost => "a request for another host".into(),
            Fault::TwoReadings => "a line that can be read in two ways".into(),
            Fault::FewCells => format!("fewer cells than {}", table.shown_width()),
            Fault::ManyCells => format!("more cells than {}", table.shown_width()),
            Fault::AfterQuote => "text after a closing quote".into(),
            Fault::Escape => "a backslash that may escape a quote".into(),
            Fault::Quote => "a quote at the start of a cell".into(),
            Fault::Mark => "a byte order mark, as in files that were put together".into(),
            Fault::SecondHeader => "the header again, as in files that were put together".into(),
            Fault::TwoFields => "a field twice in one object".into(),
            Fault::Directive => "a line about the log, and not a request".into(),
            Fault::Space => "a space within a URL, or text after it".into(),
        }
    }

    /// Returns the options that say how to read such a row, for a message.
    pub fn remedy(self, table: &Table) -> Option<&'static str> {
        let escape = table.quoting.and_then(|quoting| quoting.escape);
        match (self, escape) {
            (Fault::AfterQuote | Fault::Escape, None) => {
                Some("--escape backslash reads \\\" as a quote, and --escape quote reads \"\" as one")
            }
            (Fault::AfterQuote, Some(Escape::Quote)) => Some("--escape backslash reads \\\" as a quote"),
            (Fault::AfterQuote, Some(Escape::Backslash)) => Some("--escape quote reads \"\" as a quote"),
            (Fault::Quote, _) => Some(
                "--input-format tsv reads quotes as text, and --input-format csv --delimiter tab reads quoted cells",
            ),
            (Fault::Space, _) => Some(
                "--delimiter space --url 1 reads the text before the space, and --input-format list the whole line",
            ),
            _ => None,
        }
    }
}

/// A table row.
#[derive(Debug)]
pub struct Row<'b> {
    /// Offset in the block.
    pub start: usize,
    /// The whole row with its line end.
    pub bytes: &'b [u8],
    /// The wanted cells.
    pub cells: Cells<'b>,
    /// The reason why the first wanted cell is missing, if it is.
    pub fault: Option<Fault>,
}

impl Table {
    /// Creates the table for a URL list.
    pub fn list() -> Table {
        Table::new(Format::List, Vec::new(), Columns::Line)
    }

    /// Creates the table for a detected URL list, in which text after a space may be another column.
    fn of_urls() -> Table {
        Table::new(Format::List, Vec::new(), Columns::Url)
    }

    /// Creates the table for a Parquet file. Only the wanted columns are read.
    pub(crate) fn of_parquet(names: Vec<String>) -> Table {
        Table::new(Format::Parquet, names, Columns::AtHand)
    }

    /// Creates the table for Arrow IPC. Only the wanted columns are read.
    pub(crate) fn of_arrow(names: Vec<String>) -> Table {
        Table::new(Format::Arrow, names, Columns::AtHand)
    }

    /// Creates the table for a crawl archive.
    pub fn of_archive() -> Table {
        Table::new(Format::Archive, Vec::new(), Columns::AtHand)
    }

    /// Creates a table without a header.
    fn new(format: Format, names: Vec<String>, columns: Columns) -> Table {
        let (delimiter, header, assembly) = (COMMA, Vec::new(), Assembly::Whole);
        Table { format, delimiter, quoting: None, header, lines_before: 0, names, columns, assembly }
    }

    /// Returns whether the rows are in columns, and not in lines of text.
    pub fn is_columnar(&self) -> bool {
        matches!(self.columns, Columns::AtHand)
    }

    /// Returns the rule for the end of a row.
    pub(crate) fn row_ends(&self) -> RowEnds {
        self.quoting.map_or(RowEnds::Lines, RowEnds::Quoted)
    }

    /// Describes the number of cells in a row for a message.
    fn shown_width(&self) -> String {
        let Columns::Numbers(numbers) = &self.columns else { return "expected".into() };
        match (numbers.most, self.header.is_empty()) {
            (count, true) => format!("the {count} of the first row"),
            (1, false) => "the one name in the header".into(),
            (count, false) => format!("the {count} names in the header"),
        }
    }

    /// Returns the zone for times without one in the second wanted cell. `zone` is the user's zone. CDX and CDXJ times
    /// are in UTC.
    pub fn zone_of_times(&self, zone: &Zone) -> Zone {
        let cell = match &self.assembly {
            Assembly::Parts(parts) => parts.count(),
            _ => 1,
        };
        match &self.columns {
            Columns::Cdxj(cdxj) if cdxj.timestamps.contains(&cell) => Zone::default(),
            Columns::Cdx(cdx) if cdx.timestamps.contains(&cell) => Zone::default(),
            Columns::JsonRows(rows) if rows.timestamps.contains(&cell) => Zone::default(),
            _ => zone.clone(),
        }
    }

    /// Returns whether each line in a block is the row's URL, unchanged.
    pub fn is_plain_list(&self, block: &[u8]) -> bool {
        let is_clear = || !matches!(self.columns, Columns::Url) || memchr(b' ', block).is_none();
        self.format == Format::List && matches!(self.assembly, Assembly::Whole) && is_clear()
    }

    /// Returns the rows in a block that contains only whole rows. Cell text that differs from the block is allocated in
    /// `arena`.
    pub fn rows<'b>(&'b self, block: &'b [u8], arena: &'b Bump) -> impl Iterator<Item = Row<'b>> {
        let mut records = self.quoting.map(Records::new);
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = block.get(start..).filter(|rest| !rest.is_empty())?;
            let mut row = Row { start, bytes: rest, cells: [None; MAX_CELLS], fault: None };
            let mut read = |cells: &mut [Option<&'b [u8]>], fault: &mut Option<Fault>| match &mut records {
                Some(records) => self.csv_row(rest, records, arena, cells, fault),
                None => self.line(rest, arena, cells, fault),
            };
            let len = match &self.assembly {
                Assembly::Whole => read(&mut row.cells, &mut row.fault),
                assembly => {
                    let mut cells = [None; MAX_RAW_CELLS];
                    let len = read(&mut cells, &mut row.fault);
                    assembly.assemble(&cells, arena, &mut row);
                    len
                }
            };
            row.bytes = &rest[..len];
            start += len;
            if let Some(fault) = self.fault_of_parts(row.bytes) {
                (row.fault, row.cells) = (Some(fault), [None; MAX_CELLS]);
            }
            if row.fault.is_none() && row.cells[0].is_none() {
                row.fault = Some(Fault::NoCell);
            }
            if let Columns::W3c(_) = self.columns {
                row.bytes = without_mark(row.bytes);
            }
            Some(row)
        })
    }

    /// Returns the fault of a row that only the start of another file can be.
    #[inline]
    fn fault_of_parts(&self, row: &[u8]) -> Option<Fault> {
        let is_header = || without_line_end(row) == without_line_end(&self.header);
        match row.first() {
            Some(&first) if first == MARK[0] && row.starts_with(MARK) => Some(Fault::Mark),
            first if !self.header.is_empty() && first == self.header.first() && is_header() => {
                Some(Fault::SecondHeader)
            }
            _ => None,
        }
    }

    /// Returns whether a line of a list has text after a space that may not belong to its URL.
    fn has_more_than_url(&self, line: &[u8]) -> bool {
        memchr(b' ', line).is_some() && (is_url(line) || matches!(self.assembly, Assembly::Completed(_)))
    }

    /// Reads the row in the first line of `rest`. Returns its length.
    #[inline]
    fn line<'b>(
        &self,
        rest: &'b [u8],
        arena: &'b Bump,
        cells: &mut [Option<&'b [u8]>],
        fault: &mut Option<Fault>,
    ) -> usize {
        let len = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let line = &rest[..len];
        if without_lf(line).len() > MAX_LINE_BYTES {
            *fault = Some(Fault::TooLong);
            return len;
        }
        let text = without_line_end(line);
        match &self.columns {
            Columns::Line => cells[0] = Some(text),
            Columns::Url if self.has_more_than_url(trimmed_url(text)) => *fault = Some(Fault::Space),
            Columns::Url => cells[0] = Some(text),
            // Parquet and Arrow have no lines.
            Columns::AtHand => {}
            Columns::Numbers(numbers) => *fault = numbers.read(text, b'\t', cells).err(),
            Columns::Fields(fields) => *fault = fields.read(text, arena, cells).err(),
            Columns::Cdx(cdx) => *fault = cdx.read(text, cells).err(),
            Columns::JsonRows(rows) => *fault = rows.read(text, arena, cells).err(),
            Columns::Cdxj(cdxj) => *fault = cdxj.read(text, arena, cells).err(),
            Columns::Log(log) => *fault = log.read(text, arena, cells).err(),
            Columns::W3c(log) => *fault = log.read(text, cells).err(),
        }
        len
    }

    /// Reads the first row in `rest` of a table with quotes. Returns its length.
    fn csv_row<'b>(
        &self,
        rest: &'b [u8],
        records: &mut Records,
        arena: &'b Bump,
        cells: &mut [Option<&'b [u8]>],
        fault: &mut Option<Fault>,
    ) -> usize {
        let Columns::Numbers(numbers) = &self.columns else { return rest.len() };
        let found = records.row(rest);
        let unclear = if self.format == Format::Tsv { Fault::Quote } else { Fault::Escape };
        *fault = match found.kind {
            RowKind::Plain => numbers.read(without_line_end(&rest[..found.len]), self.delimiter, cells).err(),
            RowKind::Quoted => {
                let fault = numbers.fault(records.cell_count(), |number| records.is_empty_from(number));
                fault.or_else(|| copy_cells(records, &numbers.wanted, arena, cells).err().map(|_| unclear))
            }
            RowKind::Unclosed => Some(Fault::Unclosed),
            RowKind::TooLong => Some(Fault::TooLong),
            RowKind::Broken => Some(Fault::AfterQuote),
            RowKind::Unclear => Some(unclear),
        };
        found.len
    }
}

impl Numbers {
    /// Stores the wanted cells of a row without quotes.
    ///
    /// # Errors
    /// Returns an error if the row has too many or too few cells.
    #[inline]
    fn read<'b>(&self, row: &'b [u8], delimiter: u8, cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        let count = count_cells(row, delimiter);
        let is_empty_from = |number| row.iter().rev().take(count - number).all(|&byte| byte == delimiter);
        if let Some(fault) = self.fault(count, is_empty_from) {
            return Err(fault);
        }
        pick(plain_cells(row, delimiter), &self.wanted, cells);
        Ok(())
    }
}

/// Stores the wanted cells of the last row, which has quotes.
///
/// # Errors
/// Returns an error if a cell depends on the program that wrote it.
fn copy_cells<'b>(
    records: &Records,
    numbers: &[usize],
    arena: &'b Bump,
    cells: &mut [Option<&'b [u8]>],
) -> Result<(), UnclearCell> {
    let result = cells.iter_mut().zip(numbers).try_for_each(|(cell, &number)| {
        *cell = records.cell(number)?.map(|text| &*arena.alloc_slice_copy(text));
        Ok(())
    });
    // If one is unclear, so is the row.
    result.inspect_err(|_| cells.fill(None))
}

impl Assembly {
    /// Stores the URL and the other wanted cells in the row. A row that was not read keeps its fault.
    fn assemble<'b>(&self, cells: &[Option<&'b [u8]>; MAX_RAW_CELLS], arena: &'b Bump, row: &mut Row<'b>) {
        let first_other = match self {
            Assembly::Request(log) if row.fault.is_none() => {
                row.fault = log.read(cells, arena, &mut row.cells).err();
                return;
            }
            Assembly::Parts(parts) => parts.count(),
            _ => 1,
        };
        row.cells.iter_mut().skip(1).zip(&cells[first_other..]).for_each(|(to, cell)| *to = *cell);
        if row.fault.is_some() {
            return;
        }
        match self {
            Assembly::Whole | Assembly::Request(_) => row.cells[0] = cells[0],
            Assembly::Completed(scheme) => row.cells[0] = cells[0].map(|url| address::complete(url, scheme, arena)),
            Assembly::Parts(parts) => match parts.join(cells, arena) {
                Ok(url) => row.cells[0] = Some(url),
                Err(fault) => row.fault = Some(fault),
            },
        }
    }
}

impl fmt::Display for Table {
    /// Formats the format and the columns briefly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.format)?;
        if self.format == Format::Csv && self.delimiter != COMMA {
            write!(f, " with {}", shown_delimiter(self.delimiter))?;
        }
        if let Some(first) = self.names.first() {
            write!(f, ", URLs in {first}")?;
        }
        Ok(())
    }
}
