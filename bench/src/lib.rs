//! Finds, generates and checks the inputs for all benchmarks.
//!
//! The large inputs are real files that belong to third parties and are not part of this repository. They are read from
//! the folder `../shared` next to the workspace, or from the folder named by `REPTILE_SHARED`. [`generate`] makes
//! inputs that need no folder. `METHODOLOGY.md` describes how the benchmarks measure, and `BIAS.md` lists reasons to
//! distrust them.
#![deny(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use flate2::read::GzDecoder;
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::rules::order::RuleList;
use reptile_compiler::set::{OwnedOrigin, Prepared, SetBuilder, prepare};
use reptile_engine::automaton::Ruleset;
use reptile_engine::set::{Agent, Set};
use reptile_engine::url::{Scheme, path_of};
use reptile_engine::verdict::Verdict;

use crate::generate::{HOST, RECIPES, Random, Recipe, URLS};

#[cfg(test)]
#[path = "../tests/support/documents.rs"]
mod documents;
pub mod generate;

/// The crawler in every benchmark.
pub const AGENT: &[u8] = b"Googlebot";

/// A host and the bytes of its robots.txt.
pub type HostFile = (String, Vec<u8>);

/// Returns the folder with real inputs, or `None` if it is absent.
#[must_use]
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("REPTILE_SHARED").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    Some(named.unwrap_or_else(beside)).filter(|path| path.is_dir())
}

/// Reads every real robots.txt, in archive order.
///
/// # Errors
/// Returns an error if the archive cannot be read.
pub fn real_files(shared: &Path) -> io::Result<Vec<HostFile>> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(shared.join("corpora/real/robots.tar.gz"))?));
    let mut files = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            let host = entry.path()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut body = Vec::new();
            entry.read_to_end(&mut body)?;
            files.push((host, body));
        }
    }
    Ok(files)
}

/// Reads the non-empty lines of a file, which is decompressed if its name ends in `.gz`.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn lines(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut text = Vec::new();
    let mut file = File::open(path)?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(file).read_to_end(&mut text)?;
    } else {
        file.read_to_end(&mut text)?;
    }
    Ok(text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
}

/// The five real benchmark files: each file's name, its host, and how many of its URLs are disallowed for
/// [`AGENT`], as counted by the oracle. The URL lists in the shared folder have the same names.
pub const REAL_CASES: [(&str, &str, usize); 5] = [
    ("p50", "www.chapters.indigo.ca", 291),
    ("p90", "www.concur.com", 469),
    ("p99", "www.meetup.com", 522),
    ("star", "www.etsy.com", 520),
    ("max", "docs.oracle.com", 500),
];

/// A benchmark file: a robots.txt, URLs to decide, and the right number of disallowed URLs.
pub struct Case {
    /// The file's name in tables and benchmarks.
    pub name: String,
    /// The robots.txt.
    pub body: Vec<u8>,
    /// The URLs, all on one host.
    pub urls: Vec<Vec<u8>>,
    /// Number of URLs that are disallowed for [`AGENT`].
    pub disallowed: usize,
}

impl Case {
    /// Generates a benchmark file.
    #[must_use]
    pub fn generated(recipe: &Recipe) -> Case {
        Case {
            name: recipe.name.to_owned(),
            body: recipe.body(),
            urls: recipe.urls(URLS),
            disallowed: recipe.disallowed,
        }
    }

    /// Generates the five benchmark files.
    #[must_use]
    pub fn all_generated() -> Vec<Case> {
        RECIPES.iter().map(Case::generated).collect()
    }

