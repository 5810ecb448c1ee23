//! Measures decisions over a synthetic web with many origins, from URL bytes to verdict, on one thread. Compares the
//! set's batch and single lookups with a hash map of origins that holds files parsed by the fastest competitor.
//!
//! Every site follows from the seed, so both sides contain the same web. Answers are compared before anything is timed.
//! `METHODOLOGY.md` explains the table.
#![deny(unsafe_code)]

mod command;
mod questions;

use std::alloc::System;
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bumpalo::Bump;
use fast_robots::{ParseOptions, RobotsMatcher, RobotsTxt};
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait as _};
use reptile_bench::median;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::capture::{Capture, Outcome, Profile};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare, prepare_capture};
use reptile_corpora::Web;
use reptile_corpora::site::{HostAnswer, Site};
use reptile_corpora::urls::Spread;
use reptile_engine::platform::MappedFile;
use reptile_engine::set::{Agent, Set};
use reptile_engine::url::{Scheme, split};
use reptile_engine::verdict::Verdict;

use crate::questions::{AGENT, Urls};

/// The system's allocator, extended to count the bytes in use.
#[global_allocator]
static ALLOCATOR: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Number of rounds. All variants take turns within a round.
const ROUNDS: usize = 7;

/// Number of URLs per batch call, as in `classify`.
const URLS_IN_A_CALL: usize = 512;

const USAGE: &str = "usage: scale [--origins N] [--urls M] [--seed S] [--set FILE] [--no-peer] [--command]

Generates a synthetic web with N origins (1000000) from a seed (1) and decides M (1000000) URLs, spread evenly over its
sites, shuffled and sorted by site.

  --set FILE   use the set in FILE, compiled from `synthetic-web captures --origins N --seed S` with
               `--dialect google-lib`, instead of compiling the web in memory
  --no-peer    skip the hash map, which takes much more memory than the set
  --command    also measure the command, which must be in the same folder";

/// The command-line options.
struct Options {
    web: Web,
    urls: u64,
    set: Option<String>,
    has_peer: bool,
    has_command: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    let folder = tempfile::tempdir()?;
    let path = match &options.set {
        Some(path) => PathBuf::from(path),
        None => {
            let path = folder.path().join("set");
            fs::write(&path, compiled(&options.web)?)?;
            path
        }
    };
    let shown = |error| format!("{}: {error}", path.display());
    let set = Set::from_bytes(fs::read(&path).map_err(shown)?)?;
    let large = Set::from_bytes(MappedFile::copy(&path).map_err(shown)?)?;
    let set_bytes: usize = set.section_sizes().map(|(_, bytes)| bytes).sum();
    println!("{} origins, set of {set_bytes} bytes, {:.1} an origin", set.origin_count(), per(set_bytes, &set));
    println!("large pages: {} KB of this process's memory are in such pages", large_pages_kb());
    ALLOCATOR.reset_peak_memory();
    let peer = options.has_peer.then(|| Peer::new(&options.web));
    if peer.is_some() {
        // This includes a few bytes per distinct file that are only needed while building.
        let bytes = ALLOCATOR.get_peak_memory();
        println!(
            "hash map, fast-robots: {bytes} bytes with each distinct file once, {:.1} an origin",
            per(bytes, &set)
        );
    }
    println!(
        "\n| ns a URL | reptile, batch | batch, large pages | reptile, one by one | split | hash map, fast-robots \
         |\n|---|--:|--:|--:|--:|--:|"
    );
    let shuffled = Urls::of(&options.web, &Spread { urls: options.urls, exponent: 0.0, is_sorted: false });
    measure("shuffled", &set, &large, peer.as_ref(), &shuffled)?;
    let sorted = Urls::of(&options.web, &Spread { urls: options.urls, exponent: 0.0, is_sorted: true });
    measure("sorted by site", &set, &large, peer.as_ref(), &sorted)?;
    if options.has_command {
        drop((set, large, peer, sorted));
        command::measure(&path, &compiled(&Web { origins: 1, ..options.web })?, &shuffled)?;
    }
    Ok(())
}

/// Returns this process's anonymous memory in large pages, in kilobytes, according to Linux; 0 elsewhere.
fn large_pages_kb() -> u64 {
    let Ok(text) = fs::read_to_string(Path::new("/proc/self/smaps_rollup")) else { return 0 };
    let line = text.lines().find_map(|line| line.strip_prefix("AnonHugePages:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}

fn per(bytes: usize, set: &Set<Vec<u8>>) -> f64 {
    bytes as f64 / set.origin_count().max(1) as f64
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
        let web = Web { origins: 1_000_000, seed: 1 };
        let mut options = Options { web, urls: 1_000_000, set: None, has_peer: true, has_command: false };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg}: expected a value\n\n{USAGE}"));
            let number = |text: String| text.parse::<u64>().map_err(|error| format!("{text}: {error}\n\n{USAGE}"));
            match &*arg {
                "--origins" => options.web.origins = number(value()?)?,
                "--seed" => options.web.seed = number(value()?)?,
                "--urls" => options.urls = number(value()?)?,
                "--set" => options.set = Some(value()?),
                "--no-peer" => options.has_peer = false,
                "--command" => options.has_command = true,
                _ => return Err(format!("unknown argument {arg}\n\n{USAGE}").into()),
            }
        }
        Ok(options)
    }
}

