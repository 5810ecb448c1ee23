//! Redirects and revisits in WARC files. The response may be in any input file, and the result does not depend on
//! order.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use wait4::Wait4;

use crate::support;
use support::{Folder, Run, binary, finish, gz};

const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const OPEN: &str = "User-agent: *\nAllow: /\n";
const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// A record to write: a header and a block.
#[derive(Clone)]
pub(crate) struct WrittenRecord {
    kind: &'static str,
    fields: String,
    block: String,
}

impl WrittenRecord {
    /// Returns a record for a URL at a minute of a day.
    fn new(kind: &'static str, url: &str, minute: u32, block: String) -> WrittenRecord {
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}.example/robots.txt") };
        let date = format!("2026-01-02T{:02}:{:02}:00Z", minute / 60, minute % 60);
        WrittenRecord { kind, fields: format!("WARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n"), block }
    }

    fn with(mut self, name: &str, value: &str) -> WrittenRecord {
        write!(self.fields, "{name}: {value}\r\n").unwrap();
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let WrittenRecord { kind, fields, block } = self;
        let length = block.len();
        format!("WARC/1.1\r\nWARC-Type: {kind}\r\n{fields}Content-Length: {length}\r\n\r\n{block}\r\n\r\n").into_bytes()
    }
}

/// Returns a 200 response for a host or a URL.
fn ok(url: &str, minute: u32, body: &str) -> WrittenRecord {
    WrittenRecord::new("response", url, minute, format!("HTTP/1.1 200 OK\r\n\r\n{body}"))
}

