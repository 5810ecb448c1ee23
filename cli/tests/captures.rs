//! Captures in JSON Lines and TSV, end to end: which lines are captures, which captures count, and how profiles
//! interpret them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::{Folder, gz};

#[test]
fn json_lines_are_read_and_invalid_captures_reported() {
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
        assert_eq!(folder.verdicts("set", &urls), expected);
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
        r#"{"url": "http://g.example/robots.txt", "status": 404, "time": 1e30}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "truncated": "half"}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": {"cache-control": 5}}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": ["a", "b"]}"#,
        r#"{"url": "http://[::1/robots.txt", "status": 404}"#,
        r#"{"url": "http://1.2.3.4.5/robots.txt", "status": 404}"#,
        r#"["http://g.example/robots.txt", 404, null, null, null, null, null, null]"#,
        r#"{"url": "http://g.example/robots.txt", "status": "404 Not Found"}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404.5}"#,
        r#"{"url": "http://g.example/robots.txt", "status": ""}"#,
        r#"{"url": "http://g.example/robots.txt", "body_base64": "x="}"#,
        r#"{"url": "http://g.example/robots.txt", "body_base64": ["eA=="]}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": [["cache-control"]]}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": [["x", "y", "z"]]}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": [[]]}"#,
        r#"{"url": "http://g.example/robots.txt", "status": 404, "headers": [["content-type", 5]]}"#,
    ];
    folder.write("bad.jsonl", bad.join("\n"));
    folder.run(&["compile", "--force", "-o", "set", "bad.jsonl"]).says(
        1,
        &[
            "bad.jsonl:1: not a valid capture: invalid type: integer `5`, expected a string",
            "bad.jsonl:2: no body",
            "bad.jsonl:3: not the url of a robots.txt: \"http://g.example/other\"",
            "bad.jsonl:4: no valid url: \"g.example\"",
            "bad.jsonl:5: not a valid capture: expected an object, found: not json\n",
            "bad.jsonl:6: no valid url",
            "bad.jsonl:8: not a valid capture: expected a status, a number from 100 to 999, found \"99999\"",
            "bad.jsonl:9: not a valid capture: expected a status, a number from 100 to 999, found \"99\"",
            "bad.jsonl:10: not a valid capture: expected a status, a number from 100 to 999, found \"1000\"",
            "bad.jsonl:11: not a valid capture: expected the number of redirects, found \"-1\"",
            "bad.jsonl:12: not a valid capture: invalid type: integer `1`, expected",
            "bad.jsonl:13: not a valid capture: expected a time such as 2026-03-14T15:09:26Z, found \"yesterday\"",
            "bad.jsonl:14: not a valid capture: expected a time such as 2026-03-14T15:09:26Z, found \"253402128001\": digits are a date (4,",
            "bad.jsonl:15: not a valid capture: expected a time such as 2026-03-14T15:09:26Z, found \"1000000000000000",
            "bad.jsonl:16: not a valid capture: expected true, false, \"length\", \"time\", \"disconnect\" or",
            "bad.jsonl:17: not a valid capture: invalid type: integer `5`, expected the text of a header field",
            "bad.jsonl:18: not a valid capture: invalid type: a text, expected a pair of the name and the value of",
            "bad.jsonl:19: no valid url: \"http://[::1/robots.txt\"",
            "bad.jsonl:20: no valid url: \"http://1.2.3.4.5/robots.txt\"",
            "bad.jsonl:21: not a valid capture: expected an object, found: [\"http://g.example/robots.txt\", 404",
            "bad.jsonl:22: not a valid capture: expected a status, a number from 100 to 999, found \"404 Not Found\"",
            "bad.jsonl:23: not a valid capture: expected a status, a number from 100 to 999, found \"404.5\"",
            "bad.jsonl:24: no body",
            "bad.jsonl:25: not a valid capture: the body is not base64",
            "bad.jsonl:26: not a valid capture: invalid type: sequence, expected a text in base64",
            "bad.jsonl:27: not a valid capture: a header field is not a pair of a name and a value",
            "bad.jsonl:28: not a valid capture: a header field is not a pair",
            "bad.jsonl:29: not a valid capture: invalid length 0, expected a pair",
            "bad.jsonl:30: not a valid capture: invalid type: integer `5`, expected the text of a header field",
            "skipped: not a valid capture  22\n",
            "files read  1\n",
        ],
    );
    folder.write("only.jsonl", r#"{"url": "http://c.example/robots.txt", "status": 404}"#);
    folder.run(&["compile", "-o", "only", "only.jsonl"]).says(0, &["everything allowed (404)  1\n"]);
    assert_eq!(folder.verdicts("only", &["http://c.example/"]), ["allow"]);
}

