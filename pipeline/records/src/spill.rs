//! Sorted rows and stored bytes, with temporary files for data over the memory limit.
//!
//! The files have no names, so the system removes them when the command ends, even if it is killed.
//!
//! ```
//! use reptile_records::spill::{SpilledRows, Scratch};
//!
//! // These rows exceed the memory limit, so they go to a temporary file.
//! let mut rows = SpilledRows::new(Scratch { buffer_bytes: 64, ..Scratch::default() });
//! for host in ["c.example", "a.example", "b.example", "a.example"] {
//!     rows.push(&[b"https://", host.as_bytes()])?;
//! }
//! let sorted = rows.finish()?;
//! let mut cursor = sorted.cursor()?;
//! let mut origins = Vec::new();
//! while let Some(row) = cursor.row() {
//!     origins.push(String::from_utf8_lossy(row).into_owned());
//!     cursor.advance()?;
//! }
//! assert_eq!(origins, ["https://a.example", "https://a.example", "https://b.example", "https://c.example"]);
//! # Ok::<(), reptile_records::Error>(())
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use crate::{Error, Result};

/// Maximum buffer memory in bytes. Larger buffers are not faster.
pub const MAX_BUFFER_BYTES: usize = 8 << 20;

/// Maximum number of sorted runs in a file. Beyond this, all runs are merged into one.
const MAX_RUNS: usize = 64;

/// Number of bytes per read from each run.
const READ_BYTES: usize = 16 << 10;

/// The folder for temporary files, and each buffer's memory limit.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// The folder, or `None` for the system's temporary folder.
    pub folder: Option<PathBuf>,
    /// Maximum buffer memory in bytes.
    pub buffer_bytes: usize,
}

impl Scratch {
    /// Creates a file without a name.
    fn file(&self) -> Result<File> {
        let file = match &self.folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        file.map_err(|error| self.failure(&error))
    }

    /// Returns the error for a temporary file.
    fn failure(&self, error: &io::Error) -> Error {
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        Error::run(format!("{}: cannot use a temporary file: {error}", folder.display()))
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { folder: None, buffer_bytes: MAX_BUFFER_BYTES }
    }
}

/// An append-only store of bytes, read by offset.
pub(crate) struct Blobs {
    scratch: Scratch,
    /// Bytes that have not been written to the file.
    buffer: Vec<u8>,
    /// The file's length.
    written: u64,
    file: Option<File>,
}

impl Blobs {
    /// Creates a store without a file.
    pub fn new(scratch: Scratch) -> Blobs {
        Blobs { scratch, buffer: Vec::new(), written: 0, file: None }
    }

    /// Appends a blob in parts, and returns its offset.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn append(&mut self, parts: &[&[u8]]) -> Result<u64> {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if self.buffer.len() + len > self.scratch.buffer_bytes {
            self.flush()?;
        }
        let offset = self.written + self.buffer.len() as u64;
        parts.iter().for_each(|part| self.buffer.extend_from_slice(part));
        if self.buffer.len() > self.scratch.buffer_bytes {
            self.flush()?;
            self.buffer.shrink_to(self.scratch.buffer_bytes);
        }
        Ok(offset)
    }

    /// Writes the buffer to the file.
    fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(self.scratch.file()?);
        }
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(&self.buffer));
        written.map_err(|error| self.scratch.failure(&error))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Returns the `len` bytes at an offset. Nothing may be appended after the first call.
    ///
    /// # Errors
    /// Returns an error if the file is unreadable.
    pub fn read(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let Some(at) = offset.checked_sub(self.written) else {
            let read = || -> io::Result<Vec<u8>> {
                let Some(mut file) = self.file.as_ref() else { return Err(ErrorKind::UnexpectedEof.into()) };
                file.seek(SeekFrom::Start(offset))?;
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(len)?;
                bytes.resize(len, 0);
                file.read_exact(&mut bytes)?;
                Ok(bytes)
            };
            return read().map_err(|error| self.scratch.failure(&error));
        };
        let found = self.buffer.get(at as usize..at as usize + len);
        found.map(<[u8]>::to_vec).ok_or_else(|| self.scratch.failure(&ErrorKind::UnexpectedEof.into()))
    }
}

/// A collection of rows, which are sorted bytewise.
pub struct SpilledRows {
    scratch: Scratch,
    bytes: Vec<u8>,
    /// Each row's position in `bytes`.
    spans: Vec<Range<u32>>,
    file: Option<File>,
    /// The file's length.
    written: u64,
    /// The sorted runs' positions in the file.
    runs: Vec<Range<u64>>,
}

impl SpilledRows {
    /// Creates a collection without a file.
    pub fn new(scratch: Scratch) -> SpilledRows {
        SpilledRows { scratch, bytes: Vec::new(), spans: Vec::new(), file: None, written: 0, runs: Vec::new() }
    }

