//! The C boundary: checks arguments, tracks handles, turns errors into codes with a message, and catches panics.

use std::any::TypeId;
use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use reptile_columns::text_of;

/// Result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileCode {
    /// Success.
    Ok = 0,
    /// A null pointer, an impossible length, a buffer of the wrong length, a string that is not UTF-8, or an invalid
    /// handle.
    Argument = 1,
    /// A file cannot be read or written.
    Io = 2,
    /// The bytes are not a set in this format version, or are damaged.
    Format = 3,
    /// A crawler name cannot be resolved or is probably misspelled. The message suggests a correction.
    Crawler = 4,
    /// A limit is exceeded. The message says which.
    Limit = 5,
    /// An unknown column, or an empty column list.
    Column = 6,
    /// An Arrow array or stream is not of strings, lacks a URL column, is inconsistent, or is already released.
    Arrow = 7,
    /// Any other error. The message describes it.
    Other = 8,
    /// A panic in the library, which was caught.
    Panic = 9,
    /// A capture cannot be compiled: its URL is not a robots.txt URL, or it has no body, although its outcome requires
    /// one.
    Capture = 10,
    /// Sets cannot be merged: they have different settings, or different files for one origin without times to choose
    /// between them.
    Merge = 11,
    /// The file exists already.
    Exists = 12,
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: ReptileCode,
    text: String,
}

impl Failure {
    pub(crate) fn new(code: ReptileCode, text: impl Into<String>) -> Failure {
        Failure { code, text: text.into() }
    }

    pub(crate) fn argument(text: impl Into<String>) -> Failure {
        Failure::new(ReptileCode::Argument, text)
    }

    /// Converts an error from the library.
    pub(crate) fn of_library(error: &reptile::Error) -> Failure {
        let code = match error.kind() {
            reptile::ErrorKind::Io => ReptileCode::Io,
            reptile::ErrorKind::Format => ReptileCode::Format,
            reptile::ErrorKind::Limit | reptile::ErrorKind::Steps => ReptileCode::Limit,
            reptile::ErrorKind::BufferLength | reptile::ErrorKind::NotRobots => ReptileCode::Argument,
            reptile::ErrorKind::RobotsUrl | reptile::ErrorKind::NoBody => ReptileCode::Capture,
            reptile::ErrorKind::Merge => ReptileCode::Merge,
            _ => ReptileCode::Other,
        };
        Failure::new(code, text_of(error))
    }

    /// Converts an error about a file that is written.
    pub(crate) fn of_io(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::new(ReptileCode::Exists, "exists already; `force` replaces it"),
            _ => Failure::new(ReptileCode::Io, text_of(error)),
        }
    }

    /// Prefixes the message with its subject: `web.reptile: not a valid set`.
    pub(crate) fn before(self, what: &str) -> Failure {
        Failure { text: format!("{what}: {}", self.text), ..self }
    }
}

impl From<reptile::Error> for Failure {
    fn from(error: reptile::Error) -> Failure {
        Failure::of_library(&error)
    }
}

impl From<reptile::CrawlerError> for Failure {
    fn from(error: reptile::CrawlerError) -> Failure {
        reptile_columns::Error::from(error).into()
    }
}

impl From<reptile_columns::Error> for Failure {
    fn from(error: reptile_columns::Error) -> Failure {
        let code = match error.kind() {
            reptile_columns::ErrorKind::Crawler => ReptileCode::Crawler,
            reptile_columns::ErrorKind::Column => ReptileCode::Column,
            reptile_columns::ErrorKind::Array => ReptileCode::Arrow,
            reptile_columns::ErrorKind::Set => ReptileCode::Format,
            reptile_columns::ErrorKind::Panic => ReptileCode::Panic,
            _ => ReptileCode::Other,
        };
        Failure::new(code, error.to_string())
    }
}

/// Runs the body of a call, and turns an error or a panic into a code and a message.
///
/// # Safety
/// `message` must be null or writable.
pub(crate) unsafe fn call(message: *mut *mut c_char, work: impl FnOnce() -> Result<(), Failure>) -> ReptileCode {
    if !message.is_null() {
        // SAFETY: it is not null, so the caller guarantees that it is writable.
        unsafe { message.write(std::ptr::null_mut()) };
    }
    // Most handles are immutable and results are written last, so a panic leaves nothing half-changed. After a panic, a
    // compiler's lock rejects further calls.
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return ReptileCode::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => reptile_columns::Error::of_panic(&*panic).into(),
    };
    if !message.is_null() {
        let text = CString::new(failure.text.replace('\0', "%00")).unwrap_or_default();
        // SAFETY: as above.
        unsafe { message.write(text.into_raw()) };
    }
    failure.code
}

