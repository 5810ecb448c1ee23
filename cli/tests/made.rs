//! `SET.made.json`, the record of how a set was made, which `compile` writes and `inspect` shows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use serde_json::{Value, json};
use support::{Folder, binary, finish};

fn record(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.read(name)).unwrap()
}

#[test]
fn the_record_describes_how_the_set_was_made() {
    let folder = Folder::new();
    folder.robots();
    folder.write("robots/bad host", "");
    folder.write("c.jsonl", r#"{"url": "http://d.example/robots.txt", "time": "2026-02-01T00:00:00Z", "status": 404}"#);
    let args = ["compile", "-o", "web.set", "./robots", "c.jsonl", "--dialect", "yandex", "--scheme", "https"];
    folder.run(&args).says(1, &[]);
    let mut found = record(&folder, "web.set.made.json");
    let checksum = found["set"]["xxh3_64"].take();
    assert!(checksum.as_str().is_some_and(|digits| digits.len() == 16), "{checksum}");
    let changed = found["inputs"][1]["changed"].take();
    assert!(changed.as_str().is_some_and(|time| time.ends_with('Z')), "{changed}");
    let bytes: usize = support::ROBOTS.iter().map(|(_, body)| body.len()).sum();
    let (size, stored) = (folder.read("web.set").len(), folder.read("c.jsonl").len());
    let input = |path: &str, stored: Option<usize>, rows: u64, invalid: u64, bytes: usize| {
        json!({"path": path, "bytes": stored, "changed": null, "etag": null, "xxh3_64": null,
               "rows": rows, "invalid": invalid, "body_bytes": bytes})
    };
    let none = json!({});
    let expected = json!({
        "schema": "reptile-lineage/1",
        "made_by": {"name": "reptile", "version": env!("CARGO_PKG_VERSION")},
        "command": "compile",
        "set": {"path": "web.set", "bytes": size, "xxh3_64": null, "dialect": "yandex", "profile": "yandex",
                "as_of": "2026-02-01T00:00:00Z", "by_time": false, "origins": 4},
        "options": {"at": null, "timezone": "UTC", "strategy": null, "scheme": ["https"], "host": null,
                    "omit": [], "by_time": false, "resync": false, "strict": false,
                    "dialect": "yandex", "profile": null, "warc_root": null},
        "inputs": [input("./robots", None, 3, 1, bytes), input("c.jsonl", Some(stored), 1, 0, 0)],
        "rows": {"read": 4, "written": null, "without_agent": null, "without_url": null, "by_other_origin": null},
        "verdicts": [],
        "together": null,
        "invalid_rows": none,
        "captures": {"read": 4, "body_bytes": bytes, "bad": {"no valid host": 1}, "left_out": none, "discarded": none,
                     "fates": null, "non_text": none, "untrusted": 0, "stale": 0, "ties": 0, "unresolved": 0,
                     "rules": 5, "diagnostics": none},
        "findings": [],
        "outputs": [{"path": "web.set", "bytes": size, "xxh3_64": checksum, "rows": null}],
    });
    assert_eq!(found, expected);
    let text = folder.run(&["inspect", "web.set"]).says(0, &[]).text();
    for line in [
        &format!("made by                   reptile {}\n", env!("CARGO_PKG_VERSION")),
        "fetch profile             yandex\n",
        "as of                     2026-02-01T00:00:00Z\n",
        &format!("  input                   ./robots: 3 read, {bytes} bytes, 1 bad and left out\n"),
        "  input                   c.jsonl: 1 read, 0 bytes\n",
    ] {
        assert!(text.contains(line), "no {line:?} in {text}");
    }
}

#[test]
fn a_set_does_not_depend_on_its_record() {
    let folder = Folder::new();
    folder.robots();
    folder.run(&["compile", "-o", "a", "robots"]).says(0, &[]);
    folder.run(&["compile", "-o", "b", "./robots", "--threads", "1"]).says(0, &[]);
    assert_eq!(folder.read("a"), folder.read("b"));
    assert_ne!(folder.read("a.made.json"), folder.read("b.made.json"));
    // Every command treats a set without its record the same.
    let before = folder.run(&["inspect", "a"]).says(0, &[]).text();
    std::fs::remove_file(folder.path("a.made.json")).unwrap();
    folder.run(&["verify", "a"]).says(0, &[]);
    let after = folder.run(&["inspect", "a"]).says(0, &[]).text();
    assert!(before.starts_with("made by ") && !after.contains("made by"), "{before}{after}");
    assert!(before.ends_with(&after), "{before}{after}");
    // A set in memory has no record, and a host is shown without it.
    assert!(!folder.run(&["inspect", "robots"]).says(0, &[]).text().contains("made by"));
    assert!(!folder.run(&["inspect", "b", "a.example"]).says(0, &[]).text().contains("made by"));
}

#[test]
fn a_record_of_another_set_is_ignored() {
    let folder = Folder::with_set();
    let inspect = || folder.run(&["inspect", "set"]).says(0, &[]).text();
    folder.write("robots/d.example", "User-agent: *\nDisallow: /d\n");
    folder.run(&["compile", "-o", "other", "robots"]).says(0, &[]);
    folder.write("set.made.json", folder.read("other.made.json"));
    assert!(inspect().starts_with("made by                   unknown: set.made.json belongs to another set\n"));
    assert!(!inspect().contains("  input"));
    folder.write("set.made.json", "{\"made_by\": \"me\"}");
    assert!(inspect().starts_with("made by                   unknown: set.made.json is malformed: "));
    std::fs::remove_file(folder.path("set.made.json")).unwrap();
    std::fs::create_dir(folder.path("set.made.json")).unwrap();
    assert!(inspect().starts_with("made by                   unknown: set.made.json cannot be read: "));
}

#[test]
fn a_record_is_replaced_only_with_force_and_its_set() {
    let folder = Folder::new();
    folder.robots();
    folder.write("set.made.json", "precious");
    let args = ["compile", "-o", "set", "robots"];
    folder.run(&args).says(2, &["set.made.json: exists already; --force replaces it"]);
    assert_eq!(folder.names(), ["robots", "set.made.json"]);
    // A failed compilation does not change it either.
    folder.run(&["compile", "--force", "-o", "set", "missing"]).says(2, &["missing"]);
    assert_eq!(folder.read("set.made.json"), b"precious");
    folder.run(&["compile", "--force", "-o", "set", "robots"]).says(0, &[]);
    assert_eq!(record(&folder, "set.made.json")["inputs"][0]["path"], "robots");
    // Through a link, the record is next to the link's target.
    std::fs::create_dir(folder.path("links")).unwrap();
    std::os::unix::fs::symlink("../set", folder.path("links/link")).unwrap();
    folder.run(&["compile", "--force", "-o", "links/link", "robots", "--omit", "other"]).says(0, &[]);
    assert_eq!(record(&folder, "set.made.json")["options"]["omit"], json!(["other"]));
    assert!(
        folder.run(&["inspect", "links/link"]).says(0, &[]).text().starts_with("made by                   reptile ")
    );
    assert_eq!(folder.names(), ["links", "robots", "set", "set.made.json"]);
}

#[test]
fn if_the_record_cannot_be_written_there_is_no_set() {
    let folder = Folder::new();
    folder.robots();
    // The record's name belongs to a folder, or the disk has space for the set but not for the record.
    std::fs::create_dir(folder.path("set.made.json")).unwrap();
    let run = folder.run(&["compile", "--force", "-o", "set", "robots"]);
    run.says(2, &["set.made.json: exists and is not a regular file"]);
    assert_eq!(folder.names(), ["robots", "set.made.json"]);
    let long_path = format!("robots{}", "/../robots".repeat(400));
    for (output, left) in [("new", None), ("old", Some(&b"precious"[..]))] {
        folder.write("old", "precious");
        folder.write("old.made.json", "precious");
        // With the signal ignored, a write beyond the limit fails as on a full disk. The set is far below the limit of
        // 4 KiB. The record exceeds it because it contains the input's long path.
        let script = "trap '' XFSZ; ulimit -f 4; exec \"$@\"";
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", script, "bash"]).arg(binary()).args(["compile", "--force", "-o", output]);
        // Without a crawler table the set is small.
        bash.args(["--dialect", "google-lib", &long_path]);
        bash.current_dir(folder.path("."));
        finish(bash).says(2, &[&format!("{output}.made.json: cannot be written: File too large")]);
        assert_eq!(std::fs::read(folder.path(output)).ok().as_deref(), left);
        assert_eq!(folder.names(), ["old", "old.made.json", "robots", "set.made.json"]);
    }
    assert_eq!(folder.read("old.made.json"), b"precious");
}

/// A folder without write permission. Root may write anywhere, so there is nothing to test for root.
#[test]
fn nothing_is_left_in_an_unwritable_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.robots();
    std::fs::create_dir(folder.path("locked")).unwrap();
    std::fs::set_permissions(folder.path("locked"), PermissionsExt::from_mode(0o555)).unwrap();
    let is_root = std::fs::write(folder.path("locked/probe"), "").is_ok();
    let run = folder.run(&["compile", "-o", "locked/set", "robots"]);
    if !is_root {
        run.says(2, &["locked/set: cannot be created: Permission denied"]);
        assert_eq!(std::fs::read_dir(folder.path("locked")).unwrap().count(), 0);
    }
    // No user can write to a missing folder.
    folder.run(&["compile", "-o", "absent/set", "robots"]).says(2, &["absent/set: cannot be created: No such file"]);
    std::fs::set_permissions(folder.path("locked"), PermissionsExt::from_mode(0o755)).unwrap();
}
