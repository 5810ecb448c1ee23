//! Deciding Arrow arrays and streams of URLs, through the C data and C stream interfaces.

use std::ffi::c_char;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, StructArray, make_array};
use reptile_arrow::{Column, Decider, VerdictStream};

use crate::agents::ReptileAgents;
use crate::border::{self, Failure, ReptileCode, call};

/// Decides an Arrow array of URLs: texts or bytes in any of Arrow's types for them, a dictionary of these, or a struct with such a
/// column, which is then called `url_column`, or `url`, or the only one of texts (`url_column` is null).
///
/// `*out` becomes a struct array, of the type `*out_schema`, with a row for each URL. `columns` is a list such as `url,verdict,line`:
/// `url`, then for each crawler `NAME:verdict`, `NAME:line`, `NAME:rule`, `NAME:group`, `NAME:reason`, `NAME:ruleset`, then `capture_time` (of
/// the capture that decides), `mask` and `refused`, the crawlers that may not fetch as bits and as a list; null is `verdict`. Where the
/// URL is null, so is all else.
///
/// With `time_column`, which may be null, each URL is decided by the rules of its own time, in that column beside it: times, dates, or whole
/// numbers of seconds since 1970 (of milliseconds, if they have thirteen digits). A row without a time is `invalid`. The set has to be one
/// by time.
///
/// The call takes over `*urls` and `*urls_schema`, also if it fails: it releases them and marks them as released. The caller releases
/// `*out` and `*out_schema`, which are marked as released if the call fails. The texts are not copied. With `all_threads` the work is
/// shared out to all processors. Any thread may call it.
///
/// # Safety
/// `agents` is null or agents that nobody frees meanwhile; `columns`, `url_column` and `time_column` are null or end with NUL; `urls` and
/// `urls_schema` are null, or keep the rules of the C data interface; `out`, `out_schema` and `message` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide_arrow(
    agents: *const ReptileAgents,
    columns: *const c_char,
    url_column: *const c_char,
    time_column: *const c_char,
    all_threads: bool,
    urls: *mut FFI_ArrowArray,
    urls_schema: *mut FFI_ArrowSchema,
    out: *mut FFI_ArrowArray,
    out_schema: *mut FFI_ArrowSchema,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: unless it is null, `urls` keeps the rules, by which it may be moved away.
        let urls = (!urls.is_null()).then(|| unsafe { FFI_ArrowArray::from_raw(urls) });
        // SAFETY: unless it is null, `urls_schema` keeps the rules, by which it may be moved away.
        let schema = (!urls_schema.is_null()).then(|| unsafe { FFI_ArrowSchema::from_raw(urls_schema) });
        // SAFETY: `out` is null or may be written to.
        unsafe { put(out, FFI_ArrowArray::empty(), "the place for the result") }?;
        // SAFETY: `out_schema` is null or may be written to.
        unsafe { put(out_schema, FFI_ArrowSchema::empty(), "the place for the type of the result") }?;
        // SAFETY: the agents stay in use, and the texts end with NUL.
        let decider = unsafe { decider(agents, columns, time_column, all_threads) }?;
        // SAFETY: `url_column` is null or ends with NUL.
        let url_column = unsafe { optional_text(url_column, "the name of the column with URLs") }?;
        let (Some(urls), Some(schema)) = (urls, schema) else {
            return Err(Failure::argument("the array of URLs, or its type, is a null pointer"));
        };
        if urls.is_released() || schema.release().is_none() {
            return Err(Failure::new(ReptileCode::Arrow, "the array of URLs, or its type, was released already"));
        }
        // SAFETY: the array and its type keep the rules of the C data interface.
        let data = unsafe { from_ffi(urls, &schema) }.map_err(reptile_arrow::Error::from)?;
        let rows: ArrayRef = make_array(data);
        let verdicts = StructArray::from(decider.decide_rows(&rows, url_column)?).to_data();
        let schema = FFI_ArrowSchema::try_from(verdicts.data_type()).map_err(reptile_arrow::Error::from)?;
        // SAFETY: `out_schema` is not null, as was seen above.
        unsafe { put(out_schema, schema, "the place for the type of the result") }?;
        // SAFETY: `out` is not null, as was seen above.
        unsafe { put(out, FFI_ArrowArray::new(&verdicts), "the place for the result") }
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Decides an Arrow stream of URLs as `*out` is read: batches of at most a million rows, as `reptile_decide_arrow` gives them. An error
/// while it is read is an error of the stream, with its text.
///
/// The call takes over `*urls`, also if it fails. The caller releases `*out`, which is marked as released if the call fails; it keeps what
/// it needs of the agents, which may be freed before. Any thread may call it, and any one thread at a time may read the stream.
///
/// # Safety
/// `agents` is null or agents that nobody frees meanwhile; `columns`, `url_column` and `time_column` are null or end with NUL; `urls` is null, or keeps
/// the rules of the C stream interface; `out` and `message` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide_arrow_stream(
    agents: *const ReptileAgents,
    columns: *const c_char,
    url_column: *const c_char,
    time_column: *const c_char,
    all_threads: bool,
    urls: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArrayStream,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: unless it is null, `urls` keeps the rules, by which it may be moved away.
        let urls = (!urls.is_null()).then(|| unsafe { FFI_ArrowArrayStream::from_raw(urls) });
        // SAFETY: `out` is null or may be written to.
        unsafe { put(out, FFI_ArrowArrayStream::empty(), "the place for the result") }?;
        // SAFETY: the agents stay in use, and the texts end with NUL.
        let decider = unsafe { decider(agents, columns, time_column, all_threads) }?;
        // SAFETY: `url_column` is null or ends with NUL.
        let url_column = unsafe { optional_text(url_column, "the name of the column with URLs") }?;
        let urls = urls.ok_or_else(|| Failure::argument("the stream of URLs is a null pointer"))?;
        let urls = ArrayStreamReader::try_new(urls).map_err(reptile_arrow::Error::from)?;
        let verdicts = VerdictStream::new(urls, url_column, decider)?;
        // SAFETY: `out` is not null, as was seen above.
        unsafe { put(out, FFI_ArrowArrayStream::new(Box::new(verdicts)), "the place for the result") }
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Writes a value where the caller wants it; what is there is not dropped.
///
/// # Safety
/// The place is null or may be written to.
unsafe fn put<T>(place: *mut T, value: T, what: &str) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::argument(format!("{what} is a null pointer")));
    }
    // SAFETY: it is not null, so that it may be written to, as the caller of this function says.
    unsafe { place.write(value) };
    Ok(())
}

/// # Safety
/// `agents` is null or agents that nobody frees meanwhile; `columns` and `time_column` are null or end with NUL.
unsafe fn decider(
    agents: *const ReptileAgents,
    columns: *const c_char,
    time_column: *const c_char,
    all_threads: bool,
) -> Result<Decider, Failure> {
    // SAFETY: nobody frees the agents meanwhile.
    let agents = &unsafe { border::value(agents, "the agents") }?.agents;
    // SAFETY: `columns` is null or ends with NUL.
    let columns = unsafe { optional_text(columns, "the list of columns") }?.unwrap_or(Column::Verdict.name());
    let decider = Decider::new(agents.clone(), &Column::from_list(columns)?)?.parallel(all_threads);
    // SAFETY: `time_column` is null or ends with NUL.
    let times = unsafe { optional_text(time_column, "the name of the column with times") }?;
    Ok(match times {
        None => decider,
        Some(column) => decider.times(column),
    })
}

/// # Safety
/// `text` is null, or ends with NUL and does not change as long as it is used.
unsafe fn optional_text<'c>(text: *const c_char, what: &str) -> Result<Option<&'c str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, so that it ends with NUL, as the caller of this function says.
    unsafe { border::text(text, what) }.map(Some)
}
