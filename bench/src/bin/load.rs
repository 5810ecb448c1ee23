//! Decides URLs on many threads while the set is replaced again and again, and checks every verdict.
//!
//! The set is replaced as in `reptile/examples/crawler.rs`: each new version is written to a file, read, and put in
//! place of the old one in a `RwLock<Arc<_>>`. Two versions with different rules take turns. A decision uses the
//! version that is active when it begins, and its verdicts must be that version's verdicts, which are known without
//! reptile: a URL's path says which versions disallow it.
//!
//! Prints the number of decisions, replacements and wrong verdicts, the latency of a decision with access to the active
//! version, and the process's resident memory. More threads than processors wait for each other, so the largest
//! latencies are those of the system's scheduler.
//!
//! `--decisions N` and `--threads N` set the amount of work. Exits with 1 if a verdict is wrong, if the set was replaced
//! less than [`MIN_SWAPS`] times, or if memory grows by more than [`MAX_GROWTH_SETS`] sets and [`MAX_GROWTH_BYTES`].
#![deny(unsafe_code)]

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use reptile::{Agents, Capture, CompiledSet, Compiler, Dialect, Set, Verdict};
use reptile_bench::generate::Random;

/// Default number of decisions.
const DECISIONS: u64 = 2_000_000;

/// Default number of threads.
const THREADS: usize = 64;

/// Number of origins in each version of the set.
const ORIGINS: usize = 20_000;

/// The crawlers of each decision. The rules for the first one differ from the default group's.
const AGENTS: [&str; 2] = ["LoadBot", "OtherBot"];

/// Time between two replacements.
const SWAP_INTERVAL: Duration = Duration::from_millis(20);

/// Minimum number of replacements.
const MIN_SWAPS: u64 = 10;

/// Number of decisions that a thread makes between two looks at the common counter.
const ROUND: u64 = 1000;

/// Maximum growth of resident memory in sets: the new version, and an old one that a decision in progress still uses.
const MAX_GROWTH_SETS: u64 = 2;

/// Maximum further growth of resident memory in bytes: the allocator's reserves for 64 threads.
const MAX_GROWTH_BYTES: u64 = 16 << 20;

/// Number of histogram buckets for each power of two. A latency is exact to a sixteenth.
const BUCKETS: usize = 16;

/// Bytes per megabyte in the output.
const MB: f64 = 1e6;

/// A version of the set, with its number: 0 or 1.
struct SetVersion {
    number: usize,
    agents: Agents,
}

/// A URL with the verdicts of both versions for [`AGENTS`].
struct UrlCase {
    url: String,
    expected: [[Verdict; 2]; 2],
}

/// Returns a version's robots.txt for an origin.
fn body(version: usize, origin: usize) -> String {
    let own = ["first", "second"][version];
    format!(
        "user-agent: loadbot\ndisallow: /{own}/\ndisallow: /*.{own}$\ndisallow: /both/\nallow: /both/{own}\n\n\
         user-agent: *\ndisallow: /{own}/other\ndisallow: /{origin}/\n"
    )
}

/// Returns a random URL and its verdicts. Only the second version has the last origin.
fn case(random: &mut Random) -> UrlCase {
    const A: Verdict = Verdict::Allow;
    const D: Verdict = Verdict::Disallow;
    let origin = random.below(ORIGINS + 1);
    let mut expected = match random.below(8) {
        0 => ("first/x".to_owned(), [[D, A], [A, A]]),
        1 => ("second/x".into(), [[A, A], [D, A]]),
        2 => ("second/other".into(), [[A, A], [D, D]]),
        3 => ("page.first".into(), [[D, A], [A, A]]),
        4 => ("both/x".into(), [[D, A], [D, A]]),
        5 => ("both/first".into(), [[A, A], [D, A]]),
        6 => (format!("{origin}/x"), [[A, D], [A, D]]),
        _ => ("open".into(), [[A, A], [A, A]]),
    };
    if origin == ORIGINS {
        expected.1[0] = [Verdict::Unknown; 2];
    }
    UrlCase { url: format!("https://h{origin}.example/{}", expected.0), expected: expected.1 }
}

