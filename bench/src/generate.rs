//! Generates robots.txt files and URLs, the same on every machine and in every run.
//!
//! A [`Recipe`] sets the number of rules and the share with wildcards. Everything else follows shares counted in 4,231
//! real files: 7.9 % of the rules are an allow, 7.8 % end in `*`, 1.8 % contain `$`, 6.7 % `?` and 0.9 % `%`; the
//! median pattern length is 15 bytes, the ninetieth percentile 35. In real files, 5.9 % of the rules are just `/`.
//! Generated files contain none, because it would decide nearly every URL by itself.

/// A small pseudo-random number generator: xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
/// generators, scrambled", 2016). Do not use it for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator that returns the same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Random {
        // The state must not be zero, and neighboring seeds must not begin with similar numbers.
        Random((seed ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9) | 1)
    }

    /// Returns the next 64 random bits.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a random number below `bound`, which must not be 0. The bias is below 2^-32 for 32-bit bounds.
    pub const fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }

    /// Returns `true` in about `share` of 1,000 calls.
    pub const fn per_mille(&mut self, share: usize) -> bool {
        self.below(1000) < share
    }

    /// Shuffles a slice (Fisher-Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }

    /// Returns a random element of a non-empty slice.
    fn of<'t>(&mut self, things: &[&'t str]) -> &'t str {
        things[self.below(things.len())]
    }
}

/// The words in patterns and URLs.
const WORDS: [&str; 56] = [
    "account", "action", "admin", "ajax", "api", "archive", "article", "assets", "author", "blog", "cart", "catalog",
    "category", "cgi-bin", "checkout", "comment", "compare", "config", "css", "data", "download", "en", "error",
    "event", "export", "feed", "files", "forum", "fr", "help", "images", "includes", "index", "item", "js", "login",
    "mail", "member", "misc", "news", "node", "order", "page", "post", "print", "private", "product", "profile",
    "review", "search", "shop", "story", "tag", "user", "video", "wishlist",
];

/// The shape of a generated robots.txt.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// The file's name in tables and benchmarks.
    pub name: &'static str,
    /// Number of rules in the default group.
    pub rules: usize,
    /// Number of rules per 1,000 with a wildcard before their last byte.
    pub wildcards: usize,
    /// The seed, which distinguishes files with the same shape.
    pub seed: u64,
    /// Number of disallowed URLs among the first [`URLS`], as counted by the oracle.
    pub disallowed: usize,
}

/// Number of URLs for a benchmark file.
pub const URLS: usize = 1000;

/// Five files with as many rules as those in [`crate::REAL_CASES`]. `small` and `many` have as many wildcards as the
/// average real file, `plain` and `huge` contain no wildcards, and `wildcards` has as many as the real file `star`.
pub const RECIPES: [Recipe; 5] = [
    Recipe { name: "small", rules: 12, wildcards: 140, seed: 1, disallowed: 517 },
    Recipe { name: "plain", rules: 79, wildcards: 0, seed: 2, disallowed: 520 },
    Recipe { name: "many", rules: 472, wildcards: 140, seed: 3, disallowed: 611 },
    Recipe { name: "wildcards", rules: 1_034, wildcards: 510, seed: 4, disallowed: 666 },
    Recipe { name: "huge", rules: 31_843, wildcards: 0, seed: 5, disallowed: 782 },
];

/// The host in generated URLs.
pub const HOST: &str = "www.example.com";

impl Recipe {
    /// Generates the rules: whether each is an allow, and its pattern.
    #[must_use]
    pub fn patterns(&self) -> Vec<(bool, String)> {
        let mut random = Random::new(self.seed);
        (0..self.rules).map(|_| (random.per_mille(79), self.pattern(&mut random))).collect()
    }

