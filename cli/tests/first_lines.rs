//! Robots.txt files whose first line looks like another format. A website writes it, so it must not decide what the file
//! is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support::Folder;

const RULES: &str = "User-agent: *\nDisallow: /private\n";

const LOG: &str = "192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 12 \"-\" \"bot-a/1.0\"\n";

/// First lines of other formats.
const STARTS: [(&str, &str); 16] = [
    ("nothing", ""),
    ("fields of IIS", "#Software: x\n#Fields: date time cs-method cs-uri-stem\n"),
    ("fields of CloudFront", "#Version: 1.0\n#Fields: date time cs-method cs(Host) x-edge-location\n"),
    ("an access log", LOG),
    ("a CDX legend", " CDX N b a m s k r M S V g\n"),
    ("a CDX legend without its space", "CDX N b a m s k r M S V g\n"),
    ("a CDX row", "example,a)/x 20260101000000 https://a.example/x text/html 200 AAAA 100\n"),
    ("CDXJ", "example,a)/x 20260101000000 {\"url\":\"https://a.example/x\"}\n"),
    ("a CDXJ header", "!OpenWayback-CDXJ 1.0\n"),
    ("an index in CSV", "url,warc_filename,warc_record_offset,warc_record_length\n"),
    ("CSV with URLs", "url,title\nhttps://a.example/x,\"a \\\" b\"\n"),
    ("CSV with captures", "url,status,body\n"),
    ("CSV after sep=", "sep=;\nurl;n\n"),
    ("TSV with captures", "url\tstatus\tbody\n"),
    ("a list of URLs", "https://a.example/x\n"),
    ("a crawl.log", "2026-01-02T03:04:05.123Z 200 9 https://a.example/ L - text/html\n"),
];

/// First lines of JSON, which a robots.txt may follow too.
const JSON: [(&str, &str); 2] = [
    ("JSON Lines", "{\"url\":\"https://a.example/robots.txt\",\"body\":\"\"}\n"),
    ("a JSON list", "[{\"url\":\"https://a.example/\"}]\n"),
];

#[test]
fn a_file_with_a_directive_is_one_robots_txt() {
    let folder = Folder::new();
    let mut ran = 0;
    for (name, start) in STARTS.into_iter().chain(JSON) {
        folder.write("file", [start, RULES].concat());
        let run = folder.run(&["test", "file", "--agent", "bot", "--brief", "/private", "/open"]).says(0, &[]);
        let verdicts: Vec<String> = run.text().lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
        assert_eq!(verdicts, ["disallow", "allow"], "{name}: {run:#?}");
        let run = folder.run(&["lint", "file"]);
        assert!(matches!(run.code, Some(0 | 1)), "{name}: {run:#?}");
        folder.run(&["compile", "--host", "a.example", "file", "--force", "-o", "set"]).says(0, &[]);
        assert_eq!(
            folder.run_with(&["classify", "set", "--agent", "bot"], b"https://a.example/private\n").says(0, &[]).text(),
            "https://a.example/private\tdisallow\n",
            "{name}"
        );
        let args = ["classify", "file", "--host", "a.example", "-", "--agent", "bot"];
        assert_eq!(
            folder.run_with(&args, b"https://a.example/open\n").says(0, &[]).text(),
            "https://a.example/open\tallow\n",
            "{name}"
        );
        ran += 4;
    }
    assert_eq!(ran, 18 * 4);
}

#[test]
fn a_file_without_a_directive_of_its_own_is_refused() {
    let folder = Folder::new();
    let row = "https://a.example/robots.txt,200,\"User-agent: *\nDisallow: /\"\n";
    let escaped = "https://a.example/robots.txt,200,\"User-agent: *\nDisallow: /\\\"x\nAllow: /y\"\n";
    let backslash = "https://b.example/robots.txt,200,\"# x \\\"\"\n";
    let carriage = "https://b.example/robots.txt,200,\"# x\rUser-agent: *\rDisallow: /\r\"\n";
    let tables = [
        ("a table of captures", format!("url,status,body\n{row}")),
        ("escaped quotes", format!("url,status,body\n{escaped}")),
        ("a backslash before a closing quote", format!("url,status,body\n{backslash}{row}")),
        ("CR in a quoted cell", format!("url,status,body\n{row}{carriage}")),
        ("CR in a cell of TSV", format!("url\tstatus\tbody\n{}", carriage.replace(',', "\t").replace('"', ""))),
    ];
    // A line such as `sep=;` does not show that a table lacks a column of URLs.
    let starts = STARTS.into_iter().chain(JSON).filter(|(name, _)| !matches!(*name, "nothing" | "CSV after sep="));
    let starts = starts.map(|(name, start)| (name, start.repeat(2)));
    let mut refused = 0;
    for (name, text) in starts.chain(tables) {
        folder.write("file", text);
        for args in
            [&["test", "file", "--agent", "bot", "/x"][..], &["compile", "--host", "a.example", "file", "-o", "set"]]
        {
            let run = folder.run(args);
            assert_eq!(run.code, Some(2), "{name}: {run:#?}");
            assert!(!folder.path("set").exists(), "{name}");
            refused += 1;
        }
    }
    assert_eq!(refused, 21 * 2);
}
