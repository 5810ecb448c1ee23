//! The fault matrix: every command, with failures injected into its system calls by `support/faults.c`.
//!
//! A run either succeeds with exactly the output of an undisturbed run, or fails with exit code 2 and a message that
//! names the file. Then its outputs are missing or still the old files, and no temporary file is left. A killed run
//! may leave hidden files, which the next run removes.
//!
//! The tests print a table of commands and faults, with the runs that succeeded, that failed as described, and in which
//! the fault did not occur because the call was not reached. By default, each command has one run per fault. The
//! ignored test has one for each file, at up to [`MAX_MOMENTS`] calls.
//!
//! `faults.c` is compiled with `cc`, which also links Rust programs, and is preloaded by the dynamic linker of glibc. If
//! either does not work, the tests fail.
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::faults::without_time;
use crate::support::{Folder, gz};

/// Maximum number of calls of a kind at which the long test lets a fault occur, for each command and file.
const MAX_MOMENTS: usize = 40;

/// The same maximum for a command that takes seconds.
const MAX_HEAVY_MOMENTS: usize = 4;

/// Number of kills per command in the long test.
const KILLS: usize = 40;

/// Minimum part of the runs in which the fault must occur, in percent. Calls by several threads vary in number.
const MIN_OCCURRED: usize = 95;

/// Number of commands run in parallel.
const WORKERS: usize = 3;

/// Content of the outputs before a run that replaces them.
const OLD: &[u8] = b"an old file";

/// The file that receives standard output.
const STDOUT: &str = "stdout";

/// The file that lists the calls.
const LOG: &str = "log";

/// A command, and parts of the paths of its disturbed inputs. Outputs are the files that an undisturbed run writes.
struct Case {
    line: &'static str,
    inputs: &'static [&'static str],
}

const fn case(line: &'static str, inputs: &'static [&'static str]) -> Case {
    Case { line, inputs }
}

/// Commands that write files.
const WRITERS: [Case; 24] = [
    case("compile --force -o out robots", &["a.example$"]),
    case("compile --force -o out pages.jsonl --fates fates.tsv", &["pages.jsonl$"]),
    case("compile --force -o out robots.warc.gz", &["robots.warc.gz$"]),
    case("compile --force --memory 16M --threads 1 -o out many.jsonl", &["many.jsonl$"]),
    case("merge --force -o out set other", &["set$", "other$"]),
    case("update --force set pages.jsonl -o out", &["set$", "pages.jsonl$"]),
    case("classify set urls --agent bot-a --force -o out.tsv", &["set$", "urls$"]),
    case("classify robots urls --agent bot-a --force -o out.tsv", &["a.example$", "urls$"]),
    case("classify set urls --agent bot-a --force -o out.tsv.gz --rejects bad", &["urls$"]),
    case("classify set urls.gz --agent bot-a --force -o out.tsv.zst --report page.html", &["urls.gz$"]),
    case("classify set urls --agent bot-a --format csv --header --explain --force -o out.csv", &["urls$"]),
    case(
        "classify set urls --agent bot-a --format jsonl --columns url,verdict,reason --force -o out.jsonl",
        &["urls$"],
    ),
    case("classify set urls --agent bot-a --format parquet --force -o out.parquet", &["urls$"]),
    case("classify set urls --agent bot-a --format arrow --force -o out.arrow", &["urls$"]),
    case(
        "classify set urls.parquet --agent bot-a --keep-columns url --columns verdict,line --format parquet --force -o out.parquet",
        &["urls.parquet$"],
    ),
    case("classify set urls urls.gz --agent bot-a --force -o folder/", &["urls$", "urls.gz$"]),
    case("summarize set --agent bot-a --force -o out.tsv", &["set$"]),
    case("summarize set hosts --agent bot-a --format jsonl --force -o out.jsonl.gz", &["set$", "hosts$"]),
    case("timeline years hosts --agent bot-a --force -o out.parquet", &["years$", "hosts$"]),
    case(
        "audit requests.tsv --set years --status none --force --violations out.csv --report page.html",
        &["years$", "requests.tsv$"],
    ),
    case("filter pages.warc --set set --agent bot-a --force -o out.warc", &["set$", "pages.warc$"]),
    case("filter pages.warc.gz --set set --agent bot-a --force -o out.warc.gz", &["pages.warc.gz$"]),
    case("filter pages.warc pages.warc.gz --set set --agent bot-a --force -o folder/", &["pages.warc$"]),
    case("lint --fix robots.txt", &["robots.txt$"]),
];

/// Commands that write to standard output, which is a file here. `verify` writes no output.
const PRINTERS: [Case; 12] = [
    case("classify set urls --agent bot-a", &["set$", "urls$"]),
    case("check cases --robots robots --print", &["cases$", "a.example$"]),
    case("check robots.txt --prove assertions", &["robots.txt$", "assertions$"]),
    case("diff set other", &["set$", "other$"]),
    case("diff robots.txt new.txt", &["robots.txt$", "new.txt$"]),
    case("lint --json robots", &["a.example$"]),
    case("inspect set a.example", &["set$"]),
    case("fields --json set a.example", &["set$"]),
    case("summarize set --agent bot-a", &["set$"]),
    case("timeline years --agent bot-a", &["years$"]),
    case("test robots.txt --agent bot-a /private/x", &["robots.txt$"]),
    case("verify --deep set", &["set$"]),
];

/// A disturbed kind of file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Input,
    Output,
    /// The folder of the outputs.
    Folder,
    Temporary,
}

