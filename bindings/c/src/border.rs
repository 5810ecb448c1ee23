//! The border to C: what callers pass is checked, what they get is theirs, errors are codes with a text, panics end here.

use std::any::TypeId;
use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use reptile_arrow::text_of;

/// What a call resulted in.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileCode {
    /// The call did what it is for.
    Ok = 0,
    /// A null pointer, a length that cannot be, a buffer of another length, a text that is not UTF-8, or a handle that is
    /// not in use.
    Argument = 1,
    /// A file cannot be read.
    Io = 2,
    /// The bytes are not a set of this format version, or they are damaged.
    Format = 3,
    /// A crawler's name cannot be resolved or is most likely misspelt; the text says what to write.
    Crawler = 4,
    /// Something is over a limit, which the text names.
    Limit = 5,
    /// An unknown column, or none.
    Column = 6,
    /// An Arrow array or stream is not one of texts, has no column of URLs, contradicts itself, or was released already.
    Arrow = 7,
    /// Another error of the library; the text says which.
    Other = 8,
    /// A mistake in the library, which was caught.
    Panic = 9,
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

    /// The failure with what it is about: `web.reptile: not a valid set`.
    pub(crate) fn before(self, what: &str) -> Failure {
        Failure { text: format!("{what}: {}", self.text), ..self }
    }
}

impl From<reptile::Error> for Failure {
    fn from(error: reptile::Error) -> Failure {
        let code = match error.kind() {
            reptile::ErrorKind::Io => ReptileCode::Io,
            reptile::ErrorKind::Format => ReptileCode::Format,
            reptile::ErrorKind::Limit => ReptileCode::Limit,
            reptile::ErrorKind::BufferLength => ReptileCode::Argument,
            _ => ReptileCode::Other,
        };
        Failure::new(code, text_of(&error))
    }
}

impl From<reptile_arrow::Error> for Failure {
    fn from(error: reptile_arrow::Error) -> Failure {
        let code = match error.kind() {
            reptile_arrow::ErrorKind::Crawler => ReptileCode::Crawler,
            reptile_arrow::ErrorKind::Column => ReptileCode::Column,
            reptile_arrow::ErrorKind::Array => ReptileCode::Arrow,
            reptile_arrow::ErrorKind::Set => ReptileCode::Format,
            reptile_arrow::ErrorKind::Panic => ReptileCode::Panic,
            _ => ReptileCode::Other,
        };
        Failure::new(code, error.to_string())
    }
}

/// Does the work of a call: turns errors and panics into a code and a text.
///
/// # Safety
/// `message` is null, or may be written to.
pub(crate) unsafe fn call(message: *mut *mut c_char, work: impl FnOnce() -> Result<(), Failure>) -> ReptileCode {
    if !message.is_null() {
        // SAFETY: it is not null, so that it may be written to, as the caller of this function says.
        unsafe { message.write(std::ptr::null_mut()) };
    }
    // What the work was about is not used after a panic: handles do not change, and what is written is written last.
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return ReptileCode::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => reptile_arrow::Error::of_panic(&*panic).into(),
    };
    if !message.is_null() {
        let text = CString::new(failure.text.replace('\0', "%00")).unwrap_or_default();
        // SAFETY: as above.
        unsafe { message.write(text.into_raw()) };
    }
    failure.code
}

/// Frees a text that a call gave, such as `*message`. Null is allowed. Any thread may call it.
///
/// # Safety
/// The text is null, or comes from a function of this library that says so, and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller promises that the text is from this library, which makes all of them by `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// The handles that are in use, with the type that each is of. It tells handles that were freed from those that may be read.
static IN_USE: Mutex<Option<HashSet<(usize, TypeId)>>> = Mutex::new(None);

fn in_use<R>(question: impl FnOnce(&mut HashSet<(usize, TypeId)>) -> R) -> R {
    question(IN_USE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Where a call puts a handle: sets it to null, so that a call that fails leaves none.
///
/// # Safety
/// The place is null, or may be written to.
pub(crate) unsafe fn clear<T>(place: *mut *mut T, what: &str) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::argument(format!("the place for {what} is a null pointer")));
    }
    // SAFETY: it is not null, so that it may be written to, as the caller of this function says.
    unsafe { place.write(std::ptr::null_mut()) };
    Ok(())
}

/// Gives a value to the caller, as a handle.
///
/// # Safety
/// The place may be written to.
pub(crate) unsafe fn give<T: 'static>(place: *mut *mut T, value: T) {
    let handle = Box::into_raw(Box::new(value));
    in_use(|handles| handles.insert((handle.addr(), TypeId::of::<T>())));
    // SAFETY: the caller of this function says that the place may be written to.
    unsafe { place.write(handle) };
}

