//! Library and format versions.

use std::ffi::c_char;

/// Returns the library version, such as `0.1.0`, as a static string. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn reptile_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the set format version that the library reads. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn reptile_format_version() -> u32 {
    reptile::FORMAT_VERSION
}
