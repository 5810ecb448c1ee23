//! Combines URLs with times and crawlers from separate Python objects into rows: [`JoinedRows`].

use std::sync::Arc;

use arrow_array::{Array, ArrayReader, ArrayRef, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A stream of arrays from any source.
pub type Arrays = Box<dyn ArrayReader + Send>;

/// A column next to the URLs.
pub struct JoinedColumn {
    /// The column's name, which is also the argument's.
    pub name: &'static str,
    /// Its values.
    pub arrays: Arrays,
}

/// Rows of a URL and other values. Every column must have as many values as there are URLs, in arrays of any lengths.
pub struct JoinedRows {
    urls: ArrayRest,
    joined: Vec<(&'static str, ArrayRest)>,
    field: FieldRef,
}

/// A stream of arrays, and the rest of the last one.
struct ArrayRest {
    arrays: Arrays,
    left: Option<ArrayRef>,
    taken: usize,
}

impl JoinedRows {
    /// Combines URLs and other columns.
    pub fn new(urls: Arrays, joined: Vec<JoinedColumn>) -> PyResult<JoinedRows> {
        let url = urls.field().data_type().clone();
        let is_table = matches!(url, DataType::Struct(_));
        let mut fields = vec![Field::new("url", url, true)];
        for JoinedColumn { name, arrays } in &joined {
            if is_table {
                let text = format!("if the URLs are in a table, `{name}` must be the name of a column");
                return Err(PyTypeError::new_err(text));
            }
            if matches!(arrays.field().data_type(), DataType::Struct(_)) {
                let text = format!("`{name}` must be an array, or the name of a column next to the URLs");
                return Err(PyTypeError::new_err(text));
            }
            fields.push(Field::new(*name, arrays.field().data_type().clone(), true));
        }
        let field = Arc::new(Field::new("rows", DataType::Struct(Fields::from(fields)), false));
        let joined = joined.into_iter().map(|JoinedColumn { name, arrays }| (name, ArrayRest::new(arrays))).collect();
        Ok(JoinedRows { urls: ArrayRest::new(urls), joined, field })
    }

    fn advance(&mut self) -> Result<Option<ArrayRef>, ArrowError> {
        let urls = self.urls.next()?;
        let mut columns = Vec::from_iter(urls.clone());
        for (name, rest) in &mut self.joined {
            let next = rest.next()?;
            if next.is_some() != urls.is_some() {
                let more = if urls.is_some() { format!("URLs than {name}") } else { format!("{name} than URLs") };
                let both = self.urls.taken.min(rest.taken);
                let message = format!("there are more {more}; {both} rows have both");
                return Err(ArrowError::InvalidArgumentError(message));
            }
            columns.extend(next);
        }
        let Some(rows) = columns.iter().map(|column| column.len()).min() else { return Ok(None) };
        let DataType::Struct(fields) = self.field.data_type() else {
            return Err(ArrowError::InvalidArgumentError("rows without columns".to_owned()));
        };
        let rests = std::iter::once(&mut self.urls).chain(self.joined.iter_mut().map(|(_, rest)| rest));
        let columns = rests.zip(&columns).map(|(rest, column)| rest.take(column, rows)).collect();
        Ok(Some(Arc::new(StructArray::try_new(fields.clone(), columns, None)?)))
    }
}

impl ArrayRest {
    fn new(arrays: Arrays) -> ArrayRest {
        ArrayRest { arrays, left: None, taken: 0 }
    }

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

impl Iterator for JoinedRows {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

impl ArrayReader for JoinedRows {
    fn field(&self) -> &FieldRef {
        &self.field
    }
}
