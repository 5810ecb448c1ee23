//! Tests the public library: its results, and the mistakes that it refuses.
#![cfg(feature = "compile")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::error::Error as _;
use std::time::Duration;

use reptile::capture::Outcome;
use reptile::limits::MAX_BODY_BYTES;
use reptile::{
    Capture, Cause, Compiler, Crawler, CrawlerErrorKind, Dialect, ErrorKind, Group, PolicySource, Progress, Reason,
    Robots, Set, UrlParts, Verdict, capture,
};

fn compiled(files: &[(&str, &str)]) -> reptile::CompiledSet {
    let mut compiler = Compiler::new(Dialect::google());
    for (url, body) in files {
        compiler.add(Capture::new(format!("{url}/robots.txt"), *body).unwrap()).unwrap();
    }
    compiler.finish().unwrap()
}

fn bytes_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    compiled(files).write(&mut bytes).unwrap();
    bytes
}

fn set(files: &[(&str, &str)]) -> Set {
    compiled(files).into_set().unwrap()
}

fn line(rule: Option<&reptile::Rule>) -> Option<u32> {
    rule.map(|rule| rule.line)
}

#[test]
fn invalid_product_tokens_are_refused_with_a_suggestion() {
    let set = set(&[("https://a.example", "user-agent: *\ndisallow: /")]);
    for (name, kind, suggestion) in [
        ("", CrawlerErrorKind::Empty, None),
        ("GPTBot,CCBot", CrawlerErrorKind::List, None),
        ("Googlebot/2.1", CrawlerErrorKind::Version, Some("Googlebot")),
        (
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            CrawlerErrorKind::Header,
            Some("Googlebot"),
        ),
        ("MJ13bot", CrawlerErrorKind::Unnameable, Some("MJ")),
        ("*", CrawlerErrorKind::Unnameable, Some("*")),
    ] {
        for crawler in [Crawler::named(name), Crawler::token(name), Crawler::chain([name], true)] {
            let error = set.agent(crawler).unwrap_err();
            assert_eq!((error.kind(), error.suggestion()), (kind, suggestion), "{name}: {error}");
            assert!(error.source().is_none());
        }
        assert!(set.agent(Crawler::verbatim(name)).unwrap().decide("https://a.example/").is_ok());
    }
    // A known crawler's name is accepted, although it is not a product token.
    let known = set.agent("MJ12bot").unwrap();
    assert_eq!((known.tokens().collect::<Vec<_>>(), known.read_as()), (vec![&b"MJ"[..]], Some(&b"MJ"[..])));
    for crawler in [Crawler::token("MJ12bot"), Crawler::chain(["MJ12bot"], true)] {
        assert_eq!(set.agent(crawler).unwrap_err().kind(), CrawlerErrorKind::Unnameable);
    }
    let error = set.agents(["GPTBot", "a,b"]).unwrap_err().to_string();
    assert_eq!(error, "crawler \"a,b\": a list is not a product token: give each name by itself: \"a\", \"b\"");
}

#[test]
fn known_crawlers_resolve_through_the_sets_table() {
    let files = [("https://a.example", "user-agent: googlebot\ndisallow: /g\n\nuser-agent: *\ndisallow: /")];
    for set in [set(&files), Set::from_bytes(bytes_of(&files)).unwrap()] {
        let image = set.agent("googlebot-IMAGE").unwrap();
        assert_eq!(image.tokens().collect::<Vec<_>>(), [&b"Googlebot-Image"[..], b"Googlebot"]);
        let url = "https://a.example/x";
        assert_eq!((image.decide(url).unwrap(), image.group(url).unwrap()), (Verdict::Allow, Group::Named));
        let bare = set.agent(Crawler::token("Googlebot-Image")).unwrap();
        assert_eq!((bare.decide(url).unwrap(), bare.group(url).unwrap()), (Verdict::Disallow, Group::Default));
        let ads = set.agent("AdsBot-Google").unwrap();
        assert_eq!((ads.decide(url).unwrap(), ads.group(url).unwrap()), (Verdict::Allow, Group::None));
        assert!(!ads.honors_default_group());
        let known = set.crawlers().unwrap();
        assert!(known.iter().filter(|known| known.is_for_ai_training).count() > 5);
        assert!(known.iter().all(|known| set.agent(known.crawler.clone()).is_ok()));
    }
}

#[test]
fn explanations_name_the_group_the_rules_and_vendor_managed_lines() {
    let body = "# BEGIN Cloudflare Managed content\nUser-agent: GPTBot\nDisallow: /\n# END Cloudflare Managed Content\n\n\
                User-agent: *\nDisallow: /a\nAllow: /a/b\nManaged-begin: spoofed\n";
    let robots = Robots::parse(body, Dialect::google()).unwrap();
    let managed = robots.agent("GPTBot").unwrap().explain("/").unwrap();
    assert_eq!((managed.verdict, managed.group), (Verdict::Disallow, Group::Named));
    let site = robots.site().unwrap();
    assert!(site.is_in_managed_block(line(managed.rule()).unwrap()));
    let agent = robots.agent("AnyBot").unwrap();
    let explained = agent.explain("https://whatever.example/a/b/c").unwrap();
    assert_eq!((explained.verdict, explained.group), (Verdict::Allow, Group::Default));
    assert!(!site.is_in_managed_block(line(explained.rule()).unwrap()));
    assert_eq!((line(explained.allow.as_ref()), line(explained.disallow.as_ref())), (Some(8), Some(7)));
    assert_eq!(line(explained.rule()), Some(8));
    let lines: Vec<u32> = agent.matching_rules("/a/b/c").unwrap().iter().map(|rule| rule.line).collect();
    assert_eq!(lines, [8, 7]);
    assert!(agent.matching_rules("/x").unwrap().is_empty());
}

