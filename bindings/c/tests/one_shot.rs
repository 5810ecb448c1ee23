//! Decides directly from bytes, with the same results as a parsed file.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use reptile::{Dialect, Robots};
use reptile_c::*;

use crate::misuse::{alone, asked, done, free_set, resolved};

fn made(
    crawler: *const std::ffi::c_char,
    dialect: *const std::ffi::c_char,
    exact: bool,
) -> Result<*mut ReptileOneShot, (ReptileCode, String)> {
    let mut one_shot = std::ptr::dangling_mut();
    // SAFETY: the strings are null or NUL-terminated, and `one_shot` is writable.
    let (code, text) =
        asked(|message| unsafe { reptile_one_shot_new(crawler, dialect, exact, &raw mut one_shot, message) });
    assert_eq!(code != ReptileCode::Ok, one_shot.is_null());
    if code == ReptileCode::Ok { Ok(one_shot) } else { Err((code, text)) }
}

/// Returns the code, the verdict and the line.
fn decide(one_shot: *const ReptileOneShot, body: &str, url: &CStr) -> (ReptileCode, u8, u32) {
    let (mut verdict, mut line, url_len) = (9, 9, url.count_bytes());
    let (body, body_len, url) = (body.as_ptr(), body.len(), url.as_ptr());
    // SAFETY: the one-shot is checked, the lengths are correct, and the results are writable.
    let (code, _) = asked(|message| unsafe {
        reptile_one_shot_decide(one_shot, body, body_len, url, url_len, &raw mut verdict, &raw mut line, message)
    });
    (code, verdict, line)
}

#[test]
fn answers_equal_those_of_a_parsed_file() {
    let _alone = alone();
    let bodies = [
        "",
        "user-agent: *\ndisallow: /a\nallow: /a/b*c$\n",
        "user-agent: GPTBot\n\ndisallow: /",
        "\u{feff}disallow: /",
    ];
    let urls = [c"/", c"/a", c"https://x.example/a/bc", c"https://x.example/a/bcd?e", c"", c"nonsense"];
    for (name, dialect) in [(c"google", Dialect::google()), (c"rfc9309", Dialect::rfc9309())] {
        for crawler in [c"GPTBot", c"MyBot", c"Googlebot-News>Googlebot>*", c"*"] {
            let mut one_shot = made(crawler.as_ptr(), name.as_ptr(), false).unwrap();
            for (body, url) in bodies.iter().flat_map(|body| urls.map(|url| (body, url))) {
                let robots = Robots::parse(body, dialect).unwrap();
                let crawler = robots.crawlers_named(crawler.to_str().unwrap()).unwrap().remove(0);
                let expected = robots.agent(crawler).unwrap().explain(url.to_bytes()).unwrap();
                let line = expected.rule().map_or(0, |rule| rule.line);
                let verdict = match expected.verdict {
                    reptile::Verdict::Allow => ReptileVerdict::Allow,
                    reptile::Verdict::Disallow => ReptileVerdict::Disallow,
                    reptile::Verdict::Unknown => ReptileVerdict::Unknown,
                    reptile::Verdict::Invalid => ReptileVerdict::Invalid,
                };
                assert_eq!(decide(one_shot, body, url), (ReptileCode::Ok, verdict as u8, line), "{body:?} {url:?}");
            }
            // SAFETY: `one_shot` is a variable with a live handle.
            assert_eq!(unsafe { reptile_one_shot_free(&raw mut one_shot) }, ReptileCode::Ok);
        }
    }
}

