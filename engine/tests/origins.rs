//! Tests that `split` reads the same origin in a URL as RFC 3986 and the WHATWG URL standard.
//!
//! If a client connects to one host and another host's rules decide, strangers can choose the rules. Each URL here is
//! therefore parsed three times: by the engine, by the `url` crate (the WHATWG URL standard), and by a small splitter
//! for the RFC 3986 grammar. If the engine accepts a URL, the others must find the same origin or reject it. Rejections
//! are counted by reason and compared with a table.

#![cfg(feature = "idna")] // Without it, non-ASCII names have no canonical form.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use reptile_engine::format::FORMAT_VERSION;
use reptile_engine::set::Set;
use reptile_engine::verdict::Verdict;

use standards::compare;

#[path = "support/standards.rs"]
mod standards;

/// Tabulates [`compare`] over URLs, one line per row label: the number of URLs, the label, and the shortest URL.
fn table(urls: impl Iterator<Item = String>) -> String {
    let mut rows: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for url in urls {
        let (count, shortest) = rows.entry(compare(&url)).or_insert_with(|| (0, url.clone()));
        *count += 1;
        if (url.len(), &url) < (shortest.len(), shortest) {
            *shortest = url;
        }
    }
    rows.iter().fold(String::from("\n"), |mut text, (row, (count, shortest))| {
        writeln!(text, "{count:>6} | {row} | {shortest:?}").unwrap();
        text
    })
}

/// Returns every concatenation of one fragment from each list.
fn product<'a>(lists: &[&'a [&'a str]]) -> Vec<String> {
    lists.iter().fold(vec![String::new()], |begun, list| {
        begun.iter().flat_map(|text| list.iter().map(move |fragment| format!("{text}{fragment}"))).collect()
    })
}

const PREFIXES: [&str; 29] = [
    "http://",
    "https://",
    "ftp://",
    "HtTpS://",
    "FTP://",
    "http:/",
    "http:",
    "http",
    "http:///",
    "http:////",
    "//",
    "",
    "https:\\\\",
    "http:/\\",
    "http:\\/",
    "http://\\",
    " http://",
    "\u{1}http://",
    "\thttp://",
    "\u{feff}http://",
    "ht\ttp://",
    "http:\n//",
    "http:/\t/",
    "http ://",
    "http://\t",
    "ws://",
    "gopher://",
    "mailto:",
    "h\u{ff54}tp://",
];

const USERS: [&str; 33] = [
    "",
    "@",
    ":@",
    "u@",
    "u:p@",
    "u:p:q@",
    "U%40v@",
    "u%2F@",
    "a:80@",
    "good.com&=+$,!*'()~_-@",
    "@@",
    "u@v@",
    "u;v@",
    ";@",
    "u\\@",
    "\\",
    "u\\v@",
    "u v@",
    " @",
    "u\tv@",
    "u\n@",
    "\r\n@",
    "u\0@",
    "u\u{7f}@",
    "[u]@",
    "[::1]@",
    "u%@",
    "u%4@",
    "u<\"^`{|}>@",
    "\u{fc}@",
    "u\u{ff0f}@",
    "u/@",
    "u#?@",
];

