//! Captures in the rows of Arrow arrays, for `reptile.compile`, and the values of their fields.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, downcast_integer_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use reptile::{Capture, Truncation};
use reptile_columns::arrow::{Texts, is_text, is_time, seconds};
use reptile_columns::text_of;

use crate::convert;

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaptureField {
    Url,
    Body,
    Status,
    Time,
    Redirects,
    Error,
    Truncated,
    CacheControl,
    ContentType,
}

const FIELDS: [(&str, CaptureField); 9] = [
    ("url", CaptureField::Url),
    ("body", CaptureField::Body),
    ("status", CaptureField::Status),
    ("time", CaptureField::Time),
    ("redirects", CaptureField::Redirects),
    ("error", CaptureField::Error),
    ("truncated", CaptureField::Truncated),
    ("cache_control", CaptureField::CacheControl),
    ("content_type", CaptureField::ContentType),
];

/// A column that captures of the command have instead of `body`.
const ENCODED_BODY: &str = "body_base64";

/// Returns the message about columns that are ignored.
pub fn ignored_columns(names: &[String]) -> String {
    let (names, fields) = (names.join(", "), FIELDS.map(|(name, _)| name).join(", "));
    format!("ignored the columns {names}; captures have the columns {fields}")
}

/// Returns the message about a capture without a URL. Rows are counted from 0.
pub fn without_url(row: usize) -> String {
    format!("a capture without url, in row {row}")
}

/// Returns the names of the fields that are not texts.
pub fn number_fields() -> [String; 3] {
    ["status", "time", "redirects"].map(str::to_owned)
}

/// Returns the exception for a field that captures do not have.
pub fn unknown_field(name: &str) -> PyErr {
    let names = FIELDS.map(|(name, _)| name).join(", ");
    PyValueError::new_err(format!("unknown capture field {name:?}; the fields are {names}"))
}

/// Returns a response's status.
pub fn status(number: f64) -> Result<u16, String> {
    match number {
        number if number.fract() == 0.0 && (100.0..1000.0).contains(&number) => Ok(number as u16),
        _ => Err(format!("status: expected a number from 100 to 999, found {number}")),
    }
}

/// Returns a number of redirects.
pub fn redirects(number: f64) -> Result<u32, String> {
    match number {
        number if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) => Ok(number as u32),
        _ => Err(format!("redirects: expected a number from 0 to {}, found {number}", u32::MAX)),
    }
}

/// Returns why a body is truncated, or `None` if it is complete.
pub fn truncated(word: &str) -> Result<Option<Truncation>, String> {
    match word {
        "" | "false" => Ok(None),
        "true" => Ok(Some(Truncation::Unspecified)),
        word => {
            let names = Truncation::ALL.map(Truncation::as_str).join(", ");
            let unknown = || format!("truncated: expected true, false or one of {names}, found {word:?}");
            Truncation::from_name(word).map(Some).ok_or_else(unknown)
        }
    }
}

/// The columns of captures in rows.
pub struct CaptureColumns {
    fields: Vec<(CaptureField, usize)>,
    /// The names of columns that captures do not have.
    pub ignored: Vec<String>,
}