/// Faults of a call and a kind of file, as pairs of their column and their kind in `faults.c`.
type Faults = (&'static str, Target, &'static [(&'static str, &'static str)]);

/// Error numbers of Linux.
const EIO: &str = "once-5";
const ENOSPC: &str = "28";
const EMFILE: &str = "once-24";
const EACCES: &str = "13";
const ENOMEM: &str = "12";
const ENOLCK: &str = "37";

const READ: &[(&str, &str)] = &[("short", "short"), ("EINTR", "interrupted"), ("EIO", EIO)];
const WRITE: &[(&str, &str)] = &[("short", "short"), ("EINTR", "interrupted"), ("ENOSPC", ENOSPC), ("EIO", EIO)];
const OPEN: &[(&str, &str)] = &[("EINTR", "interrupted"), ("open", EMFILE), ("open", EACCES)];
const SYNC: &[(&str, &str)] = &[("EINTR", "interrupted"), ("ENOSPC", ENOSPC), ("EIO", EIO)];

/// The faults for each call and kind of file.
const FAULTS: &[Faults] = &[
    ("read", Target::Input, READ),
    ("pread", Target::Input, READ),
    ("open", Target::Input, OPEN),
    ("mmap", Target::Input, &[("mmap", ENOMEM)]),
    ("write", Target::Output, WRITE),
    ("open", Target::Output, OPEN),
    ("fsync", Target::Output, SYNC),
    ("fsync", Target::Folder, &[("EINTR", "interrupted"), ("EIO", EIO)]),
    ("write", Target::Temporary, WRITE),
    ("read", Target::Temporary, READ),
    ("pread", Target::Temporary, READ),
    ("open", Target::Temporary, OPEN),
    ("mmap", Target::Temporary, &[("mmap", ENOMEM)]),
];

/// The columns of the table.
const COLUMNS: [&str; 9] = ["short", "EINTR", "ENOSPC", "EIO", "open", "mmap", "rename", "flock", "kill"];

/// Files by name, with names in subfolders.
type Tree = BTreeMap<String, Vec<u8>>;

/// One disturbed run of a command.
#[derive(Clone, Debug)]
struct Cell {
    column: &'static str,
    call: &'static str,
    target: Target,
    /// Part of the disturbed file's path.
    path: String,
    kind: &'static str,
    /// Number of the first disturbed call.
    at: usize,
}

