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

/// A row that is being appended.
pub struct RowWriter<'r> {
    rows: &'r mut Vec<u8>,
    /// Where the length of the next cell is.
    len_at: usize,
}

impl RowWriter<'_> {
    /// Begins a row of `count` cells.
    #[inline]
    pub fn begin(rows: &mut Vec<u8>, count: usize) -> RowWriter<'_> {
        let len_at = rows.len();
        rows.resize(len_at + count * LEN_BYTES, 0);
        RowWriter { rows, len_at }
    }

    /// Adds the next cell, whose bytes `write` appends to the rows. Only of a text they are kept.
    #[inline]
    pub fn cell(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Framed) {
        let start = self.rows.len();
        let len = match write(self.rows) {
            Framed::Text => u32::try_from(self.rows.len() - start).unwrap_or(TOO_LONG).min(TOO_LONG),
            Framed::Absent => ABSENT,
            Framed::TooLong => TOO_LONG,
        };
        if len >= TOO_LONG {
            self.rows.truncate(start);
        }
        if let Some(place) = self.rows.get_mut(self.len_at..).and_then(<[u8]>::first_chunk_mut) {
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
        let mut buffer = Vec::new();
        for row in rows {
            let mut writer = RowWriter::begin(&mut buffer, row.len());
            for (kind, bytes) in row {
                writer.cell(|rows| {
                    rows.extend_from_slice(bytes);
                    kind
                });
            }
        }
        let mut rest = &buffer[..];
        for row in rows {
            let (cells, len, is_too_long) = read(rest, 2);
            let text = |(kind, bytes): (Framed, &'static [u8])| (kind == Framed::Text).then_some(bytes);
            assert_eq!(cells, [text(row[0]), text(row[1]), None]);
            assert_eq!(is_too_long, row.iter().any(|(kind, _)| *kind == Framed::TooLong));
            rest = &rest[len..];
        }
        assert!(rest.is_empty());
    }
}
