//! Decides many URLs from Arrow's PyCapsule interface or any iterable, and returns verdicts with that interface.
//!
//! The capsules are handled here rather than by `pyo3-arrow`, which would add four more Arrow crates and numpy.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{Int8Type, TimestampMillisecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayIterator, ArrayRef, RecordBatch, RecordBatchIterator, make_array};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule, PyDict, PyList, PyString};
use reptile::{Agents, Verdict};
use reptile_columns::arrow::{self as summary, ArrayDecider, VerdictStream};
use reptile_columns::{ByRow, Column, UsageOptions};

use crate::ask::scope_of;
use crate::convert::{self, Reduced, unpickles};
use crate::joined::{Arrays, JoinedColumn, JoinedRows};
use crate::pickled::{self, Batch};
use crate::{texts, usage};

const STREAM: &std::ffi::CStr = c"arrow_array_stream";
const ARRAY: &std::ffi::CStr = c"arrow_array";
const SCHEMA: &std::ffi::CStr = c"arrow_schema";

/// Number of values converted to Python values before other threads may run: about a millisecond.
const ROWS_BETWEEN_PAUSES: usize = 8192;

/// The names of the columns for times and crawlers next to the URLs, and of the arguments.
const TIMES: &str = "times";
const AGENTS: &str = "agents";

/// The crawlers that URLs are decided for.
pub enum Crawlers<'a, 'py> {
    /// The same crawlers for each URL.
    Named(Agents),
    /// A crawler for each URL, from a column or an iterable.
    OfRows(Arc<ByRow>, &'a Bound<'py, PyAny>),
}

/// Options for deciding many URLs.
pub struct DecideOptions<'a, 'py> {
    /// The result's columns.
    pub columns: Option<&'a Bound<'py, PyAny>>,
    /// The column with the URLs.
    pub url_column: Option<&'a str>,
    /// The columns about uses.
    pub usage: UsageOptions,
    /// The column with the times, or the times themselves.
    pub times: Option<&'a Bound<'py, PyAny>>,
    /// The name of a scope.
    pub scope: &'a str,
    /// Whether to use all threads.
    pub parallel: bool,
}

/// Decides many URLs at once.
pub fn decide_many(
    py: Python<'_>,
    crawlers: Crawlers<'_, '_>,
    urls: &Bound<'_, PyAny>,
    options: &DecideOptions<'_, '_>,
) -> PyResult<PyVerdicts> {
    let stream = stream(py, crawlers, urls, options)?;
    let schema = arrow_array::RecordBatchReader::schema(&stream);
    let batches: Result<Vec<_>, ArrowError> = py.detach(|| stream.collect());
    Ok(PyVerdicts { schema, batches: batches.map_err(|error| raised(py, error))? })
}

/// Appends the columns that `decide` returns to a frame.
pub fn with_verdicts<'py>(
    decide: &Bound<'py, PyAny>,
    frame: &Bound<'py, PyAny>,
    columns: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    decide.py().import("reptile._frames")?.call_method("with_verdicts", (decide, frame, columns), options)
}

/// Decides many URLs as they are read.
pub fn decide_stream(
    py: Python<'_>,
    agents: Agents,
    urls: &Bound<'_, PyAny>,
    options: &DecideOptions<'_, '_>,
) -> PyResult<PyVerdictReader> {
    let stream = stream(py, Crawlers::Named(agents), urls, options)?;
    let schema = arrow_array::RecordBatchReader::schema(&stream);
    Ok(PyVerdictReader { schema, stream: Mutex::new(Some(stream)) })
}

