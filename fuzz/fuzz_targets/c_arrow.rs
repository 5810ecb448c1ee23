//! Arrow arrays of URLs in every layout through the C interface: each row has the verdict of its URL alone.
#![no_main]

use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int64Array, LargeBinaryArray,
    LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray, make_array,
};
use libfuzzer_sys::fuzz_target;
use reptile::{Agents, Dialect, Robots, Verdict};
use reptile_c::{
    ReptileAgents, ReptileCode, ReptileSet, ReptileUsageLines, ReptileUses, reptile_agents_resolve,
    reptile_decide_arrow, reptile_set_parse, reptile_text_free, reptile_uses_new,
};

const BODY: &str = "user-agent: *\ndisallow: /private\nallow: /private/*.html$\ncontent-signal: search=yes\n\n\
                    user-agent: GPTBot\ndisallow: /*?\ncontent-usage: train-ai=n\ncontent-usage: /a train-ai=y\n";
const CRAWLERS: [&str; 2] = ["GPTBot", "Other"];
const USES: [&str; 2] = ["train-ai", "search"];

/// Maximum number of rows.
const MAX_ROWS: usize = 64;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Layout {
    Utf8,
    LargeUtf8,
    Utf8View,
    Binary,
    LargeBinary,
    BinaryView,
    Dictionary,
    SmallDictionary,
    Numbers,
    Nulls,
}

#[derive(Arbitrary, Debug)]
struct Input<'d> {
    layout: Layout,
    /// Whether the URLs are a column of a struct, next to another one.
    is_struct: bool,
    has_second_text: bool,
    all_threads: bool,
    has_uses: bool,
    offset: u8,
    len: u8,
    columns: Option<&'d str>,
    url_column: Option<&'d str>,
    time_column: Option<&'d str>,
    urls: Vec<Option<&'d str>>,
}

/// The crawlers by the C interface, and by the library, and the uses.
struct Both {
    handle: usize,
    uses: usize,
    agents: Agents,
}

static BOTH: LazyLock<Both> = LazyLock::new(|| {
    let agents = Robots::parse(BODY, Dialect::google()).expect("a valid file").agents(CRAWLERS).expect("valid names");
    let (mut set, mut handle) = (null_mut::<ReptileSet>(), null_mut::<ReptileAgents>());
    // SAFETY: the body has this length, and the results are writable.
    let code = unsafe { reptile_set_parse(BODY.as_ptr(), BODY.len(), null(), &raw mut set, null_mut()) };
    assert_eq!(code, ReptileCode::Ok);
    let names = CRAWLERS.map(|name| CString::new(name).expect("no NUL"));
    let pointers = names.each_ref().map(|name| name.as_ptr());
    // SAFETY: the set is live, the names are NUL-terminated, and the results are writable.
    let code =
        unsafe { reptile_agents_resolve(set, pointers.as_ptr(), pointers.len(), true, &raw mut handle, null_mut()) };
    assert_eq!(code, ReptileCode::Ok);
    let names = USES.map(|name| CString::new(name).expect("no NUL"));
    let pointers = names.each_ref().map(|name| name.as_ptr());
    let (both, mut uses) = (ReptileUsageLines::Both as u32, null_mut::<ReptileUses>());
    // SAFETY: the names are NUL-terminated, and the result is writable.
    let code = unsafe { reptile_uses_new(pointers.as_ptr(), pointers.len(), both, null(), &raw mut uses, null_mut()) };
    assert_eq!(code, ReptileCode::Ok);
    Both { handle: handle.expose_provenance(), uses: uses.expose_provenance(), agents }
});

/// Builds the array of URLs.
fn array(layout: Layout, urls: &[Option<&str>]) -> ArrayRef {
    let bytes = || urls.iter().map(|url| url.map(str::as_bytes));
    let texts = || urls.iter().copied();
    match layout {
        Layout::Utf8 => Arc::new(texts().collect::<StringArray>()),
        Layout::LargeUtf8 => Arc::new(texts().collect::<LargeStringArray>()),
        Layout::Utf8View => Arc::new(texts().collect::<StringViewArray>()),
        Layout::Binary => Arc::new(bytes().collect::<BinaryArray>()),
        Layout::LargeBinary => Arc::new(bytes().collect::<LargeBinaryArray>()),
        Layout::BinaryView => Arc::new(bytes().collect::<BinaryViewArray>()),
        Layout::Dictionary => Arc::new(texts().collect::<DictionaryArray<Int32Type>>()),
        Layout::SmallDictionary => Arc::new(texts().collect::<DictionaryArray<Int8Type>>()),
        Layout::Numbers => Arc::new(urls.iter().map(|url| url.map(|url| url.len() as i64)).collect::<Int64Array>()),
        Layout::Nulls => Arc::new(NullArray::new(urls.len())),
    }
}

