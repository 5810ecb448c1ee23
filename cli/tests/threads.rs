//! The maximum number of threads, and hidden files left by killed processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::{Folder, binary, finish};

#[test]
fn more_than_512_threads_are_rejected() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\n");
    for (number, code) in [(511_u64, 0), (512, 0), (513, 2), (100_000, 2), (u64::MAX, 2)] {
        let number = number.to_string();
        for args in [
            &["classify", "set", "urls", "--agent", "x", "--threads", &number][..],
            &["compile", "--force", "-o", "new", "robots", "--threads", &number],
            &["verify", "--deep", "set", "--threads", &number],
        ] {
            let run = folder.run(args);
            assert_eq!(run.code, Some(code), "{args:?}: {run:?}");
            assert!(code == 0 || run.stderr.contains("expected a number from 0 to 512"), "{run:?}");
        }
    }
}

/// If there is too little memory for the threads, the command reports an error.
#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\n");
    folder.write("rows", "a.example\tx\t/\n");
    for args in [
        &["classify", "set", "urls", "--agent", "x", "--threads", "512"][..],
        &["compile", "--force", "-o", "new", "robots", "--threads", "512"],
        &["verify", "--deep", "set", "--threads", "512"],
    ] {
        // Each thread reserves 2 MiB for its stack, so memory would run out after some of the threads.
        let mut bash = Command::new("bash");
        bash.args(["-c", "ulimit -v 300000; exec \"$@\"", "bash"]).arg(binary()).args(args);
        bash.current_dir(folder.path("."));
        finish(bash).says(2, &["reptile: the threads cannot be started: 512 threads need 1613758464 bytes: "]);
    }
    assert_eq!(folder.names(), ["robots", "rows", "set", "set.made.json", "urls"]);
}

/// Starts a process that has created its hidden output file and waits for URLs.
fn start_waiting(folder: &Folder, set: &str, output: &str) -> Child {
    let before = hidden(folder);
    let args = ["classify", set, "--agent", "bot-a", "-o", output, "--force"];
    let child = folder.command(&args).stdin(Stdio::piped()).spawn().unwrap();
    let mut tries = 0;
    while hidden(folder) == before || hidden(folder).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
        tries += 1;
        assert!(tries < 1000, "no hidden file: {:?}", folder.names());
    }
    child
}

fn hidden(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|name| name.starts_with('.')).collect()
}

#[test]
fn only_the_hidden_files_of_killed_processes_are_removed() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\n");
    let mut killed = start_waiting(&folder, "set", "out");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(hidden(&folder).len(), 1, "{:?}", folder.names());
    // A live process keeps its file, although it started before the others and ends after them.
    let left = hidden(&folder);
    let mut alive = start_waiting(&folder, "set", "out");
    while hidden(&folder).len() > 1 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_ne!(hidden(&folder), left);
    let kept = hidden(&folder);
    // An output with another name removes nothing.
    folder.run(&["classify", "set", "urls", "--agent", "x", "-o", "other"]).says(0, &[]);
    folder.run(&["classify", "set", "urls", "--agent", "x", "-o", "out"]).says(0, &[]);
    assert_eq!(hidden(&folder), kept);
    drop(alive.stdin.take());
    assert_eq!(alive.wait().unwrap().code(), Some(0));
    assert_eq!(folder.read("out"), b"");
    assert_eq!(folder.names(), ["other", "out", "robots", "set", "set.made.json", "urls"]);
}

/// A compilation writes two files, and removes the hidden files left for both.
#[test]
fn a_compilation_removes_the_hidden_files_of_both_outputs() {
    // The set is from another folder, because an output may not replace its input.
    let (folder, other) = (Folder::with_set(), Folder::with_set());
    let set = other.path("set").display().to_string();
    for name in ["set", "set.made.json"] {
        let mut killed = start_waiting(&folder, &set, name);
        killed.kill().unwrap();
        killed.wait().unwrap();
    }
    assert_eq!(hidden(&folder).len(), 2, "{:?}", folder.names());
    folder.run(&["compile", "--force", "-o", "set", "robots"]).says(0, &[]);
    assert_eq!(folder.names(), ["robots", "set", "set.made.json"]);
}
