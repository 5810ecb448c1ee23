//! Lists sitemaps and other directives.

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use reptile::{Capture, Compiler, Dialect};
use reptile_c::*;

use crate::misuse::{alone, asked, done, free_set, given, resolved};

const BODY: &str = "sitemap: https://shop.example/a.xml\nuser-agent: GPTBot\ncrawl-delay: 2.5\nX-Key: 1\x01\n\
                    user-agent: *\ncrawl-delay: x\nsitemap: not a url\ndisallow: /\n\
                    sitemap: https://shop.example/b.xml\n";

/// Returns a set of one origin, or the file alone.
fn source(is_set: bool) -> *mut ReptileSet {
    let mut set = null_mut();
    let (code, text) = if is_set {
        let mut compiler = Compiler::new(Dialect::from_name("yandex-2017").unwrap());
        compiler.add(Capture::new("https://shop.example/robots.txt", BODY).unwrap()).unwrap();
        let bytes = compiler.finish().unwrap().to_bytes();
        // SAFETY: the length is correct, and `set` is writable.
        asked(|message| unsafe { reptile_set_from_bytes(bytes.as_ptr(), bytes.len(), &raw mut set, message) })
    } else {
        let dialect = c"yandex-2017".as_ptr();
        // SAFETY: the length is correct, and `set` is writable.
        asked(|message| unsafe { reptile_set_parse(BODY.as_ptr(), BODY.len(), dialect, &raw mut set, message) })
    };
    assert_eq!(code, ReptileCode::Ok, "{text}");
    set
}

type Line = (ReptileDirectiveKind, ReptileDirectiveState, u32, String, String);

/// Runs a call. Returns its lines and whether the origin is known, and frees the list.
fn listed(
    call: impl FnOnce(*mut *mut ReptileDirectives, *mut *mut c_char) -> ReptileCode,
) -> Result<(Vec<Line>, bool), (ReptileCode, String)> {
    let mut list = std::ptr::dangling_mut();
    let (code, text) = asked(|message| call(&raw mut list, message));
    if code != ReptileCode::Ok {
        assert!(list.is_null());
        return Err((code, text));
    }
    // SAFETY: the call returned a list.
    let ReptileDirectives { items, len, is_known } = unsafe { list.read() };
    assert_eq!(items.is_null(), len == 0);
    let mut lines = Vec::new();
    for number in 0..len {
        // SAFETY: the list has `len` items.
        let item = unsafe { items.wrapping_add(number).read() };
        let (key, value) = (given(item.key).into_string().unwrap(), given(item.value).into_string().unwrap());
        assert_eq!((key.len(), value.len()), (item.key_len, item.value_len));
        lines.push((item.kind, item.state, item.line, key, value));
    }
    // SAFETY: `place` is a variable, and its handle is checked before it is read.
    let free = |place: &mut *mut ReptileDirectives| unsafe { reptile_directives_free(place) };
    let mut same = list;
    assert_eq!((free(&mut list), free(&mut same)), (ReptileCode::Ok, ReptileCode::Argument));
    Ok((lines, is_known))
}

fn sitemaps(set: *const ReptileSet, url: &CStr) -> Result<(Vec<Line>, bool), (ReptileCode, String)> {
    // SAFETY: the set is checked, the length is correct, and the list is writable.
    listed(|list, message| unsafe { reptile_set_sitemaps(set, url.as_ptr(), url.count_bytes(), list, message) })
}

fn of_set(set: *const ReptileSet, url: &CStr) -> Result<(Vec<Line>, bool), (ReptileCode, String)> {
    // SAFETY: the set is checked, the length is correct, and the list is writable.
    listed(|list, message| unsafe { reptile_set_directives(set, url.as_ptr(), url.count_bytes(), list, message) })
}

fn of_agent(
    agents: *const ReptileAgents,
    agent: usize,
    url: &CStr,
) -> Result<(Vec<Line>, bool), (ReptileCode, String)> {
    let (url, len) = (url.as_ptr(), url.count_bytes());
    // SAFETY: the agents are checked, the length is correct, and the list is writable.
    listed(|list, message| unsafe { reptile_agent_directives(agents, agent, url, len, list, message) })
}

fn delay(agents: *const ReptileAgents, agent: usize, url: &CStr) -> (ReptileCode, f64) {
    let (url, len, mut seconds) = (url.as_ptr(), url.count_bytes(), 9.0);
    // SAFETY: the agents are checked, the length is correct, and the result is writable.
    let (code, _) =
        asked(|message| unsafe { reptile_agent_crawl_delay(agents, agent, url, len, &raw mut seconds, message) });
    (code, seconds)
}

const SHOP: &CStr = c"https://shop.example/x";

