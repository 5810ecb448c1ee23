//! `reptile classify` over access logs and CDXJ: format detection, the URL of each line, and damaged lines.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;

use support::{Folder, Run, gz};

/// Returns a line in the common log format, without virtual host.
fn line(request: &str) -> String {
    format!("192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] \"{request}\" 200 512")
}

fn combined(request: &str, agent: &str) -> String {
    format!("{} \"-\" \"{agent}\"", line(request))
}

fn classify(folder: &Folder, name: &str, options: &[&str]) -> Run {
    folder.run(&[&["classify", "set", name, "--agent", "bot-a"], options].concat())
}

#[test]
fn logs_and_cdxj_are_detected_or_chosen_by_option() {
    let folder = Folder::with_set();
    let (private, open) = ("GET /private HTTP/1.1", "GET http://b.example/ HTTP/1.0");
    let of_a = ["--host", "a.example", "--scheme", "http"];
    let log_of_a = "an access log, URLs in the requests to http://a.example";
    let first = "an access log, URLs in the requests, virtual hosts at the start of the lines";
    let cases: [(&[&str], [String; 2], &str); 9] = [
        (&of_a, [private, open].map(line), log_of_a),
        (&["--host", "http://a.example"], [private, open].map(|request| combined(request, "x")), log_of_a),
        // The user's host applies to requests without a virtual host.
        (
            &["--host", "c.example"],
            [private, open].map(|request| format!("a.example:80 {}", line(request))),
            "an access log, URLs in the requests, virtual hosts at the start of the lines",
        ),
        (&[], [private, open].map(|request| format!("a.example:80 {}", line(request))), first),
        (&["--scheme", "http"], [private, open].map(|request| format!("a.example {}", combined(request, "x"))), first),
        (
            &[],
            [private, open].map(|request| format!("{} \"-\" 0.1 \"a.example:80\"", combined(request, "x"))),
            "an access log, URLs in the requests, virtual hosts in field 7 after the request",
        ),
        (
            &["--input-format", "log"],
            [private, open].map(|request| format!("{} a.example:80", line(request))),
            "an access log, URLs in the requests, virtual hosts in field 3 after the request",
        ),
        (
            &[],
            ["http://a.example/private", "http://b.example/"]
                .map(|url| format!("x)/ 20260314150926 {{\"status\":\"200\",\"url\":\"{url}\"}}")),
            "CDXJ, URLs in the field \"url\"",
        ),
        (
            &["--input-format", "cdxj", "--url-column", "u.0"],
            ["http://a.example/private", "http://b.example/"].map(|url| format!("x)/ 2026 {{\"u\":[\"{url}\"]}}")),
            "CDXJ, URLs in the field \"u.0\"",
        ),
    ];
    for (options, rows, says) in cases {
        let text = rows.join("\n");
        folder.write("log", &text);
        folder.write("log.gz", gz((text + "\r\n").as_bytes()));
        for name in ["log", "log.gz"] {
            let run = classify(&folder, name, options).says(0, &[&format!("input {says}\n"), "lines 2\n"]);
            assert_eq!(run.text(), "http://a.example/private\tdisallow\nhttp://b.example/\tdisallow\n", "{rows:?}");
        }
        let run = classify(&folder, "log", &[options, &["--add-columns", "--explain"]].concat());
        let expected = ["2\tDisallow: /private", "2\tDisallow: /"].into_iter().zip(&rows);
        let expected: String = expected.map(|(rule, row)| format!("disallow\t{rule}\t{row}\n")).collect();
        assert_eq!(run.text(), expected);
        assert_eq!(classify(&folder, "log", &[options, &["--only", "disallow"]].concat()).text(), rows.join("\n"));
    }
}

#[test]
fn cdxj_metadata_lines_are_kept_like_a_header() {
    let folder = Folder::with_set();
    let row = "x)/ 20260314150926 {\"url\":\"http://a.example/private\"}\n";
    folder.write("a", format!("!OpenWayback-CDXJ 1.0\n{row}"));
    classify(&folder, "a", &[]).says(0, &["lines 1\n"]);
    assert_eq!(classify(&folder, "a", &["--only", "disallow"]).stdout, folder.read("a"));
}

