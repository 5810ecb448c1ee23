//! Responses in WARC records that crawlers or servers wrote in unusual ways: interim responses, bodies without their
//! end or their coding, resources, and other spellings of the URL. A response that is not complete never opens a site
//! by lines that were cut.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use crate::warc::{answer, brotli, chunked, packed, record, zlib};
use support::{Folder, gz};

/// A body. [`START`] is its start, cut in its last line.
const RULES: &str = "User-agent: *\nDisallow: /private\nDisallow: /last\n";

/// The start of [`RULES`]. Read as if it were complete, it closes the site.
const START: &str = "User-agent: *\nDisallow: /private\nDisallow: /";

/// The expected effect of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// All of [`RULES`] count.
    Rules,
    /// Only the complete lines of [`START`] count.
    Start,
    /// Everything is allowed, as after a 404.
    Open,
    /// The record is refused, with this text in the message.
    Refused(&'static str),
    /// The record is left out, with this reason.
    LeftOut(&'static str),
}

use Effect::{LeftOut, Open, Refused, Rules, Start};

impl Effect {
    /// Returns the verdicts for `/`, `/private` and `/last`.
    fn verdicts(self) -> [&'static str; 3] {
        match self {
            Rules => ["allow", "disallow", "disallow"],
            Start => ["allow", "disallow", "allow"],
            Open => ["allow"; 3],
            Refused(_) | LeftOut(_) => ["unknown"; 3],
        }
    }
}

/// Compiles one record per case, each for its own host, and checks the effects. The host is `hN.example`, and `HOST` in
/// a record represents it. Returns the messages.
fn check(cases: &[(&[u8], Effect)], texts: &[&str]) {
    let host = |number: usize| format!("h{number:03}.example");
    let replaced = |bytes: &[u8], host: &str| {
        let parts: Vec<&[u8]> = split(bytes, b"HOST-x.example");
        parts.join(host.as_bytes())
    };
    let records: Vec<Vec<u8>> =
        cases.iter().enumerate().map(|(number, (bytes, _))| replaced(bytes, &host(number))).collect();
    let urls: Vec<String> = (0..cases.len())
        .flat_map(|number| ["", "private", "last"].map(|path| format!("https://{}/{path}", host(number))))
        .collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    for (name, bytes) in packed(&records) {
        let folder = Folder::new();
        folder.write(name, bytes);
        let is_refused = cases.iter().any(|(_, effect)| matches!(effect, Refused(_)));
        let run = folder.run(&["compile", "-o", "set", name]).says(i32::from(is_refused), texts);
        let verdicts = folder.verdicts("set", &urls);
        for (number, (record, effect)) in cases.iter().enumerate() {
            let found = &verdicts[number * 3..number * 3 + 3];
            let record = String::from_utf8_lossy(record);
            assert_eq!(found, effect.verdicts(), "{name}, case {number}: {record}\n{}", run.stderr);
            if let Refused(text) | LeftOut(text) = effect {
                let line = run.stderr.lines().find(|line| line.contains(&host(number)));
                assert!(line.is_some_and(|line| line.contains(text)), "case {number}: {record}\n{line:?}");
            }
        }
    }
}

/// Splits bytes at each occurrence of a text.
fn split<'b>(mut bytes: &'b [u8], text: &[u8]) -> Vec<&'b [u8]> {
    let mut parts = Vec::new();
    while let Some(at) = bytes.windows(text.len()).position(|window| window == text) {
        parts.push(&bytes[..at]);
        bytes = &bytes[at + text.len()..];
    }
    parts.push(bytes);
    parts
}

/// The URL of a case's robots.txt. Its host is as long as the case's own host.
const URL: &str = "https://HOST-x.example/robots.txt";

/// Returns a response for a case's robots.txt.
fn sent(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    answer(URL, status, fields, body)
}

fn ok(fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    sent("HTTP/1.1 200 OK", fields, body.as_ref())
}

/// Checks records that own their bytes.
fn check_all(cases: &[(Vec<u8>, Effect)], texts: &[&str]) -> usize {
    let cases: Vec<(&[u8], Effect)> = cases.iter().map(|(record, effect)| (&**record, *effect)).collect();
    check(&cases, texts);
    cases.len()
}

