//! `reptile filter`: which records are kept, that they are copied unchanged, and how much is lost to damage.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::io::Read;
use std::process::Command;

use crate::support;
use support::{Folder, gz};

/// Returns a record with the given type, URL if any, and block.
fn record(kind: &str, url: Option<&str>, block: &[u8]) -> Vec<u8> {
    let url = url.map(|url| format!("WARC-Target-URI: {url}\r\n")).unwrap_or_default();
    let start = format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{url}Content-Length: {}\r\n\r\n", block.len());
    [start.as_bytes(), block, b"\r\n\r\n"].concat()
}

/// Returns records as in crawl, WET and WAT files, and whether each is kept for `bot-a` by the set of
/// [`support::ROBOTS`]. Records with unknown origins or invalid URLs are dropped.
fn records() -> Vec<(Vec<u8>, bool)> {
    let long = vec![b'x'; 5 << 20];
    let empty_lines = b"HTTP/1.1 200 OK\r\n\r\n\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\n";
    vec![
        (record("warcinfo", None, b"software: test\r\n"), true),
        (record("request", Some("http://a.example/private"), b"GET /private HTTP/1.1\r\n\r\n"), false),
        (record("response", Some("http://a.example/private"), b"HTTP/1.1 200 OK\r\n\r\nsecret"), false),
        (record("metadata", Some("http://a.example/private"), b"fetchTimeMs: 1\r\n"), false),
        (record("request", Some("http://a.example/private/open"), b"GET / HTTP/1.1\r\n\r\n"), true),
        (record("response", Some("http://a.example/private/open"), empty_lines), true),
        (record("metadata", Some("<http://a.example/private/open>"), b"fetchTimeMs: 1\r\n"), true),
        (record("conversion", Some("https://a.example/long"), &long), true),
        (record("conversion", Some("https://b.example/long"), &long), false),
        (record("response", Some("http://n.example/"), b"HTTP/1.1 200 OK\r\n\r\n"), false),
        (record("resource", Some("dns:a.example"), b"20260102030405\na.example. 1 IN A 192.0.2.1\n"), false),
        (record("response", Some("http://a.example/"), b""), true),
    ]
}

fn kept(records: &[(Vec<u8>, bool)], pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    records.iter().filter(|(_, is_kept)| *is_kept).flat_map(|(record, _)| pack(record)).collect()
}

fn all(records: &[(Vec<u8>, bool)], pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    records.iter().flat_map(|(record, _)| pack(record)).collect()
}

const FIGURES: [&str; 7] =
    ["records 12\n", "allow 5\n", "disallow 4\n", "unknown 1\n", "invalid 1\n", "without a URL 1\n", "kept 6\n"];

#[test]
fn allowed_records_are_copied_unchanged() {
    let (folder, records) = (Folder::with_set(), records());
    folder.write("f.warc.gz", all(&records, gz));
    folder.write("f.warc", all(&records, <[u8]>::to_vec));
    let filter = ["--set", "set", "--agent", "bot-a"];
    for (input, expected) in [("f.warc.gz", kept(&records, gz)), ("f.warc", kept(&records, <[u8]>::to_vec))] {
        folder.run(&[&["filter", input, "-o", "out"], &filter[..]].concat()).says(0, &FIGURES);
        assert!(folder.read("out") == expected, "{input}");
        folder.run(&[&["filter", input, "-o", "out"], &filter[..]].concat()).says(2, &["exists already"]);
        let bytes = folder.read(input);
        let run = folder.run_with(&[&["filter", "-", "--force", "-o", "out"], &filter[..]].concat(), &bytes);
        run.says(0, &FIGURES);
        assert!(folder.read("out") == expected, "{input} on standard input");
        let run = folder.run(&[&["filter", input], &filter[..]].concat()).says(0, &FIGURES);
        assert!(run.stdout == expected, "{input} to standard output");
        let run = folder.run(&[&["filter", input, "--dry-run"], &filter[..]].concat());
        assert!(run.says(0, &FIGURES).stdout.is_empty());
        std::fs::remove_file(folder.path("out")).unwrap();
    }
    // Each input to a file with its name, and two inputs to one file.
    folder.run(&[&["filter", "f.warc.gz", "f.warc", "-o", "folder/"], &filter[..]].concat()).says(0, &["kept 12\n"]);
    assert!(folder.read("folder/f.warc.gz") == kept(&records, gz));
    assert!(folder.read("folder/f.warc") == kept(&records, <[u8]>::to_vec));
    folder.run(&[&["filter", "f.warc", "f.warc", "-o", "two"], &filter[..]].concat()).says(0, &["kept 12\n"]);
    assert!(folder.read("two") == kept(&records, <[u8]>::to_vec).repeat(2));
    folder
        .run(&[&["filter", "f.warc", "f.warc.gz", "-o", "no"], &filter[..]].concat())
        .says(2, &["compressed and uncompressed archives"]);
    folder.run(&[&["filter", "f.warc", "folder/f.warc", "-o", "x/"], &filter[..]].concat()).says(2, &["both"]);
    folder.run(&[&["filter", "f.warc", "--force", "-o", "f.warc"], &filter[..]].concat()).says(2, &["is the input"]);
    folder.run(&[&["filter", "f.warc", "--force", "-o", "."], &filter[..]].concat()).says(2, &["is the input"]);
    assert!(!folder.names().iter().any(|name| name == "no" || name.starts_with('.')));
}

