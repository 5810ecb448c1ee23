//! The forms in which archives of a crawl are stored: zstd with a dictionary, padded gzip, records in several gzip
//! members, WACZ, and forms that are refused by name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::support::{Folder, Run, gz};
use crate::warc::{CLOSED, closed, record};
use crate::warc_framing::forged;

/// A dictionary that `zstandard` for Python made of such records. Its ID is 40,000.
const DICTIONARY: &[u8] = include_bytes!("support/dictionary.zstd");

/// The hosts of the records.
const HOSTS: [&str; 3] = ["a.example", "b.example", "c.example"];

fn records() -> Vec<Vec<u8>> {
    HOSTS.iter().map(|host| closed(host)).collect()
}

/// Returns a skippable zstd frame.
fn frame(magic: u8, content: &[u8]) -> Vec<u8> {
    [&[magic, 0x2a, 0x4d, 0x18][..], &(content.len() as u32).to_le_bytes(), content].concat()
}

fn with_dictionary(record: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut compressor = zstd::bulk::Compressor::with_dictionary(3, dictionary).unwrap();
    compressor.include_checksum(true).unwrap();
    compressor.compress(record).unwrap()
}

fn plain(record: &[u8]) -> Vec<u8> {
    zstd::encode_all(record, 1).unwrap()
}

/// Returns a folder with the uncompressed records, what commands make of them, and a set that allows them.
fn folder_of_records() -> Folder {
    let folder = Folder::new();
    HOSTS.iter().for_each(|host| folder.write(&format!("robots/{host}"), ""));
    folder.run(&["compile", "-o", "open", "robots"]).says(0, &[]);
    folder.write("plain.warc", records().concat());
    folder.run(&["compile", "-o", "expected", "plain.warc"]).says(0, &[]);
    folder.write("expected.rights", rights(&folder, "plain.warc").says(0, &[]).stdout);
    folder
}

fn rights(folder: &Folder, file: &str) -> Run {
    folder.run(&["classify", "open", file, "--agent", "bot-a", "--rights", "all"])
}

/// Asserts that commands read a file like the uncompressed records, or end with this message.
fn check(folder: &Folder, name: &str, bytes: &[u8], expected: Result<(), &str>) {
    folder.write(name, bytes);
    let compile = folder.run(&["compile", "--force=shrink", "-o", "set", name]);
    let filter = folder.run(&["filter", name, "--set", "open", "--agent", "bot-a"]);
    let rights = rights(folder, name);
    let Err(message) = expected else {
        compile.says(0, &["files read 3\n"]);
        assert!(folder.read("set") == folder.read("expected"), "{name}");
        assert!(rights.says(0, &[]).stdout == folder.read("expected.rights"), "{name}");
        let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
        if is_gzip && filter.code == Some(2) {
            filter.says(2, &["or in parts; expected a gzip member for each one: decompress it first"]);
            return;
        }
        let kept: Vec<u8> = records().iter().flat_map(|one| if is_gzip { gz(one) } else { one.clone() }).collect();
        assert!(filter.says(0, &["kept 3\n"]).stdout == kept, "{name}");
        return;
    };
    compile.says(2, &[message]);
    for run in [filter, rights] {
        run.says(2, &[&format!("reptile: {name}: ")]);
    }
}

