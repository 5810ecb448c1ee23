//! Command lines that are probably mistakes: each is rejected with the intended command, and none passes as a completed
//! check.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::{Folder, Run, gz};

/// Creates a folder with a set, robots.txt files, lists, tables and pages.
fn folder() -> Folder {
    let folder = Folder::with_set();
    for (name, body) in [
        ("robots.txt", "User-agent: *\nDisallow: /private\n"),
        ("new.txt", "User-agent: *\nDisallow: /private\nDisallow: /new\n"),
        ("urls.txt", "http://a.example/x\nhttp://a.example/y\n"),
        ("list", "http://a.example/x\n"),
        ("empty.txt", ""),
        ("blank.txt", "\n \t\r\n\n"),
        ("comment.txt", "# /cart must be allowed\n"),
        ("paths.txt", "/x\n"),
        ("agents.txt", "bot-a\n"),
        ("path.txt", "/private"),
        ("name.txt", "robots.txt"),
        ("cases.tsv", "a.example\tbot-a\t/private\tDISALLOW\n"),
        ("comments.tsv", "# nothing\nhost\tagent\turl\n"),
        ("rules.html", "<!doctype html>\n<html>\nUser-agent: *\nDisallow: /private\n</html>\n"),
        ("page.html", "<!doctype html>\n<html><p>Disallow: /x</p></html>\n"),
    ] {
        folder.write(name, body);
    }
    folder.write("urls.csv.gz", gz(b"url\nhttp://a.example/x\n"));
    folder.write("data.bin", b"\0\x01\x02\x03\x04\x05");
    folder
}

/// Splits a command line into words; `''` is an empty word.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').map(|word| if word == "''" { "" } else { word }).collect()
}

fn run(folder: &Folder, line: &str) -> Run {
    folder.run(&words(line))
}

