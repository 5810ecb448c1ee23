//! Inputs are identified by content, not by name: every kind of input with every command, compressed inputs, and which
//! file in a folder or archive governs a host.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use support::{Folder, Run, gz};

/// A robots.txt that disallows everything.
const CLOSED: &str = "User-agent: *\nDisallow: /\n";

/// Returns an archive with the given files.
fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, body) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(body.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append_data(&mut header, name, body.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// Returns pseudorandom bytes, always the same.
fn random() -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(5000).collect()
}

/// The commands, with `FILE` as a placeholder for the input.
const COMMANDS: [(&str, &[&str]); 10] = [
    ("test", &["test", "--brief", "FILE", "--agent", "Foo", "/x"]),
    ("compile", &["compile", "--force", "--host", "h.example", "-o", "out", "FILE"]),
    ("check", &["check", "FILE", "--robots", "good.txt"]),
    ("lint", &["lint", "--dialect", "google-lib", "FILE"]),
    ("diff", &["diff", "good.txt", "FILE"]),
    ("fields", &["fields", "FILE"]),
    ("inspect", &["inspect", "FILE"]),
    ("classify", &["classify", "good", "FILE", "--agent", "Foo"]),
    ("summarize", &["summarize", "FILE", "--agent", "Foo"]),
    ("timeline", &["timeline", "FILE", "--agent", "Foo"]),
];

/// Whether a command accepts an input.
#[derive(Clone, Copy)]
enum Does {
    /// Ends with exit code 2 and names the kind of input.
    Refuses,
    /// Reads the input, because it is useful or may be a server's response.
    Takes,
}
use Does::{Refuses, Takes};

/// Kinds of wrong input, their names in messages, and the reaction of each of [`COMMANDS`].
const KINDS: [(&str, &str, [Does; 9]); 11] = [
    ("zip", "is a zip archive", [Refuses; 9]),
    ("utf16", "is text in UTF-16", [Refuses, Takes, Refuses, Takes, Refuses, Refuses, Refuses, Refuses, Refuses]),
    ("json", "JSON", [Refuses, Refuses, Refuses, Takes, Refuses, Takes, Takes, Takes, Takes]),
    ("random", "is binary data", [Refuses, Takes, Refuses, Takes, Refuses, Refuses, Refuses, Refuses, Refuses]),
    ("set", "is a compiled set", [Refuses, Refuses, Refuses, Refuses, Refuses, Takes, Takes, Refuses, Takes]),
    ("page", "is a web page (HTML)", [Refuses, Takes, Refuses, Takes, Refuses, Refuses, Refuses, Refuses, Refuses]),
    ("warc", "a WARC file", [Refuses, Refuses, Refuses, Takes, Refuses, Takes, Takes, Refuses, Takes]),
    ("parquet", "a Parquet file", [Refuses, Refuses, Refuses, Takes, Refuses, Takes, Takes, Takes, Takes]),
    ("tar", "a tar archive", [Refuses, Refuses, Refuses, Takes, Refuses, Takes, Takes, Refuses, Takes]),
    ("folder", "a folder", [Refuses, Refuses, Refuses, Takes, Refuses, Takes, Takes, Refuses, Takes]),
    ("cut.gz", "its gzip data cannot be decompressed", [Refuses; 9]),
];

/// Returns a folder with a file of each of [`KINDS`] under its name, a good robots.txt and a good set.
fn folder_of_kinds() -> Folder {
    let folder = Folder::new();
    folder.write("good.txt", CLOSED);
    folder.run(&["compile", "-o", "good", "--host", "h.example", "good.txt"]).says(0, &[]);
    folder.write("zip", b"PK\x03\x04\x14\0\0\0\x08\0rest of the archive");
    let utf16 = CLOSED.encode_utf16().flat_map(u16::to_le_bytes);
    folder.write("utf16", [0xff, 0xfe].into_iter().chain(utf16).collect::<Vec<_>>());
    folder.write("json", "{\"url\": \"http://h.example/robots.txt\", \"body\": \"User-agent: *\\nDisallow: /\\n\"}\n");
    folder.write("random", random());
    folder.write("set", folder.read("good"));
    folder.write("page", "\n<!DOCTYPE html>\n<html><body>Not found</body></html>\n");
    let answer = format!("HTTP/1.1 200 OK\r\n\r\n{CLOSED}");
    let uri = "WARC-Target-URI: http://h.example/robots.txt";
    let record = format!("WARC/1.0\r\nWARC-Type: response\r\n{uri}\r\nContent-Length: {}\r\n\r\n", answer.len());
    folder.write("warc", record + &answer + "\r\n\r\n");
    folder.write("parquet", crate::classify_parquet::captures(&[("http://h.example/robots.txt", CLOSED)]));
    folder.write("tar", tar(&[("h.example", CLOSED)]));
    folder.write("folder/h.example", CLOSED);
    let packed = gz(&random());
    folder.write("cut.gz", &packed[..30]);
    folder
}

#[test]
fn every_command_names_the_kind_of_a_wrong_input() {
    let folder = folder_of_kinds();
    let mut ran = 0;
    let mut table = String::new();
    for (name, says, does) in KINDS {
        for ((command, args), does) in COMMANDS.into_iter().zip(does) {
            let args: Vec<&str> = args.iter().map(|&arg| if arg == "FILE" { name } else { arg }).collect();
            let run = folder.run(&args);
            let message = run.stderr.lines().next().unwrap_or_default().to_owned();
            table.push_str(&format!("{name} | {command} | {} | {message}\n", run.code.unwrap()));
            match does {
                Refuses => {
                    assert_eq!((run.code, &*String::from_utf8_lossy(&run.stdout)), (Some(2), ""), "{args:?} {run:?}");
                    assert!(run.stderr.contains(says), "{args:?} {run:?}");
                    assert!(run.stderr.starts_with(&format!("reptile: {name}: ")), "{args:?} {run:?}");
                }
                Takes => assert!(matches!(run.code, Some(0 | 1)), "{args:?} {run:?}"),
            }
            ran += 1;
        }
    }
    println!("{table}");
    assert_eq!(ran, 99);
}

#[test]
fn messages_suggest_the_right_command() {
    let folder = folder_of_kinds();
    folder.write("urls", "http://h.example/x\n");
    folder.write("good.gz", gz(&folder.read("good")));
    for (args, says) in [
        (&["test", "set", "--agent", "a", "/"][..], "`reptile classify set URLS` decides URLs by it"),
        (&["test", "json", "--agent", "a", "/"], "`reptile compile -o SET json` makes a set of all"),
        (&["diff", "good.txt", "utf16"], "make it UTF-8: iconv -f UTF-16 -t UTF-8 utf16"),
        (&["compile", "-o", "x", "good"], "good: is a compiled set, not a folder or archive of robots.txt files"),
        (&["test", "zip", "--agent", "a", "/"], "extract it with `unzip`, and give the files or the folder"),
        // Swapped arguments.
        (&["classify", "urls", "good", "--agent", "a"], "which comes first: `reptile classify good urls`"),
        (
            &["inspect", "h.example", "good"],
            "good: is a compiled set, which comes first: `reptile inspect good h.example`",
        ),
        (&["fields", "good.txt", "good"], "which comes first: `reptile fields good good.txt`"),
        (&["classify", "good.txt", "urls", "--agent", "a"], "`reptile compile -o SET --host HOST good.txt` makes"),
        (&["verify", "good.txt"], "good.txt: is text, not a compiled set; `reptile compile"),
        (&["verify", "good.gz"], "good.gz: is a compiled set, compressed with gzip; save it as an uncompressed file"),
        (&["classify", "good.gz", "urls", "--agent", "a"], "save it as an uncompressed file"),
        (&["classify", "page", "urls", "--agent", "a"], "page: is a web page (HTML), not a compiled set"),
    ] {
        folder.run(args).says(2, &[says]);
    }
}

/// Compressed files are decompressed wherever a file is read, whatever their names, and on standard input.
#[test]
fn compressed_inputs_are_read_like_plain_ones() {
    let folder = Folder::new();
    let json = "{\"url\":\"http://h.example/robots.txt\",\"body\":\"User-agent: *\\nDisallow: /\\n\"}\n";
    let plain: [(&str, Vec<u8>); 5] = [
        ("robots", CLOSED.into()),
        ("urls", b"http://h.example/x\n".to_vec()),
        ("cases", b"h.example\tFoo\t/x\tDISALLOW\t2\n".to_vec()),
        ("tar", tar(&[("h.example", CLOSED)])),
        ("json", json.into()),
    ];
    folder.write("good.txt", CLOSED);
    folder.run(&["compile", "-o", "good", "--host", "h.example", "good.txt"]).says(0, &[]);
    let commands: [(&str, &[&str]); 10] = [
        ("robots", &["test", "--brief", "FILE", "--agent", "Foo", "/x"]),
        ("robots", &["compile", "--force", "--host", "h.example", "-o", "out", "FILE"]),
        ("robots", &["lint", "--json", "FILE"]),
        ("robots", &["diff", "good.txt", "FILE"]),
        ("robots", &["fields", "FILE"]),
        ("robots", &["check", "cases", "--robots", "FILE"]),
        ("cases", &["check", "FILE", "--robots", "good.txt", "--print"]),
        ("urls", &["classify", "good", "FILE", "--agent", "Foo"]),
        ("tar", &["classify", "FILE", "urls", "--agent", "Foo"]),
        ("json", &["classify", "FILE", "urls", "--agent", "Foo"]),
    ];
    type Pack = fn(&[u8]) -> Vec<u8>;
    let packings: [Pack; 4] = [gz, bzip2, xz, zstd];
    let mut ran = 0;
    for (name, bytes) in &plain {
        folder.write(name, bytes);
    }
    for (kind, args) in commands {
        let with = |name: &str| -> Vec<String> {
            args.iter().map(|&arg| if arg == "FILE" { name.to_owned() } else { arg.to_owned() }).collect()
        };
        let run = |name: &str, stdin: &[u8]| -> Run {
            let args = with(name);
            folder.run_with(&args.iter().map(String::as_str).collect::<Vec<_>>(), stdin)
        };
        let expected = run(kind, b"");
        let expected = (expected.code, expected.text().replace(kind, "NAME"));
        assert!(matches!(expected.0, Some(0 | 1)), "{args:?}");
        let (_, bytes) = plain.iter().find(|(name, _)| *name == kind).unwrap();
        for pack in packings {
            folder.write("packed", pack(bytes));
            for (name, stdin) in [("packed", Vec::new()), ("-", pack(bytes))] {
                let found = run(name, &stdin);
                let text = found.text().replace("packed", "NAME").replace("\"-\"", "\"NAME\"");
                assert_eq!((found.code, text), expected, "{args:?} {name} {}", found.stderr);
                ran += 1;
            }
        }
    }
    assert_eq!(ran, 80);
}

#[test]
fn crawled_bodies_that_are_not_text_are_counted_and_reported() {
    let folder = Folder::new();
    folder.write("robots/good.example", CLOSED);
    folder.write("robots/packed.example", gz(CLOSED.as_bytes()));
    folder.write("robots/damaged.example", &gz(CLOSED.as_bytes())[..25]);
    folder.write("robots/picture.example", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    for number in 0..12 {
        folder.write(&format!("robots/page{number:02}.example"), "<html><body>hello</body></html>");
    }
    let says = [
        "robots/damaged.example: unreadable: its gzip data cannot be decompressed",
        "robots/page00.example: is a web page (HTML), and is used as the server's robots.txt",
        "no text: a PNG picture  1\n",
        "no text: a web page (HTML)  12\n",
        "skipped: unreadable  1\n",
    ];
    let run = folder.run(&["compile", "-o", "set", "robots"]).says(1, &says);
    assert_eq!(run.stderr.matches("and is used as the server's robots.txt").count(), 10);
    // By the protocol, such a file has no rules.
    let urls =
        ["http://packed.example/", "http://page00.example/", "http://picture.example/", "http://damaged.example/"];
    assert_eq!(folder.verdicts("set", &urls), ["disallow", "allow", "allow", "unknown"]);
    std::fs::remove_file(folder.path("robots/damaged.example")).unwrap();
    folder.run(&["compile", "--force", "-o", "set", "robots"]).says(0, &["no text: a PNG picture  1\n"]);
    folder.run(&["compile", "--force", "-o", "set", "robots", "--strict"]).says(1, &["no text: a PNG picture  1\n"]);
    folder.run(&["lint", "--strict", "robots/good.example"]).says(0, &[]);
    folder.run(&["lint", "--strict", "robots/picture.example"]).says(1, &["is a PNG picture", "no text: a PNG"]);
}

#[test]
fn files_that_govern_no_host_are_skipped_and_reported() {
    let folder = Folder::new();
    let files = [
        ("site.example/robots.txt", CLOSED),
        ("site.example/blog/robots.txt", "User-agent: *\nAllow: /\n"),
        ("site.example/blog/robots-guide.txt", ""),
        ("site.example/index.html", "<html>"),
        ("other.example:8080", CLOSED),
        ("README.md", "read me"),
        ("foo.com.txt", CLOSED),
    ];
    for (name, body) in files {
        folder.write(&format!("mirror/{name}"), body);
    }
    let mut members = Vec::new();
    for (name, body) in files {
        members.push((format!("robots/{name}"), body));
    }
    let members: Vec<(&str, &str)> = members.iter().map(|(name, body)| (&**name, *body)).collect();
    folder.write("top.tgz", gz(&tar(&members)));
    folder.write("plain.tar", tar(&files));
    for input in ["mirror", "plain.tar", "top.tgz"] {
        let run = folder.run(&["compile", "--force", "-o", "set", input]);
        run.says(
            0,
            &[
                "files read  2\n",
                "left out: named as a file, not as a host  2\n",
                "left out: not HOST or HOST/robots.txt  3\n",
                "site.example/blog/robots.txt: left out: not HOST or HOST/robots.txt",
                "foo.com.txt: left out: named as a file",
            ],
        );
        let urls = ["http://site.example/", "https://other.example:8080/", "http://foo.com/", "http://foo.com.txt/"];
        assert_eq!(folder.verdicts("set", &urls), ["disallow", "disallow", "unknown", "unknown"], "{input}");
    }
}

#[test]
fn two_files_for_one_origin_are_an_error_that_names_both() {
    let folder = Folder::new();
    folder.write("a/x.example", CLOSED);
    folder.write("a/x.example:80", "");
    folder.write("b/X.example", "");
    folder.write("c/x.example/robots.txt", "");
    folder.write("twice.tar", tar(&[("x.example", CLOSED), ("x.example", "")]));
    for (inputs, says) in [
        (&["a"][..], "a/x.example and a/x.example:80 are both for http://x.example; leave one of them out"),
        (&["b", "c"], "b/X.example and c/x.example/robots.txt are both for http://x.example"),
        (&["twice.tar"], "twice.tar: x.example and twice.tar: x.example are both for http://x.example"),
    ] {
        folder.run(&[&["compile", "-o", "set"], inputs].concat()).says(2, &[says]);
    }
    // Among captures, a profile chooses.
    let line = "{\"url\":\"http://x.example/robots.txt\",\"body\":\"\"}\n";
    folder.write("c.jsonl", line.repeat(2));
    folder.run(&["compile", "-o", "set", "b", "c.jsonl"]).says(0, &["files read  3\n"]);
}

#[test]
fn a_host_may_be_given_as_a_url() {
    let folder = Folder::new();
    folder.write("robots.txt", CLOSED);
    folder
        .run(&["compile", "-o", "set", "--host", "https://h.example:444/robots.txt", "robots.txt"])
        .says(0, &["origins 1"]);
    let urls = ["https://h.example:444/", "http://h.example:444/", "https://h.example/"];
    assert_eq!(folder.verdicts("set", &urls), ["disallow", "unknown", "unknown"]);
    folder.run(&["compile", "-o", "x", "--host", "http://a b/", "robots.txt"]).says(2, &["--host http://a b/: "]);
}

#[test]
fn the_output_name_selects_its_compression() {
    let folder = Folder::new();
    folder.write("h.txt", CLOSED);
    folder.run(&["compile", "-o", "set", "--host", "h.example", "h.txt"]).says(0, &[]);
    folder.write("urls", "http://h.example/x\n".repeat(50_000));
    let classify = |output: &str| folder.run(&["classify", "set", "urls", "--agent", "a", "-o", output]).says(0, &[]);
    classify("plain");
    let plain = folder.read("plain");
    for (output, start) in [("v.gz", &[0x1f, 0x8b][..]), ("v.ZST", &[0x28, 0xb5, 0x2f, 0xfd])] {
        classify(output);
        let packed = folder.read(output);
        assert!(packed.starts_with(start) && packed.len() * 100 < plain.len(), "{output}: {} bytes", packed.len());
        // The compressed output can be read as input. Columns after the first are ignored.
        let again = folder.run(&["classify", "set", output, "--agent", "a"]).says(0, &[]);
        let lines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(lines(&again.stdout), lines(&plain));
    }
    assert_eq!(zstd::decode_all(&folder.read("v.ZST")[..]).unwrap(), plain);
    assert_eq!(classify("-").stdout, plain);
    folder.run(&["compile", "-o", "-", "--host", "h", "h.txt"]).says(2, &["--output: expected a file name"]);
    assert!(!folder.names().contains(&"-".to_owned()));
}

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

/// A case in `corpora/scope/cases.toml`.
#[derive(Deserialize)]
struct Case {
    robots: String,
    #[serde(default)]
    governs: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
}

/// Checks the cases in `corpora/scope`, with each robots.txt in a file whose path is its URL without the scheme.
#[test]
fn scope_cases_hold_for_folders_and_archives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/scope/cases.toml");
    let table: Table = toml::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (mut cases, mut urls, mut skipped) = (0, 0, Vec::new());
    for (number, case) in table.case.iter().enumerate() {
        let (scheme, place) = case.robots.split_once("://").unwrap_or(("", ""));
        let scheme = &*scheme.to_ascii_lowercase();
        // A fragment is not sent, and a path with an empty segment is not a file path.
        let place = place.split('#').next().unwrap();
        let is_path = !place.ends_with('/') && !place.contains("//") && place.contains('/') && !place.starts_with('/');
        if !is_path || !["http", "https", "ftp"].contains(&scheme) {
            skipped.push(&case.robots);
            continue;
        }
        let folder = Folder::new();
        // A second host, so that the input is not empty in any case.
        for name in [place, "filler.invalid/robots.txt"] {
            folder.write(&format!("input/{name}"), CLOSED);
        }
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_dir_all("input", folder.path("input")).unwrap();
        folder.write("input.tar", archive.into_inner().unwrap());
        let all: Vec<&str> = case.governs.iter().chain(&case.not).map(String::as_str).collect();
        for input in ["input", "input.tar"] {
            folder.run(&["compile", "--force", "-o", "set", input, "--scheme", scheme]);
            let run = folder.run_with(&["classify", "set", "--agent", "any-bot"], all.join("\n").as_bytes());
            assert!(matches!(run.code, Some(0 | 1)), "{number} {}: {run:?}", case.robots);
            let found: Vec<bool> = run.text().lines().map(|line| line.contains("\tdisallow")).collect();
            let expected: Vec<bool> = (0..all.len()).map(|index| index < case.governs.len()).collect();
            assert_eq!(found, expected, "{input} {} {all:?} {}", case.robots, run.stderr);
            urls += all.len();
        }
        cases += 1;
    }
    println!("{cases} cases, {urls} URLs; not paths of files: {skipped:?}");
    assert_eq!((cases, urls, skipped.len()), (26, 212, 4));
}
