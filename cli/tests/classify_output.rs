//! Output of `reptile classify`: columns, formats, names, added columns, and rows that are passed on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::{Folder, Run};

const URLS: &str = "http://a.example/private?\"a,b\nhttp://a.example/private/open\nhttp://b.example/é\nhttp://n.example/\n\
                    not a URL\nhttp://c.example:8080/\nhttp://a.example/x\n";

/// Classifies a list or table for `bot-a`.
fn run(folder: &Folder, name: &str, text: &str, options: &[&str]) -> Run {
    folder.write(name, text);
    folder.run(&[&["classify", "set", name, "--agent", "bot-a"], options].concat())
}

#[test]
fn every_column_is_written_in_every_format() {
    let folder = Folder::with_set();
    let all = ["--columns", "url,verdict,line,rule,group,reason"];
    let tsv = run(&folder, "urls", URLS, &[&all[..], &["--header"]].concat()).says(0, &[]).text();
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    let names = ["url", "bot-a:verdict", "bot-a:line", "bot-a:rule", "bot-a:group", "bot-a:reason"];
    assert_eq!(rows[0], names);
    let expected = [
        ["http://a.example/private?\"a,b", "disallow", "2", "Disallow: /private", "named", "rule"],
        ["http://a.example/private/open", "allow", "3", "Allow: /private/open", "named", "rule"],
        ["http://b.example/é", "disallow", "2", "Disallow: /", "default", "rule"],
        ["http://n.example/", "unknown", "0", "", "none", "no robots.txt is known"],
        ["not a URL", "invalid", "0", "", "none", "no URL"],
        ["http://c.example:8080/", "allow", "0", "", "none", "no rule matches"],
        ["http://a.example/x", "allow", "0", "", "named", "no rule matches"],
    ];
    assert_eq!(rows[1..], expected);

    let csv = run(&folder, "urls", URLS, &[&all[..], &["--header", "--format", "csv"]].concat()).says(0, &[]).text();
    let quoted = |cell: &&str| match cell.contains(['"', ',']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => (*cell).to_owned(),
    };
    let line = |row: &Vec<&str>| row.iter().map(quoted).collect::<Vec<_>>().join(",");
    assert_eq!(csv.lines().collect::<Vec<_>>(), rows.iter().map(line).collect::<Vec<_>>());

    let json = run(&folder, "urls", URLS, &[&all[..], &["--format", "jsonl"]].concat()).says(0, &[]).text();
    let objects: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), expected.len());
    for (object, row) in objects.iter().zip(expected) {
        assert_eq!(object.as_object().unwrap().len(), names.len());
        for (name, cell) in names.iter().zip(row) {
            let found = object[name].as_str().map_or_else(|| object[name].to_string(), str::to_owned);
            assert_eq!(found, cell, "{name}");
        }
    }
    // Every output can be read as input.
    for (name, text) in [("out.csv", &csv), ("out.jsonl", &json), ("out.tsv", &tsv)] {
        let again = run(&folder, name, text, &[]).says(0, &[&format!("lines {}\n", expected.len())]).text();
        let verdicts: Vec<&str> = again.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        assert_eq!(verdicts, expected.map(|row| row[1]), "{name}");
    }
}