#[test]
fn unknown_and_invalid_records_can_be_kept() {
    let (folder, records) = (Folder::with_set(), records());
    folder.write("f.warc", all(&records, <[u8]>::to_vec));
    for (options, places) in [
        (&["--treat", "unknown=allow"][..], &[0, 4, 5, 6, 7, 9, 11][..]),
        (&["--treat", "invalid=allow", "--treat", "unknown=disallow"], &[0, 4, 5, 6, 7, 10, 11]),
        // The rules for * allow URLs that bot-a's rules disallow.
        (&["--agent", "other"], &[0, 4, 5, 6, 7, 11]),
        (&["--agent", "other", "--any"], &[0, 1, 2, 3, 4, 5, 6, 7, 11]),
    ] {
        let args = [&["filter", "f.warc", "--set", "set", "--agent", "bot-a"], options].concat();
        let run = folder.run(&args).says(0, &[&format!("kept {}\n", places.len())]);
        let expected: Vec<u8> = places.iter().flat_map(|&place: &usize| records[place].0.clone()).collect();
        assert!(run.stdout == expected, "{options:?}");
    }
}

#[test]
fn damaged_records_are_reported_and_dropped() {
    let (folder, records) = (Folder::with_set(), records());
    // The last record is allowed, and so is the sixth. A member's end is known unless its data is corrupt.
    let len = gz(&records[5].0).len();
    for (at, change, resumes) in [(0, 0x40, false), (10, 0x06, false), (len - 8, 0x40, true), (len - 1, 0x40, true)] {
        let mut members: Vec<Vec<u8>> = records.iter().map(|(record, _)| gz(record)).collect();
        let last = if resumes { 12 } else { 5 };
        let expected = |last| -> Vec<u8> {
            (0..last).filter(|&n| records[n].1 && n != 5).flat_map(|n| gz(&records[n].0)).collect()
        };
        members[5][at] |= change;
        assert_ne!(members[5], gz(&records[5].0));
        folder.write("f.warc.gz", members.concat());
        let args = ["filter", "f.warc.gz", "--set", "set", "--agent", "bot-a"];
        let run = folder.run(&args).says(if resumes { 1 } else { 2 }, &["f.warc.gz: record 6: damaged "]);
        assert!(!resumes || run.stdout == expected(last), "byte {at}");
        assert_eq!(run.stderr.contains("not read to its end: "), !resumes, "{run:?}");
        let run = folder.run(&[&args[..], &["--resync"]].concat()).says(1, &["damaged 1\n", "kept 5\n"]);
        assert!(run.stdout == expected(12), "byte {at}");
        assert_eq!(run.stderr.contains("untrusted"), !resumes, "{run:?}");
    }
    let plain: Vec<Vec<u8>> = records.iter().map(|(record, _)| record.clone()).collect();
    let with = |place: usize, bytes: &[u8]| [plain[..place].concat(), bytes.to_vec(), plain[place..].concat()].concat();
    let wrong_length = String::from_utf8(record("response", Some("http://a.example/"), b"0123456789")).unwrap();
    let wrong_length = wrong_length.replace("Content-Length: 10", "Content-Length: 3");
    let two_dates = b"WARC/1.0\r\nWARC-Date: 1\r\nWARC-Date: 2\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    // Whether the file cannot be read to its end.
    for (place, damage, stops) in [
        (3, &b"WARC/1.0\r\nWARC-Type: response\r\n\r\n"[..], true),
        (5, wrong_length.as_bytes(), true),
        (5, b"garbage\r\n\r\n", true),
        (5, two_dates, false),
        (12, b"WARC/1.0\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 9\r\n\r\ncut", true),
    ] {
        folder.write("f.warc", with(place, damage));
        let fault = if stops { "damaged WARC file, not read to its end" } else { "damaged record" };
        let says = format!("record {}: {fault}", place + 1);
        let args = ["filter", "f.warc", "--set", "set", "--agent", "bot-a"];
        let run = folder.run(&args);
        if stops {
            run.says(2, &[&says]);
        } else {
            let run = run.says(1, &["damaged 1\n", "kept 6\n", &says]);
            assert!(run.stdout == kept(&records, <[u8]>::to_vec), "{place}");
        }
        // With `--resync`, the search finds the next record.
        let run = folder.run(&[&args[..], &["--resync"]].concat()).says(1, &["damaged 1\n", "kept 6\n"]);
        assert!(run.stdout == kept(&records, <[u8]>::to_vec), "{place}");
        assert_eq!(run.stderr.contains("untrusted"), stops && place < 12, "{run:?}");
    }
    folder.write("f.warc", with(0, b"garbage\r\n\r\n"));
    folder.run(&["filter", "f.warc", "--set", "set", "--agent", "bot-a"]).says(2, &["f.warc"]);
}

