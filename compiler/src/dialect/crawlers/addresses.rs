//! The addresses of crawlers, as their operators publish them: lists of address ranges, and reverse DNS names.
//!
//! The lists change every day and are not part of this crate; only their URLs are.

/// A list of address ranges that an operator publishes.
///
/// ```
/// use reptile_compiler::dialect::crawlers::range_lists;
/// let urls: Vec<&str> = range_lists("Claude-User").map(|list| list.url).collect();
/// assert_eq!(urls, ["https://claude.com/crawling/bots.json"]);
/// assert_eq!(range_lists("Bytespider").count(), 0);
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct RangeList {
    /// The operator, as in [`Record`](super::Record).
    pub operator: &'static str,
    /// The list's URL. A URL that ends in a slash is a web page that contains the addresses.
    pub url: &'static str,
    /// The names of the crawlers that use these addresses.
    pub crawlers: &'static [&'static str],
    /// The date of the last check, as in [`Record`](super::Record).
    pub checked: &'static str,
}

/// The domains of the names that the addresses of some crawlers have in reverse DNS.
///
/// ```
/// use reptile_compiler::dialect::crawlers::dns_suffixes;
/// let bing = dns_suffixes("bingbot").unwrap();
/// assert_eq!(bing.suffixes, ["search.msn.com"]);
/// assert!(dns_suffixes("GPTBot").is_none());
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct DnsSuffixes {
    /// The operator, as in [`Record`](super::Record).
    pub operator: &'static str,
    /// The domains, in lower case. Each name is a domain or is below it.
    pub suffixes: &'static [&'static str],
    /// The names of the crawlers whose addresses have such names.
    pub crawlers: &'static [&'static str],
    /// The date of the last check, as in [`Record`](super::Record).
    pub checked: &'static str,
}

/// Returns the published lists of a crawler's address ranges. `crawler` is a name in the table.
///
/// See [`RangeList`] for an example.
pub fn range_lists(crawler: &str) -> impl Iterator<Item = &'static RangeList> {
    RANGE_LISTS.iter().filter(move |list| list.crawlers.contains(&crawler))
}

/// Returns the domains of a crawler's names in reverse DNS. `crawler` is a name in the table.
///
/// See [`DnsSuffixes`] for an example.
#[must_use]
pub fn dns_suffixes(crawler: &str) -> Option<&'static DnsSuffixes> {
    DNS_SUFFIXES.iter().find(|row| row.crawlers.contains(&crawler))
}

macro_rules! range_lists {
    ($($operator:literal: $url:literal $checked:literal $($crawler:literal)+;)*) => {
        /// All published lists of address ranges.
        pub const RANGE_LISTS: &[RangeList] = &[$(RangeList {
            operator: $operator,
            url: $url,
            crawlers: &[$($crawler),+],
            checked: $checked,
        }),*];
    };
}

macro_rules! dns_suffixes {
    ($($operator:literal: $($suffix:literal)+; $checked:literal $($crawler:literal)+;)*) => {
        /// All published domains in reverse DNS. No crawler has two rows.
        pub const DNS_SUFFIXES: &[DnsSuffixes] = &[$(DnsSuffixes {
            operator: $operator,
            suffixes: &[$($suffix),+],
            crawlers: &[$($crawler),+],
            checked: $checked,
        }),*];
    };
}

