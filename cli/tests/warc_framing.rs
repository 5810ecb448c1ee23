//! Resuming after damage in a WARC file: never at a position that a website may have chosen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use crate::warc::{CLOSED, answer, closed, packed, record};
use support::{Folder, Run, gz};

/// A path that only forged rules allow.
const FORGED: &str = "/forged-by-a-stranger";

/// Returns an attacker's record for another host, newer than the genuine one.
pub fn forged(host: &str) -> Vec<u8> {
    let body = format!("User-agent: *\nAllow: {FORGED}\nDisallow: /\n");
    let record = answer(&format!("http://{host}/robots.txt"), "HTTP/1.1 200 OK", "", body.as_bytes());
    String::from_utf8(record).unwrap().replace("2026-01-02", "2030-01-02").into_bytes()
}

/// The fate of the records after a damaged one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rest {
    /// They are read, because the damaged record's end is known.
    Read,
    /// They are not read, unless they are in another gzip member.
    Lost,
    /// They are read as part of the damaged record's block, unless they are in another gzip member.
    Swallowed,
}

/// Returns an attacker's damaged records, each with its message, and with the fate of later records in an uncompressed
/// file.
fn cases() -> Vec<(&'static str, Vec<u8>, String, Rest)> {
    let page = |fields: &str| {
        [format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), &forged("victim.example"), b"\r\n\r\n"].concat()
    };
    let block = [b"HTTP/1.1 200 OK\r\n\r\n\r\n\r\n", &forged("victim.example")[..], &forged("victim.example")].concat();
    let with = |header: &str| {
        let start = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://stranger.example/robots.txt\r\n{header}\r\n"
        );
        [start.as_bytes(), &block, b"\r\n\r\n"].concat()
    };
    let len = block.len();
    let length = |value: &str| with(&format!("Content-Length: {value}\r\n"));
    let no_number = |value: &str| format!("its Content-Length is \"{value}\", not a number of bytes; reading stopped");
    let long = "x".repeat(70_000);
    // The attacker chooses the target of a redirect, which the crawler stores.
    let long_target = format!("WARC-Refers-To-Target-URI: http://stranger.example/{long}\r\nContent-Length: {len}\r\n");
    let mut cases = vec![
        ("over-long header", with(&long_target), "its header has more than 65,536 bytes".into(), Rest::Read),
        (
            "over-long header, no length",
            with(&format!("X: {long}\r\n")),
            "it has no Content-Length; reading stopped at byte".into(),
            Rest::Lost,
        ),
        (
            "over-long target",
            record("response", &format!("WARC-Target-URI: http://stranger.example/{long}\r\n"), &page("")),
            "its header has more than 65,536 bytes".into(),
            Rest::Read,
        ),
        ("no length", with(""), "it has no Content-Length; reading stopped at byte".into(), Rest::Lost),
        (
            "two lengths",
            with(&format!("Content-Length: {len}\r\nContent-Length: 30\r\n")),
            format!("its Content-Length is both \"{len}\" and \"30\"; reading stopped"),
            Rest::Lost,
        ),
        ("two lengths in one", length(&format!("{len}, {len}")), no_number(&format!("{len}, {len}")), Rest::Lost),
        (
            "folded length",
            length(&format!("{}\r\n {}", len / 10, len % 10)),
            "not a number of bytes".into(),
            Rest::Lost,
        ),
        ("length too small", length("30"), "its block is followed by".into(), Rest::Lost),
        ("length too small by twelve", length(&(len - 12).to_string()), "its block is followed by".into(), Rest::Lost),
        ("length too great", length("99999999"), "of the 99999999 bytes of its block".into(), Rest::Swallowed),
        ("length too great by one", length(&(len + 5).to_string()), "its block".into(), Rest::Lost),
        ("the greatest length", length(&u64::MAX.to_string()), "bytes of its block".into(), Rest::Swallowed),
        (
            "junk between records",
            [b"garbage\r\n\r\n", &forged("victim.example")[..]].concat(),
            "expected \"WARC/\", the start of a record, found \"garbage".into(),
            Rest::Lost,
        ),
        (
            "two targets",
            with(&format!("WARC-Target-URI: http://victim.example/robots.txt\r\nContent-Length: {len}\r\n")),
            "it has two WARC-Target-URI fields that differ".into(),
            Rest::Read,
        ),
        (
            "two types",
            with(&format!("WARC-Type: resource\r\nContent-Length: {len}\r\n")),
            "it has two WARC-Type fields that differ".into(),
            Rest::Read,
        ),
        (
            "two dates",
            with(&format!("WARC-Date: 2026-01-01\r\nWARC-Date: 2026-01-02\r\nContent-Length: {len}\r\n")),
            "it has two WARC-Date fields that differ".into(),
            Rest::Read,
        ),
    ];
    for value in ["many", "+5", "-5", "18446744073709551616", "0x10", "1e3", "5 5", "5.0", "", "5;", "\u{665}"] {
        cases.push(("no number", length(value), no_number(value), Rest::Lost));
    }
    cases
}

