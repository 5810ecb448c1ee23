//! Outputs under kills, other writers, readers, and a mapped set that shrinks.
//!
//! A command that is killed at any moment leaves the old output or the new one, never a partial one. The next run
//! succeeds and removes leftover files. By default, each command is killed 5 times. `REPTILE_KILLS=100 cargo test -p
//! reptile-cli --test all killed` kills it 100 times.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::Instant;

use crate::support::{Folder, gz};

/// Default number of kills per command.
const KILLS: u32 = 5;

/// Number of origins in the set: enough for a run of some tenths of a second.
const ORIGINS: usize = 20_000;

fn web(folder: &Folder, name: &str, rule: &str) {
    let line = |number: usize| {
        format!(
            "{{\"url\":\"http://h{number}.example/robots.txt\",\"time\":{},\
             \"body\":\"user-agent: *\\ndisallow: /{rule}{}\\n\"}}\n",
            1_700_000_000 + number,
            number % 1000
        )
    };
    folder.write(name, (0..ORIGINS).map(line).collect::<String>());
}

/// Repeatedly kills a command that replaces the file `output`, at moments spread over its run.
fn kill(folder: &Folder, output: &str, args: &[&str], moment: &mut u64) {
    let old = folder.read(output);
    let start = Instant::now();
    folder.run(args).says(0, &[]);
    let whole = start.elapsed();
    let new = folder.read(output);
    assert!(old != new);
    let kills = std::env::var("REPTILE_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let mut left = 0;
    for _ in 0..kills {
        folder.write(output, &old);
        let mut child = folder.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        *moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(whole / 1000 * ((*moment >> 33) % 1000) as u32);
        let _ = child.kill();
        child.wait().unwrap();
        let found = folder.read(output);
        assert!(found == old || found == new, "{args:?}: {} bytes", found.len());
        left += folder.names().iter().filter(|name| name.starts_with('.')).count();
    }
    println!("{args:?}: {left} hidden files seen after {kills} kills");
    folder.run(args).says(0, &[]);
    assert!(folder.read(output) == new);
    let hidden: HashSet<String> = folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    folder.write(output, &old);
}

/// Returns lists of URLs with `count` origins.
fn urls(count: usize) -> String {
    (0..count).map(|number| format!("http://h{number}.example/a{}/x\n", number % 1000)).collect()
}

/// Returns a folder with the inputs of all commands, and old outputs.
fn outputs() -> Folder {
    let folder = Folder::new();
    web(&folder, "old.jsonl", "a");
    web(&folder, "new.jsonl", "b");
    folder.run(&["compile", "-o", "set", "old.jsonl"]).says(0, &[]);
    folder.run(&["compile", "-o", "part", "new.jsonl"]).says(0, &[]);
    folder.run(&["compile", "--by-time", "-o", "years", "new.jsonl"]).says(0, &[]);
    folder
}

#[test]
fn a_killed_command_leaves_the_old_output_or_the_new_one() {
    let folder = outputs();
    let mut moment = 5;
    let mut kill = |output: &str, args: &[&str]| kill(&folder, output, args, &mut moment);
    kill("set", &["compile", "--force", "-o", "set", "new.jsonl"]);
    // With little memory, in three parts.
    kill("set", &["compile", "--memory", "16M", "--force", "-o", "set", "new.jsonl"]);
    kill("set", &["merge", "--force", "-o", "set", "part"]);
    folder.write("old.tsv.gz", "an old file");
    folder.write("old.warc.gz", "an old file");
    folder.write("robots.txt", "User-agent: a\nDisalow: /x\n".repeat(20_000));
    folder.write("urls", urls(200_000));
    let page = |number: usize| {
        let block = format!("page {number} ").repeat(100);
        let (url, len) = (format!("http://h{number}.example/a{}", number % 7), block.len());
        gz(format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {len}\r\n\r\n{block}\r\n\r\n"
        )
        .as_bytes())
    };
    folder.write("pages.warc.gz", (0..5000).flat_map(page).collect::<Vec<u8>>());
    kill("set", &["update", "part", "old.jsonl", "--force", "-o", "set"]);
    kill("old.tsv.gz", &["classify", "set", "urls", "--agent", "x", "--force", "-o", "old.tsv.gz"]);
    kill("old.tsv.gz", &["summarize", "set", "--agent", "x", "--force", "-o", "old.tsv.gz"]);
    kill("old.tsv.gz", &["timeline", "years", "--agent", "x", "--force", "-o", "old.tsv.gz"]);
    let row = |number: usize| format!("http://h{number}.example/a1/x\t2026-03-14T15:09:26Z\tx\n");
    let rows: String = (0..200_000).map(row).collect();
    folder.write("requests.tsv", format!("url\ttime\tuser_agent\n{rows}"));
    let audit = ["audit", "requests.tsv", "--set", "set", "--status", "none"];
    kill("old.tsv.gz", &[&audit[..], &["--force", "--violations", "old.tsv.gz"]].concat());
    kill("old.warc.gz", &["filter", "pages.warc.gz", "--set", "set", "--agent", "x", "--force", "-o", "old.warc.gz"]);
}

