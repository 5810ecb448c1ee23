//! Reads a function's arguments from DuckDB's vectors: [`Arguments`].
//!
//! DuckDB flattens the vectors before it calls a function, so that a constant argument has the same value in each row.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Date32Array, Int64Array, TimestampMicrosecondArray};
use libduckdb_sys::{duckdb_data_chunk, duckdb_list_entry, duckdb_vector, duckdb_vector_get_data};
use quack_rs::data_chunk::DataChunk;
use quack_rs::types::TypeId;
use quack_rs::vector::complex::ListVector;
use quack_rs::vector::{VectorReader, vector_get_column_type};
use reptile_columns::arrow::seconds;

/// Maximum number of texts after the crawlers.
const MAX_OPTIONS: usize = 5;

/// The arguments of a chunk's rows: a URL, the path of a set, crawlers, possibly a time, then texts, such as a scope, and
/// `exact`.
pub struct Arguments {
    rows: usize,
    urls: TextColumn,
    sets: TextColumn,
    agents: Agents,
    times: Option<TimeColumn>,
    options: Vec<TextColumn>,
    exact: Option<VectorReader>,
}

/// A row's arguments other than its URL and its time, as stored. Rows with the same bits have the same arguments, if none is null.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChoiceBits {
    set: [u64; 2],
    agents: [u64; 2],
    options: [[u64; 2]; MAX_OPTIONS],
    is_exact: bool,
}

/// A row's arguments other than its URL and its time.
#[derive(PartialEq, Eq, Hash)]
pub struct RowChoice<'a> {
    pub set: &'a [u8],
    pub names: Vec<String>,
    /// The texts after the crawlers, as many as the call has.
    pub options: Vec<&'a [u8]>,
    pub is_exact: bool,
}

impl Arguments {
    /// Reads the arguments in a chunk, with up to `max_options` texts after the crawlers and, if `is_timed`, the time.
    ///
    /// # Safety
    /// The chunk is alive while the arguments are used, and has at least 3 flat columns: text or bytes, text, text
    /// (`is_list`: lists of text), then if `is_timed` times, then up to `max_options` texts, and after all of these
    /// possibly a Boolean.
    pub unsafe fn of(
        chunk: duckdb_data_chunk,
        is_list: bool,
        is_timed: bool,
        max_options: usize,
    ) -> Result<Arguments, String> {
        // SAFETY: the caller passes a valid chunk.
        let chunk = unsafe { DataChunk::from_raw(chunk) };
        let rows = chunk.size();
        let vector = |column| {
            // SAFETY: the chunk has at least 3 columns, and only columns below its count are requested.
            unsafe { chunk.vector(column) }
        };
        let texts = |column| {
            // SAFETY: the column has texts, and the vector has the chunk's rows.
            unsafe { TextColumn::of(vector(column), rows) }
        };
        let agents = match is_list {
            false => Agents::One(texts(2)),
            // SAFETY: the column has lists of text.
            true => Agents::Many(unsafe { ListColumn::of(vector(2), rows) }),
        };
        // SAFETY: the column has times, and the vector has the chunk's rows.
        let times = is_timed.then(|| unsafe { TimeColumn::of(vector(3), rows) }).transpose()?;
        let start = 3 + usize::from(is_timed);
        let end = start + max_options.min(MAX_OPTIONS);
        let exact = (chunk.column_count() > end).then(|| {
            // SAFETY: the column has Booleans, and the vector has the chunk's rows.
            unsafe { VectorReader::from_vector(vector(end), rows) }
        });
        let options = (start..chunk.column_count().min(end)).map(texts).collect();
        Ok(Arguments { rows, urls: texts(0), sets: texts(1), agents, times, options, exact })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns a row's URL, or `None` if it is null.
    pub fn url(&self, row: usize) -> Option<&[u8]> {
        self.urls.get(row)
    }

    /// Returns each row's time in seconds since 1970, or `None` if rows have no times. A time that no set can have is
    /// null.
    pub fn times(&self) -> Option<&[Option<i64>]> {
        self.times.as_ref().map(|times| &times.seconds[..])
    }

    /// Returns a row's other arguments as stored, or `None` if one is null.
    pub fn bits(&self, row: usize) -> Option<ChoiceBits> {
        if self.times.as_ref().is_some_and(|times| times.given.is_null(row)) {
            return None;
        }
        let agents = match &self.agents {
            Agents::One(names) => names.bits(row)?,
            Agents::Many(lists) => lists.entry(row).map(|entry| [entry.offset, entry.length])?,
        };
        let mut options = [[0; 2]; MAX_OPTIONS];
        for (bits, texts) in options.iter_mut().zip(&self.options) {
            *bits = texts.bits(row)?;
        }
        Some(ChoiceBits { set: self.sets.bits(row)?, agents, options, is_exact: self.is_exact(row)? })
    }

    /// Returns a row's other arguments, or `None` if one is null. Returns an error if a crawler's name is null or not
    /// UTF-8.
    pub fn choice(&self, row: usize) -> Result<Option<RowChoice<'_>>, String> {
        let (Some(set), Some(names), Some(is_exact)) =
            (self.sets.get(row), self.agents.names(row)?, self.is_exact(row))
        else {
            return Ok(None);
        };
        let options: Option<Vec<&[u8]>> = self.options.iter().map(|texts| texts.get(row)).collect();
        Ok(options.map(|options| RowChoice { set, names, options, is_exact }))
    }

