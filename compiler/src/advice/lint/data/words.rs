//! Words that people write instead of a path, a name or a comment mark.

/// Words written as a path or a crawler's name, in lower case, with their probable meanings.
pub(in super::super) const PLACEHOLDERS: &[(&str, Meaning)] = &[
    ("all", Meaning::Everything),
    ("any", Meaning::Everything),
    ("anything", Meaning::Everything),
    ("everything", Meaning::Everything),
    ("true", Meaning::Everything),
    ("yes", Meaning::Everything),
    ("[star]", Meaning::Everything),
    ("(star)", Meaning::Everything),
    ("none", Meaning::Nothing),
    ("nothing", Meaning::Nothing),
    ("false", Meaning::Nothing),
    ("no", Meaning::Nothing),
    ("empty", Meaning::Nothing),
    ("blank", Meaning::Nothing),
    ("n/a", Meaning::Nothing),
    ("na", Meaning::Nothing),
    ("-", Meaning::Nothing),
    ("--", Meaning::Nothing),
    ("\"\"", Meaning::Nothing),
    ("''", Meaning::Nothing),
    ("[]", Meaning::Nothing),
    ("null", Meaning::Unset),
    ("(null)", Meaning::Unset),
    ("nil", Meaning::Unset),
    ("undefined", Meaning::Unset),
    ("nan", Meaning::Unset),
    ("[object object]", Meaning::Unset),
    ("todo", Meaning::Unset),
    ("tbd", Meaning::Unset),
    ("tba", Meaning::Unset),
    ("fixme", Meaning::Unset),
    ("changeme", Meaning::Unset),
    ("xxx", Meaning::Unset),
    ("...", Meaning::Unset),
    ("path", Meaning::Unset),
    ("[path]", Meaning::Unset),
    ("url", Meaning::Unset),
    ("[url]", Meaning::Unset),
    ("your-path", Meaning::Unset),
    ("your path", Meaning::Unset),
];

/// The meaning of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Meaning {
    Everything,
    Nothing,
    /// A program or a person has not filled in the value.
    Unset,
}

/// Names of operators and products that are not product tokens, in lower case, with the intended tokens. `*`
/// represents every crawler.
pub(in super::super) const BRANDS: &[(&str, &[&str])] = &[
    ("all", EVERYONE),
    ("all agents", EVERYONE),
    ("all bots", EVERYONE),
    ("all crawlers", EVERYONE),
    ("all robots", EVERYONE),
    ("all spiders", EVERYONE),
    ("all user agents", EVERYONE),
    ("all user-agents", EVERYONE),
    ("any", EVERYONE),
    ("any bot", EVERYONE),
    ("any bots", EVERYONE),
    ("any crawler", EVERYONE),
    ("any robot", EVERYONE),
    ("anyone", EVERYONE),
    ("bots", EVERYONE),
    ("crawlers", EVERYONE),
    ("default", EVERYONE),
    ("every bot", EVERYONE),
    ("everybody", EVERYONE),
    ("everyone", EVERYONE),
    ("everything", EVERYONE),
    ("robots", EVERYONE),
    ("search engines", EVERYONE),
    ("searchengines", EVERYONE),
    ("spiders", EVERYONE),
    ("star", EVERYONE),
    ("[star]", EVERYONE),
    ("(star)", EVERYONE),
    ("wildcard", EVERYONE),
    ("ai", AI),
    ("ai bots", AI),
    ("ai crawlers", AI),
    ("ai-bots", AI),
    ("aibots", AI),
    ("llm", AI),
    ("llms", AI),
    ("ai2", &["AI2Bot"]),
    ("alexa", &["Amazonbot"]),
    ("allen ai", &["AI2Bot"]),
    ("amazon", &["Amazonbot"]),
    ("anthropic", CLAUDE),
    ("anthropic claude", CLAUDE),
    ("apple", &["Applebot", "Applebot-Extended"]),
    ("apple ai", &["Applebot-Extended"]),
    ("apple intelligence", &["Applebot-Extended"]),
    ("baidu", &["Baiduspider"]),
    ("bard", &["Google-Extended"]),
    ("bing", &["bingbot"]),
    ("bing chat", &["bingbot"]),
    ("bytedance", &["Bytespider"]),
    ("chat gpt", CHATGPT),
    ("chat-gpt", CHATGPT),
    ("chatgpt", CHATGPT),
    ("chatgpt bot", CHATGPT),
    ("chatgpt-bot", CHATGPT),
    ("chatgptbot", CHATGPT),
    ("claude", CLAUDE),
    ("claude ai", CLAUDE),
    ("claude.ai", CLAUDE),
    ("claude-ai", CLAUDE),
    ("cohere", &["cohere-ai", "cohere-training-data-crawler"]),
    ("common crawl", &["CCBot"]),
    ("common-crawl", &["CCBot"]),
    ("commoncrawl", &["CCBot"]),
    ("copilot", &["bingbot"]),
    ("duckduckgo", &["DuckDuckBot"]),
    ("facebook", &["facebookexternalhit"]),
    ("gemini", &["Google-Extended"]),
    ("google", &["Googlebot"]),
    ("google ai", &["Google-Extended"]),
    ("google ads", &["AdsBot-Google"]),
    ("google bard", &["Google-Extended"]),
    ("google gemini", &["Google-Extended"]),
    ("google images", &["Googlebot-Image"]),
    ("google news", &["Googlebot-News"]),
    ("gpt", CHATGPT),
    ("gpt-3", CHATGPT),
    ("gpt-4", CHATGPT),
    ("gpt-5", CHATGPT),
    ("huawei", &["PetalBot"]),
    ("instagram", &["facebookexternalhit"]),
    ("llama", &["meta-externalagent"]),
    ("majestic", &["MJ12bot"]),
    ("meta", &["meta-externalagent", "facebookexternalhit"]),
    ("meta ai", &["meta-externalagent"]),
    ("microsoft", &["bingbot"]),
    ("microsoft copilot", &["bingbot"]),
    ("mistral", &["MistralAI-User"]),
    ("mistral ai", &["MistralAI-User"]),
    ("mistralai", &["MistralAI-User"]),
    ("msn", &["bingbot"]),
    ("open ai", CHATGPT),
    ("open-ai", CHATGPT),
    ("openai", CHATGPT),
    ("openai bot", CHATGPT),
    ("openai.com", CHATGPT),
    ("openaibot", CHATGPT),
    ("perplexity", &["PerplexityBot", "Perplexity-User"]),
    ("perplexity ai", &["PerplexityBot", "Perplexity-User"]),
    ("perplexity.ai", &["PerplexityBot", "Perplexity-User"]),
    ("perplexityai", &["PerplexityBot", "Perplexity-User"]),
    ("petal", &["PetalBot"]),
    ("petal search", &["PetalBot"]),
    ("searchgpt", &["OAI-SearchBot"]),
    ("siri", &["Applebot"]),
    ("tiktok", &["Bytespider"]),
    ("vertex ai", &["Google-CloudVertexBot"]),
    ("whatsapp", &["facebookexternalhit"]),
];