/// Returns the verdicts for a file's hosts, and whether forged rules decide the victim.
fn verdicts(folder: &Folder, set: &str) -> (Vec<String>, bool) {
    let forged = format!("http://victim.example{FORGED}");
    let mut all = folder.verdicts(set, &["http://victim.example/", "http://after.example/", &forged]);
    let is_forged = all.pop().unwrap() == "allow";
    (all, is_forged)
}

fn check(run: Run, message: &str, rest: Rest, is_member: bool) {
    let message = if is_member { message.split("; reading stopped").next().unwrap() } else { message };
    let stops = rest != Rest::Read && !is_member;
    let fault = if stops { "damaged WARC file, not read to its end" } else { "damaged record of a WARC file" };
    run.says(if stops { 2 } else { 1 }, &[message, fault]);
}

#[test]
fn a_record_within_a_damaged_record_is_never_read() {
    let mut count = 0;
    for (name, bad, message, rest) in cases() {
        let records = [closed("victim.example"), bad, closed("after.example")];
        for (file, bytes) in packed(&records) {
            let folder = Folder::new();
            folder.write(file, bytes);
            let is_member = file == "members.warc.gz";
            let run = folder.run(&["compile", "-o", "set", file]);
            if rest == Rest::Read || is_member {
                let expected = (vec!["disallow".to_owned(), "disallow".to_owned()], false);
                assert_eq!(verdicts(&folder, "set"), expected, "{name} {file} {run:?}");
            } else {
                assert!(run.code == Some(2) && !folder.path("set").exists(), "{name} {file} {run:?}");
            }
            if file == "members.warc.gz" || file == "plain.warc" {
                check(run, &message, rest, is_member);
            }
            count += 1;
        }
    }
    assert_eq!(count, 27 * 4);
}

/// Lengths are accepted in standard form, or twice with the same value.
#[test]
fn valid_lengths_are_accepted() {
    let one = String::from_utf8(closed("after.example")).unwrap();
    let len = CLOSED.len() + "HTTP/1.1 200 OK\r\n\r\n".len();
    let before = format!("Content-Length: {len}\r\n");
    assert!(one.contains(&before));
    for after in [
        format!("Content-Length:   {len} \t\r\n"),
        format!("content-length:{len}\r\n"),
        format!("Content-Length: 000{len}\r\n"),
        format!("Content-Length:\r\n {len}\r\n"),
        format!("{before}{before}"),
        format!("{before}Content-Length: 0{len}\r\n"),
    ] {
        let folder = Folder::new();
        folder.write("f.warc", one.replace(&before, &after) + &String::from_utf8(closed("victim.example")).unwrap());
        folder.run(&["compile", "-o", "set", "f.warc"]).says(0, &[]);
        assert_eq!(verdicts(&folder, "set").0, ["disallow", "disallow"], "{after:?}");
    }
}

