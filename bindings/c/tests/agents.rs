//! Resolves crawlers from headers, decides in scopes, and summarizes crawlers' access to origins.

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StringArray, StructArray};
use reptile::{Capture, Compiler, Dialect};
use reptile_c::*;
use reptile_columns::Scope;

use crate::misuse::{alone, asked, decide, done, free_set, given, parsed, resolved};

/// Returns a set in which only the host with `www.` has a robots.txt, by time or not.
fn www(by_time: bool) -> *mut ReptileSet {
    let mut compiler = Compiler::new(Dialect::google()).by_time(by_time);
    let body = "user-agent: GPTBot\ndisallow: /\nuser-agent: *\nallow: /$\ndisallow: /cart\n";
    let mut capture = Capture::new("https://www.shop.example/robots.txt", body).unwrap();
    capture.time = Some(1_000);
    compiler.add(capture).unwrap();
    let bytes = compiler.finish().unwrap().to_bytes();
    let mut set = null_mut();
    // SAFETY: the length is correct, and `set` is writable.
    let (code, text) =
        asked(|message| unsafe { reptile_set_from_bytes(bytes.as_ptr(), bytes.len(), &raw mut set, message) });
    assert_eq!(code, ReptileCode::Ok, "{text}");
    set
}

fn agents(by_time: bool) -> *mut ReptileAgents {
    let mut set = www(by_time);
    let (agents, code, text) = resolved(set, &["MyBot", "GPTBot"]);
    assert_eq!(code, ReptileCode::Ok, "{text}");
    free_set(&mut set);
    agents
}

fn in_scope(agents: *const ReptileAgents, scope: *const c_char) -> Result<*mut ReptileAgents, (ReptileCode, String)> {
    let mut scoped = std::ptr::dangling_mut();
    // SAFETY: the agents are checked, the scope is null or NUL-terminated, and `scoped` is writable.
    let (code, text) = asked(|message| unsafe { reptile_agents_in_scope(agents, scope, &raw mut scoped, message) });
    assert_eq!(code != ReptileCode::Ok, scoped.is_null());
    if code == ReptileCode::Ok { Ok(scoped) } else { Err((code, text)) }
}

/// Returns the name of the crawler in a header, if any.
fn sender(set: *const ReptileSet, header: *const c_char, len: usize) -> Result<Option<String>, ReptileCode> {
    let mut agents = std::ptr::dangling_mut();
    // SAFETY: the set is checked, and invalid lengths are checked first. `agents` is writable.
    let (code, _) = asked(|message| unsafe { reptile_agents_of_header(set, header, len, &raw mut agents, message) });
    if agents.is_null() {
        return if code == ReptileCode::Ok { Ok(None) } else { Err(code) };
    }
    // SAFETY: the agents are live.
    let name = given(unsafe { reptile_agents_name(agents, 0) });
    // SAFETY: the agents are live.
    assert_eq!((code, unsafe { reptile_agents_len(agents) }), (ReptileCode::Ok, 1));
    done(agents);
    Ok(Some(name.into_string().unwrap()))
}

#[test]
fn headers_name_crawlers_but_not_browsers() {
    let _alone = alone();
    for mut set in [www(false), parsed()] {
        for (header, expected) in [
            (c"Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", Some("GPTBot")),
            (c"MyBot/1.0", Some("MyBot")),
            (c"Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", None),
            (c"", None),
            (c"\xff\xfe", None),
        ] {
            let found = sender(set, header.as_ptr(), header.count_bytes());
            assert_eq!(found, Ok(expected.map(str::to_owned)), "{header:?}");
        }
        for len in [reptile::MAX_HEADER_BYTES - 1, reptile::MAX_HEADER_BYTES, reptile::MAX_HEADER_BYTES + 1] {
            let header = format!("GPTBot/1.0 ({})", "x".repeat(len - "GPTBot/1.0 ()".len()));
            let found = sender(set, header.as_ptr().cast(), header.len()).unwrap();
            assert_eq!(found.is_some(), len <= reptile::MAX_HEADER_BYTES, "{len}");
        }
        assert_eq!(sender(set, null(), 0), Ok(None));
        assert_eq!(sender(set, null(), 1), Err(ReptileCode::Argument));
        assert_eq!(sender(set, c"x".as_ptr(), usize::MAX), Err(ReptileCode::Argument));
        // SAFETY: null is checked first.
        let (code, _) = asked(|message| unsafe { reptile_agents_of_header(set, null(), 0, null_mut(), message) });
        assert_eq!(code, ReptileCode::Argument);
        let same = set;
        free_set(&mut set);
        assert_eq!(sender(same, null(), 0), Err(ReptileCode::Argument));
    }
    assert_eq!(sender(null(), null(), 0), Err(ReptileCode::Argument));
}