    /// Returns whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.runs.is_empty()
    }

    /// Adds a row in parts.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn push(&mut self, parts: &[&[u8]]) -> Result<()> {
        let start = self.bytes.len();
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.spans.push(start as u32..self.bytes.len() as u32);
        if self.bytes.len() + size_of_val(&*self.spans) > self.scratch.buffer_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// Sorts the rows in memory.
    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.spans.sort_unstable_by_key(|span| &bytes[span.start as usize..span.end as usize]);
    }

    /// Writes the rows in memory to the file as a sorted run.
    fn flush(&mut self) -> Result<()> {
        self.sort();
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.scratch.file()?,
        };
        let mut run = RunWriter { file: &mut file, buffer: Vec::new(), written: self.written };
        let rows = self.spans.iter().map(|span| &self.bytes[span.start as usize..span.end as usize]);
        let end = rows.into_iter().try_for_each(|row| run.row(row)).and_then(|()| run.end());
        let end = end.map_err(|error| self.scratch.failure(&error))?;
        self.runs.push(self.written..end);
        self.written = end;
        self.file = Some(file);
        self.bytes.clear();
        self.bytes.shrink_to(self.scratch.buffer_bytes);
        self.spans.clear();
        if self.runs.len() >= MAX_RUNS { self.merge() } else { Ok(()) }
    }

    /// Merges all runs into one, in another file.
    fn merge(&mut self) -> Result<()> {
        let Some(old) = self.file.take() else { return Ok(()) };
        let mut new = self.scratch.file()?;
        let merged = merge_runs(&old, &self.runs, &mut new);
        self.written = merged.map_err(|error| self.scratch.failure(&error))?;
        self.runs.clear();
        self.runs.push(0..self.written);
        self.file = Some(new);
        Ok(())
    }

    /// Sorts the rows.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be used.
    pub fn finish(mut self) -> Result<SortedRows> {
        if self.file.is_some() {
            if !self.spans.is_empty() {
                self.flush()?;
            }
            if self.runs.len() > 1 {
                self.merge()?;
            }
        }
        self.sort();
        Ok(SortedRows(self))
    }
}

/// A writer for rows, each preceded by its length.
struct RunWriter<'f> {
    file: &'f mut File,
    buffer: Vec<u8>,
    written: u64,
}

impl RunWriter<'_> {
    fn row(&mut self, row: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(&(row.len() as u32).to_le_bytes());
        self.buffer.extend_from_slice(row);
        if self.buffer.len() < READ_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.written))?;
        self.file.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Returns the file's length.
    fn end(mut self) -> io::Result<u64> {
        self.flush()?;
        Ok(self.written)
    }
}

/// Merges sorted runs from one file into a new file, and returns its length.
fn merge_runs(old: &File, runs: &[Range<u64>], new: &mut File) -> io::Result<u64> {
    let mut readers: Vec<Run<'_>> = runs.iter().map(|run| Run::new(old, run.clone())).collect();
    let mut heap = BinaryHeap::new();
    for (number, reader) in readers.iter_mut().enumerate() {
        let mut row = Vec::new();
        if reader.next(&mut row)? {
            heap.push(Reverse((row, number)));
        }
    }
    let mut writer = RunWriter { file: new, buffer: Vec::new(), written: 0 };
    while let Some(Reverse((mut row, number))) = heap.pop() {
        writer.row(&row)?;
        if readers[number].next(&mut row)? {
            heap.push(Reverse((row, number)));
        }
    }
    writer.end()
}

/// A part of a file that is read from several positions alternately.
struct Part<'f> {
    file: &'f File,
    range: Range<u64>,
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min((self.range.end - self.range.start) as usize);
        self.file.seek(SeekFrom::Start(self.range.start))?;
        let read = self.file.read(&mut buffer[..len])?;
        self.range.start += read as u64;
        Ok(read)
    }
}

/// A reader for a run's rows.
struct Run<'f>(BufReader<Part<'f>>);

impl<'f> Run<'f> {
    fn new(file: &'f File, range: Range<u64>) -> Run<'f> {
        Run(BufReader::with_capacity(READ_BYTES, Part { file, range }))
    }

    /// Reads the next row, and returns whether there is one.
    fn next(&mut self, row: &mut Vec<u8>) -> io::Result<bool> {
        row.clear();
        if self.0.buffer().is_empty() && self.0.get_ref().range.is_empty() {
            return Ok(false);
        }
        let mut len = [0; 4];
        self.0.read_exact(&mut len)?;
        row.resize(u32::from_le_bytes(len) as usize, 0);
        self.0.read_exact(row)?;
        Ok(true)
    }
}

/// Sorted rows, which can be read repeatedly.
pub struct SortedRows(SpilledRows);

impl SortedRows {
    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a cursor at the first row.
    ///
    /// # Errors
    /// Returns an error if the row is unreadable.
    pub fn cursor(&self) -> Result<Cursor<'_>> {
        let run = self.0.file.as_ref().zip(self.0.runs.first()).map(|(file, run)| Run::new(file, run.clone()));
        let mut cursor = Cursor { rows: &self.0, run, at: 0, row: Vec::new(), is_end: false };
        cursor.advance()?;
        Ok(cursor)
    }
}

