//! WARC files, end to end: the fate of each record, in every notation and compression.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::io::Write;

use crate::support;
use support::{Folder, gz};

/// A body that disallows everything.
pub(crate) const CLOSED: &str = "User-agent: *\nDisallow: /\n";

/// Returns a record with the given type, further header fields, and block.
pub(crate) fn record(kind: &str, header: &str, block: &[u8]) -> Vec<u8> {
    let start = format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{header}Content-Length: {}\r\n\r\n", block.len());
    [start.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// Returns a response for a robots.txt, with HTTP header fields and the body as sent.
pub(crate) fn answer(url: &str, status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
         WARC-Protocol: h2\r\nWARC-Protocol: tls/1.3\r\nContent-Type: application/http; msgtype=response\r\n"
    );
    let block = [format!("{status}\r\n{fields}\r\n").as_bytes(), body].concat();
    record("response", &header, &block)
}

/// Returns a 200 response for `http://HOST/robots.txt`.
pub(crate) fn closed(host: &str) -> Vec<u8> {
    answer(&format!("http://{host}/robots.txt"), "HTTP/1.1 200 OK", "", CLOSED.as_bytes())
}

fn redirect(from: &str, to: &str) -> Vec<u8> {
    answer(from, "HTTP/1.1 301 Moved", &format!("Location: {to}\r\n"), b"moved")
}

pub(crate) fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a brotli stream of one uncompressed block (RFC 7932 section 9.2).
pub(crate) fn brotli(bytes: &[u8]) -> Vec<u8> {
    let header = ((bytes.len() as u32 - 1) << 4) | 1 << 20;
    [&header.to_le_bytes()[..3], bytes, &[3]].concat()
}

pub(crate) fn chunked(bytes: &[u8]) -> Vec<u8> {
    let mut chunks = Vec::new();
    for part in bytes.chunks(7) {
        chunks.extend_from_slice(format!("{:x};x=y\r\n", part.len()).as_bytes());
        chunks.extend_from_slice(part);
        chunks.extend_from_slice(b"\r\n");
    }
    [&chunks[..], b"0\r\n\r\n"].concat()
}

/// Returns a chunked body with this trailer after the last chunk.
fn chunked_before(bytes: &[u8], trailer: &str) -> Vec<u8> {
    [chunked(bytes).strip_suffix(b"\r\n").unwrap(), trailer.as_bytes()].concat()
}

/// Returns readable records, and the resulting verdicts for `http://HOST/`.
pub(crate) fn good() -> (Vec<Vec<u8>>, Vec<(&'static str, &'static str)>) {
    let body = CLOSED.as_bytes();
    let coded = |host: &str, coding: &str, body: &[u8]| {
        answer(
            &format!("http://{host}/robots.txt"),
            "HTTP/1.1 200 OK",
            &format!("Content-Encoding: {coding}\r\n"),
            body,
        )
    };
    let chunks = |host: &str, more: &str, body: &[u8]| {
        let fields = format!("transfer-ENCODING: chunked\r\n{more}");
        answer(&format!("http://{host}/robots.txt"), "HTTP/1.1 200 OK", &fields, body)
    };
    let uri = |host: &str| format!("WARC-Target-URI: http://{host}/robots.txt\r\n");
    let one_record = |kind: &str, header: &str, block: &str| record(kind, header, block.as_bytes());
    let lf_only = String::from_utf8(closed("lf.example")).unwrap().replace('\r', "");
    let cut = "WARC-Truncated: length\r\nWARC-Target-URI: http://cut.example/robots.txt\r\n";
    // A line end between header and body that the Content-Length does not count.
    let two_more = String::from_utf8(closed("two.example")).unwrap().replace("\r\n\r\nUser", "\r\n\r\n\r\nUser");
    let records = vec![
        one_record("warcinfo", "Content-Type: application/warc-fields\r\n", "software: test\r\n"),
        closed("plain.example"),
        one_record("request", &uri("plain.example"), "GET /robots.txt HTTP/1.1\r\n\r\n"),
        one_record("metadata", &uri("plain.example"), "fetchTimeMs: 1\r\n"),
        answer("http://gone.example/robots.txt", "HTTP/1.1 404 Not Found", "", b"no"),
        answer("http://busy.example/robots.txt", "HTTP/1.1 503", "", b""),
        answer("http://page.example/index.html", "HTTP/1.1 200 OK", "", b"<html>"),
        answer("dns:plain.example", "20260102030405", "", b""),
        // Content and transfer codings.
        coded("gzip.example", "gzip", &gz(body)),
        coded("zlib.example", "deflate", &zlib(body)),
        coded("deflate.example", "Deflate", &deflate(body)),
        coded("br.example", "br", &brotli(body)),
        coded("zstd.example", "zstd", &zstd::encode_all(body, 1).unwrap()),
        coded("twice.example", "br, gzip", &gz(&brotli(body))),
        coded("left.example", "gzip", body),
        coded("identity.example", "identity", body),
        chunks("chunked.example", "", &chunked(body)),
        chunks("chunked-gzip.example", "Content-Encoding: gzip\r\n", &chunked(&gz(body))),
        chunks("chunks-left.example", "", body),
        chunks("trailers.example", "", &chunked_before(body, "Expires: 0\r\nX-Sum: abc\r\n\r\n")),
        chunks("trailers-gzip.example", "Content-Encoding: gzip\r\n", &chunked_before(&gz(body), "X-Sum: abc\r\n\r\n")),
        chunks("cut-trailer.example", "", &chunked_before(body, "Expi")),
        chunks("no-trailer.example", "", &chunked_before(body, "")),
        coded("x-gzip.example", "X-GZIP", &gz(body)),
        coded("charset.example", "utf-8", body),
        coded("left-br.example", "br", body),
        // If the response reports no success, only its status counts.
        answer("http://gone-coded.example/robots.txt", "HTTP/1.1 404 Gone", "Content-Encoding: br\r\n", b"\xff\xff"),
        coded("x-crawler.example", "\r\nX-Crawler-Content-Encoding: gzip", body),
        // Records as different programs write them.
        lf_only.into_bytes(),
        record(
            "response",
            "WARC-Target-URI: <http://brackets.example/robots.txt>\r\n",
            format!("HTTP/2 200\r\ncontent-type:\r\n text/plain\r\n\r\n{CLOSED}").as_bytes(),
        ),
        one_record("resource", &format!("{}Content-Type: text/plain\r\n", uri("resource.example")), CLOSED),
        one_record("response", cut, "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /\nAllow: /"),
        two_more.into_bytes(),
        // Redirects.
        redirect("http://moved.example/robots.txt", "https://moved.example/robots.txt"),
        closed("between.example"),
        redirect("https://moved.example/robots.txt", "//WWW.moved.example:443/robots.txt#top"),
        answer("https://www.moved.example/robots.txt", "HTTP/1.1 200 OK", "", body),
        redirect("http://back.example/robots.txt", "http://plain.example/robots.txt"),
        redirect("http://elsewhere.example/robots.txt", "/files/robots"),
        answer("http://elsewhere.example/files/robots", "HTTP/1.1 200 OK", "", body),
        redirect("http://lost.example/robots.txt", "http://nowhere.example/robots.txt"),
        redirect("http://loop.example/robots.txt", "/robots.txt"),
        redirect("http://round-1.example/robots.txt", "http://round-2.example/robots.txt"),
        redirect("http://round-2.example/robots.txt", "http://round-1.example/robots.txt"),
    ];
    let closed_hosts = [
        "plain",
        "gzip",
        "zlib",
        "deflate",
        "br",
        "zstd",
        "twice",
        "left",
        "identity",
        "chunked",
        "chunked-gzip",
        "chunks-left",
        "trailers",
        "trailers-gzip",
        "cut-trailer",
        "no-trailer",
        "x-gzip",
        "charset",
        "left-br",
        "x-crawler",
        "lf",
        "brackets",
        "resource",
        "cut",
        "two",
        "moved",
        "between",
        "back",
        "elsewhere",
        "busy",
    ];
    // Under Google's profile a redirect loop counts as no robots.txt.
    let open_hosts = ["gone", "gone-coded", "loop", "round-1", "round-2"];
    let verdicts = closed_hosts.map(|host| (host, "disallow")).into_iter();
    let verdicts = verdicts
        .chain(open_hosts.map(|host| (host, "allow")))
        .chain([("page", "unknown"), ("lost", "unknown")])
        .collect();
    (records, verdicts)
}

fn urls(hosts: &[(&'static str, &'static str)]) -> Vec<String> {
    hosts.iter().map(|(host, _)| format!("http://{host}.example/")).collect()
}

/// Returns the records in every form in which a file may store them.
pub(crate) fn packed(records: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>)> {
    let plain = records.concat();
    vec![
        ("members.warc.gz", records.iter().flat_map(|record| gz(record)).collect()),
        ("plain.warc", plain.clone()),
        ("one-member.warc.gz", gz(&plain)),
        ("frames.warc.zst", records.iter().flat_map(|record| zstd::encode_all(&**record, 1).unwrap()).collect()),
    ]
}

#[test]
fn records_are_read_in_every_notation_and_compression() {
    let (records, verdicts) = good();
    let urls = urls(&verdicts);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let expected: Vec<&str> = verdicts.iter().map(|(_, verdict)| *verdict).collect();
    let mut sets = Vec::new();
    for (name, bytes) in packed(&records) {
        let folder = Folder::new();
        folder.write(name, bytes);
        let run = folder.run(&["compile", "-o", "set", name]);
        run.says(
            0,
            &[
                "record that is not a server response  3\n",
                "response for a URL that is not a robots.txt  2\n",
                "everything allowed (404)  2\n",
                "redirect to a URL that is not in the input  1\n",
                "everything allowed (too many redirects)  3\n",
            ],
        );
        assert_eq!(folder.verdicts("set", &urls), expected, "{name}");
        sets.push(folder.read("set"));
    }
    assert!(sets.len() == 4 && sets.iter().all(|set| *set == sets[0]));
}

#[test]
fn unusable_records_are_reported_and_the_others_read() {
    let header = |host: &str| format!("WARC-Target-URI: http://{host}.example/robots.txt\r\n");
    let ok = format!("HTTP/1.1 200 OK\r\n\r\n{CLOSED}");
    let sent = |host: &str, fields: &str, body: &[u8]| {
        answer(&format!("http://{host}.example/robots.txt"), "HTTP/1.1 200", fields, body)
    };
    let coded = |host: &str, coding: &str, body: &[u8]| sent(host, &format!("Content-Encoding: {coding}\r\n"), body);
    let chunks = |host: &str, body: &[u8]| sent(host, "Transfer-Encoding: chunked\r\n", body);
    let date = format!("{}WARC-Date: soon\r\n", header("date"));
    let segment = format!("{}WARC-Segment-Number: 1\r\n", header("segment"));
    let changed = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 0x55;
        bytes
    };
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            record("response", &header("http"), b"SSH-2.0\r\n"),
            "record 2 (http://http.example/robots.txt): malformed HTTP answer: expected a line such as \"HTTP/1.1 200 OK\", found \"SSH-2.0\"",
        ),
        (record("response", &header("status"), b"HTTP/1.1 99 x\r\n\r\n"), "malformed HTTP answer"),
        (record("response", &date, ok.as_bytes()), "no valid WARC-Date: expected a time"),
        (record("response", &segment, ok.as_bytes()), "record in several parts"),
        (
            coded("unknown", "compress", b"\0\x01\x02"),
            "body that cannot be decoded: its coding \"compress\" is not known",
        ),
        (
            coded("control", "x-new", b"User-agent: *\nDisallow: /\n# \x01 and many more letters than one in twenty"),
            "body that cannot be decoded: its coding \"x-new\" is not known",
        ),
        (coded("bad-gzip", "gzip", &changed(&gz(CLOSED.as_bytes()), 30)), "body that cannot be decoded: gzip"),
        (coded("bad-zlib", "deflate", &changed(&zlib(CLOSED.as_bytes()), 8)), "body that cannot be decoded: deflate"),
        (
            coded("bad-zstd", "zstd", &changed(&zstd::encode_all(CLOSED.as_bytes(), 1).unwrap(), 4)),
            "body that cannot be decoded: zstd",
        ),
        // A large window, which is not supported.
        (coded("bad-br", "br", &[0x11, 30, 3]), "body that cannot be decoded: br: the data is damaged"),
        (coded("bad-twice", "br, gzip", &gz(&[0x11, 30, 3])), "body that cannot be decoded: br: the data is damaged"),
        (coded("many", "gzip,gzip,gzip,gzip,gzip", b"x"), "it has more than 4 codings"),
        (
            chunks("long-chunk", b"5\r\nUser-agent\r\n0\r\n\r\n"),
            "body that cannot be decoded: chunked: a chunk does not end after its 5 bytes",
        ),
        (
            chunks("no-chunk", b"5\r\nUser-\r\nagent\r\n0\r\n\r\n"),
            "chunked: expected the length of a chunk, in hexadecimal digits, found \"agent\"",
        ),
        (
            record("revisit", &header("revisit"), b"HTTP/1.1 304 Not Modified\r\n\r\n"),
            "revisit of a capture that is not in the input",
        ),
    ];
    let mut records = Vec::new();
    let mut verdicts = Vec::new();
    for (number, (bad, _)) in cases.iter().enumerate() {
        records.push(closed(&format!("good-{number}.example")));
        records.push(bad.clone());
        verdicts.push(format!("http://good-{number}.example/"));
    }
    records.push(closed("last.example"));
    verdicts.push("http://last.example/".into());
    let urls: Vec<&str> = verdicts.iter().map(String::as_str).collect();
    for (name, bytes) in packed(&records) {
        let folder = Folder::new();
        folder.write(name, bytes);
        let messages: Vec<&str> = cases.iter().map(|(_, message)| *message).collect();
        folder.run(&["compile", "-o", "set", name]).says(1, &messages);
        assert_eq!(folder.verdicts("set", &urls), vec!["disallow"; urls.len()], "{name}");
    }
    assert_eq!(cases.len(), 15);
}

