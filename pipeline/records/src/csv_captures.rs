//! Captures of robots.txt files in CSV (RFC 4180), one row each. The first row names the columns.
//!
//! Quoted cells may contain line ends, so bodies can be written unchanged. Cells are read one at a time, and a cell
//! over its field's limit is discarded, so memory does not depend on the contents of rows. An unclosed quote swallows
//! the rest of the input and is an error.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};
use memchr::memchr;

use super::captures::names::{CELLS, Field, Header, TableKind};
use super::captures::{Cell, NO_CAPTURE, item};
use super::time::Zone;
use super::unpack::{READ_BYTES, START_BYTES};
use super::{Item, Sink};
use crate::{Error, Result};

/// The delimiter between a table's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// A tab, in TSV without quotes.
    Tab,
    /// A comma.
    Comma,
    /// A semicolon, which programs write in locales with a decimal comma.
    Semicolon,
}

impl Delimiter {
    /// Returns the delimiter's byte.
    fn byte(self) -> u8 {
        match self {
            Delimiter::Tab => b'\t',
            Delimiter::Comma => b',',
            Delimiter::Semicolon => b';',
        }
    }
}

/// The UTF-8 byte order mark, which some programs write.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the kind of table that starts with this line, and the best delimiter.
pub fn table_of(line: &[u8]) -> Option<(TableKind, Delimiter)> {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    let of = |delimiter: Delimiter| {
        memchr(delimiter.byte(), line)?;
        let names = match delimiter {
            Delimiter::Tab => line.split(|&byte| byte == b'\t').map(<[u8]>::to_vec).collect(),
            _ => cells_of(line, delimiter),
        };
        Some((TableKind::of(names.iter().map(Vec::as_slice)), delimiter))
    };
    // Among equal kinds the last one wins.
    [Delimiter::Semicolon, Delimiter::Comma, Delimiter::Tab].into_iter().filter_map(of).max_by_key(|(kind, _)| *kind)
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
pub fn read(path: &Path, source: impl Read, delimiter: Delimiter, zone: &Zone, sink: &mut Sink<'_>) -> Result<()> {
    let mut table = Cells::new(BufReader::with_capacity(READ_BYTES, source), delimiter);
    let header = read_header(path, &mut table)?;
    sink(Item::Names(header.names.clone()))?;
    let mut row = Row::default();
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
        if row.count != header.count() {
            let detail = format!("expected {} columns, as in the first line, found {}", header.count(), row.count);
            sink(Item::Bad { name, reason: NO_CAPTURE, detail })?;
            continue;
        }
        sink(item(name, row.cells(), zone)?)?;
    }
}

/// Reads the first row.
fn read_header(path: &Path, table: &mut Cells<impl BufRead>) -> Result<Header> {
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
        let is_first = names.is_empty();
        names.push(if is_first { cell.strip_prefix(MARK).unwrap_or(cell) } else { cell }.to_vec());
        if end == CellEnd::Row {
            break;
        }
    }
    Header::new(names.iter().map(Vec::as_slice)).map_err(|text| Error::at(path, text))
}

/// A row's cells that belong to capture fields.
#[derive(Default)]
struct Row {
    /// The row's number of cells.
    count: usize,
    /// The selected cells' contents. The memory is reused for each row.
    texts: [Vec<u8>; CELLS],
    states: [State; CELLS],
    /// Whether the row's only cell is empty.
    is_empty: bool,
}

/// A cell's state.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Absent,
    Kept,
    TooLong,
}

/// Maximum memory in bytes that a cell keeps between rows.
const KEPT_BYTES: usize = 1 << 20;

impl Row {
    /// Reads the next row.
    fn read(&mut self, table: &mut Cells<impl BufRead>, header: &Header) -> std::result::Result<CellEnd, Broken> {
        self.count = 0;
        self.is_empty = true;
        self.states = [State::Absent; CELLS];
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
                    None => State::TooLong,
                    Some(b"\\N") => State::Absent,
                    Some(b"") if field != Field::Body => State::Absent,
                    Some(_) => State::Kept,
                };
                // The buffers are swapped, so no body is copied.
                std::mem::swap(text, &mut table.text);
                text.truncate(table.len);
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
            State::Absent => Cell::Null,
            State::Kept => Cell::Text(&self.texts[at]),
            State::TooLong => Cell::TooLong,
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
    reader: Reader,
    /// The last cell, possibly followed by unused memory.
    text: Vec<u8>,
    /// The last cell's length in bytes.
    len: usize,
    /// Whether the cell is over its limit and therefore incomplete.
    is_too_long: bool,
    /// The line where the next row begins.
    line: u64,
    /// Number of line ends since then.
    line_ends: u64,
}

/// Buffer size for discarded bytes.
const SCRATCH_BYTES: usize = 1 << 12;

