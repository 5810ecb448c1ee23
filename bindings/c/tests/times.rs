//! Decides by the rules of a time, in by-time sets and in others.

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use reptile::{Capture, Compiler, Dialect};
use reptile_c::*;

use crate::misuse::{alone, asked, done, resolved};

const URL: &str = "https://paper.example/news";

/// Compiles a set and resolves two agents. If it is by time, it has no rules before 1,000, disallows from 1,000 and
/// allows from 2,000.
fn agents(by_time: bool) -> *mut ReptileAgents {
    let mut compiler = Compiler::new(Dialect::google()).by_time(by_time);
    for (time, body) in [(1_000, "user-agent: *\ndisallow: /news"), (2_000, "user-agent: *\nallow: /news")] {
        let mut capture = Capture::new("https://paper.example/robots.txt", body).unwrap();
        capture.time = Some(time);
        compiler.add(capture).unwrap();
    }
    let mut bytes = Vec::new();
    compiler.finish().unwrap().write(&mut bytes).unwrap();
    let mut set = null_mut();
    // SAFETY: the length is correct, and `set` is writable.
    let (code, text) =
        asked(|message| unsafe { reptile_set_from_bytes(bytes.as_ptr(), bytes.len(), &raw mut set, message) });
    assert_eq!(code, ReptileCode::Ok, "{text}");
    let (agents, code, text) = resolved(set, &["MyBot", "GPTBot"]);
    assert_eq!(code, ReptileCode::Ok, "{text}");
    // SAFETY: the set is freed once, and the agents keep its data alive.
    unsafe { reptile_set_free(&raw mut set) };
    agents
}

/// Decides the URL at a time. Returns the code, the message and the verdicts.
fn decide_at(agents: *const ReptileAgents, time: i64) -> (ReptileCode, String, [u8; 2]) {
    let mut verdicts = [9; 2];
    let (url, place) = (URL.as_ptr().cast(), verdicts.as_mut_ptr());
    // SAFETY: the lengths are correct.
    let (code, text) = asked(|message| unsafe { reptile_decide_at(agents, url, URL.len(), time, place, 2, message) });
    (code, text, verdicts)
}

const EXPECTED: [(i64, ReptileVerdict); 6] = [
    (i64::MIN, ReptileVerdict::Unknown),
    (999, ReptileVerdict::Unknown),
    (1_000, ReptileVerdict::Disallow),
    (1_999, ReptileVerdict::Disallow),
    (2_000, ReptileVerdict::Allow),
    (i64::MAX, ReptileVerdict::Allow),
];

#[test]
fn one_url_is_decided_by_the_rules_of_its_time() {
    let _alone = alone();
    let timed = agents(true);
    for (time, expected) in EXPECTED {
        let (code, text, verdicts) = decide_at(timed, time);
        assert_eq!((code, verdicts), (ReptileCode::Ok, [expected as u8; 2]), "{time}: {text}");
    }
    done(timed);
    let other = agents(false);
    let (code, text, verdicts) = decide_at(other, 1_000);
    assert!(code == ReptileCode::Other && verdicts == [0; 2] && text.contains("not by time"), "{text}");
    done(other);
}

#[test]
fn explanations_use_the_rules_of_their_time() {
    let _alone = alone();
    let (timed, other) = (agents(true), agents(false));
    let explain = |agents: *const ReptileAgents, time| {
        let (mut why, url) = (null_mut(), URL.as_ptr().cast());
        // SAFETY: the length is correct, and `why` is writable.
        let (code, text) =
            asked(|message| unsafe { reptile_explain_at(agents, 1, url, URL.len(), time, &raw mut why, message) });
        // SAFETY: the explanation is null or live.
        let found = unsafe { why.as_ref() }.map(|found| (found.verdict, found.line));
        // SAFETY: nothing else uses the explanation.
        unsafe { reptile_explanation_free(&raw mut why) };
        (code, text, found)
    };
    for (time, verdict) in EXPECTED {
        let line = if verdict == ReptileVerdict::Unknown { 0 } else { 2 };
        assert_eq!(explain(timed, time), (ReptileCode::Ok, String::new(), Some((verdict, line))), "{time}");
    }
    let (code, text, found) = explain(other, 1_000);
    assert!(code == ReptileCode::Other && found.is_none() && text.contains("not by time"), "{text}");
    done(timed);
    done(other);
}

#[test]
fn many_urls_are_decided_by_the_rules_of_their_times() {
    let _alone = alone();
    let (timed, other) = (agents(true), agents(false));
    let rows = 3_000;
    let urls = vec![URL.as_ptr().cast(); rows];
    let lens = vec![URL.len(); rows];
    let times: Vec<i64> = EXPECTED.iter().cycle().map(|&(time, _)| time).take(rows).collect();
    let decide = |agents, times, all_threads| {
        let mut verdicts = vec![9; 2 * rows];
        let (urls, lens, place) = (urls.as_ptr(), lens.as_ptr(), verdicts.as_mut_ptr());
        // SAFETY: all lengths are correct. Null times are an error.
        let (code, _) = asked(|message| unsafe {
            reptile_decide_many_at(agents, urls, lens, times, rows, all_threads, place, 2 * rows, message)
        });
        (code, verdicts)
    };
    let expected: Vec<u8> = EXPECTED.iter().cycle().flat_map(|&(_, word)| [word as u8; 2]).take(2 * rows).collect();
    for all_threads in [true, false] {
        assert_eq!(decide(timed, times.as_ptr(), all_threads), (ReptileCode::Ok, expected.clone()));
        assert_eq!(decide(other, times.as_ptr(), all_threads), (ReptileCode::Other, vec![0; 2 * rows]));
    }
    assert_eq!(decide(timed, null(), true), (ReptileCode::Argument, vec![0; 2 * rows]));
    done(timed);
    done(other);
}

#[test]
fn arrow_rows_are_decided_by_a_time_column() {
    let _alone = alone();
    let timed = agents(true);
    let times: ArrayRef = Arc::new(Int64Array::from(vec![Some(999), Some(1_000), None]));
    let urls: ArrayRef = Arc::new(StringArray::from(vec![URL; 3]));
    let rows = StructArray::from(RecordBatch::try_from_iter([("url", urls), ("seen", times)]).unwrap());
    let decide = |column: &CStr| {
        let (mut urls, mut schema) = to_ffi(&rows.to_data()).unwrap();
        let (mut out, mut out_schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
        let (taken, taken_schema, place, place_schema) =
            (&raw mut urls, &raw mut schema, &raw mut out, &raw mut out_schema);
        let (columns, column) = (c"mask,capture_time".as_ptr(), column.as_ptr());
        // SAFETY: the array and schema follow the C data interface, and the results are writable.
        let (code, text) = asked(|message| unsafe {
            reptile_decide_arrow(
                timed,
                columns,
                null(),
                null(),
                column,
                true,
                taken,
                taken_schema,
                place,
                place_schema,
                message,
            )
        });
        if code != ReptileCode::Ok {
            return Err((code, text));
        }
        // SAFETY: the library follows the C data interface.
        Ok(RecordBatch::from(StructArray::from(unsafe { from_ffi(out, &out_schema) }.unwrap())))
    };
    let batch = decide(c"seen").unwrap();
    assert_eq!((batch["mask"].null_count(), batch["capture_time"].null_count()), (2, 2));
    let (code, text) = decide(c"when").unwrap_err();
    assert!(code == ReptileCode::Arrow && text.contains("when"), "{text}");
    done(timed);
}
