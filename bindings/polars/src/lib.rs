//! Reptile in Polars: an expression plugin.
//!
//! - [`robots`] decides arrays of URLs, with the arguments that the Python function `reptile_polars.robots` passes.
//! - [`series`] imports columns from Polars and exports them, as Arrow arrays in the plugin interface's structs.
//!
//! Polars finds this file's functions by their names: `_polars_plugin_robots` decides a column, and
//! `_polars_plugin_field_robots` returns its type, so that a lazy query knows it. The interface is version 0.1 of
//! `polars-ffi`, the same that `pyo3-polars` implements. This crate implements it with `arrow`, without Polars' crates,
//! which take many minutes to build.

mod robots;
mod series;

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use arrow_array::ffi::FFI_ArrowSchema;
use pyo3::pymodule;
use reptile_columns::Error;

use series::SeriesExport;

#[cfg(panic = "abort")]
compile_error!("a panic must unwind, so that it becomes an error: build with panic = \"unwind\"");

/// The interface's version: major, then minor.
const VERSION: (u32, u32) = (0, 1);

thread_local! {
    /// The message of the last error on this thread.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// The module that makes the file a Python package's extension module. Polars itself opens the file as a plugin.
#[pymodule]
mod _plugin {
    /// The names of built-in vocabularies.
    #[pymodule_export]
    const VOCABULARIES: [&str; 4] = reptile::usage::Vocabulary::NAMES;
}

/// Returns the version of the plugin interface.
#[unsafe(no_mangle)]
pub extern "C" fn _polars_plugin_get_version() -> u32 {
    (VERSION.0 << 16) + VERSION.1
}

/// Returns the message of the last error on this thread, which is valid until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn _polars_plugin_get_last_error_message() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}

/// Writes the type of the result. On an error, `result` stays empty.
///
/// # Safety
/// Polars passes `len` fields, an empty field for the result, and `kwargs_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _polars_plugin_field_robots(
    fields: *const FFI_ArrowSchema,
    len: usize,
    result: *mut FFI_ArrowSchema,
    kwargs: *const u8,
    kwargs_len: usize,
) {
    let field = guarded(|| {
        // SAFETY: the caller passes this many bytes.
        let kwargs = unsafe { bytes(kwargs, kwargs_len) };
        let fields = match len {
            0 => &[],
            // SAFETY: the caller passes this many fields.
            _ => unsafe { slice::from_raw_parts(fields, len) },
        };
        robots::field(fields, kwargs)
    });
    if let Some(field) = field {
        // SAFETY: the caller passes a valid place.
        unsafe { result.write(field) };
    }
}

/// Decides a column of URLs. On an error, `result` stays empty.
///
/// # Safety
/// Polars passes `len` columns, which this function takes over, `kwargs_len` bytes, and an empty column for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _polars_plugin_robots(
    columns: *mut SeriesExport,
    len: usize,
    kwargs: *const u8,
    kwargs_len: usize,
    result: *mut SeriesExport,
    _context: *const c_void,
) {
    let column = guarded(|| {
        // SAFETY: the caller passes this many columns, and their ownership.
        let columns = unsafe { series::import(columns, len) };
        // SAFETY: the caller passes this many bytes.
        let kwargs = unsafe { bytes(kwargs, kwargs_len) };
        series::export(robots::decide(&columns?, kwargs)?)
    });
    if let Some(column) = column {
        // SAFETY: the caller passes a valid place.
        unsafe { result.write(column) };
    }
}

/// Returns the arguments' bytes.
///
/// # Safety
/// The pointer refers to this many bytes, unless their number is 0.
unsafe fn bytes<'b>(start: *const u8, len: usize) -> &'b [u8] {
    match len {
        0 => &[],
        // SAFETY: the caller guarantees it.
        _ => unsafe { slice::from_raw_parts(start, len) },
    }
}

/// Runs work. An error or a panic is stored as this thread's last error.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    let result = result.unwrap_or_else(|panic| Err(Error::of_panic(panic.as_ref()).to_string()));
    result
        .map_err(|message| {
            let message = CString::new(message.replace('\0', "%00")).unwrap_or_default();
            LAST_ERROR.with(|last| *last.borrow_mut() = message);
        })
        .ok()
}
