//! Misuse from C: each mistake is an error with a message, and never yields a verdict.

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray};
use reptile_c::*;

const ROBOTS: &str = "user-agent: *\ndisallow: /cart\n";

/// Runs one test at a time. Some tests use freed handles, whose address another test might get for a new handle.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a call, and returns its code and message after freeing the message.
pub fn asked(call: impl FnOnce(*mut *mut c_char) -> ReptileCode) -> (ReptileCode, String) {
    let mut message: *mut c_char = std::ptr::dangling_mut();
    let code = call(&raw mut message);
    if message.is_null() {
        return (code, String::new());
    }
    // SAFETY: a message that is not null is NUL-terminated.
    let text = unsafe { CStr::from_ptr(message) }.to_str().unwrap().to_owned();
    // SAFETY: the library allocated the message, and it is freed once.
    unsafe { reptile_text_free(message) };
    (code, text)
}

pub fn parsed() -> *mut ReptileSet {
    let mut set = null_mut();
    // SAFETY: the length is the body's, and `set` is writable.
    let (code, text) =
        asked(|message| unsafe { reptile_set_parse(ROBOTS.as_ptr(), ROBOTS.len(), null(), &raw mut set, message) });
    assert_eq!((code, text.as_str()), (ReptileCode::Ok, ""));
    set
}

pub fn resolved(set: *const ReptileSet, names: &[&str]) -> (*mut ReptileAgents, ReptileCode, String) {
    let names: Vec<CString> = names.iter().map(|name| CString::new(*name).unwrap()).collect();
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let mut agents = null_mut();
    // SAFETY: `pointers` contains `pointers.len()` NUL-terminated strings, and `agents` is writable.
    let (code, text) = asked(|message| unsafe {
        reptile_agents_resolve(set, pointers.as_ptr(), pointers.len(), false, &raw mut agents, message)
    });
    (agents, code, text)
}

pub fn agents(names: &[&str]) -> *mut ReptileAgents {
    let mut set = parsed();
    let (agents, code, text) = resolved(set, names);
    assert_eq!((code, text.as_str()), (ReptileCode::Ok, ""));
    assert_eq!(free_set(&mut set), ReptileCode::Ok);
    agents
}

/// Frees a set.
pub fn free_set(set: &mut *mut ReptileSet) -> ReptileCode {
    // SAFETY: `set` is a variable, and its handle is checked before it is read.
    unsafe { reptile_set_free(set) }
}

/// Frees an explanation.
fn free_explanation(why: &mut *mut ReptileExplanation) -> ReptileCode {
    // SAFETY: `why` is a variable, and its handle is checked before it is read.
    unsafe { reptile_explanation_free(why) }
}

/// Returns a crawler's name.
fn name(agents: *const ReptileAgents, agent: usize) -> *const c_char {
    // SAFETY: the handle is checked before it is read.
    unsafe { reptile_agents_name(agents, agent) }
}

/// Copies a string that the library returned.
pub fn given(text: *const c_char) -> CString {
    assert!(!text.is_null());
    // SAFETY: strings from the library that are not null are NUL-terminated.
    unsafe { CStr::from_ptr(text) }.to_owned()
}

/// Frees agents, which must be live.
pub fn done(mut agents: *mut ReptileAgents) {
    // SAFETY: `agents` is a variable with a live handle.
    assert_eq!(unsafe { reptile_agents_free(&raw mut agents) }, ReptileCode::Ok);
    assert!(agents.is_null());
}

pub fn decide(agents: *const ReptileAgents, url: &str, verdicts: &mut [u8]) -> (ReptileCode, String) {
    let (start, len) = (url.as_ptr().cast(), url.len());
    // SAFETY: both lengths are correct.
    asked(|message| unsafe { reptile_decide(agents, start, len, verdicts.as_mut_ptr(), verdicts.len(), message) })
}

