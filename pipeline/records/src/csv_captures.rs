//! Captures of robots.txt files in CSV (RFC 4180), one row each. The first row names the columns.
//!
//! Quoted cells may contain line ends, so bodies can be written unchanged. Cells are read one at a time, and a cell
//! over its field's limit is discarded, so memory does not depend on the contents of rows. A row with text after a
//! closing quote, or with a backslash that may escape a quote, is invalid up to the line end that ends it in both
//! readings ([`quotes`](super::tables::quotes)). An unclosed quote swallows the rest of the input and is an error.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use memchr::memchr;

use super::captures::names::{CELLS, Field, Header, TableKind};
use super::captures::{Cell, NO_CAPTURE, item};
use super::place::Place;
use super::tables::quotes::{QuoteState, Quoting, Scan};
use super::tables::{Delimiter, MARK};
use super::time::Zone;
use super::unpack::{READ_BYTES, START_BYTES};
use super::{Item, Sink};
use crate::{Error, Result};

/// The delimiters of tables of captures, in reverse order of preference. A semicolon is written in locales with a decimal
/// comma. With a tab, the table is TSV.
const DELIMITERS: [Delimiter; 3] = [Delimiter(b';'), Delimiter(b','), TAB];

/// The delimiter of TSV.
pub const TAB: Delimiter = Delimiter(b'\t');

/// The detail of a row whose cells depend on the program that wrote it.
const UNCLEAR: &str = "text after a closing quote, or a backslash that may escape a quote; in CSV, a quote in a quoted \
                       cell is written twice";

/// Returns the kind of table that starts with this line, and the best delimiter.
pub fn table_of(line: &[u8]) -> Option<(TableKind, Delimiter)> {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    let of = |delimiter: Delimiter| {
        memchr(delimiter.0, line)?;
        let names = match delimiter {
            TAB => line.split(|&byte| byte == b'\t').map(<[u8]>::to_vec).collect(),
            _ => cells_of(line, delimiter),
        };
        Some((TableKind::of(names.iter().map(Vec::as_slice)), delimiter))
    };
    // Among equal kinds the last one wins.
    DELIMITERS.into_iter().filter_map(of).max_by_key(|(kind, _)| *kind)
}

/// Splits the first line of a CSV table into cells. The line's length is limited, and so are its cells.
fn cells_of(line: &[u8], delimiter: Delimiter) -> Vec<Vec<u8>> {
    let mut cells = Vec::new();
    let mut table = Cells::new(line, delimiter);
    while let Ok(CellEnd::Cell | CellEnd::Row) = table.next(START_BYTES) {
        cells.push(table.cell().unwrap_or_default().to_vec());
    }
    cells
}

/// Reads every row of a table whose first row names capture columns.
///
/// # Errors
/// Returns an error if the input is unreadable, ends inside a quoted cell, or has two columns for one field.
pub fn read(path: &Place, source: impl Read, delimiter: Delimiter, zone: &Zone, sink: &mut Sink<'_>) -> Result<()> {
    let mut table = Cells::new(BufReader::with_capacity(READ_BYTES, source), delimiter);
    table.skip_marks().map_err(|error| Error::at(path, format!("cannot be read: {error}")))?;
    let header = read_header(path, &mut table)?;
    sink(Item::Names(header.names.clone()))?;
    let mut row = CsvCapture::default();
    loop {
        let line = table.line;
        let end = row.read(&mut table, &header).map_err(|error| {
            let text = match error {
                Broken::Unclosed(line) => format!("a quote in the row that begins in line {line} is not closed"),
                Broken::Unreadable(text) => format!("cannot be read: {text}"),
            };
            Error::at(path, text)
        })?;
        if end == CellEnd::End {
            return Ok(());
        }
        if row.is_blank() {
            continue;
        }
        let name = format!("{}:{line}", path.display());
        if table.is_unclear {
            sink(Item::Bad { name, reason: NO_CAPTURE, detail: UNCLEAR.into() })?;
            continue;
        }
        if row.count != header.count() {
            let detail = format!("expected {} columns, as in the first line, found {}", header.count(), row.count);
            sink(Item::Bad { name, reason: NO_CAPTURE, detail })?;
            continue;
        }
        sink(item(name, row.cells(), zone)?)?;
    }
}