#[test]
fn probable_mistakes_are_rejected_with_the_intended_command() {
    let folder = folder();
    let cases: &[(&str, i32, &[&str])] = &[
        // A list where a URL is expected.
        (
            "test robots.txt --agent bot-a --expect allow urls.txt",
            2,
            &[
                "urls.txt: is a file, not a URL",
                "`reptile test robots.txt --agent bot-a --expect allow --urls urls.txt`",
            ],
        ),
        (
            "test urls.txt --agent A>B --expect allow robots.txt",
            2,
            &[
                "urls.txt: is a list of URLs",
                "`reptile test robots.txt --agent 'A>B' --expect allow --urls urls.txt` tests",
            ],
        ),
        ("test urls.txt --agent bot-a --expect allow /x", 2, &["urls.txt: is a list of URLs", "--urls urls.txt`"]),
        ("test urls.txt --agent bot-a --status 200 /x", 0, &[]),
        ("test path.txt --agent bot-a /x", 2, &["path.txt: contains only a path or a file name", "--urls path.txt`"]),
        ("test name.txt --agent bot-a /x", 2, &["name.txt: contains only a path or a file name, not a robots.txt"]),
        ("diff robots.txt path.txt", 2, &["path.txt: contains only a path or a file name"]),
        ("test robots.txt --agent bot-a list", 2, &["list: is a file, not a URL", "--urls list`", "write /list"]),
        ("test robots.txt --agent bot-a /x ../robots", 0, &[]),
        ("test robots.txt --agent bot-a --brief missing.csv", 2, &["missing.csv: looks like a file name"]),
        ("test robots.txt --agent bot-a --brief a.JSONL.zst", 2, &["a.JSONL.zst: looks like a file name"]),
        ("test robots.txt --agent bot-a --brief urls.parquet", 2, &["looks like a file name"]),
        (
            "test robots.txt --agent bot-a --dialect google-lib --brief urls.txt",
            2,
            &["is a file", "--dialect google-lib"],
        ),
        ("test robots.txt --agent bot-a --brief set", 2, &["set: is a file, not a URL"]),
        ("test robots.txt --agent bot-a --brief /urls.txt", 0, &[]),
        ("test robots.txt --agent bot-a --brief http://a.example/urls.txt", 0, &[]),
        ("test robots.txt --agent bot-a --brief index.html", 0, &[]),
        ("test robots.txt --agent bot-a --brief robots", 0, &[]),
        ("test robots.txt --agent bot-a --urls urls.txt /x", 2, &["cannot be used with"]),
        ("inspect set urls.txt", 2, &["not a host", "`reptile summarize set urls.txt --agent TOKEN`"]),
        ("fields robots.txt urls.csv", 2, &["not a host"]),
        ("inspect set a.example", 0, &[]),
        ("diff robots.txt urls.txt", 2, &["is a list of URLs", "`reptile diff robots.txt NEW.TXT --urls urls.txt`"]),
        ("diff urls.txt robots.txt", 2, &["is a list of URLs"]),
        ("diff set robots.txt", 2, &["set: is a compiled set, and robots.txt is not: expected two sets, or two"]),
        ("diff robots.txt set", 2, &["set: is a compiled set, and robots.txt is not"]),
        // Nothing to compare.
        ("test robots.txt --agent bot-a --expect allow --urls empty.txt", 2, &["empty.txt: contains no URL"]),
        ("test robots.txt --agent bot-a --expect allow --urls blank.txt", 2, &["blank.txt: contains no URL"]),
        ("test robots.txt --agent bot-a --json --urls blank.txt", 2, &["blank.txt: contains no URL"]),
        ("test robots.txt --agent bot-a --expect allow --urls comment.txt", 2, &["comment.txt: contains no URL"]),
        ("test robots.txt --agent bot-a --brief --urls empty.txt", 2, &["empty.txt: contains no URL"]),
        ("test robots.txt --agent bot-a --all-dialects --urls empty.txt", 2, &["empty.txt: contains no URL"]),
        ("test robots.txt --agent bot-a --expect allow", 2, &["standard input: contains no URL"]),
        ("test robots.txt --agent bot-a --expect allow --urls urls.txt", 0, &[]),
        ("test robots.txt --agent bot-a --expect allow ''", 2, &["an empty argument is not a URL"]),
        ("diff robots.txt new.txt --urls empty.txt", 2, &["empty.txt: contains no URL"]),
        ("diff robots.txt robots.txt --urls blank.txt", 2, &["blank.txt: contains no URL"]),
        ("diff set set --urls empty.txt", 2, &["empty.txt: contains no URL"]),
        ("diff set set --urls paths.txt", 2, &["1 of 1 lines are not http, https or ftp URLs"]),
        ("diff set set --urls urls.txt", 0, &[]),
        ("check empty.txt --robots robots", 2, &["0 rows", "empty.txt: contains no rows"]),
        ("check comments.tsv --robots robots", 2, &["comments.tsv: contains no rows"]),
        ("check comments.tsv --robots robots --all-dialects", 2, &["comments.tsv: contains no rows"]),
        ("check cases.tsv --robots robots", 0, &["1 checked"]),
        ("classify set empty.txt --agent bot-a", 0, &["empty.txt: contains no rows", "lines 0"]),
        ("summarize set empty.txt --agent bot-a", 0, &["empty.txt: contains no host or URL"]),
        // Swapped arguments.
        ("classify urls.txt set --agent bot-a", 2, &["which comes first: `reptile classify set urls.txt`"]),
        ("summarize urls.txt set --agent bot-a", 2, &["which comes first: `reptile summarize set urls.txt`"]),
        ("inspect urls.txt set", 2, &["which comes first: `reptile inspect set urls.txt`"]),
        ("filter set --set urls.txt --agent bot-a", 2, &["urls.txt"]),
        ("compile -o x.reptile set", 2, &["set: is a compiled set", "`reptile update`"]),
        // Names of outputs.
        (
            "compile -o x.parquet robots",
            2,
            &["x.parquet: the name of a compiled set cannot end in .parquet", "write -o x.reptile"],
        ),
        ("compile -o x.reptile.gz robots", 2, &["the name of a compiled set cannot end in .gz", "write -o x.reptile"]),
        (
            "classify set urls.txt --agent bot-a --format csv -o x.jsonl",
            2,
            &["its extension means jsonl, but --format is csv"],
        ),
        ("classify set urls.txt --agent bot-a --format tsv -o x.parquet", 2, &["its extension means parquet"]),
        ("summarize set --agent bot-a --format tsv -o x.csv.gz", 2, &["its extension means csv, but --format is tsv"]),
        ("classify set urls.txt --agent bot-a --only allow -o x.parquet", 2, &["--only keeps the format of URLS, tsv"]),
        (
            "classify set urls.csv.gz --agent bot-a --add-columns -o x.tsv",
            2,
            &["--add-columns keeps the format of URLS, csv"],
        ),
        ("classify set urls.txt --agent bot-a --only allow -o only.csv", 0, &[]),
        // Columns and agents.
        (
            "classify set urls.txt --agent bot-a --columns url,line,url",
            2,
            &["--columns url: is given twice", "column 3"],
        ),
        ("summarize set --agent bot-a --key host,host", 2, &["--key: host is given twice"]),
        ("classify set urls.txt --agent bot-a --agent BOT-A", 2, &["\"bot-a\" and \"BOT-A\" are the same crawler"]),
        ("test robots.txt --agent bot-a --agent bot-a /x", 2, &["\"bot-a\" is given twice"]),
        (
            "classify set urls.txt --agent @ai-training --agent GPTBot",
            2,
            &["\"GPTBot\" is in the group \"@ai-training\" too: leave out one of them"],
        ),
        ("summarize set --agent GPTBot --agent @ai-training", 2, &["\"GPTBot\" is in the group \"@ai-training\" too"]),
        ("diff robots.txt new.txt --agent x --agent X --urls urls.txt", 2, &["\"x\" and \"X\" are the same crawler"]),
        ("classify set urls.txt --agent ''", 2, &["--agent", "empty"]),
        ("classify set urls.txt --agent GPTBot,CCBot", 2, &["a list", "\"GPTBot\", \"CCBot\""]),
        ("classify set urls.txt --agent agents.txt", 2, &["--agent: \"agents.txt\" is a file"]),
        ("test robots.txt --agent agents.txt /x", 2, &["--agent: \"agents.txt\" is a file"]),
        ("timeline set --agent bot-a", 2, &["set: is a compiled set without times", "compile it again with --by-time"]),
        ("timeline urls.txt set --agent bot-a", 2, &["which comes first: `reptile timeline set urls.txt`"]),
        ("timeline robots empty.txt --agent bot-a", 0, &["empty.txt: contains no host or URL"]),
        ("timeline robots --agent bot-a --key host,host", 2, &["--key: host is given twice"]),
        ("timeline robots --agent bot-a --usage-from all", 2, &["--usage-from: requires --usage"]),
        (
            "timeline robots --agent bot-a --usage status --vocabulary any",
            2,
            &["--usage status: is given twice, or is"],
        ),
        ("timeline robots --agent bot-a --header --format jsonl", 2, &["--header: JSON Lines already"]),
        ("timeline robots --agent bot-a --header --format arrow", 2, &["--header: Arrow already"]),
        ("timeline robots --agent bot-a -o urls.txt", 2, &["urls.txt", "exists already"]),
        ("summarize set --agent ./agents.txt", 2, &["--agent: \"./agents.txt\" is a file"]),
        ("classify set urls.txt --agent list", 0, &["agent list is not named by any robots.txt in this set"]),
        // Pages.
        (
            "test rules.html --agent bot-a --brief /private",
            0,
            &["rules.html: is a web page (HTML); Google obeys the rules in it (1)"],
        ),
        ("test rules.html --agent bot-a --expect disallow /private", 0, &["is a web page"]),
        ("test page.html --agent bot-a --brief /x", 2, &["page.html: is a web page (HTML), not a robots.txt"]),
        ("test page.html --agent bot-a --status 404 --expect allow /x", 0, &[]),
        ("test rules.html --agent bot-a --status 200 --expect disallow /private", 0, &[]),
        ("test rules.html --agent bot-a --status 404 --expect allow /private", 0, &[]),
        ("test data.bin --agent bot-a --brief /x", 2, &["data.bin: is"]),
        ("test data.bin --agent bot-a --status 503 --profile rfc9309 --expect disallow /x", 0, &[]),
        ("test robots --agent bot-a --status 200 /x", 2, &["robots: is a folder"]),
        // Times.
        ("classify set urls.txt --agent bot-a --at 2026-01-01", 2, &["which --at requires", "--by-time"]),
        ("classify set urls.txt --agent bot-a --at 2026-01-01 --at {x}", 2, &["cannot be used multiple times"]),
    ];
    for (line, code, texts) in cases {
        let run = run(&folder, line);
        assert_eq!(run.code, Some(*code), "{line}: {run:#?}");
        run.says(*code, texts);
    }
    assert_eq!(cases.len(), 92);
    // The rejected commands have written nothing.
    let names = folder.names();
    assert!(!names.iter().any(|name| name.starts_with("x.")), "{names:?}");
}