#[test]
fn sets_without_line_numbers_explain_with_rules_only() {
    for keep in [true, false] {
        let mut compiler = Compiler::new(Dialect::google()).line_numbers(keep);
        compiler.add(Capture::new("https://a.example/robots.txt", "user-agent: *\ndisallow: /x\n").unwrap()).unwrap();
        let set = compiler.finish().unwrap().into_set().unwrap();
        set.verify().unwrap();
        assert_eq!(set.has_line_numbers(), keep);
        let explained = set.agent("a").unwrap().explain("https://a.example/x").unwrap();
        let rule = explained.rule().unwrap();
        assert_eq!((explained.verdict, rule.line), (Verdict::Disallow, if keep { 2 } else { 0 }));
        assert_eq!(rule.pattern, b"/x");
    }
}

#[test]
fn other_directives_apply_to_the_crawlers_they_name() {
    let body = "Sitemap: https://a.example/1\nUser-agent: a\nCrawl-delay: 2\nDisallow: /x\n\n\
                User-agent: *\nCrawl-delay: 5\nDisallow:\n";
    let robots = Robots::parse(body, Dialect::bing()).unwrap();
    let delay = |name: &str| robots.agent(name).unwrap().crawl_delay("/").unwrap();
    assert_eq!((delay("a"), delay("b")), (Some(Duration::from_secs(2)), Some(Duration::from_secs(5))));
    let site = robots.site().unwrap();
    assert_eq!(site.sitemaps().collect::<Vec<_>>(), [b"https://a.example/1"]);
    assert_eq!(site.directives.len(), 3);
    let of_a = robots.agent("a").unwrap().directives("/").unwrap();
    let of_a: Vec<String> = of_a.iter().map(ToString::to_string).collect();
    assert_eq!(of_a, ["sitemap: https://a.example/1", "crawl-delay: 2"]);
    assert_eq!(Robots::parse(body, Dialect::google()).unwrap().agent("a").unwrap().crawl_delay("/").unwrap(), None);
}

#[test]
fn batches_match_single_queries() {
    let set = set(&[
        ("https://a.example", "user-agent: a\ndisallow: /x\n\nuser-agent: *\ndisallow: /*?q=\n"),
        ("https://b.example", "user-agent: *\nallow: /\n"),
    ]);
    let agents = set.agents(["a", "b", "Googlebot"]).unwrap();
    let url = |n: usize| {
        let (host, path, key) = (["a", "b", "c"][n % 3], ["x", "y"][n % 2], ["q", "r"][n / 3 % 2]);
        format!("https://{host}.example/{path}?{key}=1")
    };
    let urls: Vec<String> = (0..5000).map(url).chain(["no url".into()]).collect();
    let mut serial = vec![Verdict::Invalid; urls.len() * agents.len()];
    agents.decide_all(&urls, &mut serial).unwrap();
    #[cfg(feature = "rayon")]
    {
        let mut parallel = vec![Verdict::Invalid; serial.len()];
        agents.par_decide_all(&urls, &mut parallel).unwrap();
        assert_eq!(serial, parallel);
    }
    for (url, row) in urls.iter().zip(serial.chunks(agents.len())) {
        for (agent, verdict) in agents.iter().zip(row) {
            assert_eq!(agent.decide(url).unwrap(), *verdict, "{url}");
            assert_eq!(agent.explain(url).unwrap().verdict, *verdict, "{url}");
        }
    }
    let verdicts = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];
    assert!(verdicts.iter().all(|verdict| serial.contains(verdict)));
    let error = agents.decide_all(&urls, &mut serial[1..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BufferLength);
}

