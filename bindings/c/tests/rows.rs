//! Crawlers that rows name, and single verdicts by purpose, in the Arrow functions.

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray, StructArray};
use reptile_c::*;

use crate::misuse::{alone, arrow, asked, decide, done, free_set, parsed, resolved};
use crate::usage::compiled;

const BODY: &str = "user-agent: *\ndisallow: /x\ncontent-usage: train-ai=n\n\nuser-agent: GPTBot\ndisallow: /\n";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";

/// Creates agents for crawlers in rows, or returns the code and the message.
fn of_rows(
    set: *const ReptileSet,
    column: Option<&CStr>,
    headers: bool,
    exact: bool,
) -> Result<*mut ReptileAgents, (ReptileCode, String)> {
    let mut agents = null_mut();
    let column = column.map_or(null(), CStr::as_ptr);
    // SAFETY: the column is null or NUL-terminated, and `agents` is writable.
    let (code, text) =
        asked(|message| unsafe { reptile_agents_of_rows(set, column, headers, exact, &raw mut agents, message) });
    if code == ReptileCode::Ok { Ok(agents) } else { Err((code, text)) }
}

/// Prepares uses and a purpose, or returns the code and the message.
fn with_purpose(purpose: &CStr, unknown: &CStr) -> Result<*mut ReptileUses, (ReptileCode, String)> {
    let names: [*const c_char; 1] = [c"train-ai".as_ptr()];
    let (purpose, unknown, mut uses) = (purpose.as_ptr(), unknown.as_ptr(), null_mut());
    // SAFETY: all strings are NUL-terminated, and `uses` is writable.
    let (code, text) = asked(|message| unsafe {
        reptile_uses_with_purpose(names.as_ptr(), 1, 0, null(), purpose, unknown, &raw mut uses, message)
    });
    if code == ReptileCode::Ok { Ok(uses) } else { Err((code, text)) }
}

fn texts<'b>(batch: &'b RecordBatch, column: &str) -> Vec<Option<&'b str>> {
    let column = &batch[column];
    match column.as_dictionary_opt::<arrow_array::types::Int8Type>() {
        Some(words) => words.downcast_dict::<StringArray>().unwrap().into_iter().collect(),
        None => column.as_string::<i64>().iter().collect(),
    }
}

fn rows(pairs: &[(Option<&str>, Option<&str>)]) -> StructArray {
    let column = |texts: Vec<Option<&str>>| Arc::new(StringArray::from(texts)) as ArrayRef;
    let urls = column(pairs.iter().map(|pair| pair.0).collect());
    let names = column(pairs.iter().map(|pair| pair.1).collect());
    StructArray::from(RecordBatch::try_from_iter([("url", urls), ("bot", names)]).unwrap())
}

#[test]
fn each_row_is_decided_for_its_own_crawler() {
    let _alone = alone();
    let mut set = compiled(&[(BODY, None)]);
    let named = of_rows(set, Some(c"bot"), false, false).unwrap();
    let urls =
        [Some("https://a.example/x"), Some("https://a.example/y"), Some("https://b.example/"), Some("none"), None];
    let names = [Some("GPTBot"), Some("GPTBot/1.2"), Some("MyBot"), Some(FIREFOX), Some("-"), None];
    let pairs: Vec<_> = urls.iter().flat_map(|&url| names.iter().map(move |&name| (url, name))).collect();
    let batch = arrow(named, Some(c"verdict,agent,line"), null(), &rows(&pairs)).unwrap();
    let (verdicts, found) = (texts(&batch, "verdict"), texts(&batch, "agent"));
    let mut compared = 0;
    for ((&(url, name), verdict), agent) in pairs.iter().zip(verdicts).zip(found) {
        let name = name.filter(|name| !matches!(*name, FIREFOX | "-")).map(|name| name.trim_end_matches("/1.2"));
        let Some(url) = url else {
            assert_eq!((verdict, agent), (None, None));
            continue;
        };
        assert_eq!(agent, Some(name.unwrap_or_default()));
        let Some(name) = name else {
            assert_eq!(verdict, Some(if url == "none" { "invalid" } else { "unknown" }));
            continue;
        };
        let (agents, ..) = resolved(set, &[name]);
        let mut one = [0];
        assert_eq!(decide(agents, url, &mut one).0, ReptileCode::Ok);
        let words = ["allow", "disallow", "unknown", "invalid"];
        assert_eq!(verdict, Some(words[usize::from(one[0]) - 1]), "{url} {name}");
        done(agents);
        compared += 1;
    }
    assert_eq!(compared, 4 * 3);
    // A name in a log is a header, so it cannot be misspelled.
    let pairs = [(urls[0], Some("Googelbot"))];
    let (code, text) = arrow(named, None, null(), &rows(&pairs)).unwrap_err();
    assert!(code == ReptileCode::Crawler && text.contains("write that, or set `exact` to true"), "{text}");
    for (headers, exact, verdict) in [(false, true, "disallow"), (true, false, "unknown")] {
        let agents = of_rows(set, Some(c"bot"), headers, exact).unwrap();
        let batch = arrow(agents, None, null(), &rows(&pairs)).unwrap();
        assert_eq!(texts(&batch, "verdict"), [Some(verdict)], "{headers}");
        done(agents);
    }
    done(named);
    assert_eq!(free_set(&mut set), ReptileCode::Ok);
}