#[test]
fn white_space_around_urls_is_ignored() {
    let folder = folder();
    let list = b" /private \r\n\n\t/private/x\x0b\n \n/y /\n";
    let test = ["test", "robots.txt", "--agent", "a", "--json"];
    let text = folder.run_with(&test, list).says(0, &[]).text();
    let urls: Vec<(String, String)> = text
        .lines()
        .map(|line| {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            (object["url"].as_str().unwrap().to_owned(), object["verdict"].as_str().unwrap().to_owned())
        })
        .collect();
    let urls: Vec<(&str, &str)> = urls.iter().map(|(url, verdict)| (&**url, &**verdict)).collect();
    assert_eq!(urls, [("/private", "disallow"), ("/private/x", "disallow"), ("/y /", "allow")]);
    let run = folder.run(&["test", "robots.txt", "--agent", "a", "--expect", "disallow", " /private ", "\t/private"]);
    run.says(0, &[]);
    folder.write("white", " /new \n\n\t\n");
    let run = folder.run(&["diff", "robots.txt", "new.txt", "--urls", "white", "--agent", "a"]).says(1, &[]);
    assert!(run.text().ends_with("/new\ta\tallow\t0\tdisallow\t3\n"), "{run:?}");
}

#[test]
fn the_output_extension_selects_the_format() {
    let folder = folder();
    for (name, start) in [
        ("out.csv", &b"http://a.example/x,allow\n"[..]),
        ("out.tsv", b"http://a.example/x\tallow\n"),
        ("out", b"http://a.example/x\tallow\n"),
        ("out.txt", b"http://a.example/x\tallow\n"),
        ("out.jsonl", b"{\"url\":\"http://a.example/x\",\"bot-a:verdict\":\"allow\"}\n"),
        ("out.ndjson", b"{\"url\":"),
        ("out.parquet", b"PAR1"),
        ("out.csv.gz", b"\x1f\x8b"),
        ("out.jsonl.zst", b"\x28\xb5\x2f\xfd"),
    ] {
        folder.run(&["classify", "set", "urls.txt", "--agent", "bot-a", "-o", name]).says(0, &[]);
        assert!(folder.read(name).starts_with(start), "{name}: {:?}", folder.read(name).escape_ascii().to_string());
        folder.run(&["summarize", "set", "--agent", "bot-a", "--force", "-o", name]).says(0, &[]);
    }
    let text = String::from_utf8(folder.read("out.csv")).unwrap();
    assert!(text.lines().any(|line| line.starts_with("http://a.example/,bot-a,")), "{text}");
    assert!(folder.read("out.jsonl").starts_with(b"{\"url\":"));
    assert!(folder.read("out.parquet").starts_with(b"PAR1"));
    assert!(!folder.read("out.csv.gz").is_empty());
    // The given format may match the name.
    let args = ["classify", "set", "urls.txt", "--agent", "bot-a", "--format", "csv", "--force", "-o", "out.csv"];
    folder.run(&args).says(0, &[]);
    // In an output folder, a file is named after its list, with the extension of --format.
    let args = ["classify", "set", "urls.csv.gz", "--agent", "bot-a", "-o", "many/"];
    folder.run(&args).says(0, &[]);
    assert!(folder.read("many/urls.csv.gz.tsv").starts_with(b"http://a.example/x\tallow\n"));
}