/// Returns every combination of usual and unusual parts, in this order and in one that mixes hosts.
fn urls_in_parts() -> Vec<UrlParts<'static>> {
    let schemes: [&[u8]; 7] = [b"https", b"http", b"HTTPS", b"ftp", b"gopher", b"", b"https://a.example/x?"];
    let hosts: [&[u8]; 19] = [
        b"a.example",
        b"b.example",
        b"none.example",
        b"A.example",
        b"a.example.",
        b"",
        b"u@a.example",
        b"u@x@a.example",
        b"a.example:443",
        b"a.example/x",
        b"a.example?x",
        b"a.example#",
        b"a.example;",
        b"b\xc3\xbccher.example",
        b"1.2.3.4",
        b"[::1]",
        b"a_b.example",
        b"a.example\n",
        b"xn--bcher-kva.example",
    ];
    let ports: [Option<&[u8]>; 6] = [None, Some(b""), Some(b"0"), Some(b"443"), Some(b"70000"), Some(b"-1")];
    let paths: [&[u8]; 9] = [
        b"/",
        b"",
        b"/x/1",
        b"x",
        b"/x#y",
        b"/%78/\xc3\xa9*$",
        b"/a?q=1",
        b"/a\0b",
        b"/y/0123456789012345678901234567890123456789",
    ];
    let queries: [Option<&[u8]>; 6] = [None, Some(b""), Some(b"q=1"), Some(b"a?q=1"), Some(b"a#q=1"), Some(b"%71=\t")];
    let mut urls = Vec::new();
    for scheme in schemes {
        for (number, host) in hosts.into_iter().enumerate() {
            for port in ports {
                for path in paths {
                    urls.extend(queries.map(|query| {
                        let host_number = (urls.len() % 5 > 0).then_some(number);
                        UrlParts { scheme, host, port, path, query, host_number }
                    }));
                }
            }
        }
    }
    let mixed: Vec<UrlParts<'static>> = (0..urls.len()).map(|at| urls[at * 7919 % urls.len()]).collect();
    urls.extend(mixed);
    urls
}

#[test]
fn urls_in_parts_match_joined_urls() {
    let rules = "user-agent: a\ndisallow: /x\n\nuser-agent: *\ndisallow: /*?q=\ndisallow: /y/\n";
    let whole = set(&[
        ("https://a.example", rules),
        ("http://a.example", "user-agent: *\ndisallow: /\nallow: /y/"),
        ("https://b.example", rules),
        ("https://xn--bcher-kva.example", rules),
        ("http://1.2.3.4", rules),
        ("https://a.example:0", "user-agent: *\ndisallow: /"),
    ]);
    let fresh = Robots::parse("user-agent: *\ndisallow: /y/", Dialect::google()).unwrap();
    let replaced = whole.with_robots([("https://a.example".parse().unwrap(), fresh)]);
    let urls = urls_in_parts();
    let joined: Vec<Vec<u8>> = urls
        .iter()
        .map(|url| {
            let mut text = Vec::new();
            url.join(&mut text);
            text
        })
        .collect();
    let is_ordinary = |url: &&UrlParts<'_>| url.port.is_none() && url.scheme == b"https" && url.host == b"b.example";
    assert!(urls.iter().filter(is_ordinary).count() > 100);
    for (set, names) in [(&whole, &["a"][..]), (&whole, &["a", "b", "Googlebot"]), (&replaced, &["a", "b"])] {
        let agents = set.agents(names.iter().copied()).unwrap();
        let mut expected = vec![Verdict::Invalid; urls.len() * names.len()];
        agents.decide_all(&joined, &mut expected).unwrap();
        for verdict in [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid] {
            assert!(expected.iter().filter(|&&found| found == verdict).count() > 500, "{verdict}");
        }
        // Hosts from a too small cache, and from another set's cache.
        let other = self::set(&[("https://b.example", "user-agent: *\ndisallow: /")]).agents(["a"]).unwrap();
        for hosts in [agents.known_hosts(100), agents.known_hosts(2), agents.known_hosts(0), other.known_hosts(100)] {
            // Numbers that several hosts share do not affect verdicts.
            let mut mistaken = urls.clone();
            mistaken.iter_mut().for_each(|url| url.host_number = url.host_number.map(|number| number % 3));
            let mut verdicts = vec![Verdict::Unknown; expected.len()];
            agents.decide_split(&mistaken, &hosts, &mut verdicts).unwrap();
            assert_eq!(verdicts, expected);
            for count in [urls.len(), urls.len() - 1, 33, 32, 31, 1, 0] {
                let mut verdicts = vec![Verdict::Unknown; count * names.len()];
                agents.decide_split(&urls[..count], &hosts, &mut verdicts).unwrap();
                for (at, row) in verdicts.chunks(names.len()).enumerate() {
                    assert_eq!(row, &expected[at * names.len()..][..names.len()], "{:?}", urls[at]);
                }
            }
        }
        let mut short = vec![Verdict::Unknown; urls.len() * names.len() - 1];
        let error = agents.decide_split(&urls, &agents.known_hosts(0), &mut short).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BufferLength);
    }
}

#[test]
fn urls_in_parts_have_the_same_length_limit() {
    const MAX_URL_BYTES: usize = 64 * 1024;
    let agents = set(&[("https://a.example", "user-agent: *\ndisallow: /")]).agents(["a"]).unwrap();
    for (len, expected) in [
        (MAX_URL_BYTES - 1, Verdict::Disallow),
        (MAX_URL_BYTES, Verdict::Disallow),
        (MAX_URL_BYTES + 1, Verdict::Invalid),
    ] {
        for query in [None, Some(&b"q"[..])] {
            let path = format!("/{}", "x".repeat(len - "https://a.example/".len() - query.map_or(0, |_| 2)));
            let (scheme, host, path) = (&b"https"[..], &b"a.example"[..], path.as_bytes());
            let url = UrlParts { scheme, host, port: None, path, query, host_number: Some(0) };
            let mut verdict = [Verdict::Unknown];
            agents.decide_split(&[url], &agents.known_hosts(1), &mut verdict).unwrap();
            assert_eq!(verdict, [expected], "{len}");
        }
    }
}