const URLS: [&str; 4] = [
    "https://www.shop.example/cart",
    "http://www.shop.example/cart",
    "http://shop.example/cart",
    "http://a.shop.example/cart",
];

#[test]
fn scopes_change_every_way_to_decide() {
    let _alone = alone();
    for by_time in [false, true] {
        let own = agents(by_time);
        for (known, scope) in [c"origin", c"scheme", c"www", c"domain"].into_iter().enumerate() {
            let scoped = in_scope(own, scope.as_ptr()).unwrap();
            let expected = |row: usize| if row <= known { ReptileVerdict::Disallow } else { ReptileVerdict::Unknown };
            for (row, url) in URLS.into_iter().enumerate() {
                let mut verdicts = [9; 2];
                assert_eq!(decide(scoped, url, &mut verdicts).0, ReptileCode::Ok);
                assert_eq!(verdicts, [expected(row) as u8; 2], "{scope:?} {url}");
                assert_eq!(explained(scoped, url, None), (expected(row), row > 0 && row <= known));
                if by_time {
                    assert_eq!(explained(scoped, url, Some(1_000)), (expected(row), row > 0 && row <= known));
                    assert_eq!(explained(scoped, url, Some(999)), (ReptileVerdict::Unknown, false));
                }
            }
            let rows = 4_000;
            let urls: Vec<*const c_char> = URLS.iter().cycle().take(rows).map(|url| url.as_ptr().cast()).collect();
            let lens: Vec<usize> = URLS.iter().cycle().take(rows).map(|url| url.len()).collect();
            let expected: Vec<u8> = (0..rows).flat_map(|row| [expected(row % URLS.len()) as u8; 2]).collect();
            for (all_threads, time) in [(false, None), (true, None), (false, Some(1_000)), (true, Some(999))] {
                let times = vec![time.unwrap_or_default(); rows];
                let mut verdicts = vec![9; 2 * rows];
                let (urls, lens, times, place) = (urls.as_ptr(), lens.as_ptr(), times.as_ptr(), verdicts.as_mut_ptr());
                let len = verdicts.len();
                let (code, _) = asked(|message| match time {
                    // SAFETY: all lengths are correct.
                    None => unsafe { reptile_decide_many(scoped, urls, lens, rows, all_threads, place, len, message) },
                    // SAFETY: all lengths are correct.
                    Some(_) => unsafe {
                        reptile_decide_many_at(scoped, urls, lens, times, rows, all_threads, place, len, message)
                    },
                });
                match time {
                    Some(_) if !by_time => assert_eq!((code, verdicts), (ReptileCode::Other, vec![0; len])),
                    Some(999) => assert_eq!(verdicts, vec![ReptileVerdict::Unknown as u8; len]),
                    _ => assert_eq!((code, verdicts), (ReptileCode::Ok, expected.clone())),
                }
            }
            let words = arrow(scoped);
            let known = words.iter().enumerate().all(|(row, word)| (word == "disallow") == (row <= known));
            assert!(known, "{scope:?}: {words:?}");
            done(scoped);
        }
        done(own);
    }
}