#[test]
fn agents_in_tables_are_checked_like_those_of_options() {
    let folder = folder();
    let cases = [
        ("bot-a", 0, ""),
        ("Googlebot", 0, ""),
        ("*", 0, ""),
        ("Googelbot", 1, "no robots.txt names \"Googelbot\", which is nearly the crawler \"Googlebot\""),
        ("ChatGPT", 1, "no robots.txt names \"ChatGPT\", which is not a crawler's name: write \"GPTBot\""),
        ("Mozilla/5.0 (compatible; Googlebot/2.1)", 1, "write \"Googlebot\""),
        ("GPTBot,CCBot", 1, "a list is not a product token"),
        ("@search", 1, "expected one crawler, found the group \"@search\""),
        ("", 1, "empty product token"),
    ];
    for (agent, code, text) in cases {
        folder.write("rows", format!("c.example:8080\t{agent}\t/\tALLOW\nc.example:8080\tbot-a\t/\tALLOW\n"));
        for more in [&[][..], &["--all-dialects"]] {
            let run = folder.run(&[&["check", "rows", "--robots", "robots"][..], more].concat());
            assert_eq!(run.code, Some(code), "{agent}: {run:#?}");
            let both = run.stderr.clone() + &run.text();
            assert!(both.contains(text), "{agent}: {both}");
            let malformed = if code == 1 { "1 malformed rows" } else { "checked" };
            assert!(both.contains(malformed) || code == 0, "{agent}: {both}");
        }
    }
    folder.write("rows", "c.example:8080\tGoogelbot\t/\tALLOW\nc.example:8080\tMozilla/5.0 (x)\t/\tALLOW\n");
    folder.run(&["check", "rows", "--robots", "robots", "--exact-agent"]).says(0, &["2 checked"]);
    // A row without an expectation checks nothing.
    folder.write("rows", "c.example:8080\tbot-a\t/\n");
    folder.run(&["check", "rows", "--robots", "robots"]).says(2, &["rows: no row expects a verdict", "--print"]);
    folder.run(&["check", "rows", "--robots", "robots", "--print"]).says(0, &[]);
    // In a table of URLs, a row with such an agent keeps its verdict, and is counted and reported.
    folder.write("log.tsv", "url\tbot\nhttp://a.example/x\tGoogelbot\nhttp://a.example/x\tbot-a\n");
    let args = ["classify", "set", "log.tsv", "--agent", "{bot}"];
    let run = folder.run(&args).says(0, &["1 rows name crawlers", "\"Googelbot\" for \"Googlebot\"", "exact:{COLUMN}"]);
    assert_eq!(run.text().lines().count(), 2);
    let run = folder.run(&[&args[..4], &["exact:{bot}"]].concat()).says(0, &[]);
    assert!(!run.stderr.contains("Googelbot\" for"), "{run:?}");
}