#[test]
fn a_zstd_dictionary_is_at_the_start_or_the_file_is_refused() {
    let frames: Vec<Vec<u8>> = records().iter().map(|one| with_dictionary(one, DICTIONARY)).collect();
    let plain_frames = records().iter().map(|one| plain(one)).collect::<Vec<_>>().concat();
    let all = frames.concat();
    let first = |content: &[u8]| [frame(0x5d, content), all.clone()].concat();
    let packed = zstd::encode_all(DICTIONARY, 19).unwrap();
    let rules = DICTIONARY.windows(9).position(|nine| nine == b"Disallow:").unwrap();
    let changed = |at: usize| {
        let mut dictionary = DICTIONARY.to_vec();
        dictionary[at] ^= 0xff;
        dictionary
    };
    let missing =
        Err("a frame needs a dictionary, and the file's first frame has none or another one; decompress the \
                       file with `zstd -d -D DICTIONARY`");
    let ends = Err("its zstd data cannot be decompressed: it ends after ");
    let whole = first(DICTIONARY);
    let len = frame(0x5d, DICTIONARY).len();
    let cases = [
        ("stored", whole.clone(), Ok(())),
        ("compressed", first(&packed), Ok(())),
        ("extension frames", [first(DICTIONARY), frame(0x50, b"x"), plain(b""), frame(0x5f, b"")].concat(), Ok(())),
        ("frames without it", [frame(0x5d, DICTIONARY), plain_frames.clone()].concat(), Ok(())),
        ("another program's frame", [frame(0x5d, b"seek table"), plain_frames.clone()].concat(), Ok(())),
        ("empty frame", [frame(0x5d, b""), plain_frames.clone()].concat(), Ok(())),
        ("missing", all.clone(), missing),
        ("late", [&frames[0], &frame(0x5d, DICTIONARY), &frames[1], &frames[2]].map(|one| &one[..]).concat(), missing),
        ("after a frame", [plain(&records()[0]), frame(0x5d, DICTIONARY), frames[1].clone()].concat(), missing),
        ("other frame first", [frame(0x50, b"x"), frame(0x5d, DICTIONARY), all.clone()].concat(), missing),
        ("another one", first(&changed(4)), missing),
        ("in another frame", [frame(0x5c, DICTIONARY), all.clone()].concat(), missing),
        ("two files", [first(&changed(4))[..len].to_vec(), whole.clone()].concat(), missing),
        ("no dictionary", first(&changed(0)), missing),
        ("no length", whole[..6].to_vec(), Err("its first frame has no length")),
        ("cut after its magic number", whole[..12].to_vec(), ends),
        ("cut", whole[..len - 1].to_vec(), ends),
        ("alone", whole[..len].to_vec(), Err("incomplete frame")),
        ("damaged tables", first(&changed(20)), Err("its zstd data cannot be decompressed: ")),
        ("damaged text", first(&changed(rules)), Err("doesn't match checksum")),
        ("damaged frame", first(&packed[..packed.len() - 1]), Err("its dictionary is damaged: ")),
        ("two frames", first(&[&packed[..], &packed].concat()), Err("and nothing else")),
        ("cut record", whole[..whole.len() - 5].to_vec(), Err("not read to its end")),
    ];
    assert_eq!(cases.len(), 23);
    let folder = folder_of_records();
    for (name, bytes, expected) in cases {
        check(&folder, &format!("{name}.warc.zst"), &bytes, expected);
    }
}

#[test]
fn zero_bytes_after_a_gzip_member_are_padding() {
    let [one, two, three] = [0, 1, 2].map(|number: usize| gz(&records()[number]));
    let zeros = |len: usize| vec![0; len];
    let all = [&one[..], &two, &three].concat();
    let cases = [
        ("at the end", [all.clone(), zeros(512)].concat(), Ok(())),
        ("one byte", [all.clone(), zeros(1)].concat(), Ok(())),
        ("over a read", [all.clone(), zeros(200_000)].concat(), Ok(())),
        ("between", [&one[..], &zeros(511), &two, &zeros(70_000), &three].concat(), Ok(())),
        ("before text", [&all[..], &zeros(512), b"x"].concat(), Err("expected a gzip member, found the byte 0x78")),
        ("text first", [&all[..], b"x", &zeros(512)].concat(), Err("expected a gzip member, found the byte 0x78")),
        ("then a cut member", [&all[..], &zeros(9), &one[..5]].concat(), Err("within the header of a gzip member")),
        ("no trailer", all[..all.len() - 8].to_vec(), Err("ends within the checksum and the length at the end of a")),
        ("cut trailer", all[..all.len() - 1].to_vec(), Err("ends within the checksum and the length at the end of a")),
        ("zeros as trailer", [&all[..all.len() - 8], &zeros(8)].concat(), Err("the checksum or the length")),
    ];
    assert_eq!(cases.len(), 10);
    let folder = folder_of_records();
    for (name, bytes, expected) in cases {
        match name {
            // The member's end is known, so only its record is damaged.
            "zeros as trailer" => {
                let folder = Folder::new();
                folder.write("f.warc.gz", bytes);
                folder
                    .run(&["compile", "-o", "other", "f.warc.gz"])
                    .says(1, &[expected.unwrap_err(), "files read 2\n"]);
            }
            _ => check(&folder, &format!("{name}.warc.gz"), &bytes, expected),
        }
    }
    // Other inputs are read the same way.
    let folder = Folder::new();
    folder.write("robots.gz", [gz(CLOSED.as_bytes()), zeros(100)].concat());
    folder.write("urls.gz", [gz(b"http://a.example/x\n"), zeros(100), gz(b"http://a.example/y\n"), zeros(1)].concat());
    folder.run(&["compile", "-o", "set", "robots.gz", "--host", "a.example"]).says(0, &[]);
    let run = folder.run(&["classify", "set", "urls.gz", "--agent", "bot-a"]).says(0, &[]);
    assert_eq!(run.text(), "http://a.example/x\tdisallow\nhttp://a.example/y\tdisallow\n");
}

