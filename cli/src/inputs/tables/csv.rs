//! Rows and cells of CSV, read by the crate `csv-core`; here is only where a row ends if its quotes are damaged.
//!
//! A row ends at a line end that is outside quotes. A row whose quote is still open after [`MAX_LINE_BYTES`], or at the end
//! of the input, has no such end: then its first line is the row, and the next line begins the next row. So a quote that
//! is never closed costs one row, and not the rest of the file.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use memchr::{memchr, memchr_iter, memrchr};

use crate::inputs::lines::MAX_LINE_BYTES;

/// A row: its length with its line end, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Bytes of the row, its line end included.
    pub len: usize,
    /// What it is.
    pub kind: RowKind,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A line without any quote.
    Plain,
    /// A row with quotes, which [`Records::cells`] has split.
    Quoted,
    /// A line with a quote that is not closed.
    Unclosed,
    /// A line of more than [`MAX_LINE_BYTES`].
    TooLong,
}

/// Finds rows, and splits those that have quotes. The memory is used again for each row.
pub struct Records {
    reader: Reader,
    max_row_bytes: usize,
    /// The cells of the last quoted row, without their quotes, one after the other.
    cells: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    cell_count: usize,
}

impl Default for Records {
    fn default() -> Records {
        Records::with_limit(MAX_LINE_BYTES)
    }
}

impl Records {
    /// Rows of at most this many bytes.
    pub fn with_limit(max_row_bytes: usize) -> Records {
        // A CR alone ends no line, here as in a list.
        let reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Records { reader, max_row_bytes, cells: Vec::new(), ends: Vec::new(), cell_count: 0 }
    }

    /// The row at the start of `bytes`, which are not empty, or `None` if more bytes are needed to tell. `at_end` says that
    /// there are no more.
    ///
    /// Steps: at most one over each of the first [`MAX_LINE_BYTES`] bytes.
    pub fn row(&mut self, bytes: &[u8], at_end: bool) -> Option<Row> {
        let window = &bytes[..bytes.len().min(self.max_row_bytes + 1)];
        let line = memchr(b'\n', window).map(|at| at + 1);
        let Some(line_len) = line.or((window.len() <= self.max_row_bytes && at_end).then_some(window.len())) else {
            let end = memchr(b'\n', bytes).map(|at| at + 1).or(at_end.then_some(bytes.len()));
            return end.map(|len| Row { len, kind: RowKind::TooLong });
        };
        if memchr(b'"', &window[..line_len]).is_none() {
            return Some(Row { len: line_len, kind: RowKind::Plain });
        }
        match self.split(window, at_end && bytes.len() <= self.max_row_bytes) {
            Some(len) => Some(Row { len, kind: RowKind::Quoted }),
            None if at_end || window.len() > self.max_row_bytes => Some(Row { len: line_len, kind: RowKind::Unclosed }),
            None => None,
        }
    }

