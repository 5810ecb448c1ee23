//! A quick look: compiles all real files on one thread, prints the set's section sizes, and times the walks over the
//! five real benchmark files and the real crawl. For publishable figures, follow `METHODOLOGY.md`.
//!
//! Each walk is timed warm, over the same 1,000 paths again and again, and fresh, in one pass over 20,000 unseen paths.
//! Whole URLs are timed with a set that contains only that file. The crawl is timed as a crawler decides: from URL
//! bytes to verdict, with another host at every step, on one thread.
//!
//! `measure SET URLS` instead times the steps of a decision over any URL list: splitting, lookup, single decisions, and
//! batch decisions. The set is copied to large pages.
#![deny(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use reptile_bench::{
    AGENT, Case, Crawl, FRESH_LISTS, FRESH_URLS, HostFile, PreparedCase, builder_of, check_count,
    disallowed_by_matches, fresh_paths, median, real_files, shared,
};
use reptile_compiler::automaton::Strategy;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::FormatError;
use reptile_engine::platform::MappedFile;
use reptile_engine::set::{Agent, Lookup, Set};
use reptile_engine::url::split;
use reptile_engine::verdict::Verdict;

/// Passes over the same paths. The two walks do not take turns, because each would spoil the other's branch
/// predictions.
const WARM_PASSES: usize = 300;

/// How often all files are compiled.
const BUILDS: usize = 5;

/// Number of URLs in a batch call.
const URLS_TOGETHER: usize = 512;

/// Number of URLs in a separately timed part.
const PART_URLS: usize = 4096;

/// How often the steps are timed.
const STEP_PASSES: usize = 3;

/// Passes over the crawl.
const CRAWLS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [set, urls] = &arguments[..] {
        return steps(Path::new(set), Path::new(urls));
    }
    let Some(shared) = shared() else {
        println!("skipped: the folder with real inputs is absent");
        return Ok(());
    };
    let files = real_files(&shared)?;
    compile_all(&files)?;
    println!(
        "{:5} {:>7} {:>9} {:>10} {:>10} {:>10} {:>10}",
        "file", "rules", "bytes", "verdict ns", "fresh ns", "matches ns", "URL ns"
    );
    for case in Case::all_real(&shared, &files)? {
        walk(&case)?;
    }
    crawl(&Crawl::real(&shared)?)
}

/// Times compiling all files into a set, and prints its section sizes.
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

/// Times the walks over a file's paths, and prints a table row.
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
        "{:5} {:>7} {:>9} {verdicts:>10.1} {:>10.1} {matches:>10.1} {:>10.1}",
        case.name,
        ruleset.rule_count(),
        prepared.automaton.len(),
        fresh(ruleset)?,
        whole_urls(case)?
    );
    Ok(())
}

/// Returns the time per whole URL in nanoseconds, with single decisions in a set with one file.
fn whole_urls(case: &Case) -> Result<f64, Box<dyn Error>> {
    let host = case.urls.first().and_then(|url| split(url).ok()).map(|url| url.origin.host.to_vec());
    let host = String::from_utf8(host.unwrap_or_default())?;
    let set = Set::from_bytes(builder_of([(host.as_str(), &case.body[..])])?.finish(Strategy::default())?.to_bytes())?;
    let agent = set.agent(AGENT)?;
    let mut figures = Vec::new();
    for _ in 0..WARM_PASSES {
        let start = Instant::now();
        let mut disallowed = 0;
        for url in &case.urls {
            disallowed += usize::from(set.decide(&agent, black_box(url))? == Verdict::Disallow);
        }
        figures.push(start.elapsed().as_secs_f64() * 1e9 / case.urls.len() as f64);
        check_count(&case.name, disallowed, case.disallowed)?;
    }
    Ok(median(figures))
}

/// Returns the time per fresh path in nanoseconds: the median over several lists, each decided once. Afterwards, the
/// walk that finds the matching rules must disallow the same number of paths.
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

