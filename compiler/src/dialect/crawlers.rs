//! Known crawlers as data: their product tokens, and whether they obey the rules for `*`.
//!
//! A robots.txt cannot contain this information; only an operator's documentation does. The `table` has a row for each
//! crawler, with its source and the date of the last check. A dialect lists the families that it knows. A crawler from
//! another family has one product token, its name. [`super::resolve`] parses user input; [`of_name`] uses names
//! verbatim.

use reptile_engine::format::FormatError;
use reptile_engine::set::{Agent, Set};

use super::{Dialect, Family};
use crate::names::letters_in;

mod addresses;
mod known;
mod table;

pub use self::addresses::{DNS_SUFFIXES, DnsSuffixes, RANGE_LISTS, RangeList, dns_suffixes, range_lists};
pub use self::known::{Crawler, Obeys, Record, Standing};
pub use self::table::ALL;

/// Returns all known crawlers with their records, by family.
///
/// ```
/// use reptile_compiler::dialect::crawlers::records;
/// let (_, record) = records().find(|(known, _)| known.name == "KimiBot").unwrap();
/// assert_eq!((record.operator, record.header), ("Moonshot", Some("KimiBot")));
/// ```
pub fn records() -> impl Iterator<Item = (&'static Crawler, &'static Record)> {
    ALL.iter().zip(&table::RECORDS)
}

/// Returns the known crawler with a name, in any letter case.
#[must_use]
pub fn known(name: &[u8]) -> Option<&'static Crawler> {
    ALL.iter().find(|known| known.name.as_bytes().eq_ignore_ascii_case(name))
}

/// An agent as resolved under a dialect: the names to look for, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The name in output.
    pub name: String,
    /// The product tokens, the most specific first.
    pub tokens: Vec<Vec<u8>>,
    /// Whether the agent obeys the rules for `*` if none of its tokens is named.
    pub honors_default_group: bool,
}

impl Resolved {
    /// Creates an agent with one product token, which may contain any bytes.
    ///
    /// It obeys the default group if no group names it.
    ///
    /// For conformance tests, because the reference uses names verbatim. Parse user input with
    /// [`resolve`](super::resolve::resolve).
    #[must_use]
    pub fn verbatim(token: &[u8]) -> Resolved {
        let name = String::from_utf8_lossy(token).into_owned();
        Resolved { name, tokens: vec![token.to_vec()], honors_default_group: true }
    }

    /// Looks the agent up in a set.
    ///
    /// # Errors
    /// Returns an error if the set's agent table is damaged.
    pub fn look_up<D: AsRef<[u8]>>(&self, set: &Set<D>) -> Result<Agent, FormatError> {
        let tokens: Vec<&[u8]> = self.tokens.iter().map(Vec::as_slice).collect();
        set.agent_chain(&tokens, self.honors_default_group)
    }
}

/// Returns the product token that a dialect reads from a user-agent line with a known crawler's name, if it does not
/// read the whole name: `MJ` for MJ12bot in dialects whose product tokens contain no digits.
///
/// ```
/// use reptile_compiler::dialect::{GOOGLE, YANDEX, crawlers::read_as};
/// assert_eq!((read_as("mj12bot", &GOOGLE), read_as("mj12bot", &YANDEX)), (Some("mj"), None));
/// assert_eq!((read_as("Googlebot", &GOOGLE), read_as("My12bot", &GOOGLE)), (None, None));
/// ```
#[must_use]
pub fn read_as<'n>(name: &'n str, dialect: &Dialect) -> Option<&'n str> {
    let is_known = ALL.iter().any(|known| known.name.eq_ignore_ascii_case(name));
    let read = dialect.token_syntax.token_of(name.as_bytes());
    name.get(..read.len()).filter(|_| is_known && read.len() < name.len())
}

