//! Compiles robots.txt files to a set (`reptile.compile`), and merges sets (`reptile.merge`).

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString, PyTuple};
use reptile::files::PendingFile;
use reptile::{Capture, CompiledSet, Compiler, ErrorKind, Origin, Profile, Set};
use reptile_columns::arrow::in_pool;

use crate::arrow;
use crate::captures::{self, CaptureColumns, CaptureRows, RejectedCapture};
use crate::convert;
use crate::joined::Arrays;
use crate::robots::dialect_of;
use crate::set::{PySet, mapped, open_set};

/// Number of captures taken from Python at a time.
const BATCH: usize = 4096;

/// Compiles robots.txt files to a set.
///
/// ``captures`` is a mapping from robots.txt URLs to bodies (str or bytes), an iterable of such pairs or of
/// dictionaries, or rows with the Arrow PyCapsule interface: a table, stream or array of structs from pyarrow, polars,
/// pandas or DuckDB. A dictionary or row has ``url`` and, where known, ``body``, ``status``, ``time``, ``redirects``,
/// ``cache_control``, ``content_type``, ``truncated`` (True, or why) and ``error`` (a message, or True, if there was no
/// response). Any other field or column is an error. A ``time`` is a ``datetime`` with a time zone, or an integer in
/// seconds since 1970 (milliseconds if it has 13 digits); in Arrow also a timestamp of any unit (UTC if it has no zone)
/// or a date. The captures' order does not matter: if an origin has several, the fetch profile chooses by time.
///
/// With ``path``, the set is written to that file, which is either complete or absent, and opened from there; otherwise
/// it is kept in memory. If the file exists, ``FileExistsError`` is raised before the work starts, unless ``force`` is
/// set. ``dialect`` selects how files are read, and ``profile`` what a failed fetch means (default: the dialect's
/// profile). ``at``, an integer in seconds since 1970 or a ``datetime`` with a time zone, is the time that the set is
/// compiled for; ``by_time`` keeps every capture. A capture that cannot be compiled raises an exception. If
/// ``on_error`` is given, such a capture is left out, and ``on_error`` is called with its origin, or its URL if that is
/// not a robots.txt URL, and a message.
///
/// Captures are taken 4,096 at a time, and all processors compile them while other Python threads run. Memory: about
/// the size of the set, and the captures taken.
#[pyfunction]
#[pyo3(signature = (
    captures, path=None, *, dialect="google", profile=None, at=None, by_time=false, line_numbers=true,
    other_directives=true, on_error=None, force=false
))]
#[allow(clippy::too_many_arguments, reason = "most are keyword arguments")]
pub fn compile(
    py: Python<'_>,
    captures: &Bound<'_, PyAny>,
    path: Option<PathBuf>,
    dialect: &str,
    profile: Option<&str>,
    at: Option<&Bound<'_, PyAny>>,
    by_time: bool,
    line_numbers: bool,
    other_directives: bool,
    on_error: Option<&Bound<'_, PyAny>>,
    force: bool,
) -> PyResult<PySet> {
    let dialect = dialect_of(dialect)?;
    let profile = match profile {
        None => Profile::of_dialect(dialect),
        Some(name) => {
            Profile::from_name(name).ok_or_else(|| PyValueError::new_err(format!("unknown fetch profile {name:?}")))?
        }
    };
    let at = at.map(convert::moment).transpose()?;
    let target = path.map(|path| Target::create(py, path, force)).transpose()?;
    let compiler = Compiler::with_profile(dialect, profile, at).by_time(by_time);
    let mut compiler = compiler.line_numbers(line_numbers).other_directives(other_directives);
    match arrow::arrays(captures, &captures::number_fields())? {
        Some(rows) => add_rows(py, &mut compiler, rows, on_error)?,
        None => add_items(py, &mut compiler, captures, on_error)?,
    }
    let compiled = py.detach(|| in_pool(|| compiler.finish())).map_err(|error| convert::library_error(py, error))?;
    keep(py, compiled, target)
}

/// Adds captures from Python objects.
fn add_items(
    py: Python<'_>,
    compiler: &mut Compiler,
    captures: &Bound<'_, PyAny>,
    on_error: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let items = match captures.cast::<PyMapping>() {
        Ok(mapping) => mapping.items()?.into_any(),
        Err(_) => captures.clone(),
    };
    let mut batch = Vec::with_capacity(BATCH);
    for item in items.try_iter()? {
        let item = item?;
        match (capture(&item), on_error) {
            (Ok(capture), _) => batch.push(capture),
            (Err(error), Some(on_error)) if convert::is_raised(py, &error) => {
                on_error.call1((url_of(&item)?, error.value(py).str()?))?;
            }
            (Err(error), _) => return Err(error),
        }
        if batch.len() == BATCH {
            add(py, compiler, std::mem::take(&mut batch), on_error)?;
        }
    }
    add(py, compiler, batch, on_error)
}