/// Returns the verdict for the first crawler, and whether another origin decided.
fn explained(agents: *const ReptileAgents, url: &str, time: Option<i64>) -> (ReptileVerdict, bool) {
    let (mut why, start, len) = (null_mut(), url.as_ptr().cast(), url.len());
    let (code, text) = asked(|message| match time {
        // SAFETY: the length is correct, and `why` is writable.
        None => unsafe { reptile_explain(agents, 0, start, len, &raw mut why, message) },
        // SAFETY: the length is correct, and `why` is writable.
        Some(time) => unsafe { reptile_explain_at(agents, 0, start, len, time, &raw mut why, message) },
    });
    assert_eq!(code, ReptileCode::Ok, "{text}");
    // SAFETY: the call returned an explanation.
    let found = unsafe { &*why };
    let origin = given(found.origin);
    assert!(origin.is_empty() || *origin == *c"https://www.shop.example", "{origin:?}");
    assert_eq!(origin.count_bytes(), found.origin_len);
    let found = (found.verdict, !origin.is_empty());
    // SAFETY: nothing else uses the explanation.
    assert_eq!(unsafe { reptile_explanation_free(&raw mut why) }, ReptileCode::Ok);
    found
}

/// Returns the first crawler's verdicts through Arrow.
fn arrow(agents: *const ReptileAgents) -> Vec<String> {
    let (mut urls, mut schema) = to_ffi(&StringArray::from(URLS.to_vec()).to_data()).unwrap();
    let (mut out, mut out_schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
    let (taken, taken_schema, place, place_schema) =
        (&raw mut urls, &raw mut schema, &raw mut out, &raw mut out_schema);
    // SAFETY: the array and schema follow the C data interface, and the results are writable.
    let (code, text) = asked(|message| unsafe {
        let (columns, none) = (null(), null());
        reptile_decide_arrow(
            agents,
            columns,
            null(),
            none,
            none,
            true,
            taken,
            taken_schema,
            place,
            place_schema,
            message,
        )
    });
    assert_eq!(code, ReptileCode::Ok, "{text}");
    // SAFETY: the library follows the C data interface.
    let rows = RecordBatch::from(StructArray::from(unsafe { from_ffi(out, &out_schema) }.unwrap()));
    let verdicts = arrow_array::cast::as_string_array(&strings(rows.column(0))).clone();
    verdicts.iter().map(|word| word.unwrap().to_owned()).collect()
}

/// Returns a dictionary's strings.
fn strings(words: &ArrayRef) -> ArrayRef {
    let words = words.as_any_dictionary();
    let values = words.values().as_string::<i32>();
    Arc::new(words.normalized_keys().into_iter().map(|key| Some(values.value(key))).collect::<StringArray>())
}

#[test]
fn unknown_scopes_are_errors() {
    let _alone = alone();
    let own = agents(false);
    for (scope, expected) in [
        (null(), "the scope is a null pointer"),
        (c"".as_ptr(), "expected one of origin, scheme, www, domain"),
        (c"WWW".as_ptr(), "unknown scope \"WWW\""),
        (c"\xff".as_ptr(), "not UTF-8"),
    ] {
        let (code, text) = in_scope(own, scope).unwrap_err();
        assert!(code == ReptileCode::Argument && text.contains(expected), "{text}");
    }
    assert!(Scope::ALL.len() == 4);
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_agents_in_scope(own, c"www".as_ptr(), null_mut(), message) });
    assert_eq!(code, ReptileCode::Argument);
    assert_eq!(in_scope(null(), c"www".as_ptr()).unwrap_err().0, ReptileCode::Argument);
    // The new agents do not need the old ones.
    let scoped = in_scope(own, c"www".as_ptr()).unwrap();
    done(own);
    assert_eq!(in_scope(own, c"www".as_ptr()).unwrap_err().0, ReptileCode::Argument);
    let mut verdicts = [0; 2];
    assert_eq!(decide(scoped, URLS[2], &mut verdicts).0, ReptileCode::Ok);
    assert_eq!(verdicts, [ReptileVerdict::Disallow as u8; 2]);
    done(scoped);
}

type Row = (ReptileAccessKind, ReptileGroup, u32, u32, String, Option<String>, Option<String>);