impl<R: BufRead> Cells<R> {
    fn new(source: R, delimiter: Delimiter) -> Cells<R> {
        // A CR alone does not end a line, as in URL tables.
        let reader = ReaderBuilder::new().delimiter(delimiter.byte()).terminator(Terminator::Any(b'\n')).build();
        Cells { source, reader, text: Vec::new(), len: 0, is_too_long: false, line: 1, line_ends: 0 }
    }

    /// Reads the next cell, and keeps it if it has at most `limit` bytes.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable, or ends inside quotes.
    fn next(&mut self, limit: usize) -> std::result::Result<CellEnd, Broken> {
        self.len = 0;
        let mut is_cut = false;
        let mut scratch = [0; SCRATCH_BYTES];
        loop {
            let input = match self.source.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                input => input.map_err(|error| Broken::Unreadable(error.to_string()))?,
            };
            if input.is_empty() {
                return self.end(limit, is_cut);
            }
            // One byte over the limit is kept, because it may be the CR of a line end.
            let has_room = self.len <= limit;
            let output = if has_room { &mut self.text[self.len..] } else { &mut scratch[..] };
            let len = if has_room { output.len().min(limit + 1 - self.len) } else { output.len() };
            let (result, read, written) = self.reader.read_field(input, &mut output[..len]);
            self.line_ends += memchr::memchr_iter(b'\n', &input[..read]).count() as u64;
            self.source.consume(read);
            if has_room {
                self.len += written;
            } else {
                is_cut |= written > 0;
            }
            match result {
                ReadFieldResult::InputEmpty | ReadFieldResult::End => {}
                ReadFieldResult::OutputFull if has_room && self.len <= limit => self.grow(limit + 1)?,
                ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end } => return Ok(self.end_cell(record_end, limit, is_cut)),
            }
        }
    }

    /// Handles the source's end: the last row needs no line end, and a line end inside quotes ends no row.
    fn end(&mut self, limit: usize, is_cut: bool) -> std::result::Result<CellEnd, Broken> {
        match self.reader.read_field(b"\n", &mut [0; 2]) {
            (ReadFieldResult::Field { .. }, ..) => Ok(self.end_cell(true, limit, is_cut)),
            (_, _, 0) => Ok(CellEnd::End),
            _ => Err(Broken::Unclosed(self.line)),
        }
    }

    /// Ends a cell.
    fn end_cell(&mut self, record_end: bool, limit: usize, is_cut: bool) -> CellEnd {
        if record_end && !is_cut && self.text[..self.len].ends_with(b"\r") {
            self.len -= 1;
        }
        self.is_too_long = is_cut || self.len > limit;
        if record_end {
            self.line += std::mem::take(&mut self.line_ends);
        }
        if record_end { CellEnd::Row } else { CellEnd::Cell }
    }

    /// Enlarges the buffer for a cell with at most `limit` bytes.
    fn grow(&mut self, limit: usize) -> std::result::Result<(), Broken> {
        let len = (self.text.len() * 2).max(SCRATCH_BYTES).min(limit).max(self.text.len());
        let more = len - self.text.len();
        self.text.try_reserve_exact(more).map_err(|_| Broken::Unreadable("there is not enough memory".into()))?;
        self.text.resize(len, 0);
        Ok(())
    }

    /// Returns the last cell, or `None` if it is too long.
    fn cell(&self) -> Option<&[u8]> {
        (!self.is_too_long).then(|| &self.text[..self.len])
    }

    /// Returns whether the last cell is empty.
    fn is_empty(&self) -> bool {
        self.len == 0 && !self.is_too_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_determines_the_table_kind() {
        use Delimiter::{Comma, Semicolon, Tab};
        use TableKind::{Captures, Other, Urls};
        for (line, expected) in [
            ("url\tstatus\ttime\tbody", Some((Captures, Tab))),
            ("url\tbody_base64\r", Some((Captures, Tab))),
            ("\u{feff}id\tcontent\turi", Some((Captures, Tab))),
            ("URL\tBody", Some((Captures, Tab))),
            ("url\ttitle", Some((Urls, Tab))),
            ("url", None),
            ("status\tbody", Some((Other, Tab))),
            ("http://a.example/\tstatus", Some((Other, Tab))),
            ("url,fetch_status,fetch_time", Some((Captures, Comma))),
            ("\u{feff}\"url\",\"a \"\"b\"\"\",\"Status Code\"\r", Some((Captures, Comma))),
            ("url;status;html", Some((Captures, Semicolon))),
            ("url,title;x", Some((Urls, Comma))),
            ("User-agent:\t*", Some((Other, Tab))),
            ("Disallow: /a,b;c", Some((Other, Comma))),
            ("", None),
        ] {
            assert_eq!(table_of(line.as_bytes()), expected, "{line:?}");
        }
    }

    /// Returns a table's rows. A cell over `limit` bytes becomes `-`.
    fn rows(text: &[u8], limit: usize, buffer: usize) -> (Vec<Vec<String>>, Vec<u64>, Option<u64>) {
        let mut table = Cells::new(BufReader::with_capacity(buffer, text), Delimiter::Comma);
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