/// Returns a site's capture and body.
fn capture_of(site: &Site) -> (Capture, Option<&[u8]>) {
    let with_status = |status| Capture { status: Some(status), ..Capture::default() };
    match &site.answer {
        HostAnswer::File(body) => (with_status(200), Some(body)),
        HostAnswer::Status(status) => (with_status(*status), None),
        HostAnswer::TooManyRedirects => (Capture { redirects: 20, ..with_status(301) }, None),
        HostAnswer::Failure => (Capture { has_failed: true, ..Capture::default() }, None),
    }
}

fn scheme_of(site: &Site) -> Scheme {
    if site.is_https { Scheme::Https } else { Scheme::Http }
}

/// Compiles a web on the current thread.
fn compiled(web: &Web) -> Result<Vec<u8>, Box<dyn Error>> {
    let profile = Profile::of_dialect(&GOOGLE_LIB);
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    let mut arena = Bump::new();
    for site in (0..web.origins).map(|number| web.site(number)) {
        arena.reset();
        let (capture, body) = capture_of(&site);
        let read = |body: &[u8]| prepare(body, &GOOGLE_LIB, &arena);
        let (outcome, made) = prepare_capture(&capture, body, profile, read)?;
        let scheme = scheme_of(&site);
        let origin = OwnedOrigin { host: site.host.as_bytes().into(), scheme, port: scheme.default_port() };
        builder.add_capture([origin], &capture, outcome, made);
    }
    Ok(builder.finish(Strategy::default())?.to_bytes())
}

/// A site's policy in the hash map: a constant, or a file's index.
#[derive(Clone, Copy)]
enum PeerPolicy {
    Allow,
    Disallow,
    File(u32),
}

/// A hash map from scheme and host to policy, with each distinct file in the competitor's fastest form. Borrowed data
/// is leaked, because there is only one map.
struct Peer {
    origins: [HashMap<Box<[u8]>, PeerPolicy>; 2],
    files: Vec<RobotsMatcher<'static>>,
}

impl Peer {
    fn new(web: &Web) -> Peer {
        let profile = Profile::of_dialect(&GOOGLE_LIB);
        let mut peer = Peer { origins: [HashMap::new(), HashMap::new()], files: Vec::new() };
        let mut known: HashMap<&'static [u8], PeerPolicy> = HashMap::new();
        for site in (0..web.origins).map(|number| web.site(number)) {
            let (capture, body) = capture_of(&site);
            let policy = match profile.outcome(&capture, body.unwrap_or_default()) {
                Outcome::Allow(_) => PeerPolicy::Allow,
                Outcome::Disallow(_) | Outcome::Unreachable(_) => PeerPolicy::Disallow,
                Outcome::Use => match known.get(body.unwrap_or_default()) {
                    Some(&policy) => policy,
                    None => {
                        let body: &'static [u8] = body.unwrap_or_default().to_vec().leak();
                        let policy = peer.file(body);
                        known.insert(body, policy);
                        policy
                    }
                },
            };
            peer.origins[usize::from(site.is_https)].insert(site.host.into_bytes().into(), policy);
        }
        peer
    }

    /// Parses a file. A file that the competitor refuses allows everything.
    fn file(&mut self, body: &'static [u8]) -> PeerPolicy {
        match RobotsTxt::parse_bytes_with_options(body, ParseOptions { max_bytes: None }) {
            Ok(file) => {
                let file: &'static RobotsTxt<'static> = Box::leak(Box::new(file));
                self.files.push(file.matcher());
                PeerPolicy::File(self.files.len() as u32 - 1)
            }
            Err(_) => PeerPolicy::Allow,
        }
    }

    /// Decides a URL, using Reptile's URL splitting.
    fn decide(&self, url: &[u8]) -> Verdict {
        let Ok(split) = split(url) else { return Verdict::Invalid };
        let policy = self.origins[usize::from(split.origin.scheme == Scheme::Https)].get(split.origin.host);
        match policy {
            None => Verdict::Unknown,
            Some(PeerPolicy::Allow) => Verdict::Allow,
            Some(PeerPolicy::Disallow) => Verdict::Disallow,
            Some(&PeerPolicy::File(file)) => {
                let allows = |path: &[u8]| {
                    let path = std::str::from_utf8(path).unwrap_or("/");
                    self.files.get(file as usize).is_none_or(|file| file.is_allowed(AGENT, path))
                };
                if split.path.with(allows) { Verdict::Allow } else { Verdict::Disallow }
            }
        }
    }
}