#[test]
fn lines_without_a_url_are_invalid_and_counted_by_cause() {
    let folder = Folder::with_set();
    let ok = combined("GET /private HTTP/1.1", "x");
    let long = "x".repeat(3 << 20);
    let rows = [
        ok.clone(),
        combined("-", "-"),
        combined("", "-"),
        combined("OPTIONS * HTTP/1.1", "x"),
        combined("CONNECT b.example:443 HTTP/1.1", "x"),
        combined(r"\x16\x03\x01\x00", "-"),
        "x\0\u{1b}".to_owned(),
        format!("{ok}{long}"),
        line("GET /\\x70rivate HTTP/1.1"),
        ok[..60].to_owned(),
        ok.clone(),
        ok.clone(),
    ];
    let mut bytes = rows.join("\n").into_bytes();
    bytes.extend_from_slice(b"\n\xff\xfe \"\xff\"");
    folder.write("log", bytes);
    let says = [
        "log:2: an empty request\n",
        "log:4: a request for no URL (CONNECT or *)\n",
        "log:6: a broken request\n",
        "log:7: not a line of an access log\n",
        "log:8: more than 1048576 bytes\n",
        "invalid: more than 1048576 bytes 1\n",
        "invalid: not a line of an access log 3\n",
        "invalid: an empty request 2\n",
        "invalid: a broken request 1\n",
        "invalid: a request for no URL (CONNECT or *) 2\n",
        "allow 0, disallow 4, unknown 0, invalid 9",
    ];
    for threads in ["1", "3"] {
        let options = ["--host", "a.example:80", "--scheme", "http", "--threads", threads, "--columns", "verdict"];
        let run = classify(&folder, "log", &options).says(1, &says);
        let disallowed: Vec<usize> =
            (0..).zip(run.text().lines()).filter(|(_, l)| *l == "disallow").map(|(n, _)| n).collect();
        assert_eq!(disallowed, [0, 8, 10, 11]);
    }
    folder.write("log", format!("a.example:80 {ok}\n{ok}\n_ {ok}\n"));
    classify(&folder, "log", &[]).says(0, &["log:3: no virtual host", "allow 0, disallow 1, unknown 1, invalid 1"]);
    folder.write("c.cdxj", "x)/ 2026 {\"url\":\"http://b.example/\"}\n\nx)/ 2026 {\nx)/ 2026 {\"uri\":1}\n");
    let says = ["c.cdxj:2: not a line of CDXJ", "c.cdxj:3: not a JSON object", "c.cdxj:4: without the field \"url\""];
    classify(&folder, "c.cdxj", &[]).says(1, &says);
}

#[test]
fn incompatible_options_are_refused() {
    let folder = Folder::with_set();
    let log = combined("GET /private HTTP/1.1", "x") + "\n";
    folder.write("common", line("GET / HTTP/1.1"));
    folder.write("list", "http://b.example/\n");
    folder.write("two.jsonl", "{\"url\":\"http://b.example/\"}\n");
    folder.write("log", log.repeat(3));
    let cases: [(&str, &[&str], &str); 9] = [
        ("log", &[], "log: no virtual hosts in this access log: give its host with --host"),
        ("log", &["--host", "a b"], "log: --host a b: expected a host such as example.com"),
        ("log", &["--host", "a.example", "--scheme", "ftp"], "--scheme: URLs without a scheme get one scheme"),
        ("log", &["--host", "http://a.example", "--scheme", "https"], "--scheme https: --host says http"),
        (
            "log",
            &["--host", "a.example", "--url-column", "request"],
            "--url-column request: an access log has the columns",
        ),
        ("log", &["--host", "a.example", "--at-column", "when"], "--at-column when: an access log has the columns"),
        ("list", &["--host", "a.example"], "list: is read as a list of URLs; --host is for access logs"),
        ("two.jsonl", &["--scheme", "ftp"], "two.jsonl: --scheme: URLs without a scheme get one scheme"),
        ("log", &["--host", "a.example", "--dialect", "google"], "is a compiled set; --dialect"),
    ];
    for (name, options, says) in cases {
        let is_by_time = options.contains(&"--at-column");
        if is_by_time {
            folder.run(&["compile", "--by-time", "--force", "-o", "set", "robots"]).says(0, &[]);
        }
        classify(&folder, name, options).says(2, &[says]);
    }
    classify(&folder, "list", &[]).says(0, &[]);
    // A folder's file names give the hosts. A single robots.txt applies to the log's host.
    for set in ["robots", "robots/a.example"] {
        let args = ["classify", set, "log", "--agent", "bot-a", "--host", "a.example"];
        folder.run(&args).says(0, &["disallow 3"]);
    }
}