/// The outcome of a cell that is as expected.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    /// Complete success, or for a kill: the run ended before it.
    Succeeded,
    /// An error, or for a kill: the run ended by it.
    Failed,
    /// The command did not reach the call.
    NotInjected,
}

/// Result of a run.
struct Ended {
    code: Option<i32>,
    signal: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
    log: String,
    tree: Tree,
}

fn shim() -> &'static Path {
    static SHIM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let build = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("faults.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/faults.c");
        let flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"];
        let built = Command::new("cc").args(flags).arg(&path).arg(source).status().expect("cc compiles faults.c");
        assert!(built.success());
        (folder, path)
    };
    &SHIM.get_or_init(build).1
}

fn page(number: usize, words: usize) -> Vec<u8> {
    let url = if number.is_multiple_of(3) { "private" } else { "open" };
    let block: String = (0..words).map(|word| format!("{:x} ", word.wrapping_mul(number + 77) % 9973)).collect();
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/{url}/{number}\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
    .into_bytes()
}

fn captures(origins: usize, rule: &str) -> String {
    let line = |number: usize| {
        format!(
            "{{\"url\":\"http://h{number}.example/robots.txt\",\"time\":{},\
             \"body\":\"user-agent: *\\ndisallow: /{rule}{number}{}\\n\"}}\n",
            1_700_000_000 + number,
            number.to_string().repeat(60)
        )
    };
    (0..origins).map(line).collect()
}

/// Returns the inputs of all commands.
fn inputs() -> &'static Tree {
    static INPUTS: OnceLock<Tree> = OnceLock::new();
    INPUTS.get_or_init(|| {
        let folder = Folder::with_set();
        let urls: String = (0..1500)
            .map(|number| match number % 10 {
                0 => format!("not a URL {number:x}\n"),
                1..5 => format!("http://a.example/private/{number:x}\n"),
                _ => format!("http://b.example/private/{number:x}\n"),
            })
            .collect();
        folder.write("urls", &urls);
        folder.write("urls.gz", gz(urls.as_bytes()));
        folder.write("pages.jsonl", captures(300, "p"));
        folder.write("many.jsonl", captures(20_000, "m"));
        folder.run(&["compile", "-o", "other", "pages.jsonl"]).says(0, &[]);
        folder.run(&["compile", "--by-time", "-o", "years", "pages.jsonl"]).says(0, &[]);
        let parquet = ["classify", "set", "urls", "--agent", "bot-a", "--format", "parquet", "-o", "urls.parquet"];
        folder.run(&parquet).says(0, &[]);
        let robots = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /w\n";
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
             WARC-Target-URI: https://w.example/robots.txt\r\nContent-Length: {}\r\n\r\n{robots}\r\n\r\n",
            robots.len()
        );
        folder.write("robots.warc.gz", gz(record.as_bytes()));
        folder.write("pages.warc", (0..60).flat_map(|number| page(number, 200)).collect::<Vec<u8>>());
        folder.write("pages.warc.gz", (0..60).flat_map(|number| gz(&page(number, 200))).collect::<Vec<u8>>());
        let request = "http://a.example/private/x\t2026-03-14T15:09:26Z\tbot-a\n".repeat(300);
        folder.write("requests.tsv", format!("url\ttime\tuser_agent\n{request}"));
        folder.write("hosts", "a.example\nb.example\nn.example\n".repeat(300));
        folder.write("robots.txt", "User-agent: bot-a\nDisalow: /private\nDisallow: /x\nDisallow: /x\n");
        folder.write("new.txt", "User-agent: bot-a\nDisallow: /private\nAllow: /y\n");
        folder.write("cases", "a.example\tbot-a\thttp://a.example/private\tDISALLOW\t2\n");
        folder.write("assertions", "disallow bot-a /x\n");
        let mut tree = tree_of(&folder);
        tree.retain(|name, _| !name.ends_with(".made.json"));
        tree
    })
}