/// With `--resync`, the remaining records are read, and reported as untrusted.
#[test]
fn a_search_finds_later_records_and_marks_them_as_untrusted() {
    let mut searched = 0;
    for (name, bad, _, rest) in cases() {
        // An overlong block swallows the start of the next record.
        if rest != Rest::Lost || name == "length too great by one" {
            continue;
        }
        searched += 1;
        let folder = Folder::new();
        folder.write("f.warc", [closed("victim.example"), bad, closed("after.example")].concat());
        let run = folder.run(&["compile", "-o", "set", "f.warc", "--resync"]);
        let untrusted = run.stderr.lines().filter(|line| line.contains("found by a search behind damage")).count();
        assert_eq!(untrusted, 1, "{name} {run:?}");
        run.says(1, &["damaged record of a WARC file", "untrusted: records after damage, by --resync"]);
        assert_eq!(verdicts(&folder, "set").0[1], "disallow", "{name}");
    }
    assert!(searched > 15, "{searched}");
    // Every later record counts as untrusted, including undamaged ones.
    let folder = Folder::new();
    let later = ["a.example", "b.example", "c.example"].map(closed).concat();
    folder.write("f.warc", [&closed("x.example")[..], b"junk\r\n", &later].concat());
    folder
        .run(&["compile", "-o", "set", "f.warc", "--resync"])
        .says(1, &["by --resync 3\n", "f.warc: record 3: found"]);
    // `filter` and `lint` search too, and so does `update`, whose set records it.
    let args = ["filter", "f.warc", "--set", "set", "--agent", "bot-a", "--treat", "unknown=allow"];
    folder.run(&args).says(2, &["record 2: damaged WARC file, not read to its end", "reading stopped"]);
    folder
        .run(&[&args[..], &["--resync"]].concat())
        .says(1, &["by --resync 3\n", "records 5\n", "f.warc: record 3: found"]);
    folder.run(&["lint", "f.warc", "--resync"]).says(2, &["by --resync 3\n", "files 4\n"]);
    folder.run(&["lint", "f.warc"]).says(2, &["not read to its end"]);
    folder.run(&["update", "set", "f.warc", "-o", "new", "--resync"]).says(1, &["by --resync 3\n"]);
    assert!(String::from_utf8(folder.read("new.made.json")).unwrap().contains("\"resync\": true"));
    // A set file contains no damaged archive to search.
    let run = folder.run_with(&["classify", "set", "--agent", "bot-a", "--resync"], b"http://a.example/\n");
    run.says(2, &["--resync: is for crawl archives, whose pages --rights decides"]);
    // Undamaged files are not searched.
    folder.write("good.warc", &later);
    let run = folder.run(&["compile", "-o", "good", "good.warc", "--resync"]).says(0, &[]);
    assert!(!run.stderr.contains("untrusted"), "{run:?}");
}

/// Formats a number as in messages.
fn grouped(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", grouped(thousands)),
    }
}

/// If reading stops early, the position and the amount of unread data are reported.
#[test]
fn unread_bytes_are_counted() {
    let (good, bad) = (closed("victim.example"), b"WARC/1.0\r\nWARC-Type: response\r\n\r\n");
    let after = vec![b'x'; 200_000];
    let plain = [&good[..], bad, &after].concat();
    let len = bad.len() + after.len();
    let message = format!("reading stopped at byte {}: {} bytes are not read", good.len(), grouped(len));
    let folder = Folder::new();
    folder.write("f.warc", &plain);
    folder.run(&["compile", "-o", "file", "f.warc"]).says(2, &["f.warc: record 2: damaged WARC file", &message]);
    folder.run_with(&["compile", "-o", "pipe", "-"], &plain).says(2, &[&message]);
    folder.write("robots/victim.example", CLOSED);
    folder.run(&["compile", "-o", "file", "robots"]).says(0, &[]);
    folder.run(&["filter", "f.warc", "--set", "file", "--agent", "bot-a"]).says(2, &[&message]);
    // The rest of a gzip member is read to find its end, and counted as decompressed bytes.
    folder.write("f.warc.gz", [gz(&plain), gz(&closed("after.example"))].concat());
    let message = format!("the {} bytes from there to the end of its gzip member are not read", grouped(len));
    folder.run(&["compile", "-o", "gz", "f.warc.gz"]).says(2, &[&message]);
    // Other compression formats have no members, so unread bytes are counted as compressed bytes.
    folder.write("f.warc.zst", zstd::encode_all(&*plain, 1).unwrap());
    let message = format!("reading stopped at byte {} of the decompressed data", good.len());
    folder.run(&["compile", "-o", "zst", "f.warc.zst"]).says(2, &[&message, "compressed bytes are not read"]);
    // Corrupt data in a member of several records. No checksum proves the first records.
    let records: Vec<u8> = (0..400).flat_map(|number| closed(&format!("h{number}.example"))).collect();
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    std::io::Write::write_all(&mut member, &records).unwrap();
    let mut member = member.finish().unwrap();
    // The header of the second block, after the 10-byte member header, a 5-byte block header, and the first block.
    let second = 15 + usize::from(u16::from_le_bytes([member[11], member[12]]));
    member[second] |= 0b110;
    folder.write("corrupt.warc.gz", [member, gz(&closed("after.example"))].concat());
    let run = folder.run(&["compile", "-o", "corrupt", "corrupt.warc.gz"]);
    run.says(2, &["not read to its end", "no checksum proves the", "records before it in the same compressed data"]);
}