    fn is_exact(&self, row: usize) -> Option<bool> {
        let Some(exact) = &self.exact else { return Some(false) };
        // SAFETY: the vector has the chunk's rows.
        let is_valid = row < self.rows && unsafe { exact.is_valid(row) };
        // SAFETY: the row exists, and its Boolean is not null.
        is_valid.then(|| unsafe { exact.read_bool(row) })
    }
}

/// Reads a chunk whose arguments are all texts or bytes. Returns the number of rows and each argument.
///
/// # Safety
/// The chunk is alive while the arguments are used, and has only flat columns of texts or bytes.
pub unsafe fn texts(chunk: duckdb_data_chunk) -> (usize, Vec<TextColumn>) {
    // SAFETY: the caller passes a valid chunk.
    let chunk = unsafe { DataChunk::from_raw(chunk) };
    let rows = chunk.size();
    let column = |column| {
        // SAFETY: the chunk has this column.
        let vector = unsafe { chunk.vector(column) };
        // SAFETY: the column has texts, and the vector has the chunk's rows.
        unsafe { TextColumn::of(vector, rows) }
    };
    (rows, (0..chunk.column_count()).map(column).collect())
}

/// The crawlers: a name in each row, or a list of names.
enum Agents {
    One(TextColumn),
    Many(ListColumn),
}

impl Agents {
    fn names(&self, row: usize) -> Result<Option<Vec<String>>, String> {
        let name = |text: &[u8]| {
            let text = str::from_utf8(text).map_err(|_| "a crawler's name is not UTF-8".to_owned())?;
            Ok(text.to_owned())
        };
        match self {
            Agents::One(names) => names.get(row).map(|text| Ok(vec![name(text)?])).transpose(),
            Agents::Many(lists) => {
                let Some(entry) = lists.entry(row) else { return Ok(None) };
                let (start, count) = (entry.offset as usize, entry.length as usize);
                let null = || "a crawler's name is NULL".to_owned();
                let names = (start..start.saturating_add(count))
                    .map(|item| name(lists.items.get(item).ok_or_else(null)?))
                    .collect::<Result<Vec<String>, String>>()?;
                Ok(Some(names))
            }
        }
    }
}

/// A vector of times.
struct TimeColumn {
    /// The times as in the vector.
    given: ArrayRef,
    seconds: Vec<Option<i64>>,
}

