//! Many inputs in one run of `compile`: the set does not depend on input order, and neither set nor messages on
//! threads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::process::Command;

use crate::support;
use support::{Folder, Run, binary, finish, gz};

/// Number of hosts in each file.
const HOSTS: usize = 200;

/// Returns a file of captures. Some hosts are also in the previous file, and some records are damaged.
fn warc(number: usize) -> Vec<u8> {
    let mut members = Vec::new();
    for host in number * HOSTS - HOSTS / 10..(number + 1) * HOSTS {
        let body = format!("User-agent: *\nDisallow: /{number}/{}\n", host % 50);
        let block = format!("HTTP/1.1 200 OK\r\n\r\n{body}");
        let mut record = gz(format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-{:02}T03:04:05Z\r\n\
             WARC-Target-URI: https://h{host}.example/robots.txt\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            number + 1,
            block.len()
        )
        .as_bytes());
        if host % 100 == 7 {
            // The checksum, so that the member's end is known.
            let checksum = record.len() - 8;
            record[checksum] ^= 0x55;
        }
        members.extend(record);
    }
    members
}

fn jsonl(number: usize) -> String {
    let line = |host: usize| match host % 100 {
        7 => format!("damaged {host}\n"),
        8 => format!("{{\"url\":\"https://h{host}.example/robots.txt\",\"status\":200,\"body\":\"<html>\"}}\n"),
        _ => format!(
            "{{\"url\":\"https://h{host}.example/robots.txt\",\"status\":404,\"time\":{}}}\n",
            1_700_000_000 + host
        ),
    };
    (number * HOSTS..(number + 1) * HOSTS).map(line).collect()
}

/// Writes seven inputs, one of them a folder, and returns their names.
fn inputs(folder: &Folder) -> Vec<String> {
    let (mut names, closed) = (Vec::new(), "User-agent: *\nDisallow: /\n");
    for number in 1..=6 {
        names.push(match number {
            3 => {
                folder.write("folder/f.example", closed);
                folder.write("folder/not a host", closed);
                "folder".into()
            }
            2 | 5 => {
                folder.write(&format!("{number}.jsonl"), jsonl(number));
                format!("{number}.jsonl")
            }
            _ => {
                folder.write(&format!("{number}.warc.gz"), warc(number));
                format!("{number}.warc.gz")
            }
        });
    }
    folder.write("p.parquet", crate::classify_parquet::captures(&[("https://p.example/robots.txt", closed)]));
    names.push("p.parquet".into());
    names
}

fn compile(folder: &Folder, inputs: &[&str], threads: &str, memory: &str) -> Run {
    folder.run(&[&["compile", "--force", "-o", "set", "--threads", threads, "--memory", memory][..], inputs].concat())
}

/// Returns a run's messages without the times.
fn messages(run: &Run) -> String {
    let without_time = |line: &&str| !line.starts_with("time ");
    run.stderr.lines().filter(without_time).map(|line| format!("{line}\n")).collect()
}

#[test]
fn thread_count_changes_neither_set_nor_messages() {
    let folder = Folder::new();
    let names = inputs(&folder);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let first = compile(&folder, &names, "1", "2G").says(1, &["skipped: damaged"]);
    let first_messages = messages(&first);
    // Each damaged record and line is reported, in input order.
    let named: Vec<&str> =
        first_messages.lines().filter(|line| line.starts_with("reptile: ") && !line.contains("discarded: ")).collect();
    assert!(named.len() >= 6 + 4 + 4, "{first_messages}");
    let place = |line: &str| names.iter().position(|name| line.contains(name)).unwrap();
    assert!(named.is_sorted_by_key(|line| place(line)), "{first_messages}");
    let set = folder.read("set");
    for (threads, memory) in [("3", "600M"), ("8", "2G"), ("8", "16M")] {
        let run = compile(&folder, &names, threads, memory).says(1, &[]);
        assert_eq!(messages(&run), first_messages, "{threads} {memory}");
        assert!(folder.read("set") == set, "{threads} {memory}");
    }
    for turn in [1, 4, 6] {
        let mut other = names.clone();
        other.rotate_left(turn);
        other.swap(1, 4);
        compile(&folder, &other, "8", "2G").says(1, &["skipped: damaged"]);
        assert!(folder.read("set") == set, "{other:?}");
    }
}

#[test]
fn the_first_failing_input_is_reported_after_earlier_messages() {
    let folder = Folder::new();
    let names = inputs(&folder);
    folder.write("text", "neither captures nor a folder");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = [&names[..2], &["missing", "text"], &names[2..]].concat();
    let first = compile(&folder, &all, "1", "2G").says(2, &["missing: No such file", "1.warc.gz: record", "2.jsonl:"]);
    for threads in ["2", "8", "8"] {
        assert_eq!(compile(&folder, &all, threads, "2G").stderr, first.stderr, "{threads}");
    }
    assert!(!folder.names().iter().any(|name| name == "set" || name.starts_with('.')), "{:?}", folder.names());
    // Of two files for one origin, the same file is always named first.
    folder.write("g/f.example", "");
    for _ in 0..3 {
        let run = compile(&folder, &["1.warc.gz", "g", "4.warc.gz", "folder"], "8", "2G");
        run.says(2, &["g/f.example and folder/f.example are both for"]);
    }
}

/// A pipe is opened only after the inputs before it, and not at all if one of them fails.
#[test]
fn pipes_are_opened_in_input_order() {
    let folder = Folder::new();
    folder.write("1.warc.gz", warc(1));
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    let run = |args: &[&str], script: &str| {
        let mut bash = Command::new("timeout");
        bash.args(["60", "bash", "-c", script, "bash"]).arg(binary()).args(args);
        bash.current_dir(folder.path("."));
        finish(bash)
    };
    let args = ["compile", "--threads", "8", "-o", "set", "missing", "pipe", "1.warc.gz"];
    run(&args, "exec \"$@\"").says(2, &["missing: No such file"]);
    let args = ["compile", "--threads", "8", "-o", "set", "1.warc.gz", "pipe", "-"];
    let script = "(echo '{\"url\":\"http://pipe.example/robots.txt\",\"status\":404}' > pipe) & \
                  echo '{\"url\":\"http://stdin.example/robots.txt\",\"status\":404}' | \"$@\"";
    run(&args, script).says(1, &["everything allowed (404) 2\n"]);
}

/// Patterns that the shell did not expand.
#[test]
fn patterns_select_many_inputs() {
    let folder = Folder::new();
    for number in [1, 2, 4] {
        folder.write(&format!("web/{number}.warc.gz"), warc(number));
        folder.write(&format!("urls/{number}.txt"), format!("https://h{}.example/\n", number * HOSTS));
    }
    let set = |inputs: &[&str]| {
        compile(&folder, inputs, "2", "2G").says(1, &[]);
        folder.read("set")
    };
    let expected = set(&["web/1.warc.gz", "web/2.warc.gz", "web/4.warc.gz"]);
    assert!(set(&["web/*.warc.gz"]) == expected);
    assert!(set(&["web/[12].*", "w*/4.warc.gz"]) == expected);
    compile(&folder, &["web/*.jsonl"], "2", "2G")
        .says(2, &["web/*.jsonl: no such file, and no file matches this pattern"]);
    let args = ["classify", "set", "urls/*.txt", "--agent", "x", "-o", "out/"];
    folder.run(&args).says(0, &[]);
    for number in [1, 2, 4] {
        let line = String::from_utf8(folder.read(&format!("out/{number}.txt.tsv"))).unwrap();
        assert!(line.starts_with("https://h"), "{line}");
    }
}