    /// Selects the five real benchmark files from all real files.
    ///
    /// # Errors
    /// Returns an error if a robots.txt or its URL list is missing.
    pub fn all_real(shared: &Path, files: &[HostFile]) -> io::Result<Vec<Case>> {
        let case = |(name, host, disallowed): (&str, &str, usize)| {
            let file = files.iter().find(|(file, _)| file == host);
            let body = file.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, host))?.1.clone();
            let urls = lines(&shared.join(format!("corpora/real/w2/{name}.urls")))?;
            Ok(Case { name: name.to_owned(), body, urls, disallowed })
        };
        REAL_CASES.into_iter().map(case).collect()
    }

    /// Generates the five benchmark files, and reads the five real ones if the shared folder is present.
    ///
    /// # Errors
    /// Returns an error if the folder is present but a file in it is missing.
    pub fn all() -> io::Result<Vec<Case>> {
        let mut cases = Case::all_generated();
        if let Some(shared) = shared() {
            cases.extend(Case::all_real(&shared, &real_files(&shared)?)?);
        } else {
            eprintln!("the folder with real inputs is absent: measuring only the generated files");
        }
        Ok(cases)
    }
}

/// A [`Case`] with compiled rules for [`AGENT`] and paths extracted from the URLs.
pub struct PreparedCase {
    /// The rules for [`AGENT`], as input for [`compile`].
    pub list: RuleList,
    /// The rules' automaton.
    pub automaton: Vec<u8>,
    /// The URLs' paths.
    pub paths: Vec<Vec<u8>>,
}

impl PreparedCase {
    /// Parses the robots.txt and compiles the rules.
    ///
    /// # Errors
    /// Returns an error if the file exceeds a limit, or unless exactly one rule list applies to the agent.
    pub fn new(case: &Case) -> Result<PreparedCase, Box<dyn Error>> {
        let mut made = prepare(&case.body, &GOOGLE_LIB, &Bump::new())?;
        let index = list_for(&made, AGENT)
            .ok_or_else(|| format!("{}: expected one list of rules for the agent, found none or several", case.name))?;
        let list = made.groups.swap_remove(index).0;
        let automaton = compile(&list, Strategy::Factored, &Bump::new())?;
        Ok(PreparedCase { list, automaton, paths: case.urls.iter().map(|url| path_of(url).to_vec()).collect() })
    }

    /// Same as [`PreparedCase::new`], but also checks the number of disallowed URLs with both walks.
    ///
    /// # Errors
    /// Returns the errors of [`PreparedCase::new`], and an error if either number differs from the stored one.
    pub fn checked(case: &Case) -> Result<PreparedCase, Box<dyn Error>> {
        let prepared = PreparedCase::new(case)?;
        let (mut by_verdict, mut by_matches) = (0, 0);
        let ruleset = prepared.ruleset()?;
        for path in &prepared.paths {
            by_verdict += usize::from(ruleset.verdict(path).map_err(|_| "corrupt")? == Verdict::Disallow);
            by_matches += usize::from(ruleset.matches(path).map_err(|_| "corrupt")?.verdict == Verdict::Disallow);
        }
        check_count(&case.name, by_verdict, case.disallowed)?;
        check_count(&case.name, by_matches, case.disallowed)?;
        Ok(prepared)
    }

    /// Returns a view of the automaton that decides paths.
    ///
    /// # Errors
    /// Returns an error if the automaton is damaged.
    pub fn ruleset(&self) -> Result<Ruleset<'_>, &'static str> {
        Ruleset::new(&self.automaton).map_err(|_| "corrupt")
    }
}

/// Number of fresh URLs in a list.
pub const FRESH_URLS: usize = 20_000;

/// Number of fresh URL lists. Each list is decided once.
pub const FRESH_LISTS: u64 = 7;