fn stream(
    py: Python<'_>,
    crawlers: Crawlers<'_, '_>,
    urls: &Bound<'_, PyAny>,
    options: &DecideOptions<'_, '_>,
) -> PyResult<VerdictStream<Arrays>> {
    let failed = |error: reptile_columns::Error| convert::arrow_error(py, &error);
    let usage = usage::columns(&options.usage).map_err(failed)?;
    let usage = usage.as_ref().as_ref();
    let columns = match options.columns {
        None => vec![Column::Verdict],
        Some(names) => {
            let names = convert::names(names)?;
            let names = names.iter().flat_map(|names| names.split(',')).map(str::trim);
            Column::from_names(names).map_err(failed)?
        }
    };
    let has_column = matches!(&crawlers, Crawlers::OfRows(_, names) if names.is_instance_of::<PyString>());
    let mut joined = Vec::new();
    let decider = match crawlers {
        Crawlers::Named(agents) => ArrayDecider::with_usage(agents, &columns, usage),
        Crawlers::OfRows(by_row, names) => {
            let column = column_name(names, AGENTS, &mut joined, |names| reader(names, AGENTS, &[]))?;
            ArrayDecider::by_row(by_row, column, &columns, usage)
        }
    };
    let mut decider = decider.map_err(failed)?.parallel(options.parallel).in_scope(scope_of(options.scope)?);
    let mut times_column = None;
    if let Some(times) = options.times {
        let column = column_name(times, TIMES, &mut joined, times_reader)?;
        decider = decider.times(column.clone());
        times_column = Some(column);
    }
    // Polars passes columns without any value as texts, except for times.
    let mut urls = reader(urls, "urls", times_column.as_slice())?;
    if has_column && !matches!(urls.field().data_type(), DataType::Struct(_)) {
        let text = "agents: expected a name for each URL, or the name of a column next to the URLs; `decide_many` decides \
                    all URLs for the same crawlers";
        return Err(PyTypeError::new_err(text));
    }
    if !joined.is_empty() {
        urls = Box::new(JoinedRows::new(urls, joined)?);
    }
    VerdictStream::new(urls, options.url_column, decider).map_err(failed)
}

/// Returns the name of the column with a row's values. Values that are not in the same table are added to `joined`.
fn column_name(
    values: &Bound<'_, PyAny>,
    name: &'static str,
    joined: &mut Vec<JoinedColumn>,
    read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Arrays>,
) -> PyResult<String> {
    if let Ok(column) = values.cast::<PyString>() {
        return Ok(column.to_str()?.to_owned());
    }
    joined.push(JoinedColumn { name, arrays: read(values)? });
    Ok(name.to_owned())
}

/// Returns times as arrays, from the PyCapsule interface or an iterable of integers and datetimes with a time zone.
fn times_reader(times: &Bound<'_, PyAny>) -> PyResult<Arrays> {
    if times.hasattr("__arrow_c_stream__")? || times.hasattr("__arrow_c_array__")? {
        return reader(times, TIMES, &[String::new()]);
    }
    let field = Arc::new(Field::new(TIMES, DataType::Int64, true));
    Ok(Box::new(ArrayIterator::new([Ok(Arc::new(texts::times(times)?) as ArrayRef)], field)))
}

/// Summarizes the crawlers' access to each origin.
pub fn summarize(py: Python<'_>, agents: &Agents, origins: Option<&Bound<'_, PyAny>>) -> PyResult<PyVerdicts> {
    let origins = origins.map(convert::names).transpose()?;
    let mut batches = Vec::new();
    let found = py.detach(|| {
        summary::summarize(agents, origins.as_deref(), |batch| {
            batches.push(batch);
            Ok(())
        })
    });
    found.map_err(|error| convert::arrow_error(py, &error))?;
    Ok(PyVerdicts { schema: Arc::new(summary::summary_schema()), batches })
}

/// Returns an argument's texts as arrays, from a stream, an array or an iterable of strings. `numbers` is as in
/// [`arrays`].
fn reader(texts: &Bound<'_, PyAny>, argument: &str, numbers: &[String]) -> PyResult<Arrays> {
    match arrays(texts, numbers)? {
        Some(arrays) => Ok(arrays),
        None => Ok(one(texts::texts(texts, argument)?)),
    }
}