    /// Generates the robots.txt: a comment, the default group, a group for two named crawlers, and a sitemap.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let mut body = format!("# Made up: {} rules\nUser-agent: *\n", self.rules);
        for (allow, pattern) in self.patterns() {
            body.push_str(if allow { "Allow: " } else { "Disallow: " });
            body.push_str(&pattern);
            body.push('\n');
        }
        body.push_str("\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\n");
        body.push_str(&format!("Sitemap: https://{HOST}/sitemap.xml\n"));
        body.into_bytes()
    }

    /// Generates `count` URLs from the rules; see [`urls`].
    #[must_use]
    pub fn urls(&self, count: usize) -> Vec<Vec<u8>> {
        let patterns: Vec<String> = self.patterns().into_iter().map(|(_, pattern)| pattern).collect();
        urls(&patterns, HOST, !self.seed, count)
    }

    fn pattern(&self, random: &mut Random) -> String {
        let depth = [1, 1, 1, 2, 2, 2, 2, 3, 3, 4][random.below(10)];
        // In large files, numbers make words distinct. Otherwise the rules would match nearly every path.
        let numbered = match self.rules {
            0..100 => 150,
            100..5_000 => 500,
            _ => 700,
        };
        let mut pattern = String::new();
        let mut wildcards = match random.below(1000) {
            share if share >= self.wildcards => 0,
            share if share * 100 >= self.wildcards * 10 => 1,
            share if share * 100 >= self.wildcards => 2,
            _ => 4,
        };
        if wildcards > 0 && random.per_mille(550) {
            pattern.push_str(if random.per_mille(300) { "*" } else { "/*" });
            wildcards -= 1;
        }
        for level in 0..depth.max(wildcards) {
            if !pattern.ends_with('*') || random.per_mille(500) {
                pattern.push('/');
            }
            let after_wildcard = pattern.trim_end_matches('/').ends_with('*');
            pattern.push_str(&word(random, if after_wildcard { 800 } else { numbered }, self.rules.max(100)));
            if level < wildcards {
                pattern.push_str(random.of(&["/*/", "*", "*-", "/*", "*.", "*?", "*&", "*="]));
                pattern.push_str(&word(random, 700, 1000));
            }
        }
        pattern.push_str(match random.below(1000) {
            0..500 => "/",
            500..550 => ".html",
            550..600 => ".php",
            600..667 => "?q=",
            667..676 => "%20",
            _ => "",
        });
        pattern.push_str(match random.below(1000) {
            0..78 => "*",
            78..96 => "$",
            _ => "",
        });
        pattern
    }
}

/// Generates `count` URLs on a host. Half are made to match a pattern, a quarter miss one narrowly because a byte is
/// changed, and a quarter are independent of the patterns. The mean path length is about 58 bytes.
#[must_use]
pub fn urls(patterns: &[String], host: &str, seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut urls = Vec::with_capacity(count);
    for number in 0..count {
        let mut path = String::from("/");
        if number % 4 < 3 && !patterns.is_empty() {
            let pattern = &patterns[random.below(patterns.len())];
            let anchored = pattern.ends_with('$');
            path = String::new();
            for part in pattern.trim_end_matches('$').split_inclusive('*') {
                path.push_str(part.trim_end_matches('*'));
                if part.ends_with('*') {
                    path.push_str(&word(&mut random, 400, 1000));
                }
            }
            if !path.starts_with('/') {
                path.insert(0, '/');
            }
            if number % 4 == 2 && path.len() > 2 {
                let at = 1 + random.below(path.len() - 1);
                path.replace_range(at..=at, "~");
            }
            if anchored && number % 4 < 2 {
                urls.push(format!("https://{host}{path}").into_bytes());
                continue;
            }
        }
        let length = 30 + random.below(57);
        while path.len() < length {
            path.push_str(&word(&mut random, 500, 1000));
            path.push(*b"////-.=&?".get(random.below(9)).unwrap_or(&b'/') as char);
        }
        urls.push(format!("https://{host}{path}").into_bytes());
    }
    urls
}

