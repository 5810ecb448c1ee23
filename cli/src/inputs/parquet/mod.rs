//! Parquet files: their columns by name, and batches of cells of some columns.
//!
//! The crate `parquet` decodes; here a file is opened within limits ([`source`], [`footer`]) and its columns are found and
//! read side by side ([`column`]). [`urls`] makes rows of a table of URLs of them, [`captures`] captures of robots.txt
//! files. Nothing here keeps more of a file than a page, a dictionary and some megabytes of pages for each column that is read.

mod ahead;
pub mod captures;
mod column;
mod footer;
mod guard;
mod source;
mod texts;
pub mod urls;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Type;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::ColumnDescriptor;

use super::shown::shown;
use crate::error::{Failure, Result};
use column::Column;
use guard::guarded;
use source::{MAX_FOOTER_BYTES, Source};

/// Bytes at the end of a file: the length of the footer, and the magic bytes.
const TAIL_BYTES: u64 = 8;

/// The first and the last bytes of a file.
pub const MAGIC: &[u8] = b"PAR1";

/// The names of columns that a message lists.
const MAX_SHOWN_NAMES: usize = 20;

/// A problem of a file, in words that follow its path.
type Found<T> = std::result::Result<T, String>;

/// An open Parquet file.
pub struct ParquetFile {
    path: PathBuf,
    source: Arc<Source>,
    metadata: ParquetMetaData,
}

impl ParquetFile {
    /// Opens a file and reads its footer.
    ///
    /// # Errors
    /// If it cannot be read, or has no footer that is valid and within the limits.
    pub fn open(path: &Path) -> Result<ParquetFile> {
        let fail = |text: String| Failure::at(path, text);
        let file = fs::File::open(path).map_err(|error| Failure::at(path, error))?;
        let len = file.metadata().map_err(|error| Failure::at(path, error))?.len();
        let source = Source::new(file, len);
        let metadata = read_footer(&source).map_err(fail)?;
        Ok(ParquetFile { path: path.into(), source: Arc::new(source), metadata })
    }

    /// The descriptions of all columns.
    fn columns(&self) -> &[Arc<ColumnDescriptor>] {
        self.metadata.file_metadata().schema_descr().columns()
    }

    /// The place of the column that a user calls so: a name, or a number from 1 on.
    ///
    /// # Errors
    /// If there is no such column, or several have the name.
    fn find(&self, name: &str) -> Found<usize> {
        let columns = self.columns();
        if let Ok(number) = name.parse::<usize>() {
            let at = number.checked_sub(1).filter(|&at| at < columns.len());
            return at.ok_or_else(|| format!("{number}: the file has the columns 1 to {}", columns.len()));
        }
        let places = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let all = columns.iter().enumerate();
            all.filter(|(_, column)| is(&column.path().string())).map(|(at, _)| at).collect()
        };
        let quoted = shown(name.as_bytes());
        for is in [&(|found: &str| found == name) as &dyn Fn(&str) -> bool, &|found| found.eq_ignore_ascii_case(name)] {
            match places(is)[..] {
                [] => {}
                [at] => return Ok(at),
                _ => return Err(format!("{quoted}: several columns have this name; give a number, from 1 on")),
            }
        }
        Err(format!("{quoted}: there is no such column; the file has {}", self.names()))
    }

    /// The place of a column by its name, if there is just one of this name.
    fn named(&self, name: &str) -> Option<usize> {
        self.find(name).ok().filter(|_| name.parse::<usize>().is_err())
    }

    /// The names of the columns for a message.
    fn names(&self) -> String {
        let name = |column: &Arc<ColumnDescriptor>| format!("\"{}\"", shown(column.path().string().as_bytes()));
        let names: Vec<String> = self.columns().iter().take(MAX_SHOWN_NAMES).map(name).collect();
        let more = self.columns().len().saturating_sub(MAX_SHOWN_NAMES);
        names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
    }

    /// A column in the words of a message: its number and its name.
    fn describe(&self, at: usize) -> String {
        let name = self.columns().get(at).map(|column| column.path().string()).unwrap_or_default();
        format!("column {} (\"{}\")", at + 1, shown(name.as_bytes()))
    }

    /// Whether a column holds texts.
    fn is_text(&self, at: usize) -> bool {
        self.columns().get(at).is_some_and(|column| {
            matches!(column.physical_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY)
                && column.max_rep_level() == 0
        })
    }

    /// A failure of this file.
    fn failure(&self, text: impl std::fmt::Display) -> Failure {
        Failure::at(&self.path, text)
    }
}

