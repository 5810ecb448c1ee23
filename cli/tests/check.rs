//! `reptile check`, `test` and `inspect`, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::io::Write;
use std::process::Stdio;

use support::{Folder, gz};

const GOOD: &str = "a.example\tbot-a\thttp://a.example/private\tDISALLOW\t2\n\
                    a.example\tBOT-A\t/private/open\tALLOW\t3\n\
                    a.example\tx\thttp://z.example/xzy\tDISALLOW\t6\n\
                    b.example\tx\thttp://b.example\tDISALLOW\n\
                    c.example:8080\tother\t/\tALLOW\t2\n\
                    a.example\tx\t/\u{fc}/xzy\n";

#[test]
fn a_correct_table_has_no_differences() {
    let folder = Folder::new();
    folder.robots();
    folder.write("cases.tsv", GOOD);
    folder.write("cases.tsv.gz", gz(GOOD.as_bytes()));
    let line = "6 rows: 5 checked, 0 verdict differences, 0 line differences, 0 without robots.txt";
    for cases in ["cases.tsv", "cases.tsv.gz"] {
        let run = folder.run(&["check", cases, "--robots", "robots"]).says(0, &[line]);
        assert_eq!(run.text(), "");
    }
    let run = folder.run_with(&["check", "-", "--robots", "robots"], GOOD.trim_end().as_bytes());
    run.says(0, &[line]);
    let run = folder.run(&["check", "cases.tsv", "--robots", "robots", "--print"]).says(0, &[line]);
    let expected = "a.example\tbot-a\thttp://a.example/private\tDISALLOW\t2\n\
                    a.example\tBOT-A\t/private/open\tALLOW\t3\n\
                    a.example\tx\thttp://z.example/xzy\tDISALLOW\t6\n\
                    b.example\tx\thttp://b.example\tDISALLOW\t2\n\
                    c.example:8080\tother\t/\tALLOW\t2\n\
                    a.example\tx\t/\u{fc}/xzy\tALLOW\t0\n";
    assert_eq!(run.text(), expected);
}

#[test]
fn differences_are_shown_and_counted() {
    let folder = Folder::new();
    folder.robots();
    folder.write(
        "cases.tsv",
        "Host\tAgent\tURL\texpected\tline\n\
         a.example\tbot-a\t/private\tALLOW\t2\n\
         a.example\tbot-a\t/private\tDISALLOW\t3\n\
         # the next two are right\n\
         a.example\tbot-a\t/private\tDISALLOW\t2\n\
         a.example\tbot-a\t/private\tdisallow\r\n\
         \r\n\
         \n\
         nowhere.example\tx\t/\tALLOW\t0\n\
         a.example\tbot-a\n\
         a.example\tbot-a\t/\tALLOW\t0\tmore\n\
         a.example\tbot-a\t/\tALLOW\t+0\n\
         a.example\tbot-a\t/\tyes\r\n\
         a.example\tbot-a \t/private\tDisallow\t2\n",
    );
    let line = "10 rows: 4 checked, 1 verdict differences, 1 line differences, 1 without robots.txt, 5 malformed rows";
    let run = folder.run(&["check", "cases.tsv", "--robots", "robots"]).says(1, &[line]);
    let differences = "row 2: a.example\tbot-a\t/private\texpected ALLOW line 2, found DISALLOW line 2\n\
                       row 3: a.example\tbot-a\t/private\texpected DISALLOW line 3, found DISALLOW line 2\n\
                       row 9: nowhere.example\tx\t/\tno robots.txt for this host\n\
                       row 10: malformed row, fewer than 3 columns: \"a.example\tbot-a\"\n\
                       row 11: malformed row, more than 5 columns: \"a.example\tbot-a\t/\tALLOW\t0\tmore\"\n\
                       row 12: malformed row, the fifth column is not a line number: \"a.example\tbot-a\t/\tALLOW\t+0\"\n\
                       row 13: malformed row, the fourth column is neither ALLOW nor DISALLOW: \"a.example\tbot-a\t/\tyes\"\n\
                       row 14: malformed row, the agent: no group can name \"bot-a \": a user-agent line with it is read as \
                       \"bot-a\"; write that for the groups that such lines begin: \"a.example\tbot-a \t/private\"\n";
    assert_eq!(run.text(), differences);

    let run = folder.run(&["check", "cases.tsv", "--robots", "robots", "--max-differences", "2"]).says(1, &[line]);
    let first: String = differences.split_inclusive('\n').take(2).collect();
    assert_eq!(run.text(), format!("{first}... and 6 more\n"));

    let run = folder.run(&["check", "cases.tsv", "--robots", "robots", "--print"]).says(1, &[line, differences]);
    let printed = "a.example\tbot-a\t/private\tDISALLOW\t2\n".repeat(4) + "nowhere.example\tx\t/\tUNKNOWN\t0\n";
    assert_eq!(run.text(), printed);
}

