//! Tables in columns, from Parquet or Arrow IPC, as Arrow record batches.
//!
//! A [`Reader`] takes record batches from either format and turns the selected columns into cells ([`cells`]), a batch
//! at a time, within [`limits`]. [`urls`] turns cells into URL table rows. [`kept`] passes the columns that an output
//! keeps from the reader to the writer.

pub(crate) mod cells;
pub(crate) mod guard;
pub mod kept;
pub(crate) mod limits;
pub mod urls;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;

use crate::captures::Cell;
use cells::{CellColumn, Hosts};
use kept::KeptRows;
use limits::{CELL_BYTES, max_expanded_bytes, within};

/// A result whose error text continues a sentence that begins with the input's path.
type MessageResult<T> = Result<T, String>;

/// Maximum number of rows in a batch.
pub(crate) const BATCH_ROWS: usize = 1 << 14;

/// Total size of a batch's cells, in bytes, at which it is complete.
pub(crate) const BATCH_BYTES: usize = 2 << 20;

/// A table's record batches.
pub(crate) trait RecordBatches: Send {
    /// Decodes the next rows, or returns `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the table is unreadable, damaged or over a limit.
    fn next(&mut self) -> MessageResult<Option<Decoded>>;

    /// Returns the number of bytes from which the rows so far may have been decoded.
    fn byte_len(&self) -> u64;
}

/// Decoded rows.
pub(crate) struct Decoded {
    /// The number of rows.
    pub rows: usize,
    /// The selected columns, and the rows that are null because their struct is null.
    pub selected: Vec<(ArrayRef, Option<NullBuffer>)>,
    /// The kept columns.
    pub kept: Option<RecordBatch>,
}

/// Turns record batches into batches of cells.
pub(crate) struct Reader {
    source: Box<dyn RecordBatches>,
    /// The maximum length of each selected column's cells, in bytes.
    limits: Vec<usize>,
    /// The column of hosts, whose dictionary has a cache, and the last dictionary with its cache.
    host: Option<usize>,
    hosts: Option<(ArrayRef, Hosts)>,
    kept: Option<KeptRows>,
    /// Decoded rows, and the number of those that became cells.
    decoded: Option<(Decoded, usize)>,
    window: Window,
    /// Cell bytes so far.
    pub(crate) expanded: u64,
}

/// Rows whose cells are known, but not yet used.
#[derive(Default)]
struct Window {
    columns: Arc<[CellColumn]>,
    kept: Option<RecordBatch>,
    /// The average size of a row's kept values in bytes.
    kept_bytes: usize,
    rows: usize,
    used: usize,
}

/// Consecutive rows' cells.
pub(crate) struct Batch {
    columns: Arc<[CellColumn]>,
    start: usize,
    /// The number of rows.
    pub rows: usize,
    /// The total size of the cells' texts in bytes.
    pub text_bytes: usize,
}

impl Batch {
    /// Returns the cell of a column in a row.
    pub fn get(&self, column: usize, row: usize) -> Cell<'_> {
        self.column(column).map_or(Cell::Null, |(cells, start)| cells.get(start + row))
    }

    /// Returns a column, and the number of the batch's first row in it.
    pub fn column(&self, at: usize) -> Option<(&CellColumn, usize)> {
        Some((self.columns.get(at)?, self.start))
    }
}

impl Reader {
    /// Creates a reader for selected columns with these limits. `host` is the column of hosts.
    pub fn new(source: Box<dyn RecordBatches>, limits: Vec<usize>, host: Option<usize>) -> Reader {
        let (hosts, kept, decoded) = (None, None, None);
        Reader { source, limits, host, hosts, kept, decoded, window: Window::default(), expanded: 0 }
    }

    /// Passes the kept columns on.
    pub fn with_kept(self, kept: Option<KeptRows>) -> Reader {
        Reader { kept, ..self }
    }