fn compile(version: usize) -> Result<CompiledSet, Box<dyn Error>> {
    let mut compiler = Compiler::new(Dialect::google());
    for origin in 0..ORIGINS + version {
        compiler.add(Capture::new(format!("https://h{origin}.example/robots.txt"), body(version, origin))?)?;
    }
    Ok(compiler.finish()?)
}

/// Counts of latencies: [`BUCKETS`] for each power of two nanoseconds.
struct Histogram {
    counts: Vec<u64>,
    max: u64,
}

impl Histogram {
    fn new() -> Histogram {
        Histogram { counts: vec![0; 64 * BUCKETS], max: 0 }
    }

    fn add(&mut self, nanoseconds: u64) {
        self.counts[bucket(nanoseconds)] += 1;
        self.max = self.max.max(nanoseconds);
    }

    fn merge(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
        self.max = self.max.max(other.max);
    }

    /// Returns the upper bound of the bucket below which `per_mille` of the latencies are.
    fn quantile(&self, per_mille: u64) -> u64 {
        let rank = (self.counts.iter().sum::<u64>() * per_mille).div_ceil(1000);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        found.map_or(self.max, |bucket| upper_bound(bucket).min(self.max))
    }
}

/// Returns a latency's bucket. Below [`BUCKETS`], each number has its own.
fn bucket(nanoseconds: u64) -> usize {
    let shift = nanoseconds.max(1).ilog2().saturating_sub(BUCKETS.ilog2());
    shift as usize * BUCKETS + (nanoseconds >> shift) as usize
}

/// Returns the largest latency in a bucket.
fn upper_bound(bucket: usize) -> u64 {
    let shift = (bucket / BUCKETS).saturating_sub(1);
    (((bucket - shift * BUCKETS) as u64 + 1) << shift) - 1
}

/// A thread's result.
struct Counted {
    latencies: Histogram,
    wrong: u64,
}

/// State that all threads share.
struct Shared {
    active: RwLock<Arc<SetVersion>>,
    cases: Vec<UrlCase>,
    begun: AtomicU64,
    decisions: u64,
    start: Barrier,
    has_failed: AtomicBool,
}

/// Decides until all decisions are made.
fn decide(shared: &Shared, thread: usize) -> Result<Counted, String> {
    let mut counted = Counted { latencies: Histogram::new(), wrong: 0 };
    let mut random = Random::new(thread as u64);
    shared.start.wait();
    loop {
        let begun = shared.begun.fetch_add(ROUND, Ordering::Relaxed);
        if begun >= shared.decisions || shared.has_failed.load(Ordering::Relaxed) {
            return Ok(counted);
        }
        for _ in 0..ROUND.min(shared.decisions - begun) {
            let case = &shared.cases[random.below(shared.cases.len())];
            let mut verdicts = [Verdict::Invalid; AGENTS.len()];
            let start = Instant::now();
            let version = Arc::clone(&*shared.active.read().map_err(|error| error.to_string())?);
            let decided = version.agents.decide(&case.url, &mut verdicts);
            counted.latencies.add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
            counted.wrong += u64::from(decided.is_err() || verdicts != case.expected[version.number]);
        }
    }
}

/// Memory figures in bytes.
struct Memory {
    start: u64,
    middle: u64,
    peak: u64,
}

/// Replaces the set until all decisions are made. Returns the number of replacements and the memory figures.
fn replace(
    shared: &Shared,
    sets: &[CompiledSet; 2],
    path: &std::path::Path,
) -> Result<(u64, Memory), Box<dyn Error + Send + Sync>> {
    let (mut swaps, mut memory) = (0, Memory { start: 0, middle: 0, peak: 0 });
    while shared.begun.load(Ordering::Relaxed) < shared.decisions {
        thread::sleep(SWAP_INTERVAL);
        swaps += 1;
        let number = swaps as usize % 2;
        sets[number].write_file(path)?;
        let version = Arc::new(SetVersion { number, agents: Set::read(path)?.agents(AGENTS)? });
        *shared.active.write().map_err(|error| error.to_string())? = version;
        let resident = resident()?;
        memory.peak = memory.peak.max(resident);
        if swaps == 1 {
            memory.start = resident;
        }
        if shared.begun.load(Ordering::Relaxed) < shared.decisions / 2 {
            memory.middle = resident;
        }
    }
    Ok((swaps, memory))
}