/// Virtual hosts are found regardless of read size and of the number of lines before the first one.
#[test]
fn virtual_hosts_may_first_appear_late() {
    let folder = Folder::with_set();
    let with = |host: &str| format!("{} \"{host}\"\n", combined("GET /private HTTP/1.1", "x"));
    for lines in [0, 1, 2000] {
        folder.write("log", with("-").repeat(lines) + &with("a.example:80") + &with("b.example:80"));
        let invalid = if lines == 2000 { "2,000".to_owned() } else { lines.to_string() };
        let says = format!("allow 0, disallow 2, unknown 0, invalid {invalid}");
        classify(&folder, "log", &[]).says(i32::from(lines > 2), &[&says]);
    }
    // If the user gives the host, only the first hundred lines are searched for others.
    for (lines, disallow) in [(0, 2), (1, 2), (98, 2), (99, 2), (100, 0)] {
        folder.write("log", with("-").repeat(lines) + &with("a.example:80") + &with("b.example:80"));
        let says = format!("allow 0, disallow {disallow}, unknown {}, invalid 0", lines + 2 - disallow);
        classify(&folder, "log", &["--host", "c.example", "--scheme", "http"]).says(0, &[&says]);
    }
    // The search ends after the first mebibyte.
    folder.write("log", with("-").repeat(20_000) + &with("a.example:80"));
    classify(&folder, "log", &[]).says(2, &["no virtual hosts"]);
}

#[test]
fn log_and_cdxj_times_select_the_rules() {
    let folder = Folder::new();
    let capture = |time: &str, rule: &str| {
        format!(
            "{{\"url\":\"https://a.example/robots.txt\",\"time\":\"{time}\",\"body\":\"user-agent: *\\ndisallow: {rule}\"}}\n"
        )
    };
    folder.write("c.jsonl", capture("2026-01-01", "/a") + &capture("2026-03-01", "/b"));
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    let times = ["31/Dec/2025:23:59:59 +0000", "31/Dec/2025:23:59:59 -0100", "01/Mar/2026:01:00:00 +0100", "x"];
    let log = times.map(|time| line("GET /a HTTP/1.1").replace("14/Mar/2026:15:09:26 +0000", time) + "\n").concat();
    folder.write("log", log);
    let run = classify(&folder, "log", &["--host", "a.example", "--at-column", "time", "--columns", "verdict"]);
    assert_eq!(
        run.says(0, &["log:4: no time in the time of the request"]).text(),
        "unknown\ndisallow\nallow\ninvalid\n"
    );
    let cdxj = ["20251231235959", "20260101000000", "202603", "2026010100"]
        .map(|time| format!("example,a)/a {time} {{\"url\": \"https://a.example/a\", \"timestamp\": \"x\"}}\n"));
    folder.write("cdxj", cdxj.concat());
    let run = classify(&folder, "cdxj", &["--at-column", "timestamp", "--columns", "verdict", "--timezone", "+12:00"]);
    assert_eq!(run.says(0, &["cdxj:4: no time"]).text(), "unknown\ndisallow\nallow\ninvalid\n");
}
