//! The inputs for speed measurements: single robots.txt files with many URLs, and many sites.

use std::collections::HashMap;
use std::convert::Infallible;

use reptile_bench::generate::{HOST, RECIPES, Random, Recipe, urls};
use reptile_bench::{Case, PreparedCase, shared};
use reptile_compiler::dialect::Dialect;
use reptile_corpora::Web;
use reptile_corpora::site::HostAnswer;
use reptile_corpora::urls::Spread;

use crate::corpus::read;
use crate::engine::{MAX_ROWS, Question};

/// The crawler in all inputs with a single crawler.
pub const AGENT: &[u8] = b"Googlebot";

/// Number of sites and URLs in a crawl.
const SITES: u64 = 1_000;
const CRAWL_URLS: u64 = MAX_ROWS as u64;

/// Number of crawlers in the input with many crawlers, each with its own group.
const CRAWLERS: usize = 30;

/// Number of rules per group.
const RULES: usize = 12;

/// Number of real files for models that parse, evenly spaced in the list of all files.
const REAL_FILES: usize = 250;

/// The slot for a site without a robots.txt. Nothing is loaded there.
const NO_SLOT: usize = 99_999;

/// A robots.txt to load.
pub struct Loaded {
    /// Its origin.
    pub origin: String,
    /// Its bytes.
    pub body: Vec<u8>,
}

/// A row: slot, crawler, URL.
pub type InputRow = (usize, Vec<u8>, Vec<u8>);

/// Rows for loaded files.
pub struct Input {
    /// The name in reports.
    pub name: String,
    /// The rows.
    pub rows: Vec<InputRow>,
    /// The source of fresh URLs, if they can be generated.
    pub fresh: Option<Fresh>,
    /// Whether a pass always covers all rows. Each row uses another file, so a part of them would be a different input.
    pub is_whole: bool,
}

/// The source of fresh URLs.
pub struct Fresh {
    patterns: Vec<String>,
    host: String,
}

/// Files and their rows.
pub struct Inputs {
    /// The files, slot by slot.
    pub files: Vec<Loaded>,
    /// The inputs.
    pub inputs: Vec<Input>,
}

impl Input {
    /// Returns questions for the first rows.
    #[must_use]
    pub fn questions(&self, count: usize) -> Vec<Question<'_>> {
        self.rows.iter().take(count).map(question).collect()
    }

    /// Draws rows as a measurement's questions, differently for each seed. Returns up to a tenth fewer than `count`.
    /// For an input that is used whole, returns all rows, and some of them twice. The model `open` always uses the
    /// first row.
    #[must_use]
    pub fn drawn(&self, model: &str, count: usize, seed: u64) -> Vec<Question<'_>> {
        if model == "open" || self.rows.is_empty() {
            return self.questions(count);
        }
        let mut random = Random::new(Random::new(seed).next());
        let mut rows: Vec<&InputRow> = self.rows.iter().collect();
        random.shuffle(&mut rows);
        if self.is_whole {
            // Consecutive copies of a single row would count as one unit in some models.
            let twice = if rows.len() > 1 { 1 + random.below(rows.len().div_ceil(20)) } else { 0 };
            rows.extend_from_within(..twice);
        } else {
            rows.truncate(count - random.below(count / 10 + 1));
        }
        rows.into_iter().map(question).collect()
    }
}

fn question((slot, agent, url): &InputRow) -> Question<'_> {
    Question { slot: *slot, agent, url }
}

impl Inputs {
    /// Returns single files: generated files, a file with many crawlers, and real files if they are present.
    ///
    /// # Errors
    /// Returns an error if real files are present but cannot be read.
    pub fn single(with_real: bool) -> Result<Inputs, String> {
        let mut all = Inputs { files: Vec::new(), inputs: Vec::new() };
        for recipe in RECIPES {
            let case = Case::generated(&recipe);
            let host = format!("{}.example.com", recipe.name);
            let urls = case.urls.iter().map(|url| of_host(url, &host)).collect();
            let patterns = recipe.patterns().into_iter().map(|(_, pattern)| pattern).collect();
            all.add(recipe.name.to_owned(), &host, case.body, urls, Some(patterns));
        }
        all.add_crawlers();
        if with_real && let Some(shared) = shared() {
            let cases = reptile_bench::real_files(&shared).and_then(|files| Case::all_real(&shared, &files));
            for case in cases.map_err(|error| format!("{}: {error}", shared.display()))? {
                let host = case.urls.first().and_then(|url| url.split(|&byte| byte == b'/').nth(2));
                let host = String::from_utf8_lossy(host.unwrap_or_default()).into_owned();
                let patterns = patterns_of(&case).map_err(|error| format!("{}: {error}", case.name))?;
                all.add(format!("real {}", case.name), &host, case.body, case.urls, Some(patterns));
            }
        }
        Ok(all)
    }