#[test]
fn columns_can_be_chosen() {
    let folder = Folder::with_set();
    let url = "http://a.example/private\n";
    let cases: [(&[&str], &str); 13] = [
        (&[], "http://a.example/private\tdisallow\n"),
        (&["--columns", "verdict"], "disallow\n"),
        (&["--columns", "verdict", "--format", "csv", "--header"], "bot-a:verdict\ndisallow\n"),
        (&["--columns", "verdict", "--format", "jsonl"], "{\"bot-a:verdict\":\"disallow\"}\n"),
        (&["--columns", "rule,url"], "Disallow: /private\thttp://a.example/private\n"),
        (&["--columns", "url"], "http://a.example/private\n"),
        (&["--columns", "line,any-of"], "2\tdisallow\n"),
        (
            &["--explain", "--header"],
            "url\tbot-a:verdict\tbot-a:line\tbot-a:rule\nhttp://a.example/private\tdisallow\t2\tDisallow: /private\n",
        ),
        (
            &["--columns", "url,verdict,line,rule,reason"],
            "http://a.example/private\tdisallow\t2\tDisallow: /private\trule\n",
        ),
        (&["--columns", "url,verdict,reason"], "http://a.example/private\tdisallow\trule\n"),
        (&["--agent", "x", "--columns", "verdict,any-of"], "disallow\tallow\tdisallow\n"),
        (
            &["--agent", "x", "--columns", "verdict,any-of", "--header"],
            "bot-a:verdict\tx:verdict\tverdict\ndisallow\tallow\tdisallow\n",
        ),
        (
            &["--agent", "x", "--columns", "verdict,line,any-of", "--format", "jsonl"],
            "{\"bot-a:verdict\":\"disallow\",\"bot-a:line\":2,\"x:verdict\":\"allow\",\"x:line\":0,\"verdict\":\"disallow\"}\n",
        ),
    ];
    for (options, expected) in cases {
        assert_eq!(run(&folder, "urls", url, options).says(0, &[]).text(), expected, "{options:?}");
    }
    for options in [
        &["--columns", "verdict", "--explain"][..],
        &["--columns", "colour"],
        &["--format", "xml"],
        &["--only", "allow", "--columns", "url"],
        &["--only", "allow", "--format", "csv"],
        &["--only", "allow", "--add-columns"],
        &["--only", "invalid"],
        &["--add-columns", "--format", "csv"],
        &["--add-columns", "--header"],
        &["--add-columns", "--columns", "url"],
        &["--header", "--format", "jsonl"],
    ] {
        run(&folder, "urls", url, options).says(2, &["--"]);
    }
}

/// The combined verdict of all agents, and its counts.
#[test]
fn the_combined_verdict_is_the_strictest() {
    let folder = Folder::with_set();
    let options = ["--agent", "x", "--columns", "verdict,any-of"];
    let run = run(&folder, "urls", &URLS.replace("/x\n", "/xzy\n"), &options);
    let run = run.says(0, &["any of them allow 2, disallow 3, unknown 1, invalid 1\n"]);
    let all: Vec<String> = run.text().lines().map(|line| line.rsplit('\t').next().unwrap().to_owned()).collect();
    assert_eq!(all, ["disallow", "allow", "disallow", "unknown", "invalid", "allow", "disallow"]);
}

/// Tables with a row for each verdict and an invalid row.
const TABLES: [(&str, &str); 4] = [
    (
        "t.txt",
        "http://a.example/private/\u{202e}\r\nhttp://a.example/\u{202e}\nx\nhttp://n.example/\nhttp://b.example/",
    ),
    (
        "t.tsv",
        "url\tx\r\nhttp://a.example/private/\ty\u{7}\r\nhttp://a.example/\t5\"\n\nhttp://n.example/\t\nhttp://b.example/\t1\t",
    ),
    (
        "t.csv",
        "x,url\n\"y\r\n\"\"\",http://a.example/private/\r\n,\"http://a.example/\"\nx\n,http://n.example/,\n\"\n\",http://b.example/",
    ),
    (
        "t.jsonl",
        " { \"url\":\"http://a.example/private/\", \"x\":1 }\r\n{\"url\":\"http:\\/\\/a.example/\"}\n{}\n{\"url\":\"http://n.example/\"}\n{\"url\":\"http://b.example/\"}",
    ),
];

/// Writes a table, and returns its header and rows.
fn rows(folder: &Folder, name: &str, text: &str) -> (String, Vec<String>) {
    let header = if name.ends_with(".tsv") || name.ends_with(".csv") { text.find('\n').unwrap() + 1 } else { 0 };
    let (header, mut rest) = text.split_at(header);
    let mut rows = Vec::new();
    // In CSV two rows have a line end in a cell.
    let line_ends: &[usize] = if name == "t.csv" { &[2, 1, 1, 1, 1] } else { &[1; 5] };
    for &count in line_ends {
        let at = rest.match_indices('\n').nth(count - 1).map_or(rest.len(), |(at, _)| at + 1);
        rows.push(rest[..at].to_owned());
        rest = &rest[at..];
    }
    let last = rows.pop().unwrap() + rest;
    rows.push(last);
    folder.write(name, text);
    (header.to_owned(), rows)
}