/// Frees a handle and sets the caller's variable to null. A null variable or a null handle is fine.
///
/// # Safety
/// The variable is null, or may be read and written to. Nobody else uses the handle.
pub(crate) unsafe fn free<T: 'static>(variable: *mut *mut T, what: &str) -> Result<(), Failure> {
    if variable.is_null() {
        return Ok(());
    }
    // SAFETY: it is not null, so that it may be read and written to, as the caller of this function says.
    let handle = unsafe { variable.replace(std::ptr::null_mut()) };
    if handle.is_null() {
        return Ok(());
    }
    if !in_use(|handles| handles.remove(&(handle.addr(), TypeId::of::<T>()))) {
        return Err(not_in_use(what));
    }
    // SAFETY: the handle was in use with this type, so that `give` made it from a box of this type and nobody has freed it;
    // from now on nobody else will, because it is not in use any more.
    drop(unsafe { Box::from_raw(handle) });
    Ok(())
}

/// The value of a handle that is in use.
///
/// # Safety
/// Nobody frees the handle as long as the value is used.
pub(crate) unsafe fn value<'h, T: 'static>(handle: *const T, what: &str) -> Result<&'h T, Failure> {
    if !handle.is_null() && !in_use(|handles| handles.contains(&(handle.addr(), TypeId::of::<T>()))) {
        return Err(not_in_use(what));
    }
    // SAFETY: if it is not null, `give` made the handle from a box of this type, and it was not freed. The rest is what the
    // caller of this function says.
    unsafe { value_unchecked(handle, what) }
}

/// The value of a handle. Whether it was freed is not looked up, which takes 20 ns.
///
/// # Safety
/// The handle is null, or in use and of this type. Nobody frees it as long as the value is used.
pub(crate) unsafe fn value_unchecked<'h, T: 'static>(handle: *const T, what: &str) -> Result<&'h T, Failure> {
    // SAFETY: a handle that is not null is a box of this type, as the caller of this function says.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument(format!("{what} is a null pointer")))
}

fn not_in_use(what: &str) -> Failure {
    Failure::argument(format!("{what} is not in use: it was freed, is something else, or was never made"))
}

/// Some values of the caller. Null is fine if there are none.
///
/// # Safety
/// Unless it is null, so many values can be read there, which do not change as long as they are used.
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
    // SAFETY: the pointer is aligned and not null, the length fits into memory, and the caller of this function says the rest.
    Ok(unsafe { std::slice::from_raw_parts(start, len) })
}

/// Bytes of the caller, which are set to 0.
///
/// # Safety
/// Unless it is null, so many bytes can be read and written there, and nobody else does so as long as they are used.
pub(crate) unsafe fn zeroed<'c>(start: *mut u8, len: usize, what: &str) -> Result<&'c mut [u8], Failure> {
    check_len::<u8>(len, what)?;
    if len == 0 {
        return Ok(&mut []);
    }
    if start.is_null() {
        return Err(Failure::argument(format!("{what}: a null pointer with a length of {len}")));
    }
    // SAFETY: so many bytes can be written there, as the caller of this function says.
    unsafe { start.write_bytes(0, len) };
    // SAFETY: the bytes have just been written, the length fits into memory, and the caller of this function says the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(start, len) })
}

fn check_len<T>(len: usize, what: &str) -> Result<(), Failure> {
    let fits = len.checked_mul(size_of::<T>().max(1)).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if fits { Ok(()) } else { Err(Failure::argument(format!("{what}: a length of {len} cannot be"))) }
}

/// A text of the caller that ends with NUL, and has to be UTF-8.
///
/// # Safety
/// It is null, or ends with NUL, and does not change as long as it is used.
pub(crate) unsafe fn text<'c>(text: *const c_char, what: &str) -> Result<&'c str, Failure> {
    // SAFETY: the same is required of the caller of this function.
    let bytes = unsafe { path_bytes(text, what) }?;
    std::str::from_utf8(bytes).map_err(|_| Failure::argument(format!("{what} is not UTF-8")))
}

/// A text of the caller that ends with NUL.
///
/// # Safety
/// It is null, or ends with NUL, and does not change as long as it is used.
pub(crate) unsafe fn path_bytes<'c>(text: *const c_char, what: &str) -> Result<&'c [u8], Failure> {
    if text.is_null() {
        return Err(Failure::argument(format!("{what} is a null pointer")));
    }
    // SAFETY: it is not null, so that it ends with NUL, as the caller of this function says.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_code_with_a_text() {
        let mut message = std::ptr::null_mut();
        // SAFETY: `message` may be written to.
        let code = unsafe { call(&raw mut message, || panic!("as if by mistake")) };
        assert_eq!(code, ReptileCode::Panic);
        // SAFETY: a failed call sets the message to a text with NUL at the end.
        let text = unsafe { CStr::from_ptr(message) }.to_str().unwrap().to_owned();
        assert!(text.contains("as if by mistake"), "{text}");
        // SAFETY: the text is from `call`.
        unsafe { reptile_text_free(message) };
        // SAFETY: null is allowed.
        assert_eq!(unsafe { call(std::ptr::null_mut(), || panic!("again")) }, ReptileCode::Panic);
    }

    #[test]
    fn lengths_at_the_end_of_the_address_space() {
        let most = isize::MAX as usize;
        assert!(check_len::<u8>(most, "x").is_ok());
        assert!(check_len::<u8>(most + 1, "x").is_err());
        assert!(check_len::<u64>(most / 8, "x").is_ok());
        assert!(check_len::<u64>(most / 8 + 1, "x").is_err());
        assert!(check_len::<u64>(usize::MAX, "x").is_err());
    }
}