    fn add(&mut self, name: String, host: &str, body: Vec<u8>, urls: Vec<Vec<u8>>, patterns: Option<Vec<String>>) {
        let slot = self.files.len();
        self.files.push(Loaded { origin: format!("https://{host}"), body });
        let rows = urls.into_iter().map(|url| (slot, AGENT.to_vec(), url)).collect();
        let fresh = patterns.map(|patterns| Fresh { patterns, host: host.to_owned() });
        self.inputs.push(Input { name, rows, fresh, is_whole: false });
    }

    /// Adds a file with a group for each crawler, and rows that combine each URL with each crawler.
    fn add_crawlers(&mut self) {
        let recipe = |seed| Recipe { name: "", rules: RULES, wildcards: 140, seed, disallowed: 0 };
        let mut body = String::new();
        let mut patterns = Vec::new();
        for crawler in 0..CRAWLERS {
            body.push_str(&format!("User-agent: Crawler{}\n", name_of(crawler)));
            for (is_allow, pattern) in recipe(crawler as u64 + 100).patterns() {
                body.push_str(&format!("{}: {pattern}\n", if is_allow { "Allow" } else { "Disallow" }));
                patterns.push(pattern);
            }
            body.push('\n');
        }
        let slot = self.files.len();
        self.files.push(Loaded { origin: "https://crawlers.example.com".into(), body: body.into_bytes() });
        let urls = urls(&patterns, "crawlers.example.com", 1, 33);
        let crawlers = || (0..CRAWLERS).map(|crawler| format!("Crawler{}", name_of(crawler)).into_bytes());
        let rows = urls.iter().flat_map(|url| crawlers().map(|agent| (slot, agent, url.clone()))).collect();
        self.inputs.push(Input { name: format!("{CRAWLERS} crawlers"), rows, fresh: None, is_whole: false });
    }

    /// Returns sites from the synthetic web, and URLs on all of them in random order. About a fifth have no
    /// robots.txt.
    #[must_use]
    pub fn sites(seed: u64) -> Inputs {
        let web = Web { origins: SITES, seed };
        let (mut files, mut slots) = (Vec::new(), HashMap::new());
        for number in 0..SITES {
            let site = web.site(number);
            if let HostAnswer::File(body) = site.answer {
                let origin = format!("{}://{}", if site.is_https { "https" } else { "http" }, site.host);
                slots.insert(origin.clone().into_bytes(), files.len());
                files.push(Loaded { origin, body });
            }
        }
        let mut rows = Vec::new();
        let push = |url: &[u8]| {
            let path = url.iter().enumerate().filter(|(_, byte)| **byte == b'/').nth(2).map_or(url.len(), |(at, _)| at);
            rows.push((slots.get(&url[..path]).copied().unwrap_or(NO_SLOT), AGENT.to_vec(), url.to_vec()));
            Ok::<(), Infallible>(())
        };
        let Ok(()) = web.urls(&Spread { urls: CRAWL_URLS, exponent: 0.0, is_sorted: false }, push);
        // The model `open` asks for the first row, so its site must have a file.
        if let Some(of_file) = rows.iter().position(|row: &InputRow| row.0 != NO_SLOT) {
            rows.swap(0, of_file);
        }
        let name = format!("{} sites", files.len());
        Inputs { files, inputs: vec![Input { name, rows, fresh: None, is_whole: false }] }
    }

    /// Returns some of the real files, and the home page's URL for each. Empty if they are absent.
    ///
    /// # Errors
    /// Returns an error if they are present but cannot be read.
    pub fn real_files() -> Result<Inputs, String> {
        let Some(shared) = shared() else { return Ok(Inputs { files: Vec::new(), inputs: Vec::new() }) };
        let all = reptile_bench::real_files(&shared).map_err(|error| format!("{}: {error}", shared.display()))?;
        let step = all.len().div_ceil(REAL_FILES).max(1);
        let file = |(host, body)| Loaded { origin: format!("https://{host}"), body };
        let files: Vec<Loaded> = all.into_iter().step_by(step).map(file).collect();
        let row = |(slot, file): (usize, &Loaded)| (slot, AGENT.to_vec(), format!("{}/", file.origin).into_bytes());
        let rows: Vec<InputRow> = files.iter().enumerate().map(row).collect();
        let name = format!("{} real files", files.len());
        Ok(Inputs { files, inputs: vec![Input { name, rows, fresh: None, is_whole: true }] })
    }