/// Returns the bytes as gzip members of this length.
fn cut(bytes: &[u8], len: usize) -> Vec<u8> {
    bytes.chunks(len).flat_map(gz).collect()
}

/// Returns a member for a record's header, and one for its block.
fn halves(record: &[u8]) -> Vec<u8> {
    let end = record.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    [gz(&record[..end]), gz(&record[end..])].concat()
}

#[test]
fn a_record_may_be_stored_in_several_members() {
    let all = records().concat();
    let len = records()[0].len();
    let first = records()[0].clone();
    let mut cases = vec![("halves".to_owned(), records().iter().flat_map(|one| halves(one)).collect::<Vec<u8>>())];
    // The first member ends in the header, the block, or a later record.
    for part in [7, 64, 300, len - 5, len + 50, 2 * len - 9] {
        cases.push((format!("parts of {part}"), cut(&all, part)));
    }
    cases.push(("padded".into(), cut(&all, 100).into_iter().chain([0; 20]).collect()));
    assert_eq!(cases.len(), 8);
    let folder = folder_of_records();
    for (name, bytes) in cases {
        check(&folder, &format!("{name}.warc.gz"), &bytes, Ok(()));
    }
    // A website's block that begins like a record is not a record.
    let page = [forged("a.example"), b"\r\n\r\n".to_vec()].concat();
    let page = record("resource", "WARC-Target-URI: http://stranger.example/\r\n", &page);
    folder.write(
        "forged.warc.gz",
        [&first, &page, &records()[1]].into_iter().flat_map(|one| halves(one)).collect::<Vec<_>>(),
    );
    folder.run(&["compile", "-o", "forged", "forged.warc.gz"]).says(0, &["files read 2\n"]);
    assert_eq!(folder.verdicts("forged", &["http://a.example/", "http://b.example/"]), ["disallow", "disallow"]);
    // Nothing says where a record begins after a damaged member.
    let mut damaged = halves(&first);
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    damaged.extend(halves(&records()[1]));
    check(&folder, "damaged.warc.gz", &damaged, Err("not read to its end"));
    check(&folder, "short.warc.gz", &cut(&all[..all.len() - 30], 100), Err("not read to its end"));
    // A member that begins with a record continues none.
    folder.write("first.warc.gz", [gz(&first[..first.len() - 30]), gz(&records()[1]), gz(&records()[2])].concat());
    let run = folder.run(&["compile", "-o", "rest", "first.warc.gz"]);
    run.says(1, &["record 1 (http://a.example/robots.txt): damaged record", "files read 2\n"]);
    // The first member has a whole record, so each member begins with one.
    folder.write("later.warc.gz", [gz(&first), halves(&records()[1]), gz(&records()[2])].concat());
    folder.run(&["compile", "-o", "later", "later.warc.gz"]).says(1, &["damaged record", "files read 2\n"]);
}

