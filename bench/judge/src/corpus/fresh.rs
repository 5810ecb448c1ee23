//! Small robots.txt files that cover every notation found in the wild, and URLs that nearly match them, generated from
//! a seed. A new seed in every run finds cases that no fixed list contains.

use reptile_bench::generate::Random;

use super::{Corpus, CorpusFile, CorpusRow};

/// Number of crawlers per file, and number of URLs per crawler.
const AGENTS: usize = 2;
const URLS: usize = 10;

/// Maximum number of files.
pub const MAX_FILES: usize = 100_000;

/// Values in user-agent lines. The first [`NAMES`] are also the crawlers in the questions.
const NAMES: usize = 9;
const VALUES: [&str; 22] = [
    "FooBot",
    "Foo",
    "BarBot",
    "Bar-Bot",
    "bar_bot",
    "Googlebot",
    "Googlebot-News",
    "YandexBot",
    "bingbot",
    "foobot",
    "FOOBOT",
    "FooBot/1.0",
    "Foo Bot",
    "FooBot*",
    "Yandex",
    "msnbot",
    "*",
    "*",
    "*",
    "* foo",
    "",
    "Mozilla/5.0 FooBot",
];

/// Notations of keys and separators, the usual ones first.
const AGENT_KEYS: [&str; 6] = ["User-agent", "user-agent", "USER-AGENT", "useragent", "user agent", "User-Agents"];
const DISALLOW_KEYS: [&str; 5] = ["Disallow", "disallow", "Dissallow", "disalow", "DISALLOW"];
const ALLOW_KEYS: [&str; 3] = ["Allow", "allow", "Allows"];
const COLONS: [&str; 6] = [": ", ":", " : ", ":\t", " ", ":  "];
const ENDS: [&str; 5] = ["\n", "\r\n", "\r", "\n\n", "\n \n"];
const OTHERS: [&str; 9] = [
    "Sitemap: https://a.example/s.xml",
    "Crawl-delay: 5",
    "Host: a.example",
    "Clean-param: ref /a",
    "# a comment",
    "Noindex: /a",
    "a line without a meaning",
    "Disallow",
    "Content-Signal: search=yes",
];

/// The building blocks for patterns and paths.
const PIECES: [&str; 24] = [
    "a",
    "b",
    "ab",
    "ba",
    "/",
    "/",
    "/",
    "*",
    "*",
    "$",
    "?",
    "=",
    "&",
    ".html",
    "index.html",
    "%61",
    "%2F",
    "%2f",
    "é",
    "%C3%A9",
    "%c3%a9",
    " ",
    ";",
    "A",
];

/// Generates `files` robots.txt files with their rows, at most [`MAX_FILES`].
#[must_use]
pub fn make(seed: u64, files: usize) -> Corpus {
    let files = files.min(MAX_FILES);
    let groups = (0..files).map(|number| group(seed, number)).collect();
    let about = format!("{files} small files in every notation, from the seed {seed}");
    Corpus { name: "fresh", about, groups }
}

fn group(seed: u64, number: usize) -> CorpusFile {
    let mut random = Random::new(seed ^ (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let random = &mut random;
    let mut patterns = Vec::new();
    let body = body(random, &mut patterns);
    let mut rows = Vec::new();
    for _ in 0..AGENTS {
        let agent = VALUES[random.below(NAMES)].as_bytes().to_vec();
        for _ in 0..URLS {
            let url = url(random, &patterns).into_bytes();
            rows.push(CorpusRow { agent: agent.clone(), url, recorded: None });
        }
    }
    CorpusFile {
        name: format!("{seed}-{number}"),
        tag: "",
        origin: "https://a.example".into(),
        body: body.into_bytes(),
        rows,
    }
}

/// Returns the first form in most calls, otherwise any of them.
fn of<'t>(random: &mut Random, forms: &[&'t str]) -> &'t str {
    if random.per_mille(800) { forms[0] } else { forms[random.below(forms.len())] }
}