    /// Returns a dialect's letters for the first rows of an input, with an error for rows without a file.
    #[must_use]
    pub fn readings(&self, input: &Input, count: usize, dialect: &Dialect) -> Vec<u8> {
        let letter = |(slot, agent, url): &InputRow| {
            self.files.get(*slot).map_or(b'E', |file| read(dialect, &file.body, agent, url).letter)
        };
        input.rows.iter().take(count).map(letter).collect()
    }
}

/// Returns the patterns of the rules for [`AGENT`].
fn patterns_of(case: &Case) -> Result<Vec<String>, String> {
    let prepared = PreparedCase::new(case).map_err(|error| error.to_string())?;
    let rules = prepared.ruleset().and_then(|ruleset| ruleset.rules().map_err(|_| "corrupt"))?;
    Ok(rules.iter().map(|rule| String::from_utf8_lossy(&rule.pattern).into_owned()).collect())
}

/// Returns generated URLs that no engine has seen, different for each seed.
#[must_use]
pub fn fresh_rows(source: &Fresh, slot: usize, seed: u64, count: usize) -> Vec<InputRow> {
    let seed = Random::new(seed).next();
    let urls = urls(&source.patterns, HOST, seed, count.min(MAX_ROWS));
    urls.iter().map(|url| (slot, AGENT.to_vec(), of_host(url, &source.host))).collect()
}

/// Returns a generated URL with another host.
fn of_host(url: &[u8], host: &str) -> Vec<u8> {
    let path = url.get("https://".len() + HOST.len()..).unwrap_or_default();
    [b"https://", host.as_bytes(), path].concat()
}

/// Returns a name without digits, because some dialects remove them.
fn name_of(number: usize) -> String {
    [number / 26, number % 26].iter().map(|&letter| char::from(b'A' + letter as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile_compiler::dialect::GOOGLE_LIB;

    #[test]
    fn inputs_have_both_verdicts() {
        let single = Inputs::single(false).unwrap();
        assert_eq!(single.inputs.len(), RECIPES.len() + 1);
        let sites = Inputs::sites(1);
        for (inputs, input) in single.inputs.iter().map(|input| (&single, input)).chain([(&sites, &sites.inputs[0])]) {
            let letters = inputs.readings(input, 200, &GOOGLE_LIB);
            for letter in [b'A', b'D'] {
                assert!(letters.contains(&letter), "{}: no {}", input.name, char::from(letter));
            }
        }
        assert!(sites.inputs[0].rows.iter().any(|row| row.0 == NO_SLOT), "every site has a robots.txt");
        for seed in 1..9 {
            assert_ne!(Inputs::sites(seed).inputs[0].rows[0].0, NO_SLOT, "seed {seed}");
        }
        assert!(single.files.iter().chain(&sites.files).all(|file| file.origin.contains("://")));
    }

    #[test]
    fn each_seed_draws_different_rows() {
        let rows: Vec<InputRow> = (0..1_000).map(|slot| (slot, Vec::new(), Vec::new())).collect();
        let mut input = Input { name: String::new(), rows, fresh: None, is_whole: false };
        let slots = |input: &Input, model, count, seed| -> Vec<usize> {
            input.drawn(model, count, seed).iter().map(|question| question.slot).collect()
        };
        for seed in 0..50 {
            let drawn = slots(&input, "decide", 100, seed);
            assert_eq!(drawn, slots(&input, "decide", 100, seed));
            assert_ne!(drawn, slots(&input, "decide", 100, seed + 1));
            assert!((90..=100).contains(&drawn.len()), "{}", drawn.len());
            assert_eq!(drawn.iter().collect::<std::collections::BTreeSet<_>>().len(), drawn.len());
            assert_eq!(slots(&input, "one-shot", 1, seed).len(), 1);
            assert_eq!(slots(&input, "open", 1, seed), [0]);
        }
        input.is_whole = true;
        for seed in 0..50 {
            let drawn = slots(&input, "parse", 1_000, seed);
            assert!((1_001..=1_050).contains(&drawn.len()), "{}", drawn.len());
            assert_eq!(drawn.iter().collect::<std::collections::BTreeSet<_>>().len(), 1_000);
        }
    }

    #[test]
    fn fresh_rows_differ_by_seed() {
        let patterns = vec!["/a*b".to_owned(), "/c$".to_owned()];
        let source = Fresh { patterns, host: "fresh.example.com".to_owned() };
        let rows = |seed| fresh_rows(&source, 3, seed, 50);
        assert_eq!(rows(1), rows(1));
        assert_ne!(rows(1), rows(2));
        assert_eq!((rows(1).len(), rows(1)[0].0), (50, 3));
        assert!(rows(1).iter().all(|(.., url)| url.starts_with(b"https://fresh.example.com/")));
    }
}
