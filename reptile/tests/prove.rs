//! Assertions about every URL: their syntax and limits, and their proofs compared with brute force.
#![cfg(feature = "compile")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use reptile::prove::{
    Assertions, Claim, MAX_ASSERTION_BYTES, MAX_ASSERTIONS, MAX_MISTAKES_LISTED, MAX_PROOFS, Options, Proof, ProveError,
};
use reptile::{Capture, Compiler, Dialect, ErrorKind, Robots, Verdict};

fn robots(body: &str) -> Robots {
    Robots::parse(body, Dialect::google()).unwrap()
}

/// Returns each mistake in a list, with its line.
fn mistakes(list: impl AsRef<[u8]>) -> Vec<String> {
    let mistakes = Assertions::parse(list).unwrap_err();
    mistakes.iter().map(|mistake| format!("{}: {mistake}", mistake.line)).collect()
}

/// Returns the mistakes that depend on the robots.txt.
fn later_mistakes(list: &str, robots: &Robots) -> Vec<String> {
    match Assertions::parse(list).unwrap().prove(robots, &Options::default()) {
        Err(ProveError::Mistakes(found)) => {
            assert_eq!(found.count(), found.iter().len());
            found.iter().map(|mistake| format!("{}: {mistake}", mistake.line)).collect()
        }
        other => panic!("{list:?}: {other:?}"),
    }
}

#[test]
fn every_form_of_a_line_is_read() {
    for (list, claim, crawlers, patterns, text) in [
        ("allow * /$", Claim::Allow, &["*"][..], &["/$"][..], "allow * /$"),
        ("\u{feff}ALLOW\tA>B>*  /a *b#c", Claim::Allow, &["A>B>*"], &["/a", "*b"], "allow A>B>* /a *b"),
        ("\r\n# x\r\n Disallow @search *\r\n", Claim::Disallow, &["@search"], &["*"], "disallow @search *"),
        ("same A B", Claim::Same, &["A", "B"], &[], "same A B"),
        ("sAME * B /x # y", Claim::Same, &["*", "B"], &["/x"], "same * B /x"),
        ("A <= *", Claim::NoMore, &["A", "*"], &[], "A <= *"),
        ("A <= * *", Claim::NoMore, &["A", "*"], &["*"], "A <= * *"),
        // The second word decides, so that a crawler may have any name.
        ("allow <= same /x", Claim::NoMore, &["allow", "same"], &["/x"], "allow <= same /x"),
    ] {
        let list = Assertions::parse(list).unwrap();
        let assertion = list.iter().next().unwrap();
        assert_eq!((list.iter().len(), assertion.claim, &*assertion.to_string()), (1, claim, text));
        let patterns: Vec<&[u8]> = patterns.iter().map(|pattern| pattern.as_bytes()).collect();
        assert!(assertion.crawlers == crawlers && assertion.patterns == patterns, "{assertion:?}");
    }
    let raw = Assertions::parse(b"allow A /\xff").unwrap();
    assert_eq!(raw.iter().next().unwrap().patterns, [b"/\xff"]);
}

#[test]
fn mistakes_say_what_is_expected_and_found() {
    let claim = "1: expected `allow CRAWLER PATTERN`, `disallow CRAWLER PATTERN`, `same CRAWLER CRAWLER` or `CRAWLER \
                 <= CRAWLER`, found ";
    for (list, mistake) in [
        (&b""[..], &*format!("{claim}no assertion in the whole list")),
        (b"deny A /", &*format!("{claim}\"deny\"")),
        (b"Disallow: /", &*format!("{claim}\"Disallow:\"")),
        (b"A >= B", &*format!("{claim}\"A\"")),
        (b"A<=B", "1: expected spaces around <=, found \"A<=B\""),
        (b"A <=", "1: expected a crawler, found the end of the line"),
        (b"allow", "1: expected a crawler, found the end of the line"),
        (b"allow A", "1: expected a pattern, such as /private/* or /$, found the end of the line"),
        (b"allow A # /x", "1: expected a pattern, such as /private/* or /$, found the end of the line"),
        (b"disallow /x", "1: expected a crawler, found the pattern \"/x\""),
        (b"disallow A B /x", "1: expected a pattern that begins with / or *, found \"B\""),
        (b"same A", "1: expected a crawler, found the end of the line"),
        (b"same A B C", "1: expected a pattern that begins with / or *, found \"C\""),
        (b"same GPTBot gptbot", "1: expected two different crawlers, found \"GPTBot\" twice"),
        (b"* <= *", "1: expected two different crawlers, found \"*\" twice"),
        (b"allow \xff /x", "1: expected a crawler, found \"\u{fffd}\", which is not UTF-8"),
        (
            b"allow A>>B /x",
            "1: expected a crawler, found \"A>>B\" is not a chain of product tokens, such as Googlebot-News>Googlebot>*",
        ),
    ] {
        assert_eq!(mistakes(list), [mistake], "{}", list.escape_ascii());
    }
    assert_eq!(mistakes("\n# none\n\n").len(), 1);
    let all = mistakes("allow\r\nallow * /\r\n\r\nsame A\r\n");
    assert!(all.len() == 2 && all[0].starts_with("1: ") && all[1].starts_with("4: "), "{all:?}");
}