    /// Splits the row at the start of `bytes`. Returns its length, or `None` if it does not end in them.
    fn split(&mut self, bytes: &[u8], at_end: bool) -> Option<usize> {
        self.reader.reset();
        let (mut read, mut written) = (0, 0);
        self.cell_count = 0;
        let mut input = bytes;
        loop {
            // To the reader, no bytes are the end of the input.
            let (result, read_now, written_now, cells_now) = match input {
                [] => (ReadRecordResult::InputEmpty, 0, 0, 0),
                _ => self.reader.read_record(input, &mut self.cells[written..], &mut self.ends[self.cell_count..]),
            };
            input = &input[read_now..];
            read += read_now;
            written += written_now;
            self.cell_count += cells_now;
            match result {
                ReadRecordResult::Record => return Some(read.min(bytes.len())),
                ReadRecordResult::OutputFull => self.cells.resize((self.cells.len() * 2).max(1 << 12), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize((self.ends.len() * 2).max(1 << 6), 0),
                // The last line of the input needs no line end; inside quotes this one ends nothing.
                ReadRecordResult::InputEmpty if at_end && read == bytes.len() && bytes.last() != Some(&b'\n') => {
                    input = b"\n";
                }
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return None,
            }
        }
    }

    /// A cell of the last row, if that was [`RowKind::Quoted`]; the CR of a line end is not a part of it.
    pub fn cell(&self, number: usize) -> Option<&[u8]> {
        let ends = &self.ends[..self.cell_count];
        let end = *ends.get(number)?;
        let start = if number == 0 { 0 } else { ends[number - 1] };
        let cell = &self.cells[start..end];
        let is_last = number + 1 == ends.len();
        Some(if is_last { cell.strip_suffix(b"\r").unwrap_or(cell) } else { cell })
    }

    /// Where the rows of `bytes` that are whole end, in steps of about `block_bytes`; the last step is the end of the last
    /// whole row. `bytes` begin with a row.
    pub fn ends(&mut self, bytes: &[u8], at_end: bool, block_bytes: usize) -> Vec<usize> {
        let (mut ends, mut at, mut last) = (Vec::new(), 0, 0);
        while at < bytes.len() {
            // Up to the line of the next quote every line is a row.
            let quote = memchr(b'"', &bytes[at..]).map(|quote| at + quote);
            let plain_end = memrchr(b'\n', &bytes[at..quote.unwrap_or(bytes.len())]).map_or(at, |found| at + found + 1);
            let plain_end = if quote.is_none() && at_end { bytes.len() } else { plain_end };
            while plain_end - last >= block_bytes {
                let from = (last + block_bytes - 1).max(at);
                last = memchr(b'\n', &bytes[from..plain_end]).map_or(plain_end, |found| from + found + 1);
                ends.push(last);
            }
            at = plain_end;
            let Some(row) = quote.and_then(|_| self.row(&bytes[at..], at_end)) else { break };
            at += row.len;
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
}

/// The cells of a plain row or of a row of TSV, without its line end.
pub fn plain_cells(row: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr_iter(delimiter, row).chain(Some(row.len()));
    ends.map(move |end| &row[std::mem::replace(&mut start, end + 1)..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::lines::{ChunkKind, Chunks, RowEnds};

    /// Numbers without any order, always the same.
    fn numbers() -> impl FnMut(usize) -> usize {
        let mut state = 7_u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        }
    }

    /// Every row, its kind, and its cells if it has quotes.
    fn rows(mut bytes: &[u8], limit: usize) -> Vec<(Vec<u8>, RowKind, Vec<Vec<u8>>)> {
        let (mut records, mut rows) = (Records::with_limit(limit), Vec::new());
        while !bytes.is_empty() {
            let Row { len, kind } = records.row(bytes, true).unwrap();
            let cells: Vec<Vec<u8>> = match kind {
                RowKind::Quoted => (0..).map_while(|number| records.cell(number).map(<[u8]>::to_vec)).collect(),
                _ => Vec::new(),
            };
            rows.push((bytes[..len].to_vec(), kind, cells));
            bytes = &bytes[len..];
        }
        rows
    }

    #[test]
    fn rows_end_outside_quotes_and_lost_quotes_cost_a_line() {
        use RowKind::{Plain, Quoted, TooLong, Unclosed};
        type Case<'c> = (&'c str, &'c [(&'c str, RowKind, &'c [&'c str])]);
        let cases: [Case<'_>; 11] = [
            ("a,b\nc", &[("a,b\n", Plain, &[]), ("c", Plain, &[])]),
            ("\n\r\n", &[("\n", Plain, &[]), ("\r\n", Plain, &[])]),
            ("\"a\nb\",c\nd", &[("\"a\nb\",c\n", Quoted, &["a\nb", "c"]), ("d", Plain, &[])]),
            ("\"a\"\"b\",\"\"\r\n", &[("\"a\"\"b\",\"\"\r\n", Quoted, &["a\"b", ""])]),
            ("a\"b,c\nd\n", &[("a\"b,c\n", Quoted, &["a\"b", "c"]), ("d\n", Plain, &[])]),
            ("\"a\"x,c", &[("\"a\"x,c", Quoted, &["ax", "c"])]),
            ("\"a", &[("\"a", Unclosed, &[])]),
            ("\"a\nb\nc\n", &[("\"a\n", Unclosed, &[]), ("b\n", Plain, &[]), ("c\n", Plain, &[])]),
            ("x,\"a\n\"\"b\n", &[("x,\"a\n", Unclosed, &[]), ("\"\"b\n", Quoted, &["b"])]),
            ("0123456789abcdefg\n", &[("0123456789abcdefg\n", TooLong, &[])]),
            (
                "\"0123456\n89abcdef\"\nx",
                &[("\"0123456\n", Unclosed, &[]), ("89abcdef\"\n", Quoted, &["89abcdef\""]), ("x", Plain, &[])],
            ),
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
    fn the_limit_of_a_row_holds_at_its_edges() {
        for (len, kind) in [(15, RowKind::Plain), (16, RowKind::Plain), (17, RowKind::TooLong)] {
            for end in ["", "\n", "\nx\n"] {
                let text = "a".repeat(len) + end;
                assert_eq!(rows(text.as_bytes(), 16)[0].1, kind, "{len} {end:?}");
            }
        }
        for (len, kind) in [(15, RowKind::Quoted), (16, RowKind::Quoted), (17, RowKind::Unclosed)] {
            for end in ["\n", "\nx\n"] {
                let text = format!("\"\n{}\"{end}", "a".repeat(len - 3));
                assert_eq!(rows(text.as_bytes(), 16)[0].1, kind, "{len} {end:?}");
            }
        }
    }

    /// Cells of any text, written as RFC 4180 says, come back.
    #[test]
    fn cells_come_out_as_they_went_in() {
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
                    let line = crate::inputs::lines::without_line_end(bytes);
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

    /// Where chunks and blocks end changes no row, whatever the quotes are.
    #[test]
    fn rows_do_not_depend_on_chunks() {
        let mut below = numbers();
        let mut kinds = [0; 4];
        for round in 0..20_000 {
            let text: Vec<u8> = (0..below(90)).map(|_| b"aaab\"\",\n\n\r"[below(10)]).collect();
            let expected = rows(&text, 16);
            expected.iter().for_each(|(_, kind, _)| kinds[*kind as usize] += 1);
            let source = Drops(&text, 1 + below(40));
            let mut chunks = Chunks::with_sizes(source, RowEnds::Csv, 40, 16);
            let (mut found, mut long) = (Vec::new(), Vec::new());
            while let Some(chunk) = chunks.next(Vec::new(), || round % 2 == 0).unwrap() {
                match chunk.kind {
                    ChunkKind::Lines => {
                        found.extend(chunk.blocks().into_iter().flat_map(|block| rows(block, 16)));
                    }
                    ChunkKind::LongLine { last } => {
                        long.extend_from_slice(chunk.bytes());
                        if last {
                            found.push((std::mem::take(&mut long), RowKind::TooLong, Vec::new()));
                        }
                    }
                }
            }
            assert_eq!(found, expected, "{:?}", text.escape_ascii().to_string());
            let mut records = Records::with_limit(16);
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
        assert!(kinds.iter().all(|&count| count > 1000), "{kinds:?}");
    }
}