const EVERYONE: &[&str] = &["*"];
const CHATGPT: &[&str] = &["GPTBot", "OAI-SearchBot", "ChatGPT-User"];
const CLAUDE: &[&str] = &["ClaudeBot", "Claude-SearchBot", "Claude-User"];
const AI: &[&str] = &["GPTBot", "ClaudeBot", "CCBot", "Google-Extended", "meta-externalagent"];

/// Marks that begin a comment in other languages, longest first.
pub(in super::super) const COMMENT_MARKS: &[&str] =
    &["<!--", "-->", "\"\"\"", "'''", "//", "/*", "*/", "--", ";", "%", "!", "'"];

/// Marks that comment out a line only directly before a key, in lower case: letters, and marks with other uses.
pub(in super::super) const KEY_MARKS: &[&str] =
    &["rem", "not", "no", "x", "xx", "xxx", "_", "__", "~", "@", "/", "\\", "$", "&", "^", "+", "="];

/// Labels at the start of a host name that is not open to search engines.
pub(in super::super) const STAGING_LABELS: &[&str] = &[
    "staging",
    "stage",
    "stg",
    "preprod",
    "pre-prod",
    "preproduction",
    "uat",
    "qa",
    "dev",
    "development",
    "test",
    "testing",
    "sandbox",
    "preview",
];

/// Endings of host names that only a private network resolves.
pub(in super::super) const PRIVATE_ENDINGS: &[&str] = &[
    ".localhost",
    ".local",
    ".localdomain",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".private",
    ".test",
    ".invalid",
    ".home.arpa",
    ".ddev.site",
    ".lndo.site",
    ".docksal.site",
    ".lvh.me",
    ".nip.io",
    ".ngrok.io",
    ".ngrok.app",
    ".ngrok-free.app",
    ".vm",
];

/// Host names that only a private network resolves, or placeholders for the real one.
pub(in super::super) const PRIVATE_HOSTS: &[&str] = &[
    "localhost",
    "local",
    "localdomain",
    "yourdomain.com",
    "www.yourdomain.com",
    "your-domain.com",
    "www.your-domain.com",
    "yoursite.com",
    "www.yoursite.com",
    "your-site.com",
    "yourwebsite.com",
    "www.yourwebsite.com",
    "host.docker.internal",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::crawlers;

    #[test]
    fn brands_are_no_tokens_and_mean_known_tokens() {
        let is_token = |name: &str| crawlers::ALL.iter().any(|known| known.tokens.contains(&name));
        for (brand, tokens) in BRANDS {
            assert_eq!(*brand, brand.to_ascii_lowercase());
            assert!(tokens.iter().all(|token| *token == "*" || is_token(token)), "{brand}: {tokens:?}");
            let named = crawlers::ALL.iter().flat_map(|known| known.tokens.iter().chain([&known.name]));
            assert!(named.into_iter().all(|name| !name.eq_ignore_ascii_case(brand)), "{brand}");
        }
    }

    #[test]
    fn words_are_unique_and_in_lower_case() {
        let brands: Vec<&str> = BRANDS.iter().map(|(word, _)| *word).collect();
        let placeholders: Vec<&str> = PLACEHOLDERS.iter().map(|(word, _)| *word).collect();
        let lists = [&brands, &placeholders, COMMENT_MARKS, KEY_MARKS, STAGING_LABELS, PRIVATE_ENDINGS, PRIVATE_HOSTS];
        for list in lists {
            let unique: std::collections::BTreeSet<&str> = list.iter().copied().collect();
            assert_eq!(unique.len(), list.len(), "{list:?}");
            assert!(list.iter().all(|word| *word == word.to_ascii_lowercase()), "{list:?}");
        }
    }
}