/// Returns a word, followed by a number below `numbers` in about `numbered` of 1,000 calls.
fn word(random: &mut Random, numbered: usize, numbers: usize) -> String {
    let word = random.of(&WORDS);
    if random.per_mille(numbered) { format!("{word}{}", random.below(numbers)) } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AGENT, PreparedCase};
    use reptile_compiler::dialect::GOOGLE_LIB;
    use reptile_compiler::oracle;

    /// Hashes texts with FNV-1a, so that the test notices any change to the generated inputs.
    fn fingerprint(texts: impl IntoIterator<Item = Vec<u8>>) -> u64 {
        texts
            .into_iter()
            .flatten()
            .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
    }

    #[test]
    fn inputs_are_the_same_on_every_machine() {
        let bodies = fingerprint(RECIPES.iter().map(Recipe::body));
        let urls = fingerprint(RECIPES.iter().flat_map(|recipe| recipe.urls(URLS)));
        assert_eq!(
            (bodies, urls),
            (0x6502_8391_3C21_BFA5, 0x1EE8_1797_3CF9_6FFA),
            "the inputs changed: recount disallowed URLs and instructions"
        );
    }

    #[test]
    fn files_match_their_recipe() {
        for recipe in RECIPES {
            let patterns = recipe.patterns();
            assert_eq!(patterns.len(), recipe.rules);
            if recipe.rules < 400 {
                continue;
            }
            let share = |holds: &dyn Fn(&(bool, String)) -> bool| {
                patterns.iter().filter(|pattern| holds(pattern)).count() * 1000 / patterns.len()
            };
            let near = |found: usize, wanted: usize| found.abs_diff(wanted) <= 10 + wanted / 5;
            let inner = share(&|(_, pattern)| pattern.trim_end_matches('*').contains('*'));
            assert!(near(inner, recipe.wildcards), "{}: {inner} of 1,000 have a wildcard", recipe.name);
            let allow = share(&|(allow, _)| *allow);
            assert!(near(allow, 79), "{}: {allow} of 1,000 allow", recipe.name);
            let mut lengths: Vec<usize> = patterns.iter().map(|(_, pattern)| pattern.len()).collect();
            lengths.sort_unstable();
            let middle = lengths[lengths.len() / 2];
            assert!((10..=24).contains(&middle), "{}: a median pattern of {middle} bytes", recipe.name);
        }
    }

    #[test]
    fn urls_match_and_miss_as_the_oracle_says() {
        for recipe in RECIPES {
            let case = PreparedCase::new(&crate::Case::generated(&recipe)).unwrap();
            let urls = recipe.urls(URLS);
            let mean = case.paths.iter().map(Vec::len).sum::<usize>() / urls.len();
            assert!((50..=66).contains(&mean), "{}: {mean} bytes of path", recipe.name);
            let ruleset = case.ruleset().unwrap();
            let matched = case.paths.iter().filter(|path| ruleset.matches(path).unwrap().decided_by.is_some()).count();
            assert!((URLS / 2..URLS).contains(&matched), "{}: {matched} match a rule", recipe.name);
            // For the largest file, the oracle would take minutes to decide all URLs.
            let some = if recipe.rules > 5_000 { 20 } else { 250 };
            let body = recipe.body();
            for (url, path) in urls.iter().zip(&case.paths).take(some) {
                let allowed = oracle::decide(&body, &GOOGLE_LIB, AGENT, url).allowed;
                let verdict = ruleset.verdict(path).unwrap();
                assert_eq!(verdict == reptile_engine::verdict::Verdict::Allow, allowed, "{}", url.escape_ascii());
            }
        }
    }

    #[test]
    fn shuffle_keeps_all_elements_and_changes_their_order() {
        let mut things: Vec<usize> = (0..100).collect();
        Random::new(7).shuffle(&mut things);
        assert_ne!(things, (0..100).collect::<Vec<_>>());
        things.sort_unstable();
        assert_eq!(things, (0..100).collect::<Vec<_>>());
    }
}
