//! Copies Python iterables of strings and times to Arrow arrays. Other Python threads run in between.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeBinaryArray, LargeStringArray};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString};

use crate::convert;

/// Number of items after which other threads may run: some 100 microseconds.
const ITEMS_BETWEEN_PAUSES: usize = 2048;

/// An iterator that lets other threads run from time to time.
struct ListItems<'a, 'py> {
    items: Bound<'py, PyIterator>,
    taken: usize,
    /// A list and its length, which must not change.
    list: Option<(&'a Bound<'py, PyList>, usize)>,
}

impl<'a, 'py> ListItems<'a, 'py> {
    fn of(items: &'a Bound<'py, PyAny>) -> PyResult<ListItems<'a, 'py>> {
        let list = items.cast::<PyList>().ok().map(|list| (list, list.len()));
        Ok(ListItems { items: items.try_iter()?, taken: 0, list })
    }
}

impl<'py> Iterator for ListItems<'_, 'py> {
    type Item = PyResult<Bound<'py, PyAny>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.taken.is_multiple_of(ITEMS_BETWEEN_PAUSES) {
            // Another thread that waits for the interpreter may run here.
            self.items.py().detach(|| ());
        }
        let next = self.items.next();
        self.taken += usize::from(next.is_some());
        // A list that became shorter has no next item.
        let is_due = next.is_none() || self.taken.is_multiple_of(ITEMS_BETWEEN_PAUSES);
        if let Some((list, rows)) = self.list.take_if(|(list, rows)| is_due && list.len() != *rows) {
            let text = format!("the list changed while it was read, from {rows} items to {}", list.len());
            return Some(Err(PyRuntimeError::new_err(text)));
        }
        next
    }
}

/// A column of texts that is being copied. Growing its vectors does not copy them, unlike growing Arrow's builders.
struct JoinedTexts {
    /// Whether the texts are bytes, if there was one.
    is_bytes: Option<bool>,
    bytes: Vec<u8>,
    bounds: Vec<i64>,
    nulls: NullBufferBuilder,
}

/// Copies an iterable of strings to an array: `str`, or `bytes` if the first string is bytes. None becomes null.
///
/// Another thread may replace items of a list in the meantime; each row then has the old item or the new one. Returns
/// an error if the list's length changes.
///
/// `argument` is the argument's name in messages.
pub fn texts(texts: &Bound<'_, PyAny>, argument: &str) -> PyResult<ArrayRef> {
    if texts.cast::<PyString>().is_ok() || texts.cast::<PyBytes>().is_ok() {
        let text = format!("{argument}: expected several texts, found one text; use `decide` for a single URL");
        return Err(PyTypeError::new_err(text));
    }
    let mut joined =
        JoinedTexts { is_bytes: None, bytes: Vec::new(), bounds: vec![0], nulls: NullBufferBuilder::new(0) };
    for (place, item) in ListItems::of(texts)?.enumerate() {
        let wrong = |expected: &str| PyTypeError::new_err(format!("{argument}[{place}] must be {expected} or None"));
        joined.push(&item?, wrong)?;
    }
    // Checks every byte.
    let array = texts.py().detach(|| joined.finish());
    array.map_err(|error| PyTypeError::new_err(error.to_string()))
}

impl JoinedTexts {
    /// Appends a text or a null. `wrong` returns the error for another item, with the expected type.
    fn push(&mut self, item: &Bound<'_, PyAny>, wrong: impl Fn(&str) -> PyErr) -> PyResult<()> {
        if item.is_none() {
            self.nulls.append_null();
        } else {
            let bytes = if *self.is_bytes.get_or_insert_with(|| item.cast::<PyBytes>().is_ok()) {
                item.cast::<PyBytes>().map_err(|_| wrong("bytes"))?.as_bytes()
            } else {
                item.cast::<PyString>().map_err(|_| wrong("str"))?.to_str()?.as_bytes()
            };
            self.bytes.extend_from_slice(bytes);
            self.nulls.append_non_null();
        }
        // A vector has at most `isize::MAX` bytes.
        self.bounds.push(self.bytes.len() as i64);
        Ok(())
    }

    fn finish(mut self) -> Result<ArrayRef, ArrowError> {
        let (bounds, bytes) = (OffsetBuffer::new(ScalarBuffer::from(self.bounds)), Buffer::from_vec(self.bytes));
        let nulls = self.nulls.finish();
        Ok(match self.is_bytes {
            Some(true) => Arc::new(LargeBinaryArray::try_new(bounds, bytes, nulls)?),
            _ => Arc::new(LargeStringArray::try_new(bounds, bytes, nulls)?),
        })
    }
}

/// Copies an iterable of integers in seconds since 1970 and datetimes with a time zone. None becomes null.
pub fn times(times: &Bound<'_, PyAny>) -> PyResult<Int64Array> {
    let mut seconds: Vec<Option<i64>> = Vec::new();
    for time in ListItems::of(times)? {
        let time = time?;
        seconds.push((!time.is_none()).then(|| convert::moment(&time)).transpose()?);
    }
    Ok(times.py().detach(|| Int64Array::from(seconds)))
}