/// `filter` keeps the records that `compile` reads, and never a record inside another one.
#[test]
fn filter_keeps_no_record_within_a_record() {
    let folder = Folder::new();
    for host in ["victim.example", "after.example", "stranger.example"] {
        let body = if host == "stranger.example" { CLOSED } else { "" };
        folder.write(&format!("robots/{host}"), body);
    }
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let mut count = 0;
    for (name, bad, message, rest) in cases() {
        let records = [closed("victim.example"), bad, closed("after.example")];
        for (file, bytes) in
            packed(&records).into_iter().filter(|(file, _)| ["members.warc.gz", "plain.warc"].contains(file))
        {
            folder.write(file, bytes);
            let is_member = file == "members.warc.gz";
            let run = folder.run(&["filter", file, "--set", "set", "--agent", "bot-a", "--treat", "unknown=allow"]);
            if rest == Rest::Read || is_member {
                let pack = |record: &Vec<u8>| if is_member { gz(record) } else { record.clone() };
                let expected: Vec<u8> = [0, 2].iter().flat_map(|&place: &usize| pack(&records[place])).collect();
                assert!(run.stdout == expected, "{name} {file} {:?}", String::from_utf8_lossy(&run.stdout));
            }
            check(run, &message, rest, is_member);
            count += 1;
        }
    }
    assert_eq!(count, 27 * 2);
}

/// An uncompressed gzip member inside a corrupt member is not found.
#[test]
fn a_member_within_a_corrupt_member_is_never_read() {
    let mut inner = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let page = record("response", "WARC-Target-URI: http://stranger.example/\r\n", &gz(&forged("victim.example")));
    std::io::Write::write_all(&mut inner, &page).unwrap();
    let mut corrupt = inner.finish().unwrap();
    corrupt[10] |= 0b110;
    let folder = Folder::new();
    folder.write("f.warc.gz", [gz(&closed("victim.example")), corrupt, gz(&closed("after.example"))].concat());
    folder.run(&["compile", "-o", "set", "f.warc.gz"]).says(2, &["reading stopped at byte", "not read to its end"]);
    assert!(!folder.path("set").exists());
    folder.write("robots/victim.example", "");
    folder.run(&["compile", "-o", "open", "robots"]).says(0, &[]);
    let args = ["filter", "f.warc.gz", "--set", "open", "--agent", "bot-a", "--treat", "unknown=allow"];
    folder.run(&args).says(2, &["record 2: damaged WARC file, not read to its end: ", "reading stopped"]);
    // With `--resync`, a search finds this member and the record after it.
    let run = folder.run(&[&args[..], &["--resync"]].concat());
    run.says(1, &["kept 3\n", "untrusted: records after damage, by --resync 2\n", "record 3: found by a search"]);
}
