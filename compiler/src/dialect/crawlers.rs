//! Known crawlers as data: their product tokens, and whether they obey the rules for `*`.
//!
//! A robots.txt cannot say this; only each operator's documentation does. A dialect lists the families that it knows. A
//! crawler from another family has one product token, its name. [`super::resolve`] parses user input; [`of_name`] uses
//! names verbatim.

use reptile_engine::format::FormatError;
use reptile_engine::format::crawlers::Purposes;
use reptile_engine::set::{Agent, Set};

use super::{Dialect, Family};
use crate::names::letters_in;

/// A known crawler.
#[derive(Debug)]
pub struct Crawler {
    /// The name by which users choose the crawler.
    pub name: &'static str,
    /// The product tokens, the most specific first. A crawler without any obeys no robots.txt.
    pub tokens: &'static [&'static str],
    /// Whether the crawler obeys the rules for `*` if none of its tokens is named.
    pub honors_default_group: bool,
    /// The operator.
    pub family: Family,
    /// The purposes for which it can be selected as a member of a group.
    pub purposes: Purposes,
    /// The source: a letter in `DIALECTS.md`, or the operator's own documentation.
    pub source: &'static str,
}

const fn crawler(
    tokens: &'static [&'static str],
    honors_default_group: bool,
    family: Family,
    purposes: Purposes,
    source: &'static str,
) -> Crawler {
    Crawler { name: tokens[0], tokens, honors_default_group, family, purposes, source }
}

/// Creates a Google crawler that obeys no robots.txt.
const fn free(name: &'static str, source: &'static str) -> Crawler {
    let (family, purposes) = (Family::Google, Purposes::NONE);
    Crawler { name, tokens: &[], honors_default_group: false, family, purposes, source }
}

