//! Outputs of `classify`, `summarize`, `timeline` and `filter` after an interrupt, a kill, a full disk or a closed pipe.
//!
//! The output is missing or still the old file. Only a killed process leaves hidden files. The next run writes, byte
//! for byte, the output of an undisturbed run.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use crate::support;
use support::{Folder, binary, finish};

/// Content of an output before a run with `--force`.
const OLD: &str = "an old file";

/// A command that reads its input from standard input.
struct Case {
    args: &'static [&'static str],
    /// Name of the output. Its extension selects the compression.
    output: &'static str,
    /// Other options, and the files that they write.
    others: &'static [(&'static str, &'static str)],
    input: fn() -> Vec<u8>,
}

const CLASSIFY: &[&str] = &["classify", "set", "--agent", "bot-a"];
const CSV: &[&str] = &["classify", "set", "--agent", "bot-a", "--format", "csv", "--header", "--explain"];
const JSONL: &[&str] = &["classify", "set", "--agent", "bot-a", "--format", "jsonl", "--columns", "url,verdict,reason"];
const PARQUET: &[&str] = &["classify", "set", "--agent", "bot-a", "--format", "parquet"];
const ONLY: &[&str] = &["classify", "set", "--agent", "bot-a", "--only", "disallow"];
const SUMMARIZE: &[&str] = &["summarize", "set", "-", "--agent", "bot-a"];
const SUMMARIZE_CSV: &[&str] = &["summarize", "set", "-", "--agent", "bot-a", "--format", "csv"];
const SUMMARIZE_JSONL: &[&str] = &["summarize", "set", "-", "--agent", "bot-a", "--format", "jsonl"];
const TIMELINE: &[&str] = &["timeline", "years", "-", "--agent", "bot-a"];
const FILTER: &[&str] = &["filter", "-", "--set", "set", "--agent", "bot-a"];

const CASES: [Case; 14] = [
    Case { args: CLASSIFY, output: "out.tsv", others: &[], input: urls },
    Case { args: CLASSIFY, output: "out.tsv.gz", others: &[], input: urls },
    Case { args: CLASSIFY, output: "out.tsv.zst", others: &[("--rejects", "bad")], input: urls },
    Case { args: CSV, output: "out.csv", others: &[("--rejects", "bad"), ("--report", "page.html")], input: urls },
    Case { args: JSONL, output: "out.jsonl.gz", others: &[], input: urls },
    Case { args: PARQUET, output: "out.parquet", others: &[("--report", "page.html")], input: urls },
    Case { args: ONLY, output: "only", others: &[], input: urls },
    Case { args: SUMMARIZE, output: "out.tsv", others: &[], input: hosts },
    Case { args: SUMMARIZE_CSV, output: "out.csv.gz", others: &[], input: hosts },
    Case { args: SUMMARIZE_JSONL, output: "out.jsonl.zst", others: &[], input: hosts },
    Case { args: TIMELINE, output: "out.tsv", others: &[], input: hosts },
    Case { args: FILTER, output: "out.warc", others: &[], input: records },
    Case { args: FILTER, output: "out.warc.gz", others: &[], input: records },
    Case { args: FILTER, output: "out", others: &[], input: packed_records },
];

/// Returns numbers that do not compress well.
fn numbers(count: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31))
}

fn urls() -> Vec<u8> {
    let line = |number: u64| match number % 10 {
        0 => format!("not a URL {number:x}\n"),
        1..5 => format!("http://a.example/private/{number:x}\n"),
        _ => format!("http://b.example/private/{number:x}\n"),
    };
    numbers(4_000).flat_map(|number| line(number).into_bytes()).collect()
}

fn hosts() -> Vec<u8> {
    numbers(15_000)
        .flat_map(|number| format!("{}.example\n", ["a", "b", "n"][number as usize % 3]).into_bytes())
        .collect()
}

fn record(number: u64) -> Vec<u8> {
    let block: String = numbers(100).map(|part| format!("{:x}", part ^ number)).collect();
    let url = if number.is_multiple_of(3) { "private" } else { "open" };
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/{url}\r\nContent-Length: {}\r\n\r\n\
         {block}\r\n\r\n",
        block.len()
    )
    .into_bytes()
}

fn records() -> Vec<u8> {
    numbers(300).flat_map(record).collect()
}

fn packed_records() -> Vec<u8> {
    numbers(300).flat_map(|number| support::gz(&record(number))).collect()
}

