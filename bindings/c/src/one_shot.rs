//! Decides directly from a robots.txt's bytes.

use std::ffi::c_char;

use reptile::{OneShot, Robots};
use reptile_columns::SetOrRobots;

use crate::border::{self, Failure, ReptileCode, call};
use crate::decide::ReptileVerdict;
use crate::set::dialect_named;

/// A crawler that decides directly from a robots.txt's bytes. Any number of threads may use it at the same time.
pub struct ReptileOneShot {
    one_shot: OneShot,
}

/// Resolves a crawler to decide directly from robots.txt files. `crawler` and `exact` are as for
/// `reptile_agents_resolve`, without crawler groups. `dialect` is a name such as `google` or `rfc9309`; null means
/// `google`. Takes some microseconds. Thread-safe.
///
/// # Safety
/// `crawler` must be NUL-terminated or null, and so must `dialect`. `one_shot` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_one_shot_new(
    crawler: *const c_char,
    dialect: *const c_char,
    exact: bool,
    one_shot: *mut *mut ReptileOneShot,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `crawler` is null or NUL-terminated.
        let crawler = unsafe { border::text(crawler, "the name of the crawler") }?;
        // SAFETY: `dialect` is null or NUL-terminated.
        let dialect = dialect_named(unsafe { border::optional_text(dialect, "the dialect") }?)?;
        let found = SetOrRobots::Robots(Robots::parse("", dialect)?).agents(&[crawler], exact)?;
        let mut found = found.iter();
        let (Some(agent), None) = (found.next(), found.next()) else {
            let message = format!("{crawler:?} is a group of crawlers, expected one crawler");
            return Err(Failure::new(ReptileCode::Crawler, message));
        };
        Ok(ReptileOneShot { one_shot: OneShot::new(agent.crawler().clone(), dialect)? })
    };
    // SAFETY: `one_shot` and `message` are null or writable.
    unsafe { border::make(one_shot, "the one-shot", message, work) }
}

/// Decides one URL, or a path, directly from a robots.txt, and keeps nothing. The verdict and the line are the same as
/// from `reptile_set_parse` and `reptile_explain`, which cost more for a single URL and less for more than about ten.
/// Takes 3 to 5 microseconds for a typical file: one pass over it. Thread-safe.
///
/// `*line` becomes the deciding rule's line number, starting at 1, or 0 if no rule decides. `line` may be null. A text
/// that is neither a URL nor a path yields `REPTILE_VERDICT_INVALID`. A body that is itself a URL, a path or a file's
/// name is refused with `REPTILE_CODE_ARGUMENT`: the arguments are swapped. The caller must know that the file was
/// fetched successfully, and from which origin.
///
/// # Safety
/// `one_shot` must be null or a one-shot that is not freed during the call. `body` and `url` must be null or
/// point to `body_len` and `url_len` bytes. `verdict`, `line` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_one_shot_decide(
    one_shot: *const ReptileOneShot,
    body: *const u8,
    body_len: usize,
    url: *const c_char,
    url_len: usize,
    verdict: *mut u8,
    line: *mut u32,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `verdict` is null or writable.
        unsafe { border::put(verdict, ReptileVerdict::None as u8, "the verdict") }?;
        if !line.is_null() {
            // SAFETY: it is not null, so the caller guarantees that it is writable.
            unsafe { border::put(line, 0, "the line") }?;
        }
        // SAFETY: the one-shot is not freed during the call.
        let one_shot = &unsafe { border::value(one_shot, "the one-shot") }?.one_shot;
        // SAFETY: `body` is null or points to `body_len` bytes.
        let body = unsafe { border::values(body, body_len, "the robots.txt") }?;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let (decided, by) = one_shot.decide(body, url)?;
        if !line.is_null() {
            // SAFETY: as above.
            unsafe { border::put(line, by.unwrap_or_default(), "the line") }?;
        }
        // SAFETY: the first `put` has checked that `verdict` is not null.
        unsafe { border::put(verdict, ReptileVerdict::from(decided) as u8, "the verdict") }
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Frees a one-shot and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored. Returns
/// `REPTILE_CODE_ARGUMENT` if it was already freed through another variable.
///
/// # Safety
/// `one_shot` must be null or readable and writable. No other thread may be using it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_one_shot_free(one_shot: *mut *mut ReptileOneShot) -> ReptileCode {
    // SAFETY: `one_shot` is null or readable and writable, and no other thread uses the one-shot.
    unsafe { border::free(one_shot, "the one-shot") }
}
