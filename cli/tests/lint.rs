//! `reptile lint` and `diff` from end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod support;

use support::Folder;

const TRAP: &str = "User-agent: *\nCrawl-delay: 5\nUser-agent: GPTBot\nDisallow: /\n";

#[test]
fn findings_as_text_and_as_json() {
    let folder = Folder::new();
    folder.write("robots.txt", TRAP);
    let run =
        folder.run(&["lint", "robots.txt"]).says(1, &["files 1", "error[groups-collapse] 1", "note[unused-key] 1"]);
    assert!(run.text().contains("robots.txt:3: error[groups-collapse]: "), "{run:?}");
    assert!(run.text().contains("\n    fix: put \"Disallow:\" behind line 1\n"), "{run:?}");
    let run = folder.run(&["lint", "robots.txt", "--json", "--severity", "warning"]).says(1, &[]);
    let start = "{\"file\":\"robots.txt\",\"line\":3,\"severity\":\"error\",\"code\":\"groups-collapse\",";
    assert!(run.text().starts_with(start) && run.text().lines().count() == 1, "{run:?}");
}

#[test]
fn exit_codes_of_lint() {
    let folder = Folder::new();
    folder.robots();
    folder.run(&["lint", "robots"]).says(0, &["files 3"]);
    folder.run(&["lint", "missing"]).says(2, &["missing"]);
    folder.run(&["lint", "robots", "--severity", "loud"]).says(2, &["invalid value"]);
    folder.run_with(&["lint", "-"], b"Disallow: /\n").says(1, &["error[no-group]"]);
}

#[test]
fn rules_and_verdicts_that_changed() {
    let folder = Folder::new();
    folder.write("old", "User-agent: *\nDisallow: /a\nDisallow: /b\n\nUser-agent: x\nDisallow: /\n");
    folder.write("new", "User-agent: *\nDisallow: /b\nDisallow: /c\n");
    folder.write("urls", "/a\nhttp://example.com/c\n/b\n");
    let rules = "@ *\n- 2: Disallow: /a\n+ 3: Disallow: /c\n@ x\n- the group\n- 6: Disallow: /\n";
    assert_eq!(folder.run(&["diff", "old", "new"]).says(1, &[]).text(), rules);
    let run = folder.run(&["diff", "old", "new", "--urls", "urls"]).says(1, &[]);
    let flips =
        "/a\t*\tdisallow\t2\tallow\t0\n/a\tx\tdisallow\t6\tallow\t0\nhttp://example.com/c\t*\tallow\t0\tdisallow\t3\n";
    assert_eq!(run.text(), format!("{rules}{flips}"));
    let run = folder.run(&["diff", "old", "new", "--urls", "urls", "--agent", "x"]).says(1, &[]);
    assert_eq!(run.text(), format!("{rules}/a\tx\tdisallow\t6\tallow\t0\n"));
    assert_eq!(folder.run(&["diff", "old", "old", "--urls", "urls"]).says(0, &[]).text(), "");
    folder.run(&["diff", "old", "missing"]).says(2, &["missing"]);
}

/// Records of failed fetches have no robots.txt to be looked at.
#[test]
fn lint_looks_at_what_was_fetched() {
    let folder = Folder::new();
    let lines = [
        r#"{"url": "http://a.example/robots.txt", "status": 404, "body": "<html>"}"#,
        r#"{"url": "http://b.example/robots.txt", "error": "no such host"}"#,
        r#"{"url": "http://c.example/robots.txt", "body": "User-agent: *\nDisallow: /\n"}"#,
    ];
    folder.write("c.jsonl", lines.join("\n"));
    folder.run(&["lint", "c.jsonl"]).says(0, &["files 1"]);
}