#[test]
fn the_first_damaged_records_are_reported() {
    let folder = Folder::with_set();
    for count in [9, 10, 11] {
        let damaged = b"WARC/1.0\r\nWARC-Date: 1\r\nWARC-Date: 2\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
        folder.write("f.warc", damaged.repeat(count));
        let run = folder.run(&["filter", "f.warc", "--set", "set", "--agent", "bot-a"]);
        let run = run.says(1, &[&format!("damaged {count}\n")]);
        assert_eq!(run.stderr.matches("two WARC-Date fields that differ").count(), count.min(10));
        // The position where reading stops is always reported.
        folder.write("f.warc", [&damaged.repeat(count)[..], b"garbage"].concat());
        let run = folder.run(&["filter", "f.warc", "--set", "set", "--agent", "bot-a"]);
        run.says(2, &["found \"garbage\"; reading stopped at byte"]);
    }
}

#[test]
fn inputs_that_cannot_be_copied_by_record_are_refused() {
    let (folder, records) = (Folder::with_set(), records());
    let plain = all(&records, <[u8]>::to_vec);
    folder.write("one-member.warc.gz", gz(&plain));
    folder.write("text", "http://a.example/\n");
    folder.write("text.gz", gz(b"http://a.example/\n"));
    folder.write("page.gz", gz(&b"<!doctype html>".repeat(200_000)));
    folder.write("twice.gz", gz(&gz(&plain)));
    folder.write("tar.gz", gz(&[b"x".repeat(600_000), vec![0; 1024]].concat()));
    for (input, says) in [
        ("text.gz", "is text, compressed with gzip, not a WARC file"),
        ("page.gz", "is a web page (HTML), compressed with gzip, not a WARC file"),
        ("twice.gz", "is gzip within gzip, not a WARC file"),
        ("tar.gz", "compressed with gzip, not a WARC file"),
        ("one-member.warc.gz", "compressed together from record 1 on"),
        ("text", "is text, not a WARC file"),
        ("robots", "is a folder"),
        ("missing", "missing"),
    ] {
        folder.run(&["filter", input, "--set", "set", "--agent", "bot-a", "-o", "out"]).says(2, &[input, says]);
        assert!(!folder.names().iter().any(|name| name == "out" || name.starts_with('.')), "{input}");
    }
    // The output's name selects its compression.
    folder.write("f.warc", &plain);
    for name in ["out.warc.zst", "out.XZ", "out.bz2"] {
        let run = folder.run(&["filter", "f.warc", "--set", "set", "--agent", "bot-a", "-o", name]);
        run.says(2, &[name, "expected a name that ends in .gz"]);
    }
    folder.write("empty.gz", gz(b""));
    folder.run(&["filter", "empty.gz", "--set", "set", "--agent", "bot-a"]).says(0, &["records 0\n"]);
    folder.write("empty", "");
    folder.run(&["filter", "empty", "--set", "set", "--agent", "bot-a", "-o", "out"]).says(0, &["records 0\n"]);
    assert!(folder.read("out").is_empty());
}

