//! Files as people write them: groups for everybody, for search engines, against trainers of AI, and copied lists of scrapers.

use std::fmt::Write as _;

use rand::RngExt as _;
use rand_distr::{Distribution as _, LogNormal};

use crate::{Random, draw};

/// The words of paths and hosts.
pub const WORDS: [&str; 64] = [
    "about", "account", "action", "admin", "album", "api", "archive", "article", "assets", "author", "basket", "blog",
    "cache", "calendar", "cart", "catalog", "category", "cgi-bin", "checkout", "club", "comment", "compare", "contact",
    "download", "event", "export", "feed", "files", "filter", "forum", "gallery", "help", "home", "images", "includes",
    "index", "item", "journal", "lang", "login", "mail", "media", "member", "music", "news", "offer", "order", "page",
    "photo", "print", "private", "product", "profile", "review", "school", "search", "service", "shop", "story", "tag",
    "team", "user", "video", "wishlist",
];

/// Crawlers that people name beside everybody, of 100 groups; the shares are those of the sites that name them.
const NAMED: [(u32, &str); 12] = [
    (20, "Googlebot"),
    (14, "AhrefsBot"),
    (11, "MJ12bot"),
    (10, "AdsBot-Google"),
    (8, "PetalBot"),
    (8, "dotbot"),
    (7, "SemrushBot"),
    (6, "Bingbot"),
    (5, "Yandex"),
    (4, "Baiduspider"),
    (4, "Mediapartners-Google"),
    (3, "Slurp"),
];

/// Crawlers for the training of AI; a site that refuses one refuses most.
const TRAINERS: [&str; 10] = [
    "GPTBot",
    "ClaudeBot",
    "CCBot",
    "Google-Extended",
    "Amazonbot",
    "anthropic-ai",
    "Bytespider",
    "cohere-ai",
    "FacebookBot",
    "Applebot-Extended",
];

/// Of 1,000 files, how many refuse trainers of AI, name another crawler, or have a copied list of scrapers.
const REFUSES_TRAINERS: u32 = 200;
const NAMES_A_CRAWLER: u32 = 330;
const HAS_SCRAPERS: u32 = 50;

/// The number of rules of a group is distributed as the logarithm says: half of all have up to six, one in a hundred more
/// than 250.
const RULES_MEDIAN: f64 = 6.0;
const RULES_SIGMA: f64 = 1.75;

/// The most rules in one group, as in the largest file that was found among a million.
const MAX_RULES: f64 = 61_403.0;

/// Writes a file as a person would.
pub fn written(random: &mut Random, host: &str) -> String {
    let mut text = String::new();
    if random.random_ratio(25, 100) {
        let _ = writeln!(text, "# robots.txt of {host}");
    }
    if random.random_ratio(HAS_SCRAPERS, 1000) {
        for _ in 0..random.random_range(60..160) {
            let _ = write!(text, "User-agent: {}{}\nDisallow: /\n\n", word(random), random.random_range(1..40));
        }
    }
    if random.random_ratio(REFUSES_TRAINERS, 1000) {
        for trainer in &TRAINERS[..random.random_range(1..=TRAINERS.len())] {
            let _ = write!(text, "User-agent: {trainer}\nDisallow: /\n\n");
        }
    }
    if random.random_ratio(NAMES_A_CRAWLER, 1000) {
        let name = draw(random, &NAMED).copied().unwrap_or("Googlebot");
        let _ = writeln!(text, "User-agent: {name}");
        if random.random_ratio(20, 100) {
            let _ = writeln!(text, "Crawl-delay: {}", random.random_range(1..60));
        }
        if random.random_ratio(50, 100) {
            text.push_str("Disallow: /\n\n");
        } else {
            rules(random, &mut text);
        }
    }
    // A few files have rules that no user-agent line comes before, or none for everybody.
    match random.random_range(0..1000) {
        0..8 => text.push_str("Disallow: /\n"),
        8..40 => {}
        _ => {
            text.push_str("User-agent: *\n");
            rules(random, &mut text);
        }
    }
    if random.random_ratio(52, 100) {
        let _ = writeln!(
            text,
            "Sitemap: https://{host}/{}.xml",
            if random.random_ratio(70, 100) { "sitemap" } else { word(random) }
        );
    }
    text
}

/// Writes the rules of a group, and an empty line.
fn rules(random: &mut Random, text: &mut String) {
    let count = LogNormal::new(RULES_MEDIAN.ln(), RULES_SIGMA).map_or(RULES_MEDIAN, |rules| rules.sample(random));
    let count = count.clamp(1.0, MAX_RULES) as u32;
    for _ in 0..count {
        let kind = if random.random_ratio(921, 1000) { "Disallow" } else { "Allow" };
        let _ = write!(text, "{kind}: ");
        pattern(random, count, text);
        text.push('\n');
    }
    text.push('\n');
}

/// Writes a pattern with the shares of wildcards, ends and escapes that were counted in 206,763 rules.
fn pattern(random: &mut Random, rules: u32, text: &mut String) {
    if random.random_ratio(5, 1000) {
        return;
    }
    let mut wildcards = u32::from(random.random_ratio(140, 1000));
    if wildcards == 1 && random.random_ratio(100, 1000) {
        wildcards = 2;
    }
    if wildcards > 0 && random.random_ratio(55, 100) {
        text.push_str(if random.random_ratio(30, 100) { "*" } else { "/*" });
        wildcards -= 1;
    }
    let depth = [1, 1, 1, 2, 2, 2, 3, 4][random.random_range(0..8)];
    for level in 0..depth.max(wildcards) {
        if !text.ends_with('*') || random.random_ratio(50, 100) {
            text.push('/');
        }
        text.push_str(word(random));
        // Files with many rules number them, else they would repeat themselves.
        if random.random_ratio(if rules > 100 { 60 } else { 15 }, 100) {
            let _ = write!(text, "{}", random.random_range(0..rules.max(100)));
        }
        if level < wildcards {
            text.push_str(["/*/", "*", "*-", "/*", "*.", "*?", "*&", "*="][random.random_range(0..8)]);
            text.push_str(word(random));
        }
    }
    text.push_str(match random.random_range(0..1000) {
        0..500 => "/",
        500..550 => ".html",
        550..600 => ".php",
        600..667 => "?q=",
        667..676 => "%20",
        676..678 => "\u{E4}",
        _ => "",
    });
    text.push_str(match random.random_range(0..1000) {
        0..78 => "*",
        78..96 => "$",
        _ => "",
    });
}

/// One of the words.
pub(crate) fn word(random: &mut Random) -> &'static str {
    WORDS[random.random_range(0..WORDS.len())]
}
