//! Converts strings, verdicts and errors between Python and the library.

use std::ffi::CString;
use std::io;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyType};
use reptile::reason::{Comparison, Witness};
use reptile::summary::Summary;
use reptile::{CrawlerError, ErrorKind, UnknownWord, Verdict};
use reptile_columns::text_of;

/// The package's types that are defined in Python.
struct Types {
    error: Py<PyType>,
    crawler_error: Py<PyType>,
    format_error: Py<PyType>,
    witness: Py<PyType>,
    comparison: Py<PyType>,
    access: Py<PyType>,
    ignored_column: Py<PyType>,
    /// The members of `Verdict`, by verdict number.
    verdicts: [Py<PyAny>; 4],
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();

fn types(py: Python<'_>) -> PyResult<&Types> {
    TYPES.get_or_try_init(py, || {
        let module = py.import("reptile._types")?;
        let class = |name: &str| -> PyResult<Py<PyType>> { Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind()) };
        let verdict = module.getattr("Verdict")?;
        let member = |name: &str| -> PyResult<Py<PyAny>> { Ok(verdict.getattr(name)?.unbind()) };
        Ok(Types {
            error: class("Error")?,
            crawler_error: class("CrawlerError")?,
            format_error: class("FormatError")?,
            witness: class("Witness")?,
            comparison: class("Comparison")?,
            access: class("Access")?,
            ignored_column: class("IgnoredColumnWarning")?,
            verdicts: [member("ALLOW")?, member("DISALLOW")?, member("UNKNOWN")?, member("INVALID")?],
        })
    })
}

/// Returns the member of `reptile.Verdict` for a verdict.
pub fn verdict(py: Python<'_>, verdict: Verdict) -> PyResult<Py<PyAny>> {
    match types(py)?.verdicts.get(verdict as usize) {
        Some(member) => Ok(member.clone_ref(py)),
        None => Err(PyRuntimeError::new_err("a verdict without a name")),
    }
}

/// Returns the verdict for a word, such as a member of `reptile.Verdict`.
pub fn verdict_of(word: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    word.extract::<String>()?.parse().map_err(|error: UnknownWord| PyValueError::new_err(error.to_string()))
}

/// Creates a `reptile.Witness`.
pub fn witness(py: Python<'_>, witness: &Witness) -> PyResult<Py<PyAny>> {
    let (state, path) = match witness {
        Witness::None => ("none", None),
        Witness::Unproved => ("unproved", None),
        Witness::Path(path) => ("path", Some(self::path(py, path))),
    };
    types(py)?.witness.call1(py, (state, path))
}

/// Returns a path as a `str`, or as `bytes` if it is not UTF-8.
pub fn path<'py>(py: Python<'py>, path: &[u8]) -> Bound<'py, PyAny> {
    match str::from_utf8(path) {
        Ok(text) => PyString::new(py, text).into_any(),
        Err(_) => PyBytes::new(py, path).into_any(),
    }
}

/// Creates a `reptile.Access`.
pub fn access(py: Python<'_>, found: &Summary<'_>) -> PyResult<Py<PyAny>> {
    let fields = (
        found.access.name(),
        found.group.as_str(),
        found.allow_rules,
        found.disallow_rules,
        found.reason.to_string(),
        found.allowed_path.as_deref().map(|found| path(py, found)),
        found.disallowed_path.as_deref().map(|found| path(py, found)),
    );
    types(py)?.access.call1(py, fields)
}

/// Creates a `reptile.Comparison`. [`crate::prove::comparison`] finds the counterexamples.
pub fn comparison(py: Python<'_>, found: &Comparison, counterexamples: Vec<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let sides = (witness(py, &found.first_only)?, witness(py, &found.second_only)?);
    types(py)?.comparison.call1(py, (sides.0, sides.1, counterexamples))
}

/// The exceptions that this module raises.
#[derive(Clone, Copy)]
pub enum ExceptionKind {
    /// `reptile.Error`.
    Other,
    /// `reptile.CrawlerError`.
    Crawler,
    /// `reptile.FormatError`.
    Format,
}

/// Creates an exception of the package.
pub fn raised(py: Python<'_>, kind: ExceptionKind, text: String) -> PyErr {
    match types(py) {
        Ok(types) => {
            let class = match kind {
                ExceptionKind::Other => &types.error,
                ExceptionKind::Crawler => &types.crawler_error,
                ExceptionKind::Format => &types.format_error,
            };
            PyErr::from_type(class.bind(py).clone(), text)
        }
        Err(error) => error,
    }
}

/// Warns about columns that are ignored, at the caller's line.
pub fn warn_of_ignored(py: Python<'_>, text: String) -> PyResult<()> {
    let text = CString::new(text.replace('\0', "\\0"))?;
    PyErr::warn(py, types(py)?.ignored_column.bind(py), &text, 1)
}

/// Returns whether an exception is one of the package's.
pub fn is_raised(py: Python<'_>, error: &PyErr) -> bool {
    types(py).is_ok_and(|types| error.is_instance(py, types.error.bind(py)))
}

/// Converts a library error to an exception.
pub fn library_error(py: Python<'_>, error: reptile::Error) -> PyErr {
    match error.kind() {
        ErrorKind::NotRobots => PyValueError::new_err(text_of(&error)),
        ErrorKind::Format => raised(py, ExceptionKind::Format, text_of(&error)),
        _ => raised(py, ExceptionKind::Other, text_of(&error)),
    }
}

