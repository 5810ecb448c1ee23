//! The table of known crawlers: one row each, with the source and the date of the last check.
//!
//! A row's columns, separated by `|`:
//! - the name, with the other product tokens that the crawler obeys after `>`; then `*` if it obeys the rules for `*`
//!   where no token is named, `-` if not, and `none` if it obeys no rules at all;
//! - the product in its `User-Agent` header: `=` for the name, `none` for a token that no header has;
//! - the family and the operator;
//! - the purposes, which determine its groups, such as `@search`;
//! - whether the crawler obeys robots.txt ([`Obeys`]);
//! - whether the name is current ([`Standing`]);
//! - the source, and the date of the last check: a day, a month, or `-` if no date is known. *Our choice* marks a value
//!   that no source settles.

use super::known::{Crawler, Obeys, Record, Standing};
use crate::dialect::Family;
use reptile_engine::format::crawlers::Purposes;

macro_rules! tokens {
    (none $name:literal) => {
        &[]
    };
    ($default:tt $name:literal $($token:literal)*) => {
        &[$name $(, $token)*]
    };
}

macro_rules! is_default {
    (*) => {
        true
    };
    ($other:tt) => {
        false
    };
}

macro_rules! header {
    (= $name:literal) => {
        Some($name)
    };
    (none $name:literal) => {
        None
    };
    ($header:literal $name:literal) => {
        Some($header)
    };
}

/// Only crawlers that do not always obey have their source in [`Obeys`], for findings and remarks.
macro_rules! obeys {
    (UserTriggered $source:literal) => {
        Obeys::UserTriggered($source)
    };
    (No $source:literal) => {
        Obeys::No($source)
    };
    ($obeys:ident $source:literal) => {
        Obeys::$obeys
    };
}

macro_rules! checked {
    (-) => {
        None
    };
    ($date:literal) => {
        Some($date)
    };
}

macro_rules! crawlers {
    ($($name:literal $(> $token:literal)*, $default:tt | $header:tt | $family:ident $operator:literal
        | $($purpose:ident)* | $obeys:ident | $standing:ident $(($other:literal))?
        | $source:literal $checked:tt;)*) => {
        const COUNT: usize = [$($name),*].len();

        /// All known crawlers, by family.
        pub const ALL: [Crawler; COUNT] = [$(Crawler {
            name: $name,
            tokens: tokens!($default $name $($token)*),
            honors_default_group: is_default!($default),
            family: Family::$family,
            purposes: Purposes::NONE$(.union(Purposes::$purpose))*,
            obeys: obeys!($obeys $source),
            standing: Standing::$standing $(($other))?,
        }),*];

        /// The records of the crawlers in [`ALL`], in the same order.
        pub(super) const RECORDS: [Record; COUNT] = [$(Record {
            operator: $operator,
            header: header!($header $name),
            source: $source,
            checked: checked!($checked),
        }),*];
    };
}