/// Decides all URLs in batches, and returns the number of disallowed ones.
fn by_batch<D: AsRef<[u8]>>(set: &Set<D>, agent: &Agent, urls: &[&[u8]]) -> Result<usize, Box<dyn Error>> {
    let mut verdicts = [Verdict::Invalid; URLS_IN_A_CALL];
    let mut disallowed = 0;
    for urls in urls.chunks(URLS_IN_A_CALL) {
        let verdicts = &mut verdicts[..urls.len()];
        set.decide_all(std::slice::from_ref(agent), urls.iter().copied(), verdicts)?;
        disallowed += verdicts.iter().filter(|&&verdict| verdict == Verdict::Disallow).count();
    }
    Ok(disallowed)
}

/// Times the variants, which take turns, and prints their medians.
fn measure(
    name: &str,
    set: &Set<Vec<u8>>,
    large: &Set<MappedFile>,
    peer: Option<&Peer>,
    urls: &Urls,
) -> Result<(), Box<dyn Error>> {
    let urls: Vec<&[u8]> = urls.iter().collect();
    let agent = &set.agent(AGENT.as_bytes())?;
    let count = |decide: &dyn Fn(&[u8]) -> Verdict| {
        urls.iter().filter(|url| decide(black_box(url)) == Verdict::Disallow).count()
    };
    let one_by_one = |url: &[u8]| set.decide(agent, url).unwrap_or(Verdict::Invalid);
    let split_alone = |url: &[u8]| {
        split(url).map_or(Verdict::Invalid, |split| {
            black_box(split);
            Verdict::Allow
        })
    };
    let by_peer = |url: &[u8]| peer.map_or(Verdict::Invalid, |peer| peer.decide(url));
    let right = count(&one_by_one);
    let others = urls.iter().filter(|url| peer.is_some() && one_by_one(url) != by_peer(url)).count();
    let mut figures = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        let mut row = 0;
        let mut time = |work: &dyn Fn() -> Result<usize, Box<dyn Error>>, expected: Option<usize>| {
            let start = Instant::now();
            let found = work()?;
            figures[row].push(start.elapsed().as_secs_f64() * 1e9 / urls.len().max(1) as f64);
            row += 1;
            if expected.is_some_and(|expected| found != expected) {
                return Err(format!("{name}: expected {right} disallowed URLs, found {found}").into());
            }
            Ok::<(), Box<dyn Error>>(())
        };
        time(&|| by_batch(set, agent, &urls), Some(right))?;
        time(&|| by_batch(large, agent, &urls), Some(right))?;
        time(&|| Ok(count(&one_by_one)), Some(right))?;
        time(&|| Ok(count(&split_alone)), Some(0))?;
        if peer.is_some() {
            time(&|| Ok(count(&by_peer)), None)?;
        }
    }
    let cells = figures.map(|figures| if figures.is_empty() { "-".into() } else { format!("{:.0}", median(figures)) });
    println!("| {} URLs, {name} | {} |", urls.len(), cells.join(" | "));
    if others > 0 {
        println!("| {others} of them answered otherwise by the peer | | | | | |");
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../../tests/support/documents.rs"]
mod documents;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{assert_says, with_commas};

    #[test]
    fn document_describes_rounds_and_calls() {
        let document = include_str!("../../../METHODOLOGY.md");
        assert_says(document, &format!("in each of {ROUNDS} rounds"));
        assert_says(document, &format!("passes {URLS_IN_A_CALL} URLs per call"));
        assert_says(document, &format!("one URL, {} URLs,", with_commas(command::FEW_URLS)));
    }

    /// The two disagree about few URLs, and only in files that they interpret differently.
    #[test]
    fn both_sides_contain_the_same_web() {
        let web = Web { origins: 300, seed: 3 };
        let set = Set::from_bytes(compiled(&web).unwrap()).unwrap();
        assert_eq!(set.origin_count(), 300);
        let (peer, agent) = (Peer::new(&web), set.agent(AGENT.as_bytes()).unwrap());
        let urls = Urls::of(&web, &Spread { urls: 3_000, exponent: 0.0, is_sorted: false });
        let verdicts = || urls.iter().map(|url| (set.decide(&agent, url).unwrap(), peer.decide(url)));
        assert!(verdicts().all(|(ours, theirs)| ours != Verdict::Unknown && theirs != Verdict::Unknown));
        let others = verdicts().filter(|(ours, theirs)| ours != theirs).count();
        assert!(others < 30, "{others}");
    }
}