/// Returns the arrays of an object with the Arrow PyCapsule interface, or `None` for another object.
///
/// `numbers` names the columns that do not contain texts, with "" for a column outside a table. It matters only for
/// columns from Polars without any value, which have to be converted.
pub fn arrays(object: &Bound<'_, PyAny>, numbers: &[String]) -> PyResult<Option<Arrays>> {
    let arrays = exported(object)?;
    let Some(field) = arrays.as_ref().map(|arrays| arrays.field().clone()) else { return Ok(None) };
    match with_types(object, field.data_type(), numbers)? {
        Some(object) => exported(&object),
        None => Ok(arrays),
    }
}

/// Converts Polars columns without any value to texts or numbers. Polars exports them with a buffer, which Arrow
/// forbids and `arrow-array` rejects.
fn with_types<'py>(
    object: &Bound<'py, PyAny>,
    data_type: &DataType,
    numbers: &[String],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let is_number = |name: &str| numbers.iter().any(|number| number == name);
    let empty: Vec<&str> = match data_type {
        DataType::Null => vec![""],
        DataType::Struct(fields) => {
            let fields = fields.iter().filter(|field| *field.data_type() == DataType::Null);
            fields.map(|field| field.name().as_str()).collect()
        }
        _ => Vec::new(),
    };
    if empty.is_empty() || !object.get_type().module()?.to_str()?.starts_with("polars") {
        return Ok(None);
    }
    let polars = py.import("polars")?;
    let kind = |name: &str| polars.getattr(if is_number(name) { "Int64" } else { "String" });
    if *data_type == DataType::Null {
        return object.call_method1("cast", (kind("")?,)).map(Some);
    }
    let kinds = PyDict::new(py);
    for name in empty {
        kinds.set_item(name, kind(name)?)?;
    }
    object.call_method1("cast", (kinds,)).map(Some)
}

fn exported(object: &Bound<'_, PyAny>) -> PyResult<Option<Arrays>> {
    if object.hasattr("__arrow_c_stream__")? {
        // The capsule must live until the stream has been moved out of it.
        let capsule = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(STREAM))?;
        // SAFETY: by Arrow's PyCapsule interface, a capsule with this name holds a stream, which may be moved out. The
        // capsule is alive.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast().as_ptr()) };
        let reader = ArrayStreamReader::try_new(stream).map_err(|error| raised(object.py(), error))?;
        return Ok(Some(Box::new(reader)));
    }
    if object.hasattr("__arrow_c_array__")? { Ok(Some(one(array(object)?))) } else { Ok(None) }
}

fn one(array: ArrayRef) -> Arrays {
    let field = Arc::new(Field::new("array", array.data_type().clone(), true));
    Box::new(ArrayIterator::new([Ok(array)], field))
}

/// Returns the array of an object with `__arrow_c_array__`.
fn array(urls: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let pair = urls.call_method0("__arrow_c_array__")?;
    // The capsules must live until their contents have been moved out.
    let (schema_capsule, array_capsule): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = pair.extract()?;
    let schema = schema_capsule.pointer_checked(Some(SCHEMA))?;
    let array = array_capsule.pointer_checked(Some(ARRAY))?;
    // SAFETY: by Arrow's PyCapsule interface, a capsule with this name holds a schema, which may be moved out.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.cast().as_ptr()) };
    // SAFETY: by Arrow's PyCapsule interface, a capsule with this name holds an array, which may be moved out.
    let array = unsafe { FFI_ArrowArray::from_raw(array.cast().as_ptr()) };
    if array.is_released() || schema.release().is_none() {
        return Err(PyValueError::new_err("the Arrow array is already consumed"));
    }
    // SAFETY: the array and its schema follow the C data interface.
    let data = unsafe { from_ffi(array, &schema) };
    Ok(make_array(data.map_err(|error| raised(urls.py(), error))?))
}

