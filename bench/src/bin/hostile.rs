//! Measures hostile files: the time and memory for building each family and deciding with it once.
//!
//! Prints a row for each family in `compiler/tests/support/families.rs`. *Build* covers everything from the robots.txt
//! bytes to an open set with one origin. *Decide* is the slowest of 5 paths in that set. *Peak* is the largest number
//! of bytes allocated at any time during both, excluding the file itself. *One shot* is the slowest `decide_once` call
//! for the same questions, whose answers are compared. The table shows the best of several rounds, because the figures
//! are compared with a limit and a shared machine can only make them worse.
//!
//! With `--commands` it instead runs every `reptile` command over these families and the largest files from
//! `tool_families.rs`, and prints a row for each run. The binary must be in the same folder. Each command runs under
//! the dialects in [`DIALECTS`], or under the one given with `--dialect`.
//!
//! An argument selects families by a part of their name. Exits with 1 if a family reaches [`MAX_MS`] or [`MAX_BYTES`],
//! or a command reaches [`MAX_COMMAND_SECONDS`], [`MAX_ALL_DIALECTS_SECONDS`] or another limit.
#![deny(unsafe_code)]

use std::alloc::System;
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use bumpalo::Bump;
use commands::{commands, fault_of, run, write_files};
use families::{Family, families, long_path};
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait as _};
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::dialect::crawlers::of_name;
use reptile_compiler::once::decide_once;
use reptile_compiler::set::{BodyOverLimit, OwnedOrigin, SetBuilder, prepare};
use reptile_engine::set::Set;
use reptile_engine::url::Scheme;
use reptile_engine::verdict::Verdict;
use tool_families::tool_families;

#[path = "../../../cli/tests/support/commands.rs"]
mod commands;
#[path = "../../../compiler/tests/support/families.rs"]
mod families;
#[path = "../../../compiler/tests/support/tool_families.rs"]
mod tool_families;

/// The system's allocator, extended to count the bytes in use and their peak.
#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Time limit for building and deciding a family, in milliseconds.
const MAX_MS: f64 = 20.0;

/// Peak memory limit for building and deciding a family, in bytes.
const MAX_BYTES: usize = 16 * MB;

/// Processor time limit for a command on a file of at most 16 MB, in seconds.
const MAX_COMMAND_SECONDS: f64 = 2.0;

/// The same with `--all-dialects`, which reads the file nine times.
const MAX_ALL_DIALECTS_SECONDS: f64 = 10.0;

/// Size of the files for `--commands`: the maximum for a robots.txt.
const FULL_BYTES: usize = 16 << 20;

/// Number of rounds. The best one counts.
const ROUNDS: usize = 7;

/// Bytes per megabyte in the tables.
const MB: usize = 1_000_000;

/// A family's figures.
struct Figures {
    build_ms: f64,
    decide_ms: f64,
    one_shot_ms: f64,
    peak_bytes: usize,
    set_bytes: usize,
}

/// The dialects for `--commands`: the default, which reads 500 KiB of a file, and one that reads it all.
const DIALECTS: [&str; 2] = ["google", "google-lib"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = std::env::args().skip(1).peekable();
    let all_commands = args.next_if_eq("--commands").is_some();
    let chosen = args.next_if_eq("--dialect").and_then(|_| args.next());
    let part = args.next().unwrap_or_default();
    if !all_commands {
        return measure_families(&part);
    }
    match chosen {
        Some(dialect) => measure_commands(&part, &[&dialect]),
        None => measure_commands(&part, &DIALECTS),
    }
}