/// One of two runs that write one output at the same time wins.
#[test]
fn two_writers_leave_one_complete_output() {
    const ROUNDS: usize = 6;
    let folder = outputs();
    let expected = [folder.read("set"), folder.read("part")];
    let mut winners = HashSet::new();
    for round in 0..ROUNDS {
        let force = round.is_multiple_of(2);
        for name in ["set", "set.made.json"] {
            std::fs::remove_file(folder.path(name)).unwrap();
        }
        let mut inputs = ["old.jsonl", "new.jsonl"];
        inputs.rotate_left(round / 2 % 2);
        let start = |input: &str| {
            let mut args = vec!["compile", "-o", "set", input];
            args.extend(force.then_some("--force"));
            folder.command(&args).spawn().unwrap()
        };
        let runs = inputs.map(start).map(|child| child.wait_with_output().unwrap());
        let codes: Vec<Option<i32>> = runs.iter().map(|run| run.status.code()).collect();
        let errors: String = runs.iter().map(|run| String::from_utf8_lossy(&run.stderr)).collect();
        let found = folder.read("set");
        let winner = expected.iter().position(|set| *set == found);
        assert!(winner.is_some(), "a set of {} bytes", found.len());
        winners.extend(winner);
        if force {
            assert_eq!(codes, [Some(0), Some(0)], "{errors}");
        } else {
            // The second one fails, at its start or when it gives the set its name.
            let (ok, failed): (Vec<_>, Vec<_>) = codes.iter().partition(|code| **code == Some(0));
            assert_eq!((ok.len(), failed), (1, vec![&Some(2)]), "{errors}");
            assert!(errors.contains("--force replaces it"), "{errors}");
        }
        folder.run(&["verify", "set"]).says(0, &[]);
        // The set and its record get their names one after the other. Another set's record is detected.
        let record = String::from_utf8(folder.read("set.made.json")).unwrap();
        let is_own = record.contains(["old.jsonl", "new.jsonl"][winner.unwrap()]);
        let shown = folder.run(&["inspect", "set"]).says(0, &[]).text();
        assert_eq!(shown.contains("belongs to another set"), !is_own, "{shown}");
        assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{:?}", folder.names());
    }
    println!("{} of 2 inputs won in {ROUNDS} rounds", winners.len());
}

