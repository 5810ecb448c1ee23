//! What the benchmarks share: finding, making and checking their inputs.
//!
//! The large inputs are real files that belong to others. They are read from a folder beside the workspace,
//! `../shared`, or the one that `REPTILE_SHARED` names, and are never part of it. [`generate`] makes inputs that need
//! no folder. `METHODOLOGY.md` says how things are measured, `BIAS.md` what to distrust.

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

pub mod generate;
#[cfg(feature = "re2")]
pub mod re2;

/// The crawler that all questions are asked for.
pub const AGENT: &[u8] = b"Googlebot";

/// A robots.txt: its host and its bytes.
pub type HostFile = (String, Vec<u8>);

/// The folder of real inputs, or `None` where it is absent.
#[must_use]
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("REPTILE_SHARED").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    Some(named.unwrap_or_else(beside)).filter(|path| path.is_dir())
}

/// Every real robots.txt, in the order of the archive.
///
/// # Errors
/// When the archive cannot be read.
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

/// The lines of a file, which may be compressed.
///
/// # Errors
/// When it cannot be read.
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

/// The five real benchmark files: a name, the host whose robots.txt it is, and how many of its URLs are disallowed
/// for [`AGENT`]. The oracle counted them.
pub const REAL_CASES: [(&str, &str, usize); 5] = [
    ("p50", "www.chapters.indigo.ca", 291),
    ("p90", "www.concur.com", 469),
    ("p99", "www.meetup.com", 522),
    ("star", "www.etsy.com", 520),
    ("max", "docs.oracle.com", 500),
];

/// One robots.txt and the URLs that it is asked about.
pub struct Case {
    /// The name of the file in tables.
    pub name: String,
    /// The robots.txt.
    pub body: Vec<u8>,
    /// The URLs, all of one host.
    pub urls: Vec<Vec<u8>>,
    /// How many of them are disallowed for [`AGENT`].
    pub disallowed: usize,
}

impl Case {
    /// A made-up one.
    #[must_use]
    pub fn generated(recipe: &Recipe) -> Case {
        Case {
            name: recipe.name.to_owned(),
            body: recipe.body(),
            urls: recipe.urls(URLS),
            disallowed: recipe.disallowed,
        }
    }

    /// The five made-up ones.
    #[must_use]
    pub fn all_generated() -> Vec<Case> {
        RECIPES.iter().map(Case::generated).collect()
    }

    /// The five real ones, out of all real files.
    ///
    /// # Errors
    /// When a file is missing.
    pub fn all_real(shared: &Path, files: &[HostFile]) -> io::Result<Vec<Case>> {
        let case = |(name, host, disallowed): (&str, &str, usize)| {
            let file = files.iter().find(|(file, _)| file == host);
            let body = file.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, host))?.1.clone();
            let urls = lines(&shared.join(format!("corpora/real/w2/{name}.urls")))?;
            Ok(Case { name: name.to_owned(), body, urls, disallowed })
        };
        REAL_CASES.into_iter().map(case).collect()
    }

    /// The five made-up ones, and the five real ones where the folder is present.
    ///
    /// # Errors
    /// When the folder is present but not whole.
    pub fn all() -> io::Result<Vec<Case>> {
        let mut cases = Case::all_generated();
        if let Some(shared) = shared() {
            cases.extend(Case::all_real(&shared, &real_files(&shared)?)?);
        } else {
            eprintln!("the folder of real inputs is absent: only the generated files are measured");
        }
        Ok(cases)
    }
}

/// A [`Case`] whose rules for [`AGENT`] are compiled.
pub struct PreparedCase {
    /// The rules.
    pub list: RuleList,
    /// Their automaton.
    pub automaton: Vec<u8>,
    /// The paths of the URLs.
    pub paths: Vec<Vec<u8>>,
}