/// A capture as different programs write it: every line is equivalent to the first.
#[test]
fn equivalent_notations_give_the_same_set() {
    let folder = Folder::new();
    let url = r#""url": "https://a.example/robots.txt""#;
    let rest = r#""time": "2026-03-14T15:09:26Z", "headers": {"Cache-Control": "max-age=60"}, "body": "User-agent: *\nDisallow: /x\n""#;
    let first = format!("{{{url}, \"status\": 200, {rest}}}\n");
    let base64 = "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogL3gK";
    let lines = [
        format!("{{{url}, \"status\": \"200\", {rest}}}"),
        format!("{{{url}, \"status\": 200.0, {rest}}}"),
        first.replace("\"2026-03-14T15:09:26Z\"", "\"20260314150926\""),
        first.replace("\"2026-03-14T15:09:26Z\"", "20260314150926"),
        first.replace("\"2026-03-14T15:09:26Z\"", "1773500966"),
        first.replace("\"2026-03-14T15:09:26Z\"", "1773500966.75"),
        first.replace("\"2026-03-14T15:09:26Z\"", "1773500966999"),
        first.replace("\"2026-03-14T15:09:26Z\"", "\"1773500966999\""),
        first.replace("\"2026-03-14T15:09:26Z\"", "1773500966000.0"),
        first.replace("{\"Cache-Control\": \"max-age=60\"}", r#"{"X": null, "CACHE-CONTROL": ["max-age=60"]}"#),
        first.replace("{\"Cache-Control\": \"max-age=60\"}", r#"[["X", 5], ["cache-control", "max-age=60"]]"#),
        format!("{{{}, \"body_base64\": \"{base64}\"}}", first[1..].split(", \"body\"").next().unwrap()),
        format!(
            "{{{}, \"body\": \"?\", \"content_base64\": \"{base64}\"}}",
            first[1..].split(", \"body\"").next().unwrap()
        ),
        format!(
            "{{{}, \"body_b64\": \"{}\\n{}\\n\", \"body\": null}}",
            first[1..].split(", \"body\"").next().unwrap(),
            &base64[..20],
            &base64[20..]
        ),
    ];
    folder.write("c.jsonl", &first);
    folder.run(&["compile", "-o", "expected", "c.jsonl"]).says(0, &["files read 1\n"]);
    for line in lines {
        folder.write("c.jsonl", &line);
        folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]).says(0, &["files read 1\n"]);
        assert!(folder.read("set") == folder.read("expected"), "{line}");
    }
}

/// A base64 body has the same limit as any other body: 16 MiB.
#[test]
fn base64_bodies_are_limited() {
    let folder = Folder::new();
    for (len, fits) in [((16 << 20) - 1, true), (16 << 20, true), ((16 << 20) + 1, false), (30 << 20, false)] {
        let body = ["AAAA".repeat(len / 3), ["", "AA", "AAA"][len % 3].to_owned()].concat();
        folder.write("c.jsonl", format!(r#"{{"url": "https://a.example/robots.txt", "body_base64": "{body}"}}"#));
        let run = folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]);
        assert_eq!(run.stderr.contains("the limit is 16777216"), !fits, "{len} {}", run.stderr);
    }
}

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