#[test]
fn verdict_buffers_must_match_the_crawlers() {
    let _alone = alone();
    let agents = agents(&["MyBot", "GPTBot"]);
    let mut verdicts = [9; 2];
    assert_eq!(decide(agents, "/cart", &mut verdicts).0, ReptileCode::Ok);
    assert_eq!(verdicts, [ReptileVerdict::Disallow as u8; 2]);
    assert_eq!(decide(agents, "/x", &mut verdicts).0, ReptileCode::Ok);
    assert_eq!(verdicts, [ReptileVerdict::Allow as u8; 2]);
    for len in [0, 1, 3] {
        let mut verdicts = vec![9; len];
        let (code, text) = decide(agents, "/x", &mut verdicts);
        assert_eq!(code, ReptileCode::Argument);
        assert!(text.contains("need a buffer of 2 verdicts"), "{text}");
        assert_eq!(verdicts, vec![ReptileVerdict::None as u8; len]);
    }
    done(agents);
}

#[test]
fn null_pointers_and_impossible_lengths_are_errors() {
    let _alone = alone();
    let agents = agents(&["MyBot"]);
    let mut verdicts = [9];
    assert_eq!(decide(null(), "/x", &mut verdicts).0, ReptileCode::Argument);
    assert_eq!(verdicts, [0]);
    for (url, len) in [(null(), 1), (c"/x".as_ptr(), usize::MAX), (c"/x".as_ptr(), isize::MAX as usize + 1)] {
        verdicts = [9];
        let place = verdicts.as_mut_ptr();
        // SAFETY: the function checks the invalid argument before it reads.
        let (code, text) = asked(|message| unsafe { reptile_decide(agents, url, len, place, 1, message) });
        assert_eq!((code, verdicts), (ReptileCode::Argument, [0]), "{text}");
    }
    // SAFETY: as above.
    let (code, _) = asked(|message| unsafe { reptile_decide(agents, c"/x".as_ptr(), 2, null_mut(), 1, message) });
    assert_eq!(code, ReptileCode::Argument);
    // SAFETY: as above. A null pointer with length 0 is an empty string, and the message may be null.
    let code = unsafe { reptile_decide(agents, null(), 0, verdicts.as_mut_ptr(), 1, null_mut()) };
    assert_eq!(code, ReptileCode::Ok);
    let mut set = parsed();
    // SAFETY: the function checks the invalid argument before it reads.
    let (code, _) = asked(|message| unsafe { reptile_set_parse(null(), 5, null(), &raw mut set, message) });
    assert!(code == ReptileCode::Argument && set.is_null());
    for (path, code) in [(null(), ReptileCode::Argument), (c"/nowhere".as_ptr(), ReptileCode::Io)] {
        // SAFETY: the path is null or NUL-terminated, and the file does not exist.
        let (read, text) = asked(|message| unsafe { reptile_set_read(path, &raw mut set, message) });
        // SAFETY: as above.
        let (mapped, _) = asked(|message| unsafe { reptile_set_map(path, &raw mut set, message) });
        assert_eq!((read, mapped), (code, code), "{text}");
        // SAFETY: the null variable is checked first.
        let (code, _) = asked(|message| unsafe { reptile_set_read(path, null_mut(), message) });
        assert_eq!(code, ReptileCode::Argument);
    }
    // SAFETY: the length is correct; the bytes are not a set.
    let (code, text) = asked(|message| unsafe { reptile_set_from_bytes(b"no set".as_ptr(), 6, &raw mut set, message) });
    assert_eq!(code, ReptileCode::Format, "{text}");
    // SAFETY: the dialect is NUL-terminated.
    let (code, text) =
        asked(|message| unsafe { reptile_set_parse(null(), 0, c"gogle".as_ptr(), &raw mut set, message) });
    assert!(code == ReptileCode::Argument && text.contains("gogle"), "{text}");
    done(agents);
}

