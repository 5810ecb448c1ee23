//! Rows and cells of CSV (RFC 4180), with any delimiter, and of TSV that may have quotes.
//!
//! A row ends at a line end outside quotes. A quote opens only as a cell's first byte; elsewhere it is text, and text
//! after a closing quote makes the row invalid. An overlong row with more than [`MAX_LINE_BYTES`] ends like any other
//! row. An unclosed quote extends its row to the input's end. Every byte therefore belongs to exactly one row, and no
//! part of a cell is ever read as a row. [`quotes`](super::quotes) describes rows with backslashes before quotes.
//!
//! ```
//! use reptile_records::lines::{Chunks, RowEnds};
//! use reptile_records::tables::csv::{COMMA, UnclosedRow};
//! use reptile_records::tables::quotes::Quoting;
//!
//! let text = b"url,note\nhttps://example.com/,\"never\nclosed\n";
//! let mut chunks = Chunks::of_rows(&text[..], RowEnds::Quoted(Quoting::csv(COMMA)));
//! let mut unclosed = None;
//! while let Some(chunk) = chunks.next(Vec::new(), &|| true)? {
//!     unclosed = chunk.unclosed;
//! }
//! assert_eq!(unclosed, Some(UnclosedRow { bytes: 35, line_ends: 2 }));
//! # Ok::<(), std::io::Error>(())
//! ```

use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem, memrchr};

use super::quotes::{Escape, Quoting, Scan, ends_oddly};
use crate::lines::{MAX_LINE_BYTES, count_bytes, without_lf, without_line_end};

/// The default delimiter.
pub const COMMA: u8 = b',';

/// A row's length and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CsvRow {
    /// Length in bytes with the line end.
    pub len: usize,
    /// Whether and how the row can be read.
    pub kind: RowKind,
}

/// A row's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A line without quotes.
    Plain,
    /// A row with quotes. [`Records::cell`] returns its cells.
    Quoted,
    /// The last row, with an unclosed quote.
    Unclosed,
    /// A row over [`MAX_LINE_BYTES`].
    TooLong,
    /// A row with text after a closing quote.
    Broken,
    /// A row whose cells depend on the meaning of backslashes or quotes, or a line of one.
    Unclear,
}

/// A row with an unclosed quote at the input's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnclosedRow {
    /// Bytes from the row's start to the input's end.
    pub bytes: u64,
    /// Line ends from the quote to the input's end.
    pub line_ends: u64,
}

/// A reader that finds rows, and splits rows with quotes. The memory is reused for each row.
pub(crate) struct Records {
    quoting: Quoting,
    max_row_bytes: usize,
    /// The row that continues after the preceding bytes.
    pending: Scan,
    /// The part of a long row that was read.
    long: UnclosedRow,
    /// The kind and the remaining bytes of a row that is returned line by line.
    by_line: Option<(RowKind, usize)>,
    /// The last quoted row's cell contents, concatenated without quotes.
    text: Vec<u8>,
    cells: Vec<Cell>,
    /// Whether a backslash in the last quoted row may escape a quote.
    has_escape: bool,
    /// Whether text follows a closing quote in the last quoted row, or a backslash ends a cell that has no quotes.
    fault: Option<RowKind>,
}

/// A cell whose content depends on the program that wrote it.
#[derive(Debug)]
pub(crate) struct UnclearCell;

/// A cell of a row with quotes.
#[derive(Clone, Copy)]
struct Cell {
    /// The content's end in the row's text.
    end: usize,
    /// Whether the content is in quotes.
    is_quoted: bool,
    /// Whether the content depends on the program that wrote it.
    is_unclear: bool,
}

impl Records {
    /// Creates a reader for rows up to [`MAX_LINE_BYTES`].
    pub fn new(quoting: Quoting) -> Records {
        Records::with_limit(quoting, MAX_LINE_BYTES)
    }