/// Returns a zip archive with these files, stored.
fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn wacz_is_read_like_the_warc_files_in_it() {
    let packed: Vec<u8> = records().iter().flat_map(|one| gz(one)).collect();
    let other = gz(&closed("d.example"));
    let text = zipped(&[("archive/a.warc", b"user-agent: *\n")]);
    let one = zipped(&[("archive/a.warc.gz", &packed)]);
    let both =
        [("datapackage.json", &b"{}"[..]), ("archive/", b""), ("archive/a.warc.gz", &packed), ("archive/b", &other)];
    let changed = |bytes: &[u8], at: usize, to: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] = to;
        bytes
    };
    let entry = one.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    let cases: Vec<(&str, Vec<u8>, i32, &str)> = vec![
        ("one", one.clone(), 0, "files read 3\n"),
        ("two", zipped(&both), 0, "files read 4\n"),
        ("plain", zipped(&[("archive/a.warc", &records().concat())]), 0, "files read 3\n"),
        ("empty", zipped(&[("archive/a.warc.gz", &packed), ("archive/empty", b"")]), 0, "files read 3\n"),
        ("without", zipped(&[("robots/a.example", b"")]), 2, "is a zip archive, not a folder or archive"),
        ("nothing", zipped(&[]), 2, "extract it with `unzip`, and give the files or the folder"),
        ("text", text, 2, "archive/a.warc: is text, not a WARC file"),
        ("control", zipped(&[("archive/\x1b", b"x")]), 2, "archive/\\u{1b}: is text, not a WARC file"),
        ("checksum", changed(&one, 100, 7), 2, "archive/a.warc.gz: cannot be read: its checksum in the zip archive is"),
        ("deflate", changed(&one, entry + 10, 8), 2, "archive/a.warc.gz is compressed or encrypted in the zip archive"),
        (
            "encrypted",
            changed(&one, entry + 8, 1),
            2,
            "archive/a.warc.gz is compressed or encrypted in the zip archive",
        ),
        ("longer", changed(&one, entry + 23, 9), 2, "the zip archive cannot be read: "),
        ("elsewhere", changed(&one, entry + 45, 9), 2, "the zip archive cannot be read: "),
        ("cut", one[..one.len() - 30].to_vec(), 2, "the zip archive cannot be read: "),
    ];
    assert_eq!(cases.len(), 14);
    let folder = Folder::new();
    folder.write("plain.warc", records().concat());
    folder.run(&["compile", "-o", "expected", "plain.warc"]).says(0, &[]);
    for (name, bytes, code, message) in cases {
        folder.write(name, bytes);
        folder.run(&["compile", "--force=shrink", "-o", "set", name]).says(code, &[message]);
        if message == "files read 3\n" {
            assert!(folder.read("set") == folder.read("expected"), "{name}");
        }
    }
    // Redirects lead from one WARC file to another.
    let moved = crate::warc::answer(
        "http://r.example/robots.txt",
        "HTTP/1.1 301 Moved",
        "Location: http://d.example/robots.txt\r\n",
        b"",
    );
    folder.write("moved", zipped(&[("archive/a.warc", &moved), ("archive/b.warc.gz", &other)]));
    folder.run(&["compile", "-o", "moved.set", "moved"]).says(0, &["files read 2\n"]);
    assert_eq!(folder.verdicts("moved.set", &["http://r.example/"]), ["disallow"]);
}

#[test]
fn other_formats_of_crawlers_are_named_with_a_converter() {
    let arc = b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain 77\n1 0 InternetArchive\n";
    let log = b"2026-01-02T03:04:05.123Z   200       1234 http://a.example/x LLE http://a.example/ text/html #042 \
                20260102030405000+120 sha1:ABC - -\n";
    let folder = Folder::with_set();
    folder.write("a.arc", arc);
    folder.write("a.arc.gz", gz(arc));
    folder.write("crawl.log", log);
    folder.write("a.wacz", zipped(&[("archive/a.warc", &records().concat())]));
    let mut count = 0;
    let commands: [&[&str]; 7] = [
        &["compile", "-o", "x"],
        &["compile", "-o", "x", "--host", "a.example"],
        &["lint"],
        &["classify", "set", "--agent", "bot-a"],
        &["filter", "--set", "set", "--agent", "bot-a"],
        &["test", "--agent", "bot-a", "/"],
        &["classify", "set", "--agent", "bot-a", "--rights", "all"],
    ];
    for (number, command) in commands.into_iter().enumerate() {
        for (file, what, advice) in [
            ("a.arc", "is an ARC file", Some("; `warcio recompress a.arc FILE.warc.gz` converts it to WARC\n")),
            ("a.arc.gz", "is an ARC file", Some("`warcio recompress a.arc.gz FILE.warc.gz`")),
            (
                "crawl.log",
                "is a Heritrix crawl.log",
                (number == 3)
                    .then_some("its fourth column has the URLs: `awk '{print $4}' crawl.log | reptile classify SET -`"),
            ),
            ("a.wacz", "is a zip archive", Some("extract it with `unzip`")),
        ] {
            if file == "a.wacz" && number == 0 {
                continue;
            }
            let args = match command {
                ["test", rest @ ..] => [&["test", file], rest].concat(),
                command => [command, &[file]].concat(),
            };
            let run: Run = folder.run(&args).says(2, &[&format!("{file}: {what}"), advice.unwrap_or_default()]);
            assert!(run.stdout.is_empty(), "{args:?}");
            count += 1;
        }
    }
    assert_eq!(count, 4 * 7 - 1);
}