impl PreparedCase {
    /// Reads the file and compiles the rules.
    ///
    /// # Errors
    /// When the file is over a limit, or has no single list of rules for the agent.
    pub fn new(case: &Case) -> Result<PreparedCase, Box<dyn Error>> {
        let mut made = prepare(&case.body, &GOOGLE_LIB, &Bump::new())?;
        let index = list_for(&made, AGENT).ok_or_else(|| format!("{}: no single list of rules", case.name))?;
        let list = made.groups.swap_remove(index).0;
        let automaton = compile(&list, Strategy::Factored, &Bump::new())?;
        Ok(PreparedCase { list, automaton, paths: case.urls.iter().map(|url| path_of(url).to_vec()).collect() })
    }

    /// As [`PreparedCase::new`], and checks that as many URLs as known are disallowed, in both kinds of walk.
    ///
    /// # Errors
    /// Also when the answers are wrong.
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

    /// A view of the automaton.
    ///
    /// # Errors
    /// Never: it was compiled a moment ago.
    pub fn ruleset(&self) -> Result<Ruleset<'_>, &'static str> {
        Ruleset::new(&self.automaton).map_err(|_| "corrupt")
    }
}

/// How many fresh URLs one pass is over.
pub const FRESH_URLS: usize = 20_000;

/// How many lists of fresh URLs there are, each walked once.
pub const FRESH_LISTS: u64 = 7;

/// [`FRESH_URLS`] paths made from the rules of an automaton, another list for each seed; see [`generate::urls`].
///
/// # Errors
/// Never, if the automaton was compiled a moment ago.
pub fn fresh_paths(ruleset: Ruleset<'_>, seed: u64) -> Result<Vec<Vec<u8>>, &'static str> {
    let rules = ruleset.rules().map_err(|_| "corrupt")?;
    let patterns: Vec<String> = rules.iter().map(|(_, text)| String::from_utf8_lossy(text).into_owned()).collect();
    Ok(generate::urls(&patterns, HOST, seed, FRESH_URLS).iter().map(|url| path_of(url).to_vec()).collect())
}

/// How many of some paths are disallowed by the walk that finds the rules, not only the verdict.
#[must_use]
pub fn explained(ruleset: Ruleset<'_>, paths: &[Vec<u8>]) -> usize {
    let matches = paths.iter().filter_map(|path| ruleset.matches(path).ok());
    matches.filter(|matches| matches.verdict == Verdict::Disallow).count()
}

/// Compares a number of disallowed URLs with the right one.
///
/// # Errors
/// When they differ: then no time that is measured would mean anything.
pub fn check_count(name: &str, found: usize, right: usize) -> Result<(), String> {
    if found == right { Ok(()) } else { Err(format!("{name}: {found} URLs disallowed instead of {right}")) }
}

/// The index of the list of rules that an agent gets; `None` if there is none, or several decide together.
#[must_use]
pub fn list_for(made: &Prepared, agent: &[u8]) -> Option<usize> {
    let mut own = made.tokens.iter().filter(|(token, _)| token.eq_ignore_ascii_case(agent));
    match (own.next(), own.next()) {
        (Some(&(_, list)), None) => Some(list as usize),
        (Some(_), Some(_)) => None,
        (None, _) => made.default_group.map(|list| list as usize),
    }
}

/// A builder that has the files of some hosts, each for http and https.
///
/// # Errors
/// When a file is over a limit.
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

/// A set of many hosts and URLs to ask it about, in random order.
pub struct Crawl {
    /// The name of the crawl in tables.
    pub name: &'static str,
    /// The set.
    pub set: Set<Vec<u8>>,
    /// The agent, [`AGENT`].
    pub agent: Agent,
    /// The URLs. Their bytes lie in the order in which they are asked about.
    pub urls: Vec<&'static [u8]>,
    /// How many of them are disallowed.
    pub disallowed: usize,
}

/// Texts whose bytes lie one behind the other, as somebody has them who reads a list of them. Never given back: a
/// benchmark makes one list.
fn laid_out(texts: &[Vec<u8>]) -> Vec<&'static [u8]> {
    let mut rest: &'static [u8] = texts.concat().leak();
    let take = |text: &Vec<u8>| {
        let (first, behind) = rest.split_at_checked(text.len())?;
        rest = behind;
        Some(first)
    };
    texts.iter().filter_map(take).collect()
}