/// Returns all files in a folder, except for the test's own.
fn tree_of(folder: &Folder) -> Tree {
    fn add(root: &Path, folder: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(root, &path, tree);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if name != STDOUT && name != LOG {
                tree.insert(name, without_time(fs::read(&path).unwrap()));
            }
        }
    }
    let mut tree = Tree::new();
    add(&folder.path("."), &folder.path("."), &mut tree);
    tree
}

impl Case {
    /// Returns the command's words.
    fn args(&self) -> Vec<&'static str> {
        self.line.split(' ').collect()
    }

    /// Returns the files that a run needs.
    fn inputs(&self) -> Tree {
        let args = self.args();
        let is_used = |name: &str| args.iter().any(|arg| name == *arg || name.starts_with(&format!("{arg}/")));
        inputs().iter().filter(|(name, _)| is_used(name)).map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
    }

    /// Writes files with a fixed time, which some outputs record.
    fn folder(&self, tree: &Tree) -> Folder {
        let folder = Folder::new();
        for (name, bytes) in tree {
            folder.write(name, bytes);
            let file = File::options().write(true).open(folder.path(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000)).unwrap();
        }
        folder
    }

    /// Runs the command with a fault, or with a log of its calls.
    fn run(&self, folder: &Folder, cell: Option<&Cell>) -> Ended {
        let mut command = folder.command(&self.args());
        command.env("LD_PRELOAD", shim()).env("TMPDIR", folder.path(".")).env("REPTILE_FAULT_LOG", folder.path(LOG));
        if let Some(cell) = cell {
            command.env("REPTILE_FAULT_CALL", cell.call).env("REPTILE_FAULT_PATH", &cell.path);
            command.env("REPTILE_FAULT_KIND", cell.kind).env("REPTILE_FAULT_AT", cell.at.to_string());
        }
        command.stdin(Stdio::null()).stdout(File::create(folder.path(STDOUT)).unwrap());
        let output = command.output().unwrap();
        Ended {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: without_seconds(folder.read(STDOUT)),
            stderr: String::from_utf8(output.stderr).unwrap(),
            log: String::from_utf8(folder.read(LOG)).unwrap(),
            tree: tree_of(folder),
        }
    }
}

/// An undisturbed run, and the cells of its command.
struct Plan {
    /// Files before the run, without and with old outputs.
    before: [Tree; 2],
    normal: Ended,
    cells: Vec<Cell>,
}

/// Removes the run time from the end of the output of `verify`.
fn without_seconds(mut stdout: Vec<u8>) -> Vec<u8> {
    if let Some(text) = stdout.strip_suffix(b" s\n") {
        let end = text.iter().rposition(|&byte| byte == b' ');
        stdout.truncate(end.unwrap_or(0));
    }
    stdout
}

/// Returns whether a path matches, as in `faults.c`.
fn is_wanted(path: &str, pattern: &str) -> bool {
    pattern.strip_suffix('$').map_or_else(|| path.contains(pattern), |end| path.ends_with(end))
}

/// Replaces the placeholder for the run's folder in a pattern.
fn in_folder(pattern: &str, folder: &Folder) -> String {
    let path = fs::canonicalize(folder.path(".")).unwrap();
    pattern.replace("DIR", path.file_name().unwrap().to_str().unwrap())
}

/// Returns the numbers of the calls at which a fault occurs: at most `most`, with the first and the last.
fn moments(calls: usize, most: usize) -> Vec<usize> {
    let mut moments: Vec<usize> = (0..most).map(|number| 1 + (calls - 1) * number / (most - 1)).collect();
    moments.dedup();
    moments
}