/// Resolves a single name: to a known crawler's chain of product tokens if the dialect knows its family, otherwise to
/// the name alone.
///
/// Accepts any bytes.
#[must_use]
pub fn of_name(name: &[u8], dialect: &Dialect) -> Resolved {
    let token = dialect.caller_version.cut(name);
    let known = ALL.iter().filter(|crawler| dialect.crawlers.contains(&crawler.family));
    let (tokens, honors_default_group) =
        match known.into_iter().find(|known| token.eq_ignore_ascii_case(known.name.as_bytes())) {
            Some(known) => {
                (known.tokens.iter().map(|token| token.as_bytes().to_vec()).collect(), known.honors_default_group)
            }
            None if dialect.crawlers.contains(&Family::Yandex) && begins_with(token, b"yandex") => {
                (vec![token.to_vec(), b"Yandex".to_vec()], true)
            }
            None => (vec![token.to_vec()], true),
        };
    Resolved { name: String::from_utf8_lossy(name).into_owned(), tokens, honors_default_group }
}

/// Returns the known crawler or product token that a name almost matches: one letter is missing, extra, replaced, or
/// swapped with the next.
///
/// Returns `None` if the name is known, here or as another crawler's.
///
/// Intended for names typed by people: `Googelbot` is a product token, but probably not the intended one. Names that
/// differ more are usually other crawlers, such as Jooblebot. So are short names that differ in one letter, such as
/// msrbot and msnbot, so names with fewer than seven bytes match only if two letters are swapped.
///
/// ```
/// use reptile_compiler::dialect::crawlers::nearly;
/// assert_eq!(nearly(b"Googelbot"), Some("Googlebot"));
/// assert_eq!((nearly(b"googlebot"), nearly(b"MyBot")), (None, None));
/// // Another crawler, not a misspelled ShapBot.
/// assert_eq!(nearly(b"Snapbot"), None);
/// ```
#[must_use]
pub fn nearly(name: &[u8]) -> Option<&'static str> {
    nearly_counted(name, &mut 0)
}

/// Finds a name like [`nearly`], and adds to `steps` one for each known name and each pair of letters compared.
pub(crate) fn nearly_counted(name: &[u8], steps: &mut u64) -> Option<&'static str> {
    let is_other = || OTHER_CRAWLERS.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
    if name.len() > MAX_MISSPELLED_BYTES || is_other() {
        return None;
    }
    let letters = letters_in(name);
    let mut near = None;
    for known in ALL.iter().flat_map(|known| known.tokens.iter().chain([&known.name])) {
        *steps += 1;
        if known.as_bytes().eq_ignore_ascii_case(name) {
            return None;
        }
        // Each edit adds at most one letter that the other name lacks. Most names are rejected here, without a table.
        if near.is_some()
            || name.len().abs_diff(known.len()) > 1
            || (letters & !letters_in(known.as_bytes())).count_ones() > 1
        {
            continue;
        }
        *steps += (name.len() * known.len()) as u64;
        if is_one_letter_off(name, known) {
            near = Some(*known);
        }
    }
    near
}

/// Returns whether one name becomes the other by inserting, removing, replacing or swapping one letter; for short
/// names, only by swapping.
fn is_one_letter_off(name: &[u8], known: &str) -> bool {
    let text: String = name.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let known = known.to_ascii_lowercase();
    let is_swapped = || name.len() == known.len() && strsim::hamming(&text, &known) == Ok(2);
    strsim::osa_distance(&text, &known) == 1 && (name.len() >= MIN_MISSPELLED_BYTES || is_swapped())
}

/// Other crawlers' names that are one letter off from a known crawler's name, in lower case. Each comes from its
/// operator's user agent.
const OTHER_CRAWLERS: [&str; 2] = [
    "pingbot", // pingbot/2.0 (+http://www.pingdom.com/)
    "snapbot", // Snapbot/1.0 (Snap Shots, +http://www.snap.com)
];

/// Minimum length in bytes for which a replaced letter is a mistake rather than another crawler.
const MIN_MISSPELLED_BYTES: usize = 7;

/// Maximum length in bytes of names compared with known crawlers; slightly longer than the longest of those.
const MAX_MISSPELLED_BYTES: usize = 36;