/// Adds captures from Arrow rows.
fn add_rows(
    py: Python<'_>,
    compiler: &mut Compiler,
    mut arrays: Arrays,
    on_error: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let fields = CaptureColumns::of(arrays.field().data_type())?;
    while let Some(array) = py.detach(|| arrays.next()) {
        let array = array.map_err(|error| arrow::raised(py, error))?;
        let rows = py.detach(|| CaptureRows::of(&fields, &array)).map_err(|error| convert::arrow_error(py, &error))?;
        for start in (0..array.len()).step_by(BATCH) {
            let mut failed: Vec<RejectedCapture> = Vec::new();
            let batch = py.detach(|| {
                let mut batch = Vec::with_capacity(BATCH);
                for row in start..array.len().min(start + BATCH) {
                    match rows.capture(row) {
                        Ok(capture) => batch.push(capture),
                        Err(left_out) => failed.push(left_out),
                    }
                }
                batch
            });
            report(py, failed, on_error)?;
            add(py, compiler, batch, on_error)?;
        }
    }
    Ok(())
}

/// A set file that is being written. It appears under its name when it is complete.
struct Target {
    path: PathBuf,
    file: PendingFile,
}

impl Target {
    /// Fails if the file exists, unless `force` is set, or if it cannot be created.
    fn create(py: Python<'_>, path: PathBuf, force: bool) -> PyResult<Target> {
        match PendingFile::create(&path, force) {
            Ok(file) => Ok(Target { path, file }),
            Err(error) => Err(failed_write(py, &path, error)),
        }
    }

    /// Writes a set. If another process has created the file in the meantime, it is replaced only with `force`.
    fn write(self, py: Python<'_>, compiled: &CompiledSet) -> PyResult<PathBuf> {
        let Target { path, file } = self;
        let write = || {
            let mut writer = BufWriter::new(file);
            compiled.write(&mut writer)?;
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync()?;
            file.publish()
        };
        match py.detach(write) {
            Ok(()) => Ok(path),
            Err(error) => Err(failed_write(py, &path, error)),
        }
    }
}

fn failed_write(py: Python<'_>, path: &Path, error: io::Error) -> PyErr {
    if error.kind() == io::ErrorKind::AlreadyExists {
        let text = "the file exists already; force=True replaces it";
        return convert::file_exists(py, path, text).unwrap_or_else(|error| error);
    }
    convert::file_error(py, path, error.into())
}

/// Writes a set to a file and opens it from there, or keeps it in memory.
fn keep(py: Python<'_>, compiled: CompiledSet, target: Option<Target>) -> PyResult<PySet> {
    match target {
        Some(target) => open_set(py, target.write(py, &compiled)?, false),
        None => {
            let set = py.detach(|| compiled.into_set()).map_err(|error| convert::library_error(py, error))?;
            Ok(PySet::new(set, None))
        }
    }
}

/// Merges sets. The result is identical, byte for byte, to compiling all captures at once, in any order.
///
/// ``sets`` are ``Set`` objects or paths of set files. Files are mapped and must not be modified in the meantime. The
/// sets must have the same dialect and fetch profile, and all or none must be ``by_time``. The new set is for the
/// latest of their times. If two sets have different robots.txt files for an origin, and it is not known which one
/// counts, ``Error`` is raised.
///
/// With ``path``, the set is written to that file, which is either complete or absent, and opened from there; data over
/// ``memory`` bytes (2 GiB by default, like the command's) goes to temporary files next to it. If the file exists,
/// ``FileExistsError`` is raised before the work starts, unless ``force`` is set. Without ``path``, the set is kept in
/// memory. Time and memory are as for the command ``reptile merge``.
#[pyfunction]
#[pyo3(signature = (sets, path=None, *, memory=2147483648, force=false))]
pub fn merge(
    py: Python<'_>,
    sets: &Bound<'_, PyAny>,
    path: Option<PathBuf>,
    memory: u64,
    force: bool,
) -> PyResult<PySet> {
    if sets.cast::<PySet>().is_ok() {
        return Err(PyTypeError::new_err("expected a list of sets, found one set"));
    }
    if sets.cast::<PyString>().is_ok() || sets.cast::<PyBytes>().is_ok() {
        return Err(PyTypeError::new_err("the sets are one text; `merge` needs a list of sets"));
    }
    let sets = sets.try_iter()?.map(|set| part(py, &set?)).collect::<PyResult<Vec<Set>>>()?;
    let Some(first) = sets.first() else {
        return Err(PyValueError::new_err("no sets to merge"));
    };
    let profile = Profile::from_name(first.profile());
    let profile =
        profile.ok_or_else(|| PyValueError::new_err(format!("unknown fetch profile {:?}", first.profile())))?;
    let mut compiler = Compiler::with_profile(dialect_of(first.dialect())?, profile, None).by_time(first.has_times());
    let target = path.clone().map(|path| Target::create(py, path, force)).transpose()?;
    if let Some(path) = &path {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        compiler = compiler.memory(memory, folder.unwrap_or(std::path::Path::new(".")));
    }
    let merged = py.detach(|| {
        sets.iter().try_for_each(|set| compiler.add_set(set))?;
        in_pool(|| compiler.finish())
    });
    let merged = merged.map_err(|error| match &path {
        Some(path) if error.kind() == ErrorKind::Io => convert::file_error(py, path, error),
        _ => convert::library_error(py, error),
    });
    keep(py, merged?, target)
}