/// Converts a library error about a file to an exception: an `OSError` with the path if the file could not be read or
/// written.
pub fn file_error(py: Python<'_>, path: &Path, error: reptile::Error) -> PyErr {
    use std::error::Error;
    let text = format!("{}: {}", path.display(), text_of(&error));
    if let Some(io) = error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
        return match io.raw_os_error() {
            Some(number) => os_error(py, number, path).unwrap_or_else(|error| error),
            None => io::Error::new(io.kind(), text).into(),
        };
    }
    let kind = if error.kind() == ErrorKind::Format { ExceptionKind::Format } else { ExceptionKind::Other };
    raised(py, kind, text)
}

/// Creates an `OSError` from an error number; Python turns it into a `FileNotFoundError` or the like.
fn os_error(py: Python<'_>, number: i32, path: &Path) -> PyResult<PyErr> {
    let text = py.import("os")?.call_method1("strerror", (number,))?;
    let error = py.import("builtins")?.getattr("OSError")?.call1((number, text, path.as_os_str()))?;
    Ok(PyErr::from_value(error))
}

/// Creates a `FileExistsError`.
pub fn file_exists(py: Python<'_>, path: &Path, text: &str) -> PyResult<PyErr> {
    let number = py.import("errno")?.getattr("EEXIST")?;
    let error = py.import("builtins")?.getattr("FileExistsError")?.call1((number, text, path.as_os_str()))?;
    Ok(PyErr::from_value(error))
}

/// Creates the exception for an invalid crawler name.
pub fn crawler_error(py: Python<'_>, error: &CrawlerError) -> PyErr {
    raised(py, ExceptionKind::Crawler, text_of(error))
}

/// Converts an error about names, columns or arrays to an exception.
pub fn arrow_error(py: Python<'_>, error: &reptile_columns::Error) -> PyErr {
    use reptile_columns::ErrorKind;
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Crawler => raised(py, ExceptionKind::Crawler, text),
        ErrorKind::Set => raised(py, ExceptionKind::Format, text),
        ErrorKind::Array => PyTypeError::new_err(text),
        ErrorKind::Column => PyValueError::new_err(text),
        _ => raised(py, ExceptionKind::Other, text),
    }
}

/// Runs `work` on the bytes of a `str` or `bytes`, without copying them. Lone surrogates, which UTF-8 cannot represent,
/// are passed on as Python encodes them: they are invalid in hosts, and paths may contain any bytes.
pub fn with_bytes<R>(text: &Bound<'_, PyAny>, work: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(text) = text.cast::<PyString>() {
        if let Ok(text) = text.to_str() {
            return Ok(work(text.as_bytes()));
        }
        let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        return Ok(work(encoded.cast::<PyBytes>()?.as_bytes()));
    }
    match text.cast::<PyBytes>() {
        Ok(bytes) => Ok(work(bytes.as_bytes())),
        Err(_) => Err(PyTypeError::new_err(format!("expected str or bytes, not {}", text.get_type().name()?))),
    }
}

/// Passes a text's bytes to the library, and converts its error to an exception.
pub fn query<R>(text: &Bound<'_, PyAny>, work: impl FnOnce(&[u8]) -> Result<R, reptile::Error>) -> PyResult<R> {
    with_bytes(text, work)?.map_err(|error| library_error(text.py(), error))
}

/// The times that a set can store: from the first second of the year 1 to the last second of 9999.
const TIMES: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Whole numbers with thirteen digits are milliseconds, as the command reads them.
const MILLISECONDS: Range<i64> = 1_000_000_000_000..10_000_000_000_000;

/// Converts a capture's time to seconds since 1970: a `datetime` with a time zone, or a whole number of seconds since
/// 1970 (milliseconds if it has thirteen digits).
pub fn capture_time(time: &Bound<'_, PyAny>) -> PyResult<i64> {
    let found = moment(time)?;
    let seconds = if MILLISECONDS.contains(&found) { found.div_euclid(1000) } else { found };
    if TIMES.contains(&seconds) {
        return Ok(seconds);
    }
    Err(PyValueError::new_err(format!("{WRONG_TIME}, found {found}")))
}

/// Describes a time that a set cannot store.
pub const WRONG_TIME: &str = "time: expected the years 1 to 9999, in seconds since 1970";

/// Converts a time to seconds since 1970, from an integer or a `datetime` with a time zone.
pub fn moment(time: &Bound<'_, PyAny>) -> PyResult<i64> {
    if let Ok(seconds) = time.extract::<i64>() {
        return Ok(seconds);
    }
    let wrong =
        || PyTypeError::new_err("expected a time as an integer in seconds since 1970 or a datetime with a time zone");
    if !time.hasattr("utcoffset")? || time.call_method0("utcoffset")?.is_none() {
        return Err(wrong());
    }
    let seconds: f64 = time.call_method0("timestamp").map_err(|_| wrong())?.extract()?;
    // A `datetime` is limited to the years 1 to 9999.
    Ok(seconds.floor() as i64)
}

/// Returns crawler names from a `str` or a sequence.
pub fn names(names: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(name) = names.cast::<PyString>() {
        return Ok(vec![name.to_str()?.to_owned()]);
    }
    names.try_iter()?.map(|name| name?.extract::<String>()).collect()
}

/// The result of `__reduce__`: a function that restores the object, and its arguments.
pub type Reduced<'py, Arguments> = PyResult<(Bound<'py, PyAny>, Arguments)>;

/// Returns a private function of this module that restores a pickled object.
pub fn unpickles<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("reptile._native")?.getattr(name)
}
