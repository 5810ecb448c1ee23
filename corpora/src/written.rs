//! Hand-written files: groups for all agents, for search engines and for AI training crawlers, and copied scraper
//! lists.

use std::fmt::Write as _;

use rand::RngExt as _;
use rand_distr::{Distribution as _, LogNormal};

use crate::{Random, draw};

/// Words for paths and hosts.
pub const WORDS: [&str; 64] = [
    "about", "account", "action", "admin", "album", "api", "archive", "article", "assets", "author", "basket", "blog",
    "cache", "calendar", "cart", "catalog", "category", "cgi-bin", "checkout", "club", "comment", "compare", "contact",
    "download", "event", "export", "feed", "files", "filter", "forum", "gallery", "help", "home", "images", "includes",
    "index", "item", "journal", "lang", "login", "mail", "media", "member", "music", "news", "offer", "order", "page",
    "photo", "print", "private", "product", "profile", "review", "school", "search", "service", "shop", "story", "tag",
    "team", "user", "video", "wishlist",
];

/// Crawlers that hand-written files name, with relative frequencies based on the number of sites that name them.
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

/// Crawlers that collect AI training data. Sites that disallow one usually disallow several.
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

/// Files per 1,000 that disallow AI training crawlers, name another crawler, or have a copied scraper list.
const REFUSES_TRAINERS: u32 = 200;
const NAMES_A_CRAWLER: u32 = 330;
const HAS_SCRAPERS: u32 = 50;

/// Parameters for the log-normal distribution of rules per group: half of the groups have up to six rules, one in a
/// hundred has more than 250.
const RULES_MEDIAN: f64 = 6.0;
const RULES_SIGMA: f64 = 1.75;

/// Maximum number of rules in a group, as in the largest file among a million.
const MAX_RULES: f64 = 61_403.0;

/// Writes a file like a person would.
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
    // In a few files no user-agent line precedes the rules, or there is no default group.
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

/// Writes a group's rules and an empty line.
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

/// Writes a pattern with wildcards, end anchors and escapes as frequent as in 206,763 real rules.
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
        // Large files need numbers, because they would repeat the same few words.
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

pub(crate) fn word(random: &mut Random) -> &'static str {
    WORDS[random.random_range(0..WORDS.len())]
}