#[test]
fn sets_by_time_report_that_no_time_was_given() {
    let folder = Folder::new();
    let captures = [
        r#"{"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /old\n", "time": "2026-01-01T00:00:00Z"}"#,
        r#"{"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /new\n", "time": "2026-02-01T00:00:00Z"}"#,
    ];
    folder.write("c.jsonl", captures.join("\n"));
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    folder.write("urls", "https://a.example/old\nhttps://a.example/new\n");
    let note = "has rules for several times; without a time, the rules of";
    let verdicts = |more: &[&str]| {
        let run =
            folder.run(&[&["classify", "set", "urls", "--agent", "x", "--columns", "verdict"][..], more].concat());
        (run.text().lines().collect::<Vec<_>>().join(" "), run.stderr.matches(note).count())
    };
    assert_eq!(verdicts(&[]), ("allow disallow".into(), 1));
    assert_eq!(verdicts(&["--at", "2026-01-15"]), ("disallow allow".into(), 0));
    assert_eq!(verdicts(&["--at", "2026-02-15T00:00:00Z"]), ("allow disallow".into(), 0));
    assert_eq!(verdicts(&["--at", "2025-01-01"]), ("unknown unknown".into(), 0));
    assert_eq!(verdicts(&["--at", "2026-01-15", "--columns", "verdict,line"]).1, 0);
    let run = folder.run(&["summarize", "set", "--agent", "x"]).says(0, &[note]);
    assert_eq!(run.stderr.matches(note).count(), 1);
    // With reasons, and for crawlers named in rows.
    let args = ["classify", "set", "urls", "--agent", "x", "--explain", "--at", "2026-01-15"];
    assert!(folder.run(&args).says(0, &[]).text().starts_with("https://a.example/old\tdisallow\t2\tDisallow: /old\n"));
    folder.write("rows.tsv", "url\tbot\nhttps://a.example/old\tx\nhttps://a.example/new\tx\n");
    let args = ["classify", "set", "rows.tsv", "--agent", "{bot}", "--columns", "verdict", "--at", "2026-01-15"];
    assert_eq!(folder.run(&args).says(0, &[]).text(), "disallow\nallow\n");
    // A column of times excludes one time for all rows.
    let args = ["classify", "set", "rows.tsv", "--agent", "x", "--at", "{bot}", "--at", "2026-01-15"];
    folder.run(&args).says(2, &["cannot be used multiple times"]);

    let record = |url: &str, date: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n{date}Content-Length: 2\r\n\r\nab\r\n\r\n"
        )
    };
    let (old, new) = ("WARC-Date: 2026-01-15T00:00:00Z\r\n", "WARC-Date: 2026-02-15T00:00:00Z\r\n");
    let records = [
        (record("https://a.example/old", old), false),
        (record("https://a.example/new", old), true),
        (record("https://a.example/old", new), true),
        (record("https://a.example/new", new), false),
        (record("https://a.example/x", ""), false),
        (record("https://a.example/x", "WARC-Date: yesterday\r\n"), false),
        (record("https://a.example/x", "WARC-Date: 2025-12-31T23:59:59Z\r\n"), false),
    ];
    folder.write("f.warc", records.iter().map(|(record, _)| &**record).collect::<String>());
    let kept: String = records.iter().filter(|(_, is_kept)| *is_kept).map(|(record, _)| &**record).collect();
    let run = folder.run(&["filter", "f.warc", "--set", "set", "--agent", "x", "-o", "out.warc"]);
    run.says(
        0,
        &[
            "allow 2\n",
            "disallow 2\n",
            "unknown 1\n",
            "invalid 2\n",
            "without a valid date 2",
            "record 6: \"yesterday\"",
        ],
    );
    assert_eq!(String::from_utf8(folder.read("out.warc")).unwrap(), kept);
}