/// Reads the first row.
fn read_header(path: &Place, table: &mut Cells<impl BufRead>) -> Result<Header> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut bytes = 0;
    loop {
        let end = table.next(START_BYTES);
        let end = end.map_err(|_| Error::at(path, "its first line cannot be read as CSV"))?;
        if end == CellEnd::End {
            break;
        }
        let cell = table.cell().unwrap_or_default();
        bytes += cell.len() + 1;
        if bytes > START_BYTES {
            return Err(Error::at(path, format!("its first line has more than {START_BYTES} bytes")));
        }
        names.push(cell.to_vec());
        if end == CellEnd::Row {
            break;
        }
    }
    if table.is_unclear {
        return Err(Error::at(path, format!("its first line has {UNCLEAR}")));
    }
    Header::new(names.iter().map(Vec::as_slice)).map_err(|text| Error::at(path, text))
}

/// A row's cells that belong to capture fields.
#[derive(Default)]
struct CsvCapture {
    /// The row's number of cells.
    count: usize,
    /// The selected cells' contents. The memory is reused for each row.
    texts: [Vec<u8>; CELLS],
    states: [CellState; CELLS],
    /// Whether the row's only cell is empty.
    is_empty: bool,
}

/// A cell's state.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum CellState {
    #[default]
    Absent,
    Kept,
    TooLong,
}

/// Maximum memory in bytes that a cell keeps between rows.
const KEPT_BYTES: usize = 1 << 20;

impl CsvCapture {
    /// Reads the next row.
    fn read(&mut self, table: &mut Cells<impl BufRead>, header: &Header) -> std::result::Result<CellEnd, Broken> {
        self.count = 0;
        self.is_empty = true;
        self.states = [CellState::Absent; CELLS];
        loop {
            let number = self.count;
            let field = header.field(number);
            let end = table.next(field.map_or(0, Field::limit))?;
            if end == CellEnd::End {
                return Ok(end);
            }
            self.count += 1;
            self.is_empty &= number == 0 && table.is_empty();
            if let Some(field) = field {
                let (text, state) = (&mut self.texts[field as usize], &mut self.states[field as usize]);
                *state = match table.cell() {
                    None => CellState::TooLong,
                    Some(b"\\N") => CellState::Absent,
                    Some(_) => CellState::Kept,
                };
                // The buffers are swapped, so no body is copied.
                std::mem::swap(text, &mut table.text);
                table.text.clear();
                table.text.shrink_to(KEPT_BYTES);
            }
            if end == CellEnd::Row {
                return Ok(end);
            }
        }
    }

    /// Returns whether the row is a line without any text.
    fn is_blank(&self) -> bool {
        self.count == 1 && self.is_empty
    }

    fn cells(&self) -> [Cell<'_>; CELLS] {
        std::array::from_fn(|at| match self.states[at] {
            CellState::Absent => Cell::Null,
            CellState::Kept => Cell::Text(&self.texts[at]),
            CellState::TooLong => Cell::TooLong,
        })
    }
}

/// The delimiter that ends a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellEnd {
    /// Another cell in the same row follows.
    Cell,
    /// The next row follows.
    Row,
    /// The input has ended, without another cell.
    End,
}

/// An error that ends reading.
#[derive(Debug)]
enum Broken {
    /// The input ends inside quotes. Contains the line where the row begins.
    Unclosed(u64),
    /// The source's read error.
    Unreadable(String),
}

/// A reader for a table's cells. Time: linear in the bytes.
struct Cells<R> {
    source: R,
    quoting: Quoting,
    scan: Scan,
    /// Whether a byte of the current row was read.
    has_begun: bool,
    /// The last cell.
    text: Vec<u8>,
    /// Whether the cell is over its limit and therefore incomplete.
    is_too_long: bool,
    /// Whether the last row's cells depend on the program that wrote it.
    is_unclear: bool,
    /// The line where the next row begins.
    line: u64,
    /// Number of line ends since then.
    line_ends: u64,
}

impl<R: BufRead> Cells<R> {
    fn new(source: R, delimiter: Delimiter) -> Cells<R> {
        Cells {
            source,
            quoting: Quoting::csv(delimiter.0),
            scan: Scan::default(),
            has_begun: false,
            text: Vec::new(),
            is_too_long: false,
            is_unclear: false,
            line: 1,
            line_ends: 0,
        }
    }