/// Times the crawl with single and batch decisions, and checks the number of disallowed URLs in each pass.
fn crawl(crawl: &Crawl) -> Result<(), Box<dyn Error>> {
    let (mut singly, mut together) = (Vec::new(), Vec::new());
    for _ in 0..CRAWLS {
        let disallowed = in_parts(&crawl.urls, &mut singly, |urls| decide_singly(&crawl.set, &crawl.agent, urls))?;
        check_count(crawl.name, disallowed, crawl.disallowed)?;
        let disallowed = in_parts(&crawl.urls, &mut together, |urls| decide_together(&crawl.set, &crawl.agent, urls))?;
        check_count(crawl.name, disallowed, crawl.disallowed)?;
    }
    println!(
        "crawl of {} URLs, {} disallowed: {:.1} ns a URL one by one, {:.1} by the batch (medians of {CRAWLS} passes in \
         parts)",
        crawl.urls.len(),
        crawl.disallowed,
        median(singly),
        median(together)
    );
    Ok(())
}

/// The number of URLs with some property, or an error.
type CountedUrls = Result<usize, Box<dyn Error>>;

/// Runs `work` on a URL list in parts, and appends each part's nanoseconds per URL to `figures`. On a shared machine,
/// the median of parts that take a millisecond is more reliable than the total time. Returns the sum of the results.
fn in_parts(urls: &[&[u8]], figures: &mut Vec<f64>, work: impl Fn(&[&[u8]]) -> CountedUrls) -> CountedUrls {
    let mut sum = 0;
    for part in urls.chunks(PART_URLS) {
        let start = Instant::now();
        sum += black_box(work(black_box(part))?);
        figures.push(start.elapsed().as_secs_f64() * 1e9 / part.len() as f64);
    }
    Ok(sum)
}

/// Decides each URL with a separate call, and returns the number of disallowed ones.
fn decide_singly<D: AsRef<[u8]>>(set: &Set<D>, agent: &Agent, urls: &[&[u8]]) -> CountedUrls {
    let mut disallowed = 0;
    for url in urls {
        disallowed += usize::from(set.decide(agent, url)? == Verdict::Disallow);
    }
    Ok(disallowed)
}

/// Decides the URLs in batches, and returns the number of disallowed ones.
fn decide_together<D: AsRef<[u8]>>(set: &Set<D>, agent: &Agent, urls: &[&[u8]]) -> CountedUrls {
    let mut verdicts = [Verdict::Invalid; URLS_TOGETHER];
    let mut disallowed = 0;
    for urls in urls.chunks(URLS_TOGETHER) {
        let verdicts = &mut verdicts[..urls.len()];
        set.decide_all(std::slice::from_ref(agent), urls.iter().copied(), verdicts)?;
        disallowed += verdicts.iter().filter(|&&verdict| verdict == Verdict::Disallow).count();
    }
    Ok(disallowed)
}

/// Times the decision steps over a URL list, on one thread.
fn steps(set: &Path, urls: &Path) -> Result<(), Box<dyn Error>> {
    let set = Set::from_bytes(MappedFile::copy(set)?)?;
    let text = std::fs::read(urls)?;
    let urls: Vec<&[u8]> = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let agent = set.agent(AGENT)?;
    let is_known = |url: &&[u8]| split(url).is_ok_and(|url| set.policy(&url.origin).is_ok_and(|found| found.is_some()));
    let known_together = |urls: &[&[u8]]| {
        let mut known = 0;
        set.look_up_all(std::slice::from_ref(&agent), urls.iter().copied(), |_, found| {
            known += usize::from(matches!(found, Lookup::Policy(..)));
            Ok::<_, FormatError>(())
        })?;
        Ok(known)
    };
    println!("{} origins, {} URLs; nanoseconds a URL, one thread", set.origin_count(), urls.len());
    println!("{:>10} {:>10} {:>10} {:>10} {:>10}", "split", "find", "find batch", "one by one", "batch");
    for _ in 0..STEP_PASSES {
        let mut figures: [Vec<f64>; 5] = Default::default();
        let [splits, finds, batches, singly, together] = &mut figures;
        in_parts(&urls, splits, |urls| Ok(urls.iter().filter(|url| split(black_box(url)).is_ok()).count()))?;
        let known = in_parts(&urls, finds, |urls| Ok(urls.iter().copied().filter(is_known).count()))?;
        check_count("known URLs", in_parts(&urls, batches, known_together)?, known)?;
        let disallowed = in_parts(&urls, singly, |urls| decide_singly(&set, &agent, urls))?;
        check_count("the batch", in_parts(&urls, together, |urls| decide_together(&set, &agent, urls))?, disallowed)?;
        let [splits, finds, batches, singly, together] = figures.map(median);
        println!("{splits:>10.1} {finds:>10.1} {batches:>10.1} {singly:>10.1} {together:>10.1}");
    }
    Ok(())
}