/// Opens one of the sets to merge.
fn part(py: Python<'_>, set: &Bound<'_, PyAny>) -> PyResult<Set> {
    if let Ok(set) = set.cast::<PySet>() {
        return Ok(set.get().set());
    }
    let path: PathBuf = set.extract()?;
    py.detach(|| mapped(&path)).map_err(|error| convert::file_error(py, &path, error))
}

fn add(
    py: Python<'_>,
    compiler: &mut Compiler,
    batch: Vec<Capture>,
    on_error: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let mut failed: Vec<RejectedCapture> = Vec::new();
    let mut skipped = |origin: &Origin, error| failed.push((origin.to_string(), reptile_columns::text_of(&error)));
    py.detach(|| in_pool(|| compiler.add_all(batch, &mut skipped)));
    report(py, failed, on_error)
}

/// Passes captures that were left out to `on_error`, or raises an exception for the first one.
fn report(py: Python<'_>, failed: Vec<RejectedCapture>, on_error: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    for (origin, text) in failed {
        match on_error {
            Some(on_error) => drop(on_error.call1((origin, text))?),
            None => return Err(convert::raised(py, convert::ExceptionKind::Other, format!("{origin}: {text}"))),
        }
    }
    Ok(())
}

/// Returns a capture's URL as given, if it is a string.
fn url_of(item: &Bound<'_, PyAny>) -> PyResult<String> {
    let url = if item.cast::<PyDict>().is_ok() { item.get_item("url") } else { item.get_item(0) }?;
    convert::with_bytes(&url, |url| String::from_utf8_lossy(url).into_owned())
}

fn capture(item: &Bound<'_, PyAny>) -> PyResult<Capture> {
    if let Ok(fields) = item.cast::<PyDict>() {
        return of_fields(fields);
    }
    let Ok((url, body)) = item.cast::<PyTuple>().map_or_else(|_| item.extract(), |pair| pair.extract()) else {
        return Err(PyTypeError::new_err("a capture must be a pair of URL and body, or a dictionary"));
    };
    let (url, body): (Bound<'_, PyAny>, Bound<'_, PyAny>) = (url, body);
    with_url(&url, Some(&body))
}

fn with_url(url: &Bound<'_, PyAny>, body: Option<&Bound<'_, PyAny>>) -> PyResult<Capture> {
    let body = body.map(|body| convert::with_bytes(body, <[u8]>::to_vec)).transpose()?;
    let mut capture = convert::query(url, |url| Capture::without_body(url))?;
    capture.body = body;
    Ok(capture)
}

fn of_fields(fields: &Bound<'_, PyDict>) -> PyResult<Capture> {
    let field = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(fields.get_item(name)?.filter(|value| !value.is_none()))
    };
    let url = field("url")?.ok_or_else(|| PyValueError::new_err("a capture without url"))?;
    let mut capture = with_url(&url, field("body")?.as_ref())?;
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_none()) {
        match name.extract::<&str>()? {
            "url" | "body" => {}
            "status" => capture.status = Some(captures::status(value.extract()?).map_err(PyValueError::new_err)?),
            "time" => capture.time = Some(convert::capture_time(&value)?),
            "redirects" => capture.redirects = captures::redirects(value.extract()?).map_err(PyValueError::new_err)?,
            "cache_control" => capture.cache_control = Some(value.extract()?),
            "content_type" => capture.content_type = Some(value.extract()?),
            // Either an error message or a flag; `failed` is the older name. Both mean that there was no response.
            "error" | "failed" => capture.has_failed |= has_failed(&value)?,
            "truncated" => {
                let word = match value.extract::<bool>() {
                    Ok(is_truncated) => is_truncated.to_string(),
                    Err(_) => value.extract()?,
                };
                capture.truncated = captures::truncated(&word).map_err(PyValueError::new_err)?;
            }
            other => return Err(captures::unknown_field(other)),
        }
    }
    Ok(capture)
}

/// Returns whether ``error`` reports that there was no response: a nonempty string, or a flag.
fn has_failed(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(!text.to_str()?.is_empty()),
        Err(_) => value.extract(),
    }
}
