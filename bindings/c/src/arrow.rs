//! Decides Arrow arrays and streams of URLs through the C data and C stream interfaces.

use std::ffi::c_char;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, StructArray, make_array};
use reptile_columns::Column;
use reptile_columns::arrow::{ArrayDecider, VerdictStream};

use crate::agents::{Crawlers, ReptileAgents};
use crate::border::{self, Failure, ReptileCode, call};
use crate::usage::ReptileUses;

/// Decides an Arrow array of URLs. The array contains strings or binary data in any Arrow layout, dictionaries of
/// these, or structs. In a struct, the URL column is `url_column`; if that is null, it is `url` or the only string
/// column.
///
/// `*out` becomes a struct array with the type `*out_schema` and one row per URL. `columns` is a list such as
/// `url,verdict,line` (default: `verdict`): `url`; for each crawler `NAME:verdict`, `NAME:line`, `NAME:rule`,
/// `NAME:group`, `NAME:reason`, `NAME:ruleset`; then `capture_time` (when the deciding robots.txt was captured);
/// `capture` (the digest of its body, or its status); `mask` and `refused`, the disallowed crawlers as a bit mask and as
/// a list. All columns are null where the URL is null.
///
/// `uses`, which may be null, adds a column `NAME:USE` for each use after each crawler's other columns: `allowed`,
/// `disallowed`, `unknown` or `not-applicable`. An empty list of columns then means only these. Uses with a purpose also
/// add `NAME:purpose`, a single verdict for the fetch and this use, which `mask` and `refused` then follow.
///
/// With agents of `reptile_agents_of_rows`, each row is decided for the crawler that it names, and columns have no
/// `NAME:` in front.
///
/// With `time_column`, which may be null, each row is decided by the rules active at the time in that column: a
/// timestamp, a date, or an integer in seconds since 1970 (milliseconds if it has 13 digits). A row without a time is
/// `invalid`. The set must be by time.
///
/// The call takes ownership of `*urls` and `*urls_schema` even if it fails: it releases them and marks them as
/// released. The caller releases `*out` and `*out_schema`, which are marked as released if the call fails. URLs are not
/// copied. With `all_threads`, the work is spread over all processors. Thread-safe.
///
/// # Safety
/// `agents` and `uses` must be null or handles that are not freed during the call. `columns`, `url_column` and
/// `time_column` must be null or NUL-terminated. `urls` and `urls_schema` must be null or follow the C data interface.
/// `out`, `out_schema` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide_arrow(
    agents: *const ReptileAgents,
    columns: *const c_char,
    uses: *const ReptileUses,
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
        // SAFETY: `urls` is null or follows the C data interface, which permits moving it.
        let urls = (!urls.is_null()).then(|| unsafe { FFI_ArrowArray::from_raw(urls) });
        // SAFETY: `urls_schema` is null or follows the C data interface, which permits moving it.
        let schema = (!urls_schema.is_null()).then(|| unsafe { FFI_ArrowSchema::from_raw(urls_schema) });
        // SAFETY: `out` is null or writable.
        unsafe { border::put(out, FFI_ArrowArray::empty(), "the output array") }?;
        // SAFETY: `out_schema` is null or writable.
        unsafe { border::put(out_schema, FFI_ArrowSchema::empty(), "the output schema") }?;
        // SAFETY: the handles are not freed during the call, and the strings are null or NUL-terminated.
        let decider = unsafe { decider(agents, columns, uses, time_column, all_threads) }?;
        // SAFETY: `url_column` is null or NUL-terminated.
        let url_column = unsafe { border::optional_text(url_column, "the URL column's name") }?;
        let (Some(urls), Some(schema)) = (urls, schema) else {
            return Err(Failure::argument("the URL array or its schema is a null pointer"));
        };
        if urls.is_released() || schema.release().is_none() {
            return Err(Failure::new(ReptileCode::Arrow, "the URL array or its schema is already released"));
        }
        // SAFETY: the array and its schema follow the C data interface.
        let data = unsafe { from_ffi(urls, &schema) }.map_err(reptile_columns::Error::from)?;
        let rows: ArrayRef = make_array(data);
        let verdicts = StructArray::from(decider.decide_rows(&rows, url_column)?).to_data();
        let schema = FFI_ArrowSchema::try_from(verdicts.data_type()).map_err(reptile_columns::Error::from)?;
        // SAFETY: the first `put` checked that `out_schema` is not null.
        unsafe { border::put(out_schema, schema, "the output schema") }?;
        // SAFETY: the first `put` checked that `out` is not null.
        unsafe { border::put(out, FFI_ArrowArray::new(&verdicts), "the output array") }
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Decides an Arrow stream of URLs while `*out` is read. Batches have at most a million rows and the columns that
/// `reptile_decide_arrow` describes. An error during reading is reported by the stream.
///
/// The call takes ownership of `*urls` even if it fails. The caller releases `*out`, which is marked as released if the
/// call fails. The stream keeps the agents' data alive, so the agents may be freed first. Thread-safe. One thread at a
/// time may read the stream.
///
/// # Safety
/// `agents` and `uses` must be null or handles that are not freed during the call. `columns`, `url_column` and
/// `time_column` must be null or NUL-terminated. `urls` must be null or follow the C stream interface. `out` and
/// `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide_arrow_stream(
    agents: *const ReptileAgents,
    columns: *const c_char,
    uses: *const ReptileUses,
    url_column: *const c_char,
    time_column: *const c_char,
    all_threads: bool,
    urls: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArrayStream,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `urls` is null or follows the C stream interface, which permits moving it.
        let urls = (!urls.is_null()).then(|| unsafe { FFI_ArrowArrayStream::from_raw(urls) });
        // SAFETY: `out` is null or writable.
        unsafe { border::put(out, FFI_ArrowArrayStream::empty(), "the output stream") }?;
        // SAFETY: the handles are not freed during the call, and the strings are null or NUL-terminated.
        let decider = unsafe { decider(agents, columns, uses, time_column, all_threads) }?;
        // SAFETY: `url_column` is null or NUL-terminated.
        let url_column = unsafe { border::optional_text(url_column, "the URL column's name") }?;
        let urls = urls.ok_or_else(|| Failure::argument("the URL stream is a null pointer"))?;
        let urls = ArrayStreamReader::try_new(urls).map_err(reptile_columns::Error::from)?;
        let verdicts = VerdictStream::new(urls, url_column, decider)?;
        // SAFETY: the first `put` checked that `out` is not null.
        unsafe { border::put(out, FFI_ArrowArrayStream::new(Box::new(verdicts)), "the output stream") }
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// # Safety
/// `agents` and `uses` must be null or handles that are not freed during the call. `columns` and `time_column` must be
/// null or NUL-terminated.
unsafe fn decider(
    agents: *const ReptileAgents,
    columns: *const c_char,
    uses: *const ReptileUses,
    time_column: *const c_char,
    all_threads: bool,
) -> Result<ArrayDecider, Failure> {
    // SAFETY: the agents are not freed during the call.
    let agents = unsafe { border::value(agents, "the agents") }?;
    // SAFETY: `columns` is null or NUL-terminated.
    let columns = unsafe { border::optional_text(columns, "the column list") }?.unwrap_or(Column::Verdict.name());
    // SAFETY: the uses are null or are not freed during the call.
    let uses = (!uses.is_null()).then(|| unsafe { border::value(uses, "the uses") }).transpose()?;
    let usage = uses.map(|uses| &uses.columns);
    let columns = match columns {
        "" if usage.is_some() => Vec::new(),
        columns => Column::from_list(columns)?,
    };
    let decider = match &agents.crawlers {
        Crawlers::Named(agents) => ArrayDecider::with_usage(agents.clone(), &columns, usage)?,
        Crawlers::OfRows(by_row, column) => ArrayDecider::by_row(by_row.clone(), column.as_str(), &columns, usage)?,
    };
    let decider = decider.parallel(all_threads).in_scope(agents.scope);
    // SAFETY: `time_column` is null or NUL-terminated.
    let times = unsafe { border::optional_text(time_column, "the time column's name") }?;
    Ok(match times {
        None => decider,
        Some(column) => decider.times(column),
    })
}