impl Case {
    /// Returns the arguments that write the output to its file.
    fn to_file(&self) -> Vec<&'static str> {
        let others = self.others.iter().flat_map(|(option, file)| [*option, file]);
        self.args.iter().copied().chain(["--force", "-o", self.output]).chain(others).collect()
    }

    fn files(&self) -> impl Iterator<Item = &'static str> {
        [self.output].into_iter().chain(self.others.iter().map(|(_, file)| *file))
    }

    /// Returns a folder with a set, and with old outputs if `has_old`.
    fn folder(&self, has_old: bool) -> Folder {
        static SETS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let folder = Folder::new();
        let sets = || {
            let folder = Folder::with_set();
            folder.run(&["compile", "--by-time", "-o", "years", "robots"]).says(0, &[]);
            ["set", "years"].map(|name| folder.read(name))
        };
        let [set, years] = SETS.get_or_init(sets);
        folder.write("set", set);
        folder.write("years", years);
        self.files().filter(|_| has_old).for_each(|file| folder.write(file, OLD));
        folder
    }

    /// Asserts that the folder contains the files from before the run, and at most `hidden` hidden files.
    fn assert_unchanged(&self, folder: &Folder, has_old: bool, hidden: usize) {
        let mut expected = vec!["set", "years"];
        expected.extend(self.files().filter(|_| has_old));
        expected.sort_unstable();
        let (left, found): (Vec<String>, Vec<String>) =
            folder.names().into_iter().partition(|name| name.starts_with('.'));
        assert_eq!(found, expected, "{:?}", self.args);
        assert!(left.len() <= hidden, "{:?}: {left:?}", self.args);
        self.files().filter(|_| has_old).for_each(|file| assert!(folder.read(file) == OLD.as_bytes(), "{file}"));
    }

    /// Runs the command undisturbed, and returns its files without the times in them.
    fn run_undisturbed(&self, folder: &Folder) -> Vec<Vec<u8>> {
        folder.run_with(&self.to_file(), &(self.input)()).says(0, &[]);
        assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{:?}", folder.names());
        self.files().map(|file| without_time(folder.read(file))).collect()
    }

    /// Starts a run that has received half of its input and waits for the rest.
    fn start_run(&self, folder: &Folder) -> Child {
        let mut child = folder.command(&self.to_file()).stdin(Stdio::piped()).spawn().unwrap();
        let input = (self.input)();
        // More than a pipe buffer, so the command has read some of it.
        assert!(input.len() / 2 > 70_000, "{}", input.len());
        child.stdin.as_mut().unwrap().write_all(&input[..input.len() / 2]).unwrap();
        let hidden = || folder.names().iter().filter(|name| name.starts_with('.')).count();
        let mut tries = 0;
        while hidden() == 0 {
            sleep(Duration::from_millis(5));
            tries += 1;
            assert!(tries < 2000, "{:?}: no hidden file in {:?}", self.args, folder.names());
        }
        child
    }
}

/// Removes the run time from a report page.
pub fn without_time(bytes: Vec<u8>) -> Vec<u8> {
    if !bytes.starts_with(b"<!") {
        return bytes;
    }
    let page = String::from_utf8(bytes).unwrap();
    page.split_inclusive('<').filter(|part| !part.contains("URLs a second")).collect::<String>().into_bytes()
}

#[test]
fn signals_leave_the_old_file_and_the_next_run_completes() {
    for (number, case) in CASES.into_iter().enumerate() {
        let expected = case.run_undisturbed(&case.folder(false));
        // The command treats INT and TERM alike, so each is tested in every other case.
        let first = if number % 2 == 0 { ("INT", false) } else { ("TERM", true) };
        for (signal, has_old) in [first, ("KILL", number % 2 == 0)] {
            let folder = case.folder(has_old);
            let mut child = case.start_run(&folder);
            // Kept open until the process ends. At the end of its input, it might complete before the signal arrives.
            let input = child.stdin.take();
            let process = child.id().to_string();
            assert!(Command::new("kill").args(["-s", signal, &process]).status().unwrap().success());
            let ended = child.wait().unwrap();
            drop(input);
            let is_killed = signal == "KILL";
            let expected_end = if is_killed { (None, Some(9)) } else { (Some(130), None) };
            assert_eq!((ended.code(), ended.signal()), expected_end, "{:?} {signal}", case.args);
            case.assert_unchanged(&folder, has_old, if is_killed { 1 + case.others.len() } else { 0 });
            assert!(case.run_undisturbed(&folder) == expected, "{:?} {signal}", case.args);
        }
    }
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    for (number, case) in CASES.into_iter().enumerate() {
        let expected = case.run_undisturbed(&case.folder(false));
        let has_old = number % 2 == 0;
        let folder = case.folder(has_old);
        folder.write("input", (case.input)());
        // In KiB, and less than the output needs.
        let limit = if expected[0].len() > 9000 { "8" } else { "0" };
        let mut bash = Command::new("bash");
        bash.args(["-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\" < input", limit]).arg(binary());
        bash.args(case.to_file()).current_dir(folder.path("."));
        finish(bash).says(2, &["cannot be written: File too large"]);
        std::fs::remove_file(folder.path("input")).unwrap();
        case.assert_unchanged(&folder, has_old, 0);
        assert!(case.run_undisturbed(&folder) == expected, "{:?}", case.args);
        // Standard output has no old file to keep.
        let folder = case.folder(false);
        folder.write("input", (case.input)());
        let mut bash = Command::new("bash");
        bash.args(["-c", "\"$0\" \"$@\" < input > /dev/full"]).arg(binary()).args(case.args);
        bash.current_dir(folder.path("."));
        finish(bash).says(2, &["No space left on device"]);
    }
}

/// A reader that stops early, such as `head`, is not an error.
#[test]
fn a_closed_pipe_is_not_an_error() {
    for case in CASES {
        let folder = case.folder(false);
        let mut child = folder.command(case.args).stdin(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut pipe = child.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || pipe.write_all(&(case.input)()).is_ok());
        let ended = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(0), "{:?} {said}", case.args);
        assert!(!said.contains("cannot be written") && !said.contains("panicked"), "{:?} {said}", case.args);
        case.assert_unchanged(&folder, false, 0);
    }
}