impl TimeColumn {
    /// # Safety
    /// The vector is valid, is flat, and has this many values.
    unsafe fn of(vector: duckdb_vector, rows: usize) -> Result<TimeColumn, String> {
        // SAFETY: the vector is valid.
        let kind = unsafe { vector_get_column_type(vector) };
        // SAFETY: the type is valid.
        let kind = unsafe { kind.try_get_type_id() };
        // SAFETY: the caller guarantees it.
        let reader = unsafe { VectorReader::from_vector(vector, rows) };
        // SAFETY: the row exists.
        let is_valid = |row: &usize| unsafe { reader.is_valid(*row) };
        // SAFETY: the row exists, and its value has 64 bits.
        let long = |row| unsafe { reader.read_i64(row) };
        // SAFETY: the row exists, and its value has 32 bits.
        let int = |row| unsafe { reader.read_i32(row) };
        let valid = || (0..rows).map(|row| Some(row).filter(is_valid));
        let given: ArrayRef = match kind {
            Some(TypeId::BigInt) => Arc::new(Int64Array::from_iter(valid().map(|row| row.map(long)))),
            Some(TypeId::Timestamp | TypeId::TimestampTz) => {
                Arc::new(TimestampMicrosecondArray::from_iter(valid().map(|row| row.map(long))))
            }
            Some(TypeId::Date) => Arc::new(Date32Array::from_iter(valid().map(|row| row.map(int)))),
            _ => return Err(format!("internal error, please report it: unexpected type of times {kind:?}")),
        };
        let seconds = seconds(&given).map_err(|error| error.to_string())?;
        Ok(TimeColumn { given, seconds })
    }
}

/// A vector of texts or bytes.
pub struct TextColumn {
    rows: usize,
    reader: VectorReader,
    data: *const [u64; 2],
}

impl TextColumn {
    /// # Safety
    /// The vector is alive while the texts are used, is flat, and has this many texts or bytes.
    unsafe fn of(vector: duckdb_vector, rows: usize) -> TextColumn {
        // SAFETY: the caller guarantees it.
        let reader = unsafe { VectorReader::from_vector(vector, rows) };
        // SAFETY: the vector is valid.
        let data = unsafe { duckdb_vector_get_data(vector) };
        TextColumn { rows, reader, data: data.cast_const().cast() }
    }

    /// Returns a text, or `None` if it is null.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        // SAFETY: the text exists and is not null, so that its bytes live as long as the vector.
        self.is_valid(row).then(|| unsafe { self.reader.read_blob(row) })
    }

    /// Returns a text as stored: its length, and its bytes or their address.
    fn bits(&self, row: usize) -> Option<[u64; 2]> {
        // SAFETY: the text exists, and each text takes 16 bytes, which are aligned for a pointer.
        let text = || unsafe { self.data.add(row) };
        // SAFETY: as above; all bits are initialized.
        self.is_valid(row).then(|| unsafe { text().read() })
    }

    fn is_valid(&self, row: usize) -> bool {
        // SAFETY: the row exists.
        row < self.rows && unsafe { self.reader.is_valid(row) }
    }
}

/// A vector of lists of text.
struct ListColumn {
    rows: usize,
    reader: VectorReader,
    vector: duckdb_vector,
    items: TextColumn,
}

impl ListColumn {
    /// # Safety
    /// The vector is alive while the lists are used, is flat, and has this many lists of text.
    unsafe fn of(vector: duckdb_vector, rows: usize) -> ListColumn {
        // SAFETY: the caller guarantees it.
        let reader = unsafe { VectorReader::from_vector(vector, rows) };
        // SAFETY: the vector has lists.
        let child = unsafe { ListVector::get_child(vector) };
        // SAFETY: the vector has lists.
        let count = unsafe { ListVector::get_size(vector) };
        // SAFETY: the child has this many texts.
        ListColumn { rows, reader, vector, items: unsafe { TextColumn::of(child, count) } }
    }

    /// Returns the position of a list's items, or `None` if the list is null.
    fn entry(&self, row: usize) -> Option<duckdb_list_entry> {
        // SAFETY: the row exists.
        let is_valid = row < self.rows && unsafe { self.reader.is_valid(row) };
        // SAFETY: the row exists and is not null.
        is_valid.then(|| unsafe { ListVector::get_entry(self.vector, row) })
    }
}