/// Converts an Arrow error to an exception.
pub fn raised(py: Python<'_>, error: ArrowError) -> PyErr {
    match error {
        ArrowError::InvalidArgumentError(text) => PyTypeError::new_err(text),
        ArrowError::ComputeError(text) => convert::raised(py, convert::ExceptionKind::Other, text),
        ArrowError::ExternalError(source) => match source.downcast::<reptile_columns::Error>() {
            Ok(error) => convert::arrow_error(py, &error),
            Err(source) => convert::raised(py, convert::ExceptionKind::Other, source.to_string()),
        },
        error => convert::raised(py, convert::ExceptionKind::Other, error.to_string()),
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(|error| raised(py, error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Columns of verdicts, or of summaries, with the Arrow PyCapsule interface. Usable as ``pyarrow.table(verdicts)``,
/// ``polars.DataFrame(verdicts)``, ``pandas.DataFrame.from_arrow(verdicts)``, or as a table in a DuckDB query. A pickle
/// contains a copy of the columns.
#[pyclass(frozen, name = "Verdicts", module = "reptile")]
pub struct PyVerdicts {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl PyVerdicts {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The producer may ignore the requested schema, and the consumer must convert.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new(self.batches.clone().into_iter().map(Ok), self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The column names.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns a column as a list of Python values, with verdicts as ``Verdict``.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some((place, _)) = self.schema.fields().find(name) else {
            return Err(PyKeyError::new_err(format!(
                "no column {name:?}; there are {}",
                self.column_names().join(", ")
            )));
        };
        let list = PyList::empty(py);
        for array in self.batches.iter().map(|batch| batch.column(place)) {
            // The words of a dictionary are converted once for each part.
            let is_shared = matches!(array.data_type(), DataType::Dictionary(_, _)) && !name.ends_with("verdict");
            let rows = if is_shared { array.len().max(1) } else { ROWS_BETWEEN_PAUSES };
            for start in (0..array.len()).step_by(rows) {
                append(&list, array.slice(start, rows.min(array.len() - start)).as_ref(), name)?;
                // Another thread that waits for the interpreter may run here.
                py.detach(|| ());
            }
        }
        Ok(list)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        self.column(py, name)
    }

    /// Returns all columns as lists of Python values, by name.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for name in self.column_names() {
            columns.set_item(&name, self.column(py, &name)?)?;
        }
        Ok(columns)
    }

    /// Returns a ``pyarrow.Table``, without copying. HOSTS.md lists its types. Needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// Returns a pandas DataFrame with Arrow types (``pandas.ArrowDtype``). The default types of pandas would turn whole
    /// numbers with nulls into floats. Needs pandas and pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let types = [("types_mapper", slf.py().import("pandas")?.getattr("ArrowDtype")?)].into_py_dict(slf.py())?;
        PyVerdicts::to_arrow(slf)?.call_method("to_pandas", (), Some(&types))
    }

    /// Returns a Polars DataFrame. Needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// Returns the number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, PickledStream<'py>> {
        let columns = pickled::columns(&self.schema);
        let batches = self.batches.iter().map(|batch| pickled::batch(py, batch)).collect::<Result<_, _>>();
        let batches = batches.map_err(|error| raised(py, error))?;
        Ok((unpickles(py, "_verdicts")?, (columns, self.schema.metadata().clone().into(), batches)))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __repr__(&self) -> String {
        format!("<reptile.Verdicts of {} rows: {}>", self.__len__(), self.column_names().join(", "))
    }
}

/// A pickle's columns, schema metadata and batches.
type PickledStream<'py> = (Vec<pickled::Column>, HashMap<String, String>, Vec<Batch<'py>>);

/// Restores pickled columns.
#[pyfunction]
#[pyo3(name = "_verdicts", signature = (columns, metadata, batches, /))]
pub fn unpickled_verdicts(
    py: Python<'_>,
    columns: Vec<pickled::Column>,
    metadata: HashMap<String, String>,
    batches: Vec<Batch<'_>>,
) -> PyResult<PyVerdicts> {
    let schema = pickled::schema(columns, metadata).map_err(|error| raised(py, error))?;
    let batches = batches.iter().map(|batch| pickled::restored(&schema, batch)).collect::<Result<Vec<_>, _>>();
    Ok(PyVerdicts { batches: batches.map_err(|error| raised(py, error))?, schema })
}

/// Verdicts that are decided in batches as they are read, with the Arrow PyCapsule interface. Can be read once.
#[pyclass(frozen, name = "VerdictReader", module = "reptile")]
pub struct PyVerdictReader {
    schema: SchemaRef,
    stream: Mutex<Option<VerdictStream<Arrays>>>,
}

#[pymethods]
impl PyVerdictReader {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        let stream =
            stream.ok_or_else(|| PyValueError::new_err("the verdicts were already read; decide_many keeps them"))?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(stream)), STREAM)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }
}