/// Runs every command over every family and prints its cost.
fn measure_commands(part: &str, dialects: &[&str]) -> Result<ExitCode, Box<dyn Error>> {
    let binary = std::env::current_exe()?.with_file_name("reptile");
    if !binary.is_file() {
        let missing = format!("{} is missing: `cargo build --release -p reptile-cli` builds it", binary.display());
        return Err(missing.into());
    }
    println!("| family | command | body, bytes | s | peak MB | output, bytes | |");
    println!("|---|---|--:|--:|--:|--:|---|");
    let mut over = 0;
    let published = families().into_iter().filter(|family| family.name.contains(part));
    let recipes = tool_families(FULL_BYTES).into_iter().filter(|recipe| recipe.name.contains(part));
    for family in published.chain(recipes.map(|recipe| recipe.family())) {
        let folder = tempfile::tempdir()?;
        let body = family.body.len();
        write_files(folder.path(), &family.body, family.agent)?;
        for case in dialects.iter().flat_map(|dialect| commands(family.agent, dialect)) {
            let measured = run(&binary, folder.path(), &case, body)?;
            let (seconds, peak_mb) = (measured.processor.as_secs_f64(), measured.peak_bytes as f64 / MB as f64);
            let reads_often = case.args.iter().any(|arg| arg == "--all-dialects");
            let is_slow = seconds > if reads_often { MAX_ALL_DIALECTS_SECONDS } else { MAX_COMMAND_SECONDS };
            let fault = fault_of(&case, &measured, body).or_else(|| is_slow.then(|| "slow".into()));
            over += usize::from(fault.is_some());
            let family = family.name;
            let name = case.name();
            let fault = fault.unwrap_or_default().replace('\n', " ");
            println!("| {family} | {name} | {body} | {seconds:.2} | {peak_mb:.0} | {} | {fault} |", measured.output);
        }
    }
    println!(
        "\n{over} runs over {MAX_COMMAND_SECONDS} s, {MAX_ALL_DIALECTS_SECONDS} s with --all-dialects, or another limit"
    );
    Ok(if over == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds every family, decides with it, and prints the cost.
fn measure_families(part: &str) -> Result<ExitCode, Box<dyn Error>> {
    println!("| family | body, bytes | build ms | decide ms | both ms | peak MB | set, bytes | one shot ms |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let mut over = Vec::new();
    for family in families().into_iter().filter(|family| family.name.contains(part)) {
        let Figures { build_ms, decide_ms, one_shot_ms, peak_bytes, set_bytes } = measure(&family)?;
        let (both_ms, peak_mb) = (build_ms + decide_ms, peak_bytes as f64 / MB as f64);
        let set_bytes = if set_bytes == 0 { "refused".to_owned() } else { set_bytes.to_string() };
        println!(
            "| {} | {} | {build_ms:.2} | {decide_ms:.3} | {both_ms:.2} | {peak_mb:.2} | {set_bytes} | {one_shot_ms:.2} |",
            family.name,
            family.body.len()
        );
        if both_ms >= MAX_MS || peak_bytes >= MAX_BYTES {
            over.push(family.name);
        }
    }
    if over.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("\n{MAX_MS} ms or {} MB reached: {}", MAX_BYTES / MB, over.join(", "));
    Ok(ExitCode::FAILURE)
}

fn paths() -> [String; 5] {
    [long_path(), format!("{}b", long_path()), "/".into(), "/xaxaxaxa!".into(), "/aa1*a99a".into()]
}

/// Compiles a family's file into a set with one origin, and opens it. Returns `None` if the file is refused because one
/// URL would take too long.
fn build(family: &Family) -> Result<Option<Set<Vec<u8>>>, Box<dyn Error>> {
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    let origin = OwnedOrigin { host: b"h"[..].into(), scheme: Scheme::Http, port: 80 };
    match prepare(family.body.as_bytes(), &GOOGLE_LIB, &Bump::new()) {
        Ok(prepared) => builder.add([origin], prepared),
        Err(BodyOverLimit::Steps(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(Some(Set::from_bytes(builder.finish(Strategy::default())?.to_bytes())?))
}

/// Measures a family, and compares the set's answers with `decide_once`.
fn measure(family: &Family) -> Result<Figures, Box<dyn Error>> {
    let mut best =
        Figures { build_ms: f64::MAX, decide_ms: f64::MAX, one_shot_ms: f64::MAX, peak_bytes: 0, set_bytes: 0 };
    let agent = of_name(family.agent.as_bytes(), &GOOGLE_LIB);
    for _ in 0..ROUNDS {
        ALLOCATOR.reset_peak_memory();
        let start = Instant::now();
        let set = build(black_box(family))?;
        best.build_ms = best.build_ms.min(milliseconds(start));
        best.peak_bytes = best.peak_bytes.max(ALLOCATOR.get_peak_memory());
        let Some(set) = set else {
            (best.decide_ms, best.one_shot_ms) = (0.0, 0.0);
            continue;
        };
        best.set_bytes = set.section_sizes().map(|(_, bytes)| bytes).sum();
        let known = set.agent(family.agent.as_bytes())?;
        let (mut decide_ms, mut one_shot_ms) = (0.0_f64, 0.0_f64);
        for path in paths() {
            let url = format!("http://h{path}");
            let start = Instant::now();
            let verdict = set.decide(&known, black_box(url.as_bytes()))?;
            decide_ms = decide_ms.max(milliseconds(start));
            best.peak_bytes = best.peak_bytes.max(ALLOCATOR.get_peak_memory());
            let start = Instant::now();
            let answer = decide_once(family.body.as_bytes(), &GOOGLE_LIB, &agent, black_box(url.as_bytes()));
            one_shot_ms = one_shot_ms.max(milliseconds(start));
            // A file that exceeds the step limit has no answer in one shot.
            if answer.is_ok_and(|answer| answer.allowed != (verdict == Verdict::Allow)) {
                return Err(format!("{}, {url}: expected {verdict:?} in one shot, too", family.name).into());
            }
        }
        best.decide_ms = best.decide_ms.min(decide_ms);
        best.one_shot_ms = best.one_shot_ms.min(one_shot_ms);
    }
    Ok(best)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
#[path = "../../tests/support/documents.rs"]
mod documents;

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests only memory, because times vary. Also checks the document, because parallel tests would share the count.
    #[test]
    fn memory_stays_within_the_documented_limit() {
        let document = include_str!("../../METHODOLOGY.md");
        documents::assert_says(document, &format!("takes {MAX_MS} ms or {} MB", MAX_BYTES / MB));
        documents::assert_says(document, &format!("the best of {ROUNDS} rounds"));
        documents::assert_says(document, &format!("the slowest of {} paths", paths().len()));
        let families = families();
        assert!(families.len() > 40);
        let mut refused = 0;
        for family in families {
            ALLOCATOR.reset_peak_memory();
            let set = build(&family).unwrap();
            let peak = ALLOCATOR.get_peak_memory();
            assert!(peak < MAX_BYTES, "{}: {peak} bytes", family.name);
            refused += u32::from(set.is_none());
        }
        assert_eq!(refused, 9, "families with rules that take too long for one URL");
    }
}