/// Returns a robots.txt, and appends its patterns to a list.
fn body(random: &mut Random, patterns: &mut Vec<String>) -> String {
    let mut body = String::new();
    if random.per_mille(30) {
        body.push('\u{FEFF}');
    }
    // Most files use the same line end throughout.
    let ends = if random.per_mille(100) { &ENDS[..] } else { &ENDS[..1 + random.below(2)] };
    for _ in 0..1 + random.below(4) {
        for _ in 0..[1, 1, 1, 2, 3][random.below(5)] {
            let name = VALUES[random.below(VALUES.len())];
            line(random, &mut body, &AGENT_KEYS, name, ends);
        }
        for _ in 0..random.below(6) {
            if random.per_mille(120) {
                let other = OTHERS[random.below(OTHERS.len())];
                body.push_str(other);
                body.push_str(ends[random.below(ends.len())]);
                continue;
            }
            let pattern = pattern(random);
            let keys = if random.per_mille(350) { &ALLOW_KEYS[..] } else { &DISALLOW_KEYS[..] };
            line(random, &mut body, keys, &pattern, ends);
            patterns.push(pattern);
        }
        if random.per_mille(500) {
            body.push_str(ends[0]);
        }
    }
    body
}

fn line(random: &mut Random, body: &mut String, keys: &[&str], value: &str, ends: &[&str]) {
    if random.per_mille(40) {
        body.push(' ');
    }
    body.push_str(of(random, keys));
    body.push_str(of(random, &COLONS));
    body.push_str(value);
    if random.per_mille(60) {
        body.push_str(if random.per_mille(500) { " # why" } else { "#why" });
    }
    body.push_str(ends[random.below(ends.len())]);
}

fn pattern(random: &mut Random) -> String {
    let mut pattern = String::new();
    if random.per_mille(900) {
        pattern.push('/');
    }
    for _ in 0..random.below(5) {
        pattern.push_str(PIECES[random.below(PIECES.len())]);
    }
    if random.per_mille(150) {
        pattern.push('$');
    }
    pattern
}

/// Returns a URL, usually one that matches or nearly matches a pattern.
fn url(random: &mut Random, patterns: &[String]) -> String {
    let mut path = String::new();
    if !patterns.is_empty() && random.per_mille(800) {
        for character in patterns[random.below(patterns.len())].chars() {
            match character {
                '*' => path.push_str(["", "a", "b/", "ab", "é"][random.below(5)]),
                '$' if random.per_mille(900) => {}
                _ if random.per_mille(30) => path.push('b'),
                _ => path.push(character),
            }
        }
    }
    for _ in 0..random.below(3) {
        path.push_str(PIECES[random.below(PIECES.len())]);
    }
    if !path.starts_with('/') && !random.per_mille(50) {
        path.insert(0, '/');
    }
    let start = if random.per_mille(970) {
        "https://a.example"
    } else {
        ["http://a.example:80", "https://A.EXAMPLE", ""][random.below(3)]
    };
    let end = if random.per_mille(30) { "#part" } else { "" };
    format!("{start}{path}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{COMMON, read};

    #[test]
    fn rows_depend_only_on_the_seed() {
        let text = |corpus: &Corpus| format!("{:?}", corpus.groups);
        assert_eq!(text(&make(7, 20)), text(&make(7, 20)));
        assert_ne!(text(&make(7, 20)), text(&make(8, 20)));
        assert_eq!(make(7, 20).rows(), 20 * AGENTS * URLS);
    }

    #[test]
    fn both_verdicts_are_frequent_and_dialects_differ() {
        let corpus = make(1, 300);
        let mut disallowed = 0;
        let mut differing = 0;
        for group in &corpus.groups {
            for row in &group.rows {
                let common = read(COMMON, &group.body, &row.agent, &row.url).letter;
                disallowed += usize::from(common == b'D');
                let old = read(&reptile_compiler::dialect::KOSTER_1996, &group.body, &row.agent, &row.url).letter;
                differing += usize::from(common != old);
            }
        }
        let rows = corpus.rows();
        assert!((rows / 10..rows * 9 / 10).contains(&disallowed), "{disallowed} of {rows}");
        assert!(differing > rows / 50, "{differing} of {rows}");
    }
}
