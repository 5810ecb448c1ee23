//! Evidence: the column `capture`, and `verify --row`, which decides exported rows again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support::Folder;

/// Captures of three origins: rules that change, a status without rules, and an unknown time.
const CAPTURES: &str = r#"{"url":"https://a.example/robots.txt","time":"2026-01-01T00:00:00Z","status":200,"body":"User-agent: *\nDisallow: /"}
{"url":"https://a.example/robots.txt","time":"2026-03-01T00:00:00Z","status":200,"body":"user-agent: x\ndisallow: /a\n"}
{"url":"https://a.example/robots.txt","time":"2026-03-05T00:00:00Z","status":503}
{"url":"https://gone.example/robots.txt","time":"2026-01-01T00:00:00Z","status":404,"body":"Disallow: /"}
{"url":"https://plain.example/robots.txt","body":"user-agent: *\ndisallow: /a\n"}
"#;

/// The digests of the two bodies of `a.example`, computed by the program `xxhsum`.
const DIGESTS: [&str; 2] = ["xxh3-64:988ca68b80d9215b", "xxh3-64:2213198cdb53317e"];

/// A crawler's requests, with their times.
const REQUESTS: &str = "url\ttime\tagent
https://a.example/a/1\t2026-02-01T00:00:00Z\tx
https://a.example/a/1\t2026-03-02T00:00:00Z\tx
https://a.example/b\t2026-03-02T00:00:00Z\tx
https://a.example/a/1\t2026-03-06T00:00:00Z\tx
https://a.example/a/1\t2025-12-01T00:00:00Z\tx
https://gone.example/a\t2026-03-06T00:00:00Z\tx
https://no.example/a\t2026-03-06T00:00:00Z\ty
no URL\t2026-03-06T00:00:00Z\ty
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("c.jsonl", CAPTURES);
    folder.run(&["compile", "-q", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    folder.write("requests.tsv", REQUESTS);
    folder
}

#[test]
fn captures_are_identified_by_the_digests_of_their_bodies() {
    let folder = folder();
    let columns = ["--columns", "capture,verdict"];
    let args = ["classify", "-q", "set", "requests.tsv", "--agent", "{agent}", "--at", "{time}"];
    let [old, new] = DIGESTS;
    let expected = [
        format!("{old}\tdisallow"),
        format!("{new}\tdisallow"),
        format!("{new}\tallow"),
        format!("{new}\tdisallow"),
        "\tunknown".to_owned(),
        "status:404\tallow".to_owned(),
        "\tunknown".to_owned(),
        "\tinvalid".to_owned(),
    ];
    let text = folder.run(&[&args[..], &columns].concat()).says(0, &[]).text();
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    // JSON Lines and Parquet have the same values; an unknown capture is null in Parquet.
    let lines = folder.run(&[&args[..], &columns, &["--format", "jsonl"]].concat()).says(0, &[]).text();
    assert!(lines.starts_with(&format!("{{\"capture\":\"{old}\",\"verdict\":\"disallow\"}}\n")), "{lines}");
    folder.run(&[&args[..], &["--columns", "url,capture", "-o", "out.parquet"]].concat()).says(0, &[]);
    folder.run(&["classify", "-q", "set", "out.parquet", "--agent", "x", "--url", "url"]).says(0, &[]);

    // A set that is not by time, for several crawlers.
    folder.run(&["compile", "-q", "-o", "latest", "c.jsonl"]).says(0, &[]);
    let urls = b"https://a.example/a\nhttps://gone.example/\nhttps://plain.example/a\nhttps://no.example/\n";
    let args = ["classify", "-q", "latest", "-", "--agent", "x", "--agent", "y", "--columns", "capture,verdict"];
    let text = folder.run_with(&args, urls).says(0, &[]).text();
    let expected =
        format!("{new}\tdisallow\tallow\nstatus:404\tallow\tallow\n\tdisallow\tdisallow\n\tunknown\tunknown\n");
    assert_eq!(text, expected);
}

/// Returns what `classify` adds to the requests, for the rows' own crawlers and times.
fn exported(folder: &Folder, file: &str) -> String {
    folder.write("requests.csv", REQUESTS.replace('\t', ","));
    let args = ["classify", "-q", "set", file, "--agent", "{agent}", "--at", "{time}", "--add-columns"];
    let columns = ["--columns", "verdict,line,rule,capture_time,capture"];
    folder.run(&[&args[..], &columns].concat()).says(0, &[]).text()
}

/// Returns the rows of TSV as JSON Lines.
fn as_json(tsv: &str) -> String {
    let mut lines = tsv.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let object = |line: &str| {
        let cell = |(name, cell): (&&str, &str)| {
            let value = if *name == "line" { cell.parse::<u32>().unwrap().into() } else { cell.into() };
            ((*name).to_owned(), value)
        };
        let object: serde_json::Map<String, serde_json::Value> = names.iter().zip(line.split('\t')).map(cell).collect();
        format!("{}\n", serde_json::Value::Object(object))
    };
    lines.map(object).collect()
}

#[test]
fn unchanged_rows_are_confirmed_in_every_format() {
    let folder = folder();
    let tsv = exported(&folder, "requests.tsv");
    assert!(tsv.starts_with("verdict\tline\trule\tcapture_time\tcapture\turl\ttime\tagent\n"), "{tsv}");
    folder.write("rows.tsv", &tsv);
    folder.write("rows.csv", exported(&folder, "requests.csv"));
    folder.write("rows.jsonl", as_json(&tsv));
    let [old, new] = DIGESTS;
    for file in ["rows.tsv", "rows.csv", "rows.jsonl"] {
        let text = folder.run(&["verify", "set", "--row", file]).says(0, &[]).text();
        for line in [
            format!("row 1: disallow https://a.example/a/1 for x: line 2: Disallow: / ({old}, 2026-01-01T00:00:00Z)\n"),
            format!(
                "row 2: disallow https://a.example/a/1 for x: line 2: Disallow: /a ({new}, 2026-03-01T00:00:00Z)\n"
            ),
            "row 6: allow https://gone.example/a for x: 404 (status:404, 2026-01-01T00:00:00Z)\n".to_owned(),
            "row 7: unknown https://no.example/a for y: no robots.txt is known\n".to_owned(),
            "row 8: invalid no URL for y: ".to_owned(),
            "8 rows: 8 confirmed, 0 refused\n".to_owned(),
        ] {
            assert!(text.contains(&line), "{file}: no {line:?} in {text}");
        }
    }
    let piped = folder.run_with(&["verify", "set", "--row", "-"], tsv.as_bytes()).says(0, &[]);
    assert!(piped.text().ends_with("8 rows: 8 confirmed, 0 refused\n"));
    // Several crawlers, each with its own columns, and the set's own time.
    folder.write("urls", "https://a.example/a\nhttps://a.example/b\nhttps://plain.example/a\nx\n");
    for format in ["tsv", "csv", "jsonl"] {
        let columns = "url,verdict,line,rule,capture_time,capture,any-of";
        let args = ["classify", "-q", "set", "urls", "--agent", "x", "--agent", "y>x>*", "--columns", columns];
        let header: &[&str] = if format == "jsonl" { &[] } else { &["--header"] };
        let rows = folder.run(&[&args[..], &["--format", format], header].concat()).says(0, &[]).text();
        folder.write("rows", &rows);
        let text = folder.run(&["verify", "set", "--row", "rows"]).says(0, &[]).text();
        assert!(text.ends_with("4 rows: 4 confirmed, 0 refused\n"), "{format}: {rows}{text}");
        assert!(
            text.contains("row 2: allow https://a.example/b for y>x>*: no rule of the last good copy matches"),
            "{text}"
        );
    }
    // The columns of an audit, rows that name no crawler, and a crawler for all rows.
    let audited = "time\tcrawler\turl\tverdict\tline\trule\tcapture_time\tcapture\n\
                   2026-03-02T00:00:00Z\tx\thttps://a.example/a/1\tdisallow\t2\tDisallow: /a\t2026-03-01T00:00:00Z\t";
    for (rows, more) in [
        (format!("{audited}{new}\n"), &[][..]),
        ("url\tverdict\tagent\nhttps://a.example/a\tunknown\t\nx\tinvalid\t\n".to_owned(), &[]),
        ("url\tverdict\tline\nhttps://a.example/a\tdisallow\t2\n".to_owned(), &["--agent", "x"]),
        ("url\tverdict\tagent\nhttps://a.example/a\tdisallow\tx/1.0 (+https://x.example)\n".to_owned(), &[]),
        ("url\tverdict\tcrawler\nhttps://a.example/a\tdisallow\ty>x>*\n".to_owned(), &[]),
    ] {
        folder.write("rows", &rows);
        let run = folder.run(&[&["verify", "set", "--row", "rows"], more].concat()).says(0, &[]);
        assert!(run.text().ends_with(" confirmed, 0 refused\n"), "{rows}: {run:?}");
    }
}

#[test]
fn changed_rows_are_refused() {
    let folder = folder();
    let tsv = exported(&folder, "requests.tsv");
    let (header, rows) = tsv.split_once('\n').unwrap();
    let names: Vec<&str> = header.split('\t').collect();
    let [old, new] = DIGESTS;
    let mut tried = 0;
    // The row's number, the changed column and its value, and the difference.
    for (row, column, value, says) in [
        (1, "verdict", "allow", "verdict: expected \"disallow\", found \"allow\""),
        (3, "verdict", "disallow", "verdict: expected \"allow\", found \"disallow\""),
        (7, "verdict", "allow", "verdict: expected \"unknown\", found \"allow\""),
        (7, "verdict", "", "verdict: expected \"unknown\", found \"\""),
        (1, "line", "3", "line: expected \"2\", found \"3\""),
        (2, "line", "0", "line: expected \"2\", found \"0\""),
        (3, "line", "1", "line: expected \"0\", found \"1\""),
        (2, "rule", "Disallow: /b", "rule: expected \"Disallow: /a\", found \"Disallow: /b\""),
        (2, "rule", "", "rule: expected \"Disallow: /a\", found \"\""),
        (2, "capture_time", "2026-03-01T00:00:01Z", "capture_time: expected \"2026-03-01T00:00:00Z\", found"),
        (2, "capture_time", "", "capture_time: expected"),
        (5, "capture_time", "2026-03-01T00:00:00Z", "capture_time: expected \"\", found"),
        (2, "capture", old, new),
        (1, "capture", new, old),
        (6, "capture", "status:410", "capture: expected \"status:404\", found \"status:410\""),
        (2, "capture", "", "capture: expected"),
        (1, "url", "https://gone.example/", "verdict: expected \"allow\", found \"disallow\""),
        (1, "time", "2026-03-02T00:00:00Z", "capture: expected"),
        (1, "time", "soon", "verdict: expected \"invalid\", found \"disallow\""),
        (3, "agent", "y>", "the crawler: "),
        (3, "agent", "@search", "verdict: expected \"unknown\", found \"allow\""),
        (3, "agent", "", "verdict: expected \"unknown\", found \"allow\""),
        (3, "agent", "Mozilla/5.0 (X11; Linux x86_64)", "verdict: expected \"unknown\", found \"allow\""),
    ] {
        let changed = |(at, line): (usize, &str)| {
            let mut cells: Vec<&str> = line.split('\t').collect();
            if at + 1 == row {
                cells[names.iter().position(|name| *name == column).unwrap()] = value;
            }
            cells.join("\t") + "\n"
        };
        let changed: String = rows.lines().enumerate().map(changed).collect();
        let changed = format!("{header}\n{changed}");
        for (file, text) in [("rows.tsv", changed.clone()), ("rows.jsonl", as_json(&changed))] {
            folder.write(file, text);
            let text = folder.run(&["verify", "set", "--row", file]).says(1, &[]).text();
            let refused: Vec<&str> = text.lines().filter(|line| line.contains(": refused: ")).collect();
            let row = format!("row {row}: refused: ");
            assert!(!refused.is_empty() && refused.iter().all(|line| line.starts_with(&row)), "{column} {text}");
            assert!(refused.iter().any(|line| line.contains(says)), "{column} {value}: no {says:?} in {text}");
            assert!(text.ends_with("8 rows: 7 confirmed, 1 refused\n"), "{text}");
            tried += 1;
        }
    }
    assert_eq!(tried, 46);
}

#[test]
fn rows_that_cannot_be_decided_are_errors() {
    let folder = folder();
    let long = format!("url\tverdict\tagent\n{}\tallow\tx\n", "a".repeat(2 << 20));
    let cases: [(&str, &[&str], i32, &str); 15] = [
        ("link\tverdict\tagent\nhttps://a.example/\tallow\tx\n", &[], 2, "--row url: there is no such column"),
        ("url\tanswer\tagent\nhttps://a.example/\tallow\tx\n", &[], 2, "the header lacks the column verdict"),
        ("url\tverdict\nhttps://a.example/\tallow\n", &[], 2, "the header lacks the column agent or crawler; --agent"),
        ("{\"url\":\"https://a.example/\",\"agent\":\"x\"}\n", &[], 2, "row 1 lacks the column verdict"),
        ("url\tverdict\tagent\tverdict\nhttps://a.example/\tallow\tx\tallow\n", &[], 2, "has the column verdict twice"),
        (
            "{\"url\":\"https://a.example/\",\"agent\":\"x\",\"verdict\":\"allow\",\"verdict\":\"allow\"}\n",
            &[],
            2,
            "row 1 has the column verdict twice",
        ),
        (
            "url\tverdict\tagent\nhttps://a.example/\tallow\tx\nurl\tverdict\tagent\n",
            &[],
            1,
            "row 2: refused: the header again",
        ),
        ("url\tverdict\tagent\n", &[], 2, "contains no rows"),
        ("url\tverdict\nhttps://a.example/\tallow\n", &["--agent", "@search"], 2, "--agent: expected one crawler"),
        ("url\tverdict\nhttps://a.example/\tallow\n", &["--agent", "Googelbot"], 2, "nearly the crawler"),
        ("url\tverdict\n", &["--deep"], 2, "cannot be used with"),
        ("https://a.example/\nhttps://b.example/\n", &[], 2, "--row"),
        ("url\tverdict\tagent\nhttps://a.example/\tallow\n", &[], 1, "row 1: refused: fewer cells"),
        ("url,verdict,agent\n\"https://a.example/\"x,allow,x\n", &[], 1, "row 1: refused: text after a closing quote"),
        (&long, &[], 1, "row 1: refused: "),
    ];
    for (rows, more, code, says) in cases {
        folder.write("rows", rows);
        let run = folder.run(&[&["verify", "set", "--row", "rows"], more].concat()).says(code, &[]);
        assert!(run.stderr.contains(says) || run.text().contains(says), "{rows:.80}: {run:?}");
    }
    folder.run(&["verify", "set", "--agent", "x"]).says(2, &["--row"]);
    // A damaged set confirms nothing.
    let mut bytes = folder.read("set");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("damaged", bytes);
    folder.write("rows", exported(&folder, "requests.tsv"));
    folder.run(&["verify", "damaged", "--row", "rows"]).says(2, &["damaged: "]);
}