#[test]
fn freed_and_foreign_handles_are_errors() {
    let _alone = alone();
    let mut set = parsed();
    let mut same = set;
    let agents = agents(&["MyBot"]);
    let mut of_agents = agents.cast::<ReptileSet>();
    assert_eq!((free_set(&mut set), free_set(&mut set)), (ReptileCode::Ok, ReptileCode::Ok));
    assert!(set.is_null());
    // SAFETY: null is allowed.
    assert_eq!(unsafe { reptile_set_free(null_mut()) }, ReptileCode::Ok);
    let (_, code, text) = resolved(same, &["MyBot"]);
    assert!(code == ReptileCode::Argument && text.contains("not in use"), "{text}");
    // SAFETY: a freed set is detected without reading it.
    assert_eq!(unsafe { reptile_set_len(same) }, 0);
    assert_eq!(free_set(&mut same), ReptileCode::Argument);
    let (_, code, text) = resolved(of_agents, &["MyBot"]);
    assert!(code == ReptileCode::Argument && text.contains("not in use"), "{text}");
    // SAFETY: a handle of another type is detected without reading it.
    assert_eq!(unsafe { reptile_set_free(&raw mut of_agents) }, ReptileCode::Argument);
    // The agents still work.
    assert_eq!(decide(agents, "/cart", &mut [0]).0, ReptileCode::Ok);
    done(agents);
    // SAFETY: freed agents are detected without reading them.
    assert_eq!((unsafe { reptile_agents_len(agents) }, name(agents, 0)), (0, null()));
    let mut verdicts = [9];
    // SAFETY: the buffer has one byte, and freed agents are detected without reading them.
    let (code, _) = asked(|message| unsafe {
        reptile_decide_many(agents, null(), null(), 0, false, verdicts.as_mut_ptr(), 1, message)
    });
    assert_eq!((code, verdicts), (ReptileCode::Argument, [0]));
}

#[test]
fn unusable_crawler_names_are_errors() {
    let _alone = alone();
    let mut set = parsed();
    for (names, part) in [
        (&[][..], "no crawler is named"),
        (&["Googelbot"][..], "nearly the crawler \"Googlebot\""),
        (&["GPTBot", "Mozilla/5.0 (compatible; GPTBot/1.2)"][..], "GPTBot"),
        (&["@nobody"][..], "unknown group"),
    ] {
        let (agents, code, text) = resolved(set, names);
        assert!(agents.is_null() && code == ReptileCode::Crawler && text.contains(part), "{names:?}: {text}");
    }
    let pointers = [c"Googelbot".as_ptr(), null()];
    let mut agents = null_mut();
    // SAFETY: the second name is null, which is checked before it is read.
    let (code, _) =
        asked(|message| unsafe { reptile_agents_resolve(set, pointers.as_ptr(), 2, true, &raw mut agents, message) });
    assert!(agents.is_null() && code == ReptileCode::Argument);
    // SAFETY: the name is NUL-terminated.
    let (code, _) =
        asked(|message| unsafe { reptile_agents_resolve(set, pointers.as_ptr(), 1, true, &raw mut agents, message) });
    assert_eq!(code, ReptileCode::Ok);
    assert!(*given(name(agents, 0)) == *c"Googelbot" && name(agents, 1).is_null());
    done(agents);
    free_set(&mut set);
}

#[test]
fn one_bad_length_clears_all_verdicts() {
    let _alone = alone();
    let agents = agents(&["MyBot", "GPTBot"]);
    let urls: Vec<*const c_char> = (0..5_000).map(|url| if url % 2 == 0 { c"/cart" } else { c"/x" }.as_ptr()).collect();
    let mut lens: Vec<usize> = (0..5_000).map(|url| if url % 2 == 0 { 5 } else { 2 }).collect();
    for all_threads in [false, true] {
        let mut verdicts = vec![9; 10_000];
        let place = verdicts.as_mut_ptr();
        // SAFETY: all lengths are correct.
        let (code, text) = asked(|message| unsafe {
            reptile_decide_many(agents, urls.as_ptr(), lens.as_ptr(), 5_000, all_threads, place, 10_000, message)
        });
        assert_eq!((code, text.as_str()), (ReptileCode::Ok, ""));
        let expected =
            |place: usize| if place % 4 < 2 { ReptileVerdict::Disallow } else { ReptileVerdict::Allow } as u8;
        assert!(verdicts.iter().enumerate().all(|(place, &verdict)| verdict == expected(place)));
    }
    lens[4_999] = usize::MAX;
    let mut verdicts = vec![9; 10_000];
    let place = verdicts.as_mut_ptr();
    // SAFETY: the lengths are correct, except one that is checked before its URL is read.
    let (code, _) = asked(|message| unsafe {
        reptile_decide_many(agents, urls.as_ptr(), lens.as_ptr(), 5_000, false, place, 10_000, message)
    });
    assert!(code == ReptileCode::Argument && verdicts.iter().all(|&verdict| verdict == 0));
    // SAFETY: the buffer length does not match the URLs, which is checked first.
    let (code, _) = asked(|message| unsafe {
        reptile_decide_many(agents, urls.as_ptr(), lens.as_ptr(), usize::MAX / 2 + 1, false, place, 0, message)
    });
    assert_eq!(code, ReptileCode::Argument);
    done(agents);
}