/// How many URLs of the generated crawl are disallowed. The oracle counted them.
const GENERATED_CRAWL_DISALLOWED: usize = 9012;

/// How many real URLs are disallowed by the real files. The oracle counted them.
const REAL_CRAWL_DISALLOWED: usize = 1068;

impl Crawl {
    /// 1,000 made-up hosts and 20,000 URLs, a tenth of which are on hosts that the set does not know.
    ///
    /// # Errors
    /// When the set cannot be built.
    pub fn generated() -> Result<Crawl, Box<dyn Error>> {
        let (hosts, mut urls) = generated_crawl();
        Random::new(1).shuffle(&mut urls);
        let files = hosts.iter().map(|(host, body)| (host.as_str(), &body[..]));
        Crawl::new("generated", builder_of(files)?, urls, GENERATED_CRAWL_DISALLOWED)
    }

    /// All real files and all real URLs.
    ///
    /// # Errors
    /// When they cannot be read.
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

    /// Decides every URL; returns how many are disallowed.
    ///
    /// # Errors
    /// When the set is damaged.
    #[inline]
    pub fn decide_all(&self) -> Result<usize, Box<dyn Error>> {
        let mut disallowed = 0;
        for url in &self.urls {
            disallowed += usize::from(self.set.decide(&self.agent, url)? == Verdict::Disallow);
        }
        Ok(disallowed)
    }
}

/// The hosts and files of [`Crawl::generated`], and its URLs host by host.
fn generated_crawl() -> (Vec<HostFile>, Vec<Vec<u8>>) {
    let mut random = Random::new(3);
    let (mut hosts, mut urls) = (Vec::new(), Vec::new());
    for number in 0..1000 {
        // Most files are small and a few are large.
        let rules = [1, 2, 4, 8, 12, 12, 20, 40, 80, 300][random.below(10)];
        let recipe = Recipe { name: "", rules, wildcards: 140, seed: random.next(), disallowed: 0 };
        let host = format!("www{number}.example.com");
        for url in recipe.urls(20) {
            let path = url.get("https://".len() + HOST.len()..).unwrap_or_default();
            urls.push([b"https://", host.as_bytes(), path].concat());
        }
        if number % 10 > 0 {
            hosts.push((host, recipe.body()));
        }
    }
    (hosts, urls)
}

/// The middle one of some figures, of an even number the upper one; 0 of none.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use reptile_compiler::oracle;

    use super::*;

    /// How many of a file's URLs the oracle disallows.
    fn count(body: &[u8], urls: &[Vec<u8>]) -> usize {
        urls.iter().filter(|url| !oracle::decide(body, &GOOGLE_LIB, AGENT, url).allowed).count()
    }

    /// Counts by the oracle, to be run with `--release -- --ignored` after any change to the inputs. `PRINT_COUNTS`
    /// lets it go on where they differ.
    #[test]
    #[ignore = "takes two minutes"]
    fn stored_counts_are_the_oracles() {
        for case in Case::all().unwrap() {
            let found = count(&case.body, &case.urls);
            println!("{}: {found}", case.name);
            assert!(case.disallowed == found || std::env::var_os("PRINT_COUNTS").is_some(), "{}", case.name);
        }
    }

    #[test]
    #[ignore = "takes two minutes"]
    fn stored_counts_of_crawls_are_the_oracles() {
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
    fn every_input_gives_the_stored_count() {
        for case in Case::all().unwrap() {
            PreparedCase::checked(&case).unwrap();
        }
        Crawl::generated().unwrap();
        if let Some(shared) = shared() {
            Crawl::real(&shared).unwrap();
        }
    }
}
