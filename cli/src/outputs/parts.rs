//! A list's rows in one output, or in numbered parts of at most N rows (`--rows-per-file`).

use memchr::{memchr, memchr_iter};
use reptile_columns::{AnswerRows, ColumnData};

use super::file::Complete;
use super::sink::Sink;
use super::summary::grouped;
use crate::error::{Failure, Result};

/// Maximum number of parts of one list. All of them stay open until the last one is complete.
pub const MAX_LIST_PARTS: u32 = 512;

/// Opens the part with a number.
pub type NextPart = Box<dyn FnMut(u32) -> Result<Sink> + Send>;

/// A destination for the rows of a list.
pub enum RowSink {
    /// One output.
    One(Sink),
    /// Numbered parts.
    Parts(Box<OutputParts>),
}

impl RowSink {
    /// Creates a destination for parts of at most `rows` rows. `first` is the open first part.
    pub fn parts(first: Sink, rows: u64, next: NextPart) -> RowSink {
        let (header, full) = (Vec::new(), Vec::new());
        RowSink::Parts(Box::new(OutputParts {
            current: first,
            header,
            number: 0,
            rows,
            left: rows,
            in_row: false,
            next,
            full,
        }))
    }

    /// Writes the header, which may be empty, at the start of each output. Called once, before any row.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write_header(&mut self, header: &[u8]) -> Result<()> {
        match self {
            RowSink::One(sink) => sink.write_header(header),
            RowSink::Parts(parts) => {
                parts.header = header.to_vec();
                parts.current.write_header(header)
            }
        }
    }

    /// Writes whole rows, or parts of an overlong one.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if there are more than [`MAX_LIST_PARTS`] parts.
    pub fn write(&mut self, rows: &AnswerRows) -> Result<()> {
        match self {
            RowSink::One(sink) => sink.write(rows),
            RowSink::Parts(parts) => parts.write(rows),
        }
    }

    /// Completes all files, each with an entry in its metadata. The caller still has to publish them.
    ///
    /// # Errors
    /// Returns an error if an output cannot be written.
    pub fn complete(self, key: &str, value: &str) -> Result<Vec<Complete>> {
        let sinks = match self {
            RowSink::One(sink) => vec![sink],
            RowSink::Parts(parts) => {
                let OutputParts { current, mut full, .. } = *parts;
                full.push(current);
                full
            }
        };
        let mut complete = Vec::with_capacity(sinks.len());
        for mut sink in sinks {
            sink.describe(key, value);
            complete.extend(sink.finish()?.complete()?);
        }
        Ok(complete)
    }
}

/// Parts being written.
pub struct OutputParts {
    current: Sink,
    /// The header of each part.
    header: Vec<u8>,
    /// The current part's number.
    number: u32,
    /// Maximum number of rows in a part.
    rows: u64,
    /// Number of rows that still fit into the current part.
    left: u64,
    /// Whether the last text ended within a row.
    in_row: bool,
    next: NextPart,
    /// The parts before the current one. They are completed last, because their metadata has the counts of all rows.
    full: Vec<Sink>,
}

impl OutputParts {
    fn write(&mut self, rows: &AnswerRows) -> Result<()> {
        match rows {
            AnswerRows::Text(text) => self.write_text(text.as_bytes()),
            AnswerRows::Columns(columns) => self.write_columns(columns),
            AnswerRows::Selected(rows) => self.write_selected(rows),
        }
    }

    /// Writes text whose rows end with LF.
    fn write_text(&mut self, mut rest: &[u8]) -> Result<()> {
        if self.in_row && !rest.is_empty() {
            let end = memchr(b'\n', rest).map(|end| end + 1);
            self.in_row = end.is_none();
            let (row, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.current.write(&AnswerRows::of_text(row))?;
            rest = after;
        }
        while !rest.is_empty() {
            self.make_room()?;
            let last = usize::try_from(self.left - 1).unwrap_or(usize::MAX);
            let end = memchr_iter(b'\n', rest).nth(last).map(|end| end + 1);
            let (rows, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.in_row = !rows.ends_with(b"\n");
            self.left -= memchr_iter(b'\n', rows).count() as u64 + u64::from(self.in_row);
            self.current.write(&AnswerRows::of_text(rows))?;
            rest = after;
        }
        Ok(())
    }

    fn write_columns(&mut self, columns: &[ColumnData]) -> Result<()> {
        let count = columns.first().map_or(0, ColumnData::len);
        let mut start = 0;
        while start < count {
            self.make_room()?;
            let fits = usize::try_from(self.left).unwrap_or(usize::MAX).min(count - start);
            let part = columns.iter().map(|column| column.slice(start..start + fits)).collect();
            self.current.write(&AnswerRows::Columns(part))?;
            self.left -= fits as u64;
            start += fits;
        }
        Ok(())
    }

    /// Writes the selected rows. `rest` says for each of the input's next rows whether it is selected.
    fn write_selected(&mut self, mut rest: &[bool]) -> Result<()> {
        while !rest.is_empty() {
            let last = usize::try_from(self.left).unwrap_or(usize::MAX);
            // The first selected row that does not fit begins the next part.
            let after = (0..).zip(rest).filter(|(_, is_kept)| **is_kept).nth(last).map(|(at, _)| at);
            let (now, later) = rest.split_at(after.unwrap_or(rest.len()));
            self.current.write(&AnswerRows::Selected(now.to_vec()))?;
            self.left -= now.iter().filter(|is_kept| **is_kept).count() as u64;
            rest = later;
            if !rest.is_empty() {
                self.make_room()?;
            }
        }
        Ok(())
    }

    /// Begins the next part if the current one is full.
    fn make_room(&mut self) -> Result<()> {
        if self.left > 0 {
            return Ok(());
        }
        self.number = next_number(self.number, self.rows)?;
        let next = (self.next)(self.number)?;
        let mut full = std::mem::replace(&mut self.current, next);
        full.end_part()?;
        self.full.push(full);
        self.left = self.rows;
        self.current.write_header(&self.header)
    }
}

/// Returns the number of the part after this one.
fn next_number(number: u32, rows: u64) -> Result<u32> {
    if number + 1 < MAX_LIST_PARTS {
        return Ok(number + 1);
    }
    let (parts, rows) = (grouped(MAX_LIST_PARTS.into()), grouped(rows));
    Err(Failure::new(format!(
        "--rows-per-file {rows}: a list has more than {parts} files with that many rows; choose a greater number"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stop_at_the_limit() {
        for (number, fits) in [(MAX_LIST_PARTS - 3, true), (MAX_LIST_PARTS - 2, true), (MAX_LIST_PARTS - 1, false)] {
            assert_eq!(next_number(number, 1).is_ok(), fits, "{number}");
        }
    }
}