fn page(url: &str, minute: u32, media_type: &str, body: &str) -> WrittenRecord {
    WrittenRecord::new("response", url, minute, format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n{body}"))
}

fn redirect(url: &str, minute: u32, to: &str) -> WrittenRecord {
    let to = if to.contains("/") { to.to_owned() } else { format!("http://{to}.example/robots.txt") };
    WrittenRecord::new("response", url, minute, format!("HTTP/1.1 301 Moved\r\nLocation: {to}\r\n\r\n"))
}

fn revisit(url: &str, minute: u32, profile: &str, block: &str) -> WrittenRecord {
    WrittenRecord::new("revisit", url, minute, block.into()).with("WARC-Profile", profile)
}

fn identical(url: &str, minute: u32) -> WrittenRecord {
    revisit(url, minute, IDENTICAL, "HTTP/1.1 200 OK\r\n\r\n")
}

fn not_modified(url: &str, minute: u32) -> WrittenRecord {
    revisit(url, minute, NOT_MODIFIED, "HTTP/1.1 304 Not Modified\r\n\r\n")
}

/// Files with records, the verdict for each host's root, and the expected messages.
pub(crate) struct Case {
    pub name: &'static str,
    pub files: Vec<Vec<WrittenRecord>>,
    verdicts: Vec<(&'static str, &'static str)>,
    says: Vec<&'static str>,
}

pub(crate) fn cases() -> Vec<Case> {
    let case =
        |name, files: Vec<Vec<WrittenRecord>>, verdicts: &[(&'static str, &'static str)], says: &[&'static str]| Case {
            name,
            files,
            verdicts: verdicts.to_vec(),
            says: says.to_vec(),
        };
    let lost = "redirect to a URL that is not in the input";
    let revisited = "revisit of a capture that is not in the input";
    let ambiguous = "revisit that may refer to several different captures";
    let chain = |steps: usize| -> Vec<Vec<WrittenRecord>> {
        let step = |number: usize| match number {
            last if last == steps => ok(&format!("h{last}"), 9, CLOSED),
            _ => redirect(&format!("h{number}"), 9, &format!("h{}", number + 1)),
        };
        // Odd steps in one file, even steps in the other.
        let of = |rest| (0..=steps).rev().filter(|number| number % 2 == rest).map(step).collect();
        vec![of(0), of(1)]
    };
    let id = |record: WrittenRecord, id: &str| record.with("WARC-Record-ID", &format!("<urn:uuid:{id}>"));
    let digest = |record: WrittenRecord, digest: &str| record.with("WARC-Payload-Digest", digest);
    let refers = |record: WrittenRecord, id: &str| record.with("WARC-Refers-To", &format!("<urn:uuid:{id}>"));
    let refers_uri = |record: WrittenRecord, url: &str, date: &str| {
        record.with("WARC-Refers-To-Target-URI", url).with("WARC-Refers-To-Date", date)
    };
    vec![
        case("later file", vec![vec![redirect("a", 1, "b")], vec![ok("b", 2, CLOSED)]], &[("a", "disallow")], &[]),
        case("earlier file", vec![vec![ok("b", 2, CLOSED)], vec![redirect("a", 1, "b")]], &[("a", "disallow")], &[]),
        case("earlier in the file", vec![vec![ok("b", 1, CLOSED), redirect("a", 2, "b")]], &[("a", "disallow")], &[]),
        case(
            "missing target",
            vec![vec![redirect("a", 1, "gone"), ok("b", 1, CLOSED)], vec![redirect("c", 1, "gone")]],
            &[("a", "unknown"), ("b", "disallow"), ("c", "unknown")],
            &[
                "record 1 (http://a.example/robots.txt), to http://gone.example/robots.txt: left out: redirect to a URL",
                "left out: redirect to a URL that is not in the input 2",
            ],
        ),
        case("only a missing target", vec![vec![redirect("a", 1, "gone")]], &[("a", "unknown")], &[lost, "origins 0"]),
        case(
            "missing target and another capture",
            vec![vec![redirect("a", 2, "gone")], vec![ok("a", 1, CLOSED)]],
            &[("a", "disallow")],
            &[lost],
        ),
        case("a chain of 5", chain(5), &[("h0", "disallow"), ("h4", "disallow")], &[]),
        case(
            "a chain of 20",
            chain(20),
            &[("h0", "allow"), ("h14", "allow"), ("h15", "disallow")],
            &["everything allowed (too many redirects) 15"],
        ),
        case("a chain of 21", chain(21), &[("h0", "allow"), ("h16", "disallow")], &["(too many redirects) 16"]),
        case(
            "a loop over files",
            vec![vec![redirect("a", 1, "b")], vec![redirect("b", 2, "a"), redirect("c", 1, "c")]],
            &[("a", "allow"), ("b", "allow"), ("c", "allow")],
            &["everything allowed (too many redirects) 3"],
        ),
        case(
            "a redirect to itself, and then an answer",
            vec![vec![redirect("a", 1, "a"), ok("a", 1, CLOSED)]],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "an unusable Location",
            vec![vec![redirect("a", 1, "ftp://x/robots.txt"), redirect("b", 1, "http://[/")]],
            &[("a", "allow"), ("b", "allow")],
            &["everything allowed (301) 2"],
        ),
        case(
            "two redirects to one body",
            vec![
                vec![redirect("a", 1, "t"), redirect("b", 1, "t")],
                vec![redirect("c", 1, "t")],
                vec![ok("t", 1, CLOSED)],
            ],
            &[("a", "disallow"), ("b", "disallow"), ("c", "disallow")],
            &["files read 4\n"],
        ),
        case(
            "the next of several answers",
            vec![vec![ok("t", 1, OPEN), ok("t", 5, CLOSED)], vec![redirect("a", 3, "t")], vec![ok("t", 9, OPEN)]],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "the latest answer before it, without a next one",
            vec![vec![ok("t", 1, OPEN)], vec![redirect("a", 9, "t"), ok("t", 5, CLOSED)]],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "of simultaneous answers, the next in the file",
            vec![
                vec![ok("t", 3, OPEN)],
                vec![ok("t", 3, OPEN), redirect("a", 3, "t"), ok("t", 3, CLOSED)],
                vec![ok("t", 3, OPEN)],
            ],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "other URLs in other files",
            vec![
                vec![redirect("a", 1, "/files/rules"), redirect("b", 1, "/hop"), redirect("c", 1, "/index.html")],
                vec![
                    page("http://a.example/files/rules", 1, "text/plain", CLOSED),
                    redirect("http://b.example/hop", 1, "http://b.example/end#x"),
                    ok("http://b.example/end", 1, CLOSED),
                    page("http://c.example/index.html", 1, "text/html", "<html>"),
                ],
            ],
            &[("a", "disallow"), ("b", "disallow"), ("c", "unknown")],
            &["left out: redirect to a page that does not follow it in the same file 1"],
        ),
        case(
            "a page after it in the file",
            vec![vec![
                redirect("a", 1, "/hop"),
                redirect("http://a.example/hop", 1, "/index.html"),
                page("http://a.example/index.html", 1, "text/html", &format!("{CLOSED}{}", "#".repeat(100_000))),
            ]],
            &[("a", "disallow")],
            &["files read 1\n"],
        ),
        case(
            "a revisit by ID in a later file",
            vec![vec![refers(identical("a", 9), "1")], vec![id(ok("a", 1, CLOSED), "1"), id(ok("a", 2, OPEN), "2")]],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "a revisit by URI and date",
            vec![
                vec![ok("a", 1, CLOSED)],
                vec![refers_uri(identical("a", 9), "http://a.example/robots.txt", "2026-01-02T00:01:00Z")],
                vec![ok("a", 2, OPEN)],
            ],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "a revisit by digest, whose algorithm is in any letter case",
            vec![
                vec![digest(ok("a", 1, CLOSED), "sha1:AAAA"), digest(identical("a", 9), "SHA1:AAAA")],
                vec![digest(ok("a", 2, OPEN), "sha1:BBBB")],
            ],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "a digest does not refer to another site",
            vec![vec![digest(ok("evil", 1, OPEN), "sha1:AAAA")], vec![digest(identical("a", 9), "sha1:AAAA")]],
            &[("a", "unknown"), ("evil", "allow")],
            &[
                "record 1 (http://a.example/robots.txt): left out: revisit of a capture",
                "capture that is not in the input 1",
            ],
        ),
        case(
            "another site needs a reference and the same digest",
            vec![
                vec![digest(id(ok("b", 1, CLOSED), "1"), "sha1:AAAA"), id(ok("c", 1, OPEN), "2")],
                vec![
                    digest(
                        refers_uri(identical("a", 9), "http://b.example/robots.txt", "2026-01-02T00:01:00Z"),
                        "sha1:AAAA",
                    ),
                    digest(
                        refers_uri(identical("d", 9), "http://c.example/robots.txt", "2026-01-02T00:01:00Z"),
                        "sha1:AAAA",
                    ),
                    refers_uri(identical("e", 9), "http://c.example/robots.txt", "2026-01-02T00:01:00Z"),
                ],
            ],
            &[("a", "disallow"), ("d", "unknown"), ("e", "unknown")],
            &["capture that is not in the input 2"],
        ),
        case(
            "a reference whose digest differs",
            vec![vec![
                digest(id(ok("a", 1, OPEN), "1"), "sha1:AAAA"),
                digest(refers(identical("a", 9), "1"), "sha1:BBBB"),
                digest(id(ok("b", 1, OPEN), "2"), "sha1:AAAA"),
                digest(refers(identical("b", 9), "2"), "sha256:AAAA"),
            ]],
            &[("a", "allow"), ("b", "allow")],
            &["capture that is not in the input 2", "files read 2\n"],
        ),
        case(
            "not modified, with the earlier status and body",
            vec![
                vec![refers(not_modified("a", 9), "1"), refers(not_modified("b", 9), "2")],
                vec![
                    id(ok("a", 1, CLOSED), "1"),
                    id(WrittenRecord::new("response", "b", 1, "HTTP/1.1 404 Not Found\r\n\r\n".into()), "2"),
                ],
            ],
            &[("a", "disallow"), ("b", "allow")],
            &["everything allowed (404) 1"],
        ),
        case(
            "revisits without their captures",
            vec![vec![identical("a", 1), not_modified("b", 1), refers(not_modified("c", 1), "1"), ok("d", 1, CLOSED)]],
            &[("a", "unknown"), ("b", "unknown"), ("c", "unknown"), ("d", "disallow")],
            &["capture that is not in the input 3", "files read 1\n"],
        ),
        case(
            "a 304 response that is not a revisit record",
            vec![vec![
                WrittenRecord::new("response", "a", 9, "HTTP/1.1 304 Not Modified\r\n\r\n".into()),
                ok("b", 1, CLOSED),
            ]],
            &[("a", "unknown")],
            &[revisited],
        ),
        case(
            "the status and header of the revisit",
            vec![
                vec![refers(revisit("a", 9, IDENTICAL, "HTTP/1.1 404 Gone\r\n\r\n"), "1"), id(ok("a", 1, CLOSED), "1")],
                // Without its own header, the revisit has the original capture's status.
                vec![refers(revisit("b", 9, IDENTICAL, ""), "2"), id(ok("b", 1, CLOSED), "2")],
                // Chunking, compression and truncation come from the original record, not from the revisit.
                vec![
                    refers(
                        revisit("c", 9, IDENTICAL, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
                            .with("WARC-Truncated", "length"),
                        "3",
                    ),
                    id(ok("c", 1, "User-agent: *\nDisallow: /"), "3"),
                ],
            ],
            &[("a", "allow"), ("b", "disallow"), ("c", "disallow")],
            &["everything allowed (404) 1"],
        ),
        case(
            "a revisit of a revisit",
            vec![
                vec![id(refers(not_modified("a", 8), "1"), "2")],
                vec![refers(identical("a", 9), "2")],
                vec![id(ok("a", 1, CLOSED), "1")],
            ],
            &[("a", "disallow")],
            &["files read 3\n"],
        ),
        case(
            "revisits that refer to each other",
            vec![vec![id(refers(identical("a", 8), "2"), "1"), id(refers(identical("a", 9), "1"), "2")]],
            &[("a", "unknown")],
            &["capture that is not in the input 2"],
        )
        .with_a_capture(),
        case(
            "a redirect to a revisit",
            vec![vec![redirect("a", 9, "b")], vec![refers(identical("b", 9), "1")], vec![id(ok("b", 1, CLOSED), "1")]],
            &[("a", "disallow"), ("b", "disallow")],
            &["files read 3\n"],
        ),
        case(
            "a revisit of a redirect",
            vec![
                vec![refers(not_modified("a", 9), "1"), ok("t", 1, CLOSED)],
                vec![id(redirect("a", 1, "t"), "1")],
                vec![revisit("b", 9, IDENTICAL, "HTTP/1.1 302 Found\r\nLocation: http://t.example/robots.txt\r\n\r\n")],
            ],
            &[("a", "disallow"), ("b", "disallow")],
            &["files read 4\n"],
        ),
        case(
            "one ID, different captures",
            vec![
                vec![id(ok("a", 60, CLOSED), "1"), id(ok("a", 61, OPEN), "1")],
                vec![refers(not_modified("a", 180), "1")],
            ],
            &[("a", "allow")],
            &[ambiguous],
        ),
        case(
            "one ID, different captures, and the date of one",
            vec![
                vec![id(ok("a", 60, CLOSED), "1"), id(ok("a", 61, OPEN), "1")],
                vec![refers_uri(
                    refers(not_modified("a", 180), "1"),
                    "http://a.example/robots.txt",
                    "2026-01-02T01:00:00Z",
                )],
            ],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "one ID, two copies",
            vec![
                vec![id(ok("a", 60, CLOSED), "1"), id(ok("a", 61, OPEN), "2")],
                vec![id(ok("a", 60, CLOSED), "1"), refers(not_modified("a", 180), "1")],
            ],
            &[("a", "disallow")],
            &[],
        ),
        case(
            "one date, different captures",
            vec![vec![
                ok("a", 60, CLOSED),
                ok("a", 60, OPEN),
                ok("a", 100, OPEN),
                refers_uri(not_modified("a", 180), "http://a.example/robots.txt", "2026-01-02T01:00:00Z"),
            ]],
            &[("a", "allow")],
            &[ambiguous],
        ),
    ]
}

impl Case {
    /// Adds a capture, without which there is nothing to compile.
    fn with_a_capture(mut self) -> Case {
        self.files[0].push(ok("some", 1, CLOSED));
        self
    }
}

fn compile(folder: &Folder, names: &[String], threads: &str, memory: &str) -> Run {
    let args = ["compile", "--force", "-o", "set", "--threads", threads, "--memory", memory];
    let names = names.iter().map(String::as_str);
    folder.run(&args.into_iter().chain(names).collect::<Vec<_>>())
}

fn write(folder: &Folder, files: &[Vec<WrittenRecord>]) -> Vec<String> {
    let write = |(number, records): (usize, &Vec<WrittenRecord>)| {
        let name = format!("{number}.warc.gz");
        folder.write(&name, records.iter().flat_map(|record| gz(&record.bytes())).collect::<Vec<u8>>());
        name
    };
    files.iter().enumerate().map(write).collect()
}

fn messages(run: &Run) -> String {
    run.stderr.lines().filter(|line| !line.starts_with("time ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn redirects_and_revisits_are_resolved_across_files_in_any_order() {
    let cases = cases();
    for Case { name, files, verdicts, says } in &cases {
        let folder = Folder::new();
        let mut names = write(&folder, files);
        let first = compile(&folder, &names, "1", "2G").says(0, says);
        let set = folder.read("set");
        let urls: Vec<String> = verdicts.iter().map(|(host, _)| format!("http://{host}.example/")).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let expected: Vec<&str> = verdicts.iter().map(|(_, verdict)| *verdict).collect();
        assert_eq!(folder.verdicts("set", &urls), expected, "{name}: {first:?}");
        for (threads, memory) in [("8", "2G"), ("3", "600M"), ("1", "16M")] {
            let run = compile(&folder, &names, threads, memory);
            assert_eq!(messages(&run), messages(&first), "{name}: {threads} {memory}");
            assert!(folder.read("set") == set, "{name}: {threads} {memory}");
        }
        names.reverse();
        compile(&folder, &names, "8", "2G").says(0, says);
        assert!(folder.read("set") == set, "{name}: in another order");
        // All records in one file, compressed together.
        let all: Vec<u8> = files.iter().flatten().flat_map(WrittenRecord::bytes).collect();
        if !name.contains("page") && !name.contains("other URLs") {
            folder.write("all.warc", all);
            compile(&folder, &["all.warc".into()], "1", "2G").says(0, &[]);
            assert_eq!(folder.verdicts("set", &urls), expected, "{name}: in one file");
        }
    }
    assert_eq!(cases.len(), 36);
}

#[test]
fn an_update_resolves_its_own_inputs_and_counts_the_unresolved() {
    let folder = Folder::new();
    let names = write(
        &folder,
        &[
            vec![redirect("a", 1, "gone"), ok("old", 1, CLOSED)],
            vec![redirect("b", 1, "t"), redirect("c", 1, "old")],
            vec![ok("t", 2, CLOSED)],
        ],
    );
    folder.run(&["compile", "-o", "set", &names[0]]).says(0, &["redirect to a URL that is not in the input 1\n"]);
    let run = folder.run(&["update", "set", &names[1], &names[2], "-o", "new"]);
    // The target of `c` is in the set, which has no bodies.
    run.says(0, &["redirect to a URL that is not in the input 1\n", "unresolved redirects and revisits in them 1\n"]);
    let urls = ["http://a.example/", "http://b.example/", "http://c.example/", "http://old.example/"];
    assert_eq!(folder.verdicts("new", &urls), ["unknown", "disallow", "unknown", "disallow"]);
    // Merging adds up the parts' counts, and reports unknown ones.
    folder.run(&["compile", "-o", "part", &names[1]]).says(0, &["not in the input 2\n"]);
    folder.run(&["merge", "set", "part", "-o", "both"]).says(0, &["unresolved redirects and revisits in them 3\n"]);
    std::fs::remove_file(folder.path("part.made.json")).unwrap();
    let text = "unresolved redirects and revisits in them 2, not recorded for 1 of the sets\n";
    folder.run(&["merge", "--force", "new", "part", "-o", "both"]).says(0, &[text]);
    for (set, has_count) in [("new", true), ("both", false)] {
        let run = folder.run(&["inspect", set]);
        let text = format!("{}{}", run.text(), run.stderr);
        assert_eq!(text.contains("unresolved redirects and revisits"), has_count, "{text}");
    }
}

/// In a set by time, each capture has its own time, wherever its body was.
#[test]
fn a_revisit_counts_at_its_own_time() {
    let folder = Folder::new();
    let names = write(
        &folder,
        &[
            vec![ok("a", 60, CLOSED).with("WARC-Record-ID", "<x>"), ok("a", 120, OPEN), redirect("b", 60, "a")],
            vec![not_modified("a", 180).with("WARC-Refers-To", "<x>"), redirect("b", 120, "a")],
        ],
    );
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    folder.run(&[&["compile", "--by-time", "-o", "set"][..], &names].concat()).says(0, &["captures by time 5\n"]);
    let rows: String = ["a", "b"]
        .iter()
        .flat_map(|host| [90, 150, 200].map(|minute| (host, minute)))
        .map(|(host, minute): (_, u32)| {
            format!("http://{host}.example/\t2026-01-02T{:02}:{:02}:00Z\n", minute / 60, minute % 60)
        })
        .collect();
    let args = ["classify", "set", "--agent", "x", "--at", "{2}"];
    let run = folder.run_with(&args, rows.as_bytes());
    let verdicts: Vec<String> =
        run.text().lines().map(|line| line.split('\t').nth(1).unwrap_or(line).to_owned()).collect();
    assert_eq!(verdicts, ["disallow", "allow", "disallow", "disallow", "allow", "allow"], "{run:?}");
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let folder = Folder::new();
    write(&folder, &[vec![redirect("a", 1, "b"), ok("c", 1, CLOSED)], vec![ok("b", 1, CLOSED), redirect("d", 1, "c")]]);
    let mut bash = Command::new("bash");
    bash.args(["-c", "exec \"$@\" < 1.warc.gz", "bash"]).arg(binary());
    bash.args(["compile", "-o", "set", "0.warc.gz", "-"]).current_dir(folder.path("."));
    finish(bash).says(0, &[]);
    assert_eq!(folder.verdicts("set", &["http://a.example/", "http://d.example/"]), ["disallow", "disallow"]);
}

/// Many redirects and bodies exceed the memory limit. Their temporary files are deleted.
#[test]
fn data_over_the_memory_limit_goes_to_temporary_files() {
    let folder = Folder::new();
    let body = |number: usize| format!("User-agent: *\nDisallow: /{number}\n# {}\n", "x".repeat(500));
    let count = 4000;
    let redirects = (0..count).map(|number| redirect(&format!("r{number}"), 1, &format!("t{}", number * 7 % count)));
    let answers = (0..count).map(|number| ok(&format!("t{number}"), 2, &body(number)));
    let names = write(&folder, &[redirects.collect(), answers.collect()]);
    let first = compile(&folder, &names, "2", "2G").says(0, &["files read 8,000\n"]);
    let set = folder.read("set");
    let run = compile(&folder, &names, "2", "16M");
    assert_eq!(messages(&run), messages(&first));
    assert!(folder.read("set") == set);
    let urls = ["http://r3.example/21", "http://r3.example/20"];
    assert_eq!(folder.verdicts("set", &urls), ["disallow", "allow"]);
    assert_eq!(folder.names(), ["0.warc.gz", "1.warc.gz", "set", "set.made.json"]);
}

/// A body that takes long to parse is parsed once, even if many redirects lead to it. The test measures processor time,
/// which other programs hardly affect.
#[test]
fn redirects_to_one_body_cost_one_parse() {
    let folder = Folder::new();
    let line = |number: usize| format!("User-agent: a{number}\nDisallow: /{number}*x*y$\n");
    let body: String = (0..150_000).map(line).collect();
    let time = |count: usize| {
        let redirects = (0..count).map(|number| redirect(&format!("r{number}"), 1, "t"));
        let records: Vec<WrittenRecord> = redirects.chain([ok("t", 1, &body)]).collect();
        folder.write("all.warc", records.iter().flat_map(WrittenRecord::bytes).collect::<Vec<u8>>());
        let child = folder.command(&["compile", "--force", "-o", "set", "all.warc"]).spawn().unwrap();
        let used = child.wait4().unwrap();
        assert!(used.status.success());
        used.rusage.utime
    };
    let (one, many) = (time(1), time(10_000));
    assert!(many < one * 4 + Duration::from_secs(4), "{one:?} {many:?}");
    assert_eq!(folder.verdicts("set", &["http://r9999.example/"]), ["allow"]);
}

/// A record found by a search may be forged by a website, so it decides for no other site.
#[test]
fn an_untrusted_record_is_not_a_redirect_target() {
    let folder = Folder::new();
    let good = redirect("victim", 0, "target").bytes();
    let damaged = b"WARC/1.1\r\nWARC-Type: response\r\n\r\n".to_vec();
    folder.write("a.warc", [good, damaged, ok("target", 1, OPEN).bytes()].concat());
    folder
        .run(&["compile", "--resync", "-o", "set", "a.warc"])
        .says(1, &["redirect to a URL that is not in the input  1"]);
    let urls = ["http://victim.example/", "http://target.example/"];
    assert_eq!(folder.verdicts("set", &urls), ["unknown", "allow"]);
}
