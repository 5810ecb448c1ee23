//! Measures the command on a large set: opening it, resident memory, verifying it, and deciding a list, compared with
//! `grep` over the same list.
//!
//! Each figure covers one process, as measured by the system.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use reptile_bench::median;
use wait4::Wait4;

use crate::questions::{AGENT, Urls};

/// Number of rounds. All runs take turns within a round.
const ROUNDS: usize = 5;

/// Number of URLs in the short list.
pub const FEW_URLS: usize = 1000;

/// Number of threads for verifying and deciding.
const THREADS: &str = "2";

/// A word that occurs in no URL list.
const ABSENT: &str = "no-such-word-in-any-url";

/// A process's resource use.
struct Used {
    seconds: f64,
    processor_seconds: f64,
    peak_bytes: u64,
}

/// The command's input files.
struct Files<'f> {
    binary: PathBuf,
    set: &'f Path,
    /// A set with one origin, for the cost of starting a process.
    small_set: PathBuf,
    one: PathBuf,
    few: PathBuf,
    all: PathBuf,
}

/// Prints the command's resource use for a set and the shuffled URLs of its web.
///
/// # Errors
/// Returns an error if the command is missing or fails.
pub fn measure(set: &Path, small_set: &[u8], urls: &Urls) -> Result<(), Box<dyn Error>> {
    let binary = std::env::current_exe()?.with_file_name("reptile");
    if !binary.is_file() {
        let missing = format!("{} is missing: `cargo build --release -p reptile-cli` builds it", binary.display());
        return Err(missing.into());
    }
    let folder = tempfile::tempdir()?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).map(|()| path)
    };
    let lines = |count: usize| urls.iter().take(count).collect::<Vec<_>>().join(&b'\n');
    let files = Files {
        binary,
        set,
        small_set: write("small", small_set)?,
        one: write("one", &lines(1))?,
        few: write("few", &lines(FEW_URLS))?,
        all: write("all", &lines(usize::MAX))?,
    };
    report(&files)
}

/// Runs all commands, which take turns, and prints the medians.
fn report(files: &Files<'_>) -> Result<(), Box<dyn Error>> {
    let classify = |set: &Path, urls: &Path| {
        let mut command = Command::new(&files.binary);
        command.arg("classify").args([set, urls]).args(["--agent", AGENT, "--threads", THREADS]);
        command
    };
    let mut verify = Command::new(&files.binary);
    verify.arg("verify").arg(files.set).args(["--threads", THREADS]);
    let mut grep = Command::new("grep");
    grep.args([OsStr::new("-c"), OsStr::new(ABSENT), files.all.as_os_str()]);
    let mut runs = [
        ("one URL, set of one origin", classify(&files.small_set, &files.one)),
        ("one URL", classify(files.set, &files.one)),
        ("a few URLs", classify(files.set, &files.few)),
        ("verify", verify),
        ("all URLs", classify(files.set, &files.all)),
        ("grep -c", grep),
    ];
    let mut used = runs.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((name, command), used) in runs.iter_mut().zip(&mut used) {
            // `grep` exits with 1 if it finds nothing.
            used.push(run(command, if *name == "grep -c" { 1 } else { 0 })?);
        }
    }
    println!("\n| the command, {THREADS} threads | ms | processor ms | peak, MB |\n|---|--:|--:|--:|");
    let seconds = used.each_ref().map(|used| median(used.iter().map(|used| used.seconds).collect()));
    for (((name, _), used), seconds) in runs.iter().zip(&used).zip(seconds) {
        let processor = median(used.iter().map(|used| used.processor_seconds).collect());
        let peak = used.iter().map(|used| used.peak_bytes).max().unwrap_or_default();
        println!("| {name} | {:.1} | {:.1} | {:.1} |", seconds * 1e3, processor * 1e3, peak as f64 / 1e6);
    }
    let [small, one, _, verify, all, grep] = seconds;
    println!("opening and one URL: {:.2} ms more than with a set of one origin", (one - small) * 1e3);
    println!("verify: {:.2} GB/s", fs::metadata(files.set)?.len() as f64 / verify / 1e9);
    println!("all URLs: {:.1} times grep", all / grep);
    Ok(())
}

/// Runs a command to completion, without output.
fn run(command: &mut Command, expected_code: i32) -> Result<Used, Box<dyn Error>> {
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let ended = child.wait4()?;
    let seconds = start.elapsed().as_secs_f64();
    if ended.status.code() != Some(expected_code) {
        return Err(format!("{command:?}: {}", ended.status).into());
    }
    let processor_seconds = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
    Ok(Used { seconds, processor_seconds, peak_bytes: ended.rusage.maxrss })
}