    /// Returns the next rows, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error without the input's path if the input is unreadable, damaged or over a limit.
    pub fn next(&mut self) -> MessageResult<Option<Batch>> {
        while self.window.used == self.window.rows {
            self.window = Window::default();
            let (decoded, used) = match self.decoded.take() {
                Some((decoded, used)) if used < decoded.rows => (decoded, used),
                _ => match self.source.next()? {
                    Some(decoded) => (decoded, 0),
                    None => return Ok(None),
                },
            };
            let rows = BATCH_ROWS.min(decoded.rows - used);
            self.window = self.open(&decoded, used, rows)?;
            self.decoded = Some((decoded, used + rows));
        }
        self.cut().map(Some)
    }

    /// Returns the cells of some decoded rows.
    fn open(&mut self, decoded: &Decoded, start: usize, rows: usize) -> MessageResult<Window> {
        let mut columns = Vec::with_capacity(self.limits.len());
        for (at, ((array, nulls), &limit)) in decoded.selected.iter().zip(&self.limits).enumerate() {
            let (array, nulls) = (array.slice(start, rows), nulls.as_ref().map(|nulls| nulls.slice(start, rows)));
            let hosts = if self.host == Some(at) { hosts_of(&array, &mut self.hosts) } else { None };
            let column = CellColumn::of(&array, nulls.as_ref(), limit, hosts);
            columns.push(column.ok_or("has a column whose values do not have the column's type")?);
        }
        let kept = decoded.kept.as_ref().map(|kept| kept.slice(start, rows));
        let kept_bytes = kept.as_ref().map_or(0, limits::content_bytes);
        let kept_bytes = usize::try_from(kept_bytes).unwrap_or(usize::MAX) / rows.max(1);
        Ok(Window { columns: columns.into(), kept, kept_bytes, rows, used: 0 })
    }

    /// Returns the next rows of the window: all of them, unless their texts are too long.
    fn cut(&mut self) -> MessageResult<Batch> {
        let Window { columns, kept, kept_bytes, rows, used } = &mut self.window;
        let start = *used;
        let total: usize = columns.iter().map(|column| column.text_bytes(start..*rows)).sum();
        let mut end = *rows;
        let mut text_bytes = total;
        if total.saturating_add(kept_bytes.saturating_mul(end - start)) > BATCH_BYTES {
            (end, text_bytes) = (start, 0);
            let mut left = BATCH_BYTES;
            while end < *rows {
                let row: usize = columns.iter().map(|column| column.text_bytes(end..end + 1)).sum();
                let Some(rest) = left.checked_sub(row.saturating_add(*kept_bytes)).or((end == start).then_some(0))
                else {
                    break;
                };
                (left, end, text_bytes) = (rest, end + 1, text_bytes + row);
            }
        }
        *used = end;
        let cells = (columns.len() * (end - start)) as u64;
        self.expanded = self.expanded.saturating_add(text_bytes as u64 + CELL_BYTES * cells);
        let limit = max_expanded_bytes(self.source.byte_len());
        within(|| "bytes of its cells so far:".into(), self.expanded, limit)?;
        if let (Some(queue), Some(kept)) = (&self.kept, kept) {
            queue.push(kept.slice(start, end - start));
        }
        Ok(Batch { columns: Arc::clone(columns), start, rows: end - start, text_bytes })
    }
}

/// Returns the cache for an array's dictionary, if it has one: the last one, if the dictionary is the same.
fn hosts_of(array: &ArrayRef, last: &mut Option<(ArrayRef, Hosts)>) -> Option<Hosts> {
    let words = cells::words_of(array)?;
    let is_same = |(before, _): &&(ArrayRef, Hosts)| before.to_data().ptr_eq(&words.to_data());
    if let Some((_, hosts)) = last.as_ref().filter(is_same) {
        return Some(Arc::clone(hosts));
    }
    let hosts = Hosts::default();
    *last = Some((words, Arc::clone(&hosts)));
    Some(hosts)
}