#[test]
fn only_passes_rows_on_byte_for_byte() {
    let folder = Folder::with_set();
    for (name, text) in TABLES {
        let (header, rows) = rows(&folder, name, text);
        for (only, wanted) in [("disallow", &[0, 4][..]), ("allow", &[1]), ("unknown", &[3])] {
            let expected: String = header.clone() + &wanted.iter().map(|&at: &usize| &*rows[at]).collect::<String>();
            let found = run(&folder, name, text, &["--only", only]).says(0, &["lines 5\n"]);
            assert_eq!(found.text(), expected, "{name} {only}");
        }
        let both = run(&folder, name, text, &["--only", "allow", "--agent", "c"]);
        let both = both.says(0, &["any of them allow 1, disallow 2, unknown 1, invalid 1\n"]);
        assert_eq!(both.text(), header + &rows[1], "{name}");
    }
    // Rows that are too long are invalid, which `--only` cannot select.
    let long = "x".repeat(9 << 20);
    for name in ["long", "long.csv", "long.jsonl"] {
        let head = if name == "long.csv" { "url\n" } else { "" };
        let row = if name == "long.jsonl" { "{\"url\":\"http://b.example/\"}\n" } else { "http://b.example/\n" };
        let text = format!("{head}{row}{long}\n{row}");
        assert_eq!(
            run(&folder, name, &text, &["--only", "disallow"]).says(0, &[]).text(),
            text.replace(&format!("{long}\n"), "")
        );
    }
}

#[test]
fn added_columns_precede_unchanged_rows() {
    let folder = Folder::with_set();
    let verdicts = ["disallow", "allow", "invalid", "unknown", "disallow"];
    for (name, text) in TABLES {
        let (header, rows) = rows(&folder, name, text);
        let separator = if name.ends_with(".csv") { "," } else { "\t" };
        let mut expected = String::new();
        if !header.is_empty() {
            expected.push_str(&format!("bot-a:verdict{separator}verdict{separator}{header}"));
        }
        for (row, verdict) in rows.iter().zip(verdicts) {
            let end = if row.ends_with('\n') { "" } else { "\n" };
            let row = match row.trim_start().strip_prefix('{') {
                Some(fields) => {
                    let comma = if fields.starts_with('}') { "" } else { "," };
                    format!("{{\"bot-a:verdict\":\"{verdict}\",\"verdict\":\"{verdict}\"{comma}{fields}{end}")
                }
                None => format!("{verdict}{separator}{verdict}{separator}{row}{end}"),
            };
            expected.push_str(&row);
        }
        let found =
            run(&folder, name, text, &["--add-columns", "--columns", "verdict,any-of"]).says(0, &["lines 5\n"]).text();
        assert_eq!(found, expected, "{name}");
        let again = run(&folder, "again", &found, &["--input-format", "list"]);
        assert!(again.text().lines().count() >= 5);
        let explained = run(&folder, name, text, &["--add-columns", "--columns", "rule,verdict"]).text();
        let start = if name.ends_with(".jsonl") {
            "{\"bot-a:rule\":\"Disallow: /private\",\"bot-a:verdict\":\"disallow\", "
        } else {
            "Disallow: /private"
        };
        let first = explained.lines().nth(usize::from(!header.is_empty())).unwrap();
        assert!(first.starts_with(start), "{explained}");
    }
}

/// Lines that span many chunks, in every format.
#[test]
fn long_lines_keep_their_cells() {
    let folder = Folder::with_set();
    let long = "\"a,\\".repeat(9 << 18);
    let shown = "%22a%2C%5C".repeat(9 << 18);
    let text = format!("http://b.example/\n{long}\r\nhttp://b.example/\n");
    for (options, row, other) in [
        (&[][..], format!("{long}\tinvalid\n"), "http://b.example/\tdisallow\n"),
        (&["--format", "csv"], format!("{shown},invalid\n"), "http://b.example/,disallow\n"),
        (
            &["--format", "jsonl", "--columns", "url,verdict,any-of"],
            format!("{{\"url\":\"{shown}\",\"bot-a:verdict\":\"invalid\",\"verdict\":\"invalid\"}}\n"),
            "{\"url\":\"http://b.example/\",\"bot-a:verdict\":\"disallow\",\"verdict\":\"disallow\"}\n",
        ),
        (&["--columns", "verdict,line"], "invalid\t0\n".to_owned(), "disallow\t2\n"),
        (&["--add-columns"], format!("invalid\t{long}\n"), "disallow\thttp://b.example/\n"),
    ] {
        let found = run(&folder, "urls", &text, options).says(0, &["lines 3\n", "disallow 2, unknown 0, invalid 1\n"]);
        assert!(found.stdout == format!("{other}{row}{other}").as_bytes(), "{options:?}");
    }
    for (name, escape, head, row, added) in [
        ("t.csv", &["--escape", "quote"][..], "url,x\n", "http://b.example/,1\n", "invalid,"),
        ("t.jsonl", &[], "", "{\"url\":\"http://b.example/\"}\n", "{\"bot-a:verdict\":\"invalid\"}\n"),
    ] {
        let text = format!("{head}{row}{long}\n{row}");
        let found = run(&folder, name, &text, &[&["--add-columns"], escape].concat()).says(0, &["lines 3\n"]).text();
        assert!(found.contains(added), "{name}");
        assert_eq!(found.contains(&long), name == "t.csv");
        assert_eq!(found.lines().count(), 3 + head.lines().count(), "{name}");
        let found = run(&folder, name, &text, escape).says(0, &[]).text();
        assert_eq!(found, "http://b.example/\tdisallow\n\tinvalid\nhttp://b.example/\tdisallow\n", "{name}");
    }
}

