//! `reptile compile` and `verify` from end to end: each kind of input, each wrong one, and what is left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod support;

use support::{Folder, binary, finish, gz};

/// The verdict for each URL from a set or input.
fn verdicts(folder: &Folder, set: &str, urls: &[&str]) -> Vec<String> {
    let run = folder.run_with(&["classify", set, "--agent", "bot-a"], urls.join("\n").as_bytes()).says(0, &[]);
    run.text().lines().map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn a_folder_names_hosts_and_ports() {
    let folder = Folder::new();
    folder.robots();
    folder.write("robots/.hidden", "User-agent: *\nDisallow: /\n");
    folder.write("robots/.git/config", "");
    let run = folder.run(&["compile", "-o", "set", "robots"]);
    run.says(0, &["files read", "origins  6\n", "left out: hidden  2\n", "policies  3\n"]);
    let urls = [
        "http://a.example/private/x",
        "https://a.example/private/open",
        "http://A.EXAMPLE:80/private",
        "http://a.example:81/",
        "http://b.example/",
        "https://c.example:8080/",
        "http://c.example/",
        "ftp://a.example/",
        "http://hidden/",
    ];
    let expected = ["disallow", "allow", "disallow", "unknown", "disallow", "allow", "unknown", "unknown", "unknown"];
    assert_eq!(verdicts(&folder, "set", &urls), expected);
    folder.run(&["verify", "set"]).says(0, &[]);
    let text = folder.run(&["verify", "set"]).text();
    assert_eq!(text, format!("set: valid, 6 origins, 4 rulesets, {} bytes\n", with_comma(folder.read("set").len())));
    assert_eq!(folder.names(), ["robots", "set", "set.made.json"]);
}

fn with_comma(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

#[test]
fn schemes_can_be_chosen() {
    let folder = Folder::new();
    folder.robots();
    folder.run(&["compile", "-o", "set", "robots", "--scheme", "ftp", "--scheme", "https"]).says(0, &[]);
    let urls = ["http://b.example/", "https://b.example/", "ftp://b.example/", "ftp://c.example:8080/"];
    assert_eq!(verdicts(&folder, "set", &urls), ["unknown", "disallow", "disallow", "allow"]);
}

#[test]
fn the_order_of_threads_does_not_show() {
    let folder = Folder::new();
    for number in 0..300 {
        folder.write(&format!("robots/h{number}.example"), format!("User-agent: *\nDisallow: /{}\n", number % 50));
    }
    for (set, threads, strategy) in [("s1", "1", "factored"), ("s2", "4", "factored"), ("s3", "4", "fallback")] {
        let args = ["compile", "-o", set, "robots", "--threads", threads, "--strategy", strategy];
        folder.run(&args).says(0, &["origins  600\n", "distinct rulesets  50\n"]);
    }
    assert_eq!(folder.read("s1"), folder.read("s2"));
    let urls: Vec<String> = (0..300).map(|number| format!("http://h{number}.example/7")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    assert_eq!(verdicts(&folder, "s1", &urls), verdicts(&folder, "s3", &urls));
    assert_eq!(verdicts(&folder, "s1", &urls).iter().filter(|&verdict| verdict == "disallow").count(), 6);
}

fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, body) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(body.len() as u64);
        header.set_mode(0o644);
        // Written in place, since the crate refuses names such as these.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, body.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn archives_read_as_folders_do() {
    let folder = Folder::new();
    let archive = tar(&[
        ("./b.example/robots.txt", "User-agent: *\nDisallow: /\n"),
        ("./._b.example", "Disallow: /"),
        ("c.example:81", "User-agent: *\nDisallow: /c\n"),
    ]);
    folder.write("r.tar", &archive);
    folder.write("r.tar.gz", gz(&archive));
    let urls = ["http://b.example/", "https://c.example:81/c", "https://c.example/c"];
    for input in ["r.tar", "r.tar.gz"] {
        folder.run(&["compile", "--force", "-o", "set", input]).says(0, &["files read  2\n", "hidden"]);
        assert_eq!(verdicts(&folder, "set", &urls), ["disallow", "disallow", "unknown"]);
        assert_eq!(verdicts(&folder, input, &urls), ["disallow", "disallow", "unknown"]);
    }
    // An archive that is cut is refused.
    let packed = gz(&archive);
    folder.write("cut.tar.gz", &packed[..packed.len() / 2]);
    folder.run(&["compile", "-o", "cut", "cut.tar.gz"]).says(2, &["cut.tar.gz: the archive cannot be read"]);
    folder.write("no.tgz", "this is not an archive");
    folder.run(&["compile", "-o", "cut", "no.tgz"]).says(2, &["no.tgz: the archive cannot be read"]);
    assert!(!folder.names().contains(&"cut".to_owned()));
}

#[test]
fn a_folder_too_many_is_remarked_on() {
    let folder = Folder::new();
    folder.write("r.tar", tar(&[("top/a.example", "User-agent: *\nDisallow: /\n"), ("top/b.example", "")]));
    let run = folder.run(&["compile", "-o", "set", "r.tar"]);
    run.says(
        0,
        &[
            "r.tar: all 2 files are below \"top\"",
            "discarded: there is a later or a better one  2\n",
            "discarded: http://top/robots.txt: there is",
        ],
    );
}

#[test]
fn json_lines_say_origin_and_status() {
    let folder = Folder::new();
    let lines = [
        r#"{"url": "https://a.example/robots.txt", "status": 200, "body": "User-agent: *\nDisallow: /\n", "more": [1]}"#,
        r#"{"url": "http://b.example:8080/robots.txt", "body": "User-agent: *\nDisallow: /b\n"}"#,
        r#"{"url": "http://c.example/robots.txt", "status": 404, "body": null}"#,
        r#"{"url": "http://d.example/robots.txt", "status": 404}"#,
        r#"{"url": "http://e.example/robots.txt", "status": 503, "body": "User-agent: *\nDisallow: /\n"}"#,
        "",
        r#"{"url": "http://f.example/robots.txt", "status": 299, "body": ""}"#,
    ]
    .join("\n");
    folder.write("good.jsonl", &lines);
    folder.write("good.ndjson.gz", gz(lines.as_bytes()));
    let urls = [
        "https://a.example/",
        "http://a.example/",
        "http://b.example:8080/b",
        "http://c.example/",
        "http://e.example/",
        "http://f.example/",
    ];
    let expected = ["disallow", "unknown", "disallow", "allow", "disallow", "allow"];
    for input in ["good.jsonl", "good.ndjson.gz"] {
        let run = folder.run(&["compile", "--force", "-o", "set", input]);
        run.says(0, &["files read  6\n", "everything allowed (404)  2\n", "everything disallowed (503)  1\n"]);
        assert_eq!(verdicts(&folder, "set", &urls), expected);
    }
    let bad = [
        r#"{"url": "http://g.example/robots.txt", "body": 5}"#,
        r#"{"url": "http://g.example/robots.txt"}"#,
        r#"{"url": "http://g.example/other", "body": ""}"#,
        r#"{"url": "g.example", "body": ""}"#,
        "not json",
        r#"{"body": ""}"#,
        r#"{"url": "http://g.example/robots.txt", "body": ""}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 99999}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 99}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 1000}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "redirects": -1}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "redirects": [1]}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "time": "yesterday"}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "time": 253402128001}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "time": 1.5}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "truncated": "half"}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": {"cache-control": 5}}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": []}"#,
        r#"{"url": "http://[::1/robots.txt", "status": 404}"#,
        r#"{"url": "http://1.2.3.4.5/robots.txt", "status": 404}"#,
        r#"["http://g.example/robots.txt", 404, null, null, null, null, null, null]"#,
        r#"{"url": "http://g.example/robots.txt", "status": "404"}"#,
    ];
    folder.write("bad.jsonl", bad.join("\n"));
    folder.run(&["compile", "--force", "-o", "set", "bad.jsonl"]).says(
        1,
        &[
            "bad.jsonl:1: not a valid capture: invalid type: integer `5`, expected a string",
            "bad.jsonl:2: no body",
            "bad.jsonl:3: not the url of a robots.txt: \"http://g.example/other\"",
            "bad.jsonl:4: no valid url: \"g.example\"",
            "bad.jsonl:5: not a valid capture: expected ident (column 2)",
            "bad.jsonl:6: not a valid capture: missing field `url`",
            "bad.jsonl:8: not a valid capture: expected a status, a number from 100 to 999",
            "bad.jsonl:9: no valid status: expected a number from 100 to 999, found 99",
            "bad.jsonl:10: no valid status: expected a number from 100 to 999, found 1000",
            "bad.jsonl:11: not a valid capture: invalid type: integer `-1`, expected the number of redirects",
            "bad.jsonl:12: not a valid capture: invalid type: integer `1`, expected",
            "bad.jsonl:13: not a valid capture: expected a time such as 2026-03-14T15:09:26Z, found \"yesterday\"",
            "bad.jsonl:14: not a valid capture: expected a time in the years 1 to 9999, found 253402128001",
            "bad.jsonl:15: not a valid capture: expected a time: seconds since 1970, or a text",
            "bad.jsonl:16: not a valid capture: invalid value: string \"half\", expected true, false, \"length\"",
            "bad.jsonl:17: not a valid capture: expected the text of a header field",
            "bad.jsonl:18: not a valid capture: invalid type: sequence, expected an object of header fields",
            "bad.jsonl:19: no valid url: \"http://[::1/robots.txt\"",
            "bad.jsonl:20: no valid url: \"http://1.2.3.4.5/robots.txt\"",
            "bad.jsonl:21: not a valid capture: expected an object, found a list",
            "bad.jsonl:22: not a valid capture: expected a status, a number from 100 to 999",
            "skipped: not a valid capture  14\n",
            "skipped: no valid status  2\n",
            "files read  1\n",
        ],
    );
    folder.write("only.jsonl", r#"{"url": "http://c.example/robots.txt", "status": 404}"#);
    folder.run(&["compile", "-o", "only", "only.jsonl"]).says(0, &["everything allowed (404)  1\n"]);
    assert_eq!(verdicts(&folder, "only", &["http://c.example/"]), ["allow"]);
}

/// Captures of some origins, out of order.
const CAPTURES: &str = r#"{"url": "http://a.example/robots.txt", "time": "2026-02-01T00:00:00Z", "status": 503}
{"url": "http://a.example/robots.txt", "time": "2026-01-31", "body": "User-agent: *\nDisallow: /x\n"}
{"url": "http://a.example/robots.txt", "time": 1767225600, "body": "User-agent: *\nDisallow: /\n"}
{"url": "http://b.example/robots.txt", "time": "2026-02-01T00:00:00Z", "error": "connection reset", "body": null}
{"url": "http://c.example/robots.txt", "time": "2026-02-01T00:00:00Z", "status": 403}
{"url": "http://d.example/robots.txt", "time": "2026-02-01T00:00:00Z", "redirects": 6, "body": ""}
{"url": "http://e.example/robots.txt", "time": "2026-01-01T00:00:00Z", "headers": {"CACHE-control": ["public", "max-age=60"], "Content-Type": "text/html", "x": 1}, "body": "<p>"}
{"url": "http://f.example/robots.txt", "truncated": "length", "body": "User-agent: *\nDisallow: /f\nAllow: /"}
"#;

const CAPTURE_URLS: [&str; 7] = [
    "http://a.example/x",
    "http://a.example/y",
    "http://b.example/",
    "http://c.example/",
    "http://d.example/",
    "http://e.example/",
    "http://f.example/f",
];

/// The last column for each of [`CAPTURE_URLS`].
fn reasons(folder: &Folder, args: &[&str]) -> Vec<String> {
    let args = [&["classify"], args, &["--agent", "any", "--reason"]].concat();
    let run = folder.run_with(&args, CAPTURE_URLS.join("\n").as_bytes()).says(0, &[]);
    let columns = |line: &str| line.split('\t').skip(1).collect::<Vec<_>>().join(": ");
    run.text().lines().map(columns).collect()
}

#[test]
fn a_profile_says_what_captures_mean() {
    let folder = Folder::new();
    folder.write("c.jsonl", CAPTURES);
    folder.run(&["compile", "-o", "set", "c.jsonl"]).says(
        0,
        &[
            "files read  8\n",
            "origins  6\n",
            "the last good copy (503)  1\n",
            "everything allowed (403)  1\n",
            "everything allowed (too many redirects)  1\n",
            "everything disallowed (network error)  1\n",
            "no longer fresh  1\n",
            "discarded: there is a later or a better one  1\n",
            "discarded: failed, the answer before it is kept  1\n",
            "discarded: http://a.example/robots.txt, fetched 2026-01-01T00:00:00Z: there is a later or a better one\n",
            "discarded: http://a.example/robots.txt, fetched 2026-02-01T00:00:00Z, status 503: failed, the answer",
        ],
    );
    let google = [
        "disallow: rule of the last good copy, now 503",
        "allow: no rule of the last good copy matches, now 503",
        "disallow: network error",
        "allow: 403",
        "allow: too many redirects",
        "allow: no rule matches",
        "disallow: rule",
    ];
    assert_eq!(reasons(&folder, &["set"]), google);
    assert_eq!(reasons(&folder, &["c.jsonl"]), google);
    assert_eq!(reasons(&folder, &["c.jsonl", "--profile", "google"]), google);
    let yandex = [
        "allow: 503",
        "allow: 503",
        "allow: network error",
        "allow: 403",
        "allow: too many redirects",
        "allow: not a text file",
        "disallow: rule",
    ];
    assert_eq!(reasons(&folder, &["c.jsonl", "--profile", "yandex"]), yandex);
    let nutch = reasons(&folder, &["c.jsonl", "--profile", "nutch"]);
    assert_eq!(nutch[..3], ["disallow: 503", "disallow: 503", "allow: network error"]);
    let commons = reasons(&folder, &["c.jsonl", "--profile", "crawler-commons"]);
    assert_eq!(commons[2..5], ["disallow: network error", "allow: 403", "disallow: too many redirects"]);
    // The dialect brings its own.
    assert_eq!(reasons(&folder, &["c.jsonl", "--dialect", "koster-1996"])[3], "disallow: 403");
    assert_eq!(reasons(&folder, &["c.jsonl", "--dialect", "koster-1996", "--profile", "rfc9309"])[3], "allow: 403");

    // As of another day.
    let then = reasons(&folder, &["c.jsonl", "--at", "2026-01-15"]);
    assert_eq!(then[..3], ["disallow: rule", "disallow: rule", "unknown: no robots.txt is known"]);
    let later = reasons(&folder, &["c.jsonl", "--at", "2026-03-04T00:00:00Z"]);
    assert_eq!(later[0], "allow: unreachable for more than 30 days");
    let run = folder.run(&["compile", "-o", "then", "c.jsonl", "--at", "2026-01-15"]);
    run.says(0, &["discarded: fetched after the time asked for  5\n"]);
    let run = folder.run(&["compile", "-o", "future", "c.jsonl", "--at", "9000-01-01"]);
    run.says(0, &["the set is for 9000-01-01T00:00:00Z, which is in the future", "as of  9000-01-01T00:00:00Z\n"]);
    folder.run(&["compile", "-o", "x", "c.jsonl", "--at", "now"]).says(2, &["expected a time such as"]);
    folder.run(&["compile", "-o", "x", "c.jsonl", "--profile", "yahoo"]).says(2, &["possible values: google,"]);
    folder.run(&["classify", "set", "--agent", "a", "--at", "0"]).says(2, &["is a compiled set", "--at"]);

    // Both kinds of columns, the old ones first; and a line that is no URL.
    let args = ["classify", "set", "--agent", "any", "--explain", "--reason"];
    let run = folder.run_with(&args, b"http://a.example/x\nhttp://b.example/\n\n").says(0, &[]);
    let expected = "http://a.example/x\tdisallow\t2\tDisallow: /x\trule of the last good copy, now 503\n\
                    http://b.example/\tdisallow\t0\t\tnetwork error\n\tinvalid\t0\t\tno URL\n";
    assert_eq!(run.text(), expected);
    let inspect = |host: &str| folder.run(&["inspect", "set", host]).says(0, &[]).text();
    assert!(inspect("a.example").contains("\n  the last good copy: 503\n  group: *\n"));
    assert!(inspect("b.example").ends_with("\n  everything is disallowed: network error\n"));
    assert!(inspect("c.example").ends_with("\n  everything is allowed: 403\n"));
}

#[test]
fn the_order_of_captures_does_not_show() {
    let folder = Folder::new();
    let mut lines: Vec<&str> = CAPTURES.lines().collect();
    folder.write("1.jsonl", lines.join("\n"));
    lines.reverse();
    folder.write("2.jsonl", lines.join("\n"));
    folder.write("3.jsonl", lines[..3].join("\n"));
    folder.write("4.jsonl", lines[3..].join("\n"));
    let notes =
        |run: support::Run| run.stderr.lines().filter(|line| !line.contains("time")).collect::<Vec<_>>().join("\n");
    let first = notes(folder.run(&["compile", "-o", "s1", "1.jsonl"]).says(0, &[]));
    for (set, inputs) in [("s2", &["2.jsonl"][..]), ("s3", &["3.jsonl", "4.jsonl"]), ("s4", &["4.jsonl", "3.jsonl"])] {
        let run = folder.run(&[&["compile", "-o", set], inputs].concat()).says(0, &[]);
        assert_eq!(notes(run), first);
        assert_eq!(folder.read(set), folder.read("s1"), "{set}");
    }
}

#[test]
fn many_redirects_are_counted_and_not_kept() {
    let folder = Folder::new();
    let list = vec![r#""http://a.example/robots.txt""#; 1_000_000].join(",");
    folder.write("c.jsonl", format!(r#"{{"url": "http://a.example/robots.txt", "redirects": [{list}], "body": ""}}"#));
    folder.run(&["compile", "-o", "set", "c.jsonl"]).says(0, &["everything allowed (too many redirects)  1\n"]);
    folder.write("d.jsonl", r#"{"url": "http://a.example/robots.txt", "redirects": 18446744073709551615, "body": ""}"#);
    folder.run(&["compile", "-o", "d", "d.jsonl"]).says(0, &["everything allowed (too many redirects)  1\n"]);
}

/// A host has one meaning for every command, whichever way it is written.
#[test]
fn hosts_beyond_ascii_are_known_in_all_their_forms() {
    let folder = Folder::new();
    folder.write("robots/www.exämple.com", "User-agent: *\nDisallow: /x\n");
    folder.write("robots/[0::1]", "User-agent: *\nDisallow: /x\n");
    folder.write(
        "c.jsonl",
        "{\"url\": \"http://b\u{fc}cher.example/robots.txt\", \"body\": \"User-agent: *\\nDisallow: /x\\n\"}",
    );
    let names = ["www.exämple.com", "WWW.EXÄMPLE.COM", "www.xn--exmple-cua.com", "www.ex%C3%A4mple.com.", "[::1]"];
    folder.run(&["compile", "-o", "set", "robots", "c.jsonl"]).says(0, &["origins  5\n"]);
    let urls: Vec<String> = names.iter().map(|name| format!("http://u@{name}:80/x")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).chain(["http://B%C3%9Ccher.example/x"]).collect();
    for set in ["set", "robots"] {
        let found = verdicts(&folder, set, &urls);
        assert_eq!(found[..5], ["disallow"; 5], "{set}");
        assert_eq!(found[5] == "disallow", set == "set");
    }
    for name in names {
        folder.write("cases.tsv", format!("{name}\tany\t/x\tDISALLOW\t2\n"));
        folder.run(&["check", "cases.tsv", "--robots", "robots"]).says(0, &["1 checked, 0 verdict differences"]);
        let listing = folder.run(&["inspect", "set", name]).says(0, &[]).text();
        assert!(listing.contains("Disallow: /x"), "{name}");
    }
    folder.run(&["inspect", "set", "exämple.com"]).says(1, &["no robots.txt is known"]);
    folder.run(&["inspect", "set", "1.2.3.4.5"]).says(2, &["no valid host"]);
    assert_eq!(verdicts(&folder, "set", &["http://exämple.com/x", "http://a\u{200d}b/"]), ["unknown", "unknown"]);
}

#[test]
fn bad_files_are_named_and_left_out() {
    let folder = Folder::new();
    folder.write("robots/good.example", "");
    folder.write("robots/bad host", "");
    folder.write("robots/bad:port", "");
    folder.write("robots/robots.txt", "");
    let limit = reptile_compiler::limits::MAX_BODY_BYTES;
    folder.write("robots/max.example", vec![b'\n'; limit]);
    folder.write("robots/over.example", vec![b'\n'; limit + 1]);
    folder.run(&["compile", "-o", "set", "robots"]).says(
        1,
        &[
            "robots/bad host: no valid host: \"bad host\" is not a host",
            "robots/bad:port: no valid host: \"bad:port\" is not a host: port is not a number",
            "robots/robots.txt: no valid host: rename the file",
            &format!("robots/over.example: too large: {} bytes; the limit is {limit}", limit + 1),
            "skipped: no valid host  3\n",
            "skipped: too large  1\n",
            "files read  2\n",
        ],
    );
    assert_eq!(verdicts(&folder, "set", &["http://over.example/", "http://max.example/"]), ["unknown", "allow"]);
}

#[test]
fn unreadable_files_are_named_and_left_out() {
    let folder = Folder::new();
    folder.write("robots/good.example", "");
    std::os::unix::fs::symlink("nowhere", folder.path("robots/link.example")).unwrap();
    folder.run(&["compile", "-o", "set", "robots"]).says(1, &["robots/link.example: unreadable: No such file"]);
}

#[test]
fn a_single_file_needs_a_host() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
    folder.run(&["compile", "-o", "set", "robots.txt"]).says(2, &["robots.txt: is a single file", "--host"]);
    folder.run(&["compile", "-o", "set", "robots.txt", "--host", "a b"]).says(2, &["--host a b: no valid host"]);
    assert_eq!(folder.names(), ["robots.txt"]);
    folder.run(&["compile", "-o", "set", "robots.txt", "--host", "One.example:82"]).says(0, &[]);
    assert_eq!(verdicts(&folder, "set", &["https://one.example:82/", "http://one.example/"]), ["disallow", "unknown"]);
    folder.robots();
    folder.run(&["compile", "-o", "set2", "robots", "--host", "x"]).says(2, &["robots: --host goes with a single"]);
    folder.run(&["compile", "-o", "set2", "set"]).says(2, &["set: is a compiled set already"]);
}

#[test]
fn nothing_to_compile_is_an_error() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.robots();
    folder.write("empty.jsonl", "");
    folder.write("empty.tar", tar(&[]));
    for input in ["empty", "empty.jsonl", "empty.tar"] {
        let text = format!("no robots.txt found in {input}");
        folder.run(&["compile", "-o", "set", input]).says(2, &[&text]);
        folder.run(&["compile", "-o", "set", "robots", input]).says(2, &[&text]);
    }
    folder.run(&["compile", "-o", "set", "missing"]).says(2, &["missing: No such file or directory"]);
    folder.run(&["compile", "-o", "set"]).says(2, &["INPUT"]);
    assert_eq!(folder.names(), ["empty", "empty.jsonl", "empty.tar", "robots"]);
}

#[test]
fn an_output_is_replaced_only_by_force() {
    let folder = Folder::new();
    folder.robots();
    folder.write("set", "precious");
    folder.run(&["compile", "-o", "set", "robots"]).says(2, &["set: exists already; --force replaces it"]);
    assert_eq!(folder.read("set"), b"precious");
    // What fails later does not touch it either.
    folder.run(&["compile", "--force", "-o", "set", "missing"]).says(2, &["missing"]);
    assert_eq!(folder.read("set"), b"precious");
    std::os::unix::fs::symlink("set", folder.path("link")).unwrap();
    folder.run(&["compile", "--force", "-o", "link", "robots"]).says(0, &[]);
    folder.run(&["verify", "set"]).says(0, &[]);
    assert!(folder.path("link").is_symlink());
    folder
        .run(&["compile", "--force", "-o", "robots", "robots"])
        .says(2, &["robots: exists and is not a regular file"]);
    folder.run(&["compile", "-o", "no/where", "robots"]).says(2, &["no/where: cannot be created: No such file"]);
    assert_eq!(folder.names(), ["link", "robots", "set", "set.made.json"]);
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::with_set();
    folder.write("old", "precious");
    assert!(folder.read("set").len() > 512);
    for (output, left) in [("new", None), ("old", Some(b"precious"))] {
        // With the signal ignored, a write over the limit fails as one on a full disk does.
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", script, "bash"]).arg(binary()).args(["compile", "--force", "-o", output, "robots"]);
        bash.current_dir(folder.path("."));
        finish(bash).says(2, &[&format!("{output}: cannot be written: File too large")]);
        assert_eq!(std::fs::read(folder.path(output)).ok().as_deref(), left.map(|bytes| &bytes[..]));
    }
    assert_eq!(folder.names(), ["old", "robots", "set", "set.made.json"]);
    folder
        .run(&["compile", "--force", "-o", "/dev/full", "robots"])
        .says(2, &["/dev/full: exists and is not a regular"]);
}

#[test]
fn diagnostics_are_counted() {
    let folder = Folder::new();
    folder.write("robots/a.example", "Disallow: /\nwhat\nCrawl-delay: 3\nUser-agent: *\nDisallow: /a\0\n");
    folder.run(&["compile", "-o", "set", "robots"]).says(
        0,
        &[
            "diagnostic: rule that is in no group  1\n",
            "diagnostic: line without a separator  1\n",
            "diagnostic: key that decides nothing  1\n",
            "diagnostic: NUL byte inside a line  1\n",
            "rules as written  1\n",
        ],
    );
}