/// Decides an array through the C interface.
fn decided(rows: &ArrayRef, input: &Input<'_>) -> Result<RecordBatch, ReptileCode> {
    let text = |text: Option<&str>| text.and_then(|text| CString::new(text).ok());
    let texts = [text(input.columns), text(input.url_column), text(input.time_column)];
    let [columns, url_column, time_column] =
        texts.each_ref().map(|text| text.as_ref().map_or(null(), |text| text.as_ptr()));
    let (mut urls, mut schema) = to_ffi(&rows.to_data()).expect("a valid array");
    let (mut out, mut out_schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
    let mut message = null_mut();
    let agents: *const ReptileAgents = std::ptr::with_exposed_provenance(BOTH.handle);
    let uses: *const ReptileUses = if input.has_uses { std::ptr::with_exposed_provenance(BOTH.uses) } else { null() };
    // SAFETY: the agents and the uses are never freed, the texts are null or NUL-terminated, the array follows the C
    // data interface, and the results are writable.
    let code = unsafe {
        reptile_decide_arrow(
            agents,
            columns,
            uses,
            url_column,
            time_column,
            input.all_threads,
            &raw mut urls,
            &raw mut schema,
            &raw mut out,
            &raw mut out_schema,
            &raw mut message,
        )
    };
    assert!(urls.is_released() && schema.release().is_none(), "ownership was not taken");
    assert_eq!(code == ReptileCode::Ok, message.is_null());
    // SAFETY: the library allocated the message, or it is null.
    unsafe { reptile_text_free(message) };
    if code != ReptileCode::Ok {
        assert!(out.is_released() && out_schema.release().is_none());
        return Err(code);
    }
    // SAFETY: the library follows the C data interface.
    let data = unsafe { from_ffi(out, &out_schema) }.expect("a valid result");
    data.validate_full().expect("a valid result");
    Ok(RecordBatch::from(StructArray::from(data)))
}

fuzz_target!(|input: Input<'_>| {
    let urls = &input.urls[..input.urls.len().min(MAX_ROWS)];
    let mut rows = array(input.layout, urls);
    if input.is_struct {
        let other = array(if input.has_second_text { Layout::Utf8 } else { Layout::Numbers }, urls);
        let columns = [("url", rows), ("other", other)];
        rows = Arc::new(StructArray::from(RecordBatch::try_from_iter(columns).expect("columns of equal length")));
    }
    let offset = usize::from(input.offset).min(rows.len());
    let len = usize::from(input.len).min(rows.len() - offset);
    let rows = rows.slice(offset, len);
    // A copy without the layout's history, to notice a call that changes its input.
    let before = make_array(rows.to_data());
    let result = decided(&rows, &input);
    assert!(rows.as_ref() == before.as_ref(), "the input was changed");
    let Ok(batch) = result else {
        assert_ne!(result.map(drop), Err(ReptileCode::Panic));
        return;
    };
    assert_eq!(batch.num_rows(), len);
    if input.columns.is_some() || matches!(input.layout, Layout::Numbers | Layout::Nulls) || input.url_column.is_some()
    {
        return;
    }
    let use_count = if input.has_uses { USES.len() } else { 0 };
    assert_eq!(batch.num_columns(), CRAWLERS.len() * (1 + use_count));
    for (crawler, agent) in BOTH.agents.iter().enumerate() {
        let first = crawler * (1 + use_count);
        let column = batch.column(first).as_dictionary::<Int8Type>();
        let words = column.downcast_dict::<StringArray>().expect("words");
        for (row, url) in urls[offset..offset + len].iter().enumerate() {
            let found = column.is_valid(row).then(|| words.value(row).parse::<Verdict>().expect("a verdict"));
            let expected = url.map(|url| agent.decide(url).expect("a valid file"));
            assert_eq!(found, expected, "{url:?}");
            for place in first + 1..=first + use_count {
                let column = batch.column(place).as_string::<i64>();
                let found = column.is_valid(row).then(|| column.value(row));
                assert_eq!(found.is_some(), url.is_some(), "{url:?}");
                let is_possible = |word: &str| match expected {
                    Some(Verdict::Allow) => word != "not-applicable",
                    Some(Verdict::Disallow) => word == "not-applicable",
                    _ => word == "unknown",
                };
                assert!(found.is_none_or(is_possible), "{url:?}: {found:?}");
            }
        }
    }
});