/// Generates [`FRESH_URLS`] paths from an automaton's rules, a different list for each seed; see [`generate::urls`].
///
/// # Errors
/// Returns an error if the automaton is damaged.
pub fn fresh_paths(ruleset: Ruleset<'_>, seed: u64) -> Result<Vec<Vec<u8>>, &'static str> {
    let rules = ruleset.rules().map_err(|_| "corrupt")?;
    let patterns: Vec<String> = rules.iter().map(|rule| String::from_utf8_lossy(&rule.pattern).into_owned()).collect();
    Ok(generate::urls(&patterns, HOST, seed, FRESH_URLS).iter().map(|url| path_of(url).to_vec()).collect())
}

/// Counts the disallowed paths, using the walk that also finds the matching rules.
#[must_use]
pub fn disallowed_by_matches(ruleset: Ruleset<'_>, paths: &[Vec<u8>]) -> usize {
    let matches = paths.iter().filter_map(|path| ruleset.matches(path).ok());
    matches.filter(|matches| matches.verdict == Verdict::Disallow).count()
}

/// Checks a number of disallowed URLs.
///
/// # Errors
/// Returns an error if the number is wrong, because timing wrong answers is meaningless.
pub fn check_count(name: &str, found: usize, right: usize) -> Result<(), String> {
    if found == right { Ok(()) } else { Err(format!("{name}: expected {right} disallowed URLs, found {found}")) }
}

/// Returns the index of the rule list that applies to an agent, or `None` if there is none or more than one.
#[must_use]
pub fn list_for(made: &Prepared, agent: &[u8]) -> Option<usize> {
    let mut own = made.tokens.iter().filter(|(token, _)| token.eq_ignore_ascii_case(agent));
    match (own.next(), own.next()) {
        (Some(&(_, list)), None) => Some(list as usize),
        (Some(_), Some(_)) => None,
        (None, _) => made.default_group.map(|list| list as usize),
    }
}

/// Creates a set builder and adds each host's robots.txt, for both http and https.
///
/// # Errors
/// Returns an error if a file exceeds a limit.
pub fn builder_of<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Result<SetBuilder, Box<dyn Error>> {
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    let mut arena = Bump::new();
    for (host, body) in files {
        arena.reset();
        let origin = |scheme: Scheme| OwnedOrigin { host: host.as_bytes().into(), scheme, port: scheme.default_port() };
        builder.add([origin(Scheme::Http), origin(Scheme::Https)], prepare(body, &GOOGLE_LIB, &arena)?);
    }
    Ok(builder)
}

/// A set with many hosts, and URLs on known and unknown hosts in random order, to decide as a crawler would.
pub struct Crawl {
    /// The crawl's name in tables and benchmarks.
    pub name: &'static str,
    /// The set.
    pub set: Set<Vec<u8>>,
    /// The agent in all questions, [`AGENT`].
    pub agent: Agent,
    /// The URLs, stored in memory in the order in which they are decided.
    pub urls: Vec<&'static [u8]>,
    /// Number of disallowed URLs.
    pub disallowed: usize,
}

/// Copies texts into one contiguous block, like a URL file that was read whole. The block is leaked, because a
/// benchmark creates only one.
fn laid_out(texts: &[Vec<u8>]) -> Vec<&'static [u8]> {
    let mut rest: &'static [u8] = texts.concat().leak();
    let take = |text: &Vec<u8>| {
        let (first, after) = rest.split_at_checked(text.len())?;
        rest = after;
        Some(first)
    };
    texts.iter().filter_map(take).collect()
}

/// Number of hosts in the generated crawl.
const CRAWL_HOSTS: usize = 1000;

/// Number of URLs per host in the generated crawl.
const CRAWL_URLS_PER_HOST: usize = 20;

/// Number of disallowed URLs in the generated crawl, as counted by the oracle.
const GENERATED_CRAWL_DISALLOWED: usize = 9012;

/// Number of disallowed URLs in the real crawl, as counted by the oracle.
const REAL_CRAWL_DISALLOWED: usize = 1068;

impl Crawl {
    /// Builds a set from generated files, and 20,000 URLs on 1,000 hosts. A tenth of the hosts are missing from the
    /// set.
    ///
    /// # Errors
    /// Returns an error if the set cannot be built or its answers are wrong.
    pub fn generated() -> Result<Crawl, Box<dyn Error>> {
        let (hosts, mut urls) = generated_crawl();
        Random::new(1).shuffle(&mut urls);
        let files = hosts.iter().map(|(host, body)| (host.as_str(), &body[..]));
        Crawl::new("generated", builder_of(files)?, urls, GENERATED_CRAWL_DISALLOWED)
    }

    /// Builds a set from all real files, and reads all real URLs.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or the answers are wrong.
    pub fn real(shared: &Path) -> Result<Crawl, Box<dyn Error>> {
        let files = real_files(shared)?;
        let mut urls = lines(&shared.join("corpora/real/urls.txt.gz"))?;
        Random::new(2).shuffle(&mut urls);
        let files = files.iter().map(|(host, body)| (host.as_str(), &body[..]));
        Crawl::new("real", builder_of(files)?, urls, REAL_CRAWL_DISALLOWED)
    }