#[test]
fn a_url_over_the_limit_has_its_own_reason() {
    const MAX_URL_BYTES: usize = 64 * 1024;
    let body = "user-agent: *\ndisallow: /";
    let of_set = set(&[("https://a.example", body)]).agent("a").unwrap();
    let of_file = Robots::parse(body, Dialect::google()).unwrap().agent("a").unwrap();
    for (len, reason) in [
        (MAX_URL_BYTES - 1, Reason::Rule(None)),
        (MAX_URL_BYTES, Reason::Rule(None)),
        (MAX_URL_BYTES + 1, Reason::LongUrl),
    ] {
        for (agent, start) in [(&of_set, "https://a.example/"), (&of_file, "https://a.example/"), (&of_file, "/")] {
            let explained = agent.explain(format!("{start}{}", "x".repeat(len - start.len()))).unwrap();
            assert_eq!(explained.reason, reason, "{start} {len}");
            let is_long = reason == Reason::LongUrl;
            assert_eq!(explained.to_string(), if is_long { "invalid (URL over 64 KiB)" } else { "disallow (rule)" });
        }
    }
    assert_eq!(of_set.explain("x".repeat(MAX_URL_BYTES)).unwrap().reason, Reason::NoUrl);
}

#[test]
fn one_robots_txt_decides_many_urls_like_single_queries() {
    const MAX_URL_BYTES: usize = 64 * 1024;
    let body = "user-agent: a\ndisallow: /x\n\nuser-agent: *\ndisallow: /*?q=\nallow: /\u{e9}\n";
    let robots = Robots::parse(body, Dialect::google()).unwrap();
    let agents = robots.agents(["a", "z"]).unwrap();
    let texts =
        ["", "/", "/x", "//x", "//h/x", "/y?q=1", "?q=1", "/%C3%A9?q=1", "/\u{e9}?q=1", "/y#?q=1", "/y\t?q=1", "/*$"];
    let hosts = ["", "https://a.example", "https://B.example:8080", "no host"];
    let mut urls: Vec<String> =
        hosts.iter().flat_map(|host| texts.map(|text| format!("{host}{text}"))).cycle().take(500).collect();
    let long = [MAX_URL_BYTES - 1, MAX_URL_BYTES, MAX_URL_BYTES + 1];
    urls.extend(long.map(|len| format!("{}x", "/".repeat(len - 1))));
    let mut verdicts = vec![Verdict::Unknown; urls.len() * agents.len()];
    agents.decide_all(&urls, &mut verdicts).unwrap();
    for (url, row) in urls.iter().zip(verdicts.chunks(agents.len())) {
        for (agent, verdict) in agents.iter().zip(row) {
            assert_eq!(agent.decide(url).unwrap(), *verdict, "{url:.50}");
            assert_eq!(agent.explain(url).unwrap().verdict, *verdict, "{url:.50}");
        }
    }
    let last = &verdicts[verdicts.len() - 2 * long.len()..];
    assert_eq!(last, [[Verdict::Allow; 4].as_slice(), &[Verdict::Invalid; 2]].concat());
    let is_invalid = |url: &str| !url.starts_with(['/', 'h']) || url.contains('\t') || url.len() > MAX_URL_BYTES;
    for (url, row) in urls.iter().zip(verdicts.chunks(agents.len())) {
        assert_eq!(row == [Verdict::Invalid; 2], is_invalid(url), "{url:.50}");
    }
    assert!(verdicts.contains(&Verdict::Disallow) && !verdicts.contains(&Verdict::Unknown));
}

#[test]
fn fresh_copies_replace_only_their_own_site() {
    let old = "user-agent: *\ndisallow: /old";
    let base = set(&[("https://a.example", old), ("https://b.example", old)]);
    let fresh = "user-agent: *\ndisallow: /new\n\nuser-agent: a\ndisallow: /\nsitemap: https://b.example/s\n";
    let fresh = Robots::parse(fresh, Dialect::google()).unwrap();
    let set = base.with_robots([("https://B.example".parse().unwrap(), fresh)]);
    let agents = set.agents(["a", "z"]).unwrap();
    let mut row = [Verdict::Invalid; 2];
    for (url, expected) in [
        ("https://b.example/new", [Verdict::Disallow; 2]),
        ("https://b.example/old", [Verdict::Disallow, Verdict::Allow]),
        ("https://a.example/old", [Verdict::Disallow; 2]),
        ("https://a.example/new", [Verdict::Allow; 2]),
        ("https://c.example/", [Verdict::Unknown; 2]),
    ] {
        agents.decide(url, &mut row).unwrap();
        assert_eq!(row, expected, "{url}");
    }
    base.agents(["a", "z"]).unwrap().decide("https://b.example/new", &mut row).unwrap();
    assert_eq!(row, [Verdict::Allow; 2]);
    let explained = agents.iter().next().unwrap().explain("https://b.example/new").unwrap();
    assert_eq!(line(explained.rule()), Some(5));
    let sitemaps = |set: &Set| set.site("https://b.example/").unwrap().unwrap().sitemaps().count();
    assert_eq!((sitemaps(&set), sitemaps(&base)), (1, 0));
}