/// Untrusted text is escaped in every format. In JSON, so are bytes that are not UTF-8.
#[test]
fn cells_are_safe_in_every_format() {
    let folder = Folder::with_set();
    let urls = b"http://a.example/\xff\x1b[1m\nhttp://a.example/\xe2\x80\xae\n";
    for (format, first) in [
        ("tsv", &b"http://a.example/\xff%1B[1m\tinvalid\n"[..]),
        ("csv", b"http://a.example/\xff%1B[1m,invalid\n"),
        ("jsonl", b"{\"url\":\"http://a.example/%FF%1B[1m\",\"bot-a:verdict\":\"invalid\"}\n"),
    ] {
        let run = folder.run_with(&["classify", "set", "--agent", "bot-a", "--format", format], urls);
        let escaped = run.stdout.escape_ascii().to_string();
        assert!(run.stdout.starts_with(&first[..17]) && run.stdout.len() > first.len(), "{escaped}");
        assert!(!run.stdout.contains(&0x1b) && escaped.contains("%E2%80%AE"), "{escaped}");
        assert_eq!(format == "jsonl", std::str::from_utf8(&run.stdout).is_ok());
    }
}

/// Rows are passed to pipes and files unchanged. Colored output is for people, so control characters are escaped.
#[test]
fn rows_are_escaped_in_colored_output() {
    let folder = Folder::with_set();
    let text = "x\turl\n\u{1b}[1m\u{fdd1}\u{9b}\thttp://a.example/\n".to_owned() + &"y\thttp://b.example/\n".repeat(50);
    for (options, rows) in
        [(["--only", "allow"], "\u{1b}[1m\u{fdd1}\u{9b}\thttp://a.example/\n"), (["--add-columns", "-q"], "")]
    {
        let found = run(&folder, "t.tsv", &text, &options).says(0, &[]).text();
        assert!(found.contains("\u{1b}[1m\u{fdd1}\u{9b}\thttp") && found.ends_with(rows), "{found:?}");
        run(&folder, "t.tsv", &text, &[&options[..], &["-o", "out", "--force"]].concat()).says(0, &[]);
        assert_eq!(folder.read("out"), found.as_bytes());
        let shown = run(&folder, "t.tsv", &text, &[&options[..], &["--color", "always"]].concat()).says(0, &[]).text();
        assert!(shown.contains("\\u{1b}[1m\\u{fdd1}\\u{9b}\thttp"), "{shown:?}");
        assert!(!shown.contains(['\u{fdd1}', '\u{9b}']), "{shown:?}");
    }
}

#[test]
fn a_failed_run_never_writes_a_complete_parquet_file() {
    let folder = Folder::with_set();
    let mut packed = support::gz("http://a.example/private\n".repeat(200_000).as_bytes());
    let args = ["classify", "set", "urls.gz", "--agent", "bot-a", "--format", "parquet"];
    folder.write("urls.gz", &packed);
    let whole = folder.run(&args).says(0, &[]);
    assert!(whole.stdout.starts_with(b"PAR1") && whole.stdout.ends_with(b"PAR1"));
    packed.truncate(packed.len() - 20);
    folder.write("urls.gz", &packed);
    let cut = folder.run(&args).says(2, &["urls.gz: cannot be read"]);
    // The first bytes are the same, so a file that begins and ends with them is longer.
    let is_complete = cut.stdout.len() > b"PAR1".len() && cut.stdout.ends_with(b"PAR1");
    assert!(!is_complete, "{} bytes", cut.stdout.len());
}