#[test]
fn only_urls_of_the_files_own_host_are_fixed() {
    let body = "User-agent: *\nDisallow: https://example.com/x\nDisallow: https://other.example/y\n";
    let fixed = "User-agent: *\nDisallow: /x\nDisallow: https://other.example/y\n";
    for (name, more, after) in [
        ("robots.txt", &[][..], body),
        ("robots.txt", &["--host", "example.com"], fixed),
        ("robots.txt", &["--host", "https://example.com"], fixed),
        ("robots.txt", &["--host", "third.example"], body),
        ("example.com", &[], fixed),
        ("sites/example.com/robots.txt", &[], fixed),
        ("sites/third.example", &[], body),
    ] {
        let folder = Folder::new();
        folder.write(name, body);
        let run = folder.run(&[&["lint", name, "--fix=changes"][..], more].concat());
        assert_eq!(String::from_utf8(folder.read(name)).unwrap(), after, "{name} {more:?}: {run:?}");
        run.says(1, &["error[absolute-url]"]);
    }
    let folder = Folder::new();
    folder.write("robots.txt", body);
    let text = folder.run(&["lint", "robots.txt"]).says(1, &[]).text();
    assert!(
        text.contains("if \"https://other.example\" is this site, write Disallow: /y; if not, remove it"),
        "{text}"
    );
    // A file name without a dot does not identify a host.
    folder.write("file", body);
    assert_eq!(folder.run(&["lint", "file"]).says(1, &[]).text(), text.replace("robots.txt:", "file:"));
    folder.run(&["lint", "robots.txt", "--host", "a b"]).says(2, &["--host a b"]);
    folder.write("robots/example.com", body);
    let text = folder.run(&["lint", "robots"]).says(1, &[]).text();
    assert!(
        text.contains("fix: Disallow: /x\n") && text.contains("counts in the robots.txt of that host only"),
        "{text}"
    );
}

