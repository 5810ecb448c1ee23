//! `--memory`: a set that does not fit in memory is the same set, and the limit is respected.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::fmt::Write;

use support::{Folder, Run};

/// Minimum value of `--memory`. A set's data is then split into parts of 4 MiB.
const LEAST: &str = "16M";

/// Returns captures of `origins` origins, each with its own file. Some origins have a second and a third capture.
fn captures(origins: usize) -> String {
    let mut lines = String::new();
    for number in 0..origins {
        let url = format!("http://h{number}.example/robots.txt");
        let body = |salt: usize| {
            format!(
                "user-agent: *\\ndisallow: /{number}/{salt}\\ndisallow: /a{}*b$\\n\\nuser-agent: bot{}\\n\
                 disallow: /{}\\nsitemap: {url}/map\\n",
                number % 100,
                number % 7,
                number % 1000
            )
        };
        writeln!(lines, r#"{{"url":"{url}","time":{},"body":"{}"}}"#, 1_700_000_000 + number, body(0)).unwrap();
        if number % 5 == 0 {
            writeln!(lines, r#"{{"url":"{url}","time":1600000000,"body":"{}"}}"#, body(1)).unwrap();
        }
        if number % 11 == 0 {
            let status = if number % 2 == 0 { 503 } else { 404 };
            writeln!(lines, r#"{{"url":"{url}","time":{},"status":{status}}}"#, 1_750_000_000 + number % 9).unwrap();
        }
    }
    lines
}

/// Returns a run's messages without the times.
fn untimed_messages(run: &Run) -> Vec<&str> {
    run.stderr.lines().filter(|line| !line.starts_with("time ")).collect()
}

#[test]
fn a_set_that_exceeds_the_memory_limit_is_the_same() {
    let folder = Folder::new();
    let lines = captures(30_000);
    folder.write("all.jsonl", &lines);
    let mut turned: Vec<&str> = lines.lines().collect();
    turned.reverse();
    folder.write("turned.jsonl", turned.join("\n"));
    let whole = folder.run(&["compile", "-o", "whole", "all.jsonl"]).says(0, &["discarded"]);
    let small = folder.run(&["compile", "--memory", LEAST, "-o", "small", "all.jsonl"]).says(0, &[]);
    assert_eq!(untimed_messages(&small), untimed_messages(&whole));
    assert!(folder.read("small") == folder.read("whole"));
    let args = ["compile", "--memory", LEAST, "--threads", "1", "-o", "turned", "turned.jsonl"];
    assert_eq!(untimed_messages(&folder.run(&args).says(0, &[])), untimed_messages(&whole));
    assert!(folder.read("turned") == folder.read("whole"));
    // An origin's captures are in a set and in several parts.
    let after_line = |number: usize| lines.match_indices('\n').nth(number).unwrap().0 + 1;
    let (first, rest) = lines.split_at(after_line(9_000));
    folder.write("first.jsonl", first);
    folder.write("rest.jsonl", [rest, &lines[..after_line(4_000)]].concat());
    folder.run(&["compile", "-o", "first", "first.jsonl"]).says(0, &[]);
    folder.run(&["update", "--memory", LEAST, "first", "rest.jsonl", "-o", "updated"]).says(0, &[]);
    assert!(folder.read("updated") == folder.read("whole"));
    folder.run(&["compile", "-o", "second", "rest.jsonl"]).says(0, &[]);
    folder.run(&["merge", "--memory", LEAST, "first", "second", "-o", "merged"]).says(0, &[]);
    assert!(folder.read("merged") == folder.read("whole"));
    let names = folder.names();
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
}

#[test]
fn memory_must_be_a_size_of_at_least_16m() {
    let folder = Folder::new();
    folder.robots();
    for (memory, message) in [
        ("15M", "expected 16M or more"),
        ("16777215", "expected 16M or more"),
        ("much", "expected a number of bytes, such as 512M or 2G"),
    ] {
        folder.run(&["compile", "--memory", memory, "-o", "set", "robots"]).says(2, &[message]);
    }
    for memory in ["16M", "16777216", "16777217", "1T"] {
        folder.run(&["compile", "--force", "--memory", memory, "-o", "set", "robots"]).says(0, &[]);
    }
}

/// Memory that a command needs in addition to its limit: its code, read buffers, recently read pages of the set, and
/// the allocator's reserve.
#[cfg(target_os = "linux")]
const ADDITIONAL_BYTES: u64 = 150 << 20;

/// Returns a process's peak memory. Panics unless the process succeeds.
#[cfg(target_os = "linux")]
fn peak_of(mut child: std::process::Child) -> u64 {
    let peak = support::watch_memory(child.id());
    let ended = child.wait().unwrap();
    let peak = peak.join().unwrap();
    assert!(ended.success() && peak > 0, "{ended}");
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_limit_is_respected() {
    let folder = Folder::new();
    folder.write("all.jsonl", captures(150_000));
    let peak = |args: &[&str]| {
        let child = folder.command(args).stderr(std::process::Stdio::null()).spawn().unwrap();
        peak_of(child)
    };
    let whole = peak(&["compile", "-o", "whole", "all.jsonl"]);
    let small = peak(&["compile", "--memory", LEAST, "-o", "small", "all.jsonl"]);
    println!("{whole} bytes, and {small} with --memory {LEAST}");
    assert!(small < (16 << 20) + ADDITIONAL_BYTES, "{small}");
    assert!(whole > (16 << 20) + ADDITIONAL_BYTES, "{whole}: within the limit even without --memory");
    assert!(folder.read("small") == folder.read("whole"));
}
