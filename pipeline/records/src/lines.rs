//! Lists of lines, read in chunks that are worth handing to another thread, with bounded memory.
//!
//! This module does not interpret lines. An overlong line is passed on in parts. CSV rows, which may contain line ends,
//! are split like lines, but never inside quotes.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};
use reptile::limits::MAX_URL_BYTES;

use super::open::Input;
use super::recognise::Wanted;
use super::tables::csv::{Records, UnclosedRow};
use crate::Result;

/// Bytes of a line that is kept whole. A longer line is far over [`MAX_URL_BYTES`] and is passed on in parts, unread.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Bytes of a chunk: some tens of thousands of URLs, so that handing it over costs nothing by comparison.
pub const CHUNK_BYTES: usize = 4 << 20;

/// Bytes of a block, the work of one thread at a time: enough to be worth handing over, and few enough that all threads
/// end at about the same time.
pub const BLOCK_BYTES: usize = 64 << 10;

const _: () = assert!(MAX_URL_BYTES < MAX_LINE_BYTES && MAX_LINE_BYTES < CHUNK_BYTES);

/// A part of the input: the first `filled` bytes of `buffer`.
pub struct Chunk {
    /// The memory, which is longer than what it holds so that it can be filled again without being cleared.
    pub buffer: Vec<u8>,
    /// The number of bytes that are from the input.
    pub filled: usize,
    /// Whether they are whole lines.
    pub kind: ChunkKind,
    /// For rows that are not lines, where blocks of about [`BLOCK_BYTES`] end.
    row_ends: Vec<usize>,
    /// The last row, if the input ends inside its quotes.
    pub unclosed: Option<UnclosedRow>,
}

/// Where rows end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEnds {
    /// At each line end.
    Lines,
    /// At each line end outside quotes. Quotes open only at the start of the input, of a line, or after this delimiter.
    Csv(u8),
}

/// Whether a chunk holds whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// Whole lines, each with its LF; the last line of the input may lack it.
    Lines,
    /// A part of a line of more than [`MAX_LINE_BYTES`]; the last part has the LF, if there is one.
    LongLine {
        /// Whether the line ends with this part.
        last: bool,
    },
}

impl Chunk {
    /// The bytes of the input.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// The whole rows, cut into blocks of about [`BLOCK_BYTES`].
    pub fn blocks(&self) -> Vec<&[u8]> {
        if self.row_ends.is_empty() {
            return blocks(self.bytes(), self.filled.div_ceil(BLOCK_BYTES));
        }
        let mut start = 0;
        let block = |&end| &self.buffer[std::mem::replace(&mut start, end)..end];
        self.row_ends.iter().map(block).collect()
    }
}

/// Reads an input chunk by chunk.
pub struct Chunks<R> {
    source: R,
    /// What was read beyond the end of the last chunk.
    carry: Vec<u8>,
    at_end: bool,
    in_long_line: bool,
    chunk_bytes: usize,
    max_line_bytes: usize,
    /// Finds the ends of rows, unless every line is a row.
    records: Option<Records>,
}

impl<R: Read> Chunks<R> {
    /// Reads lines in chunks of [`CHUNK_BYTES`].
    pub fn new(source: R) -> Chunks<R> {
        Chunks::of_rows(source, RowEnds::Lines)
    }

    /// Reads rows in chunks of [`CHUNK_BYTES`].
    pub fn of_rows(source: R, ends: RowEnds) -> Chunks<R> {
        Chunks::with_sizes(source, ends, CHUNK_BYTES, MAX_LINE_BYTES)
    }

    pub(super) fn with_sizes(source: R, ends: RowEnds, chunk_bytes: usize, max_line_bytes: usize) -> Chunks<R> {
        let records = match ends {
            RowEnds::Lines => None,
            RowEnds::Csv(delimiter) => Some(Records::with_limit(delimiter, max_line_bytes)),
        };
        Chunks { source, carry: Vec::new(), at_end: false, in_long_line: false, chunk_bytes, max_line_bytes, records }
    }