    fn new(
        name: &'static str,
        builder: SetBuilder,
        urls: Vec<Vec<u8>>,
        disallowed: usize,
    ) -> Result<Crawl, Box<dyn Error>> {
        let set = Set::from_bytes(builder.finish(Strategy::default())?.to_bytes())?;
        let agent = set.agent(AGENT)?;
        let crawl = Crawl { name, set, agent, urls: laid_out(&urls), disallowed };
        check_count(name, crawl.decide_all()?, disallowed)?;
        Ok(crawl)
    }

    /// Decides every URL and returns the number of disallowed ones.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    #[inline]
    pub fn decide_all(&self) -> Result<usize, Box<dyn Error>> {
        let mut disallowed = 0;
        for url in &self.urls {
            disallowed += usize::from(self.set.decide(&self.agent, url)? == Verdict::Disallow);
        }
        Ok(disallowed)
    }
}

/// Generates the hosts and files for [`Crawl::generated`], and its URLs host by host.
fn generated_crawl() -> (Vec<HostFile>, Vec<Vec<u8>>) {
    let mut random = Random::new(3);
    let (mut hosts, mut urls) = (Vec::new(), Vec::new());
    for number in 0..CRAWL_HOSTS {
        // Most files are small, and a few are large.
        let rules = [1, 2, 4, 8, 12, 12, 20, 40, 80, 300][random.below(10)];
        let recipe = Recipe { name: "", rules, wildcards: 140, seed: random.next(), disallowed: 0 };
        let host = format!("www{number}.example.com");
        for url in recipe.urls(CRAWL_URLS_PER_HOST) {
            let path = url.get("https://".len() + HOST.len()..).unwrap_or_default();
            urls.push([b"https://", host.as_bytes(), path].concat());
        }
        if number % 10 > 0 {
            hosts.push((host, recipe.body()));
        }
    }
    (hosts, urls)
}