fn access(agents: *const ReptileAgents, agent: usize, url: &CStr) -> Result<Row, ReptileCode> {
    let (mut summary, start, len) = (std::ptr::dangling_mut(), url.as_ptr(), url.count_bytes());
    // SAFETY: the agents are checked, the length is correct, and `summary` is writable.
    let (code, _) = asked(|message| unsafe { reptile_access(agents, agent, start, len, &raw mut summary, message) });
    if code != ReptileCode::Ok {
        assert!(summary.is_null());
        return Err(code);
    }
    let optional = |text: *const c_char, len: usize| -> Option<String> {
        let text = (!text.is_null()).then(|| given(text).into_string().unwrap());
        assert_eq!(text.as_ref().map_or(0, String::len), len);
        text
    };
    // SAFETY: the call returned a summary.
    let found = unsafe { &*summary };
    let row = (
        found.access,
        found.group,
        found.allow_rules,
        found.disallow_rules,
        optional(found.reason, found.reason_len).unwrap(),
        optional(found.allowed_path, found.allowed_path_len),
        optional(found.disallowed_path, found.disallowed_path_len),
    );
    // SAFETY: `place` is a variable, and its handle is checked before it is read.
    let free = |place: &mut *mut ReptileSummary| unsafe { reptile_summary_free(place) };
    let mut same = summary;
    assert_eq!((free(&mut summary), free(&mut same)), (ReptileCode::Ok, ReptileCode::Argument));
    Ok(row)
}

#[test]
fn summaries_say_what_crawlers_may_fetch() {
    use {ReptileAccessKind as Access, ReptileGroup as Group};
    let _alone = alone();
    let agents = agents(false);
    let shop = c"https://www.shop.example/any?thing";
    let (access_of, group, allows, disallows, reason, allowed, disallowed) = access(agents, 0, shop).unwrap();
    assert_eq!((access_of, group, allows, disallows, &*reason), (Access::Partial, Group::Default, 1, 1, "rule"));
    assert!(allowed.unwrap().starts_with('/') && disallowed.unwrap().starts_with("/cart"));
    let all = (Access::Disallowed, Group::Named, 0, 1, "rule".to_owned(), None, None);
    assert_eq!(access(agents, 1, shop), Ok(all));
    // A scope has no effect.
    let scoped = in_scope(agents, c"domain".as_ptr()).unwrap();
    for (url, expected) in [(c"https://shop.example/", Access::Unknown), (c"no url", Access::Invalid)] {
        let (found, group, ..) = access(scoped, 0, url).unwrap();
        assert_eq!((found, group), (expected, Group::None), "{url:?}");
    }
    done(scoped);
    assert_eq!(access(agents, 2, shop), Err(ReptileCode::Argument));
    assert_eq!(access(null(), 0, shop), Err(ReptileCode::Argument));
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_access(agents, 0, null(), 0, null_mut(), message) });
    assert_eq!(code, ReptileCode::Argument);
    let same = agents;
    done(agents);
    assert_eq!(access(same, 0, shop), Err(ReptileCode::Argument));
}

#[test]
fn summaries_of_many_origins_are_arrow_rows() {
    let _alone = alone();
    let agents = agents(false);
    let rows = |origins: *const *const c_char, len: usize| {
        let mut out = FFI_ArrowArrayStream::empty();
        // SAFETY: the agents are live, the origins are checked, and the result is writable.
        let (code, text) =
            asked(|message| unsafe { reptile_summarize_arrow(agents, origins, len, &raw mut out, message) });
        if code != ReptileCode::Ok {
            assert!(out.release().is_none());
            return Err((code, text));
        }
        let batches = RecordBatchStreamReader::try_new(out).unwrap();
        let names: Vec<String> = batches.schema().fields().iter().map(|field| field.name().clone()).collect();
        let columns = "url agent access group allow_rules disallow_rules reason allowed_path disallowed_path";
        assert_eq!(names.join(" "), columns);
        Ok(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>())
    };
    let origins = [c"www.shop.example".as_ptr(), c"https://no.example/".as_ptr(), c"no url/".as_ptr()];
    assert_eq!(rows(origins.as_ptr(), 3), Ok(6));
    assert_eq!(rows(origins.as_ptr(), 0), Ok(0));
    assert_eq!(rows(null(), 0), Ok(2), "every origin of the set");
    for (origins, len) in [(null(), 1), (origins.as_ptr(), usize::MAX), ([null()].as_ptr(), 1)] {
        let (code, text) = rows(origins, len).unwrap_err();
        assert_eq!(code, ReptileCode::Argument, "{text}");
    }
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_summarize_arrow(agents, null(), 0, null_mut(), message) });
    assert_eq!(code, ReptileCode::Argument);
    done(agents);
}
