//! Summarizes crawlers' access to whole origins.

use std::ffi::c_char;
use std::sync::Arc;

use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use reptile::summary::{self, Summary};
use reptile_columns::arrow::{in_pool, summarize, summary_schema};

use crate::agents::ReptileAgents;
use crate::border::{self, ReptileCode, call, with_nul};
use crate::explain::{ReptileGroup, group_of};

/// A crawler's access to an origin, over all its paths. 0 is not a value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileAccessKind {
    /// Every URL is allowed.
    Allowed = 1,
    /// Every URL is disallowed, except /robots.txt itself.
    Disallowed = 2,
    /// Some URLs are allowed and some are not.
    Partial = 3,
    /// No robots.txt is known for the origin.
    Unknown = 4,
    /// Allowed, disallowed or partial, but the proof would have taken too long.
    Unproved = 5,
    /// The string is not a valid URL.
    Invalid = 6,
}

/// A summary of a crawler's access to an origin. Allocated by the library; later versions may append fields. The fields
/// have the same meaning as the columns of `reptile summarize`.
#[repr(C)]
pub struct ReptileSummary {
    /// The access, over all paths.
    pub access: ReptileAccessKind,
    /// Why the crawler obeys its group.
    pub group: ReptileGroup,
    /// Number of Allow rules in the crawler's groups.
    pub allow_rules: u32,
    /// Number of Disallow rules in the crawler's groups.
    pub disallow_rules: u32,
    /// A short reason such as `rule` or `404`, NUL-terminated.
    pub reason: *const c_char,
    /// Length of the reason in bytes.
    pub reason_len: usize,
    /// For partial access a shortest allowed path as written in a URL, and for unproved access a path, if one is known.
    /// NUL-terminated. Null if there is none.
    pub allowed_path: *const c_char,
    /// Length of the path in bytes, or 0.
    pub allowed_path_len: usize,
    /// The same for disallowed paths.
    pub disallowed_path: *const c_char,
    /// Length of the path in bytes, or 0.
    pub disallowed_path_len: usize,
}

/// A summary together with the strings that its pointers refer to.
#[repr(C)]
struct OwnedSummary {
    shown: ReptileSummary,
    reason: Vec<u8>,
    allowed_path: Option<Vec<u8>>,
    disallowed_path: Option<Vec<u8>>,
}

/// Summarizes what crawler number `agent` may fetch from a URL's origin, over all its paths. For a single robots.txt,
/// the origin does not matter. A scope has no effect. The caller frees the summary with `reptile_summary_free`.
/// Thread-safe.
///
/// Cost: usually some microseconds, and at most some tens of milliseconds. For many origins, use
/// `reptile_summarize_arrow`.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call. `url` must be null or point to `url_len` bytes.
/// `summary` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_access(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    summary: *mut *mut ReptileSummary,
    message: *mut *mut c_char,
) -> ReptileCode {
    let summary = summary.cast::<*mut OwnedSummary>();
    let work = || {
        // SAFETY: the agents are not freed during the call.
        let agent = unsafe { border::value(agents, "the agents") }?.agent(agent)?;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let found = in_pool(|| agent.access(url))?;
        Ok(summarized(&found))
    };
    // SAFETY: `summary` and `message` are null or writable.
    unsafe { border::make(summary, "the summary", message, work) }
}

/// Frees a summary and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored. Returns
/// `REPTILE_CODE_ARGUMENT` if the summary was already freed through another variable.
///
/// # Safety
/// `summary` must be null or readable and writable. No other thread may be using the summary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_summary_free(summary: *mut *mut ReptileSummary) -> ReptileCode {
    // The public struct is the first field, so both pointers are equal.
    let summary = summary.cast::<*mut OwnedSummary>();
    // SAFETY: `summary` is null or readable and writable, and no other thread uses the summary.
    unsafe { border::free(summary, "the summary") }
}

/// Summarizes what each crawler may fetch from each origin, as an Arrow stream with a row for each origin and crawler,
/// and the columns of `reptile summarize`: `url`, `agent`, `access`, `group`, `allow_rules`, `disallow_rules`,
/// `reason`, `allowed_path`, `disallowed_path`. Uses all threads. A scope has no effect. Thread-safe.
///
/// `origins` are URLs or hosts; a host means its https origin. If `origins` is null, the call summarizes all origins of
/// the set. The call computes all rows, which take about 100 bytes each in memory until they are read.
///
/// The caller releases `*out`, which is marked as released if the call fails. One thread at a time may read the stream.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call. `origins` must be null or point to `origins_len`
/// NUL-terminated strings. `out` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_summarize_arrow(
    agents: *const ReptileAgents,
    origins: *const *const c_char,
    origins_len: usize,
    out: *mut FFI_ArrowArrayStream,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `out` is null or writable.
        unsafe { border::put(out, FFI_ArrowArrayStream::empty(), "the output stream") }?;
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?.agents()?;
        // SAFETY: `origins` is null or points to `origins_len` pointers.
        let texts = unsafe { border::values(origins, origins_len, "the origins") }?;
        // SAFETY: each origin is null or NUL-terminated.
        let texts = texts.iter().map(|&text| unsafe { border::text(text, "an origin") });
        let texts: Vec<&str> = texts.collect::<Result<_, _>>()?;
        let texts = (!origins.is_null()).then_some(&texts[..]);
        let mut batches = Vec::new();
        summarize(agents, texts, |batch| {
            batches.push(Ok(batch));
            Ok(())
        })?;
        let rows = RecordBatchIterator::new(batches, Arc::new(summary_schema()));
        // SAFETY: the first `put` has checked that `out` is not null.
        unsafe { border::put(out, FFI_ArrowArrayStream::new(Box::new(rows)), "the output stream") }
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

fn summarized(found: &Summary<'_>) -> OwnedSummary {
    // Moving a vector does not move its contents.
    let shown = |text: &Option<Vec<u8>>| match text {
        Some(text) => (text.as_ptr().cast(), text.len() - 1),
        None => (std::ptr::null(), 0),
    };
    let reason = with_nul(found.reason.to_string().as_bytes());
    let (allowed, disallowed) =
        (found.allowed_path.as_deref().map(with_nul), found.disallowed_path.as_deref().map(with_nul));
    let (allowed_path, allowed_path_len) = shown(&allowed);
    let (disallowed_path, disallowed_path_len) = shown(&disallowed);
    let shown = ReptileSummary {
        access: match found.access {
            summary::Access::Allowed => ReptileAccessKind::Allowed,
            summary::Access::Disallowed => ReptileAccessKind::Disallowed,
            summary::Access::Partial => ReptileAccessKind::Partial,
            summary::Access::Unknown => ReptileAccessKind::Unknown,
            summary::Access::Unproved => ReptileAccessKind::Unproved,
            summary::Access::Invalid => ReptileAccessKind::Invalid,
        },
        group: group_of(found.group),
        allow_rules: found.allow_rules,
        disallow_rules: found.disallow_rules,
        reason: reason.as_ptr().cast(),
        reason_len: reason.len() - 1,
        allowed_path,
        allowed_path_len,
        disallowed_path,
        disallowed_path_len,
    };
    OwnedSummary { shown, reason, allowed_path: allowed, disallowed_path: disallowed }
}
