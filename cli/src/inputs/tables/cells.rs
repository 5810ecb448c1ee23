//! Rows that are handed on as cells: the lengths of all cells, then their bytes, one row after the other.
//!
//! Inputs that are not text are passed to the threads that decide in this form, in the same buffers as text.

use super::{Cells, MAX_CELLS};

/// Bytes of the length of a cell.
const LEN_BYTES: usize = 4;

/// The length of a cell that is absent.
const ABSENT: u32 = u32::MAX;

/// The length of a cell that is too long to be kept.
const TOO_LONG: u32 = u32::MAX - 1;

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed {
    /// It has bytes, or none.
    Text,
    /// The row does not have it.
    Absent,
    /// It is too long to be kept.
    TooLong,
}

/// Bytes that are copied at once.
const BLOCK_BYTES: usize = 32;

/// Rows that are being written. Their memory is longer than they are, so that short texts can be copied in blocks of one size,
/// which is faster than by their length; what is copied too much, the next text replaces.
pub struct RowBuffer {
    bytes: Vec<u8>,
    len: usize,
}

impl RowBuffer {
    /// No rows yet, in this memory.
    pub fn new(bytes: Vec<u8>) -> RowBuffer {
        RowBuffer { bytes, len: 0 }
    }

    /// Bytes of the rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The memory, and how much of it the rows are.
    pub fn into_parts(self) -> (Vec<u8>, usize) {
        (self.bytes, self.len)
    }

    /// Appends the first `len` bytes of `bytes`.
    #[inline]
    pub fn push_start(&mut self, bytes: &[u8], len: usize) {
        self.reserve(len);
        let to = &mut self.bytes[self.len..];
        match (to.first_chunk_mut::<BLOCK_BYTES>(), bytes.first_chunk()) {
            (Some(to), Some(from)) if len <= BLOCK_BYTES => *to = *from,
            _ => to[..len].copy_from_slice(&bytes[..len]),
        }
        self.len += len;
    }

    /// Begins a row of `count` cells.
    #[inline]
    pub fn begin(&mut self, count: usize) -> RowWriter<'_> {
        let len_at = self.len;
        self.reserve(count * LEN_BYTES);
        self.len += count * LEN_BYTES;
        RowWriter { rows: self, len_at }
    }

    /// Makes room for `more` bytes, and for a block after them.
    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.bytes.len() < self.len + more + BLOCK_BYTES {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let len = (self.bytes.len() * 2).max(self.len + more + BLOCK_BYTES);
        self.bytes.resize(len, 0);
    }
}

/// A row that is being appended.
pub struct RowWriter<'r> {
    rows: &'r mut RowBuffer,
    /// Where the length of the next cell is.
    len_at: usize,
}

impl RowWriter<'_> {
    /// Adds the next cell, whose bytes `write` appends to the rows. Only of a text they are kept.
    #[inline]
    pub fn cell(&mut self, write: impl FnOnce(&mut RowBuffer) -> Framed) {
        let start = self.rows.len;
        let len = match write(self.rows) {
            Framed::Text => u32::try_from(self.rows.len - start).unwrap_or(TOO_LONG).min(TOO_LONG),
            Framed::Absent => ABSENT,
            Framed::TooLong => TOO_LONG,
        };
        if len >= TOO_LONG {
            self.rows.len = start;
        }
        if let Some(place) = self.rows.bytes.get_mut(self.len_at..).and_then(<[u8]>::first_chunk_mut) {
            *place = len.to_le_bytes();
        }
        self.len_at += LEN_BYTES;
    }
}

/// Reads the row of `count` cells at the start of `rest`. Returns its cells, its length, and whether a cell of it is too
/// long.
#[inline]
pub fn read(rest: &[u8], count: usize) -> (Cells<'_>, usize, bool) {
    let mut cells = [None; MAX_CELLS];
    let count = count.min(MAX_CELLS);
    let mut at = count * LEN_BYTES;
    let mut is_too_long = false;
    for (cell, len) in cells.iter_mut().zip(rest.chunks_exact(LEN_BYTES).take(count)) {
        match len.first_chunk().map_or(ABSENT, |&len| u32::from_le_bytes(len)) {
            ABSENT => {}
            TOO_LONG => is_too_long = true,
            len => {
                let end = at + len as usize;
                *cell = rest.get(at..end);
                at = end;
            }
        }
    }
    (cells, at.min(rest.len()), is_too_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_as_they_went_in() {
        let rows: [[(Framed, &[u8]); 2]; 4] = [
            [(Framed::Text, b"a"), (Framed::Text, b"\n\0")],
            [(Framed::Absent, b""), (Framed::Text, b"")],
            [(Framed::Text, b"\xff"), (Framed::Absent, b"begun")],
            [(Framed::TooLong, b"begun"), (Framed::Text, b"b")],
        ];
        let mut buffer = RowBuffer::new(vec![b'x'; 7]);
        for row in rows {
            let mut writer = buffer.begin(row.len());
            for (kind, bytes) in row {
                writer.cell(|rows| {
                    rows.push_start(bytes, bytes.len());
                    kind
                });
            }
        }
        let (bytes, len) = buffer.into_parts();
        let mut rest = &bytes[..len];
        for row in rows {
            let (cells, len, is_too_long) = read(rest, 2);
            let text = |(kind, bytes): (Framed, &'static [u8])| (kind == Framed::Text).then_some(bytes);
            assert_eq!(cells, [text(row[0]), text(row[1]), None]);
            assert_eq!(is_too_long, row.iter().any(|(kind, _)| *kind == Framed::TooLong));
            rest = &rest[len..];
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn pieces_are_joined_whatever_their_length() {
        let text: Vec<u8> = (0..200).collect();
        let mut buffer = RowBuffer::new(Vec::new());
        let mut expected = Vec::new();
        for len in (0..=100).chain((0..=100).rev()) {
            // With bytes after the piece, and without.
            for from in [&text[..], &text[..len]] {
                buffer.push_start(from, len);
                expected.extend_from_slice(&text[..len]);
            }
        }
        let (bytes, len) = buffer.into_parts();
        assert!(bytes[..len] == expected);
    }
}
