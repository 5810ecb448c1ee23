//! Comparison with two other WARC readers on the same files: warcio and FastWARC.
//!
//! Requires Python:
//!
//! `pip install warcio fastwarc; PYTHON=python3 cargo test -p reptile-cli --test all warc_readers:: -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::io::Read;
use std::process::Command;

use crate::support;
use crate::warc::{answer, closed, good, record};
use crate::warc_framing::forged;
use support::{Folder, gz};

/// Prints each record's type and URL, as one of the readers finds them.
const LIST: &str = "
import sys
reader, path = sys.argv[1:]
def warcio():
    from warcio.archiveiterator import ArchiveIterator
    for record in ArchiveIterator(open(path, 'rb'), no_record_parse=True):
        yield record.rec_type, record.rec_headers.get_header('WARC-Target-URI')
        record.content_stream().read()
def fastwarc():
    from fastwarc.warc import ArchiveIterator
    for record in ArchiveIterator(open(path, 'rb'), parse_http=False):
        yield record.headers.get('WARC-Type', ''), record.headers.get('WARC-Target-URI')
        record.reader.read()
try:
    for kind, url in (warcio if reader == 'warcio' else fastwarc)():
        print((kind or '').lower(), (url or '-').strip('<>')[:100])
except Exception as error:
    print('error', type(error).__name__)
";

/// Writes files with warcio: uncompressed and compressed, with redirects, a revisit, and a long field.
const WRITE: &str = "
import io, sys
from warcio.warcwriter import WARCWriter
from warcio.statusandheaders import StatusAndHeaders
for name, gzip in [('warcio.warc', False), ('warcio.warc.gz', True)]:
    with open(sys.argv[1] + '/' + name, 'wb') as output:
        writer = WARCWriter(output, gzip=gzip)
        output_of = writer.write_record
        output_of(writer.create_warcinfo_record(name, {'software': 'test'}))
        def response(url, status, fields, body, more=None):
            http = StatusAndHeaders(status, fields, protocol='HTTP/1.1')
            output_of(writer.create_warc_record(url, 'response', payload=io.BytesIO(body), http_headers=http,
                                                warc_headers_dict=more or {}))
        closed = b'User-agent: *\\nDisallow: /\\n'
        response('http://one.example/robots.txt', '200 OK', [('Content-Type', 'text/plain')], closed)
        response('http://empty.example/robots.txt', '404 Not Found', [], b'')
        response('http://lines.example/robots.txt', '200 OK', [], b'\\r\\n\\r\\nWARC/1.0\\r\\n\\r\\n' + closed)
        response('http://long.example/robots.txt', '200 OK', [], closed, {'X-Long': 'x' * 60000})
        http = StatusAndHeaders('304 Not Modified', [], protocol='HTTP/1.1')
        output_of(writer.create_revisit_record('http://one.example/robots.txt', 'sha1:B', 'http://one.example/robots.txt',
                                               '2026-01-01T00:00:00Z', http_headers=http))
        response('http://last.example/robots.txt', '200 OK', [], closed)
";

