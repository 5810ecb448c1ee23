//! Usage preferences: the cases in `corpora/usage`, through sets in memory and from a file, and misuse.

use std::ffi::{CString, c_char};
use std::ptr::{null, null_mut};

use arrow_array::StringArray;
use arrow_array::cast::AsArray;
use reptile::{Capture, Compiler, Dialect};
use reptile_c::*;
use serde::Deserialize;

use crate::misuse::{alone, arrow, asked, done, free_set, resolved};

#[derive(Deserialize)]
struct Case {
    name: String,
    body: String,
    agent: String,
    path: String,
    train: String,
    search: String,
}

#[derive(Deserialize)]
struct Cases {
    usage: Vec<Case>,
    signals: Vec<Case>,
}

/// Prepares uses, or returns the code and message.
fn uses(names: &[&str], lines: u32, vocabulary: Option<&str>) -> Result<*mut ReptileUses, (ReptileCode, String)> {
    let names: Vec<CString> = names.iter().map(|name| CString::new(*name).unwrap()).collect();
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let vocabulary = vocabulary.map(|name| CString::new(name).unwrap());
    let vocabulary = vocabulary.as_ref().map_or(null(), |name| name.as_ptr());
    let mut uses = null_mut();
    // SAFETY: the names and the vocabulary are NUL-terminated, the length is correct, and `uses` is writable.
    let (code, text) = asked(|message| unsafe {
        reptile_uses_new(pointers.as_ptr(), pointers.len(), lines, vocabulary, &raw mut uses, message)
    });
    if code == ReptileCode::Ok { Ok(uses) } else { Err((code, text)) }
}

fn free(uses: &mut *mut ReptileUses) -> ReptileCode {
    // SAFETY: `uses` is a variable, and its handle is checked before it is read.
    unsafe { reptile_uses_free(uses) }
}

/// Asks about a page. The buffer has room for `room` preferences.
fn usage(
    agents: *const ReptileAgents,
    agent: usize,
    url: &str,
    time: Option<i64>,
    uses: *const ReptileUses,
    room: usize,
) -> (Vec<u8>, ReptileCode, String) {
    let mut preferences = vec![9; room];
    let (url, len, to) = (url.as_ptr().cast(), url.len(), preferences.as_mut_ptr());
    let (code, text) = match time {
        // SAFETY: the lengths are correct, and handles are checked.
        None => asked(|message| unsafe { reptile_usage(agents, agent, url, len, uses, to, room, message) }),
        Some(time) => {
            // SAFETY: as above.
            asked(|message| unsafe { reptile_usage_at(agents, agent, url, len, time, uses, to, room, message) })
        }
    };
    (preferences, code, text)
}

fn numbers(words: &[&str]) -> Vec<u8> {
    let number = |word: &&str| match *word {
        "allowed" => ReptilePreference::Allowed as u8,
        "disallowed" => ReptilePreference::Disallowed as u8,
        "unknown" => ReptilePreference::Unknown as u8,
        "not-applicable" => ReptilePreference::NotApplicable as u8,
        other => panic!("{other}"),
    };
    words.iter().map(number).collect()
}

/// Returns a set of a body at `https://a.example`, by time if a time is given.
pub fn compiled(bodies: &[(&str, Option<i64>)]) -> *mut ReptileSet {
    let has_times = bodies.iter().any(|(_, time)| time.is_some());
    let mut compiler = Compiler::new(Dialect::google()).by_time(has_times);
    for (body, time) in bodies {
        let mut capture = Capture::new("https://a.example/robots.txt", *body).unwrap();
        capture.time = *time;
        compiler.add(capture).unwrap();
    }
    let bytes = compiler.finish().unwrap().to_bytes();
    let mut set = null_mut();
    // SAFETY: the length is correct, and `set` is writable.
    let (code, text) =
        asked(|message| unsafe { reptile_set_from_bytes(bytes.as_ptr(), bytes.len(), &raw mut set, message) });
    assert_eq!(code, ReptileCode::Ok, "{text}");
    set
}