/// Decompresses the members of a gzip file.
fn members(mut packed: &[u8]) -> Vec<Vec<u8>> {
    let mut members = Vec::new();
    while !packed.is_empty() {
        let mut unpacked = Vec::new();
        flate2::bufread::GzDecoder::new(&mut packed).read_to_end(&mut unpacked).unwrap();
        members.push(unpacked);
    }
    members
}

#[test]
fn a_gz_output_is_compressed_record_by_record() {
    let (folder, records) = (Folder::with_set(), records());
    folder.write("f.warc", all(&records, <[u8]>::to_vec));
    folder.write("f.warc.gz", all(&records, gz));
    // A plain file with the name of a compressed one.
    folder.write("plain.warc.gz", all(&records, <[u8]>::to_vec));
    let filter = ["--set", "set", "--agent", "bot-a"];
    let expected: Vec<Vec<u8>> =
        records.iter().filter(|(_, is_kept)| *is_kept).map(|(record, _)| record.clone()).collect();
    let run = |args: &[&str]| folder.run(&[&["filter"], args, &filter[..]].concat());
    run(&["f.warc", "-o", "out.warc.gz"]).says(0, &FIGURES);
    assert!(members(&folder.read("out.warc.gz")) == expected);
    assert!(
        folder.run(&["filter", "out.warc.gz", "--set", "set", "--agent", "bot-a"]).stdout == folder.read("out.warc.gz")
    );
    // Plain and compressed inputs can then be combined. Compressed records are copied unchanged.
    run(&["f.warc.gz", "f.warc", "-o", "both.GZ"]).says(0, &["kept 12\n"]);
    let both = folder.read("both.GZ");
    assert!(both.starts_with(&kept(&records, gz)) && members(&both) == [&expected[..], &expected].concat());
    run(&["f.warc", "f.warc.gz", "plain.warc.gz", "-o", "folder/"]).says(0, &["kept 18\n"]);
    assert!(folder.read("folder/f.warc") == kept(&records, <[u8]>::to_vec));
    assert!(members(&folder.read("folder/plain.warc.gz")) == expected);
}

/// The Python package warcio reads every kept record, and no others:
///
/// `pip install warcio; PYTHON=python3 cargo test -p reptile-cli --test all filter:: -- --ignored`.
#[test]
#[ignore = "needs Python with the package warcio"]
fn warcio_reads_the_kept_records() {
    let (folder, records) = (Folder::with_set(), records());
    folder.write("f.warc.gz", all(&records, gz));
    folder.write("f.warc", all(&records, <[u8]>::to_vec));
    let script = "
import sys
from warcio.archiveiterator import ArchiveIterator
for record in ArchiveIterator(open(sys.argv[1], 'rb'), no_record_parse=True):
    print(record.rec_type, record.rec_headers.get_header('WARC-Target-URI'), len(record.content_stream().read()))
";
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let expected = "warcinfo None 16\n\
                    request http://a.example/private/open 18\n\
                    response http://a.example/private/open 54\n\
                    metadata http://a.example/private/open 16\n\
                    conversion https://a.example/long 5242880\n\
                    response http://a.example/ 0\n";
    for (input, output) in [("f.warc.gz", "a.warc.gz"), ("f.warc", "b.warc"), ("f.warc", "c.warc.gz")] {
        folder.run(&["filter", input, "-o", output, "--set", "set", "--agent", "bot-a"]).says(0, &FIGURES);
        let read = Command::new(&python).args(["-c", script]).arg(folder.path(output)).output().unwrap();
        assert!(read.status.success(), "{read:?}");
        assert_eq!(String::from_utf8(read.stdout).unwrap(), expected, "{output}");
        // This check fails for a file with a single member, which cannot be read record by record.
        let check =
            Command::new(&python).args(["-m", "warcio.cli", "check"]).arg(folder.path(output)).output().unwrap();
        assert!(check.status.success(), "{output}: {check:?}");
    }
}