impl CaptureColumns {
    /// Finds the columns with a field of captures, which must have values of a suitable type. Other columns are ignored.
    pub fn of(data_type: &DataType) -> PyResult<CaptureColumns> {
        let DataType::Struct(columns) = data_type else {
            let text = format!("expected captures as rows with the columns url and body, found {data_type}");
            return Err(PyTypeError::new_err(text));
        };
        let (mut fields, mut ignored) = (Vec::new(), Vec::new());
        for (place, column) in columns.iter().enumerate() {
            let Some(&(_, field)) = FIELDS.iter().find(|(name, _)| name == column.name()) else {
                ignored.push(column.name().clone());
                continue;
            };
            let data_type = column.data_type();
            let (is_suitable, expected) = match field {
                CaptureField::Error | CaptureField::Truncated => {
                    (is_text(data_type) || *data_type == DataType::Boolean, "texts or Booleans")
                }
                CaptureField::Status | CaptureField::Redirects => (is_number(data_type), "numbers"),
                CaptureField::Time => (is_time(data_type) || is_number(data_type), "times, dates or numbers"),
                _ => (is_text(data_type), "texts"),
            };
            if !is_suitable {
                let text = format!("expected the column {:?} to have {expected}, found {data_type}", column.name());
                return Err(PyTypeError::new_err(text));
            }
            if fields.iter().any(|&(other, _)| other == field) {
                return Err(PyValueError::new_err(format!("two columns are named {:?}", column.name())));
            }
            fields.push((field, place));
        }
        if !fields.iter().any(|&(field, _)| field == CaptureField::Url) {
            let names: Vec<&str> = columns.iter().map(|column| column.name().as_str()).collect();
            let text =
                format!("expected a column \"url\" with the URLs of robots.txt files, found {}", names.join(", "));
            return Err(PyValueError::new_err(text));
        }
        let has_body = fields.iter().any(|&(field, _)| field == CaptureField::Body);
        if !has_body && ignored.iter().any(|name| name == ENCODED_BODY) {
            let text = format!("the bodies are in {ENCODED_BODY:?}: decode them to a column \"body\"");
            return Err(PyValueError::new_err(text));
        }
        Ok(CaptureColumns { fields, ignored })
    }
}

fn is_number(data_type: &DataType) -> bool {
    // pandas stores whole numbers with missing values as floating-point numbers.
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64 | DataType::Null)
}

/// A column's values.
enum CaptureCells<'a> {
    Texts(Vec<&'a [u8]>, Option<NullBuffer>),
    Flags(&'a BooleanArray),
    Numbers(Vec<Option<f64>>),
    Times { seconds: Vec<Option<i64>>, nulls: Option<NullBuffer> },
}

impl CaptureCells<'_> {
    /// Reads a column without copying texts.
    fn of(field: CaptureField, column: &ArrayRef) -> Result<CaptureCells<'_>, reptile_columns::Error> {
        let nulls = column.logical_nulls();
        Ok(match field {
            CaptureField::Status | CaptureField::Redirects => CaptureCells::Numbers(numbers(column)),
            CaptureField::Time => {
                let whole = matches!(column.data_type(), DataType::Float32 | DataType::Float64).then(|| {
                    let whole = numbers(column).into_iter().map(|number| number.map(|number| number.floor() as i64));
                    Arc::new(whole.collect::<Int64Array>()) as ArrayRef
                });
                let column = whole.as_ref().unwrap_or(column);
                CaptureCells::Times { seconds: seconds(column)?, nulls: column.logical_nulls() }
            }
            _ => match column.as_boolean_opt() {
                Some(flags) => CaptureCells::Flags(flags),
                None => CaptureCells::Texts(Texts::of(column)?.cut(column)?, nulls),
            },
        })
    }

    fn text(&self, row: usize) -> Option<&[u8]> {
        let CaptureCells::Texts(texts, nulls) = self else { return None };
        texts.get(row).copied().filter(|_| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)))
    }

    /// Returns a flag as a word, or a text.
    fn word(&self, row: usize) -> Option<String> {
        match self {
            CaptureCells::Flags(flags) => flags.is_valid(row).then(|| flags.value(row).to_string()),
            _ => self.text(row).map(|text| String::from_utf8_lossy(text).into_owned()),
        }
    }

    fn number(&self, row: usize) -> Option<f64> {
        let CaptureCells::Numbers(numbers) = self else { return None };
        *numbers.get(row)?
    }

    fn time(&self, row: usize) -> Result<Option<i64>, String> {
        let CaptureCells::Times { seconds, nulls } = self else { return Ok(None) };
        let found = seconds.get(row).copied().flatten();
        match found.is_none() && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            true => Err(convert::WRONG_TIME.to_owned()),
            false => Ok(found),
        }
    }
}

