//! Tests that [`split`] reads the same origin in a URL as RFC 3986 and the WHATWG URL standard.
//!
//! If a client connects to one host and another host's rules decide, strangers can choose the rules. Each URL here is
//! therefore parsed three times: by the engine, by the `url` crate (the WHATWG URL standard), and by a small splitter
//! for the RFC 3986 grammar. If the engine accepts a URL, the others must find the same origin or reject it. Rejections
//! are counted by reason and compared with a table.

#![cfg(feature = "idna")] // Without it, non-ASCII names have no canonical form.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::Ipv6Addr;

use proptest::prelude::*;
use reptile_engine::format::FORMAT_VERSION;
use reptile_engine::host::canonical;
use reptile_engine::set::Set;
use reptile_engine::url::{Scheme, path_of, split};
use reptile_engine::verdict::Verdict;
use url::Url;

/// An origin whose host is in its canonical form, or [`NO_FORM`].
#[derive(Debug, PartialEq)]
struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

/// Replaces the canonical form of an invalid host, such as `a..`. The engine accepts no such host.
const NO_FORM: &str = "no form of the host";

/// Returns a host's canonical form.
fn form(host: &str) -> Option<String> {
    Some(String::from_utf8(canonical(host.as_bytes())?.as_bytes().to_vec()).unwrap())
}

/// Returns the engine's origin, or its reason for rejecting the URL.
fn engine(url: &str) -> Result<Origin, String> {
    let origin = split(url.as_bytes()).map_err(|error| format!("{error:?}"))?.origin;
    let host = form(std::str::from_utf8(origin.host).unwrap()).ok_or(NO_FORM)?;
    Ok(Origin { scheme: origin.scheme.as_str().into(), host, port: origin.port })
}

/// Returns the origin by the WHATWG URL standard, without the host's final dot, which the engine deliberately drops.
fn whatwg(url: &str) -> Result<Origin, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    let host = url.host_str().ok_or("no host")?;
    let host = form(host).unwrap_or_else(|| NO_FORM.into());
    let port = url.port_or_known_default().ok_or("no port")?;
    Ok(Origin { scheme: url.scheme().into(), host, port })
}

/// Returns the scheme, host and port as written, by the RFC 3986 grammar (sections 3.1 and 3.2, and RFC 6874 for
/// zones). Names may contain raw non-ASCII characters, as in RFC 3987.
fn rfc3986(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once(':')?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(is_scheme) {
        return None;
    }
    let rest = rest.strip_prefix("//")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, host_and_port) = authority.split_once('@').unwrap_or(("", authority));
    let host_len = match host_and_port.strip_prefix('[') {
        Some(literal) => literal.find(']')? + 2,
        None => host_and_port.find(':').unwrap_or(host_and_port.len()),
    };
    let (host, port) = host_and_port.split_at(host_len);
    let port = if port.is_empty() { port } else { port.strip_prefix(':')? };
    let fits = is_text(user, |c| c == ':' || is_name_char(c)) && port.chars().all(|c| c.is_ascii_digit());
    let is_host = match host.strip_prefix('[') {
        Some(literal) => is_ip_literal(literal.strip_suffix(']')?),
        None => is_text(host, |c| !c.is_ascii() || is_name_char(c)),
    };
    (fits && is_host).then_some((scheme, host, port))
}

/// Returns whether a character is in `unreserved` or `sub-delims` (RFC 3986 section 2).
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=".contains(c)
}

/// Returns whether a text consists of accepted and `pct-encoded` characters.
fn is_text(text: &str, is_char: impl Fn(char) -> bool) -> bool {
    let is_digit = |at: usize, part: &str| part.as_bytes().get(at).is_some_and(u8::is_ascii_hexdigit);
    text.chars().all(|c| c == '%' || is_char(c))
        && text.split('%').skip(1).all(|part| is_digit(0, part) && is_digit(1, part))
}

/// Returns whether a literal is an `IPv6address`, an `IPvFuture`, or an address with a zone.
fn is_ip_literal(literal: &str) -> bool {
    if let Some((version, address)) = literal.strip_prefix('v').and_then(|future| future.split_once('.')) {
        let is_version = !version.is_empty() && version.chars().all(|c| c.is_ascii_hexdigit());
        return is_version && !address.is_empty() && address.chars().all(|c| c == ':' || is_name_char(c));
    }
    let (address, zone) = literal.split_once("%25").unwrap_or((literal, "eth0"));
    address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty() && is_text(zone, is_name_char)
}

/// Returns whether the two standards agree on a URL's origin, after converting RFC 3986's host to its canonical form.
fn standards_agree(rfc: Option<(&str, &str, &str)>, whatwg: &Origin) -> bool {
    let Some((scheme, host, port)) = rfc else { return false };
    let same_port = if port.is_empty() {
        Scheme::from_name(scheme.as_bytes()).is_some_and(|scheme| scheme.default_port() == whatwg.port)
    } else {
        port.parse() == Ok(whatwg.port)
    };
    let host = form(host).unwrap_or_else(|| NO_FORM.into());
    // RFC 9110 section 4.2.1: an http URL must not have an empty host.
    !host.is_empty() && same_port && scheme.eq_ignore_ascii_case(&whatwg.scheme) && host == whatwg.host
}

/// Compares the three results for a URL, and returns a row label for the table of counts. Panics at a contradiction.
fn compare(url: &str) -> String {
    let rfc = rfc3986(url);
    if let Ok(split) = split(url.as_bytes()) {
        assert_eq!(split.path.to_vec(), path_of(url.as_bytes()).to_vec(), "{url:?}: path");
        let (scheme, host, port) = rfc.unwrap_or_else(|| panic!("{url:?} is accepted, but invalid by RFC 3986"));
        let origin = split.origin;
        assert!(scheme.eq_ignore_ascii_case(origin.scheme.as_str()), "{url:?}: scheme");
        assert_eq!(host.as_bytes(), origin.host, "{url:?}: host");
        let port = if port.is_empty() { Ok(origin.scheme.default_port()) } else { port.parse() };
        assert_eq!(port, Ok(origin.port), "{url:?}: port");
    }
    match (engine(url), whatwg(url)) {
        (Ok(engine), Ok(whatwg)) => {
            assert_eq!(engine, whatwg, "{url:?}");
            "all agree".into()
        }
        (Ok(_), Err(reason)) => format!("only WHATWG refuses: {reason}"),
        (Err(reason), Ok(whatwg)) if standards_agree(rfc, &whatwg) => format!("only the engine refuses: {reason}"),
        (Err(reason), Ok(_)) if rfc.is_some() => format!("the standards differ: {reason}"),
        (Err(reason), Ok(_)) => format!("only WHATWG accepts: {reason}"),
        (Err(_), Err(_)) if rfc.is_some() => "only RFC 3986 accepts".into(),
        (Err(_), Err(_)) => "all refuse".into(),
    }
}

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
