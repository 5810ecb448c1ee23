//! `compile --fates`, which lists every capture with its fate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support::Folder;

const LINES: &str = r#"{"url":"http://a.example/robots.txt","time":"2026-01-01T00:00:00Z","status":200,"body":"Disallow: /old"}
{"url":"http://a.example/robots.txt","time":"2026-01-03T00:00:00Z","status":200,"body":"User-agent: *\nDisallow: /"}
{"url":"http://b.example/robots.txt","time":"2026-01-01T00:00:00Z","status":200,"body":""}
{"url":"http://b.example/robots.txt","time":"2026-01-02T00:00:00Z","status":503}
{"url":"http://c.example/robots.txt","time":"2027-01-01T00:00:00Z","status":404}
{"url":"http://c.example/robots.txt","time":"2026-01-01T00:00:00Z","status":404,"redirects":1}
{"url":"http://c.example/page","status":200}
not json
"#;

/// Record, host, status, fate and detail of each row.
const EXPECTED: [&str; 8] = [
    "1 a 200 superseded captures.jsonl:2",
    "2 a 200 used ",
    "3 b 200 used ",
    "4 b 503 failed captures.jsonl:3",
    "5 c 404 too-late ",
    "6 c 404 used ",
    "7   bad not the url of a robots.txt",
    "8   bad not a valid capture",
];

/// Returns abbreviated rows of a TSV list of fates.
fn rows(text: &str) -> Vec<String> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!((cells.len(), cells[0]), (11, "captures.jsonl"), "{line}");
        assert!(cells[2].starts_with("captures.jsonl:"), "{line}");
        let host = cells[3].strip_prefix("http://").map_or("", |url| url.split('.').next().unwrap());
        let detail = cells[9].split(": ").next().unwrap();
        format!("{} {host} {} {} {detail}", cells[1], cells[5], cells[8])
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn every_capture_has_a_fate() {
    let folder = Folder::new();
    folder.write("captures.jsonl", LINES);
    let args = ["compile", "--force", "--at", "2026-01-05", "-o", "set", "captures.jsonl"];
    folder.run(&args).says(1, &[]);
    let plain = folder.read("set");
    for (more, threads) in [(&["--memory", "16M"][..], "1"), (&[], "1"), (&[], "2")] {
        let args = [&args[..], &["--fates", "fates.tsv", "--threads", threads], more].concat();
        folder.run(&args).says(1, &[]);
        assert_eq!(folder.read("set"), plain, "the list changes the set");
        let text = String::from_utf8(folder.read("fates.tsv")).unwrap();
        let header = "file\trecord\tcapture\turl\ttime\tstatus\tredirects\tredirect_chain\tfate\tdetail\tdigest";
        assert_eq!(text.lines().next(), Some(header));
        assert_eq!(rows(&text), EXPECTED);
        assert!(text.contains("\t2026-01-03T00:00:00Z\t200\t0\t\tused\t"), "{text}");
        // Computed by the program xxhsum, from the bodies that decide.
        let digests: Vec<&str> = text.lines().skip(1).map(|line| line.rsplit('\t').next().unwrap()).collect();
        let [deny, empty] = ["xxh3-64:988ca68b80d9215b", "xxh3-64:2d06800538d394c2"];
        assert_eq!(digests[1..], [deny, empty, "", "", "", "", ""]);
    }
}

#[test]
fn sets_by_time_use_every_capture_that_can_decide() {
    let folder = Folder::new();
    folder.write("captures.jsonl", LINES);
    let args = ["compile", "--by-time", "--at", "2026-01-05", "-o", "set", "--fates", "fates.tsv", "captures.jsonl"];
    folder.run(&args).says(1, &[]);
    let fates: Vec<String> = rows(&String::from_utf8(folder.read("fates.tsv")).unwrap());
    let fates: Vec<&str> = fates.iter().map(|row| row.split(' ').nth(3).unwrap()).collect();
    assert_eq!(fates, ["used", "used", "used", "used", "too-late", "used", "bad", "bad"]);
}