#[test]
fn errors_have_distinct_kinds() {
    let missing = Set::read("/no/such/file").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert!(missing.source().is_some() && missing.section().is_none());
    let mut bytes = bytes_of(&[("https://a.example", "user-agent: *\ndisallow: /")]);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let damaged = Set::from_bytes(bytes).unwrap().verify().unwrap_err();
    assert_eq!(damaged.kind(), ErrorKind::Format);
    assert!(damaged.section().is_some() && damaged.expected().is_some() && damaged.found().is_some());
    assert_eq!(Capture::new("https://a.example/x", "").unwrap_err().kind(), ErrorKind::RobotsUrl);
    let mut compiler = Compiler::new(Dialect::google());
    let no_body = compiler.add(Capture::without_body("https://a.example/robots.txt").unwrap()).unwrap_err();
    assert_eq!(no_body.kind(), ErrorKind::NoBody);
    assert_eq!(Robots::parse(vec![b'#'; (16 << 20) + 1], Dialect::google()).unwrap_err().kind(), ErrorKind::Limit);
    let errors = [missing, damaged, no_body];
    assert!(errors.iter().all(|error| !error.to_string().contains("--") && !format!("{error:?}").is_empty()));
}

#[test]
fn sets_are_written_atomically_and_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("web.reptile");
    let mut compiler = Compiler::new(Dialect::rfc9309());
    let capture = |n: u32| {
        let body = format!("user-agent: *\ndisallow: /{}", n % 7);
        Capture::new(format!("https://h{n}.example/robots.txt"), body).unwrap()
    };
    compiler.add_all((0..100).map(capture), |origin, error| panic!("{origin}: {error}"));
    compiler.finish().unwrap().write_file(&path).unwrap();
    let set = Set::read(&path).unwrap();
    set.verify().unwrap();
    set.verify_deep().unwrap();
    assert_eq!((set.len(), set.dialect(), set.profile(), set.time()), (100, "rfc9309", "rfc9309", None));
    assert_eq!(set.origins().map(Result::unwrap).collect::<std::collections::HashSet<_>>().len(), 100);
    assert_eq!(set.agent("a").unwrap().decide("https://h8.example/1").unwrap(), Verdict::Disallow);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn custom_dialects_decide_by_their_settings() {
    let mut first_match = Dialect::custom("first-match".to_owned(), Dialect::rfc9309());
    first_match.order = reptile::settings::Order::FileOrder;
    let body = "user-agent: *\nallow: /a\ndisallow: /a/b\n";
    let decide = |dialect| Robots::parse(body, dialect).unwrap().agent("x").unwrap().decide("/a/b").unwrap();
    assert_eq!((decide(&first_match), decide(Dialect::rfc9309())), (Verdict::Allow, Verdict::Disallow));
}