const HOSTS: [&str; 101] = [
    "a",
    "A.b",
    "a-b_c~d",
    "-a",
    "a!$&'()*+,=b",
    "a.",
    "a..",
    ".",
    "",
    "a..b",
    ".a",
    "a;b",
    "a;",
    ";",
    "a b",
    " a",
    "a ",
    "a\tb",
    "a\nb",
    "a\0b",
    "a\u{1f}b",
    "a\u{7f}b",
    "a\\b",
    "a@b",
    "a\"b",
    "a<b",
    "a>b",
    "a^b",
    "a`b",
    "a{b",
    "a|b",
    "a]b",
    "a[b",
    "a%2Fb",
    "a%2fb",
    "a%40b",
    "a%3Ab",
    "a%3Bb",
    "a%5Bb",
    "a%5Cb",
    "a%23b",
    "a%3Fb",
    "a%20b",
    "a%00b",
    "a%09b",
    "a%25b",
    "a%252Fb",
    "a%2",
    "a%",
    "a%zz",
    "%41%2eb",
    "ex%61mple%2E",
    "%2E",
    "%",
    "%31%32%37.1",
    "1.2.3.4",
    "1.2.3.4.",
    "1.2.3.4..",
    "127.1",
    "0x7F.1",
    "0X7f000001",
    "0177.0.0.1",
    "1.2.3.08",
    "2130706433",
    "4294967296",
    "1.2.3.256",
    "1.2.3.4.5",
    "a.7",
    "a.0x",
    "[::1]",
    "[0:0::1]",
    "[2001:DB8::A]",
    "[::ffff:1.2.3.4]",
    "[::01.2.3.4]",
    "[::1%25eth0]",
    "[::1%eth0]",
    "[]",
    "[1.2.3.4]",
    "[v1.a]",
    "[%3A%3A1]",
    "%5B%3A%3A1%5D",
    "[::1",
    "::1",
    "[::1]a",
    "[::1].",
    "[[::1]]",
    "b\u{fc}r",
    "B%C3%9CR",
    "b%FCr",
    "a\u{ad}b",
    "%C2%AD",
    "a\u{3002}b",
    "a\u{ff0f}b",
    "a\u{ff20}b",
    "\u{ff11}\u{ff12}7.1",
    "xn--bcher-kva",
    "xn--a",
    "xn--",
    "%58n--a.b",
    "a.xn--bcher-kva.",
    "xn--bcher-kva\u{fc}",
];

const PORTS: [&str; 19] = [
    "",
    ":",
    ":0",
    ":80",
    ":00080",
    ":21",
    ":443",
    ":65535",
    ":65536",
    ":0065536",
    ":99999999999999999999",
    ":8 0",
    ":8\t0",
    ":+80",
    ":-1",
    ":x",
    ":80:90",
    ":\u{ff18}\u{ff10}",
    ":8;0",
];

const TAILS: [&str; 14] =
    ["", "/", "/p?q#f", "?q", "#f", ";p", "#@b", "?@b", "/@b", "//b/@c:1", "/\\@b", "\\@b", "/p ", "/p\t@b"];

const USERS_AND_HOSTS: &str = r#"
  5856 | all agree | "http://a/p"
 38449 | all refuse | "http://%/p"
  5426 | only RFC 3986 accepts | "http://:/p"
  8397 | only WHATWG accepts: Ambiguous | "http://\\/p"
   240 | only WHATWG accepts: Host | "http://a\"b/p"
  3416 | only WHATWG accepts: UserInfo | "http:// @./p"
   832 | only the engine refuses: Ambiguous | "http://;/p"
   310 | only the engine refuses: Control | "http://u/@a\0b/p"
    80 | only the engine refuses: Host | "http://a%3Bb/p"
   320 | only the engine refuses: no form of the host | "http://./p"
     1 | the standards differ: Host | "http:///p"
"#;

/// Combines each user information with each host and each port.
#[test]
fn authorities_give_the_expected_counts() {
    let table = table(product(&[&["http://"], &USERS, &HOSTS, &PORTS, &["/p"]]).into_iter());
    assert_eq!(table, USERS_AND_HOSTS, "{table}");
}

const PREFIXES_AND_TAILS: &str = r#"
  3304 | all agree | "FTP://a"
 12796 | all refuse | ""
  1766 | only RFC 3986 accepts | "ws://"
  4263 | only WHATWG accepts: Ambiguous | "FTP://\\@b"
     1 | only WHATWG accepts: Host | "http://p "
 12546 | only WHATWG accepts: NoScheme | "http:a"
   517 | only WHATWG accepts: OtherScheme | "ws://\\@b"
    75 | only the engine refuses: Ambiguous | "FTP://;p"
   300 | only the engine refuses: Control | "FTP://a/p\t@b"
   720 | only the engine refuses: OtherScheme | "ws://a:443"
  2307 | the standards differ: Host | "FTP:///@b"
   381 | the standards differ: OtherScheme | "ws://a"
"#;