    /// Creates a reader for rows up to `max_row_bytes` without their line ends.
    pub fn with_limit(quoting: Quoting, max_row_bytes: usize) -> Records {
        Records {
            quoting,
            max_row_bytes,
            pending: Scan::default(),
            long: UnclosedRow::default(),
            by_line: None,
            text: Vec::new(),
            cells: Vec::new(),
            has_escape: false,
            fault: None,
        }
    }

    /// Returns the first row in `bytes`. They must be nonempty, and end with a row or with the input. Time:
    /// linear in the row.
    pub fn row(&mut self, bytes: &[u8]) -> CsvRow {
        let is_escaped = self.quoting.escape == Some(Escape::Backslash);
        let found = match is_escaped {
            true => memchr3(b'\n', b'"', b'\\', bytes),
            false => memchr2(b'\n', b'"', bytes),
        };
        let row = match found {
            _ if self.by_line.is_some() => self.next_line(bytes),
            Some(at) if bytes[at] != b'\n' => self.quoted_row(bytes),
            found => CsvRow { len: found.map_or(bytes.len(), |at| at + 1), kind: RowKind::Plain },
        };
        // A line end inside an unclosed quote is part of the row.
        let text = &bytes[..row.len];
        let text = if row.kind == RowKind::Unclosed { text } else { without_lf(text) };
        if text.len() > self.max_row_bytes { CsvRow { kind: RowKind::TooLong, ..row } } else { row }
    }

    /// Returns the first row in `bytes`, which has a quote or an escape.
    fn quoted_row(&mut self, bytes: &[u8]) -> CsvRow {
        if self.quoting.may_be_plain {
            return self.doubtful_row(bytes);
        }
        let split = self.split(bytes);
        if !self.has_escape {
            let kind = if split.is_some() { self.fault.unwrap_or(RowKind::Quoted) } else { RowKind::Unclosed };
            return CsvRow { len: split.unwrap_or(bytes.len()), kind };
        }
        let mut scan = Scan::default();
        let len = scan.read(bytes, self.quoting);
        let kind = match len {
            None if scan.is_open() => RowKind::Unclosed,
            _ if scan.is_unclear() => RowKind::Unclear,
            _ => self.fault.unwrap_or(RowKind::Quoted),
        };
        CsvRow { len: len.unwrap_or(bytes.len()), kind }
    }

    /// Returns the first row in `bytes` of TSV. Quotes may be text, and then each line is a row.
    fn doubtful_row(&mut self, bytes: &[u8]) -> CsvRow {
        let line_len = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        let mut scan = Scan::default();
        let len = scan.read(bytes, self.quoting);
        let row_len = len.unwrap_or(bytes.len());
        if row_len > line_len || (len.is_none() && scan.is_open()) {
            let kind = if len.is_none() { RowKind::Unclosed } else { RowKind::Unclear };
            self.by_line = Some((kind, row_len));
            return self.next_line(bytes);
        }
        let line = without_line_end(&bytes[..line_len]);
        // A quote is text if none begins a cell, or text follows a closing quote.
        let is_plain = scan.is_broken || !plain_cells(line, self.quoting.delimiter).any(|cell| cell.starts_with(b"\""));
        let kind = if scan.is_unclear() {
            RowKind::Unclear
        } else if is_plain {
            RowKind::Plain
        } else if self.split(bytes) == Some(row_len) && self.cells.len() == count_cells(line, self.quoting.delimiter) {
            RowKind::Quoted
        } else {
            RowKind::Unclear
        };
        CsvRow { len: row_len, kind }
    }

    /// Returns the next line of a row that is returned line by line.
    fn next_line(&mut self, bytes: &[u8]) -> CsvRow {
        let (kind, left) = self.by_line.take().unwrap_or((RowKind::Unclear, bytes.len()));
        let len = memchr(b'\n', &bytes[..left.min(bytes.len())]).map_or(left.min(bytes.len()), |at| at + 1);
        self.by_line = (len < left).then_some((kind, left - len));
        // Only the last line is the end of the input.
        let kind = if self.by_line.is_some() { RowKind::Unclear } else { kind };
        CsvRow { len, kind }
    }