    /// Skips byte order marks at the input's start.
    fn skip_marks(&mut self) -> std::io::Result<()> {
        while self.source.fill_buf()?.starts_with(MARK) {
            self.source.consume(MARK.len());
        }
        Ok(())
    }

    /// Reads the next cell, and keeps it if it has at most `limit` bytes.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, or ends inside quotes.
    fn next(&mut self, limit: usize) -> std::result::Result<CellEnd, Broken> {
        self.text.clear();
        self.is_too_long = false;
        loop {
            let mut input = match self.source.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                input => input.map_err(|error| Broken::Unreadable(error.to_string()))?,
            };
            if input.is_empty() {
                return self.end(limit);
            }
            self.has_begun = true;
            let (len, mut end) = (input.len(), None);
            while let (Some(&byte), None) = (input.first(), end) {
                let quoted = self.scan.skip_quoted(input);
                let (kept, rest) = if quoted > 0 {
                    self.line_ends += memchr::memchr_iter(b'\n', &input[..quoted]).count() as u64;
                    input.split_at(quoted)
                } else {
                    let before = self.scan.state;
                    self.line_ends += u64::from(byte == b'\n');
                    let is_cell_end = byte == self.quoting.delimiter && before != QuoteState::Quoted;
                    let is_row_end = self.scan.push(byte, self.quoting);
                    end = match (is_row_end, is_cell_end) {
                        (true, _) => Some(CellEnd::Row),
                        (_, is_cell_end) => is_cell_end.then_some(CellEnd::Cell),
                    };
                    let is_quote = byte == b'"' && matches!(before, QuoteState::CellStart | QuoteState::Quoted);
                    input.split_at(usize::from(!is_quote && end.is_none()))
                };
                keep(&mut self.text, kept, limit, &mut self.is_too_long)?;
                input = if kept.is_empty() { &rest[1..] } else { rest };
            }
            let read = len - input.len();
            self.source.consume(read);
            if let Some(end) = end {
                return Ok(self.end_cell(end == CellEnd::Row, limit));
            }
        }
    }

    /// Handles the source's end: the last row needs no line end, and a line end inside quotes ends no row.
    fn end(&mut self, limit: usize) -> std::result::Result<CellEnd, Broken> {
        match self.has_begun {
            false => Ok(CellEnd::End),
            true if self.scan.is_open() => Err(Broken::Unclosed(self.line)),
            true => Ok(self.end_cell(true, limit)),
        }
    }

    /// Ends a cell.
    fn end_cell(&mut self, record_end: bool, limit: usize) -> CellEnd {
        if record_end && !self.is_too_long && self.text.ends_with(b"\r") {
            self.text.pop();
        }
        self.is_too_long |= self.text.len() > limit;
        if !record_end {
            return CellEnd::Cell;
        }
        self.line += std::mem::take(&mut self.line_ends);
        let scan = std::mem::take(&mut self.scan);
        (self.is_unclear, self.has_begun) = (scan.is_unclear() || scan.is_broken, false);
        CellEnd::Row
    }

    /// Returns the last cell, or `None` if it is too long.
    fn cell(&self) -> Option<&[u8]> {
        (!self.is_too_long).then_some(&self.text[..])
    }

    /// Returns whether the last cell is empty.
    fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.is_too_long
    }
}