#[test]
fn columns_are_written_in_the_given_order() {
    let folder = folder();
    let robots = "User-agent: bot-b\nDisallow: /x\n";
    folder.write("robots/d.example", robots);
    folder.run(&["compile", "--force", "-o", "set", "robots"]).says(0, &[]);
    folder.write("urls", "http://d.example/x\nhttp://d.example/y\nno URL\n");
    let text = |columns: &str, more: &[&str]| {
        let args = [&["classify", "set", "urls", "--agent", "bot-b", "--columns", columns][..], more].concat();
        folder.run(&args).text()
    };
    let b = &["--agent", "bot-c"][..];
    let cases: [(&str, &[&str], &str); 9] = [
        ("verdict,url", &[], "disallow\thttp://d.example/x\nallow\thttp://d.example/y\ninvalid\tno URL\n"),
        ("url,verdict", &[], "http://d.example/x\tdisallow\nhttp://d.example/y\tallow\nno URL\tinvalid\n"),
        (
            "line,url,verdict",
            &[],
            "2\thttp://d.example/x\tdisallow\n0\thttp://d.example/y\tallow\n0\tno URL\tinvalid\n",
        ),
        ("verdict,mask,url", &[], "disallow\t1\thttp://d.example/x\nallow\t0\thttp://d.example/y\ninvalid\t\tno URL\n"),
        (
            "verdict,url",
            b,
            "disallow\tallow\thttp://d.example/x\nallow\tallow\thttp://d.example/y\ninvalid\tinvalid\tno URL\n",
        ),
        // Consecutive columns of crawlers are grouped by crawler.
        (
            "agent,verdict,url,line",
            b,
            "bot-b\tdisallow\tbot-c\tallow\thttp://d.example/x\t2\t0\nbot-b\tallow\tbot-c\tallow\thttp://d.example/y\t0\t0\n\
             bot-b\tinvalid\tbot-c\tinvalid\tno URL\t0\t0\n",
        ),
        (
            "verdict,url,any-of",
            &["--format", "csv"],
            "disallow,http://d.example/x,disallow\nallow,http://d.example/y,allow\ninvalid,no URL,invalid\n",
        ),
        (
            "verdict,url",
            &["--format", "jsonl"],
            "{\"bot-b:verdict\":\"disallow\",\"url\":\"http://d.example/x\"}\n\
             {\"bot-b:verdict\":\"allow\",\"url\":\"http://d.example/y\"}\n\
             {\"bot-b:verdict\":\"invalid\",\"url\":\"no URL\"}\n",
        ),
        (
            "verdict,mask",
            &["--add-columns"],
            "disallow\t1\thttp://d.example/x\nallow\t0\thttp://d.example/y\ninvalid\t\tno URL\n",
        ),
    ];
    for (columns, more, expected) in cases {
        assert_eq!(text(columns, more), expected, "{columns} {more:?}");
    }
    let header = text("reason,url,verdict", &[b, &["--header"][..]].concat());
    assert!(header.starts_with("bot-b:reason\tbot-c:reason\turl\tbot-b:verdict\tbot-c:verdict\n"), "{header}");
    // An overlong line arrives in parts.
    let long = format!("http://d.example/{}", "y".repeat(3 << 20));
    folder.write("urls", format!("{long}\nhttp://d.example/x\n"));
    for (columns, expected) in [
        ("verdict,url,line", format!("invalid\t{long}\t0\ndisallow\thttp://d.example/x\t2\n")),
        ("line,verdict,url", format!("0\tinvalid\t{long}\n2\tdisallow\thttp://d.example/x\n")),
        ("line,verdict", "0\tinvalid\n2\tdisallow\n".to_owned()),
        ("verdict,mask", "invalid\t\ndisallow\t1\n".to_owned()),
    ] {
        assert!(text(columns, &[]) == expected, "{columns}");
    }
    // A Parquet file has the same column order, and the same cells as in the usual order.
    folder.write("urls", "http://d.example/x\nhttp://d.example/y\nno URL\n");
    let rows = |columns: &str| {
        let args = ["classify", "set", "urls", "--agent", "bot-b", "--agent", "bot-c", "--force", "--columns", columns];
        folder.run(&[&args[..], &["-o", "out.parquet"]].concat()).says(0, &[]);
        parquet_rows(&folder, "out.parquet")
    };
    for (columns, usual, names) in [
        (
            "verdict,url,line,mask",
            "url,mask,verdict,line",
            &["bot-b:verdict", "bot-c:verdict", "url", "bot-b:line", "bot-c:line", "mask"][..],
        ),
        (
            "refused,rule,url,verdict",
            "url,refused,rule,verdict",
            &["refused", "bot-b:rule", "bot-c:rule", "url", "bot-b:verdict", "bot-c:verdict"],
        ),
        (
            "capture_time,url,ruleset",
            "url,capture_time,ruleset",
            &["capture_time", "url", "bot-b:ruleset", "bot-c:ruleset"],
        ),
    ] {
        let (found, mut expected) = (rows(columns), rows(usual));
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|row| row.iter().map(|(name, _)| &**name).eq(names.iter().copied())), "{found:?}");
        let place = |(name, _): &(String, String)| names.iter().position(|known| known == name);
        expected.iter_mut().for_each(|row| row.sort_by_key(place));
        assert_eq!(found, expected, "{columns}");
    }
}

/// Returns each row of a Parquet file as column names and values.
fn parquet_rows(folder: &Folder, name: &str) -> Vec<Vec<(String, String)>> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(folder.path(name)).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_column_iter().map(|(name, cell)| (name.clone(), cell.to_string())).collect())
        .collect()
}