    /// Returns whether `bytes` contain their first row completely.
    pub fn has_row(&self, bytes: &[u8]) -> bool {
        Scan::default().read(bytes, self.quoting).is_some()
    }

    /// Splits the first row in `bytes` into cells. Returns its length with the line end, or `None` if a quote is not
    /// closed.
    fn split(&mut self, bytes: &[u8]) -> Option<usize> {
        let is_escaped = self.quoting.escape == Some(Escape::Backslash);
        self.text.clear();
        self.cells.clear();
        (self.has_escape, self.fault) = (false, None);
        let mut at = 0;
        loop {
            let is_quoted = bytes.get(at) == Some(&b'"');
            let mut is_unclear = is_quoted && self.quoting.may_be_plain;
            if is_quoted && is_escaped {
                (at, is_unclear) = self.escaped_cell(bytes, at + 1)?;
            } else if is_quoted {
                at = self.doubled_cell(bytes, at + 1)?;
            }
            let rest = &bytes[at..];
            // The delimiter usually follows a closing quote, so no search is needed.
            let end = match rest.first() {
                Some(first) if is_quoted && *first == self.quoting.delimiter => Some(0),
                _ => memchr2(self.quoting.delimiter, b'\n', rest),
            };
            let len = end.map_or(rest.len(), |end| end + 1);
            at += len;
            let is_last = end.is_none_or(|end| rest[end] == b'\n');
            let text = if is_last { without_line_end(&rest[..len]) } else { &rest[..len - 1] };
            if is_quoted && !text.is_empty() {
                self.fault = Some(RowKind::Broken);
            } else if is_escaped && ends_oddly(text, false) {
                // Other programs escape the delimiter or the line end.
                self.fault.get_or_insert(RowKind::Unclear);
            }
            is_unclear |= is_escaped && !is_quoted && memchr(b'\\', text).is_some();
            self.text.extend_from_slice(text);
            self.cells.push(Cell { end: self.text.len(), is_quoted, is_unclear });
            if is_last {
                return Some(at);
            }
        }
    }

    /// Adds the content of a cell with doubled quotes, which begins at `at`. Returns the offset after the closing quote.
    fn doubled_cell(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        loop {
            let end = at + memchr(b'"', &bytes[at..])?;
            self.has_escape |= self.quoting.escape.is_none() && ends_oddly(&bytes[at..end], false);
            if bytes.get(end + 1) != Some(&b'"') {
                self.text.extend_from_slice(&bytes[at..end]);
                return Some(end + 1);
            }
            // A doubled quote represents one quote.
            self.text.extend_from_slice(&bytes[at..=end]);
            at = end + 2;
        }
    }

    /// Adds the content of a cell with escaped quotes, which begins at `at`. Returns the offset after the closing quote,
    /// and whether a backslash precedes another character, which programs read differently.
    fn escaped_cell(&mut self, bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
        let mut is_unclear = false;
        loop {
            let end = at + memchr2(b'"', b'\\', &bytes[at..])?;
            self.text.extend_from_slice(&bytes[at..end]);
            if bytes[end] == b'"' {
                return Some((end + 1, is_unclear));
            }
            let escaped = *bytes.get(end + 1)?;
            is_unclear |= escaped != b'"' && escaped != b'\\';
            self.text.push(escaped);
            at = end + 2;
        }
    }