/// A position in sorted rows.
pub struct Cursor<'r> {
    rows: &'r SpilledRows,
    /// The run in the file, or `None` if the rows are in memory.
    run: Option<Run<'r>>,
    at: usize,
    row: Vec<u8>,
    is_end: bool,
}

impl Cursor<'_> {
    /// Returns the current row, or `None` after the last one.
    pub fn row(&self) -> Option<&[u8]> {
        (!self.is_end).then_some(&*self.row)
    }

    /// Advances to the next row.
    ///
    /// # Errors
    /// Returns an error if the row is unreadable.
    pub fn advance(&mut self) -> Result<()> {
        match &mut self.run {
            Some(run) => {
                let read = run.next(&mut self.row).map_err(|error| self.rows.scratch.failure(&error))?;
                self.is_end = !read;
            }
            None => match self.rows.spans.get(self.at) {
                Some(span) => {
                    self.row.clear();
                    self.row.extend_from_slice(&self.rows.bytes[span.start as usize..span.end as usize]);
                    self.at += 1;
                }
                None => self.is_end = true,
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(buffer_bytes: usize) -> Scratch {
        Scratch { folder: None, buffer_bytes }
    }

    fn rows_of(sorted: &SortedRows) -> Vec<Vec<u8>> {
        let mut cursor = sorted.cursor().unwrap();
        let mut rows = Vec::new();
        while let Some(row) = cursor.row() {
            rows.push(row.to_vec());
            cursor.advance().unwrap();
        }
        rows
    }

    #[test]
    fn blobs_go_to_a_file_beyond_the_limit() {
        for (len, in_file) in [(99, false), (100, false), (101, true)] {
            let mut blobs = Blobs::new(scratch(100));
            assert_eq!(blobs.append(&[&[1; 40]]).unwrap(), 0);
            assert_eq!(blobs.append(&[&vec![2; len - 40]]).unwrap(), 40);
            assert_eq!(blobs.file.is_some(), in_file, "{len}");
            assert_eq!(blobs.append(&[&[3; 500], b"x"]).unwrap(), len as u64);
            assert_eq!(blobs.append(&[b"end"]).unwrap(), len as u64 + 501);
            assert_eq!(blobs.read(0, 40).unwrap(), [1; 40]);
            assert_eq!(blobs.read(40, len - 40).unwrap(), vec![2; len - 40]);
            assert_eq!(blobs.read(len as u64, 501).unwrap(), [&[3; 500][..], b"x"].concat());
            assert_eq!(blobs.read(len as u64 + 501, 3).unwrap(), b"end");
            assert!(blobs.read(len as u64 + 501, 4).is_err());
        }
    }

    #[test]
    fn rows_go_to_a_file_beyond_the_limit() {
        let span = size_of::<Range<u32>>();
        for (len, in_file) in [(99, false), (100, false), (101, true)] {
            let mut rows = SpilledRows::new(scratch(100 + 2 * span));
            assert!(rows.is_empty());
            rows.push(&[b"b", &[b'x'; 49]]).unwrap();
            rows.push(&[b"a", &vec![b'x'; len - 51]]).unwrap();
            assert_eq!(rows.file.is_some(), in_file, "{len}");
            let sorted = rows.finish().unwrap();
            let lens: Vec<usize> = rows_of(&sorted).iter().map(Vec::len).collect();
            assert_eq!(lens, [len - 50, 50]);
        }
    }

    #[test]
    fn runs_are_merged_at_their_limit() {
        for runs in [1, MAX_RUNS - 1, MAX_RUNS, MAX_RUNS + 1, 3 * MAX_RUNS] {
            // Each row exceeds the memory limit, and becomes a run.
            let mut rows = SpilledRows::new(scratch(1));
            let row = |number: usize| format!("{:05}{}", number * 7919 % 10_007, "x".repeat(number * 50)).into_bytes();
            for number in 0..runs {
                rows.push(&[&row(number)]).unwrap();
                assert!(rows.runs.len() < MAX_RUNS);
            }
            let mut expected: Vec<Vec<u8>> = (0..runs).map(row).collect();
            expected.sort();
            let sorted = rows.finish().unwrap();
            assert_eq!(rows_of(&sorted), expected);
            assert_eq!(rows_of(&sorted), expected, "a second time");
        }
        assert!(rows_of(&SpilledRows::new(scratch(1)).finish().unwrap()).is_empty());
    }
}