#[test]
fn a_url_in_the_host_column_selects_its_origin() {
    let folder = Folder::new();
    folder.robots();
    for (host, code) in [
        ("http://a.example", 0),
        ("https://A.example:443/any/page?x", 0),
        ("https://user@a.example/", 0),
        ("ftp://a.example/", 1),
        ("http://a.example:81/", 1),
        ("http://a.example;@evil.example/", 1),
        ("HTTP://c.example:8080/", 1),
    ] {
        folder.write("cases", format!("{host}\tbot-a\t/private\tDISALLOW\t2\n"));
        folder.run(&["check", "cases", "--robots", "robots"]).says(code, &["1 rows"]);
        folder.run(&["check", "cases", "--robots", "robots/a.example"]).says(0, &["1 rows: 1 checked"]);
    }
}

/// A cell that begins with a slash is a path, and a URL has a scheme, as in `test`.
#[test]
fn other_texts_than_urls_and_paths_are_malformed() {
    let folder = Folder::new();
    folder.robots();
    let no_scheme = "a URL begins with a scheme such as https://, and a path with a slash";
    let cases = [
        ("/private", None),
        ("//private", None),
        ("http://z.example/private", None),
        ("a.example/private", Some(no_scheme)),
        ("private", Some(no_scheme)),
        ("", Some("not a URL: empty line")),
        ("?a", Some(no_scheme)),
    ];
    for (url, fault) in cases {
        folder.write("cases.tsv", format!("a.example\tbot-a\t{url}\n"));
        let run = folder.run(&["check", "cases.tsv", "--robots", "robots", "--print"]);
        let said = fault.map(|fault| format!("row 1: malformed row, {fault}: \"a.example\tbot-a\t{url}\""));
        let run = run.says(i32::from(fault.is_some()), &[said.as_deref().unwrap_or("1 rows: 0 checked")]);
        assert_eq!(run.text().is_empty(), fault.is_some(), "{url}");
    }
    assert_eq!(cases.len(), 7);
}

/// Only a complete header row is a header. A comment starts at the beginning of the line.
#[test]
fn rows_that_resemble_headers_or_comments_are_rows() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    for (rows, line) in [
        ("HOST\tagent\tpath\nhost\tagent\turl\tverdict\nx\ty\t/a\n", "1 rows: 0 checked"),
        ("host\tagent\t/url\nhosts\tagent\turl\nhost\tx\turl\n", "3 rows: 0 checked"),
        (
            "host\tagent\n",
            "1 rows: 0 checked, 0 verdict differences, 0 line differences, 0 without robots.txt, 1 malformed",
        ),
        ("#\n#x\ty\t/a\tALLOW\n", "0 rows: 0 checked"),
        ("#x\ty\t/b\nx\ty\t/a#b\tdisALLOW\t2\r\n", "1 rows: 1 checked, 0 verdict differences"),
        ("x\ty\t/b\tallow", "1 rows: 1 checked, 0 verdict differences"),
    ] {
        let run = folder.run_with(&["check", "-", "--robots", "robots.txt"], rows.as_bytes());
        assert!(run.stderr.contains(line), "{rows:?}: {run:?}");
    }
    let run = folder.run_with(&["check", "-", "--robots", "robots.txt", "--all-dialects"], b"# a\n\nx\ty\t/\r\nz\n");
    run.says(1, &["2 rows: 0 disputed", "row 4: malformed row"]);
}