fn python(args: &[&str]) -> String {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(&python).args(["-c"]).args(args).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

/// Returns the type and URL of each record that `filter` keeps if all are allowed. It writes each as a gzip member.
fn kept(folder: &Folder, file: &str) -> Vec<String> {
    let args = [
        "filter",
        file,
        "--set",
        "open",
        "--agent",
        "bot-a",
        "--treat",
        "unknown=allow,invalid=allow",
        "--force",
        "--resync",
    ];
    let run = folder.run(&[&args[..], &["-o", "kept.warc.gz"]].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    let packed = folder.read("kept.warc.gz");
    let mut packed = &packed[..];
    let mut records = Vec::new();
    while !packed.is_empty() {
        let mut bytes = Vec::new();
        flate2::bufread::GzDecoder::new(&mut packed).read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes).replace("\r\n ", " ");
        let header: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
        let field = |name: &str| {
            let value = header.iter().find_map(|line| line.strip_prefix(name)).unwrap_or("-").trim();
            value.trim_matches(['<', '>']).chars().take(100).collect::<String>()
        };
        records.push(format!("{} {}", field("WARC-Type:").to_lowercase(), field("WARC-Target-URI:")));
    }
    records
}

/// Reasons why the readers' lists differ for a file, compressed or not. All other files have equal lists.
const DIFFERENCES: [(&str, &str); 13] = [
    ("warcio", "FastWARC stops at a header of 60,000 bytes"),
    ("good", "warcio stops at a record with LF line ends in a plain file"),
    ("line-feeds", "warcio stops after a record with LF line ends in a plain file"),
    ("over-long-header", "the others have no limit; reptile skips the record"),
    ("continued-target", "warcio keeps the space of the folded line"),
    ("bytes-after", "warcio skips up to the next line that starts as a record"),
    ("two-lengths", "the others take one of them"),
    ("no-length", "the others take 0 or all that follows"),
    ("plus", "the others take the number"),
    ("negative", "warcio takes 0, and then reads the record within the block as the victim's"),
    ("hexadecimal", "warcio takes 0, and then reads the record within the block as the victim's"),
    ("two-targets", "the others take one of them"),
    ("too-great", "the others return the record, although its block is cut"),
];

/// Returns records that readers treat differently, each between two normal records.
fn oddities() -> Vec<(&'static str, Vec<u8>)> {
    let block = [&b"HTTP/1.1 200 OK\r\n\r\n\r\n\r\n"[..], &forged("victim.example")].concat();
    let with = |header: &str| {
        let start = format!("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://odd.example/\r\n{header}\r\n");
        [start.as_bytes(), &block, b"\r\n\r\n"].concat()
    };
    let len = block.len();
    let long = "x".repeat(70_000);
    vec![
        ("over-long-header", with(&format!("X: {long}\r\nContent-Length: {len}\r\n"))),
        ("line-feeds", String::from_utf8(closed("odd.example")).unwrap().replace('\r', "").into_bytes()),
        ("brackets", record("response", "WARC-Target-URI: <http://odd.example/>\r\n", &block)),
        ("continuation", with(&format!("X: a\r\n\tb\r\nContent-Length: {len}\r\n"))),
        ("continued-target", record("resource", "WARC-Target-URI:\r\n http://odd.example/\r\n", b"x")),
        (
            "revisit",
            record("revisit", "WARC-Target-URI: http://odd.example/\r\n", b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        ),
        ("bytes-after", with(&format!("Content-Length: {}\r\n", len - 7))),
        ("two-bytes-after", with(&format!("Content-Length: {}\r\n", len - 2))),
        ("two-lengths", with(&format!("Content-Length: {len}\r\nContent-Length: 22\r\n"))),
        ("same-length-twice", with(&format!("Content-Length: {len}\r\nContent-Length: {len}\r\n"))),
        ("no-length", with("")),
        ("plus", with(&format!("Content-Length: +{len}\r\n"))),
        ("negative", with("Content-Length: -22\r\n")),
        ("hexadecimal", with(&format!("Content-Length: {len:#x}\r\n"))),
        ("spaces", with(&format!("Content-Length:   {len}  \r\n"))),
        (
            "two-targets",
            with(&format!("WARC-Target-URI: http://victim.example/robots.txt\r\nContent-Length: {len}\r\n")),
        ),
        ("too-great", with("Content-Length: 9999999\r\n")),
        ("empty", answer("http://odd.example/", "HTTP/1.1 200 OK", "", b"")),
        (
            "other-version",
            String::from_utf8(closed("odd.example")).unwrap().replace("WARC/1.0", "WARC/1.1").into_bytes(),
        ),
    ]
}

#[test]
#[ignore = "needs Python with the packages warcio and fastwarc"]
fn other_readers_find_the_same_records() {
    let folder = Folder::new();
    folder.write("robots/none.example", "");
    folder.run(&["compile", "-o", "open", "robots"]).says(0, &[]);
    python(&[WRITE, folder.path("").to_str().unwrap()]);
    let mut files = vec!["warcio.warc".to_owned(), "warcio.warc.gz".to_owned()];
    let mut write = |name: &str, records: &[Vec<u8>]| {
        folder.write(&format!("{name}.warc"), records.concat());
        folder.write(&format!("{name}.warc.gz"), records.iter().flat_map(|record| gz(record)).collect::<Vec<u8>>());
        files.extend([format!("{name}.warc"), format!("{name}.warc.gz")]);
    };
    write("good", &good().0);
    for (name, odd) in oddities() {
        write(name, &[closed("before.example"), odd, closed("after.example")]);
    }
    let (mut compared, mut equal, mut unexplained) = (0, 0, Vec::new());
    let mut explained = std::collections::BTreeSet::new();
    for file in &files {
        let ours = kept(&folder, file);
        let (name, _) = file.split_once('.').unwrap();
        for reader in ["warcio", "fastwarc"] {
            let theirs = python(&[LIST, reader, folder.path(file).to_str().unwrap()]);
            let theirs: Vec<&str> = theirs.lines().collect();
            compared += 1;
            if theirs == ours {
                equal += 1;
            } else if DIFFERENCES.iter().any(|(known, _)| *known == name) {
                explained.insert(name.to_owned());
            } else {
                unexplained.push(format!("{file} {reader}: {theirs:?}, reptile: {ours:?}"));
            }
        }
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    assert_eq!(explained.len(), DIFFERENCES.len(), "a difference has disappeared: {explained:?}");
    println!(
        "{compared} lists compared, {equal} equal, differences in {} of {} files",
        explained.len(),
        files.len() / 2
    );
    assert_eq!(compared, files.len() * 2);
}

/// warcio agrees on the status and the rules of each readable record.
#[test]
#[ignore = "needs Python with the packages warcio and fastwarc"]
fn warcio_reads_the_same_rules() {
    let (records, verdicts) = good();
    let folder = Folder::new();
    folder.write("members.warc.gz", records.iter().flat_map(|record| gz(record)).collect::<Vec<u8>>());
    folder.run(&["compile", "-o", "set", "members.warc.gz"]).says(0, &[]);
    let script = "
import sys
from warcio.archiveiterator import ArchiveIterator
for record in ArchiveIterator(open(sys.argv[1], 'rb')):
    url = record.rec_headers.get_header('WARC-Target-URI') or ''
    if record.rec_type in ('response', 'resource') and url.endswith('/robots.txt'):
        status = record.http_headers.get_statuscode() if record.http_headers else '200'
        try:
            closed = record.content_stream().read().startswith(b'User-agent: *\\nDisallow: /\\n')
        except Exception:
            # Its coding needs a further package.
            closed = False
        print(url, status, closed)
";
    let text = python(&[script, folder.path("members.warc.gz").to_str().unwrap()]);
    let mut compared = 0;
    for (host, verdict) in verdicts {
        let found = text.lines().find(|line| line.starts_with(&format!("http://{host}.example/")));
        let Some(found) = found else {
            println!("{host}: warcio has no such record");
            continue;
        };
        let columns: Vec<&str> = found.split(' ').collect();
        let is_closed = match columns[..] {
            // It decodes brotli and zstd only with additional packages, and it keeps the uncounted line end.
            [_, "200", _] if ["br", "zstd", "twice", "two", "left-br", "x-gzip"].contains(&host) => true,
            [_, "200", closed] => closed == "True",
            // It does not resolve redirects.
            [_, "301", _] => verdict == "disallow",
            [_, status, _] => status == "503",
            _ => panic!("{found}"),
        };
        assert_eq!(is_closed, verdict == "disallow", "{found}; reptile: {verdict}");
        compared += 1;
    }
    assert!(compared > 25, "{compared}\n{text}");
}
