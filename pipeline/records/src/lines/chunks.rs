//! Splits inputs into chunks of whole lines or CSV rows.

use std::io::{self, ErrorKind, Read};

use memchr::{memchr, memrchr};
use reptile::limits::MAX_URL_BYTES;

use super::MAX_LINE_BYTES;
use crate::tables::csv::{Records, UnclosedRow};
use crate::tables::quotes::Quoting;

/// Chunk size in bytes: tens of thousands of URLs, so that the handover costs nothing by comparison.
const CHUNK_BYTES: usize = 4 << 20;

/// Block size in bytes, for one thread's task.
///
/// Blocks are large enough to be worth the handover, and small enough that all threads finish at about the same time.
const BLOCK_BYTES: usize = 64 << 10;

const _: () = assert!(MAX_URL_BYTES < MAX_LINE_BYTES && MAX_LINE_BYTES < CHUNK_BYTES);

/// A part of the input: the first `filled` bytes in `buffer`.
pub struct Chunk {
    /// The memory. It may be longer than its content, so that it can be reused without clearing.
    pub buffer: Vec<u8>,
    /// Number of bytes from the input.
    pub filled: usize,
    /// Whether the chunk holds whole lines.
    pub kind: ChunkKind,
    /// Ends of blocks with about [`BLOCK_BYTES`], for rows that are not lines.
    row_ends: Vec<usize>,
    /// The last row, if the input ends inside its quotes.
    pub unclosed: Option<UnclosedRow>,
}

/// The rule for the end of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEnds {
    /// At each line end.
    Lines,
    /// At each line end outside quotes. Quotes open only at the start of the input, of a line, or after the delimiter.
    Quoted(Quoting),
}

/// Whether a chunk holds whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// Whole lines, each with its LF. The input's last line may lack it.
    Lines,
    /// A fragment from a line over [`MAX_LINE_BYTES`]. The last part includes the LF, if there is one.
    LongLine {
        /// Whether the line ends with this part.
        last: bool,
    },
}

impl Chunk {
    /// Returns the input bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// Returns the whole rows, split into blocks with about [`BLOCK_BYTES`].
    pub fn blocks(&self) -> Vec<&[u8]> {
        if self.row_ends.is_empty() {
            return blocks(self.bytes(), self.filled.div_ceil(BLOCK_BYTES));
        }
        let mut start = 0;
        let block = |&end| &self.buffer[std::mem::replace(&mut start, end)..end];
        self.row_ends.iter().map(block).collect()
    }
}

/// A reader that splits an input into chunks.
pub struct Chunks<R> {
    source: R,
    /// Bytes that were read beyond the last chunk's end.
    carry: Vec<u8>,
    at_end: bool,
    in_long_line: bool,
    chunk_bytes: usize,
    max_line_bytes: usize,
    /// A row splitter, unless every line is a row.
    records: Option<Records>,
}

impl<R: Read> Chunks<R> {
    /// Creates a reader for lines, with chunks of [`CHUNK_BYTES`].
    pub fn new(source: R) -> Chunks<R> {
        Chunks::of_rows(source, RowEnds::Lines)
    }

    /// Creates a reader for rows, with chunks of [`CHUNK_BYTES`].
    pub fn of_rows(source: R, ends: RowEnds) -> Chunks<R> {
        Chunks::with_sizes(source, ends, CHUNK_BYTES, MAX_LINE_BYTES)
    }

    pub(crate) fn with_sizes(source: R, ends: RowEnds, chunk_bytes: usize, max_line_bytes: usize) -> Chunks<R> {
        let records = match ends {
            RowEnds::Lines => None,
            RowEnds::Quoted(quoting) => Some(Records::with_limit(quoting, max_line_bytes)),
        };
        Chunks { source, carry: Vec::new(), at_end: false, in_long_line: false, chunk_bytes, max_line_bytes, records }
    }

    /// Returns the next chunk, or `None` at the end.
    ///
    /// A chunk is filled completely unless `is_awaited` reports idle threads. In that case the first whole line is
    /// enough, so that slow inputs are processed immediately.
    ///
    /// # Errors
    /// Returns an error if the input is unreadable.
    pub fn next(&mut self, mut buffer: Vec<u8>, is_awaited: &dyn Fn() -> bool) -> io::Result<Option<Chunk>> {
        buffer.resize(self.chunk_bytes, 0);
        let mut filled = self.carry.len();
        buffer[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        loop {
            self.fill(&mut buffer, &mut filled, is_awaited)?;
            if filled == 0 && !self.in_long_line {
                return Ok(None);
            }
            let was_in_long_line = self.in_long_line;
            let (end, kind, row_ends) = self.cut(&buffer[..filled]);
            // A line end within a CSV row is not enough.
            if end > 0 || self.at_end || filled == buffer.len() {
                self.carry.extend_from_slice(&buffer[end..filled]);
                let is_last = self.at_end && end == filled;
                let rows = (!was_in_long_line).then_some(&buffer[..filled]);
                let unclosed = self.records.as_ref().filter(|_| is_last).and_then(|records| records.unclosed(rows));
                return Ok(Some(Chunk { buffer, filled: end, kind, row_ends, unclosed }));
            }
        }
    }

    /// Reads until the buffer is full or the input ends, or until there is an awaited line.
    fn fill(&mut self, buffer: &mut [u8], filled: &mut usize, is_awaited: &dyn Fn() -> bool) -> io::Result<()> {
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

    /// Returns the chunk's end and kind, and the ends of CSV row blocks.
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

/// Splits whole lines into about `count` blocks with similar sizes.
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