/// Adds bytes to a cell. One byte over the limit is kept, because it may be the CR of a line end.
fn keep(text: &mut Vec<u8>, bytes: &[u8], limit: usize, is_cut: &mut bool) -> std::result::Result<(), Broken> {
    let kept = &bytes[..bytes.len().min(limit + 1 - text.len())];
    *is_cut |= kept.len() < bytes.len();
    let len = text.len() + kept.len();
    if len > text.capacity() {
        let more = (text.capacity() * 2).clamp(len, limit + 1) - text.len();
        text.try_reserve_exact(more).map_err(|_| Broken::Unreadable("there is not enough memory".into()))?;
    }
    text.extend_from_slice(kept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_determines_the_table_kind() {
        const COMMA: Delimiter = Delimiter(b',');
        const SEMICOLON: Delimiter = Delimiter(b';');
        use TableKind::{Captures, Other, Urls};
        for (line, expected) in [
            ("url\tstatus\ttime\tbody", Some((Captures, TAB))),
            ("url\tbody_base64\r", Some((Captures, TAB))),
            ("\u{feff}id\tcontent\turi", Some((Captures, TAB))),
            ("URL\tBody", Some((Captures, TAB))),
            ("url\ttitle", Some((Urls, TAB))),
            ("url", None),
            ("status\tbody", Some((Other, TAB))),
            ("http://a.example/\tstatus", Some((Other, TAB))),
            ("url,fetch_status,fetch_time", Some((Captures, COMMA))),
            ("\u{feff}\"url\",\"a \"\"b\"\"\",\"Status Code\"\r", Some((Captures, COMMA))),
            ("url;status;html", Some((Captures, SEMICOLON))),
            ("url,title;x", Some((Urls, COMMA))),
            ("User-agent:\t*", Some((Other, TAB))),
            ("Disallow: /a,b;c", Some((Other, COMMA))),
            ("", None),
        ] {
            assert_eq!(table_of(line.as_bytes()), expected, "{line:?}");
        }
    }

    /// Returns a table's rows. A cell over `limit` bytes becomes `-`.
    fn rows(text: &[u8], limit: usize, buffer: usize) -> (Vec<Vec<String>>, Vec<u64>, Option<u64>) {
        let mut table = Cells::new(BufReader::with_capacity(buffer, text), Delimiter(b','));
        let (mut rows, mut lines) = (vec![Vec::new()], vec![1]);
        loop {
            match table.next(limit) {
                Err(Broken::Unclosed(line)) => return (rows, lines, Some(line)),
                Err(Broken::Unreadable(_)) => unreachable!(),
                Ok(CellEnd::End) => return (rows, lines, None),
                Ok(end) => {
                    let cell = table.cell().map_or("-".into(), |cell| String::from_utf8_lossy(cell).into_owned());
                    rows.last_mut().unwrap().push(cell);
                    if end == CellEnd::Row {
                        rows.push(Vec::new());
                        lines.push(table.line);
                    }
                }
            }
        }
    }

    #[test]
    fn cells_follow_rfc_4180_with_any_buffer_size() {
        type Case<'c> = (&'c str, &'c [&'c [&'c str]], &'c [u64], Option<u64>);
        let cases: [Case<'_>; 12] = [
            ("a,b\nc,d", &[&["a", "b"], &["c", "d"], &[]], &[1, 2, 3], None),
            ("a,b\r\nc,\r\n", &[&["a", "b"], &["c", ""], &[]], &[1, 2, 3], None),
            ("\"a\nb\",c\nd\n", &[&["a\nb", "c"], &["d"], &[]], &[1, 3, 4], None),
            ("\"a\r\n\n\"\r\nd", &[&["a\r\n\n"], &["d"], &[]], &[1, 4, 5], None),
            ("\"a\"\"b\",\"\"\n", &[&["a\"b", ""], &[]], &[1, 2], None),
            ("a\rb,c\n", &[&["a\rb", "c"], &[]], &[1, 2], None),
            ("12345,123456\n1,2\n", &[&["12345", "-"], &["1", "2"], &[]], &[1, 2, 3], None),
            ("1,12345\r\n1,123456\r\n", &[&["1", "12345"], &["1", "-"], &[]], &[1, 2, 3], None),
            ("\"12345\n\",x\n", &[&["-", "x"], &[]], &[1, 3], None),
            ("a,\"b\nc,d\n", &[&["a"]], &[1], Some(1)),
            ("a\n\"b", &[&["a"], &[]], &[1, 2], Some(2)),
            ("a,", &[&["a", ""], &[]], &[1, 2], None),
        ];
        let mut count = 0;
        for (text, expected, lines, unclosed) in cases {
            for buffer in 1..=text.len() + 1 {
                let (found, found_lines, found_unclosed) = rows(text.as_bytes(), 5, buffer);
                let expected: Vec<Vec<String>> =
                    expected.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
                assert_eq!(found, expected, "{text:?} {buffer}");
                // There is no next line after a last row without a line end.
                let known = lines.len() - usize::from(!text.ends_with('\n'));
                assert_eq!((&found_lines[..known], found_unclosed), (&lines[..known], unclosed), "{text:?} {buffer}");
                count += 1;
            }
        }
        assert!(count > 100, "{count}");
    }
}
