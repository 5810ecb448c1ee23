//! Sets without line numbers: the same verdicts and rules, but every line is 0.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use support::Folder;

#[test]
fn sets_without_line_numbers_report_line_0() {
    let folder = Folder::with_set();
    folder.run(&["compile", "--omit", "lines", "-o", "bare", "robots"]).says(0, &[]);
    assert!(folder.read("bare").len() < folder.read("set").len());
    folder.run(&["verify", "--deep", "bare"]).says(0, &[]);
    let urls = b"http://a.example/private/1\nhttp://a.example/private/open\nhttp://c.example:8080/x\n";
    let ask = |set: &str| folder.run_with(&["classify", set, "--agent", "bot-a", "--explain"], urls).says(0, &[]);
    let (with, without) = (ask("set"), ask("bare"));
    assert_eq!(
        without.text(),
        "http://a.example/private/1\tdisallow\t0\tDisallow: /private\n\
         http://a.example/private/open\tallow\t0\tAllow: /private/open\n\
         http://c.example:8080/x\tallow\t0\t\n"
    );
    // Equal except for the lines.
    assert_eq!(with.text().replace("\t2\t", "\t0\t").replace("\t3\t", "\t0\t"), without.text());
    let note = "bare: has no line numbers; every line is 0";
    assert!(without.stderr.contains(note) && !with.stderr.contains("line numbers"), "{without:#?}");
    // Without a line column, there is no note.
    let plain = folder.run_with(&["classify", "bare", "--agent", "bot-a"], urls).says(0, &[]);
    assert!(!plain.stderr.contains("line numbers"), "{plain:#?}");
    let shown = folder.run(&["inspect", "bare", "a.example"]).says(0, &[]).text();
    assert!(shown.contains("no line") && !shown.contains("line 2"), "{shown}");
    let record = String::from_utf8(folder.read("bare.made.json")).unwrap();
    assert!(record.contains("\"omit\": [\n      \"lines\"\n"), "{record}");
}