#[test]
fn explanations_name_the_rule_and_are_freed_once() {
    let _alone = alone();
    let agents = agents(&["MyBot"]);
    let mut why = null_mut();
    let explain = |agent: usize, why: *mut *mut ReptileExplanation| {
        // SAFETY: the URL has 7 bytes, and `why` is writable.
        asked(|message| unsafe { reptile_explain(agents, agent, c"/cart/1".as_ptr(), 7, why, message) })
    };
    assert_eq!(explain(0, &raw mut why).0, ReptileCode::Ok);
    // SAFETY: the call returned an explanation.
    let found = unsafe { &*why };
    let (rule, reason, path) = (given(found.rule), given(found.reason), given(found.path));
    assert_eq!((&*rule, &*reason, found.rule_len, found.reason_len), (c"Disallow: /cart", c"rule", 15, 4));
    assert_eq!((&*path, found.path_len), (c"/cart", 5));
    assert_eq!(
        (found.verdict, found.group, found.rule_kind, found.line),
        (ReptileVerdict::Disallow, ReptileGroup::Default, ReptileRuleKind::Disallow, 2)
    );
    let mut same = why;
    let freed = (free_explanation(&mut why), free_explanation(&mut same));
    assert_eq!(freed, (ReptileCode::Ok, ReptileCode::Argument));
    // SAFETY: the URL has 2 bytes, and `why` is writable.
    let other = asked(|message| unsafe { reptile_explain(agents, 0, c"/x".as_ptr(), 2, &raw mut why, message) });
    assert_eq!(other.0, ReptileCode::Ok);
    // SAFETY: the call returned an explanation.
    let found = unsafe { &*why };
    assert_eq!((given(found.rule), given(found.path), found.rule_len, found.path_len), (c"".into(), c"".into(), 0, 0));
    assert_eq!(free_explanation(&mut why), ReptileCode::Ok);
    let (code, text) = explain(1, &raw mut why);
    assert!(why.is_null() && code == ReptileCode::Argument && text.contains("only 1"), "{text}");
    done(agents);
}