// Meta, ByteDance, DeepSeek and xAI publish no list. Google's list of crawlers groups them as the files do.
range_lists! {
    "Google": "https://developers.google.com/static/crawling/ipranges/common-crawlers.json" "2026-11"
        "Googlebot" "Googlebot-Image" "Googlebot-Video" "Googlebot-News" "Storebot-Google" "Google-InspectionTool"
        "GoogleOther" "GoogleOther-Image" "GoogleOther-Video" "Google-CloudVertexBot";
    "Google": "https://developers.google.com/static/crawling/ipranges/special-crawlers.json" "2026-11"
        "APIs-Google" "AdsBot-Google" "AdsBot-Google-Mobile" "AdsBot-Google-Mobile-Apps" "Mediapartners-Google"
        "Google-Safety";
    "Google": "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers.json" "2026-11"
        "FeedFetcher-Google" "FeedFetcher" "GoogleProducer" "Google-Read-Aloud" "Google-Site-Verification"
        "Google-NotebookLM" "Google-Pinpoint" "Google-GeminiNotebook" "Google-CWS" "GoogleMessages";
    "Google": "https://developers.google.com/static/crawling/ipranges/user-triggered-fetchers-google.json" "2026-11"
        "FeedFetcher-Google" "FeedFetcher" "GoogleProducer" "Google-Read-Aloud" "Google-Site-Verification"
        "Google-NotebookLM" "Google-Pinpoint" "Google-GeminiNotebook" "Google-CWS" "GoogleMessages";
    "Google": "https://developers.google.com/static/crawling/ipranges/user-triggered-agents.json" "2026-11"
        "Google-Agent";
    "OpenAI": "https://openai.com/gptbot.json" "2026-11" "GPTBot";
    "OpenAI": "https://openai.com/searchbot.json" "2026-11" "OAI-SearchBot";
    "OpenAI": "https://openai.com/chatgpt-user.json" "2026-11" "ChatGPT-User";
    "OpenAI": "https://openai.com/adsbot.json" "2026-11" "OAI-AdsBot";
    "Anthropic": "https://claude.com/crawling/bots.json" "2026-11" "ClaudeBot" "Claude-User" "Claude-SearchBot";
    "Perplexity": "https://www.perplexity.com/perplexitybot.json" "2026-11" "PerplexityBot";
    "Perplexity": "https://www.perplexity.com/perplexity-user.json" "2026-11" "Perplexity-User";
    "Microsoft": "https://www.bing.com/toolbox/bingbot.json" "2026-11" "bingbot";
    "Apple": "https://search.developer.apple.com/applebot.json" "2026-11" "Applebot";
    "Common Crawl": "https://index.commoncrawl.org/ccbot.json" "2026-11" "CCBot";
    "Mistral": "https://mistral.ai/mistralai-user-ips.json" "2026-11" "MistralAI-User";
    "Mistral": "https://mistral.ai/mistralai-index-ips.json" "2026-11" "MistralAI-Index";
    "DuckDuckGo": "https://duckduckgo.com/duckduckbot.json" "2026-11" "DuckDuckBot";
    "DuckDuckGo": "https://duckduckgo.com/duckassistbot.json" "2026-11" "DuckAssistBot";
    "Amazon": "https://developer.amazon.com/amazonbot/ip-addresses/" "2026-11" "Amazonbot";
    "Amazon": "https://developer.amazon.com/amazonbot/searchbot-ip-addresses/" "2026-11" "Amzn-SearchBot";
    "Amazon": "https://developer.amazon.com/amazonbot/live-ip-addresses/" "2026-11" "Amzn-User";
}

// Fetchers that users trigger have no row: some run on customers' machines, whose names are outside these domains.
dns_suffixes! {
    "Google": "googlebot.com" "google.com"; "2026-11"
        "Googlebot" "Googlebot-Image" "Googlebot-Video" "Googlebot-News" "Storebot-Google" "Google-InspectionTool"
        "GoogleOther" "GoogleOther-Image" "GoogleOther-Video" "Google-CloudVertexBot" "APIs-Google" "AdsBot-Google"
        "AdsBot-Google-Mobile" "AdsBot-Google-Mobile-Apps" "Mediapartners-Google" "Google-Safety";
    "Microsoft": "search.msn.com"; "2026-11" "bingbot" "AdIdxBot" "BingPreview" "MicrosoftPreview" "BingVideoPreview";
    "Yandex": "yandex.ru" "yandex.net" "yandex.com"; "2026-11"
        "YandexBot" "YandexImages" "YandexVideo" "YandexNews" "YandexMedia" "YandexBlogs" "YandexMobileBot"
        "YandexDirect" "YandexAdditional" "YandexAdditionalBot";
    "Amazon": "crawl.amazonbot.amazon"; "2026-11" "Amazonbot";
    "Huawei": "petalsearch.com"; "2026-11" "PetalBot";
    "Common Crawl": "crawl.commoncrawl.org"; "2026-11" "CCBot";
    "Apple": "applebot.apple.com"; "2026-11" "Applebot";
}
