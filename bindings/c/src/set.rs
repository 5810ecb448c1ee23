//! Opening, verifying and freeing a set.

use std::ffi::c_char;
use std::path::Path;

use reptile::{Dialect, MappedFile, Robots, Set};
use reptile_arrow::{Source, in_pool};

use crate::border::{self, Failure, ReptileCode, call};

/// A compiled set of robots.txt files, or one robots.txt. Any number of threads may use it at the same time.
pub struct ReptileSet {
    pub(crate) source: Source,
}

/// Reads a set file into memory. Changing or removing the file afterwards changes nothing. Any thread may call it.
///
/// # Safety
/// `path` is null or ends with NUL (bytes on Unix, UTF-8 elsewhere); `set` and `message` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_read(
    path: *const c_char,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `path` is null or ends with NUL.
        let bytes = unsafe { border::path_bytes(path, "the path") };
        let read = || {
            let path = path_of(bytes?)?;
            Set::read(path).map_err(|error| at(path, error.into()))
        };
        // SAFETY: `set` is null or may be written to.
        unsafe { make(set, || Ok(Source::Set(read()?))) }
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Maps a set file into memory: in microseconds, whatever its size, and processes share its pages. Any thread may call it.
///
/// The one danger: as long as the set or agents of it are in use, nobody may write into the file or shorten it, in this process
/// or another. Bytes that change may give any verdict, and reading bytes that were cut off ends the process (SIGBUS). Replacing
/// the file by renaming another one over it is fine, and is what the command does. If you are not sure, use
/// `reptile_set_read`.
///
/// # Safety
/// As `reptile_set_read`, and what is said above about the file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_map(
    path: *const c_char,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `path` is null or ends with NUL.
        let bytes = unsafe { border::path_bytes(path, "the path") };
        let map = || {
            let path = path_of(bytes?)?;
            // SAFETY: the caller promises that nobody changes the file as long as it is mapped.
            let file =
                unsafe { MappedFile::open(path) }.map_err(|error| at(path, reptile::Error::from(error).into()))?;
            Set::map(file).map_err(|error| at(path, error.into()))
        };
        // SAFETY: `set` is null or may be written to.
        unsafe { make(set, || Ok(Source::Set(map()?))) }
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Opens a set that is in memory. The bytes are copied. Any thread may call it.
///
/// # Safety
/// `bytes` is null, or `len` bytes can be read there; `set` and `message` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_from_bytes(
    bytes: *const u8,
    len: usize,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: unless it is null, `len` bytes can be read at `bytes`.
        let bytes = unsafe { border::values(bytes, len, "the bytes of the set") };
        // SAFETY: `set` is null or may be written to.
        unsafe { make(set, || Ok(Source::Set(Set::from_bytes(bytes?)?))) }
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Reads one robots.txt, for URLs of any origin: the caller knows which it is from. `dialect` is a name such as `google`,
/// `google-lib` or `rfc9309`; null is `google`. Any thread may call it.
///
/// # Safety
/// `body` is null, or `len` bytes can be read there; `dialect` is null or ends with NUL; `set` and `message` are null or may be
/// written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_parse(
    body: *const u8,
    len: usize,
    dialect: *const c_char,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: unless it is null, `len` bytes can be read at `body`.
        let body = unsafe { border::values(body, len, "the robots.txt") };
        // SAFETY: unless it is null, `dialect` ends with NUL.
        let name = (!dialect.is_null()).then(|| unsafe { border::text(dialect, "the dialect") }).transpose();
        let parse = || {
            let dialect = match name? {
                None => Dialect::google(),
                Some(name) => {
                    Dialect::from_name(name).ok_or_else(|| Failure::argument(format!("unknown dialect {name:?}")))?
                }
            };
            Ok(Source::Robots(Robots::parse(body?, dialect)?))
        };
        // SAFETY: `set` is null or may be written to.
        unsafe { make(set, parse) }
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Reads every byte of a set and proves that it is exactly what writing its content gives; with `deep`, also that its automata
/// are what its rules compile to, which takes about as long as compiling did. A set that was verified gives no error
/// afterwards. Uses all threads. Any thread may call it.
///
/// # Safety
/// `set` is null or a set that nobody frees meanwhile; `message` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_verify(
    set: *const ReptileSet,
    deep: bool,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: nobody frees the set meanwhile.
        let set = unsafe { border::value(set, "the set") }?;
        match &set.source {
            Source::Set(set) => Ok(in_pool(|| if deep { set.verify_deep() } else { set.verify() })?),
            // It was compiled in this process.
            Source::Robots(_) => Ok(()),
        }
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// The number of origins of a set; 0 for one robots.txt, and for a pointer that is not a set in use. Any thread may call it.
///
/// # Safety
/// `set` is null or a set that nobody frees meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_len(set: *const ReptileSet) -> u64 {
    let mut len = 0;
    let work = || {
        // SAFETY: nobody frees the set meanwhile.
        if let Source::Set(set) = &unsafe { border::value(set, "the set") }?.source {
            len = set.len();
        }
        Ok(())
    };
    // SAFETY: null may be the place for the message.
    unsafe { call(std::ptr::null_mut(), work) };
    len
}

/// Frees a set and sets the variable to null. Null, and a variable that is null, are fine. Agents of the set stay valid. A set
/// that was freed already, through another variable, is `REPTILE_CODE_ARGUMENT`.
///
/// # Safety
/// `set` is null or may be read and written to. No other thread uses the set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_free(set: *mut *mut ReptileSet) -> ReptileCode {
    // SAFETY: `set` is null or may be read and written to, and no other thread uses the set.
    let work = || unsafe { border::free(set, "the set") };
    // SAFETY: null may be the place for the message.
    unsafe { call(std::ptr::null_mut(), work) }
}

/// Makes a source and gives it to the caller.
///
/// # Safety
/// `set` is null or may be written to.
unsafe fn make(set: *mut *mut ReptileSet, make: impl FnOnce() -> Result<Source, Failure>) -> Result<(), Failure> {
    // SAFETY: `set` is null or may be written to.
    unsafe { border::clear(set, "the set") }?;
    let source = make()?;
    // SAFETY: `set` is not null, as `clear` has seen.
    unsafe { border::give(set, ReptileSet { source }) };
    Ok(())
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
fn path_of(bytes: &[u8]) -> Result<&Path, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Result<&Path, Failure> {
    let path = std::str::from_utf8(bytes).map_err(|_| Failure::argument("the path is not UTF-8"))?;
    Ok(Path::new(path))
}

fn at(path: &Path, failure: Failure) -> Failure {
    failure.before(&path.display().to_string())
}