/// A member's end is known if only its checksum is wrong. If its data is corrupt, reading stops.
#[test]
fn reading_resumes_after_a_damaged_member_only_if_its_end_is_known() {
    let hosts = ["a.example", "b.example", "c.example"];
    let members: Vec<Vec<u8>> = hosts.iter().map(|host| gz(&closed(host))).collect();
    let urls = ["http://a.example/", "http://b.example/", "http://c.example/"];
    let len = members[1].len();
    // The magic number, the flags, the type of the first block, the checksum, the length.
    for (at, change, resumes) in
        [(0, 0x40, false), (3, 0x80, false), (10, 0x06, false), (len - 8, 0x40, true), (len - 1, 0x40, true)]
    {
        let folder = Folder::new();
        let mut damaged = members.clone();
        damaged[1][at] |= change;
        assert_ne!(damaged[1], members[1]);
        folder.write("f.warc.gz", damaged.concat());
        let run = folder.run(&["compile", "-o", "set", "f.warc.gz"]);
        if resumes {
            assert_eq!(folder.verdicts("set", &urls), ["disallow", "unknown", "disallow"], "byte {at}");
            run.says(1, &["record 2", "skipped: damaged record of a WARC file  1\n"]);
            continue;
        }
        let unread = members[1].len() - at - 1 + members[2].len();
        let stop = members[0].len() + at + 1;
        let unread = format!("reading stopped at byte {stop}: {unread} bytes are not read, because nothing says where");
        run.says(2, &["record 2: damaged WARC file, not read to its end", &unread]);
        assert!(!folder.path("set").exists());
        let run = folder.run(&["compile", "-o", "found", "f.warc.gz", "--resync"]);
        run.says(
            1,
            &[
                "record 3: found by a search behind damage",
                "skipped: damaged record of a WARC file  1\n",
                "untrusted: records after damage, by --resync  1\n",
            ],
        );
        assert_eq!(folder.verdicts("found", &urls), ["disallow", "unknown", "disallow"], "byte {at}");
    }
}

#[test]
fn a_truncated_file_is_refused_and_resync_reads_the_records_before_the_cut() {
    let (first, second) = (gz(&closed("a.example")), gz(&closed("b.example")));
    let plain = [closed("a.example"), closed("b.example")];
    for cut in (1..second.len()).step_by(3) {
        check_cut([&first[..], &second[..cut]].concat(), cut);
    }
    for cut in (1..plain[1].len() - 4).step_by(19) {
        check_cut([&plain[0][..], &plain[1][..cut]].concat(), cut);
    }
}

fn check_cut(bytes: Vec<u8>, cut: usize) {
    let folder = Folder::new();
    folder.write("f.warc", bytes);
    let stopped = "f.warc: record 2: damaged WARC file, not read to its end";
    folder.run(&["compile", "-o", "set", "f.warc"]).says(2, &[stopped]);
    assert!(!folder.path("set").exists());
    folder.run(&["compile", "-o", "set", "f.warc", "--resync"]).says(1, &["f.warc: record 2", "not read to its end"]);
    assert_eq!(folder.verdicts("set", &["http://a.example/", "http://b.example/"]), ["disallow", "unknown"], "{cut}");
}