#[test]
fn interim_responses_are_skipped() {
    let after = |interim: &str, last: &str| sent(&format!("{interim}{last}"), "", RULES.as_bytes());
    let no_final = "malformed HTTP answer: expected";
    let cases = [
        (after("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK"), Rules),
        (after("HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 200 OK"), Rules),
        (after("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n", "HTTP/1.1 200 OK"), Rules),
        (after("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK"), Rules),
        (after("HTTP/1.1 199 Other\n\n", "HTTP/2 200"), Rules),
        // An interim response's fields do not apply to the final response.
        (after("HTTP/1.1 103 Hints\r\nContent-Encoding: br\r\nContent-Length: 9999\r\n\r\n", "HTTP/1.1 200 OK"), Rules),
        (after("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 404 Not Found"), Open),
        (after("", "http/1.1 200 OK"), Rules),
        (after("Http/1.0 100 Continue\r\n\r\n", "hTTP/1.1 200 OK"), Rules),
        (after("HTTP/1.1 100 Continue\r\n\r\n", ""), Refused(no_final)),
        (after("HTTP/1.1 100 Continue\r\n\r\n", "SSH-2.0"), Refused(no_final)),
        // Without an empty line, the rest belongs to the interim response.
        (after("HTTP/1.1 100 Continue\r\n", "HTTP/1.1 200 OK"), Refused(no_final)),
        (
            record("response", &format!("WARC-Target-URI: {URL}\r\n"), b"HTTP/1.1 103 Early Hints\r\n"),
            Refused(no_final),
        ),
        (
            after("HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 200 OK"),
            Refused("malformed HTTP answer: its status 101 leads to a protocol other than HTTP"),
        ),
    ];
    assert_eq!(check_all(&cases, &[]), 14);
}