/// Returns the median, the upper of the middle two for an even number of figures, or 0 for none.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use reptile_compiler::oracle;

    use super::*;
    use crate::documents::{assert_says, with_commas};

    const METHODOLOGY: &str = include_str!("../METHODOLOGY.md");

    /// Counts the URLs that the oracle disallows.
    fn count(body: &[u8], urls: &[Vec<u8>]) -> usize {
        urls.iter().filter(|url| !oracle::decide(body, &GOOGLE_LIB, AGENT, url).allowed).count()
    }

    /// Run this with `--release -- --ignored` after any change to the inputs. If the environment variable
    /// `PRINT_COUNTS` is set, it prints all counts and continues after a difference.
    #[test]
    #[ignore = "takes two minutes"]
    fn stored_file_counts_match_the_oracle() {
        for case in Case::all().unwrap() {
            let found = count(&case.body, &case.urls);
            println!("{}: {found}", case.name);
            assert!(case.disallowed == found || std::env::var_os("PRINT_COUNTS").is_some(), "{}", case.name);
        }
    }

    /// Run this like the test for the files.
    #[test]
    #[ignore = "takes two minutes"]
    fn stored_crawl_counts_match_the_oracle() {
        let count_crawl = |files: &[HostFile], urls: &[Vec<u8>]| {
            let bodies: HashMap<&str, &[u8]> = files.iter().map(|(host, body)| (host.as_str(), &body[..])).collect();
            let disallowed = |url: &&Vec<u8>| {
                let split = reptile_engine::url::split(url).unwrap();
                let host = String::from_utf8(split.origin.host.to_ascii_lowercase()).unwrap();
                let known = split.origin.port == split.origin.scheme.default_port();
                bodies.get(host.as_str()).filter(|_| known).is_some_and(|body| count(body, &[url.to_vec()]) == 1)
            };
            urls.iter().filter(disallowed).count()
        };
        let (files, urls) = generated_crawl();
        let found = count_crawl(&files, &urls);
        println!("generated: {found}");
        let mut right = found == GENERATED_CRAWL_DISALLOWED;
        if let Some(shared) = shared() {
            let urls = lines(&shared.join("corpora/real/urls.txt.gz")).unwrap();
            let found = count_crawl(&real_files(&shared).unwrap(), &urls);
            println!("real: {found}");
            right &= found == REAL_CRAWL_DISALLOWED;
        }
        assert!(right);
    }

    #[test]
    fn numbers_have_commas() {
        let numbers = [0, 999, 1_000, 12_345, 1_234_567].map(with_commas);
        assert_eq!(numbers, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn document_describes_the_generated_inputs() {
        let rules: HashMap<&str, String> =
            RECIPES.iter().map(|recipe| (recipe.name, with_commas(recipe.rules))).collect();
        let wildcards = RECIPES.iter().find(|recipe| recipe.name == "wildcards").unwrap().wildcards;
        let files = format!(
            "{} robots.txt files (`small` {} rules, `plain` {} without wildcards, `many` {}, `wildcards` {}, {} % with \
             wildcards, `huge` {}) and {} URLs each",
            RECIPES.len(),
            rules["small"],
            rules["plain"],
            rules["many"],
            rules["wildcards"],
            wildcards / 10,
            rules["huge"],
            with_commas(URLS)
        );
        assert_says(METHODOLOGY, &files);
        let (hosts, urls) = generated_crawl();
        assert_eq!(hosts.len(), CRAWL_HOSTS - CRAWL_HOSTS / 10);
        let crawl = format!(
            "{} hosts, a tenth of them missing from the set, and {} URLs",
            with_commas(CRAWL_HOSTS),
            with_commas(urls.len())
        );
        assert_says(METHODOLOGY, &crawl);
        assert_says(METHODOLOGY, &format!("{FRESH_LISTS} lists with {} URLs", with_commas(FRESH_URLS)));
    }

    #[test]
    fn document_describes_the_real_inputs() {
        let Some(shared) = shared() else {
            eprintln!("skipped: the folder with real inputs is absent");
            return;
        };
        let files = real_files(&shared).unwrap();
        let rules: Vec<usize> = Case::all_real(&shared, &files)
            .unwrap()
            .iter()
            .map(|case| PreparedCase::new(case).unwrap().ruleset().unwrap().rule_count() as usize)
            .collect();
        // The generated files have as many rules as the real ones. `p90` repeats a rule, which the compiler merges.
        let repeated = [0, 1, 0, 0, 0];
        let written: Vec<usize> = rules.iter().zip(repeated).map(|(&rules, repeated)| rules + repeated).collect();
        assert_eq!(written, RECIPES.map(|recipe| recipe.rules));
        let [p50, p90, p99, star, max] = RECIPES.map(|recipe| with_commas(recipe.rules));
        let cases = format!(
            "`p50` {p50} rules, `p90` {p90}, one of them twice, `p99` {p99}, `star` {star}, many with wildcards, `max` \
             {max}"
        );
        assert_says(METHODOLOGY, &cases);
        let urls = lines(&shared.join("corpora/real/urls.txt.gz")).unwrap();
        let hosts: HashSet<Vec<u8>> =
            urls.iter().map(|url| reptile_engine::url::split(url).unwrap().origin.host.to_ascii_lowercase()).collect();
        let crawl = format!(
            "a set of all {} real files, and {} real URLs on {} of their hosts",
            with_commas(files.len()),
            with_commas(urls.len()),
            with_commas(hosts.len())
        );
        assert_says(METHODOLOGY, &crawl);
    }

    #[test]
    fn document_names_the_version_of_fast_robots() {
        let (_, rest) = include_str!("../Cargo.toml").split_once("fast-robots = { version = \"=").unwrap();
        assert_says(METHODOLOGY, &format!("`fast-robots` {}", rest.split_once('"').unwrap().0));
    }

    #[test]
    fn all_inputs_give_the_stored_counts() {
        for case in Case::all().unwrap() {
            PreparedCase::checked(&case).unwrap();
        }
        Crawl::generated().unwrap();
        if let Some(shared) = shared() {
            Crawl::real(&shared).unwrap();
        }
    }
}