impl Plan {
    /// Runs a command undisturbed, and plans its cells. `number` selects the cells of the short test.
    fn new(case: &Case, number: usize, is_long: bool) -> Plan {
        let without = case.inputs();
        let folder = case.folder(&without);
        let normal = case.run(&folder, None);
        assert!(matches!(normal.code, Some(0 | 1)), "{}: {}", case.line, normal.stderr);
        assert!(!normal.log.is_empty(), "the dynamic linker has not preloaded faults.so: is the command static?");
        let is_output = |name: &&String| without.get(*name) != normal.tree.get(*name);
        let outputs: Vec<&String> = normal.tree.keys().filter(is_output).collect();
        let mut with = without.clone();
        for name in &outputs {
            with.entry((*name).clone()).or_insert_with(|| OLD.to_vec());
        }
        let calls = |call: &str, pattern: &str| {
            let pattern = in_folder(pattern, &folder);
            let matches = |line: &str| {
                line.split_once(' ')
                    .is_some_and(|(own, path)| (own == call || call == "any") && is_wanted(path, &pattern))
            };
            normal.log.lines().filter(|line| matches(line)).count()
        };
        // This run is long because a command with enough memory writes no temporary file. Only those are disturbed.
        let is_heavy = case.line.contains("--memory");
        let mut cells = Vec::new();
        let mut add = |column, call, target, path: &str, kind, calls: usize| {
            // `short` and `interrupted` disturb all calls.
            let at = match (kind, is_long) {
                ("short" | "interrupted", _) => vec![1],
                (_, true) => moments(calls, if is_heavy { MAX_HEAVY_MOMENTS } else { MAX_MOMENTS }),
                (_, false) => vec![if (number + cells.len()).is_multiple_of(2) { 1 } else { calls }],
            };
            cells.extend(at.into_iter().map(|at| Cell { column, call, target, path: path.to_owned(), kind, at }));
        };
        for &(call, target, faults) in FAULTS.iter().filter(|(_, target, _)| !is_heavy || *target == Target::Temporary)
        {
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
            let hidden = |name: &str| format!("/.{}.{}-", name.rsplit('/').next().unwrap(), &boot[..8]);
            let mut paths: Vec<String> = match target {
                Target::Input => case.inputs.iter().map(|path| (*path).to_owned()).collect(),
                Target::Output if outputs.is_empty() => vec![format!("/{STDOUT}$")],
                Target::Output => outputs.iter().map(|name| hidden(name)).collect(),
                Target::Folder => vec!["/DIR$".into(), "/folder$".into()],
                Target::Temporary => vec!["(deleted)$".into(), "/.reptile-".into()],
            };
            paths.retain(|path| calls(call, path) > 0);
            for path in paths {
                for &(column, kind) in faults {
                    add(column, call, target, &path, kind, calls(call, &path));
                }
            }
        }
        if !outputs.is_empty() && !is_heavy {
            // The log does not show calls that the kernel refuses.
            for (column, kind) in [("rename", ENOSPC), ("rename", "5"), ("flock", ENOLCK)] {
                add(column, column, Target::Output, "", kind, 1);
            }
            let all = calls("any", "");
            let kills = if is_long { KILLS } else { 1 };
            for number in 0..kills {
                // Not before the shim is loaded, and not after the last call.
                let at = 1 + (all - 1) * (2 * number + 1) / (2 * kills);
                cells.push(Cell {
                    column: "kill",
                    call: "any",
                    target: Target::Output,
                    path: String::new(),
                    kind: "kill",
                    at,
                });
            }
        }
        if !is_long {
            let one_of = |column| {
                let own: Vec<&Cell> = cells.iter().filter(|cell| cell.column == column).collect();
                own.get(number % own.len().max(1)).map(|cell| (*cell).clone())
            };
            cells = COLUMNS.into_iter().filter_map(one_of).collect();
        }
        Plan { before: [without, with], normal, cells }
    }