fn begins_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile_engine::format::crawlers::Purposes;
    use reptile_engine::token::crawler_in_header;

    use crate::dialect::{BING, GOOGLE, GOOGLE_LIB, KOSTER_1996, RFC9309, YANDEX};

    /// Returns the chain in the syntax that `resolve` accepts.
    fn chain(name: &str, dialect: &Dialect) -> String {
        let found = of_name(name.as_bytes(), dialect);
        let mut names: Vec<String> = found.tokens.iter().map(|token| String::from_utf8_lossy(token).into()).collect();
        names.extend(found.honors_default_group.then(|| "*".to_owned()));
        names.join(">")
    }

    #[test]
    fn dialects_know_their_own_crawlers() {
        assert_eq!(chain("Googlebot-Image", &GOOGLE), "Googlebot-Image>Googlebot>*");
        assert_eq!(chain("Googlebot-Image", &RFC9309), "Googlebot-Image>*");
        assert_eq!(chain("Googlebot-Image", &YANDEX), "Googlebot-Image>*");
        assert_eq!(chain("adsbot-google-mobile", &GOOGLE), "AdsBot-Google-Mobile>AdsBot-Google");
        assert_eq!(chain("adsbot-google-mobile", &GOOGLE_LIB), "adsbot-google-mobile>*");
        assert_eq!(chain("AdsBot-Google-Mobile-Apps", &GOOGLE), "AdsBot-Google-Mobile-Apps>AdsBot-Google");
        let others = ["Google-Agent", "google-cws", "GoogleMessages"];
        let free = ["Google-Safety", "FeedFetcher-Google", "feedfetcher", "Google-Read-Aloud", "Google-NotebookLM"];
        for free in free.into_iter().chain(others) {
            assert_eq!(chain(free, &GOOGLE), "", "{free}");
            assert_eq!(chain(free, &GOOGLE_LIB), format!("{free}>*"));
        }
        assert_eq!(chain("YandexImages", &YANDEX), "YandexImages>Yandex>*");
        assert_eq!(chain("YandexDirect", &YANDEX), "YandexDirect");
        assert_eq!(chain("yandexWhatever/3.0", &YANDEX), "yandexWhatever>Yandex>*");
        assert_eq!(chain("bingbot", &BING), "bingbot>msnbot>*");
        assert_eq!(chain("Applebot", &BING), "Applebot>Googlebot>*");
        assert_eq!(chain("FooBot/2.1", &KOSTER_1996), "FooBot>*");
        assert_eq!(chain("FooBot/2.1", &GOOGLE), "FooBot/2.1>*");
    }

    #[test]
    fn misspelled_names_match_known_crawlers() {
        for (name, near) in [
            ("Googelbot", Some("Googlebot")),
            ("google-bot", Some("Googlebot")),
            ("Googlbot", Some("Googlebot")),
            ("Googlebott", Some("Googlebot")),
            ("Googlobot", Some("Googlebot")),
            ("Gooogelbot", None),
            ("GTPBot", Some("GPTBot")),
            ("GPTBt", None),
            ("msrbot", None),
            ("Bimgbot", Some("bingbot")),
            ("Jooblebot", None),
            ("Snapbot", None),
            ("SnapBot", None),
            ("Shapbott", Some("ShapBot")),
            ("Shpabot", Some("ShapBot")),
            ("Pingbot", None),
            ("bimgbot", Some("bingbot")),
            ("DuckDuckGoBot", None),
            ("BingBot", None),
            ("Googlebot", None),
            ("MyBot", None),
            ("MetaBot", None),
            ("AnyBot", None),
            ("FooBot", None),
            ("TestBot", None),
            ("Yandex", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(nearly(name.as_bytes()), near, "{name}");
        }
        for known in ALL {
            assert!(known.tokens.iter().chain([&known.name]).all(|name| nearly(name.as_bytes()).is_none()));
            assert!(known.name.len() < MAX_MISSPELLED_BYTES, "{}", known.name);
        }
    }

    /// No name in the list is needless, and none hides a known crawler.
    #[test]
    fn other_crawlers_are_one_letter_off_from_known_crawlers() {
        for other in OTHER_CRAWLERS {
            assert!(ALL.iter().any(|known| is_one_letter_off(other.as_bytes(), known.name)), "{other}");
            assert!(known(other.as_bytes()).is_none() && other == other.to_ascii_lowercase(), "{other}");
        }
    }

    #[test]
    fn very_short_and_very_long_names_match_no_known_crawler() {
        // Names with six, seven and eight letters whose last letter is replaced.
        let ends = |name: &str| {
            let known = ALL.iter().find(|known| known.name == name).unwrap().name;
            format!("{}!", &known[..known.len() - 1])
        };
        for (name, near) in [("GPTBot", None), ("bingbot", Some("bingbot")), ("Applebot", Some("Applebot"))] {
            assert_eq!(nearly(ends(name).as_bytes()), near, "{name}");
        }
        for (len, is_read) in
            [(MAX_MISSPELLED_BYTES - 1, true), (MAX_MISSPELLED_BYTES, true), (MAX_MISSPELLED_BYTES + 1, false)]
        {
            let mut steps = 0;
            assert_eq!(nearly_counted(&vec![b'a'; len], &mut steps), None);
            assert_eq!(steps > 0, is_read, "{len}");
        }
    }

    /// The sample headers have the product of each crawler and, at most, a version.
    #[test]
    fn headers_name_their_crawlers() {
        let in_header =
            |header: &str| crawler_in_header(header.as_bytes(), ALL.iter().map(|known| known.name.as_bytes()));
        let mut tried = 0;
        for (known, record) in records() {
            let Some(product) = record.header else { continue };
            let expected = match known.standing {
                Standing::OtherName(other) if product == other => other,
                _ => known.name,
            };
            for header in [
                format!("Mozilla/5.0 (compatible; {product}/1.0; +https://bot.example/{product}.html)"),
                format!("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; {product}) Chrome/120.0 Safari/537.36"),
                product.to_lowercase(),
            ] {
                assert_eq!(in_header(&header).as_deref(), Some(expected), "{header}");
                tried += 1;
            }
            // A longer product is another crawler.
            for longer in [format!("{product}-Next/1.0"), format!("My{product}/1.0")] {
                let found = in_header(&format!("Mozilla/5.0 (compatible; {longer})"));
                assert_eq!(found, longer.strip_suffix("/1.0").map(str::to_owned), "{longer}");
            }
        }
        let without = records().filter(|(_, record)| record.header.is_none()).map(|(known, _)| known.name);
        assert_eq!(
            without.collect::<Vec<_>>(),
            ["Googlebot-News", "Google-Extended", "Applebot-Extended", "Webzio-Extended"]
        );
        assert_eq!(tried, (ALL.len() - 4) * 3);
        for (header, expected) in [
            ("Mozilla/5.0 (compatible; MistralAI-Index/1.0)", "MistralAI-Index"),
            ("Mozilla/5.0 (compatible; MistralAI-User/1.0)", "MistralAI-User"),
            ("Mozilla/5.0 (compatible; AI2Bot) Ai2Bot-Dolma/1.0", "Ai2Bot-Dolma"),
            ("Kimi-SearchBot/1.0", "Kimi-SearchBot"),
            ("Diffbot-User/1.0", "Diffbot-User"),
            ("Cloudflare-AI-Search-External/1.0", "Cloudflare-AI-Search-External"),
        ] {
            assert_eq!(in_header(header).as_deref(), Some(expected));
        }
    }

    /// Returns whether this is a day or a month.
    fn is_date(date: &str) -> bool {
        let digits: Vec<Option<u32>> = date.split('-').map(|part| part.parse().ok()).collect();
        match digits[..] {
            [Some(2026..), Some(1..=12)] => date.len() == 7,
            [Some(2026..), Some(1..=12), Some(1..=31)] => date.len() == 10,
            _ => false,
        }
    }

    #[test]
    fn published_addresses_are_of_known_crawlers() {
        let lists = RANGE_LISTS.iter().map(|list| (list.operator, list.crawlers, list.checked));
        let suffixes = DNS_SUFFIXES.iter().map(|row| (row.operator, row.crawlers, row.checked));
        let mut named = 0;
        for (operator, crawlers, checked) in lists.chain(suffixes) {
            assert!(is_date(checked), "{operator}: {checked}");
            for name in crawlers {
                let of_name: Vec<&str> =
                    records().filter(|(known, _)| known.name == *name).map(|(_, record)| record.operator).collect();
                assert_eq!(of_name, [operator], "{name}");
                named += 1;
            }
        }
        assert_eq!(named, 91);
        for (at, list) in RANGE_LISTS.iter().enumerate() {
            assert!(list.url.starts_with("https://") && (list.url.ends_with(".json") || list.url.ends_with('/')));
            assert!(RANGE_LISTS[..at].iter().all(|other| other.url != list.url), "{}", list.url);
        }
        for known in ALL {
            let rows = DNS_SUFFIXES.iter().filter(|row| row.crawlers.contains(&known.name));
            assert!(rows.count() <= 1, "{}", known.name);
        }
        for suffix in DNS_SUFFIXES.iter().flat_map(|row| row.suffixes) {
            assert!(suffix.contains('.') && *suffix == suffix.to_lowercase() && !suffix.starts_with('.'), "{suffix}");
        }
    }

    #[test]
    fn rows_are_well_formed() {
        let is_known = |name: &str| ALL.iter().any(|known| known.name == name && known.standing == Standing::Current);
        for (known, record) in records() {
            let name = known.name;
            assert!(!record.operator.is_empty() && !record.source.is_empty(), "{name}");
            assert!(record.checked.is_none_or(is_date), "{name}: {:?}", record.checked);
            if let Standing::OtherName(other) | Standing::ReplacedBy(other) = known.standing {
                assert!(is_known(other), "{name}");
            }
            // Crawlers for answers by a model are search crawlers too.
            assert!(
                !known.purposes.contains(Purposes::AI_SEARCH) || known.purposes.contains(Purposes::SEARCH),
                "{name}"
            );
        }
    }

    #[test]
    fn crawlers_that_do_not_always_obey_have_a_remark() {
        for (name, part) in [
            ("ChatGPT-User", Some("users trigger its requests, and not all rules apply to those (source: OpenAI")),
            ("perplexity-user", Some("users trigger its requests")),
            ("Meta-ExternalFetcher", Some("users trigger its requests")),
            ("Kimi-User", Some("users trigger its requests")),
            ("Amzn-User", Some("users trigger its requests")),
            ("Google-Read-Aloud", Some("users trigger its requests")),
            ("Google-Safety", Some("its operator says that it does not obey robots.txt")),
            ("anthropic-ai", Some("retired")),
            ("Claude-Web", Some("retired")),
            ("omgilibot", Some("its operator uses \"Webzio\" instead")),
            ("Claude-User", None),
            ("Diffbot-User", None),
            ("DeepSeekBot", None),
            ("GPTBot", None),
        ] {
            let remark = known(name.as_bytes()).unwrap().remark();
            assert_eq!(remark.is_some(), part.is_some(), "{name}: {remark:?}");
            assert!(remark.unwrap_or_default().contains(part.unwrap_or_default()), "{name}");
        }
        assert!(known(b"MyBot").is_none());
    }

    #[test]
    fn groups_follow_from_purposes() {
        let members = |group: &str| {
            let (_, purposes) = reptile_engine::spec::GROUPS.into_iter().find(|(name, _)| *name == group).unwrap();
            let members = ALL.iter().filter(|known| known.purposes.contains(purposes));
            members.map(|known| known.name).collect::<Vec<_>>()
        };
        for (group, inside, outside) in [
            ("@ai-training", &["GPTBot", "KimiBot", "MistralAI-Training", "ICC-Crawler"][..], "Diffbot"),
            ("@search", &["Googlebot", "OAI-SearchBot", "YouBot", "ShapBot"], "GPTBot"),
            ("@ai-search", &["OAI-SearchBot", "MistralAI-Index", "Amzn-SearchBot"], "Googlebot"),
            ("@user-triggered", &["ChatGPT-User", "Kimi-User", "Shap-User", "FeedFetcher-Google"], "ClaudeBot"),
            ("@archive", &["archive.org_bot"], "CCBot"),
            ("@seo", &["AhrefsBot", "SemrushBot", "MJ12bot"], "bingbot"),
        ] {
            let members = members(group);
            assert!(
                inside.iter().all(|name| members.contains(name)) && !members.contains(&outside),
                "{group}: {members:?}"
            );
        }
    }

    #[test]
    fn crawler_names_are_unique() {
        let mut names: Vec<String> = ALL.iter().map(|crawler| crawler.name.to_ascii_lowercase()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