#[derive(serde::Deserialize)]
struct Cases {
    body: String,
    url: Vec<Url>,
    refused: Vec<String>,
    accepted: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Url {
    text: String,
    #[serde(default)]
    bytes: usize,
    verdict: String,
}

/// The cases in `corpora/calls`, which every language runs.
#[test]
fn calls_about_one_file_answer_urls_and_paths() {
    let _alone = alone();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpora/calls/cases.toml")).unwrap();
    let cases: Cases = toml::from_str(&text).unwrap();
    assert_eq!([cases.url.len(), cases.refused.len(), cases.accepted.len()], [66, 25, 36]);
    let mut one_shot = made(c"GPTBot".as_ptr(), null(), false).unwrap();
    let parse = |body: &str| {
        let mut set = null_mut();
        // SAFETY: the length is correct, and the set is writable.
        let (code, text) =
            asked(|message| unsafe { reptile_set_parse(body.as_ptr(), body.len(), null(), &raw mut set, message) });
        (set, code, text)
    };
    let (set, ..) = parse(&cases.body);
    let (agents, ..) = resolved(set, &["GPTBot"]);
    for case in &cases.url {
        let url = format!("{}{}", case.text, "a".repeat(case.bytes.saturating_sub(case.text.len())));
        let verdict = ReptileVerdict::from(case.verdict.parse::<reptile::Verdict>().unwrap());
        let mut found = [9];
        let (start, len, place) = (url.as_ptr().cast(), url.len(), found.as_mut_ptr());
        // SAFETY: the agents are live, the length is correct, and the verdict is writable.
        let (code, _) = asked(|message| unsafe { reptile_decide(agents, start, len, place, 1, message) });
        assert_eq!((code, found), (ReptileCode::Ok, [verdict as u8]), "{url:.60?}");
        let (code, at_once, _) = decide(one_shot, &cases.body, &std::ffi::CString::new(url.as_str()).unwrap());
        assert_eq!((code, at_once), (ReptileCode::Ok, verdict as u8), "{url:.60?}");
    }
    for body in &cases.refused {
        let (set, code, text) = parse(body);
        assert!(set.is_null() && code == ReptileCode::Argument && text.contains("robots.txt"), "{body} {text}");
        assert_eq!(decide(one_shot, body, c"User-agent: *"), (ReptileCode::Argument, 0, 0), "{body}");
    }
    for body in &cases.accepted {
        let (mut set, code, _) = parse(body);
        assert_eq!((code, free_set(&mut set)), (ReptileCode::Ok, ReptileCode::Ok), "{body:?}");
    }
    done(agents);
    let mut set = set;
    assert_eq!(free_set(&mut set), ReptileCode::Ok);
    // SAFETY: `one_shot` is a variable with a live handle.
    assert_eq!(unsafe { reptile_one_shot_free(&raw mut one_shot) }, ReptileCode::Ok);
}

#[test]
fn misuse_yields_no_verdict() {
    let _alone = alone();
    for (crawler, dialect, exact, code) in [
        (null(), null(), false, ReptileCode::Argument),
        (c"GPTBot".as_ptr(), c"gogle".as_ptr(), false, ReptileCode::Argument),
        (c"\xff".as_ptr(), null(), false, ReptileCode::Argument),
        (c"".as_ptr(), null(), false, ReptileCode::Crawler),
        (c"Googelbot".as_ptr(), null(), false, ReptileCode::Crawler),
        (c"@search".as_ptr(), null(), false, ReptileCode::Crawler),
        (c"@nobody".as_ptr(), null(), true, ReptileCode::Crawler),
    ] {
        assert_eq!(made(crawler, dialect, exact).unwrap_err().0, code);
    }
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_one_shot_new(c"A".as_ptr(), null(), false, null_mut(), message) });
    assert_eq!(code, ReptileCode::Argument);
    let mut one_shot = made(c"Googelbot".as_ptr(), null(), true).unwrap();
    assert_eq!(decide(one_shot, "", c"/"), (ReptileCode::Ok, ReptileVerdict::Allow as u8, 0));
    assert_eq!(decide(null(), "", c"/"), (ReptileCode::Argument, 0, 0));
    let (body, url) = (c"disallow: /".as_ptr().cast::<u8>(), c"/".as_ptr());
    for (body, body_len, url, url_len) in
        [(null(), 1, url, 1), (body, usize::MAX, url, 1), (body, 11, null(), 1), (body, 11, url, usize::MAX)]
    {
        let (mut verdict, mut line) = (9, 9);
        let (place, line_place) = (&raw mut verdict, &raw mut line);
        // SAFETY: invalid pointers and lengths are checked first.
        let (code, _) = asked(|message| unsafe {
            reptile_one_shot_decide(one_shot, body, body_len, url, url_len, place, line_place, message)
        });
        assert_eq!((code, verdict, line), (ReptileCode::Argument, 0, 0));
    }
    let large = " ".repeat((16 << 20) + 1);
    assert_eq!(decide(one_shot, &large, c"/"), (ReptileCode::Limit, 0, 0));
    assert_eq!(decide(one_shot, &large[1..], c"/").0, ReptileCode::Ok);
    assert_eq!(decide(one_shot, &large[2..], c"/").0, ReptileCode::Ok);
    let mut verdict = 9;
    for (place, expected) in [(null_mut(), ReptileCode::Argument), (&raw mut verdict, ReptileCode::Ok)] {
        // SAFETY: the verdict is null or writable, the lengths are correct, and the line may be null.
        let (code, _) =
            asked(|message| unsafe { reptile_one_shot_decide(one_shot, body, 11, url, 1, place, null_mut(), message) });
        assert_eq!(code, expected);
    }
    // SAFETY: `place` is a variable, and its handle is checked before it is read.
    let free = |place: &mut *mut ReptileOneShot| unsafe { reptile_one_shot_free(place) };
    let mut same = one_shot;
    assert_eq!((free(&mut one_shot), free(&mut same)), (ReptileCode::Ok, ReptileCode::Argument));
}