/// Frees a string that a call returned, such as `*message`. Null is ignored. Thread-safe.
///
/// # Safety
/// `text` must be null, or a string that this library returned for the caller to free and that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller guarantees that the string comes from this library, which uses `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Live handles with their types, used to reject freed and foreign handles.
static IN_USE: Mutex<Option<HashSet<(usize, TypeId)>>> = Mutex::new(None);

fn in_use<R>(question: impl FnOnce(&mut HashSet<(usize, TypeId)>) -> R) -> R {
    let mut handles = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    let answer = question(handles.get_or_insert_default());
    // Leak checkers then find nothing in a program that frees all its handles.
    if handles.as_ref().is_some_and(HashSet::is_empty) {
        *handles = None;
    }
    answer
}

/// Runs the body of a call that makes a value. Moves the value to the heap and passes its handle to the caller, or null
/// if there is no value or the call fails.
///
/// # Safety
/// `place` and `message` must be null or writable.
pub(crate) unsafe fn make<T: 'static, V: Into<Option<T>>>(
    place: *mut *mut T,
    what: &str,
    message: *mut *mut c_char,
    work: impl FnOnce() -> Result<V, Failure>,
) -> ReptileCode {
    let work = || {
        if place.is_null() {
            return Err(Failure::argument(format!("the variable for {what} is a null pointer")));
        }
        // SAFETY: it is not null, so the caller guarantees that it is writable.
        unsafe { place.write(std::ptr::null_mut()) };
        let Some(value) = work()?.into() else { return Ok(()) };
        let handle = Box::into_raw(Box::new(value));
        in_use(|handles| handles.insert((handle.addr(), TypeId::of::<T>())));
        // SAFETY: as above.
        unsafe { place.write(handle) };
        Ok(())
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Writes a value to the caller's variable, without dropping the old one.
///
/// # Safety
/// `place` must be null or writable.
pub(crate) unsafe fn put<T>(place: *mut T, value: T, what: &str) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::argument(format!("{what} is a null pointer")));
    }
    // SAFETY: it is not null, so the caller guarantees that it is writable.
    unsafe { place.write(value) };
    Ok(())
}

/// Frees a handle and sets the caller's variable to null. A null variable or a null handle is ignored.
///
/// # Safety
/// `variable` must be null or readable and writable. Nothing else may be using the handle.
pub(crate) unsafe fn free<T: 'static>(variable: *mut *mut T, what: &str) -> ReptileCode {
    let work = || {
        if variable.is_null() {
            return Ok(());
        }
        // SAFETY: it is not null, so the caller guarantees that it is readable and writable.
        let handle = unsafe { variable.replace(std::ptr::null_mut()) };
        if handle.is_null() {
            return Ok(());
        }
        if !in_use(|handles| handles.remove(&(handle.addr(), TypeId::of::<T>()))) {
            return Err(not_in_use(what));
        }
        // SAFETY: the handle was live with this type, so `make` created it from a box of this type and nothing has
        // freed it. It is no longer live, so nothing else will.
        drop(unsafe { Box::from_raw(handle) });
        Ok(())
    };
    // SAFETY: `message` may be null.
    unsafe { call(std::ptr::null_mut(), work) }
}

/// Returns the value of a live handle.
///
/// # Safety
/// The handle must not be freed while the value is used.
pub(crate) unsafe fn value<'h, T: 'static>(handle: *const T, what: &str) -> Result<&'h T, Failure> {
    if !handle.is_null() && !in_use(|handles| handles.contains(&(handle.addr(), TypeId::of::<T>()))) {
        return Err(not_in_use(what));
    }
    // SAFETY: if it is not null, `make` created the handle from a box of this type, and it has not been freed. The
    // caller guarantees the rest.
    unsafe { value_unchecked(handle, what) }
}

/// Returns the value of a handle without checking that it is live, which would take 20 ns.
///
/// # Safety
/// The handle must be null or live and of this type. It must not be freed while the value is used.
pub(crate) unsafe fn value_unchecked<'h, T: 'static>(handle: *const T, what: &str) -> Result<&'h T, Failure> {
    // SAFETY: the caller guarantees that a handle that is not null is a box of this type.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument(format!("{what} is a null pointer")))
}