/// Appends an array's values to a list.
fn append(list: &Bound<'_, PyList>, array: &dyn Array, name: &str) -> PyResult<()> {
    let py = list.py();
    match array.data_type() {
        DataType::Dictionary(key, _) if **key == DataType::Int8 && name.ends_with("verdict") => {
            let keys = array.as_dictionary::<Int8Type>().keys();
            for key in keys {
                let verdict = key.and_then(|key| Verdict::ALL.get(usize::try_from(key).ok()?).copied());
                list.append(verdict.map(|verdict| convert::verdict(py, verdict)).transpose()?)?;
            }
        }
        DataType::Dictionary(_, _) => {
            let Some(dictionary) = array.as_any_dictionary_opt() else { return Err(no_values(array)) };
            let words = PyList::empty(py);
            append(&words, dictionary.values().as_ref(), "")?;
            let nulls = array.logical_nulls();
            for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
                let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
                list.append(if is_null { py.None().into_bound(py) } else { words.get_item(key)? })?;
            }
        }
        DataType::Timestamp(TimeUnit::Millisecond, Some(_)) => {
            let module = py.import("datetime")?;
            let utc = module.getattr("timezone")?.getattr("utc")?;
            let epoch = module.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, utc))?;
            for time in array.as_primitive::<TimestampMillisecondType>().iter() {
                let time = time.map(|time| epoch.add(module.getattr("timedelta")?.call1((0, 0, 0, time))?));
                list.append(time.transpose()?)?;
            }
        }
        DataType::UInt64 => array.as_primitive::<UInt64Type>().iter().try_for_each(|value| list.append(value))?,
        DataType::UInt32 => array.as_primitive::<UInt32Type>().iter().try_for_each(|value| list.append(value))?,
        DataType::Utf8 => array.as_string::<i32>().iter().try_for_each(|value| list.append(value))?,
        DataType::LargeUtf8 => array.as_string::<i64>().iter().try_for_each(|value| list.append(value))?,
        DataType::Utf8View => array.as_string_view().iter().try_for_each(|value| list.append(value))?,
        DataType::Binary => array.as_binary::<i32>().iter().try_for_each(|value| list.append(value))?,
        DataType::LargeBinary => array.as_binary::<i64>().iter().try_for_each(|value| list.append(value))?,
        DataType::BinaryView => array.as_binary_view().iter().try_for_each(|value| list.append(value))?,
        DataType::LargeList(_) => {
            for names in array.as_list::<i64>().iter() {
                let made = names.map(|names| {
                    let made = PyList::empty(py);
                    append(&made, names.as_ref(), "").map(|()| made)
                });
                list.append(made.transpose()?)?;
            }
        }
        DataType::Null => (0..array.len()).try_for_each(|_| list.append(py.None()))?,
        _ => return Err(no_values(array)),
    }
    Ok(())
}

fn no_values(array: &dyn Array) -> PyErr {
    PyTypeError::new_err(format!("cannot convert a column of {} to a list", array.data_type()))
}