#[test]
fn agents_of_rows_are_only_for_arrow() {
    let _alone = alone();
    let (mut set, mut file) = (compiled(&[(BODY, None)]), parsed());
    let agents = of_rows(set, Some(c"bot"), false, false).unwrap();
    // SAFETY: the handle is live.
    assert_eq!(unsafe { reptile_agents_len(agents) }, 0);
    let url = "https://a.example/y";
    let mut verdicts = [9];
    let (code, text) = decide(agents, url, &mut verdicts);
    assert!(code == ReptileCode::Argument && text.contains("reptile_agents_of_rows"), "{text}");
    assert_eq!(verdicts, [ReptileVerdict::None as u8]);
    let mut why = null_mut();
    // SAFETY: the length is correct, and `why` is writable.
    let (code, text) =
        asked(|message| unsafe { reptile_explain(agents, 0, url.as_ptr().cast(), url.len(), &raw mut why, message) });
    assert!(why.is_null() && code == ReptileCode::Argument && text.contains("only the Arrow functions"), "{text}");
    for (columns, says) in [(c"mask", "mask"), (c"refused", "refused"), (c"nothing", "unknown column")] {
        let (code, text) = arrow(agents, Some(columns), null(), &rows(&[(Some(url), None)])).unwrap_err();
        assert!(code == ReptileCode::Column && text.contains(says), "{text}");
    }
    let (code, text) = arrow(agents, None, null(), &StringArray::from(vec![url])).unwrap_err();
    assert!(code == ReptileCode::Arrow && text.contains("\"bot\""), "{text}");
    for (source, column, says) in [
        (set, None, "the agent column's name"),
        (file, Some(c"bot"), "one robots.txt"),
        (null_mut(), Some(c"bot"), "the set"),
    ] {
        let (code, text) = of_rows(source, column, false, false).unwrap_err();
        assert!(code == ReptileCode::Argument && text.contains(says), "{text}");
    }
    done(agents);
    assert_eq!((free_set(&mut set), free_set(&mut file)), (ReptileCode::Ok, ReptileCode::Ok));
}

#[test]
fn a_purpose_is_a_single_verdict() {
    let _alone = alone();
    let mut set = compiled(&[(BODY, None)]);
    let (agents, ..) = resolved(set, &["MyBot", "GPTBot"]);
    let urls = StringArray::from(vec![Some("https://a.example/x"), Some("https://a.example/y"), Some("none"), None]);
    for (purpose, unknown, verdicts, refused) in [
        (c"train-ai", c"allow", [Some("disallow"), Some("disallow"), Some("invalid"), None], [Some(3), Some(3)]),
        (c"search", c"allow", [Some("disallow"), Some("allow"), Some("invalid"), None], [Some(3), Some(2)]),
        (c"search", c"unknown", [Some("disallow"), Some("unknown"), Some("invalid"), None], [Some(3), None]),
    ] {
        let mut uses = with_purpose(purpose, unknown).unwrap();
        let batch = arrow(agents, Some(c"mask"), uses, &urls).unwrap();
        assert_eq!(texts(&batch, "MyBot:purpose"), verdicts, "{purpose:?}");
        assert_eq!(texts(&batch, "MyBot:train-ai")[1], Some("disallowed"));
        let masks: Vec<Option<u64>> = batch["mask"].as_primitive::<arrow_array::types::UInt64Type>().iter().collect();
        assert_eq!(masks, [refused[0], refused[1], None, None], "{purpose:?}");
        // SAFETY: `uses` is a variable with a live handle.
        assert_eq!(unsafe { reptile_uses_free(&raw mut uses) }, ReptileCode::Ok);
    }
    for (purpose, unknown, says) in [
        (c"train", c"allow", "has no use \"train\""),
        (c"search", c"never", "expected allow, disallow, unknown"),
        (c"search", CString::default().as_c_str(), "expected allow, disallow, unknown"),
    ] {
        let (code, text) = with_purpose(purpose, unknown).unwrap_err();
        assert!(code == ReptileCode::Argument && text.contains(says), "{text}");
    }
    done(agents);
    assert_eq!(free_set(&mut set), ReptileCode::Ok);
}