fn not_in_use(what: &str) -> Failure {
    Failure::argument(format!("{what}: the handle is not in use (freed, of another type, or never created)"))
}

/// Returns an array of the caller's as a slice. A null pointer is accepted if the length is 0.
///
/// # Safety
/// `start` must be null or point to `len` values, which must not change while the slice is used.
pub(crate) unsafe fn values<'c, T>(start: *const T, len: usize, what: &str) -> Result<&'c [T], Failure> {
    check_len::<T>(len, what)?;
    if len == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(Failure::argument(format!("{what}: a null pointer with a length of {len}")));
    }
    if !start.is_aligned() {
        return Err(Failure::argument(format!("{what}: the pointer is not aligned")));
    }
    // SAFETY: the pointer is aligned and not null, and the length fits into memory. The caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(start, len) })
}

/// Sets the caller's buffer to 0 and returns it as a slice.
///
/// # Safety
/// `start` must be null or point to `len` readable and writable bytes, which nothing else may access while the slice is
/// used.
pub(crate) unsafe fn zeroed<'c>(start: *mut u8, len: usize, what: &str) -> Result<&'c mut [u8], Failure> {
    check_len::<u8>(len, what)?;
    if len == 0 {
        return Ok(&mut []);
    }
    if start.is_null() {
        return Err(Failure::argument(format!("{what}: a null pointer with a length of {len}")));
    }
    // SAFETY: the caller guarantees that `len` bytes are writable.
    unsafe { start.write_bytes(0, len) };
    // SAFETY: the bytes have just been written, and the length fits into memory. The caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(start, len) })
}

/// Maximum size of a structure from a caller, in bytes. A larger one is a mistake: the size was not set.
const MAX_STRUCT_BYTES: usize = 4096;

/// A structure that callers pass. Later versions append fields.
///
/// # Safety
/// All fields must be integers or pointers, so that any bytes are valid. The first field must be a `usize`:
/// the structure's size, which callers set.
pub(crate) unsafe trait Versioned: Copy {
    /// The size in the first version, in bytes.
    const FIRST_BYTES: usize;
}

/// Copies a structure from a caller that may have been compiled for another version. Fields that the caller's version
/// lacks become zero. Fields that this version lacks must be zero.
///
/// # Safety
/// `from` must be null or point to as many bytes as its first field says, which must not change during the call.
pub(crate) unsafe fn versioned<T: Versioned>(from: *const T, what: &str) -> Result<T, Failure> {
    if from.is_null() {
        return Err(Failure::argument(format!("{what}: a null pointer")));
    }
    if !from.is_aligned() {
        return Err(Failure::argument(format!("{what}: the pointer is not aligned")));
    }
    // SAFETY: the first field is a size, and the caller guarantees that it can be read.
    let size = unsafe { from.cast::<usize>().read() };
    let (least, known) = (T::FIRST_BYTES, size_of::<T>());
    if size < least || size > MAX_STRUCT_BYTES {
        let expected = format!("expected {known} (at least {least}, at most {MAX_STRUCT_BYTES})");
        return Err(Failure::argument(format!("{what}: the field `size` is {size}, {expected}")));
    }
    // SAFETY: the caller guarantees that `size` bytes can be read.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) };
    if bytes.get(known..).is_some_and(|rest| rest.iter().any(|&byte| byte != 0)) {
        let message = format!("{what}: fields after byte {known} are set, which a later version of the library reads");
        return Err(Failure::argument(message));
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: both have at least that many bytes, and the copy is new, so they do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size.min(known)) };
    // SAFETY: any bytes are a value of this type, and all were set to zero or copied.
    Ok(unsafe { copy.assume_init() })
}

fn check_len<T>(len: usize, what: &str) -> Result<(), Failure> {
    let fits = len.checked_mul(size_of::<T>().max(1)).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if fits { Ok(()) } else { Err(Failure::argument(format!("{what}: length {len} is too large"))) }
}

/// Returns a NUL-terminated string of the caller's, which must be UTF-8.
///
/// # Safety
/// `text` must be null or NUL-terminated, and must not change while the result is used.
pub(crate) unsafe fn text<'c>(text: *const c_char, what: &str) -> Result<&'c str, Failure> {
    // SAFETY: this function has the same requirements.
    let bytes = unsafe { path_bytes(text, what) }?;
    std::str::from_utf8(bytes).map_err(|_| Failure::argument(format!("{what} is not UTF-8")))
}