/// Returns this process's resident memory in bytes.
fn resident() -> std::io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kibibytes.map(|kibibytes| kibibytes << 10).ok_or_else(|| std::io::Error::other("no VmRSS in /proc/self/status"))
}

/// Returns the number after an option, or a default.
fn option(name: &str, default: u64) -> Result<u64, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().position(|arg| arg == name) {
        Some(place) => Ok(args.get(place + 1).ok_or_else(|| format!("{name}: expected a number"))?.parse()?),
        None => Ok(default),
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let decisions = option("--decisions", DECISIONS)?;
    let threads = usize::try_from(option("--threads", THREADS as u64)?)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("web.reptile");
    let sets = [compile(0)?, compile(1)?];
    sets[0].write_file(&path)?;
    let set_bytes = fs::metadata(&path)?.len();
    let mut random = Random::new(1);
    let shared = Shared {
        active: RwLock::new(Arc::new(SetVersion { number: 0, agents: Set::read(&path)?.agents(AGENTS)? })),
        cases: (0..100_000).map(|_| case(&mut random)).collect(),
        begun: AtomicU64::new(0),
        decisions,
        start: Barrier::new(threads + 1),
        has_failed: AtomicBool::new(false),
    };
    let start = Instant::now();
    let (counted, replaced) = thread::scope(|scope| {
        let deciders: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn({
                    let shared = &shared;
                    move || decide(shared, thread)
                })
            })
            .collect();
        shared.start.wait();
        let replaced = replace(&shared, &sets, &path);
        shared.has_failed.store(replaced.is_err(), Ordering::Relaxed);
        let counted: Vec<_> = deciders.into_iter().map(|decider| decider.join()).collect();
        (counted, replaced)
    });
    let seconds = start.elapsed().as_secs_f64();
    let (swaps, memory) = replaced.map_err(|error| error.to_string())?;
    let end = resident()?;
    let (mut latencies, mut wrong) = (Histogram::new(), 0);
    for counted in counted {
        let counted = counted.map_err(|_| "a thread panicked")??;
        latencies.merge(&counted.latencies);
        wrong += counted.wrong;
    }
    let checked: u64 = latencies.counts.iter().sum();
    println!(
        "| decisions | threads | s | sets of {:.1} MB | wrong | p50 ns | p99 ns | p99.9 ns | max ms |",
        set_bytes as f64 / MB
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    println!(
        "| {checked} | {threads} | {seconds:.1} | {swaps} | {wrong} | {} | {} | {} | {:.1} |",
        latencies.quantile(500),
        latencies.quantile(990),
        latencies.quantile(999),
        latencies.max as f64 / 1e6
    );
    let bound = memory.start + MAX_GROWTH_SETS * set_bytes + MAX_GROWTH_BYTES;
    let [start, middle, last, peak, limit] =
        [memory.start, memory.middle, end, memory.peak, bound].map(|bytes| bytes as f64 / MB);
    println!("\n| resident MB at the start | middle | end | peak | limit |");
    println!("|--:|--:|--:|--:|--:|\n| {start:.1} | {middle:.1} | {last:.1} | {peak:.1} | {limit:.1} |");
    let is_fine = wrong == 0 && checked == decisions && swaps >= MIN_SWAPS && memory.peak.max(end) <= bound;
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_exact_to_a_sixteenth() {
        for nanoseconds in (0..5000).chain([1 << 20, (1 << 20) + 1, (1 << 40) - 1, u64::MAX >> 1]) {
            let bucket = bucket(nanoseconds);
            let upper = upper_bound(bucket);
            assert!(nanoseconds <= upper && upper - nanoseconds <= nanoseconds / 16, "{nanoseconds} {bucket} {upper}");
            assert!(bucket == 0 || upper_bound(bucket - 1) < nanoseconds, "{nanoseconds} {bucket}");
        }
    }

    #[test]
    fn quantiles_are_bucket_bounds() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|nanoseconds| histogram.add(nanoseconds));
        assert_eq!([500, 990, 999, 1000].map(|part| histogram.quantile(part)), [511, 991, 1000, 1000]);
    }
}