#[test]
fn bodies_without_their_end_are_read_up_to_the_last_complete_line() {
    let cut = |bytes: &[u8], len: usize| bytes[..bytes.len() - len].to_vec();
    let length = |length: usize| format!("Content-Length: {length}\r\n");
    let coded = |coding: &str, body: &[u8]| ok(&format!("Content-Encoding: {coding}\r\n"), body);
    let part = |range: &str, body: &str| {
        sent("HTTP/1.1 206 Partial Content", &format!("Content-Range: {range}\r\n"), body.as_bytes())
    };
    let chunks = |body: &[u8]| ok("Transfer-Encoding: chunked\r\n", body);
    let whole = RULES.len();
    let marked = |word: &str, fields: &str, body: &str| {
        let block = format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}");
        record("response", &format!("WARC-Target-URI: {URL}\r\nWARC-Truncated: {word}\r\n"), block.as_bytes())
    };
    // Uncompressed blocks, whose bytes are known.
    let stored = |bytes: &[u8], end: usize| {
        let len = u16::try_from(bytes.len()).unwrap();
        let block = [&[1][..], &len.to_le_bytes(), &(!len).to_le_bytes(), bytes].concat();
        block[..block.len() - end].to_vec()
    };
    let part_of_rules = format!("bytes 0-{}/{whole}", START.len() - 1);
    let cases = [
        // Records with WARC-Truncated.
        (marked("length", "", START), Start),
        (marked("unspecified", "", START), Start),
        (marked("length", &length(whole), START), Start),
        // Content-Length.
        (ok(&length(whole), START), Start),
        (ok(&length(START.len() + 1), START), Start),
        (ok(&format!("Content-Length:\t {whole} \r\nContent-Type: text/plain\r\n"), START), Start),
        (ok(&format!("Content-Length: {whole}, {whole}\r\n"), START), Start),
        (ok(&length(whole), RULES), Rules),
        (ok(&format!("{0}{0}", length(whole)), RULES), Rules),
        (ok(&format!("Content-Length: {whole}\r\nContent-Length: 0{whole}\r\n"), RULES), Rules),
        // The crawler has stored all that it received.
        (ok(&length(20), RULES), Rules),
        (ok("Content-Length: many\r\n", RULES), Rules),
        (ok("Content-Length: \r\n", RULES), Rules),
        (
            ok(&format!("{}{}", length(whole), length(whole + 1)), RULES),
            Refused("malformed HTTP answer: its Content-Length is both \"49\" and \"50\""),
        ),
        (ok("Content-Length: 49, 7\r\n", RULES), Refused("its Content-Length is both \"49\" and \"7\"")),
        (ok("Content-Length: x\r\nContent-Length: 49\r\n", RULES), Refused("its Content-Length is both \"x\"")),
        (ok(&length(whole), ""), Refused("response without its body")),
        (ok(&length(0), ""), Open),
        // The status of an error is enough.
        (sent("HTTP/1.1 404 Not Found", &length(9999), b""), Open),
        (sent("HTTP/1.1 404 Not Found", &format!("{}{}", length(1), length(2)), b"no"), Open),
        // Chunks. Content-Length does not apply to them.
        (chunks(&cut(&chunked(RULES.as_bytes()), 5)), Rules),
        (chunks(format!("{whole:x}\r\n{START}").as_bytes()), Start),
        (chunks(format!("{:x}\r\n{START}\r\n", START.len()).as_bytes()), Start),
        (chunks(format!("{:x}\r\n{START}\r\n3", START.len()).as_bytes()), Start),
        (ok(&format!("Transfer-Encoding: chunked\r\n{}", length(9999)), chunked(RULES.as_bytes())), Rules),
        (ok(&format!("Transfer-Encoding: gzip\r\n{}", length(9999)), gz(RULES.as_bytes())), Rules),
        (chunks(b"5\r\n"), Refused("response without its body")),
        // Codings.
        (coded("gzip", &cut(&gz(RULES.as_bytes()), 1)), Rules),
        (coded("gzip", &cut(&gz(START.as_bytes()), 1)), Start),
        (coded("gzip", &gz(RULES.as_bytes())[..9]), Refused("response without its body")),
        (coded("deflate", &cut(&zlib(START.as_bytes()), 2)), Start),
        (coded("deflate", &stored(RULES.as_bytes(), 4)), Start),
        (coded("br", &cut(&brotli(RULES.as_bytes()), 5)), Start),
        (coded("zstd", &zstd_stored(RULES.as_bytes(), 4)), Start),
        (coded("br, gzip", &gz(&cut(&brotli(RULES.as_bytes()), 5))), Start),
        (coded("br, gzip", &cut(&gz(&brotli(START.as_bytes())), 8)), Start),
        (
            ok("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", {
                let packed = gz(START.as_bytes());
                [format!("{:x}\r\n", packed.len() + 9).as_bytes(), &packed].concat()
            }),
            Start,
        ),
        (ok(&format!("Content-Encoding: gzip\r\n{}", length(999)), gz(START.as_bytes())), Start),
        (coded("gzip", &[gz(START.as_bytes()), cut(&gz(b"last\n"), 12)].concat()), Start),
        (coded("gzip", &[gz(START.as_bytes()), vec![0x1f]].concat()), Start),
        // Parts of a file.
        (sent("HTTP/1.1 206 Partial Content", "", START.as_bytes()), Start),
        (part(&part_of_rules, START), Start),
        (part("bytes 0-42/*", START), Start),
        (part(&format!("bytes 0-{}/{whole}", whole - 1), RULES), Rules),
        (part(&format!("Bytes 0-{} / {whole}", whole - 1), RULES), Rules),
        (part(&format!("bytes 14-{}/{whole}", whole - 1), &RULES[14..]), Refused("expected a part from byte 0, found")),
        (part("lines 0-3/3", RULES), Refused("expected a part from byte 0, found Content-Range \"lines 0-3/3\"")),
        (part("bytes */49", RULES), Refused("expected a part from byte 0")),
        (part("bytes 0-18446744073709551615/0", START), Start),
        (
            sent("HTTP/1.1 206 Partial", "Content-Type: multipart/byteranges; boundary=x\r\n", RULES.as_bytes()),
            Refused("it has several parts of the file"),
        ),
    ];
    let starts = cases.iter().filter(|(_, effect)| *effect == Start).count();
    // Two whole bodies lack the end of their coding, and three records say themselves that they are cut.
    let remarks = format!("remark: body without its end: only complete lines are read  {}\n", starts + 2 - 3);
    assert_eq!(check_all(&cases, &[&remarks]), 50);
}