/// A reader of a set that is replaced sees the old set or the new one.
#[test]
fn readers_see_the_old_set_or_the_new_one() {
    const ROUNDS: usize = 20;
    const READERS: usize = 2;
    let folder = Folder::new();
    for (name, rule) in [("old", "/a"), ("new", "/b")] {
        let line = |number| {
            format!(
                "{{\"url\":\"http://h{number}.example/robots.txt\",\"body\":\"user-agent: *\\ndisallow: {rule}\\n\"}}\n"
            )
        };
        folder.write(&format!("{name}.jsonl"), (0..500).map(line).collect::<String>());
    }
    folder.write("urls", (0..500).map(|number| format!("http://h{number}.example/a\n")).collect::<String>());
    let replace = |input| folder.run(&["compile", "--force", "-o", "set", input]).says(0, &[]);
    let read = || folder.run(&["classify", "set", "urls", "--agent", "x"]).says(0, &[]).stdout;
    let expected = ["old.jsonl", "new.jsonl"].map(|input| {
        replace(input);
        read()
    });
    assert!(expected[0] != expected[1]);
    let is_done = AtomicBool::new(false);
    let counts = thread::scope(|scope| {
        let reader = || {
            let mut counts = [0; 2];
            while !is_done.load(Ordering::Relaxed) {
                let found = read();
                let which = expected.iter().position(|verdicts| *verdicts == found).expect("one of the two sets");
                counts[which] += 1;
            }
            counts
        };
        let readers = [(); READERS].map(|()| scope.spawn(reader));
        for round in 0..ROUNDS {
            replace(["old.jsonl", "new.jsonl"][round % 2]);
        }
        is_done.store(true, Ordering::Relaxed);
        readers.map(|reader| reader.join().unwrap())
    });
    println!("reads of the old and the new set: {counts:?}");
    assert!(counts.iter().flatten().sum::<usize>() > READERS);
}

/// `SECURITY.md` does not permit this, and no check can prevent it: a page that has disappeared ends the process with
/// SIGBUS. The verdicts before that are right.
#[test]
fn a_mapped_set_that_shrinks_gives_an_error_or_ends_the_process() {
    const SIGBUS: i32 = 7;
    const PAGE: u64 = 1 << 16;
    let folder = outputs();
    let set = folder.read("set");
    let urls = urls(ORIGINS);
    let args = ["classify", "set", "--agent", "x"];
    let expected = folder.run_with(&args, urls.as_bytes()).says(0, &[]).stdout;
    let lines = |bytes: &[u8]| bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let expected = lines(&expected);
    let len = set.len() as u64;
    let mut ends = Vec::new();
    for shrunk in [0, PAGE, len / 2 / PAGE * PAGE, len - 1] {
        folder.write("set", &set);
        let mut child = folder.command(&args).stdin(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (half, rest) = urls.as_bytes().split_at(urls.len() / 2);
        let verdicts = thread::scope(|scope| {
            let (ready, is_ready) = std::sync::mpsc::channel();
            let reader = scope.spawn(move || {
                let mut bytes = vec![0; 1];
                output.read_exact(&mut bytes).unwrap();
                ready.send(()).unwrap();
                output.read_to_end(&mut bytes).unwrap();
                bytes
            });
            input.write_all(half).unwrap();
            // The set is mapped, because its first verdicts have arrived.
            is_ready.recv().unwrap();
            File::options().write(true).open(folder.path("set")).unwrap().set_len(shrunk).unwrap();
            // The process may have ended.
            let _ = input.write_all(rest);
            drop(input);
            reader.join().unwrap()
        });
        let ended = child.wait_with_output().unwrap();
        let (code, signal) = (ended.status.code(), ended.status.signal());
        let said = String::from_utf8_lossy(&ended.stderr);
        let mut verdicts = lines(&verdicts);
        if verdicts.last().is_some_and(|line| !line.ends_with(b"\n")) {
            verdicts.pop();
        }
        assert!(expected.starts_with(&verdicts), "{shrunk}: a wrong verdict");
        match (code, signal) {
            (Some(0), None) => assert_eq!(verdicts.len(), expected.len(), "{shrunk}"),
            (Some(2), None) => assert!(said.contains("set: not a valid set"), "{shrunk}: {said}"),
            _ => assert_eq!(signal, Some(SIGBUS), "{shrunk}: {code:?} {said}"),
        }
        ends.push((shrunk, code, signal));
        // The length is checked when the file is opened.
        folder.run_with(&args, b"http://h1.example/\n").says(2, &["set"]);
    }
    println!("{ends:?}");
    assert!(ends.iter().any(|(_, _, signal)| *signal == Some(SIGBUS)), "{ends:?}");
}