#[test]
fn mistakes_that_depend_on_the_dialect_are_found_later() {
    let robots = robots("user-agent: *\ndisallow: /a");
    let list = "allow Mozilla/5.0 /\nallow * /\n@nobody2 <= x\n";
    assert!(mistakes(list)[0].contains("unknown group of crawlers \"@nobody2\""));
    let list = "allow Mozilla/5.0 /\nallow * /b\nsame Googelbot *\ndisallow * /robots.txt$\nallow * *.txt";
    let found = later_mistakes(list, &robots);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("1: expected a crawler, found ") && found[0].contains("Mozilla/5.0"), "{found:?}");
    assert_eq!(
        found[1],
        "3: expected a crawler, found \"Googelbot\", which is nearly the crawler \"Googlebot\": write that"
    );
    assert_eq!(
        found[2],
        "4: expected a pattern that matches the path of a URL other than /robots.txt, found \"/robots.txt$\""
    );
    // A site may name such a crawler.
    let named = Robots::parse("user-agent: Googelbot\ndisallow: /a", Dialect::google()).unwrap();
    let list = Assertions::parse("disallow Googelbot /a").unwrap();
    assert_eq!(list.prove(&named, &Options::default()).unwrap()[0].proof, Proof::Holds);
}

#[test]
fn lists_stop_at_their_limits() {
    for (count, mistakes) in [(MAX_ASSERTIONS - 1, 0), (MAX_ASSERTIONS, 0), (MAX_ASSERTIONS + 1, 1)] {
        let found = Assertions::parse("#\nallow * /\n".repeat(count)).err();
        assert_eq!(found.as_ref().map_or(0, |found| found.count()), mistakes, "{count}");
        let text = found.map(|found| found.to_string());
        assert!(text.is_none_or(|text| text == "line 2002: expected at most 1000 assertions, found another one"));
    }
    // A comment counts too.
    for (len, is_read) in
        [(MAX_ASSERTION_BYTES - 1, true), (MAX_ASSERTION_BYTES, true), (MAX_ASSERTION_BYTES + 1, false)]
    {
        let line = format!("allow * /#{}", "x".repeat(len - 10));
        assert_eq!(line.len(), len);
        let found = Assertions::parse(format!("{line}\r\nallow * /a"));
        assert_eq!(found.is_ok(), is_read, "{len}");
        let text = found.map_err(|found| found.to_string()).err();
        assert!(text.is_none_or(|text| text == "line 1: expected at most 16384 bytes in a line, found 16385"));
    }
    for (count, more) in
        [(MAX_MISTAKES_LISTED - 1, None), (MAX_MISTAKES_LISTED, None), (MAX_MISTAKES_LISTED + 1, Some("; and 1 more"))]
    {
        let found = Assertions::parse("x\n".repeat(count)).unwrap_err();
        assert_eq!((found.count(), found.iter().len()), (count, count.min(MAX_MISTAKES_LISTED)));
        assert_eq!(found.to_string().ends_with("; and 1 more"), more.is_some(), "{count}");
    }
}