#[test]
fn one_file_serves_every_host() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    folder.write("cases.tsv", "x\ty\t/a\tDISALLOW\t2\n not a host\ty\t/b\tALLOW\t0\n");
    folder.run(&["check", "cases.tsv", "--robots", "robots.txt"]).says(0, &["2 rows: 2 checked, 0 verdict"]);
    folder.run(&["check", "cases.tsv", "--robots", "nothing"]).says(2, &["nothing: No such file"]);
    folder.run(&["check", "nothing", "--robots", "robots.txt"]).says(2, &["nothing: No such file"]);
}

#[test]
fn rows_longer_than_the_limit_are_malformed() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    for (len, code) in [((1 << 20) - 1, 0), (1 << 20, 0), ((1 << 20) + 1, 1), (9 << 20, 1)] {
        let mut row = b"x\ty\t/a".to_vec();
        row.resize(len, b'b');
        let table = [b"x\ty\t/a\tDISALLOW\t2\n", &row[..], b"\nx\ty\t/a\tALLOW\t2\n"].concat();
        let run = folder.run_with(&["check", "-", "--robots", "robots.txt"], &table).says(1, &["3 rows: 2 checked"]);
        assert_eq!(run.text().contains("row 2: malformed row, longer than 1 MiB"), code == 1, "{len}");
        assert!(run.text().contains("row 3: x\ty\t/a\texpected ALLOW"));
    }
}