    /// Returns the number of cells in the last row if that was [`RowKind::Quoted`].
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// Returns a cell in the last row if that was [`RowKind::Quoted`].
    ///
    /// # Errors
    /// Returns an error if the content depends on the program that wrote it.
    pub fn cell(&self, number: usize) -> Result<Option<&[u8]>, UnclearCell> {
        let Some(cell) = self.cells.get(number) else { return Ok(None) };
        let start = if number == 0 { 0 } else { self.cells[number - 1].end };
        let text = &self.text[start..cell.end];
        // Spark doubles backslashes in quoted cells.
        let has_pair = || match memchr(b'\\', text) {
            Some(at) if cell.is_quoted && self.quoting.escape.is_none() => memmem::find(&text[at..], b"\\\\").is_some(),
            _ => false,
        };
        if cell.is_unclear || has_pair() { Err(UnclearCell) } else { Ok(Some(text)) }
    }

    /// Returns whether all cells from this one on are empty.
    pub fn is_empty_from(&self, number: usize) -> bool {
        let start = number.checked_sub(1).and_then(|last| self.cells.get(last)).map_or(0, |cell| cell.end);
        start == self.text.len()
    }

    /// Returns the ends of complete rows in `bytes`, at intervals of about `block_bytes`. The last complete row's end
    /// is the last one. `bytes` begin with a row: the incomplete row from the last call, if there was one. At the
    /// input's end, the last row is complete.
    pub fn ends(&mut self, bytes: &[u8], at_end: bool, block_bytes: usize) -> Vec<usize> {
        let (mut ends, mut at, mut last) = (Vec::new(), 0, 0);
        let mut pending = std::mem::take(&mut self.pending);
        while at < bytes.len() {
            // Every line that ends before the next quote is a row.
            let quote = if pending.len > 0 { Some(at) } else { memchr(b'"', &bytes[at..]).map(|quote| at + quote) };
            let plain_end = memrchr(b'\n', &bytes[at..quote.unwrap_or(bytes.len())]).map_or(at, |found| at + found + 1);
            let plain_end = if quote.is_none() && at_end { bytes.len() } else { plain_end };
            while plain_end - last >= block_bytes {
                let from = (last + block_bytes - 1).max(at);
                last = memchr(b'\n', &bytes[from..plain_end]).map_or(plain_end, |found| from + found + 1);
                ends.push(last);
            }
            at = plain_end;
            if quote.is_none() {
                break;
            }
            match pending.read(&bytes[at..], self.quoting) {
                Some(len) => at += len,
                None => {
                    self.pending = pending;
                    if at_end {
                        at = bytes.len();
                    }
                    break;
                }
            }
            pending = Scan::default();
            if at - last >= block_bytes {
                last = at;
                ends.push(last);
            }
        }
        if at > last {
            ends.push(at);
        }
        ends
    }

    /// Reads an overlong row's first part. The row does not end in it.
    pub fn begin_long(&mut self, part: &[u8]) {
        self.pending.read(part, self.quoting);
        self.long = UnclosedRow::default();
        self.count(part);
    }

    /// Reads an overlong row's next bytes. Returns the length of its next part, and whether the row ends there.
    pub fn skip(&mut self, bytes: &[u8]) -> (usize, bool) {
        self.pending = self.pending.next_piece();
        match self.pending.read(bytes, self.quoting) {
            Some(end) => {
                self.pending = Scan::default();
                (end, true)
            }
            None => {
                self.count(bytes);
                (bytes.len(), false)
            }
        }
    }

    /// Counts a fully read part of a long row.
    fn count(&mut self, part: &[u8]) {
        let line_ends = |bytes: &[u8]| memchr_iter(b'\n', bytes).count() as u64;
        self.long.bytes += part.len() as u64;
        self.long.line_ends = match part.get(self.pending.quote..) {
            _ if !self.pending.is_in_quotes() => 0,
            Some(quoted) => line_ends(quoted),
            None => self.long.line_ends + line_ends(part),
        };
    }