/// Decides an Arrow array. Returns the rows, or the code and the message.
pub fn arrow(
    agents: *const ReptileAgents,
    columns: Option<&CStr>,
    uses: *const ReptileUses,
    array: &dyn Array,
) -> Result<RecordBatch, (ReptileCode, String)> {
    let (mut urls, mut schema) = to_ffi(&array.to_data()).unwrap();
    let (mut out, mut out_schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
    let columns = columns.map_or(null(), CStr::as_ptr);
    // SAFETY: the array and schema follow the C data interface, and the results are writable.
    let (code, text) = asked(|message| unsafe {
        reptile_decide_arrow(
            agents,
            columns,
            uses,
            null(),
            null(),
            false,
            &raw mut urls,
            &raw mut schema,
            &raw mut out,
            &raw mut out_schema,
            message,
        )
    });
    assert!(urls.is_released() && schema.release().is_none(), "ownership was not taken");
    if code != ReptileCode::Ok {
        assert!(out.is_released() && out_schema.release().is_none());
        return Err((code, text));
    }
    // SAFETY: the library follows the C data interface.
    let data = unsafe { arrow_array::ffi::from_ffi(out, &out_schema) }.unwrap();
    Ok(RecordBatch::from(arrow_array::StructArray::from(data)))
}

#[test]
fn arrow_arrays_are_released_even_after_errors() {
    let _alone = alone();
    let agents = agents(&["MyBot"]);
    let urls = StringArray::from(vec![Some("/cart"), None]);
    let rows = arrow(agents, Some(c"url,verdict,refused"), null(), &urls).unwrap();
    assert_eq!((rows.num_rows(), rows.num_columns(), rows.column(1).null_count()), (2, 3, 1));
    assert_eq!(arrow(agents, None, null(), &urls).unwrap().schema().field(0).name(), "MyBot:verdict");
    let numbers = Int32Array::from(vec![1]);
    let (code, text) = arrow(agents, None, null(), &numbers).unwrap_err();
    assert!(code == ReptileCode::Arrow && text.contains("found Int32"), "{text}");
    let (code, text) = arrow(agents, Some(c"verdicts"), null(), &urls).unwrap_err();
    assert!(code == ReptileCode::Column && text.contains("verdicts"), "{text}");
    assert_eq!(arrow(null(), None, null(), &urls).unwrap_err().0, ReptileCode::Argument);
    done(agents);
    assert_eq!(arrow(agents, None, null(), &urls).unwrap_err().0, ReptileCode::Argument);
}

#[test]
fn released_arrow_arrays_are_errors() {
    let _alone = alone();
    let agents = agents(&["MyBot"]);
    let (mut urls, mut schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
    let (mut out, mut out_schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
    // SAFETY: the array and schema are marked as released, and the results are writable.
    let (code, _) = asked(|message| unsafe {
        reptile_decide_arrow(
            agents,
            null(),
            null(),
            null(),
            null(),
            false,
            &raw mut urls,
            &raw mut schema,
            &raw mut out,
            &raw mut out_schema,
            message,
        )
    });
    assert_eq!(code, ReptileCode::Arrow);
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe {
        reptile_decide_arrow(
            agents,
            null(),
            null(),
            null(),
            null(),
            false,
            null_mut(),
            null_mut(),
            &raw mut out,
            &raw mut out_schema,
            message,
        )
    });
    assert_eq!(code, ReptileCode::Argument);
    let (mut stream, mut verdicts) = (FFI_ArrowArrayStream::empty(), FFI_ArrowArrayStream::empty());
    // SAFETY: the stream is marked as released, and the result is writable.
    let (code, _) = asked(|message| unsafe {
        reptile_decide_arrow_stream(
            agents,
            null(),
            null(),
            null(),
            null(),
            false,
            &raw mut stream,
            &raw mut verdicts,
            message,
        )
    });
    assert_eq!(code, ReptileCode::Arrow);
    done(agents);
}

#[test]
fn arrow_streams_outlive_their_agents() {
    let _alone = alone();
    let agents = agents(&["MyBot"]);
    let urls = || -> RecordBatch {
        let urls: arrow_array::ArrayRef = std::sync::Arc::new(StringArray::from(vec!["/cart", "/x"]));
        RecordBatch::try_from_iter([("link", urls)]).unwrap()
    };
    let stream = |column: Option<&CStr>| {
        let batches = RecordBatchIterator::new(vec![Ok(urls()), Ok(urls())], urls().schema());
        let mut stream = FFI_ArrowArrayStream::new(Box::new(batches));
        let mut verdicts = FFI_ArrowArrayStream::empty();
        let column = column.map_or(null(), CStr::as_ptr);
        // SAFETY: the stream follows the C stream interface, and the result is writable.
        let (code, text) = asked(|message| unsafe {
            reptile_decide_arrow_stream(
                agents,
                null(),
                null(),
                column,
                null(),
                true,
                &raw mut stream,
                &raw mut verdicts,
                message,
            )
        });
        assert!(stream.release().is_none(), "ownership was not taken");
        (verdicts, code, text)
    };
    let (verdicts, code, _) = stream(Some(c"link"));
    assert_eq!(code, ReptileCode::Ok);
    let (none, code, text) = stream(Some(c"url"));
    assert!(code == ReptileCode::Arrow && none.release().is_none() && text.contains("link"), "{text}");
    // The stream keeps the agents' data alive.
    done(agents);
    let rows = RecordBatchStreamReader::try_new(verdicts).unwrap().map(|batch| batch.unwrap().num_rows());
    assert_eq!(rows.sum::<usize>(), 4);
}

#[test]
fn versions_match_the_crates() {
    // SAFETY: the version is NUL-terminated.
    assert_eq!(unsafe { CStr::from_ptr(reptile_version()) }.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    assert_eq!(reptile_format_version(), reptile::FORMAT_VERSION);
}