/// Returns a zstd frame with one uncompressed block, without its last bytes (RFC 8878 section 3.1.1).
fn zstd_stored(bytes: &[u8], end: usize) -> Vec<u8> {
    let header = ((bytes.len() as u32) << 3 | 1).to_le_bytes();
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x58][..], &header[..3], bytes].concat();
    assert!(zstd::decode_all(&*frame).unwrap() == bytes);
    frame[..frame.len() - end].to_vec()
}

#[test]
fn bodies_without_the_coding_in_their_header_are_read_as_they_are() {
    let coded = |coding: &str, body: &[u8]| ok(&format!("Content-Encoding: {coding}\r\n"), body);
    let rules = RULES.as_bytes();
    let latin = [&b"# caf\xe9\n"[..], rules].concat();
    let cyrillic = [&b"# \xef\xf0\xe8\xe2\xe5\xf2\n"[..], rules].concat();
    let controls = [rules, b"# \x01\n"].concat();
    let undecodable = "body that cannot be decoded: ";
    let cases = [
        (coded("gzip", rules), Rules),
        (coded("x-gzip", &latin), Rules),
        (coded("gzip", &cyrillic), Rules),
        (coded("zstd", &latin), Rules),
        (coded("br", rules), Rules),
        (coded("deflate", rules), Rules),
        (coded("gzip, gzip", &gz(&latin)), Rules),
        (coded("none", &latin), Rules),
        (coded("None", rules), Rules),
        (coded("UTF-8", &latin), Rules),
        (coded("utf-8", rules), Rules),
        (coded("utf8", &latin), Rules),
        (coded("ISO-8859-1", &latin), Rules),
        (coded("windows-1251", &cyrillic), Rules),
        (coded("8bit", &latin), Rules),
        (coded("binary", &controls), Rules),
        (coded("none, gzip", &gz(rules)), Rules),
        (coded("UTF-8, none, gzip", &gz(&latin)), Rules),
        (coded("aws-chunked", rules), Rules),
        (coded("text/plain", rules), Rules),
        // Neither are these remarkable.
        (coded("identity", &latin), Rules),
        (coded("", &latin), Rules),
        (coded(",", rules), Rules),
        (coded("gzip", &[gz(&rules[..20]), gz(&rules[20..])].concat()), Rules),
        (coded("gzip", &[gz(rules), vec![0; 100]].concat()), Rules),
        (coded("gzip", &[&gz(rules)[..], b"\r\n"].concat()), Rules),
        (ok("Transfer-Encoding: gzip\r\nContent-Encoding: br\r\n", gz(&brotli(rules))), Rules),
        (ok("Content-Encoding: br\r\nTransfer-Encoding: gzip\r\n", gz(&brotli(rules))), Rules),
        // Content-Length counts the bytes before the crawler decoded them.
        (ok("Content-Encoding: gzip\r\nContent-Length: 66\r\n", rules), Rules),
        (ok("Content-Encoding: gzip\r\nContent-Length: 30\r\n", rules), Rules),
        (ok("Content-Encoding: gzip\r\nContent-Length: 99999\r\n", START), Start),
        // Bytes that are not text, and names that may be codings.
        (coded("gzip", b"\x1f\x9d\x90\x01\x02\x03"), Refused(undecodable)),
        (coded("gzip", b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5"), Refused(undecodable)),
        (coded("gzip", &controls), Refused(undecodable)),
        (coded("zstd", &[rules, &[0]].concat()), Refused(undecodable)),
        (coded("br", &latin), Refused(undecodable)),
        (coded("compress", &latin), Refused("its coding \"compress\" is not known")),
        (
            coded("gzip", &[gz(rules), b"\x1f\x8b\x08\xff\xff\xff\xff\xff\xff\xff\xff".to_vec()].concat()),
            Refused("gzip"),
        ),
        // The status of an error is enough.
        (sent("HTTP/1.1 404 Not Found", "Content-Encoding: gzip\r\n", b"\xff\xff"), Open),
    ];
    let remarks = "remark: body without the coding that its header names: read as it is  23\n";
    assert_eq!(check_all(&cases, &[remarks, "remark: body without its end: only complete lines are read  1\n"]), 39);
}

#[test]
fn a_resource_with_an_http_header_is_read_only_if_its_type_says_so() {
    let resource = |content_type: &str, block: &str| {
        let header = format!("WARC-Target-URI: {URL}\r\n{content_type}");
        record("resource", &header, block.as_bytes())
    };
    let message = "Content-Type: application/http; msgtype=response\r\n";
    let response = |status: &str| format!("{status}\r\nContent-Type: text/plain\r\n\r\n{RULES}");
    let refused = Refused("resource with an HTTP header");
    let cases = [
        (resource("Content-Type: text/plain\r\n", RULES), Rules),
        (resource("", RULES), Rules),
        (resource(message, &response("HTTP/1.1 200 OK")), Rules),
        (
            resource("Content-Type: Application/HTTP\r\n", &response("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")),
            Rules,
        ),
        (resource(message, &response("HTTP/1.1 404 Not Found")), Open),
        (resource("Content-Type: text/plain\r\n", &response("HTTP/1.1 404 Not Found")), refused),
        (resource("", &response("HTTP/1.1 200 OK")), refused),
        (resource("", "http/1.1 200 OK"), refused),
        (resource(message, RULES), Refused("malformed HTTP answer")),
        (
            resource("Content-Type: application/http; msgtype=request\r\n", "GET /robots.txt HTTP/1.1\r\n\r\n"),
            Refused("malformed HTTP answer"),
        ),
        (
            record(
                "response",
                &format!("WARC-Target-URI: {URL}\r\nContent-Type: text/dns\r\n"),
                b"20260102030405\nx 1 A",
            ),
            Refused("malformed HTTP answer"),
        ),
    ];
    assert_eq!(check_all(&cases, &[]), 11);
}

/// A record under another spelling may be another resource, and anyone can link to it.
#[test]
fn other_spellings_of_the_url_count_only_with_rules() {
    let at = |path: &str, status: &str, fields: &str, body: &str| {
        answer(&format!("https://HOST-x.example{path}"), status, fields, body.as_bytes())
    };
    let rules = |path: &str| at(path, "HTTP/1.1 200 OK", "", RULES);
    let both = |path: &str, status: &str, body: &str| {
        // The other spelling is later, in case that it counts.
        let other = at(path, status, "", body).to_vec();
        let other = String::from_utf8(other).unwrap().replace("2026-01-02T", "2026-01-03T").into_bytes();
        [rules("/robots.txt"), other].concat()
    };
    let other = LeftOut("other spelling of the URL of a robots.txt, without a robots.txt");
    let cases = [
        (rules("/./robots.txt"), Rules),
        (rules("/robots%2Etxt"), Rules),
        (rules("/robots%2etxt#top"), Rules),
        (rules("/%72obots.txt"), Rules),
        (rules("/a/../robots.txt"), Rules),
        (rules("/a/%2E%2e/%2E/robots.txt"), Rules),
        (rules("/../robots.txt"), Rules),
        (rules(":443/robots.txt"), Rules),
        (at("/robots%2Etxt", "HTTP/1.1 404 Not Found", "", "no"), other),
        (at("/./robots.txt", "HTTP/1.1 503 Busy", "", ""), other),
        (at("/./robots.txt", "HTTP/1.1 301 Moved", "Location: /x\r\n", ""), other),
        (at("/robots%2Etxt", "HTTP/1.1 200 OK", "", ""), other),
        (at("/robots%2Etxt", "HTTP/1.1 200 OK", "", "<!doctype html><p>Not found"), other),
        (at("/robots%2Etxt", "HTTP/1.1 200 OK", "Content-Type: text/html\r\n", RULES), other),
        (both("/robots%2Etxt", "HTTP/1.1 404 Not Found", "no"), Rules),
        (both("/./robots.txt", "HTTP/1.1 200 OK", "<html>Not found"), Rules),
        (both("/Robots.txt", "HTTP/1.1 200 OK", START), Rules),
    ];
    assert_eq!(check_all(&cases, &["left out: other spelling"]), 17);
    // Other files, which govern nothing.
    let others = ["//robots.txt", "/Robots.txt", "/robots.txt?x", "/robots%2Etxt?x", "/a/robots.txt", "/%2Frobots.txt"];
    let folder = Folder::new();
    folder.write("others.warc", [others.map(rules).concat(), crate::warc::closed("a.example")].concat());
    let left_out = "left out: response for a URL that is not a robots.txt  6\n";
    folder.run(&["compile", "-o", "set", "others.warc"]).says(0, &[left_out]);
}