#[test]
fn memory_does_not_grow_with_the_table() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\n\nDisallow: /a\n");
    let mut child = folder.command(&["check", "-", "--robots", "robots.txt"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    for number in 0..1000 {
        let rows = (0..1000).map(|row| format!("h{number}-{row}.example\tbot{row}\t/a{row}/{number}\tALLOW\t9\n"));
        pipe.write_all(rows.collect::<String>().as_bytes()).unwrap();
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 60 << 10, "{kib} KiB");
}

#[test]
fn every_dialect_is_compared_with_every_other() {
    let folder = Folder::new();
    folder.write("robots/a", "User-agent: *\n\nDisallow: /a\nDisallow: /b\n");
    folder.write("robots/b", "User-agent: *\nDisallow: /a*c\n");
    folder.write("rows", "a\tx\t/a\na\tx\t/b\nb\tx\t/abc\nb\tx\t/\tALLOW\t0\nc\tx\t/\nd\n");
    let run = folder.run(&["check", "rows", "--robots", "robots", "--all-dialects"]);
    let run = run.says(
        1,
        &[
            "6 rows: 3 disputed, of 2 hosts; 1 without robots.txt, 1 malformed rows",
            "rows: row 5: no robots",
            "rows: row 6: malformed row, fewer than 3 columns",
        ],
    );
    // google-lib disallows all three URLs, yandex only host b's, and koster-1994 none.
    let text = run.text();
    let row = |name: &str| {
        let row = text.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        row.split('|').map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("google-lib"), ["google-lib", "–", "0", "0", "0", "2", "2", "0", "3", "3", "3"]);
    assert_eq!(row("yandex"), ["yandex", "1", "1", "1", "1", "–", "0", "2", "1", "1", "1"]);
    assert_eq!(row("koster-1994"), ["koster-1994", "2", "2", "2", "2", "1", "1", "2", "–", "0", "0"]);
    let run = folder.run(&["check", "rows", "--robots", "robots", "--all-dialects", "--print"]);
    let row = "a\tx\t/a\tdisallow\t3\tdisallow\t3\tdisallow\t3\tdisallow\t3\tallow\t0\tallow\t0\tdisallow\t3\tallow\t0\tallow\t0";
    let text = run.says(1, &["| google-lib |"]).text();
    assert_eq!((text.lines().next(), text.lines().count()), (Some(row), 4));
}

#[test]
fn test_shows_the_deciding_line() {
    let folder = Folder::new();
    let body = "\u{feff}User-agent: bot-a\nDISALLOW : /a # why\r\nAllow: /a/b\n\nUser-agent: c\nDisallow: /x\u{7}\n";
    folder.write("robots.txt", body);
    let args = ["test", "--brief", "robots.txt", "--agent", "bot-a", "/a/c", "http://h/a/b", "/c"];
    let expected = "disallow  /a/c           line 2: DISALLOW : /a # why\n\
                    allow     http://h/a/b   line 3: Allow: /a/b\n\
                    allow     /c             no rule matches\n";
    assert_eq!(folder.run(&args).says(0, &[]).text(), expected);
    let run = folder.run_with(&["test", "--brief", "robots.txt", "--agent", "bot-a"], b"/a/c\r\nhttp://h/a/b\n/c");
    // URLs from standard input are answered as they arrive, so their lines are not aligned.
    assert_eq!(
        run.says(0, &[]).text(),
        expected.replace("a/c           ", "a/c   ").replace("/c             ", "/c   ")
    );
    // google-lib does not change control characters.
    let args = ["test", "--brief", "-", "--agent", "c", "--agent", "nobody", "--dialect", "google-lib", "/x\u{7}y"];
    let run = folder.run_with(&args, body.as_bytes());
    assert_eq!(
        run.says(0, &[]).text(),
        "disallow  c       /x\\u{7}y   line 6: Disallow: /x\\u{7}\n\
         allow     nobody  /x\\u{7}y   no group applies to this agent\n"
    );
    folder.run(&["test", "-", "--agent", "c"]).says(2, &["standard input cannot be both"]);
    folder.run(&["test", "missing", "--agent", "c", "/"]).says(2, &["missing: No such file"]);
    folder.run(&["test", ".", "--agent", "c", "/"]).says(2, &[".: is a folder, not a robots.txt"]);
    folder.write("big", vec![b'\n'; reptile::limits::MAX_BODY_BYTES + 1]);
    folder.run(&["test", "big", "--agent", "c", "/"]).says(2, &["big: too large; the limit is 16777216 bytes"]);
}

#[test]
fn every_dialect_is_available() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /\nAllow: /%61\n");
    for (dialect, a, robots) in [
        ("google-lib", "disallow", "disallow  /robots.txt   line 2"),
        ("google", "disallow", "disallow  /robots.txt   line 2"),
        ("rfc9309", "allow", "allow     /robots.txt   always allowed"),
        ("rfc9309-strict", "allow", "allow     /robots.txt   always allowed"),
        ("yandex", "disallow", "disallow  /robots.txt   line 2"),
        ("yandex-2017", "disallow", "disallow  /robots.txt   line 2"),
        ("bing", "allow", "allow     /robots.txt   always allowed"),
        ("koster-1994", "disallow", "disallow  /robots.txt   line 2"),
        ("koster-1996", "disallow", "allow     /robots.txt   always allowed"),
    ] {
        let run =
            folder.run(&["test", "--brief", "robots.txt", "--dialect", dialect, "--agent", "x", "/a", "/robots.txt"]);
        let text = run.says(0, &[]).text();
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(first.split(' ').next(), Some(a), "{dialect}");
        assert!(second.starts_with(robots), "{dialect}: {second}");
        folder.write("cases", format!("h\tx\t/a\t{}\n", a.to_uppercase()));
        folder.run(&["check", "cases", "--robots", "robots.txt", "--dialect", dialect]).says(0, &["1 checked"]);
    }
}

#[test]
fn inspect_lists_groups_and_rules() {
    let folder = Folder::with_set();
    let text = folder.run(&["inspect", "set"]).says(0, &[]).text();
    for line in ["dialect                   google\n", "origins                   6\n", "product tokens named      2\n"]
    {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("section rulesets") && text.contains("largest rulesets\n  ruleset "), "{text}");

    let shown = |args: &[&str]| {
        let text = folder.run(&[&["inspect"], args].concat()).says(0, &[]).text();
        let kept = |line: &&str| !line.contains("ruleset") && !line.contains("policy");
        text.lines().filter(kept).map(|line| format!("{line}\n")).collect::<String>()
    };
    let groups = "  group: bot-a\n    line 2  Disallow: /private\n    line 3  Allow: /private/open\n\
                 \x20 group: *\n    line 6  Disallow: /x*y\n";
    assert_eq!(shown(&["set", "A.example"]), format!("http://a.example:80 https://a.example:443\n{groups}"));
    assert_eq!(shown(&["robots", "a.example"]), format!("http://a.example:80 https://a.example:443\n{groups}"));
    assert_eq!(shown(&["set", "https://a.example/x"]), format!("https://a.example:443\n{groups}"));
    assert_eq!(shown(&["set", "http://a.example"]), format!("http://a.example:80\n{groups}"));
    let other = "http://c.example:8080 https://c.example:8080\n  group: other\n    line 2  Disallow:\n";
    assert_eq!(shown(&["set", "c.example"]), other);
    assert_eq!(shown(&["set", "c.example:8080"]), other);
    for host in ["c.example:80", "d.example", "ftp://a.example/"] {
        let text = format!("set: no robots.txt is known for {host}");
        folder.run(&["inspect", "set", host]).says(1, &[&text]);
    }
    folder.run(&["inspect", "set", "not a host"]).says(2, &["not a host: no valid host"]);
    folder.run(&["inspect", "set", "--profile", "google"]).says(2, &["set: is a compiled set; --dialect"]);
}

