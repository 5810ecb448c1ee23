//! Reptile in SQL: a loadable extension for DuckDB.
//!
//! - [`functions`] lists the SQL functions about a set's URLs, and decides a chunk of rows.
//! - [`bodies`] has the functions about one robots.txt and about `User-Agent` headers.
//! - [`tables`] has the table functions about a whole set.
//! - [`sets`] opens set files, and keeps them open.
//! - [`input`] reads a function's arguments from DuckDB's vectors, and [`output`] writes its results.
//!
//! Only the calls from and to DuckDB, and mapping a file, are `unsafe`. The extension calls only the functions that
//! DuckDB's C extension API has had since version 1.2.0, so that one file works in all later versions.

mod bodies;
mod functions;
mod input;
mod output;
mod sets;
mod tables;

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr;

use libduckdb_sys::{duckdb_ext_api_v1, duckdb_extension_access, duckdb_extension_info};
use quack_rs::abi::STABLE_API_SLOT_COUNT;
use quack_rs::entry_point::init_extension_v2;

#[cfg(panic = "abort")]
compile_error!("a panic must unwind, so that it becomes an SQL error: build with panic = \"unwind\"");

/// The function that returns DuckDB's API.
type GetApi = unsafe extern "C" fn(duckdb_extension_info, *const c_char) -> *const c_void;

thread_local! {
    /// The running DuckDB's function, while the extension is being loaded on this thread.
    static GET_API: Cell<Option<GetApi>> = const { Cell::new(None) };
}

/// Registers the SQL functions. DuckDB calls this function once per database, on `LOAD`.
///
/// # Safety
/// DuckDB passes valid pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_init_c_api(
    info: duckdb_extension_info,
    access: *const duckdb_extension_access,
) -> bool {
    // SAFETY: DuckDB passes a null pointer or a pointer that is valid during this call.
    let Some(access) = (unsafe { access.as_ref() }) else { return false };
    GET_API.set(access.get_api);
    let access = duckdb_extension_access { get_api: Some(stable_api), ..*access };
    // SAFETY: `info` comes from DuckDB, and `access` has its functions, except one with the same contract.
    unsafe { init_extension_v2(info, &access, quack_rs::DUCKDB_API_VERSION, functions::register) }
}

/// Returns the stable part of DuckDB's API, followed by null pointers.
///
/// The bindings read the whole table of a newer version, but an older DuckDB's table is shorter. This copy prevents
/// them from reading past its end, and from calling unstable functions.
unsafe extern "C" fn stable_api(info: duckdb_extension_info, version: *const c_char) -> *const c_void {
    const { assert!(STABLE_API_SLOT_COUNT * size_of::<*const c_void>() <= size_of::<duckdb_ext_api_v1>()) };
    let Some(get_api) = GET_API.get() else { return ptr::null() };
    // SAFETY: DuckDB's function gets the arguments that it expects.
    let api = unsafe { get_api(info, version) };
    if api.is_null() {
        return api;
    }
    // SAFETY: the table has only function pointers, and null bytes are `None`.
    let mut stable: Box<duckdb_ext_api_v1> = Box::new(unsafe { std::mem::zeroed() });
    let slots = ptr::from_mut(stable.as_mut()).cast::<*const c_void>();
    // SAFETY: since version 1.2.0, DuckDB's table begins with these pointers; the copy is at least as long.
    unsafe { ptr::copy_nonoverlapping(api.cast::<*const c_void>(), slots, STABLE_API_SLOT_COUNT) };
    // The bindings copy the pointers after this function returns. The table is leaked: 5 KB per `LOAD`.
    Box::into_raw(stable).cast_const().cast()
}