/// All known crawlers, by family.
pub const ALL: [Crawler; 70] = {
    use Family::{Bing, Google, Other, Yandex};
    const TRAINING: Purposes = Purposes::AI_TRAINING;
    const SEARCH: Purposes = Purposes::SEARCH;
    const NONE: Purposes = Purposes::NONE;
    [
        crawler(&["Googlebot"], true, Google, SEARCH, "Dspec"),
        crawler(&["Googlebot-Image", "Googlebot"], true, Google, SEARCH, "Dspec"),
        crawler(&["Googlebot-Video", "Googlebot"], true, Google, SEARCH, "Dspec"),
        crawler(&["Googlebot-News", "Googlebot"], true, Google, SEARCH, "Dspec, D"),
        crawler(&["Storebot-Google"], true, Google, NONE, "D"),
        crawler(&["Google-InspectionTool"], true, Google, NONE, "Dspec"),
        crawler(&["GoogleOther"], true, Google, NONE, "Dspec"),
        crawler(&["GoogleOther-Image", "GoogleOther"], true, Google, NONE, "Dspec; the order I"),
        crawler(&["GoogleOther-Video", "GoogleOther"], true, Google, NONE, "Dspec; the order I"),
        crawler(&["Google-CloudVertexBot"], true, Google, NONE, "Dspec"),
        crawler(&["Google-Extended"], true, Google, TRAINING, "Dspec; the rules for * I"),
        crawler(&["APIs-Google"], false, Google, NONE, "Dspec"),
        crawler(&["AdsBot-Google"], false, Google, NONE, "Dspec"),
        crawler(&["AdsBot-Google-Mobile", "AdsBot-Google"], false, Google, NONE, "Dspec; the second token I"),
        crawler(&["Mediapartners-Google"], false, Google, NONE, "Dspec"),
        crawler(&["AdsBot-Google-Mobile-Apps", "AdsBot-Google"], false, Google, NONE, "I: an AdsBot"),
        free("Google-Safety", "Dspec"),
        free("FeedFetcher-Google", "Dspec: users trigger it"),
        free("FeedFetcher", "I: another name of FeedFetcher-Google"),
        free("GoogleProducer", "Dspec: users trigger it"),
        free("Google-Read-Aloud", "Dspec: users trigger it"),
        free("Google-Site-Verification", "Dspec: users trigger it"),
        free("Google-NotebookLM", "Dspec: users trigger it"),
        free("Google-Pinpoint", "Dspec: users trigger it"),
        free("Google-GeminiNotebook", "Dspec: users trigger it"),
        free("Google-Agent", "Dspec: users trigger it"),
        free("Google-CWS", "Dspec: users trigger it"),
        free("GoogleMessages", "Dspec: users trigger it"),
        crawler(&["YandexBot", "Yandex"], true, Yandex, SEARCH, "Yua"),
        crawler(&["YandexImages", "Yandex"], true, Yandex, SEARCH, "Yua"),
        crawler(&["YandexVideo", "Yandex"], true, Yandex, SEARCH, "Yua"),
        crawler(&["YandexNews", "Yandex"], true, Yandex, SEARCH, "Yua"),
        crawler(&["YandexMedia", "Yandex"], true, Yandex, SEARCH, "Yua"),
        crawler(&["YandexBlogs", "Yandex"], true, Yandex, SEARCH, "Yua"),
        crawler(&["YandexMobileBot", "Yandex"], true, Yandex, SEARCH, "Yua"),
        crawler(&["YandexDirect"], false, Yandex, NONE, "Yua: must be named"),
        crawler(&["bingbot", "msnbot"], true, Bing, SEARCH, "B"),
        crawler(&["AdIdxBot"], true, Bing, NONE, "B"),
        crawler(&["BingPreview"], true, Bing, NONE, "B"),
        crawler(&["MicrosoftPreview"], true, Bing, NONE, "B"),
        crawler(&["BingVideoPreview"], true, Bing, NONE, "B"),
        crawler(&["Applebot", "Googlebot"], true, Other, SEARCH, "support.apple.com"),
        crawler(&["Applebot-Extended"], true, Other, TRAINING, "support.apple.com; the rules for * I"),
        crawler(&["GPTBot"], true, Other, TRAINING, "OpenAI"),
        crawler(&["OAI-SearchBot"], true, Other, SEARCH, "OpenAI"),
        crawler(&["ChatGPT-User"], true, Other, NONE, "OpenAI"),
        crawler(&["ClaudeBot"], true, Other, TRAINING, "Anthropic"),
        crawler(&["Claude-User"], true, Other, NONE, "Anthropic"),
        crawler(&["Claude-SearchBot"], true, Other, SEARCH, "Anthropic"),
        crawler(&["CCBot"], true, Other, TRAINING, "Common Crawl"),
        crawler(&["PerplexityBot"], true, Other, SEARCH, "Perplexity"),
        crawler(&["Perplexity-User"], true, Other, NONE, "Perplexity; the rules for * I"),
        crawler(&["Bytespider"], true, Other, TRAINING, "I"),
        crawler(&["Amazonbot"], true, Other, TRAINING, "Amazon"),
        crawler(&["meta-externalagent"], true, Other, TRAINING, "Meta"),
        crawler(&["facebookexternalhit"], true, Other, NONE, "Meta"),
        crawler(&["Meta-ExternalFetcher"], true, Other, NONE, "Meta: users trigger it; the rules for * I"),
        crawler(&["Diffbot"], true, Other, TRAINING, "Diffbot"),
        crawler(&["cohere-ai"], true, Other, TRAINING, "I"),
        crawler(&["cohere-training-data-crawler"], true, Other, TRAINING, "I"),
        crawler(&["omgili"], true, Other, TRAINING, "I"),
        crawler(&["Timpibot"], true, Other, TRAINING, "I"),
        crawler(&["MistralAI-User"], true, Other, NONE, "Mistral"),
        crawler(&["DuckDuckBot"], true, Other, SEARCH, "DuckDuckGo"),
        crawler(&["DuckAssistBot"], true, Other, SEARCH, "DuckDuckGo"),
        crawler(&["Baiduspider"], true, Other, SEARCH, "Baidu"),
        crawler(&["PetalBot"], true, Other, SEARCH, "Huawei"),
        crawler(&["PanguBot"], true, Other, TRAINING, "I"),
        crawler(&["AI2Bot"], true, Other, TRAINING, "Allen Institute for AI"),
        crawler(&["MJ12bot"], true, Other, NONE, "Majestic"),
    ]
};

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
/// Returns `None` if the name is known.
///
/// Intended for names typed by people: `Googelbot` is a product token, but probably not the intended one. Names that
/// differ more are usually other crawlers, such as Jooblebot. So are short names that differ in one letter, such as
/// msrbot and msnbot, so names with fewer than seven bytes match only if two letters are swapped.
///
/// ```
/// use reptile_compiler::dialect::crawlers::nearly;
/// assert_eq!(nearly(b"Googelbot"), Some("Googlebot"));
/// assert_eq!((nearly(b"googlebot"), nearly(b"MyBot")), (None, None));
/// ```
#[must_use]
pub fn nearly(name: &[u8]) -> Option<&'static str> {
    nearly_counted(name, &mut 0)
}

/// Finds a name like [`nearly`], and adds to `steps` one for each known name and each pair of letters compared.
pub(crate) fn nearly_counted(name: &[u8], steps: &mut u64) -> Option<&'static str> {
    if name.len() > MAX_MISSPELLED_BYTES {
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

/// Minimum length in bytes for which a replaced letter is a mistake rather than another crawler.
const MIN_MISSPELLED_BYTES: usize = 7;

/// Maximum length in bytes of names compared with known crawlers; slightly longer than the longest of those.
const MAX_MISSPELLED_BYTES: usize = 32;

fn begins_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn crawler_names_are_unique() {
        let mut names: Vec<String> = ALL.iter().map(|crawler| crawler.name.to_ascii_lowercase()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