    /// The next chunk, or `None` at the end.
    ///
    /// A chunk is filled to the end, unless `is_awaited` says that other threads are idle; then the first whole line
    /// is enough, so that an input that comes slowly is answered at once.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn next(&mut self, mut buffer: Vec<u8>, is_awaited: impl Fn() -> bool) -> io::Result<Option<Chunk>> {
        buffer.resize(self.chunk_bytes, 0);
        let mut filled = self.carry.len();
        buffer[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            self.fill(&mut buffer, &mut filled, &is_awaited)?;
            if filled == 0 && !self.in_long_line {
                return Ok(None);
            }
            let was_in_long_line = self.in_long_line;
            let (end, kind, row_ends) = self.cut(&buffer[..filled]);
            // A line end within a row of CSV is not enough.
            if end > 0 || self.at_end || filled == buffer.len() {
                self.carry.extend_from_slice(&buffer[end..filled]);
                let is_last = self.at_end && end == filled;
                let rows = (!was_in_long_line).then_some(&buffer[..filled]);
                let unclosed = self.records.as_ref().filter(|_| is_last).and_then(|records| records.unclosed(rows));
                return Ok(Some(Chunk { buffer, filled: end, kind, row_ends, unclosed }));
            }
        }
    }

    /// Reads until the buffer is full or the input ends, or until there is a line and it is awaited.
    fn fill(&mut self, buffer: &mut [u8], filled: &mut usize, is_awaited: impl Fn() -> bool) -> io::Result<()> {
        while !self.at_end && *filled < buffer.len() {
            match self.source.read(&mut buffer[*filled..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => {
                    let new = &buffer[*filled..*filled + read];
                    *filled += read;
                    if is_awaited() && memrchr(b'\n', new).is_some() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Where the chunk ends, what it is, and where blocks of rows of CSV end.
    fn cut(&mut self, bytes: &[u8]) -> (usize, ChunkKind, Vec<usize>) {
        if self.in_long_line {
            let (end, is_ended) = match &mut self.records {
                Some(records) => records.skip(bytes),
                None => memchr(b'\n', bytes).map_or((bytes.len(), false), |at| (at + 1, true)),
            };
            let last = is_ended || self.at_end;
            self.in_long_line = !last;
            return (end, ChunkKind::LongLine { last }, Vec::new());
        }
        let row_ends = match &mut self.records {
            Some(records) => records.ends(bytes, self.at_end, BLOCK_BYTES),
            None => Vec::new(),
        };
        let whole_lines = match &self.records {
            Some(_) => row_ends.last().copied().unwrap_or(0),
            None => memrchr(b'\n', bytes).map_or(0, |at| at + 1),
        };
        let rest_is_long = bytes.len() - whole_lines > self.max_line_bytes;
        if whole_lines == 0 && rest_is_long {
            self.in_long_line = !self.at_end;
            if let Some(records) = &mut self.records {
                records.begin_long(bytes);
            }
            return (bytes.len(), ChunkKind::LongLine { last: self.at_end }, Vec::new());
        }
        let end = if self.at_end && !rest_is_long { bytes.len() } else { whole_lines };
        (end, ChunkKind::Lines, row_ends)
    }
}

/// Cuts whole lines into about `count` blocks of about the same size.
pub fn blocks(lines: &[u8], count: usize) -> Vec<&[u8]> {
    let size = lines.len().div_ceil(count.max(1)).max(1);
    let mut blocks = Vec::with_capacity(count);
    let mut rest = lines;
    while !rest.is_empty() {
        let end = match rest.get(size - 1..).and_then(|tail| memchr(b'\n', tail)) {
            Some(at) => size + at,
            None => rest.len(),
        };
        let (block, after) = rest.split_at(end);
        blocks.push(block);
        rest = after;
    }
    blocks
}

/// The lines of a block, each with its LF. After the last LF there is a line only if there are bytes.
pub fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', block).map(|at| at + 1);
    let rest = (block.last().is_some_and(|&last| last != b'\n')).then_some(block.len());
    ends.chain(rest).map(move |end| &block[std::mem::replace(&mut start, end)..end])
}

/// A line without its LF, and otherwise unchanged.
pub fn without_lf(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// A line without its LF and one CR before that. A CR without an LF after it does not end a line.
#[inline]
pub fn without_line_end(line: &[u8]) -> &[u8] {
    match line {
        [text @ .., b'\r', b'\n'] | [text @ .., b'\n'] => text,
        _ => line,
    }
}

/// Returns a URL without leading and trailing spaces and C0 controls, as the WHATWG URL standard requires. Inside the
/// URL they make it invalid, except in its path.
#[inline]
#[must_use]
pub fn trimmed_url(url: &[u8]) -> &[u8] {
    let is_white = |byte: &u8| *byte <= b' ';
    // Nearly every URL needs no trimming.
    if !url.first().is_some_and(is_white) && !url.last().is_some_and(is_white) {
        return url;
    }
    let start = url.iter().position(|byte| !is_white(byte)).unwrap_or(url.len());
    let end = url.iter().rposition(|byte| !is_white(byte)).map_or(start, |last| last + 1);
    &url[start..end]
}

/// Opens a list of lines, unpacked; `-` is standard input.
///
/// # Errors
/// If it cannot be opened, or is something else than text.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    open_as(path, Wanted::List)
}

/// Opens a list or a table of URLs, as [`open`] opens a list.
///
/// # Errors
/// As [`open`].
pub fn open_urls(path: &Path) -> Result<Box<dyn Read + Send>> {
    open_as(path, Wanted::Urls)
}

/// Opens a table with a row on each line, as [`open`] opens a list.
///
/// # Errors
/// As [`open`].
pub fn open_table(path: &Path) -> Result<Box<dyn Read + Send>> {
    open_as(path, Wanted::Table)
}

fn open_as(path: &Path, wanted: Wanted) -> Result<Box<dyn Read + Send>> {
    let is_pipe = path == Path::new("-") || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_pipe {
        return Ok(Box::new(Waiting { path: path.into(), wanted, source: None }));
    }
    Ok(Box::new(Input::open(path)?.rows(wanted)?.into_source()))
}

/// A list in a pipe, which is recognised when it is first read: its first bytes may be long in coming, and whatever else is
/// wrong with a command must not wait for them.
struct Waiting {
    path: PathBuf,
    wanted: Wanted,
    source: Option<Box<dyn Read + Send>>,
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(source) = &mut self.source {
            return source.read(buffer);
        }
        let input = Input::open(&self.path).and_then(|input| input.rows(self.wanted));
        let input = input.map_err(io::Error::other)?;
        self.source.insert(Box::new(input.into_source())).read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(buffer.len()).min(self.0.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    /// Each line, and whether it came out as a long one, in however many parts.
    fn read(input: &[u8], drop: usize, awaited: bool) -> Vec<(Vec<u8>, bool)> {
        let mut chunks = Chunks::with_sizes(Drops(input, drop), RowEnds::Lines, 32, 8);
        let (mut found, mut long) = (Vec::new(), Vec::new());
        while let Some(chunk) = chunks.next(Vec::new(), || awaited).unwrap() {
            match chunk.kind {
                ChunkKind::Lines => {
                    let lines = blocks(chunk.bytes(), 3).into_iter().flat_map(lines);
                    found.extend(lines.map(|line| (without_lf(line).into(), false)));
                }
                ChunkKind::LongLine { last } => {
                    long.extend_from_slice(chunk.bytes());
                    if last {
                        found.push((without_lf(&long).into(), true));
                        long.clear();
                    }
                }
            }
        }
        assert!(long.is_empty());
        found
    }

    #[test]
    fn lines_come_out_as_they_went_in() {
        let inputs: [&[u8]; 9] =
            [b"", b"\n", b"\n\n", b"a", b"a\n", b"a\r\nb\0\n\nc", b"\na", b"abcdefgh\nabcdefg\n\nabcdefgh", b"a\n\n\n"];
        for input in inputs {
            let mut expected: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
            expected.pop_if(|last| last.is_empty());
            for drop in 1..12 {
                for awaited in [false, true] {
                    let found = read(input, drop, awaited);
                    assert_eq!(found.iter().map(|(line, _)| &line[..]).collect::<Vec<_>>(), expected);
                    assert!(found.iter().all(|&(_, long)| !long));
                }
            }
        }
    }

    #[test]
    fn long_lines_come_out_whole_whatever_surrounds_them() {
        for len in 0..140 {
            for (before, after) in [("", ""), ("x\n", ""), ("", "\ny\n"), ("x\nxx\n", "\n\ny"), ("", "\n")] {
                let input = format!("{before}{}{after}", "z".repeat(len));
                let mut expected: Vec<&str> = input.split('\n').collect();
                expected.pop_if(|last| last.is_empty());
                for drop in [1, 7, 31, 32, 33, 1000] {
                    let found = read(input.as_bytes(), drop, drop % 2 == 0);
                    let texts: Vec<&[u8]> = found.iter().map(|(line, _)| &line[..]).collect();
                    assert_eq!(texts, expected.iter().map(|line| line.as_bytes()).collect::<Vec<_>>(), "{len} {drop}");
                }
            }
        }
    }

    #[test]
    fn the_last_line_is_long_from_one_byte_over_the_limit() {
        for (len, long) in [(7, false), (8, false), (9, true)] {
            assert_eq!(read(&vec![b'z'; len], 100, false), [(vec![b'z'; len], long)]);
        }
    }

    #[test]
    fn one_line_end_is_taken_off() {
        let table: [(&[u8], &[u8]); 7] = [
            (b"a", b"a"),
            (b"a\n", b"a"),
            (b"a\r\n", b"a"),
            (b"a\r\r\n", b"a\r"),
            (b"a\r", b"a\r"),
            (b"\n", b""),
            (b"", b""),
        ];
        for (line, text) in table {
            assert_eq!(without_line_end(line), text);
        }
    }

    #[test]
    fn urls_lose_spaces_and_controls_at_their_ends_only() {
        let table: [(&[u8], &[u8]); 10] = [
            (b"", b""),
            (b" \t\r\n\0", b""),
            (b"a", b"a"),
            (b" a", b"a"),
            (b"a\x1f", b"a"),
            (b"\0 a b\t\r ", b"a b"),
            (b"a\tb", b"a\tb"),
            // DEL and no-break space are not removed.
            (b"a\x7f", b"a\x7f"),
            ("\u{a0}a".as_bytes(), "\u{a0}a".as_bytes()),
            (b"\xffa ", b"\xffa"),
        ];
        for (url, trimmed) in table {
            assert_eq!(trimmed_url(url), trimmed, "{}", url.escape_ascii());
        }
    }

    #[test]
    fn an_awaited_line_does_not_wait_for_more() {
        let mut chunks = Chunks::with_sizes(Drops(b"a\nb\nc\n", 2), RowEnds::Lines, 32, 8);
        assert_eq!(chunks.next(Vec::new(), || true).unwrap().unwrap().bytes(), b"a\n");
        assert_eq!(chunks.next(Vec::new(), || false).unwrap().unwrap().bytes(), b"b\nc\n");
    }
}