#[test]
fn merging_and_memory_limits_do_not_change_the_set() {
    let files: Vec<(String, String)> = (0..300)
        .map(|number| {
            let body = format!("user-agent: *\ndisallow: /{}\nsitemap: /{number}\n", number % 40);
            (format!("https://h{number}.example"), body)
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(url, body)| (url.as_str(), body.as_str())).collect();
    let whole = bytes_of(&files);
    let add = |compiler: &mut Compiler, files: &[(&str, &str)]| {
        let capture = |&(url, body): &(&str, &str)| Capture::new(format!("{url}/robots.txt"), body).unwrap();
        compiler.add_all(files.iter().map(capture), |origin, error| panic!("{origin}: {error}"));
    };
    let finished = |compiler: Compiler| {
        let mut bytes = Vec::new();
        compiler.finish().unwrap().write(&mut bytes).unwrap();
        bytes
    };
    let folder = tempfile::tempdir().unwrap();
    for memory in [0, 30_000, 1 << 30] {
        let mut compiler = Compiler::new(Dialect::google()).memory(memory, folder.path());
        add(&mut compiler, &files);
        assert!(finished(compiler) == whole, "{memory}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    let old = set(&files[..200]);
    for memory in [None, Some(10_000)] {
        let mut compiler = Compiler::new(Dialect::google());
        if let Some(memory) = memory {
            compiler = compiler.memory(memory, folder.path());
        }
        compiler.add_set(&old).unwrap();
        add(&mut compiler, &files[150..]);
        assert!(finished(compiler) == whole);
    }
    // A lost part is an error in any case, on threads of a pool and on others.
    for is_in_pool in [false, true] {
        let mut compiler = Compiler::new(Dialect::google()).memory(0, folder.path().join("none"));
        let capture = |number| Capture::new(format!("https://h{number}.example/robots.txt"), "").unwrap();
        let mut add = || (0..3).map(|number| compiler.add(capture(number))).collect::<Vec<_>>();
        #[cfg(feature = "rayon")]
        let added = if is_in_pool { rayon::join(add, || ()).0 } else { add() };
        #[cfg(not(feature = "rayon"))]
        let added = add();
        let errors: Vec<_> =
            added.into_iter().filter_map(Result::err).chain([compiler.finish().unwrap_err()]).collect();
        for error in &errors {
            assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
        }
        assert!(
            errors[0].source().unwrap().to_string().contains("none: no room for the temporary files"),
            "{errors:?}"
        );
    }
}

#[test]
fn errors_name_the_added_set_that_cannot_be_merged() {
    let file = |body| [("https://a.example", body)];
    let (first, second) = (set(&file("user-agent: *\ndisallow: /1")), set(&file("user-agent: *\ndisallow: /2")));
    let third = set(&[("https://c.example", "user-agent: *\ndisallow: /")]);
    let mut damaged = bytes_of(&[("https://b.example", "user-agent: *\ndisallow: /")]);
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let damaged = Set::from_bytes(damaged).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (dialect, sets, kind, number, text) in [
        (Dialect::google(), vec![&third, &first, &second], ErrorKind::Merge, 2, "has another robots.txt for"),
        (Dialect::google(), vec![&first, &damaged], ErrorKind::Format, 1, "not a valid set"),
        (Dialect::rfc9309(), vec![&first], ErrorKind::Merge, 0, "has the dialect google"),
    ] {
        for memory in [None, Some(0), Some(1 << 30)] {
            let mut compiler = Compiler::new(dialect);
            if let Some(memory) = memory {
                compiler = compiler.memory(memory, folder.path());
                compiler.add(Capture::new("https://d.example/robots.txt", "").unwrap()).unwrap();
            }
            sets.iter().for_each(|set| compiler.add_set(set).unwrap());
            let error = compiler.finish().unwrap_err();
            assert_eq!((error.kind(), error.added_set()), (kind, Some(number)), "{error:?}");
            assert_eq!(error.to_string(), format!("added set {}", number + 1));
            assert!(error.source().unwrap().to_string().starts_with(text), "{error:?}");
            assert_eq!(error.section().is_some(), kind == ErrorKind::Format);
        }
    }
    // The compiler's own captures conflict with an added set.
    let mut compiler = Compiler::new(Dialect::google());
    compiler.add(Capture::new("https://a.example/robots.txt", "user-agent: *\ndisallow: /other").unwrap()).unwrap();
    compiler.add_set(&first).unwrap();
    let error = compiler.finish().unwrap_err();
    assert_eq!((error.kind(), error.added_set()), (ErrorKind::Merge, Some(0)));
}

#[test]
fn parsed_captures_give_the_same_set_as_added_ones() {
    let origins = |name: &str| vec![format!("https://{name}.example").parse().unwrap()];
    let fetch = |status| capture::Capture { status: Some(status), ..capture::Capture::default() };
    let body = "user-agent: *\ndisallow: /a\nsitemap: /map\nnonsense\n";
    let mut compiler = Compiler::new(Dialect::google());
    let parser = compiler.parser();
    // One body for several captures, of which one does not use it.
    let shared = parser.parse(
        [(origins("a"), fetch(200)), (origins("b"), fetch(404)), (origins("c"), fetch(200))],
        Some(body.as_bytes()),
    );
    let outcomes: Vec<_> = shared.captures().iter().map(|capture| *capture.outcome.as_ref().unwrap()).collect();
    assert_eq!(outcomes[0], Outcome::Use);
    assert!(matches!(outcomes[1], Outcome::Allow(_)) && outcomes[2] == Outcome::Use);
    assert_eq!((shared.rule_count(), shared.diagnostics().map(|(_, count)| count).sum::<u64>()), (1, 1));
    assert_ne!(shared.body_hash(), 0);
    compiler.add_parsed(shared).unwrap();
    // Captures with errors are left out.
    let large = vec![b'#'; MAX_BODY_BYTES + 1];
    for (parsed, kind) in [
        (parser.parse([(origins("d"), fetch(200))], None), ErrorKind::NoBody),
        (parser.parse([(origins("d"), fetch(200)), (origins("e"), fetch(200))], Some(&large)), ErrorKind::Limit),
        (parser.parse_file(origins("d"), &large), ErrorKind::Limit),
    ] {
        assert!(
            parsed.captures().iter().all(|capture| capture.outcome.as_ref().is_err_and(|error| error.kind() == kind))
        );
        assert_eq!((parsed.rule_count(), parsed.body_hash()), (0, 0));
        compiler.add_parsed(parsed).unwrap();
    }
    let compiled = compiler.finish().unwrap();
    assert_eq!(compiled.report().origins.values().sum::<u64>(), 3);

    let mut expected = Compiler::new(Dialect::google());
    for (name, status) in [("c", 200), ("b", 404), ("a", 200)] {
        let mut capture = Capture::new(format!("https://{name}.example/robots.txt"), body).unwrap();
        capture.status = Some(status);
        expected.add(capture).unwrap();
    }
    assert!(compiled.to_bytes() == expected.finish().unwrap().to_bytes());
}

#[test]
fn files_that_were_not_fetched_are_used_whatever_the_profile() {
    let page = "<html><body>user-agent: *<br>\ndisallow: /a\n";
    let origin = || vec!["https://a.example".parse().unwrap()];
    let decide = |is_file: bool| {
        let mut compiler = Compiler::new(Dialect::yandex());
        let parser = compiler.parser();
        let parsed = if is_file {
            parser.parse_file(origin(), page.as_bytes())
        } else {
            parser.parse([(origin(), capture::Capture::default())], Some(page.as_bytes()))
        };
        let outcome = *parsed.captures()[0].outcome.as_ref().unwrap();
        compiler.add_parsed(parsed).unwrap();
        compiler.finish().unwrap().into_set().unwrap().verify().unwrap();
        outcome
    };
    assert_eq!((decide(true), decide(false) == Outcome::Use), (Outcome::Use, false));
}

#[test]
fn progress_counts_all_rulesets_or_reports_the_merge() {
    use std::sync::{Arc, Mutex};
    let folder = tempfile::tempdir().unwrap();
    for (memory, is_merged) in [(None, false), (Some(0), true)] {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let all = reports.clone();
        let mut compiler =
            Compiler::new(Dialect::google()).on_progress(move |progress| all.lock().unwrap().push(progress));
        if let Some(memory) = memory {
            compiler = compiler.memory(memory, folder.path());
        }
        let capture = |number: usize| {
            let body = format!("user-agent: *\ndisallow: /{number}");
            Capture::new(format!("https://h{number}.example/robots.txt"), body).unwrap()
        };
        compiler.add_all((0..500).map(capture), |origin, error| panic!("{origin}: {error}"));
        compiler.finish().unwrap();
        let mut reports = Arc::into_inner(reports).unwrap().into_inner().unwrap();
        if is_merged {
            assert_eq!(reports, [Progress::Merging]);
            continue;
        }
        reports.sort_by_key(|progress| match progress {
            Progress::Rulesets { done, .. } => *done,
            _ => 0,
        });
        let counts: Vec<u64> = reports
            .iter()
            .map(|progress| match progress {
                Progress::Rulesets { done, total: 500 } => *done,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(counts.len() >= 50 && counts.is_sorted_by(|a, b| a < b), "{counts:?}");
        assert_eq!(counts.last(), Some(&500));
    }
}

#[test]
fn set_files_that_cannot_be_written_leave_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, sub) = (folder.path().join("set"), folder.path().join("folder"));
    std::fs::create_dir(&sub).unwrap();
    let set = |body| compiled(&[("https://a.example", body)]);
    set("user-agent: *\ndisallow: /old").write_file(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    for path in [sub.clone(), folder.path().join("none/set"), path.join("set")] {
        let error = set("user-agent: *\ndisallow: /new").write_file(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!((names(), std::fs::read(folder.path().join("set")).unwrap() == old), (2, true));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        std::fs::File::create(folder.path().join("new")).unwrap();
        assert_eq!(mode(&path), mode(&folder.path().join("new")));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        set("user-agent: *\ndisallow: /new").write_file(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
    }
}

#[test]
fn one_shot_queries_match_the_compiled_file() {
    let urls =
        ["/", "/robots.txt", "/a", "/a/b?c=d", "https://e.example/p/x.gif", "/%7Ea", "nonsense", "", "/a/index.html"];
    let long = format!("user-agent: *\n{}disallow: /*ab$\n", "disallow: /*b*a\n".repeat(40_000));
    let page = "<html><body>\nUser-agent: *<br>\nDisallow: /a\n</body></html>";
    let bodies = [
        "",
        "user-agent: *\ndisallow: /a\nallow: /a/b\n",
        "user-agent: googlebot\nuser-agent: gptbot\ndisallow: /*.gif$\n\nuser-agent: *\ndisallow: /\nallow: /a",
        "user-agent: googlebot-image\ndisallow: /p\nuser-agent: googlebot\nallow: /p\ndisallow:",
        "disallow: /\n",
        "User-agent: *\u{0}\u{1}\u{2}\nDisallow: /\n",
        page,
        &long,
    ];
    let crawlers = ["GPTBot", "Googlebot-Image", "AnyBot"].map(Crawler::named);
    let crawlers = crawlers.into_iter().chain([Crawler::chain(["a", "gptbot"], false), Crawler::verbatim("*")]);
    let crawlers: Vec<Crawler> = crawlers.chain([Crawler::chain([""; 0], false)]).collect();
    let mut compared = 0;
    let dialects = "google google-lib rfc9309 rfc9309-strict yandex yandex-2017 bing koster-1994 koster-1996";
    for dialect in dialects.split(' ').map(|name| Dialect::from_name(name).unwrap()) {
        for (crawler, body) in crawlers.iter().flat_map(|crawler| bodies.map(|body| (crawler, body))) {
            let one_shot = reptile::OneShot::new(crawler.clone(), dialect).unwrap();
            let agent = Robots::parse(body, dialect).unwrap().agent(crawler.clone()).unwrap();
            let long_url = format!("/{}", "ab".repeat(1000));
            let urls = || urls.into_iter().chain([&*long_url]);
            // The file is compiled after some of these decisions, and at the latest for the first explanation.
            let verdicts: Vec<Verdict> = urls().map(|url| agent.decide(url).unwrap()).collect();
            for (url, verdict) in urls().zip(verdicts) {
                let explained = agent.explain(url).unwrap();
                // Some dialects' implicit rule that allows /robots.txt has no line.
                let expected = (explained.verdict, line(explained.rule()).filter(|&line| line > 0));
                let shown = &body[..body.len().min(60)];
                assert_eq!(verdict, expected.0, "{dialect} {crawler} {url} {shown}");
                assert_eq!(one_shot.decide(body, url).unwrap(), expected, "{dialect} {crawler} {url} {shown}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 9 * crawlers.len() * bodies.len() * 10);
    let error = reptile::OneShot::new("Googlebot/2.1", Dialect::google()).unwrap_err();
    assert_eq!(error.suggestion(), Some("Googlebot"));
    let one_shot = reptile::OneShot::new("AnyBot", Dialect::google()).unwrap();
    for (len, fits) in [((16 << 20) - 1, true), (16 << 20, true), ((16 << 20) + 1, false)] {
        let decided = one_shot.decide(vec![b'#'; len], "/");
        assert_eq!(
            decided.map_err(|error| error.kind()),
            if fits { Ok((Verdict::Allow, None)) } else { Err(ErrorKind::Limit) }
        );
    }
}

#[test]
fn threads_decide_by_a_file_while_it_is_compiled() {
    let rules: String = (0..200).map(|at| format!("disallow: /{at}*x$\nallow: /{at}/\n")).collect();
    let robots = Robots::parse(format!("user-agent: *\n{rules}"), Dialect::google()).unwrap();
    let (agent, agents) = (robots.agent("AnyBot").unwrap(), robots.agents(["AnyBot", "GPTBot"]).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for at in 0..100 {
                    let mut verdicts = [Verdict::Invalid; 2];
                    agents.decide(format!("/{at}x"), &mut verdicts).unwrap();
                    assert_eq!(verdicts, [Verdict::Disallow; 2], "{at}");
                    assert_eq!(agent.decide(format!("/{at}/y")).unwrap(), Verdict::Allow, "{at}");
                    assert_eq!(agent.clone().decide(format!("/{at}-x")).unwrap(), Verdict::Disallow, "{at}");
                }
            });
        }
    });
    assert!(!agent.is_named());
    assert_eq!(agents.origins().count(), 1);
}

#[test]
fn diffs_report_each_origin_once_with_its_changes() {
    use reptile::contents;
    use reptile::diff::{Change, Diff, OriginChange};
    let capture = |name: &str, status, body: &str| {
        let mut capture = Capture::new(format!("https://{name}.example/robots.txt"), body).unwrap();
        capture.status = Some(status);
        capture
    };
    let compiled = |captures: Vec<Capture>| {
        let mut compiler = Compiler::new(Dialect::google());
        compiler.add_all(captures, |origin, error| panic!("{origin}: {error}"));
        compiler.finish().unwrap().to_bytes()
    };
    let old = compiled(vec![
        capture("gone", 200, ""),
        capture("same", 200, "user-agent: a\ndisallow: /1\nsitemap: /1"),
        capture(
            "rules",
            200,
            "user-agent: a\ndisallow: /1\n\nuser-agent: b\ndisallow: /2\n\nuser-agent: *\ndisallow: /3",
        ),
        capture("source", 200, "user-agent: *\ndisallow: /1"),
        capture("other", 200, "sitemap: /1"),
    ]);
    let new = compiled(vec![
        capture("added", 200, ""),
        capture("same", 201, "# another line\nuser-agent: a\ndisallow: /1\nsitemap: /1"),
        capture(
            "rules",
            200,
            "user-agent: a\ndisallow: /1\n\nuser-agent: b\ndisallow: /4\n\nuser-agent: *\ndisallow: /5",
        ),
        capture("source", 404, ""),
        capture("other", 200, "sitemap: /2"),
    ]);
    let (old, new) = (contents::Set::from_bytes(&old[..]).unwrap(), contents::Set::from_bytes(&new[..]).unwrap());
    let mut diff = Diff::new(&old, &new);
    let mut found = Vec::new();
    let mut report = |origin: &contents::OriginRecord<'_>, change| {
        found.push((String::from_utf8(origin.host.to_vec()).unwrap().replace(".example", ""), change));
    };
    diff.each_origin(&mut report).unwrap();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("added", OriginChange::Added),
        ("gone", OriginChange::Gone),
        ("other", OriginChange::Changed),
        ("rules", OriginChange::Changed),
        ("same", OriginChange::Same),
        ("source", OriginChange::Changed),
    ];
    assert_eq!(found, expected.map(|(name, change)| (name.to_owned(), change)));
    let change = |name: &str| diff.change(&format!("https://{name}.example").parse().unwrap()).unwrap();
    for name in ["added", "gone", "same", "none"] {
        assert_eq!(change(name), Change::default(), "{name}");
    }
    let rules = change("rules");
    assert_eq!((rules.tokens, rules.default_group), (vec![b"b"[..].into()], true));
    assert!(rules.source.is_none() && !rules.other_directives);
    let sources = change("source").source.unwrap();
    assert_eq!(sources, [PolicySource::Rules, PolicySource::AllowAll(Cause::Status(404))]);
    assert!(change("other").other_directives && change("other").tokens.is_empty());
}