crawlers! {
    "Googlebot", * | = | Google "Google" | SEARCH | Yes | Current | "Google's list of crawlers" -;
    "Googlebot-Image" > "Googlebot", * | = | Google "Google" | SEARCH | Yes | Current | "Google's list of crawlers" -;
    "Googlebot-Video" > "Googlebot", * | = | Google "Google" | SEARCH | Yes | Current | "Google's list of crawlers" -;
    "Googlebot-News" > "Googlebot", * | none | Google "Google" | SEARCH | Yes | Current
        | "Google's list of crawlers, Google's robots.txt specification" -;
    "Storebot-Google", * | = | Google "Google" | | Yes | Current | "Google's robots.txt specification" -;
    "Google-InspectionTool", * | = | Google "Google" | | Yes | Current | "Google's list of crawlers" -;
    "GoogleOther", * | = | Google "Google" | | Yes | Current | "Google's list of crawlers" -;
    "GoogleOther-Image" > "GoogleOther", * | = | Google "Google" | | Yes | Current
        | "Google's list of crawlers; the order our choice" -;
    "GoogleOther-Video" > "GoogleOther", * | = | Google "Google" | | Yes | Current
        | "Google's list of crawlers; the order our choice" -;
    "Google-CloudVertexBot", * | = | Google "Google" | | Yes | Current | "Google's list of crawlers" -;
    "Google-Extended", * | none | Google "Google" | AI_TRAINING | Yes | Current
        | "Google's list of crawlers; the rules for * our choice" -;
    "APIs-Google", - | = | Google "Google" | | Yes | Current | "Google's list of crawlers" -;
    "AdsBot-Google", - | = | Google "Google" | | Yes | Current | "Google's list of crawlers" -;
    "AdsBot-Google-Mobile" > "AdsBot-Google", - | = | Google "Google" | | Yes | Current
        | "Google's list of crawlers; the second token our choice" -;
    "Mediapartners-Google", - | = | Google "Google" | | Yes | Current | "Google's list of crawlers" -;
    "AdsBot-Google-Mobile-Apps" > "AdsBot-Google", - | = | Google "Google" | | Yes | Current
        | "our choice: an AdsBot" -;
    "Google-Safety", none | = | Google "Google" | | No | Current | "Google's list of crawlers" -;
    "FeedFetcher-Google", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "FeedFetcher", none | "FeedFetcher-Google" | Google "Google" | USER_TRIGGERED | UserTriggered
        | OtherName("FeedFetcher-Google") | "our choice: another name of FeedFetcher-Google" -;
    "GoogleProducer", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "Google-Read-Aloud", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "Google-Site-Verification", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "Google-NotebookLM", none | = | Google "Google" | USER_TRIGGERED | UserTriggered
        | OtherName("Google-GeminiNotebook")
        | "Google's list of crawlers: users trigger it" -;
    "Google-Pinpoint", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "Google-GeminiNotebook", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "Google-Agent", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "Google-CWS", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "GoogleMessages", none | = | Google "Google" | USER_TRIGGERED | UserTriggered | Current
        | "Google's list of crawlers: users trigger it" -;
    "YandexBot" > "Yandex", * | = | Yandex "Yandex" | SEARCH | Yes | Current | "Yandex Webmaster help" -;
    "YandexImages" > "Yandex", * | = | Yandex "Yandex" | SEARCH | Yes | Current | "Yandex Webmaster help" -;
    "YandexVideo" > "Yandex", * | = | Yandex "Yandex" | SEARCH | Yes | Current | "Yandex Webmaster help" -;
    "YandexNews" > "Yandex", * | = | Yandex "Yandex" | SEARCH | Yes | Current | "Yandex Webmaster help" -;
    "YandexMedia" > "Yandex", * | = | Yandex "Yandex" | SEARCH | Yes | Current | "Yandex Webmaster help" -;
    "YandexBlogs" > "Yandex", * | = | Yandex "Yandex" | SEARCH | Yes | Current | "Yandex Webmaster help" -;
    "YandexMobileBot" > "Yandex", * | = | Yandex "Yandex" | SEARCH | Yes | Current | "Yandex Webmaster help" -;
    "YandexDirect", - | = | Yandex "Yandex" | | Yes | Current | "Yandex Webmaster help: must be named" -;
    "YandexAdditional" > "Yandex", * | = | Yandex "Yandex" | SEARCH AI_SEARCH | Yes | Current
        | "a third party on yandex.com/support/webmaster/en/yandex-ai; the other tokens our choice" "2026-09-25";
    "YandexAdditionalBot" > "Yandex", * | = | Yandex "Yandex" | SEARCH AI_SEARCH | Yes | Current
        | "a third party on yandex.com/support/webmaster/en/yandex-ai; the other tokens our choice" "2026-09-25";
    "bingbot" > "msnbot", * | = | Bing "Microsoft" | SEARCH | Yes | Current | "Bing's webmaster blog" -;
    "AdIdxBot", * | = | Bing "Microsoft" | | Yes | Current | "Bing's webmaster blog" -;
    "BingPreview", * | = | Bing "Microsoft" | | Yes | Current | "Bing's webmaster blog" -;
    "MicrosoftPreview", * | = | Bing "Microsoft" | | Yes | Current | "Bing's webmaster blog" -;
    "BingVideoPreview", * | = | Bing "Microsoft" | | Yes | Current | "Bing's webmaster blog" -;
    "Applebot" > "Googlebot", * | = | Other "Apple" | SEARCH | Yes | Current | "support.apple.com" -;
    "Applebot-Extended", * | none | Other "Apple" | AI_TRAINING | Yes | Current
        | "support.apple.com; the rules for * our choice" -;
    "GPTBot", * | = | Other "OpenAI" | AI_TRAINING | Yes | Current | "OpenAI" -;
    "OAI-SearchBot", * | = | Other "OpenAI" | SEARCH AI_SEARCH | Yes | Current | "OpenAI" -;
    "OAI-AdsBot", * | = | Other "OpenAI" | | Yes | Current
        | "a copy of help.openai.com/en/articles/20001243; readers disagree" -;
    "ChatGPT-User", * | = | Other "OpenAI" | USER_TRIGGERED | UserTriggered | Current | "OpenAI: rules may not apply" -;
    "ClaudeBot", * | = | Other "Anthropic" | AI_TRAINING | Yes | Current | "Anthropic" -;
    "Claude-User", * | = | Other "Anthropic" | USER_TRIGGERED | Yes | Current | "Anthropic" -;
    "Claude-SearchBot", * | = | Other "Anthropic" | SEARCH AI_SEARCH | Yes | Current | "Anthropic" -;
    "anthropic-ai", * | = | Other "Anthropic" | | NotStated | Retired | "a third party: retired" "2026-09-28";
    "Claude-Web", * | = | Other "Anthropic" | | NotStated | Retired | "a third party: retired" "2026-09-28";
    "CCBot", * | = | Other "Common Crawl" | AI_TRAINING | Yes | Current | "Common Crawl" -;
    "PerplexityBot", * | = | Other "Perplexity" | SEARCH AI_SEARCH | Yes | Current | "Perplexity" -;
    "Perplexity-User", * | = | Other "Perplexity" | USER_TRIGGERED | UserTriggered | Current
        | "a third party: generally ignores robots.txt; the rules for * our choice" "2026-09-02";
    "Bytespider", * | = | Other "ByteDance" | AI_TRAINING | NotStated | Current | "our choice" -;
    "TikTokSpider", * | = | Other "TikTok" | | NotStated | Undocumented
        | "our choice: no page of the operator" "2026-11";
    "Amazonbot", * | = | Other "Amazon" | AI_TRAINING | Yes | Current | "Amazon" -;
    "Amzn-SearchBot", * | = | Other "Amazon" | SEARCH AI_SEARCH | Yes | Current
        | "a copy of developer.amazon.com/amazonbot: unnamed, it obeys rules for other search bots" "2026-09-22";
    "Amzn-User", * | = | Other "Amazon" | USER_TRIGGERED | UserTriggered | Current
        | "a copy of developer.amazon.com/amazonbot: may not follow all rules" "2026-09-22";
    "bedrockbot", * | = | Other "AWS" | | Yes | Current
        | "the Bedrock web crawler's documentation; the token from a registry" "2026-11";
    "meta-externalagent", * | = | Other "Meta" | AI_TRAINING | Yes | Current | "Meta" -;
    "meta-webindexer", * | = | Other "Meta" | SEARCH AI_SEARCH | NotStated | Current
        | "a third party on developers.facebook.com, web crawlers" "2026-10-08";
    "meta-externalads", * | = | Other "Meta" | | NotStated | Current
        | "a third party on developers.facebook.com, web crawlers" "2026-09-19";
    "facebookexternalhit", * | = | Other "Meta" | | Yes | Current | "Meta" -;
    "FacebookBot", * | = | Other "Meta" | | NotStated | Undocumented | "our choice: no page of the operator" "2026-11";
    "Meta-ExternalFetcher", * | = | Other "Meta" | USER_TRIGGERED | UserTriggered | Current
        | "Meta: users trigger it; the rules for * our choice" -;
    "Diffbot", * | = | Other "Diffbot" | | Yes | Current
        | "docs.diffbot.com/docs/does-crawl-respect-robotstxt" "2026-11";
    "Diffbot-User", * | = | Other "Diffbot" | USER_TRIGGERED | NotStated | Current
        | "docs.diffbot.com/docs/does-crawl-respect-robotstxt" "2026-11";
    "cohere-ai", * | = | Other "Cohere" | AI_TRAINING | NotStated | Undocumented
        | "a third party: the operator lists no crawlers; the purpose our choice" "2026-09-28";
    "cohere-training-data-crawler", * | = | Other "Cohere" | AI_TRAINING | NotStated | Undocumented
        | "a third party: the operator lists no crawlers; the purpose our choice" "2026-09-28";
    "Webzio", * | = | Other "Webz.io" | | NotStated | Current | "a third party on webz.io/bot.html" "2026-08-07";
    "Webzio-Extended", * | none | Other "Webz.io" | | NotStated | Current
        | "a third party on webz.io/bot.html" "2026-08-07";
    "omgili", * | = | Other "Webz.io" | AI_TRAINING | NotStated | Current | "our choice" -;
    "omgilibot", * | = | Other "Webz.io" | | NotStated | ReplacedBy("Webzio")
        | "a third party on webz.io/bot.html" "2026-08-07";
    "Timpibot", * | = | Other "Timpi" | AI_TRAINING | NotStated | Current | "our choice" -;
    "MistralAI-User", * | = | Other "Mistral" | USER_TRIGGERED | Yes | Current | "Mistral" -;
    "MistralAI-Index", * | = | Other "Mistral" | SEARCH AI_SEARCH | NotStated | Current
        | "docs.mistral.ai/robots" "2026-08-21";
    "MistralAI-Training", * | = | Other "Mistral" | AI_TRAINING | Yes | Current | "docs.mistral.ai/robots" "2026-08-21";
    "KimiBot", * | = | Other "Moonshot" | AI_TRAINING | Yes | Current
        | "a third party on kimi.com/policies/kimi-crawlers" "2026-09-28";
    "Kimi-SearchBot", * | = | Other "Moonshot" | SEARCH AI_SEARCH | Yes | Current
        | "a third party on kimi.com/policies/kimi-crawlers" "2026-09-28";
    "Kimi-User", * | = | Other "Moonshot" | USER_TRIGGERED | UserTriggered | Current
        | "a third party on kimi.com/policies/kimi-crawlers: may not apply it" "2026-09-28";
    "DeepSeekBot", * | = | Other "DeepSeek" | | NotStated | Undocumented
        | "our choice: no page of the operator" "2026-11";
    "ShapBot", * | = | Other "Parallel" | SEARCH | Yes | Current
        | "docs.parallel.ai/resources/crawler; implied" "2026-11";
    "Shap-User", * | = | Other "Parallel" | USER_TRIGGERED | NotStated | Current
        | "a third party on docs.parallel.ai/resources/crawler" "2026-09-28";
    "Cloudflare-AI-Search", * | = | Other "Cloudflare" | SEARCH AI_SEARCH | NotStated | Current
        | "a third party on developers.cloudflare.com" "2026-09-28";
    "Cloudflare-AI-Search-External", * | = | Other "Cloudflare" | SEARCH AI_SEARCH | NotStated | Current
        | "a third party on developers.cloudflare.com" "2026-09-28";
    "CloudflareBrowserRenderingCrawler", * | = | Other "Cloudflare" | | NotStated | Current
        | "a third party on developers.cloudflare.com" "2026-09-28";
    "ICC-Crawler", * | = | Other "NICT" | AI_TRAINING | NotStated | Current | "a third party" "2026-09-28";
    "YouBot", * | = | Other "You.com" | SEARCH | NotStated | Current | "a third party" "2026-09-04";
    "DuckDuckBot", * | = | Other "DuckDuckGo" | SEARCH | Yes | Current | "DuckDuckGo" -;
    "DuckAssistBot", * | = | Other "DuckDuckGo" | SEARCH AI_SEARCH | Yes | Current | "DuckDuckGo" -;
    "Baiduspider", * | = | Other "Baidu" | SEARCH | Yes | Current | "Baidu" -;
    "PetalBot", * | = | Other "Huawei" | SEARCH | Yes | Current | "Huawei" -;
    "PanguBot", * | = | Other "Huawei" | AI_TRAINING | NotStated | Current | "our choice" -;
    "AI2Bot", * | = | Other "Ai2" | AI_TRAINING | Yes | Current | "Allen Institute for AI" -;
    "Ai2Bot-Dolma", * | = | Other "Ai2" | AI_TRAINING | Yes | Current | "a registry of crawlers" -;
    "img2dataset", * | = | Other "anyone: a tool" | | NotStated | Undocumented
        | "our choice: a tool without a page on robots.txt" "2026-11";
    "archive.org_bot", * | = | Other "Internet Archive" | ARCHIVE | NotStated | Current
        | "a registry of crawlers: policy not established" -;
    "AhrefsBot", * | = | Other "Ahrefs" | SEO | Yes | Current | "a registry of crawlers" -;
    "SemrushBot", * | = | Other "Semrush" | SEO | Yes | Current | "a registry of crawlers" -;
    "MJ12bot", * | = | Other "Majestic" | SEO | Yes | Current | "Majestic" -;
}