#[test]
fn the_file_extension_selects_the_format() {
    let folder = Folder::new();
    folder.write("captures.jsonl", LINES);
    let run = |fates: &str| folder.run(&["compile", "--force", "-o", "set", "--fates", fates, "captures.jsonl"]);
    run("f.jsonl").says(1, &[]);
    let text = String::from_utf8(folder.read("f.jsonl")).unwrap();
    let values: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values.len(), EXPECTED.len());
    assert_eq!(
        (&values[1]["record"], &values[1]["status"], &values[1]["fate"]),
        (&2.into(), &200.into(), &"used".into())
    );
    assert!(values[7]["status"].is_null() && values[7]["time"].is_null());
    run("f.csv.gz").says(1, &[]);
    run("f.parquet").says(1, &[]);
    assert!(folder.read("f.parquet").starts_with(b"PAR1") && folder.read("f.csv.gz").starts_with(b"\x1f\x8b"));
    // The command can read the list as a table.
    let listed = folder.run(&["classify", "set", "f.parquet", "--agent", "x", "--url", "url"]).says(0, &[]);
    assert_eq!(listed.text().lines().count(), EXPECTED.len());
    for (name, says) in [
        ("fates", "expected a file name that ends in .tsv, .csv, .jsonl, .parquet, .arrow or .arrows"),
        ("fates.txt", "expected a file name that ends in .tsv, .csv, .jsonl, .parquet, .arrow or .arrows"),
        ("captures.jsonl", "captures.jsonl"),
    ] {
        run(name).says(2, &[says]);
    }
    folder.write("robots.txt", "User-agent: *\nDisallow: /");
    folder.run(&["compile", "-o", "s", "--fates", "f.tsv", "--host", "a.example", "robots.txt"]).says(0, &[]);
    let text = String::from_utf8(folder.read("f.tsv")).unwrap();
    let urls: Vec<&str> = text.lines().skip(1).map(|line| line.split('\t').nth(3).unwrap()).collect();
    assert_eq!(urls, ["http://a.example/robots.txt", "https://a.example/robots.txt"]);
    // If the set is not written, neither is the list.
    folder.write("empty.jsonl", "");
    folder.run(&["compile", "-o", "none", "--fates", "none.tsv", "empty.jsonl"]).says(2, &[]);
    assert!(!folder.names().iter().any(|name| name.contains("none")), "{:?}", folder.names());
}

#[test]
fn fates_are_not_written_to_the_set_or_its_record() {
    let folder = Folder::new();
    folder.write("captures.jsonl", LINES);
    std::fs::create_dir(folder.path("sub")).unwrap();
    let run = |fates: &str| folder.run(&["compile", "--force", "-o", "set", "--fates", fates, "captures.jsonl"]);
    let absolute = |name: &str| folder.path(name).display().to_string();
    let needs_own = |fates: &str| run(fates).says(2, &["is the set or its build record; name another file"]);
    // Before and after the set exists.
    for _ in 0..2 {
        for fates in ["set", "./set", "sub/../set", "set.made.json", "./set.made.json", "sub/../set.made.json"] {
            needs_own(fates);
        }
        needs_own(&absolute("set"));
        needs_own(&absolute("set.made.json"));
        run("f.tsv").says(1, &[]);
    }
    #[cfg(unix)]
    for (link, target) in [("a.tsv", "set"), ("b.tsv", "set.made.json")] {
        std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
        needs_own(link);
    }
}

/// Returns a WARC record with a response for a URL.
fn record(url: &str, date: &str, answer: &str) -> String {
    let header = format!("WARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n");
    format!("WARC/1.1\r\n{header}Content-Length: {}\r\n\r\n{answer}\r\n\r\n", answer.len())
}

#[test]
fn warc_records_are_listed_with_their_redirects() {
    let folder = Folder::new();
    let (a, b) = ("http://a.example/robots.txt", "https://b.example/robots.txt");
    let moved = |to: &str| format!("HTTP/1.1 301 Moved\r\nLocation: {to}\r\n\r\n");
    let first = [
        record(a, "2026-01-01T00:00:00Z", &moved(b)),
        record("http://c.example/robots.txt", "2026-01-01T00:00:00Z", &moved("http://nowhere.example/robots.txt")),
    ];
    folder.write("1.warc", first.concat());
    folder.write("2.warc", record(b, "2026-01-01T00:00:01Z", "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /"));
    folder.run(&["compile", "-o", "set", "--fates", "f.jsonl", "1.warc", "2.warc"]).says(0, &[]);
    let text = String::from_utf8(folder.read("f.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let cells = |row: &serde_json::Value| {
        ["file", "record", "url", "status", "redirects", "redirect_chain", "fate"].map(|name| row[name].to_string())
    };
    assert_eq!(
        rows.iter().map(cells).collect::<Vec<_>>(),
        [
            ["\"1.warc\"", "1", "\"http://a.example/robots.txt\"", "200", "1", &format!("\"{b}\""), "\"used\""],
            ["\"1.warc\"", "2", "\"\"", "null", "null", "\"\"", "\"left-out\""],
            ["\"2.warc\"", "1", "\"https://b.example/robots.txt\"", "200", "0", "\"\"", "\"used\""],
        ]
    );
    assert!(rows[1]["detail"].as_str().unwrap().contains("not in the input"), "{}", rows[1]);
}
