//! Versions.

use std::ffi::c_char;

/// The version of the library, such as `0.1.0`. The text lives as long as the program. Any thread may call it.
#[unsafe(no_mangle)]
pub extern "C" fn reptile_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the set format that the library reads. Any thread may call it.
#[unsafe(no_mangle)]
pub extern "C" fn reptile_format_version() -> u32 {
    reptile::FORMAT_VERSION
}