/// Copies bytes and appends a NUL.
pub(crate) fn with_nul(bytes: &[u8]) -> Vec<u8> {
    [bytes, &[0]].concat()
}

/// Returns the caller's NUL-terminated string, which must be UTF-8, or `None` for null.
///
/// # Safety
/// `text` must be null or NUL-terminated, and must not change while the result is used.
pub(crate) unsafe fn optional_text<'c>(text: *const c_char, what: &str) -> Result<Option<&'c str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, so the caller guarantees that it is NUL-terminated.
    unsafe { self::text(text, what) }.map(Some)
}

/// Returns a NUL-terminated string of the caller's as bytes.
///
/// # Safety
/// `text` must be null or NUL-terminated, and must not change while the result is used.
pub(crate) unsafe fn path_bytes<'c>(text: *const c_char, what: &str) -> Result<&'c [u8], Failure> {
    if text.is_null() {
        return Err(Failure::argument(format!("{what} is a null pointer")));
    }
    // SAFETY: it is not null, so the caller guarantees that it is NUL-terminated.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_a_code_and_a_message() {
        let mut message = std::ptr::null_mut();
        // SAFETY: `message` is writable.
        let code = unsafe { call(&raw mut message, || panic!("as if by mistake")) };
        assert_eq!(code, ReptileCode::Panic);
        // SAFETY: a failed call sets the message to a NUL-terminated string.
        let text = unsafe { CStr::from_ptr(message) }.to_str().unwrap().to_owned();
        assert!(text.contains("as if by mistake"), "{text}");
        // SAFETY: `call` allocated the string.
        unsafe { reptile_text_free(message) };
        // SAFETY: null is allowed.
        assert_eq!(unsafe { call(std::ptr::null_mut(), || panic!("again")) }, ReptileCode::Panic);
    }

    #[test]
    fn lengths_are_limited_to_half_of_the_address_space() {
        let most = isize::MAX as usize;
        assert!(check_len::<u8>(most, "x").is_ok());
        assert!(check_len::<u8>(most + 1, "x").is_err());
        assert!(check_len::<u64>(most / 8, "x").is_ok());
        assert!(check_len::<u64>(most / 8 + 1, "x").is_err());
        assert!(check_len::<u64>(usize::MAX, "x").is_err());
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Options {
        size: usize,
        first: u64,
        /// Appended in the second version.
        second: u64,
    }

    // SAFETY: the fields are integers, and the first is the size.
    unsafe impl Versioned for Options {
        const FIRST_BYTES: usize = 16;
    }

    #[test]
    fn structures_of_other_versions_are_read() {
        let known = size_of::<Options>();
        for (size, last, expected) in [
            (0, 0, None),
            (15, 0, None),
            (16, 0, Some(0)),
            (17, 0, Some(0x09)),
            (known - 1, 0, Some(0x0009_0909_0909_0909)),
            (known, 0, Some(0x0909_0909_0909_0909)),
            (known + 1, 0, Some(0x0909_0909_0909_0909)),
            (known + 1, 1, None),
            (MAX_STRUCT_BYTES - 1, 0, Some(0x0909_0909_0909_0909)),
            (MAX_STRUCT_BYTES, 0, Some(0x0909_0909_0909_0909)),
            (MAX_STRUCT_BYTES, 1, None),
            (MAX_STRUCT_BYTES + 1, 0, None),
            (usize::MAX, 0, None),
        ] {
            let mut memory = [0_u64; MAX_STRUCT_BYTES / 8 + 1];
            memory[..3].copy_from_slice(&[size as u64, 7, 0x0909_0909_0909_0909]);
            if last == 1 {
                // The caller's last byte.
                memory[(size - 1) / 8] |= 1 << ((size - 1) % 8 * 8);
            }
            // SAFETY: the memory has as many bytes as the size says, or the size is checked first.
            let found = unsafe { versioned(memory.as_ptr().cast::<Options>(), "the options") };
            let expected = expected.map(|second| Options { size, first: 7, second });
            assert_eq!(found.ok(), expected, "{size}, {last}");
        }
        // SAFETY: null is checked first.
        assert!(unsafe { versioned(std::ptr::null::<Options>(), "the options") }.is_err());
        let memory = [16_usize; 4];
        // SAFETY: the alignment is checked first.
        let found = unsafe { versioned(memory.as_ptr().cast::<u8>().wrapping_add(1).cast::<Options>(), "the options") };
        assert!(found.is_err_and(|failure| failure.text.contains("not aligned")));
    }
}