    /// Runs a cell. Returns its outcome, or a description of an unexpected result.
    fn check(&self, case: &Case, cell: &Cell, has_old: bool) -> Result<Outcome, String> {
        let before = &self.before[usize::from(has_old)];
        let folder = case.folder(before);
        let cell = Cell { path: in_folder(&cell.path, &folder), ..cell.clone() };
        let ended = case.run(&folder, Some(&cell));
        let Ended { code, signal, stdout, stderr, log, tree } = &ended;
        let unexpected = |what: &str| {
            let names: Vec<String> = tree.iter().map(|(name, bytes)| format!("{name} {}", bytes.len())).collect();
            Err(format!("{}\n  {cell:?}, old outputs: {has_old}\n  {what}: {code:?} {stderr}  {names:?}", case.line))
        };
        let is_seccomp = ["rename", "flock"].contains(&cell.call);
        let has_occurred = !log.is_empty();
        if cell.at == 1 && !has_occurred {
            return unexpected("no fault occurred");
        }
        if stderr.contains("panicked") || stderr.contains("internal error") || stderr.contains("at path") {
            return unexpected("a panic, or a hidden name");
        }
        // Several outputs are published one at a time.
        let is_whole = |name: &String, bytes: &Vec<u8>| {
            before.get(name) == Some(bytes) || self.normal.tree.get(name) == Some(bytes)
        };
        if cell.kind == "kill" && *signal == Some(9) {
            let left = |name: &str| name.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
            if let Some((name, _)) = tree.iter().find(|(name, bytes)| !is_whole(name, bytes) && !left(name)) {
                return unexpected(&format!("{name} is neither old nor new"));
            }
            if before.keys().any(|name| !tree.contains_key(name)) {
                return unexpected("an old file is missing");
            }
            let next = case.run(&folder, None);
            let mut own = next.tree.clone();
            // Files in the system's folder for temporary files belong to no output.
            own.retain(|name, _| !name.starts_with(".reptile-"));
            return if next.code == self.normal.code && own == self.normal.tree {
                Ok(Outcome::Failed)
            } else {
                unexpected("the next run")
            };
        }
        if *code == self.normal.code {
            let is_normal = *tree == self.normal.tree && *stdout == self.normal.stdout;
            let outcome = if has_occurred { Outcome::Succeeded } else { Outcome::NotInjected };
            return if is_normal { Ok(outcome) } else { unexpected("another output") };
        }
        if !has_occurred {
            return unexpected("a failure without a fault");
        }
        if *code != Some(2) {
            return unexpected("the exit code");
        }
        if ["short", "interrupted"].contains(&cell.kind) || cell.call == "flock" {
            return unexpected("not an error");
        }
        let is_named = match cell.target {
            Target::Input => stderr.contains(cell.path.trim_end_matches('$')),
            Target::Output if cell.path.ends_with('$') => stderr.contains("standard output"),
            Target::Output if is_seccomp => self.normal.tree.keys().any(|name| stderr.contains(&format!("{name}: "))),
            Target::Output => {
                let name = cell.path.trim_start_matches("/.").rsplit_once('.').unwrap().0;
                stderr.contains(&format!("{name}: ")) || stderr.contains(&cell.path)
            }
            Target::Folder | Target::Temporary => stderr.contains(": "),
        };
        if !is_named {
            return unexpected("no file is named");
        }
        let is_batch = self.normal.tree.keys().any(|name| name.starts_with("folder/"));
        let is_unchanged = match (cell.target, is_batch) {
            // The new file has its name already.
            (Target::Folder, _) | (_, true) => {
                before.keys().all(|name| tree.contains_key(name))
                    && tree.iter().all(|(name, bytes)| is_whole(name, bytes))
            }
            _ => tree == before,
        };
        if is_unchanged { Ok(Outcome::Failed) } else { unexpected("the files are not those from before") }
    }
}

/// Counts of a command's cells in a column, by outcome.
type OutcomeRow = BTreeMap<&'static str, [usize; 3]>;