/// Combines each prefix and each tail with a few variants of the other parts.
#[test]
fn prefixes_and_tails_give_the_expected_counts() {
    let users = ["", "@", "u:p@", "u\\@"];
    let hosts = ["", "a", "A.b.", "127.1", "[::1]", "b\u{fc}r"];
    let ports = ["", ":", ":8080", ":443"];
    let table = table(product(&[&PREFIXES, &users, &hosts, &ports, &TAILS]).into_iter());
    assert_eq!(table, PREFIXES_AND_TAILS, "{table}");
}

const SHORT_TEXTS: &str = r#"
 56096 | all agree | "http://1"
645673 | all refuse | "http://\t"
231179 | only RFC 3986 accepts | "http://"
100150 | only WHATWG accepts: Ambiguous | "http://\t."
   669 | only WHATWG accepts: Host | "http://. "
   172 | only WHATWG accepts: Port | "http://.: "
  9338 | only WHATWG accepts: UserInfo | "http:// @."
 33366 | only the engine refuses: Ambiguous | "http://;"
 11583 | only the engine refuses: Control | "http://.#\t"
  2273 | only the engine refuses: Host | "http:///."
 14049 | only the engine refuses: no form of the host | "http://."
 13933 | the standards differ: Host | "http:///1"
"#;

/// Tries every text of up to five of these characters after `http://`.
#[test]
fn short_authorities_give_the_expected_counts() {
    let characters = ["", "a", "1", ".", ":", "@", "/", "\\", ";", "[", "]", "%", "?", "#", " ", "\t", "\u{fc}"];
    let mut texts = product(&[&["http://"], &characters, &characters, &characters, &characters, &characters]);
    texts.sort_unstable();
    texts.dedup();
    let table = table(texts.into_iter());
    assert_eq!(table, SHORT_TEXTS, "{table}");
}

/// Returns whether a row label of [`compare`] is in one of the tables.
fn is_known(row: &str) -> bool {
    [USERS_AND_HOSTS, PREFIXES_AND_TAILS, SHORT_TEXTS]
        .iter()
        .flat_map(|table| table.lines())
        .any(|line| line.split(" | ").nth(1) == Some(row))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn random_fragments_give_only_known_rows(
        prefix in proptest::sample::select(&PREFIXES[..5]),
        fragments in proptest::collection::vec(
            proptest::sample::select([&USERS[..], &HOSTS, &PORTS, &TAILS].concat()), 0..6),
    ) {
        let row = compare(&format!("{prefix}{}", fragments.concat()));
        prop_assert!(is_known(&row), "{row}");
    }

    #[test]
    fn random_text_never_contradicts(
        prefix in "(http|https|ftp|HTTP):?[/\\\\]{0,3}",
        text in "\\PC{0,12}",
        end in "[@:;/\\\\a-c.]{0,6}",
    ) {
        compare(&format!("{prefix}{text}{end}"));
    }
}

/// For an ambiguous URL, a set neither applies the rules of `shop.example.com` nor reports an unknown origin.
#[test]
fn ambiguous_urls_get_the_verdict_invalid() {
    let path = format!("{}/tests/golden/v{FORMAT_VERSION}/google.set", env!("CARGO_MANIFEST_DIR"));
    let set = Set::from_bytes(std::fs::read(path).unwrap()).unwrap();
    let agent = set.agent(b"GPTBot").unwrap();
    let verdict = |url: &str| set.decide(&agent, url.as_bytes()).unwrap();
    assert_eq!(verdict("https://u:p@shop.example.com:443/cart"), Verdict::Disallow);
    assert_eq!(verdict("https://shop.example.com/a;b\\@c"), Verdict::Allow);
    for url in [
        "https://shop.example.com;@other.example/cart",
        "https://shop.example.com;/cart",
        "https://shop.example.com\\@other.example/cart",
        "https://other.example\\@shop.example.com/cart",
        "https://other.example\\.shop.example.com/cart",
        "https://u\tv@shop.example.com/cart",
        "https://u@v@shop.example.com/cart",
        "https://other.example%2F@shop.example.com%2F/cart",
        "https://shop.example.com%2Fother.example/cart",
        "https:///shop.example.com/cart",
    ] {
        assert_eq!(verdict(url), Verdict::Invalid, "{url:?}");
    }
}