/// Returns a column of numbers. Infinities and missing numbers are null.
fn numbers(column: &ArrayRef) -> Vec<Option<f64>> {
    let finite = |number: Option<f64>| number.filter(|number| !number.is_nan());
    downcast_integer_array!(
        column => column.iter().map(|number| number.map(|number| number as f64)).collect(),
        DataType::Float32 => {
            column.as_primitive::<Float32Type>().iter().map(|number| finite(number.map(f64::from))).collect()
        }
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().map(finite).collect(),
        _ => vec![None; column.len()],
    )
}

/// The captures in an array of rows.
pub struct CaptureRows<'a> {
    columns: Vec<(CaptureField, CaptureCells<'a>)>,
    /// Marks the rows that are null as a whole.
    nulls: Option<&'a NullBuffer>,
    /// Number of rows before the array.
    rows_before: usize,
}

/// A capture that cannot be compiled: its URL, and the reason.
pub type RejectedCapture = (String, String);

impl<'a> CaptureRows<'a> {
    /// Reads the columns.
    pub fn of(
        fields: &CaptureColumns,
        rows: &'a ArrayRef,
        rows_before: usize,
    ) -> Result<CaptureRows<'a>, reptile_columns::Error> {
        let Some(rows) = rows.as_struct_opt() else {
            return Ok(CaptureRows { columns: Vec::new(), nulls: None, rows_before });
        };
        let cells = fields.fields.iter().filter_map(|&(field, place)| Some((field, rows.columns().get(place)?)));
        let cells = cells.map(|(field, column)| Ok((field, CaptureCells::of(field, column)?)));
        let columns: Result<_, reptile_columns::Error> = cells.collect();
        Ok(CaptureRows { columns: columns?, nulls: rows.nulls(), rows_before })
    }

    /// Returns a row's capture.
    pub fn capture(&self, row: usize) -> Result<Capture, RejectedCapture> {
        let url =
            self.columns.iter().find(|(field, _)| *field == CaptureField::Url).and_then(|(_, cells)| cells.text(row));
        let url = url.filter(|_| self.nulls.is_none_or(|nulls| nulls.is_valid(row)));
        let Some(url) = url else { return Err((String::new(), without_url(self.rows_before + row))) };
        let shown = || String::from_utf8_lossy(url).into_owned();
        let mut capture = Capture::without_body(url).map_err(|error| (shown(), text_of(&error)))?;
        match self.columns.iter().try_for_each(|(field, cells)| fill(&mut capture, *field, cells, row)) {
            Ok(()) => Ok(capture),
            Err(text) => Err((shown(), text)),
        }
    }
}

fn fill(capture: &mut Capture, field: CaptureField, cells: &CaptureCells<'_>, row: usize) -> Result<(), String> {
    match field {
        CaptureField::Url => {}
        CaptureField::Body => capture.body = cells.text(row).map(<[u8]>::to_vec),
        CaptureField::Status => capture.status = cells.number(row).map(status).transpose()?,
        CaptureField::Time => capture.time = cells.time(row)?,
        CaptureField::Redirects => capture.redirects = cells.number(row).map_or(Ok(0), redirects)?,
        CaptureField::Error => match cells {
            CaptureCells::Flags(_) => capture.has_failed = cells.word(row).is_some_and(|word| word == "true"),
            _ => capture.has_failed = cells.text(row).is_some_and(|text| !text.is_empty()),
        },
        CaptureField::Truncated => capture.truncated = cells.word(row).map_or(Ok(None), |word| truncated(&word))?,
        CaptureField::CacheControl => capture.cache_control = cells.word(row),
        CaptureField::ContentType => capture.content_type = cells.word(row),
    }
    Ok(())
}