#[test]
fn cases_hold_in_parsed_files_and_sets() {
    let _alone = alone();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpora/usage/cases.toml")).unwrap();
    let cases: Cases = toml::from_str(&text).unwrap();
    assert_eq!((cases.usage.len(), cases.signals.len()), (35, 7));
    for (cases, lines) in [(cases.usage, ReptileUsageLines::Usage), (cases.signals, ReptileUsageLines::Signals)] {
        let mut asked_uses = uses(&["train-ai", "search"], lines as u32, None).unwrap();
        for Case { name, body, agent, path, train, search } in cases {
            let mut parsed = null_mut();
            // SAFETY: the length is correct, and the set is writable.
            let (code, text) = asked(|message| unsafe {
                reptile_set_parse(body.as_ptr(), body.len(), null(), &raw mut parsed, message)
            });
            assert_eq!((code, text.as_str()), (ReptileCode::Ok, ""));
            for mut set in [parsed, compiled(&[(&body, None)])] {
                let (agents, code, text) = resolved(set, &[&agent]);
                assert_eq!((code, text.as_str()), (ReptileCode::Ok, ""));
                let found = usage(agents, 0, &format!("https://a.example{path}"), None, asked_uses, 2);
                assert_eq!(found, (numbers(&[&train, &search]), ReptileCode::Ok, String::new()), "{name}");
                let urls = StringArray::from(vec![Some(format!("https://a.example{path}")), None]);
                let rows = arrow(agents, Some(c""), asked_uses, &urls).unwrap();
                for (column, word) in rows.columns().iter().zip([&train, &search]) {
                    let words: Vec<Option<&str>> = column.as_string::<i64>().iter().collect();
                    assert_eq!(words, [Some(word.as_str()), None], "{name}");
                }
                assert_eq!(rows.schema().field(1).name(), &format!("{agent}:search"));
                done(agents);
                assert_eq!(free_set(&mut set), ReptileCode::Ok);
            }
        }
        assert_eq!(free(&mut asked_uses), ReptileCode::Ok);
    }
}

#[test]
fn preferences_at_a_time() {
    let _alone = alone();
    let (old, new) = ("user-agent: *\ncontent-usage: train-ai=y\n", "user-agent: *\ncontent-usage: train-ai=n\n");
    let mut set = compiled(&[(old, Some(100)), (new, Some(200))]);
    let (agents, ..) = resolved(set, &["Bot"]);
    let mut uses = uses(&["train-ai"], 0, Some("aipref-07")).unwrap();
    for (time, expected) in [(150, "allowed"), (250, "disallowed")] {
        let found = usage(agents, 0, "https://a.example/x", Some(time), uses, 1);
        assert_eq!(found, (numbers(&[expected]), ReptileCode::Ok, String::new()));
    }
    done(agents);
    assert_eq!((free(&mut uses), free_set(&mut set)), (ReptileCode::Ok, ReptileCode::Ok));
}

#[test]
fn misuse_is_an_error_and_leaves_no_preference() {
    let _alone = alone();
    for (names, lines, vocabulary, says) in [
        (&["train"][..], 0, None, "has no use \"train\"; expected train-ai, search, ai-use"),
        (&["search"], 16, None, "the lines are a combination of 1, 2, 4 and 8, not 16"),
        (&["search"], 0, Some("none"), "vocabulary \"none\": expected aipref-08, aipref-07, legacy, any, or a file"),
    ] {
        let (code, text) = uses(names, lines, vocabulary).unwrap_err();
        assert!(code == ReptileCode::Argument && text.contains(says), "{text}");
    }
    let mut set = compiled(&[("user-agent: *\ncontent-usage: search=y\n", None)]);
    let (agents, ..) = resolved(set, &["Bot"]);
    let mut two = uses(&["train-ai", "search"], 0, None).unwrap();
    let url = "https://a.example/";
    for (found, says) in [
        (usage(agents, 0, url, None, two, 1), "2 uses need 2 preferences, not 1"),
        (usage(agents, 1, url, None, two, 2), "no crawler 1"),
        (usage(agents, 0, url, None, null(), 2), "the uses"),
        (usage(null(), 0, url, None, two, 2), "the agents"),
        (usage(agents, 0, url, None, agents.cast(), 2), "the uses"),
    ] {
        let (preferences, code, text) = found;
        assert!(code == ReptileCode::Argument && text.contains(says), "{text}");
        assert!(preferences.iter().all(|&preference| preference == ReptilePreference::None as u8));
    }
    let (preferences, code, _) = usage(agents, 0, url, Some(1), two, 2);
    assert_eq!((preferences, code), (vec![0, 0], ReptileCode::Other));
    let (mut same, freed) = (two, two);
    assert_eq!((free(&mut two), free(&mut same)), (ReptileCode::Ok, ReptileCode::Argument));
    let urls = StringArray::from(vec![url]);
    for (columns, uses, code, says) in [
        (None, freed, ReptileCode::Argument, "the uses"),
        (None, agents.cast(), ReptileCode::Argument, "the uses"),
        (Some(c""), null_mut(), ReptileCode::Column, "unknown column"),
    ] {
        let (found, text) = arrow(agents, columns, uses, &urls).unwrap_err();
        assert!(found == code && text.contains(says), "{text}");
    }
    done(agents);
    assert_eq!(free_set(&mut set), ReptileCode::Ok);
}
