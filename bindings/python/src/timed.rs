//! Combines URLs and times from separate Python objects into rows: [`Timed`].

use std::sync::Arc;

use arrow_array::{Array, ArrayReader, ArrayRef, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The name of the time column.
pub const TIMES: &str = "time";

/// A stream of arrays from any source.
pub type Arrays = Box<dyn ArrayReader + Send>;

/// Rows of a URL and a time. There must be as many times as URLs, in arrays of any lengths.
pub struct Timed {
    urls: ArrayRest,
    times: ArrayRest,
    field: FieldRef,
}

/// A stream of arrays, and the rest of the last one.
struct ArrayRest {
    arrays: Arrays,
    left: Option<ArrayRef>,
    taken: usize,
}

impl Timed {
    /// Combines URLs and times.
    pub fn new(urls: Arrays, times: Arrays) -> PyResult<Timed> {
        let (url, time) = (urls.field().data_type().clone(), times.field().data_type().clone());
        if matches!(url, DataType::Struct(_)) {
            return Err(PyTypeError::new_err("if the URLs are in a table, `times` must be the name of a column"));
        }
        if matches!(time, DataType::Struct(_)) {
            return Err(PyTypeError::new_err("`times` must be an array, or the name of a column next to the URLs"));
        }
        let fields = Fields::from(vec![Field::new("url", url, true), Field::new(TIMES, time, true)]);
        let field = Arc::new(Field::new("rows", DataType::Struct(fields), false));
        let rest = |arrays| ArrayRest { arrays, left: None, taken: 0 };
        Ok(Timed { urls: rest(urls), times: rest(times), field })
    }

    fn advance(&mut self) -> Result<Option<ArrayRef>, ArrowError> {
        let (urls, times) = match (self.urls.next()?, self.times.next()?) {
            (None, None) => return Ok(None),
            (Some(urls), Some(times)) => (urls, times),
            (urls, _) => {
                let more = if urls.is_some() { "more URLs than times" } else { "more times than URLs" };
                let message = format!("there are {more}; {} rows have both", self.urls.taken.min(self.times.taken));
                return Err(ArrowError::InvalidArgumentError(message));
            }
        };
        let rows = urls.len().min(times.len());
        let DataType::Struct(fields) = self.field.data_type() else {
            return Err(ArrowError::InvalidArgumentError("rows without columns".to_owned()));
        };
        let columns = vec![self.urls.take(&urls, rows), self.times.take(&times, rows)];
        Ok(Some(Arc::new(StructArray::try_new(fields.clone(), columns, None)?)))
    }
}

impl ArrayRest {
    /// Returns the next rows, at least one, or `None` at the end.
    fn next(&mut self) -> Result<Option<ArrayRef>, ArrowError> {
        loop {
            match self.left.take() {
                Some(array) if !array.is_empty() => return Ok(Some(array)),
                _ => match self.arrays.next() {
                    None => return Ok(None),
                    Some(array) => self.left = Some(array?),
                },
            }
        }
    }

    /// Returns an array's first rows, and keeps the others.
    fn take(&mut self, array: &ArrayRef, rows: usize) -> ArrayRef {
        self.left = Some(array.slice(rows, array.len() - rows));
        self.taken += rows;
        array.slice(0, rows)
    }
}

impl Iterator for Timed {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

impl ArrayReader for Timed {
    fn field(&self) -> &FieldRef {
        &self.field
    }
}