/// Runs all cells of all commands, prints the table, and returns the number of cells by outcome.
fn run_all(is_long: bool) -> [usize; 3] {
    let cases: Vec<&Case> = WRITERS.iter().chain(&PRINTERS).collect();
    let next = AtomicUsize::new(0);
    let rows: Mutex<BTreeMap<usize, OutcomeRow>> = Mutex::default();
    let unexpected: Mutex<Vec<String>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((number, case)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|number| Some((number, cases.get(number)?)))
                {
                    let plan = Plan::new(case, number, is_long);
                    let mut row = OutcomeRow::new();
                    for (turn, cell) in plan.cells.iter().enumerate() {
                        match plan.check(case, cell, (number + turn).is_multiple_of(2)) {
                            Ok(outcome) => row.entry(cell.column).or_default()[outcome as usize] += 1,
                            Err(what) => {
                                println!("unexpected: {what}");
                                unexpected.lock().unwrap().push(what);
                            }
                        }
                    }
                    rows.lock().unwrap().insert(number, row);
                }
            });
        }
    });
    println!("runs: succeeded/failed/not injected; for kill: completed/killed/not injected");
    println!("| command | {} |\n|---|{}", COLUMNS.join(" | "), "--:|".repeat(COLUMNS.len()));
    let mut counts = [0; 3];
    for (number, row) in &*rows.lock().unwrap() {
        let of_column =
            |column| row.get(column).map_or(String::new(), |[ok, failed, missed]| format!("{ok}/{failed}/{missed}"));
        println!("| `{}` | {} |", cases[*number].line, COLUMNS.map(of_column).join(" | "));
        row.values().flat_map(|cell| cell.iter().enumerate()).for_each(|(outcome, count)| counts[outcome] += count);
    }
    let runs = counts.iter().sum::<usize>();
    println!("{runs} runs: {} succeeded, {} failed, {} not injected", counts[0], counts[1], counts[2]);
    let unexpected = unexpected.into_inner().unwrap();
    assert!(unexpected.is_empty(), "{} unexpected results:\n{}", unexpected.len(), unexpected.join("\n"));
    assert!((counts[0] + counts[1]) * 100 >= runs * MIN_OCCURRED, "too few faults occurred");
    counts
}

#[test]
fn faults_end_a_run_cleanly_or_have_no_effect() {
    let runs = run_all(false).iter().sum::<usize>();
    assert_eq!(runs, 264, "the number of cells has changed");
}

#[test]
#[ignore = "thousands of runs, which take minutes"]
fn faults_at_many_moments_end_a_run_cleanly_or_have_no_effect() {
    let runs = run_all(true).iter().sum::<usize>();
    assert!(runs > 2000, "{runs}");
}

/// A set without the file would look complete.
#[test]
fn an_unreadable_file_in_a_folder_is_left_out_only_with_keep_going() {
    const STRICT: Case = case("compile --force -o out robots", &[]);
    const LENIENT: Case = case("compile --keep-going --force -o out robots", &[]);
    let inputs = STRICT.inputs();
    let rest: Tree =
        inputs.iter().filter(|(name, _)| *name != "robots/a.example").map(|(k, v)| (k.clone(), v.clone())).collect();
    let expected = STRICT.run(&STRICT.folder(&rest), None).tree.remove("out").unwrap();
    for (call, kind, reason) in [
        ("read", EIO, "Input/output error"),
        ("open", EIO, "Input/output error"),
        ("open", EMFILE, "Too many open files"),
        ("open", "23", "Too many open files in system"),
        ("open", EACCES, "Permission denied"),
    ] {
        let path = "a.example$".to_owned();
        let cell = Cell { column: "", call, target: Target::Input, path, kind, at: 1 };
        let strict = STRICT.run(&STRICT.folder(&inputs), Some(&cell));
        assert_eq!((strict.code, &*strict.log), (Some(2), "!"), "{}", strict.stderr);
        assert!(strict.stderr.contains(&format!("robots/a.example: {reason}")), "{}", strict.stderr);
        assert!(strict.tree == inputs, "{call} {kind}");
        let lenient = LENIENT.run(&LENIENT.folder(&inputs), Some(&cell));
        assert_eq!((lenient.code, &*lenient.log), (Some(1), "!"), "{}", lenient.stderr);
        assert!(lenient.stderr.contains(&format!("robots/a.example: unreadable: {reason}")), "{}", lenient.stderr);
        assert!(lenient.tree["out"] == expected, "{call} {kind}");
    }
}