#[test]
fn every_command_has_help() {
    let folder = Folder::new();
    let overview = folder.run(&["--help"]).says(0, &[]).text();
    let commands: Vec<&str> = overview.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    for command in [
        "compile",
        "classify",
        "test",
        "check",
        "lint",
        "diff",
        "inspect",
        "summarize",
        "timeline",
        "audit",
        "filter",
        "fields",
        "verify",
    ] {
        assert!(commands.contains(&command), "{command} is not in {overview}");
        let help = folder.run(&[command, "--help"]).says(0, &[]).text();
        assert!(help.contains(&format!("  reptile {command} ")) && help.contains("Exit code: 0 "), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        folder.run(&[command, "--nonesuch"]).says(2, &["--nonesuch"]);
    }
    folder.run(&[]).says(2, &["Usage"]);
}

/// The short help of a command fits on a screen of 24 lines with the prompt; `--help` lists the other options.
#[test]
fn short_help_fits_on_a_screen() {
    let folder = Folder::new();
    let overview = folder.run(&["-h"]).says(0, &[]).text();
    assert!(overview.lines().count() <= 33, "{overview}");
    let lines = overview.lines().take_while(|line| *line != "Options:").filter_map(|line| line.strip_prefix("  "));
    let commands: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(commands.len(), 19, "{overview}");
    for command in commands {
        let mut run = folder.command(&[]);
        run.args([command, "-h"]).env("COLUMNS", "80");
        let text = support::finish(run).says(0, &[]).text();
        assert!(text.lines().count() < 24 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    for (first, last) in [(&["help", "lint"][..], &["lint", "--help"][..]), (&["help"], &["--help"])] {
        assert_eq!(folder.run(first).says(0, &[]).text(), folder.run(last).says(0, &[]).text());
    }
    let long = folder.run(&["classify", "--help"]).says(0, &[]).text();
    for text in ["--profile <NAME>", "--threads <N>", "[possible values: state, checksum", "Examples:"] {
        assert!(long.contains(text), "no {text:?} in {long}");
    }
    // One place in the help is enough for an option of every command.
    assert!(folder.run(&["--help"]).text().contains("--color <WHEN>") && !long.contains("--color <WHEN>"));
    for args in [&["-V"][..], &["classify", "-V"], &["--version"]] {
        assert_eq!(folder.run(args).says(0, &[]).text(), concat!("reptile ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

#[test]
fn urls_longer_than_the_limit_are_malformed() {
    const MAX_URL_BYTES: usize = reptile::limits::MAX_URL_BYTES;
    let folder = Folder::new();
    folder.write("robots.txt", "user-agent: *\ndisallow: /y\n");
    for len in [MAX_URL_BYTES - 1, MAX_URL_BYTES, MAX_URL_BYTES + 1] {
        folder.write("cases", format!("h\ta\t/{}\tDISALLOW\t2\n", "y".repeat(len - 1)));
        for (more, checked) in
            [(&[][..], "1 rows: 1 checked"), (&["--all-dialects"], "0 without robots.txt, 0 malformed")]
        {
            let run = folder.run(&[&["check", "cases", "--robots", "robots.txt"][..], more].concat());
            if len > MAX_URL_BYTES {
                run.says(1, &["1 malformed rows"]);
            } else {
                run.says(0, &[checked]);
            }
        }
    }
}
