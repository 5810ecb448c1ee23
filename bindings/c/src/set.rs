//! Opens, verifies and frees sets.

use std::ffi::c_char;
use std::path::Path;

use reptile::{Dialect, MappedFile, Robots, Set};
use reptile_columns::{SetOrRobots, arrow::in_pool};

use crate::border::{self, Failure, ReptileCode, call};

/// A compiled set, or a single robots.txt. Any number of threads may use it at the same time.
pub struct ReptileSet {
    pub(crate) source: SetOrRobots,
}

/// Reads a set file into memory. Later changes to the file have no effect. Thread-safe.
///
/// # Safety
/// `path` must be null or NUL-terminated (bytes on Unix, UTF-8 elsewhere). `set` and `message` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_read(
    path: *const c_char,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `path` is null or NUL-terminated.
        let path = path_of(unsafe { border::path_bytes(path, "the path") }?)?;
        Ok(ReptileSet { source: SetOrRobots::Set(Set::read(path).map_err(|error| at(path, error.into()))?) })
    };
    // SAFETY: `set` and `message` are null or writable.
    unsafe { border::make(set, "the set", message, work) }
}

/// Maps a set file into memory. This takes microseconds for any size, and processes share the pages. Thread-safe.
///
/// While the set or its agents are in use, no process may write to the file or truncate it. Changed bytes may yield any
/// verdict, and reading truncated pages ends the process (SIGBUS). Replacing the file with `rename` is safe, and is
/// what the `reptile` command does. If in doubt, use `reptile_set_read`.
///
/// # Safety
/// As for `reptile_set_read`, and the file must not change as described above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_map(
    path: *const c_char,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `path` is null or NUL-terminated.
        let path = path_of(unsafe { border::path_bytes(path, "the path") }?)?;
        // SAFETY: the caller guarantees that the file does not change while it is mapped.
        let file = unsafe { MappedFile::open(path) }.map_err(|error| at(path, reptile::Error::from(error).into()))?;
        Ok(ReptileSet { source: SetOrRobots::Set(Set::map(file).map_err(|error| at(path, error.into()))?) })
    };
    // SAFETY: `set` and `message` are null or writable.
    unsafe { border::make(set, "the set", message, work) }
}

/// Opens a set from memory. The bytes are copied. Thread-safe.
///
/// # Safety
/// `bytes` must be null or point to `len` bytes. `set` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_from_bytes(
    bytes: *const u8,
    len: usize,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `bytes` is null or points to `len` bytes.
        let bytes = unsafe { border::values(bytes, len, "the set's bytes") }?;
        Ok(ReptileSet { source: SetOrRobots::Set(Set::from_bytes(bytes)?) })
    };
    // SAFETY: `set` and `message` are null or writable.
    unsafe { border::make(set, "the set", message, work) }
}

/// Parses one robots.txt. It applies to every URL, whatever its origin, and to paths, which begin with `/`. Any other
/// text yields `REPTILE_VERDICT_INVALID`. A body that is itself a URL, a path or a file's name is refused with
/// `REPTILE_CODE_ARGUMENT`. `dialect` is a name such as `google`, `google-lib` or `rfc9309`; null means `google`.
/// Thread-safe.
///
/// # Safety
/// `body` must be null or point to `len` bytes. `dialect` must be null or NUL-terminated. `set` and `message` must be
/// null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_parse(
    body: *const u8,
    len: usize,
    dialect: *const c_char,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `body` is null or points to `len` bytes.
        let body = unsafe { border::values(body, len, "the robots.txt") }?;
        // SAFETY: `dialect` is null or NUL-terminated.
        let dialect = dialect_named(unsafe { border::optional_text(dialect, "the dialect") }?)?;
        Ok(ReptileSet { source: SetOrRobots::Robots(Robots::parse(body, dialect)?) })
    };
    // SAFETY: `set` and `message` are null or writable.
    unsafe { border::make(set, "the set", message, work) }
}

/// Reads every byte of a set and proves that it is exactly what writing its content would produce. With `deep`, also
/// proves that the automata are what the rules compile to, which takes about as long as compiling did. A verified set
/// causes no errors later. Uses all threads. Thread-safe.
///
/// # Safety
/// `set` must be null or a set that is not freed during the call. `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_verify(
    set: *const ReptileSet,
    deep: bool,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the set is not freed during the call.
        let set = unsafe { border::value(set, "the set") }?;
        match &set.source {
            SetOrRobots::Set(set) => Ok(in_pool(|| if deep { set.verify_deep() } else { set.verify() })?),
            // It was compiled in this process.
            SetOrRobots::Robots(_) => Ok(()),
        }
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Returns the number of origins in a set, or 0 for a single robots.txt or an invalid handle. Thread-safe.
///
/// # Safety
/// `set` must be null or a set that is not freed during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_len(set: *const ReptileSet) -> u64 {
    let mut len = 0;
    let work = || {
        // SAFETY: the set is not freed during the call.
        if let SetOrRobots::Set(set) = &unsafe { border::value(set, "the set") }?.source {
            len = set.len();
        }
        Ok(())
    };
    // SAFETY: `message` may be null.
    unsafe { call(std::ptr::null_mut(), work) };
    len
}

/// Frees a set and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored. The set's
/// agents stay valid. Returns `REPTILE_CODE_ARGUMENT` if the set was already freed through another variable.
///
/// # Safety
/// `set` must be null or readable and writable. No other thread may be using the set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_free(set: *mut *mut ReptileSet) -> ReptileCode {
    // SAFETY: `set` is null or readable and writable, and no other thread uses the set.
    unsafe { border::free(set, "the set") }
}

/// Returns the dialect with a name, or the default dialect.
pub(crate) fn dialect_named(name: Option<&str>) -> Result<&'static Dialect, Failure> {
    let Some(name) = name else { return Ok(Dialect::google()) };
    Dialect::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = reptile::dialects::ALL.iter().map(|dialect| dialect.as_str()).collect();
        Failure::argument(format!("unknown dialect {name:?}, expected one of {}", known.join(", ")))
    })
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "fails on other platforms")]
pub(crate) fn path_of(bytes: &[u8]) -> Result<&Path, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
pub(crate) fn path_of(bytes: &[u8]) -> Result<&Path, Failure> {
    let path = std::str::from_utf8(bytes).map_err(|_| Failure::argument("the path is not UTF-8"))?;
    Ok(Path::new(path))
}

/// Prefixes the message with a path.
pub(crate) fn at(path: &Path, failure: Failure) -> Failure {
    failure.before(&path.display().to_string())
}