#[test]
fn directives_are_listed_for_origins_and_crawlers() {
    use ReptileDirectiveKind::{CrawlDelay, Other, Sitemap};
    let _alone = alone();
    for is_set in [true, false] {
        let mut set = source(is_set);
        let (lines, is_known) = sitemaps(set, SHOP).unwrap();
        let urls: Vec<&str> = lines.iter().map(|line| &*line.4).collect();
        assert!(is_known && lines.iter().all(|line| line.0 == Sitemap && line.3 == "sitemap"));
        assert_eq!(
            (urls.first(), urls.last()),
            (Some(&"https://shop.example/a.xml"), Some(&"https://shop.example/b.xml"))
        );

        let (lines, _) = of_set(set, SHOP).unwrap();
        let keys: Vec<(u32, ReptileDirectiveKind)> = lines.iter().map(|line| (line.2, line.0)).collect();
        assert_eq!(keys, [(1, Sitemap), (3, CrawlDelay), (4, Other), (6, CrawlDelay), (7, Sitemap), (9, Sitemap)]);
        assert_eq!((&*lines[2].3, &*lines[2].4), ("X-Key", "1\x01"));

        let (agents, code, text) = resolved(set, &["GPTBot", "MyBot"]);
        assert_eq!(code, ReptileCode::Ok, "{text}");
        for (agent, delays) in [(0, [3]), (1, [6])] {
            let (lines, is_known) = of_agent(agents, agent, SHOP).unwrap();
            let found = lines.iter().filter(|line| line.0 == CrawlDelay).map(|line| line.2);
            assert!(is_known && found.eq(delays), "{lines:?}");
        }
        let unknown = c"https://no.example/";
        let expected = (Vec::new(), false);
        if is_set {
            assert_eq!(sitemaps(set, unknown), Ok(expected.clone()));
            assert_eq!(of_set(set, c"nonsense"), Ok(expected.clone()));
            assert_eq!(of_agent(agents, 0, unknown), Ok(expected));
        } else {
            assert!(sitemaps(set, unknown).unwrap().1 && of_agent(agents, 0, unknown).unwrap().1);
        }
        done(agents);
        free_set(&mut set);
    }
}

#[test]
fn delays_are_in_seconds() {
    let _alone = alone();
    let mut set = null_mut();
    let body = "user-agent: GPTBot\ncrawl-delay: 2.5\nuser-agent: *\ndisallow: /";
    // SAFETY: the length is correct, and `set` is writable.
    let (code, _) = asked(|message| unsafe {
        reptile_set_parse(body.as_ptr(), body.len(), c"yandex-2017".as_ptr(), &raw mut set, message)
    });
    assert_eq!(code, ReptileCode::Ok);
    let (agents, _, _) = resolved(set, &["GPTBot", "MyBot"]);
    let expected = reptile::Robots::parse(body, Dialect::from_name("yandex-2017").unwrap()).unwrap();
    let expected = expected.agent("GPTBot").unwrap().crawl_delay("/").unwrap().unwrap().as_secs_f64();
    assert!(expected > 0.0);
    assert_eq!(delay(agents, 0, SHOP), (ReptileCode::Ok, expected));
    assert_eq!(delay(agents, 1, SHOP), (ReptileCode::Ok, -1.0));
    assert_eq!(delay(agents, 2, SHOP), (ReptileCode::Argument, -1.0));
    assert_eq!(delay(null(), 0, SHOP), (ReptileCode::Argument, -1.0));
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_agent_crawl_delay(agents, 0, null(), 0, null_mut(), message) });
    assert_eq!(code, ReptileCode::Argument);
    done(agents);
    assert_eq!(delay(agents, 0, SHOP), (ReptileCode::Argument, -1.0));
    free_set(&mut set);
}

#[test]
fn misuse_yields_no_list() {
    let _alone = alone();
    let mut set = source(true);
    let (agents, _, _) = resolved(set, &["GPTBot"]);
    assert_eq!(of_agent(agents, 1, SHOP).unwrap_err().0, ReptileCode::Argument);
    let long = |list, message| {
        // SAFETY: the length is checked before the URL is read.
        unsafe { reptile_set_directives(set, SHOP.as_ptr(), usize::MAX, list, message) }
    };
    assert_eq!(listed(long).unwrap_err().0, ReptileCode::Argument);
    // SAFETY: null is checked first.
    let (code, _) = asked(|message| unsafe { reptile_set_sitemaps(set, SHOP.as_ptr(), 1, null_mut(), message) });
    assert_eq!(code, ReptileCode::Argument);
    // SAFETY: null is allowed.
    assert_eq!(unsafe { reptile_directives_free(null_mut()) }, ReptileCode::Ok);
    let mut same = set;
    done(agents);
    free_set(&mut set);
    assert_eq!(of_agent(agents, 0, SHOP).unwrap_err().0, ReptileCode::Argument);
    assert_eq!(sitemaps(same, SHOP).unwrap_err().0, ReptileCode::Argument);
    assert_eq!(of_set(null(), SHOP).unwrap_err().0, ReptileCode::Argument);
    assert_eq!(free_set(&mut same), ReptileCode::Argument);
}