/// Returns verdict and reason for each of [`CAPTURE_URLS`].
fn reasons(folder: &Folder, args: &[&str]) -> Vec<String> {
    let args = [&["classify"], args, &["--agent", "any-bot", "--columns", "url,verdict,reason"]].concat();
    let run = folder.run_with(&args, CAPTURE_URLS.join("\n").as_bytes()).says(0, &[]);
    let columns = |line: &str| line.split('\t').skip(1).collect::<Vec<_>>().join(": ");
    run.text().lines().map(columns).collect()
}

#[test]
fn profiles_decide_what_captures_mean() {
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
            "discarded: superseded by another capture, by time or content  1\n",
            "discarded: failed, the answer before it is kept  1\n",
            "discarded: http://a.example/robots.txt, fetched 2026-01-01T00:00:00Z: superseded by another capture, by time or content\n",
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
    // A dialect implies a profile.
    assert_eq!(reasons(&folder, &["c.jsonl", "--dialect", "koster-1996"])[3], "disallow: 403");
    assert_eq!(reasons(&folder, &["c.jsonl", "--dialect", "koster-1996", "--profile", "rfc9309"])[3], "allow: 403");

    // At another time.
    let then = reasons(&folder, &["c.jsonl", "--at", "2026-01-15"]);
    assert_eq!(then[..3], ["disallow: rule", "disallow: rule", "unknown: no robots.txt is known"]);
    let later = reasons(&folder, &["c.jsonl", "--at", "2026-03-04T00:00:00Z"]);
    // Unreachable for more than 30 days, but there is a last good copy.
    assert_eq!(later[0], "disallow: rule of the last good copy, now 503");
    let later = reasons(&folder, &["c.jsonl", "--at", "2026-03-04T00:00:00Z", "--profile", "rfc9309"]);
    assert_eq!(later[0], "allow: unreachable for more than 30 days");
    let run = folder.run(&["compile", "-o", "then", "c.jsonl", "--at", "2026-01-15"]);
    run.says(0, &["discarded: fetched after the time asked for  5\n"]);
    let run = folder.run(&["compile", "-o", "future", "c.jsonl", "--at", "9000-01-01"]);
    run.says(0, &["the set is for 9000-01-01T00:00:00Z, which is in the future", "as of  9000-01-01T00:00:00Z\n"]);
    folder.run(&["compile", "-o", "x", "c.jsonl", "--at", "now"]).says(2, &["expected a time such as"]);
    folder.run(&["compile", "-o", "x", "c.jsonl", "--profile", "yahoo"]).says(2, &["possible values: google,"]);
    folder.run(&["classify", "set", "--agent", "a", "--at", "2026-01-01"]).says(2, &["is a compiled set", "--at"]);
    folder.run(&["classify", "set", "--agent", "a", "--at", "0"]).says(2, &["digits are a date (4, 6, 8, 12, 14)"]);

    // The last line is not a URL.
    let args = ["classify", "set", "--agent", "any-bot", "--columns", "url,verdict,line,rule,reason"];
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
fn capture_order_does_not_matter() {
    let folder = Folder::new();
    let mut lines: Vec<&str> = CAPTURES.lines().collect();
    folder.write("1.jsonl", lines.join("\n"));
    lines.reverse();
    folder.write("2.jsonl", lines.join("\n"));
    folder.write("3.jsonl", lines[..3].join("\n"));
    folder.write("4.jsonl", lines[3..].join("\n"));
    let notes = |run: support::Run| {
        run.stderr
            .lines()
            .filter(|line| !line.contains("time") && !line.contains("jsonl"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let first = notes(folder.run(&["compile", "-o", "s1", "1.jsonl"]).says(0, &[]));
    for (set, inputs) in [("s2", &["2.jsonl"][..]), ("s3", &["3.jsonl", "4.jsonl"]), ("s4", &["4.jsonl", "3.jsonl"])] {
        let run = folder.run(&[&["compile", "-o", set], inputs].concat()).says(0, &[]);
        assert_eq!(notes(run), first);
        assert_eq!(folder.read(set), folder.read("s1"), "{set}");
    }
}

#[test]
fn long_redirect_lists_are_counted_but_not_stored() {
    let folder = Folder::new();
    let list = vec![r#""http://a.example/robots.txt""#; 1_000_000].join(",");
    folder.write("c.jsonl", format!(r#"{{"url": "http://a.example/robots.txt", "redirects": [{list}], "body": ""}}"#));
    folder.run(&["compile", "-o", "set", "c.jsonl"]).says(0, &["everything allowed (too many redirects)  1\n"]);
    folder.write("d.jsonl", r#"{"url": "http://a.example/robots.txt", "redirects": 18446744073709551615, "body": ""}"#);
    folder.run(&["compile", "-o", "d", "d.jsonl"]).says(0, &["everything allowed (too many redirects)  1\n"]);
}

/// TSV captures with columns in any order, and invalid tables.
#[test]
fn tsv_captures_may_have_columns_in_any_order() {
    let folder = Folder::new();
    let rows = "\u{feff}id\tstatus\turl\tbody\ttime\tbody_base64\tredirects\terror\r\n\
        1\t200\thttps://a.example/robots.txt\tUser-agent: *\\nDisallow: /a\\\\b\\t#x\\n\t2026-01-02T03:04:05Z\t\\N\t\\N\t\r\n\
        2\t200\thttps://b.example/robots.txt\t\\N\t20260102030405\tVXNlci1hZ2VudDogKgpEaXNhbGxvdzogLw==\t0\t\r\n\
        \r\n\
        3\t404\thttps://c.example/robots.txt\t\t\t\t\t\r\n\
        4\t\\N\thttps://d.example/robots.txt\t\\N\t\t\t\ttimed out\r\n\
        5\t200\thttps://e.example/robots.txt\t\t1767323045\t\t1\t\r\n\
        6\t301\thttps://f.example/robots.txt\tmoved\t\t\t99\t\r\n";
    let urls = [
        "https://a.example/a\\b",
        "https://a.example/x",
        "https://b.example/",
        "https://c.example/",
        "https://d.example/",
        "https://e.example/",
        "https://f.example/",
    ];
    let expected = ["disallow", "allow", "disallow", "allow", "disallow", "allow", "allow"];
    folder.write("rows.tsv", rows);
    folder.write("rows.gz", gz(rows.as_bytes()));
    for input in ["rows.tsv", "rows.gz"] {
        folder.run(&["compile", "--force", "-o", "set", input]).says(0, &["files read 6\n"]);
        assert_eq!(folder.verdicts("set", &urls), expected, "{input}");
        assert_eq!(folder.verdicts(input, &urls), expected, "{input} as it is");
    }
    folder.run(&["lint", "rows.tsv"]).says(0, &[]);
    let bad = [
        ("http://g.example/robots.txt\t200", "expected 3 columns, as in the first line, found 2"),
        ("http://g.example/robots.txt\t200\tx\ty", "expected 3 columns, as in the first line, found 4"),
        ("http://g.example/robots.txt\t20\tx", "not a valid capture: expected a status, a number from 100 to 999"),
        ("http://g.example/x\t200\tx", "not the url of a robots.txt: \"http://g.example/x\""),
        ("\t200\tx", "no valid url"),
        ("g.example\t200\tx", "no valid url: \"g.example\""),
        ("http://g.example/robots.txt\t200\t\\N", "no body"),
        ("\0\t\u{1}\t\u{7f}", "no valid url"),
    ];
    let mut text = b"url\tstatus\tbody\nhttp://a.example/robots.txt\t200\tDisallow: /\\xff \xff\0\n".to_vec();
    bad.iter().for_each(|(row, _)| text.extend(format!("{row}\n").into_bytes()));
    folder.write("bad.tsv", text);
    let run = folder.run(&["compile", "--force", "-o", "set", "bad.tsv"]).says(1, &["files read 1\n"]);
    for (number, (_, says)) in bad.iter().enumerate() {
        assert!(run.stderr.contains(&format!("bad.tsv:{}: ", number + 3)), "{run:?}");
        assert!(run.stderr.contains(says), "{says}: {run:?}");
    }
    // A table of URLs is not a table of captures, and a table without rows contains no captures.
    folder.write("urls.tsv", "url\ttitle\nhttp://a.example/robots.txt\tx\n");
    folder.run(&["compile", "-o", "x", "urls.tsv"]).says(2, &["urls.tsv: is a table of URLs"]);
    folder.write("none.tsv", "url\tstatus\n");
    folder.run(&["compile", "-o", "x", "none.tsv"]).says(2, &["no robots.txt found in none.tsv"]);
    // Where URLs are expected, the same file is read as a table of URLs.
    let run = folder.run(&["classify", "set", "rows.tsv", "--agent", "x", "--columns", "verdict"]);
    assert_eq!(run.says(0, &["TSV, URLs in column 3"]).text().lines().count(), 7);
}

/// Challenge pages are recognized by header and by content in every kind of capture, and every command names the
/// product.
#[test]
fn challenge_pages_are_recognized_in_every_input() {
    let folder = Folder::new();
    let page = "<html><script id='x'></script><script id=\\\"anubis_challenge\\\">{}</script></html>";
    let warc = |fields: &str, body: &str| {
        let answer = format!("HTTP/1.1 202 Accepted\r\nContent-Type: text/html\r\n{fields}\r\n{body}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/robots.txt\r\nContent-Type: \
             application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{answer}\r\n\r\n",
            answer.len()
        )
    };
    let jsonl = |more: &str| format!("{{\"url\":\"http://a.example/robots.txt\"{more}}}\n");
    let mut compared = 0;
    for (name, content, product) in [
        ("page.jsonl", jsonl(&format!(",\"status\":200,\"body\":\"{page}\"")), "Anubis"),
        (
            "header.jsonl",
            jsonl(",\"status\":403,\"body\":\"\",\"headers\":{\"CF-Mitigated\":\"challenge\"}"),
            "Cloudflare",
        ),
        (
            "pairs.jsonl",
            jsonl(",\"status\":429,\"headers\":[[\"x\",\"y\"],[\"x-vercel-mitigated\",\"challenge\"]]"),
            "Vercel",
        ),
        ("page.warc", warc("", &page.replace('\\', "")), "Anubis"),
        ("header.warc", warc("X-Amzn-Waf-Action: challenge\r\n", ""), "AWS WAF"),
        ("folder/a.example", page.replace('\\', ""), "Anubis"),
    ] {
        folder.write(name, content);
        let input = name.split('/').next().unwrap();
        let words = format!("everything disallowed (challenge page of {product})");
        folder.run(&["compile", "--force", "-o", "set", input]).says(0, &[&words]);
        let args = ["classify", "set", "--agent", "a", "--columns", "verdict,reason"];
        let text = folder.run_with(&args, b"http://a.example/x\n").says(0, &[]).text();
        assert_eq!(text, format!("disallow\tchallenge page of {product}\n"), "{name}");
        for args in [&["inspect", "set", "a.example"][..], &["summarize", "set", "--agent", "a"]] {
            let text = folder.run(args).says(0, &[]).text();
            assert!(text.contains(&format!("challenge page of {product}")), "{name} {args:?}: {text}");
        }
        folder.run(&["verify", "set"]).says(0, &[]);
        compared += 1;
    }
    assert_eq!(compared, 6);
}
