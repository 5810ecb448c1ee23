//! A quick look: compiling the whole real corpus on one thread, the size of the set, walks of the five real benchmark
//! files, and the real crawl. Not a record; for that see `METHODOLOGY.md`.
//!
//! A walk is measured warm, over the same thousand paths again and again, and fresh: one pass over twenty thousand
//! paths that it has not seen. The crawl is what a crawler does: from the bytes of a URL to the verdict, another host
//! at every step, one thread.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use reptile_bench::{
    Case, Crawl, FRESH_LISTS, FRESH_URLS, PreparedCase, builder_of, check_count, explained, fresh_paths, median,
    real_files, shared,
};
use reptile_compiler::automaton::Strategy;
use reptile_engine::automaton::Ruleset;
use reptile_engine::set::Set;
use reptile_engine::verdict::Verdict;

/// How often a walk goes over the same paths. The two walks are not measured in turns: a processor that has seen one
/// guesses worse in the other.
const WARM_PASSES: usize = 300;

/// How often the crawl is gone through.
const CRAWLS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let Some(shared) = shared() else {
        println!("skipped: the folder of real inputs is absent");
        return Ok(());
    };
    let files = real_files(&shared)?;
    println!("{} files, {} bytes", files.len(), files.iter().map(|(_, body)| body.len()).sum::<usize>());
    let (mut reads, mut wholes, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..5 {
        let start = Instant::now();
        let builder = builder_of(files.iter().map(|(host, body)| (host.as_str(), &body[..])))?;
        reads.push(start.elapsed().as_secs_f64() * 1e3);
        bytes = builder.finish(Strategy::default())?.to_bytes();
        wholes.push(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("read {:.1} ms, all {:.1} ms (medians of 5), set {} bytes", median(reads), median(wholes), bytes.len());
    let set = Set::from_bytes(bytes)?;
    set.verify()?;
    for (name, size) in set.section_sizes() {
        println!("  {name:10} {size:>9}");
    }
    println!("{:5} {:>7} {:>9} {:>10} {:>10} {:>10}", "file", "rules", "bytes", "verdict ns", "fresh ns", "matches ns");
    for case in Case::all_real(&shared, &files)? {
        let prepared = PreparedCase::checked(&case)?;
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
            "{:5} {:>7} {:>9} {:>10.1} {:>10.1} {:>10.1}",
            case.name,
            ruleset.rule_count(),
            prepared.automaton.len(),
            verdicts,
            fresh(ruleset)?,
            matches
        );
    }
    let crawl = Crawl::real(&shared)?;
    let mut crawls = Vec::new();
    for _ in 0..CRAWLS {
        let start = Instant::now();
        let disallowed = black_box(&crawl).decide_all()?;
        crawls.push(start.elapsed().as_secs_f64() * 1e9 / crawl.urls.len() as f64);
        check_count(crawl.name, disallowed, crawl.disallowed)?;
    }
    println!(
        "crawl of {} URLs, {} disallowed: {:.1} ns a URL (median of {CRAWLS})",
        crawl.urls.len(),
        crawl.disallowed,
        median(crawls)
    );
    Ok(())
}

/// Nanoseconds a path takes in a first pass over fresh ones: the median of several lists, each walked once. Afterwards
/// the same number of verdicts must come of explaining each path.
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
        check_count("fresh", disallowed, explained(ruleset, &paths))?;
    }
    Ok(median(figures))
}