    /// Returns the input's last row if it has an unclosed quote. [`Records::skip`] or [`Records::ends`] must have read
    /// to the input's end. After `ends`, `bytes` are the ones passed to that call; after `skip`, `None`.
    pub fn unclosed(&self, bytes: Option<&[u8]>) -> Option<UnclosedRow> {
        let Scan { len, quote, .. } = self.pending;
        if !self.pending.is_open() {
            return None;
        }
        let Some(bytes) = bytes else { return Some(self.long) };
        let quoted = bytes.get(bytes.len().checked_sub(len)? + quote..)?;
        Some(UnclosedRow { bytes: len as u64, line_ends: memchr_iter(b'\n', quoted).count() as u64 })
    }
}

/// Returns the number of cells in a plain CSV row or a TSV row without its line end.
#[inline]
pub(crate) fn count_cells(row: &[u8], delimiter: u8) -> usize {
    count_bytes(delimiter, row) + 1
}

/// Returns the cells in a plain CSV row or a TSV row without its line end.
pub(crate) fn plain_cells(row: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr_iter(delimiter, row).chain(Some(row.len()));
    ends.map(move |end| &row[std::mem::replace(&mut start, end + 1)..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{ChunkKind, Chunks, RowEnds};

    /// Returns a deterministic pseudorandom number generator.
    fn numbers() -> impl FnMut(usize) -> usize {
        let mut state = 7_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        }
    }

    /// Returns every row, its kind, and its cells if it has quotes.
    fn rows(bytes: &[u8], limit: usize) -> Vec<(Vec<u8>, RowKind, Vec<Vec<u8>>)> {
        rows_of(bytes, limit, Quoting::csv(b','))
    }

    fn rows_of(mut bytes: &[u8], limit: usize, quoting: Quoting) -> Vec<(Vec<u8>, RowKind, Vec<Vec<u8>>)> {
        let (mut records, mut rows) = (Records::with_limit(quoting, limit), Vec::new());
        while !bytes.is_empty() {
            let CsvRow { len, kind } = records.row(bytes);
            let cells: Vec<Vec<u8>> = match kind {
                RowKind::Quoted => (0..records.cell_count())
                    .map(|number| records.cell(number).map_or(b"unclear".to_vec(), |cell| cell.unwrap().to_vec()))
                    .collect(),
                _ => Vec::new(),
            };
            rows.push((bytes[..len].to_vec(), kind, cells));
            bytes = &bytes[len..];
        }
        rows
    }

    #[test]
    fn rows_end_outside_quotes_only() {
        use RowKind::{Broken, Plain, Quoted, TooLong, Unclear, Unclosed};
        type Case<'c> = (&'c str, &'c [(&'c str, RowKind, &'c [&'c str])]);
        let cases: [Case<'_>; 23] = [
            ("a,b\nc", &[("a,b\n", Plain, &[]), ("c", Plain, &[])]),
            ("\n\r\n", &[("\n", Plain, &[]), ("\r\n", Plain, &[])]),
            ("\"a\nb\",c\nd", &[("\"a\nb\",c\n", Quoted, &["a\nb", "c"]), ("d", Plain, &[])]),
            ("\"a\"\"b\",\"\"\r\n", &[("\"a\"\"b\",\"\"\r\n", Quoted, &["a\"b", ""])]),
            ("a\"b,c\nd\n", &[("a\"b,c\n", Quoted, &["a\"b", "c"]), ("d\n", Plain, &[])]),
            ("\"a\"x,c", &[("\"a\"x,c", Broken, &[])]),
            ("\"a\"x\"y,c\nd", &[("\"a\"x\"y,c\n", Broken, &[]), ("d", Plain, &[])]),
            ("\"a\"\rx,c", &[("\"a\"\rx,c", Broken, &[])]),
            ("\"a\\\"\nb\"\nc", &[("\"a\\\"\nb\"\n", Unclear, &[]), ("c", Plain, &[])]),
            ("\"a\\\",c\nb\"\nd", &[("\"a\\\",c\nb\"\n", Unclear, &[]), ("d", Plain, &[])]),
            ("\"a\\\",\"b\"\nc", &[("\"a\\\",\"b\"\n", Quoted, &["a\\", "b"]), ("c", Plain, &[])]),
            ("\"a\\\"\nb", &[("\"a\\\"\nb", Unclosed, &[])]),
            // A CR alone does not end a row, and inside quotes it belongs to the cell.
            ("a\r\"b\"\n", &[("a\r\"b\"\n", Quoted, &["a\r\"b\""])]),
            ("\"a\r\"\n", &[("\"a\r\"\n", Quoted, &["a\r"])]),
            ("\"a\0\",\0\n", &[("\"a\0\",\0\n", Quoted, &["a\0", "\0"])]),
            ("\u{feff}\"a\"\n", &[("\u{feff}\"a\"\n", Quoted, &["\u{feff}\"a\""])]),
            ("\"a", &[("\"a", Unclosed, &[])]),
            ("\"a\"\"", &[("\"a\"\"", Unclosed, &[])]),
            ("\"a\nb\nc\n", &[("\"a\nb\nc\n", Unclosed, &[])]),
            ("y\nx,\"a\n\"\"b\n", &[("y\n", Plain, &[]), ("x,\"a\n\"\"b\n", Unclosed, &[])]),
            ("0123456789abcdefg\n", &[("0123456789abcdefg\n", TooLong, &[])]),
            ("\"0123456\n89abcdef\"\nx", &[("\"0123456\n89abcdef\"\n", TooLong, &[]), ("x", Plain, &[])]),
            ("\"0123456\n89abcdef\nx", &[("\"0123456\n89abcdef\nx", TooLong, &[])]),
        ];
        for (text, expected) in cases {
            let found = rows(text.as_bytes(), 16);
            let expected: Vec<_> = expected
                .iter()
                .map(|(row, kind, cells)| {
                    (row.as_bytes().to_vec(), *kind, cells.iter().map(|cell| cell.as_bytes().to_vec()).collect())
                })
                .collect::<Vec<_>>();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn rows_over_the_limit_are_too_long() {
        for (len, is_long) in [(15, false), (16, false), (17, true)] {
            for end in ["", "\n", "\nx\n"] {
                for (text, kind) in
                    [("a".repeat(len), RowKind::Plain), (format!("\"\n{}\"", "a".repeat(len - 3)), RowKind::Quoted)]
                {
                    let kind = if is_long { RowKind::TooLong } else { kind };
                    assert_eq!(rows((text + end).as_bytes(), 16)[0].1, kind, "{len} {end:?}");
                }
            }
        }
    }

    /// Tests that cells with any text survive a round trip through RFC 4180.
    #[test]
    fn cells_survive_a_round_trip() {
        let mut below = numbers();
        let mut quoted = 0;
        for _ in 0..5000 {
            let table: Vec<Vec<String>> = (0..1 + below(3))
                .map(|_| {
                    (0..1 + below(3))
                        .map(|_| (0..below(4)).map(|_| ["a", "\"", ",", "\n", "\r\n", "é"][below(6)]).collect())
                        .collect()
                })
                .collect();
            let cell = |cell: &String| match cell.contains(['"', ',', '\n', '\r']) {
                true => format!("\"{}\"", cell.replace('"', "\"\"")),
                false => cell.clone(),
            };
            let row = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(",");
            let end = ["\n", "\r\n"][below(2)];
            let text: String = table.iter().map(|cells| row(cells) + end).collect();
            let found = rows(text.as_bytes(), 1000);
            assert_eq!(found.len(), table.len(), "{text:?}");
            for ((bytes, kind, cells), expected) in found.iter().zip(&table) {
                let expected: Vec<Vec<u8>> = expected.iter().map(|cell| cell.as_bytes().to_vec()).collect();
                if *kind == RowKind::Quoted {
                    quoted += 1;
                    assert_eq!(*cells, expected, "{text:?}");
                } else {
                    let line = crate::lines::without_line_end(bytes);
                    assert_eq!(plain_cells(line, b',').collect::<Vec<_>>(), expected, "{text:?}");
                }
            }
        }
        assert!(quoted > 3000, "{quoted}");
    }

    struct Drops<'a>(&'a [u8], usize);

    impl std::io::Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let len = self.1.min(buffer.len()).min(self.0.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    /// Tests that chunk and block boundaries change no row, even inside quotes.
    #[test]
    fn rows_do_not_depend_on_chunks() {
        let mut below = numbers();
        let (mut kinds, mut unclosed) = ([0; 6], 0);
        for round in 0..20_000 {
            let escape = [None, None, Some(Escape::Quote), Some(Escape::Backslash)][round % 4];
            let quoting = Quoting { escape, may_be_plain: round % 8 == 0, ..Quoting::csv(b',') };
            // Lines that may be in quotes are separate rows, unless they are too long together.
            let (chunk_bytes, limit) = if quoting.may_be_plain { (400, 200) } else { (40, 16) };
            let rows = |bytes: &[u8]| rows_of(bytes, limit, quoting);
            let text: Vec<u8> = (0..below(120)).map(|_| b"aaab\"\"\\,\n\n\r"[below(11)]).collect();
            let expected = rows(&text);
            expected.iter().for_each(|(_, kind, _)| kinds[*kind as usize] += 1);
            let source = Drops(&text, 1 + below(40));
            let mut chunks = Chunks::with_sizes(source, RowEnds::Quoted(quoting), chunk_bytes, limit);
            let (mut found, mut long, mut last) = (Vec::new(), Vec::new(), None);
            while let Some(chunk) = chunks.next(Vec::new(), &|| round % 2 == 0).unwrap() {
                assert_eq!(last, None, "rows after the end");
                match chunk.kind {
                    ChunkKind::Lines => {
                        found.extend(chunk.blocks().into_iter().flat_map(rows));
                    }
                    ChunkKind::LongLine { last } => {
                        long.extend_from_slice(chunk.bytes());
                        if last {
                            found.push((std::mem::take(&mut long), RowKind::TooLong, Vec::new()));
                        }
                    }
                }
                last = chunk.unclosed;
            }
            let shown = text.escape_ascii().to_string();
            assert_eq!(found, expected, "{shown:?}");
            if escape == Some(Escape::Quote) {
                assert_eq!(last, unclosed_by_bytes(&text), "{shown:?}");
            }
            unclosed += usize::from(last.is_some());
            let mut records = Records::with_limit(quoting, limit);
            let ends = records.ends(&text, true, 1 + below(20));
            let all: Vec<usize> = expected
                .iter()
                .scan(0, |at, row| {
                    *at += row.0.len();
                    Some(*at)
                })
                .collect();
            assert!(ends.iter().all(|end| all.contains(end)) && ends.last() == all.last(), "{ends:?} {all:?}");
        }
        assert!(kinds.iter().all(|&count| count > 500) && unclosed > 1000, "{kinds:?} {unclosed}");
    }

    /// Returns the last row if it has an unclosed quote, reading byte by byte.
    fn unclosed_by_bytes(text: &[u8]) -> Option<UnclosedRow> {
        let (mut row, mut quote, mut is_open, mut is_cell_start) = (0, 0, false, true);
        let mut at = 0;
        while at < text.len() {
            let is_start = std::mem::replace(&mut is_cell_start, false);
            match text[at] {
                b'"' if is_open && text.get(at + 1) == Some(&b'"') => at += 1,
                b'"' if is_open => is_open = false,
                b'"' if is_start => (is_open, quote) = (true, at),
                b',' if !is_open => is_cell_start = true,
                b'\n' if !is_open => (is_cell_start, row) = (true, at + 1),
                _ => {}
            }
            at += 1;
        }
        let line_ends = text[quote..].iter().filter(|&&byte| byte == b'\n').count() as u64;
        is_open.then_some(UnclosedRow { bytes: (text.len() - row) as u64, line_ends })
    }
}
