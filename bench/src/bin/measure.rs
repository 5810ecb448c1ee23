//! Takes a quick look: compiles all real files on one thread, prints the sizes of the set, and times the walks over the
//! five real benchmark files and the real crawl. To measure for a record, follow `METHODOLOGY.md`.
//!
//! Each walk is timed warm, over the same 1,000 paths again and again, and fresh, in one pass over 20,000 paths that it
//! has not seen. The crawl is timed as a crawler decides: from the bytes of a URL to the verdict, with another host at
//! every step, on one thread.
#![deny(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use reptile_bench::{
    Case, Crawl, FRESH_LISTS, FRESH_URLS, HostFile, PreparedCase, builder_of, check_count, disallowed_by_matches,
    fresh_paths, median, real_files, shared,
};
use reptile_compiler::automaton::Strategy;
use reptile_engine::automaton::Ruleset;
use reptile_engine::set::Set;
use reptile_engine::verdict::Verdict;

/// The number of passes over the same paths. The two walks do not take turns, because the branches of one spoil the
/// predictions for the other.
const WARM_PASSES: usize = 300;

/// The number of times that all files are compiled.
const BUILDS: usize = 5;

/// The number of passes over the crawl.
const CRAWLS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(shared) = shared() else {
        println!("skipped: the folder of real inputs is absent");
        return Ok(());
    };
    let files = real_files(&shared)?;
    compile_all(&files)?;
    println!("{:5} {:>7} {:>9} {:>10} {:>10} {:>10}", "file", "rules", "bytes", "verdict ns", "fresh ns", "matches ns");
    for case in Case::all_real(&shared, &files)? {
        walk(&case)?;
    }
    crawl(&Crawl::real(&shared)?)
}

/// Times compiling all files to one set, and prints the sizes of its sections.
fn compile_all(files: &[HostFile]) -> Result<(), Box<dyn Error>> {
    println!("{} files, {} bytes", files.len(), files.iter().map(|(_, body)| body.len()).sum::<usize>());
    let (mut reads, mut wholes, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..BUILDS {
        let start = Instant::now();
        let builder = builder_of(files.iter().map(|(host, body)| (host.as_str(), &body[..])))?;
        reads.push(start.elapsed().as_secs_f64() * 1e3);
        bytes = builder.finish(Strategy::default())?.to_bytes();
        wholes.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let (read, whole) = (median(reads), median(wholes));
    println!("read {read:.1} ms, all {whole:.1} ms (medians of {BUILDS}), set {} bytes", bytes.len());
    let set = Set::from_bytes(bytes)?;
    set.verify()?;
    for (name, size) in set.section_sizes() {
        println!("  {name:10} {size:>9}");
    }
    Ok(())
}

/// Times the walks over the paths of one file, and prints a row of the table.
fn walk(case: &Case) -> Result<(), Box<dyn Error>> {
    let prepared = PreparedCase::checked(case)?;
    let ruleset = prepared.ruleset()?;
    let warm = |walk: &dyn Fn(&[Vec<u8>])| {
        let pass = |_| {
            let start = Instant::now();
            walk(&prepared.paths);
            start.elapsed().as_secs_f64() * 1e9 / prepared.paths.len() as f64
        };
        median((0..WARM_PASSES).map(pass).collect())
    };
    let verdicts = warm(&|paths| {
        for path in paths {
            black_box(ruleset.verdict(black_box(path)).unwrap_or(Verdict::Invalid));
        }
    });
    let matches = warm(&|paths| {
        for path in paths {
            let _ = black_box(ruleset.matches(black_box(path)));
        }
    });
    println!(
        "{:5} {:>7} {:>9} {verdicts:>10.1} {:>10.1} {matches:>10.1}",
        case.name,
        ruleset.rule_count(),
        prepared.automaton.len(),
        fresh(ruleset)?
    );
    Ok(())
}

/// Times a first pass over fresh paths, in nanoseconds per path: the median of several lists, each decided once. After
/// each list the walk that finds the matching rules must disallow the same number of paths.
fn fresh(ruleset: Ruleset<'_>) -> Result<f64, Box<dyn Error>> {
    let mut figures = Vec::new();
    for seed in 0..FRESH_LISTS {
        let paths = fresh_paths(ruleset, seed)?;
        let start = Instant::now();
        let mut disallowed = 0;
        for path in &paths {
            disallowed += usize::from(ruleset.verdict(black_box(path)) == Ok(Verdict::Disallow));
        }
        figures.push(start.elapsed().as_secs_f64() * 1e9 / FRESH_URLS as f64);
        check_count("fresh paths", disallowed, disallowed_by_matches(ruleset, &paths))?;
    }
    Ok(median(figures))
}

/// Times the crawl, and checks the number of disallowed URLs in each pass.
fn crawl(crawl: &Crawl) -> Result<(), Box<dyn Error>> {
    let mut figures = Vec::new();
    for _ in 0..CRAWLS {
        let start = Instant::now();
        let disallowed = black_box(crawl).decide_all()?;
        figures.push(start.elapsed().as_secs_f64() * 1e9 / crawl.urls.len() as f64);
        check_count(crawl.name, disallowed, crawl.disallowed)?;
    }
    println!(
        "crawl of {} URLs, {} disallowed: {:.1} ns a URL (median of {CRAWLS})",
        crawl.urls.len(),
        crawl.disallowed,
        median(figures)
    );
    Ok(())
}