#[test]
fn proofs_stop_at_their_limit() {
    let robots = robots("user-agent: *\ndisallow: /a");
    let members = robots.crawlers_named("@ai-training").unwrap().len();
    let (groups, single) = (MAX_PROOFS / members, MAX_PROOFS % members);
    for (single, is_proved) in [(single.wrapping_sub(1), true), (single, true), (single + 1, false)] {
        let groups = if single == usize::MAX { groups - 1 } else { groups };
        let single = if single == usize::MAX { members - 1 } else { single };
        let list = "@ai-training <= *\n".repeat(groups) + &"GPTBot <= *\n".repeat(single);
        let list = Assertions::parse(list).unwrap();
        match list.prove(&robots, &Options::default()) {
            Ok(found) => assert!(is_proved && found.len() <= MAX_PROOFS && found.len() >= MAX_PROOFS - 1),
            Err(ProveError::Mistakes(found)) => {
                assert!(!is_proved && found.count() == 1, "{found}");
                assert!(found.to_string().contains("expected at most 4096 assertions"), "{found}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn searches_stop_at_their_limit() {
    let robots = robots("user-agent: *\ndisallow: /*a*b\nallow: /*a*b\nallow: /*b*a\n");
    let list = Assertions::parse("allow * /").unwrap();
    let proof = |max_steps| {
        let mut options = Options::default();
        options.max_steps = max_steps;
        list.prove(&robots, &options).unwrap().remove(0).proof
    };
    let needed = (0..1000).find(|&steps| proof(steps) == Proof::Holds).unwrap();
    assert!(needed > 10, "{needed}");
    assert_eq!([proof(needed - 1), proof(needed), proof(needed + 1)], [Proof::Unproved, Proof::Holds, Proof::Holds]);
}

#[test]
fn crawlers_without_a_group_fail_unless_accepted() {
    let file = "user-agent: *\ndisallow: /a\n\nuser-agent: b\ndisallow: /\n";
    let no_default = "user-agent: b\ndisallow: /\n";
    for (body, list, expected, accepted) in [
        (file, "disallow b /a", "holds", "holds"),
        (file, "disallow c /a", "no group c", "holds"),
        (file, "disallow c>* /a", "holds", "holds"),
        (file, "disallow c>b /a", "holds", "holds"),
        (file, "allow c>d /a", "no group c>d", "holds"),
        (file, "disallow c>d /a", "no group c>d", "/a"),
        (file, "b <= c", "no group c", "holds"),
        (file, "c <= b", "no group c", "/"),
        (file, "same c d", "no group c", "holds"),
        (file, "same c>* *", "holds", "holds"),
        (file, "disallow Googlebot-Image /a", "no group Googlebot-Image", "holds"),
        // A file without a default group allows everything, so a comparison with `*` says nothing.
        (no_default, "b <= *", "no group *", "holds"),
        (no_default, "allow * /", "no group *", "holds"),
        (no_default, "allow b>* /", "/", "/"),
        ("", "allow * /", "no group *", "holds"),
    ] {
        let (list, robots) = (Assertions::parse(list).unwrap(), robots(body));
        for (allow_default, expected) in [(false, expected), (true, accepted)] {
            let mut options = Options::default();
            options.allow_default = allow_default;
            let found = list.prove(&robots, &options).unwrap().remove(0);
            assert_eq!(word(&found.proof), expected, "{found} {allow_default}");
        }
    }
}

/// Returns a short form of a proof.
fn word(proof: &Proof) -> String {
    match proof {
        Proof::Holds => "holds".into(),
        Proof::Counterexample(found) => String::from_utf8(found.path.clone()).unwrap(),
        Proof::NoGroup(name) => format!("no group {name}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn groups_of_crawlers_are_asserted_for_each_member() {
    let robots = robots("user-agent: *\ndisallow: /a\n\nuser-agent: CCBot\ndisallow: /b\n");
    let mut options = Options::default();
    options.allow_default = true;
    let list = Assertions::parse("@ai-training <= *\n@ai-training <= GPTBot").unwrap();
    let found = list.prove(&robots, &options).unwrap();
    let members = robots.crawlers_named("@ai-training").unwrap().len();
    // GPTBot is not compared with itself.
    assert_eq!(found.len(), 2 * members - 1);
    let refuted: Vec<String> =
        found.iter().filter(|found| found.proof != Proof::Holds).map(ToString::to_string).collect();
    assert_eq!(refuted, ["CCBot <= *", "CCBot <= GPTBot"]);
}

#[test]
fn an_origin_in_a_set_is_examined() {
    let mut compiler = Compiler::new(Dialect::google());
    for (host, rule) in [("a", "/a"), ("b", "/b")] {
        let url = format!("https://{host}.example:8443/robots.txt");
        compiler.add(Capture::new(url, format!("user-agent: *\ndisallow: {rule}")).unwrap()).unwrap();
    }
    let set = compiler.finish().unwrap().into_set().unwrap();
    let list = Assertions::parse("disallow * /a").unwrap();
    let proof = |origin: &str| list.prove_at(&set, &origin.parse().unwrap(), &Options::default());
    assert_eq!(proof("https://a.example:8443").unwrap()[0].proof, Proof::Holds);
    let outcomes = proof("https://b.example:8443").unwrap();
    assert!(matches!(&outcomes[0].proof, Proof::Counterexample(found) if found.path == b"/a"));
    match proof("https://a.example") {
        Err(ProveError::Set(error)) => assert_eq!(error.kind(), ErrorKind::UnknownOrigin),
        other => panic!("{other:?}"),
    }
}

/// A random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn pattern(&mut self) -> String {
        let parts = (0..self.below(4)).map(|_| ["a", "b", "/", "?", "*", "*"][self.below(6)]).collect::<String>();
        format!("/{parts}{}", if self.below(4) == 0 { "$" } else { "" })
    }

    fn group(&mut self, name: &str) -> String {
        let rules = (0..self.below(4)).map(|_| {
            let kind = ["allow", "disallow", "disallow"][self.below(3)];
            format!("{kind}: {}\n", self.pattern())
        });
        format!("user-agent: {name}\n{}\n", rules.collect::<String>())
    }
}

/// Matches a pattern letter by letter.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        (b"$", path) => path.is_empty(),
        ([b'*', rest @ ..], path) => (0..=path.len()).any(|from| matches(rest, &path[from..])),
        ([first, rest @ ..], [byte, path @ ..]) => first == byte && matches(rest, path),
        _ => false,
    }
}

/// Returns all paths of up to 7 bytes in a small alphabet, the shortest first.
fn short_paths() -> Vec<Vec<u8>> {
    let (mut paths, mut from) = (vec![b"/".to_vec()], 0);
    while paths[from].len() < 7 {
        for &byte in b"ab/?" {
            let path = [&paths[from][..], &[byte]].concat();
            paths.push(path);
        }
        from += 1;
    }
    paths
}

#[test]
fn proofs_agree_with_brute_force() {
    let (mut random, paths) = (Random(0x9E37_79B9_7F4A_7C15), short_paths());
    let mut counts = [[0_u32; 2]; 4];
    for _ in 0..1000 {
        let body = random.group("*") + &random.group("one") + &random.group("two");
        let robots = robots(&body);
        let agents = ["one", "two"].map(|name| robots.agent(name).unwrap());
        let decide = |path: &[u8]| {
            // Without a host, a path that begins with two slashes would have one.
            let url = [b"http://h", path].concat();
            agents.each_ref().map(|agent| agent.decide(&url).unwrap() == Verdict::Allow)
        };
        let verdicts: Vec<[bool; 2]> = paths.iter().map(|path| decide(path)).collect();
        let patterns: Vec<String> = (0..1 + random.below(2)).map(|_| random.pattern()).collect();
        let only = patterns.join(" ");
        let list = format!("allow one {only}\ndisallow one {only}\nsame one two {only}\none <= two {only}");
        let list = Assertions::parse(list).unwrap();
        for outcome in list.prove(&robots, &Options::default()).unwrap() {
            let claim = outcome.assertion.claim;
            let is_refuted = |[one, two]: [bool; 2]| match claim {
                Claim::Allow => !one,
                Claim::Disallow => one,
                Claim::Same => one != two,
                _ => one && !two,
            };
            let is_meant = |path: &[u8]| patterns.iter().any(|pattern| matches(pattern.as_bytes(), path));
            let mut refuted =
                paths.iter().zip(&verdicts).filter(|(path, verdicts)| is_refuted(**verdicts) && is_meant(path));
            let shortest = refuted.next().map(|(path, _)| path);
            match &outcome.proof {
                Proof::Holds => assert_eq!(shortest, None, "{outcome}\n{body}"),
                Proof::Counterexample(found) => {
                    assert!(is_refuted(decide(&found.path)) && is_meant(&found.path), "{outcome}: {found:?}\n{body}");
                    assert!(shortest.is_none_or(|path| found.path.len() <= path.len()), "{outcome}: {found:?}\n{body}");
                }
                other => panic!("{outcome}: {other:?}\n{body}"),
            }
            counts[claim as usize][usize::from(outcome.proof == Proof::Holds)] += 1;
        }
    }
    println!("refuted and proved, by claim: {counts:?}");
    assert!(counts.iter().flatten().all(|&count| count > 20), "{counts:?}");
}