/// Reads the footer of a file.
fn read_footer(source: &Source) -> Found<ParquetMetaData> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let damaged = "is a damaged Parquet file: it does not end with the magic bytes PAR1; it may be cut off";
    let end = source.len().checked_sub(TAIL_BYTES).ok_or(damaged)?;
    let tail = source.at(end, TAIL_BYTES as usize).map_err(cannot)?;
    let len = match tail.split_first_chunk() {
        Some((&len, MAGIC)) => u32::from_le_bytes(len) as usize,
        _ => return Err(damaged.into()),
    };
    if len > MAX_FOOTER_BYTES {
        return Err(format!("is a damaged Parquet file: its footer has {len} bytes; the limit is {MAX_FOOTER_BYTES}"));
    }
    let start = end.checked_sub(len as u64).ok_or("is a damaged Parquet file: its footer is longer than the file")?;
    let footer = source.at(start, len).map_err(cannot)?;
    footer::check(&footer).map_err(|text| format!("is a damaged Parquet file: {text}"))?;
    guarded(|| ParquetMetaDataReader::decode_metadata(&footer))
        .map_err(|text| format!("is a damaged Parquet file: {text}"))
}

/// Reads columns side by side, row group by row group.
pub struct Batches {
    file: Arc<ParquetFile>,
    columns: Vec<Column>,
    /// The next row group to begin.
    next_group: usize,
    /// Rows of the row group that were not given yet.
    left: u64,
}

impl Batches {
    /// Reads columns of these places, each with the most bytes that a cell of it may have to be kept.
    ///
    /// # Errors
    /// If a column is a list, or has a type that is not read.
    pub fn new(file: Arc<ParquetFile>, columns: &[(usize, usize)]) -> Found<Batches> {
        let columns: Found<Vec<Column>> = columns
            .iter()
            .map(|&(at, limit)| {
                let descr = file.columns().get(at).ok_or("has no columns")?;
                Column::new(at, Arc::clone(descr), limit).map_err(|text| format!("{} {text}", file.describe(at)))
            })
            .collect();
        Ok(Batches { columns: columns?, file, next_group: 0, left: 0 })
    }

    /// Reads on where the rows that were read are used up. Returns how many rows every column has now; 0 at the end.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn fill(&mut self) -> Found<usize> {
        use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
        while self.left == 0 {
            let metadata = &self.file.metadata;
            if self.next_group == metadata.num_row_groups() {
                return Ok(0);
            }
            let group = metadata.row_group(self.next_group);
            self.left = u64::try_from(group.num_rows()).map_err(|_| "a row group has a negative length")?;
            for column in &mut self.columns {
                let chunk = group.columns().get(column.place()).ok_or("a row group lacks a column")?;
                column
                    .begin(&self.file.source, chunk, self.left)
                    .map_err(|text| self.file.damage(self.next_group, column.place(), &text))?;
            }
            self.next_group += 1;
        }
        let (file, group) = (&self.file, self.next_group - 1);
        let fill = |column: &mut Column| column.fill().map_err(|text| file.damage(group, column.place(), &text));
        self.columns.par_iter_mut().try_for_each(fill)?;
        Ok(self.columns.iter().map(Column::waiting).min().unwrap_or(0))
    }

    /// Marks rows as used: no more than [`Batches::fill`] has returned.
    pub fn take(&mut self, rows: usize) {
        self.left = self.left.saturating_sub(rows as u64);
        self.columns.iter_mut().for_each(|column| column.take(rows));
    }
}

impl ParquetFile {
    /// What is wrong with a column in a row group.
    fn damage(&self, group: usize, column: usize, text: &str) -> String {
        format!("row group {}, {}: {text}", group + 1, self.describe(column))
    }
}
