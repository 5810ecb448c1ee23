//! Probable mistakes in the names of crawlers that users type, with the crawlers that are probably meant.

use std::fmt;

use super::crawlers::nearly;

/// A name that is most likely a mistake, with the crawlers that are probably meant. See [`mistake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// The name is one letter off from this known crawler's name or product token.
    Nearly(&'static str),
    /// The name of an operator or a product, whose crawlers have these product tokens; `*` is every crawler.
    Brand(&'static [&'static str]),
}

impl Mistake {
    /// Returns the product tokens that are probably meant, at least one.
    #[must_use]
    pub fn tokens(&self) -> &[&'static str] {
        match self {
            Mistake::Nearly(token) => std::slice::from_ref(token),
            Mistake::Brand(tokens) => tokens,
        }
    }
}

/// Continues a sentence after the name, and gives the remedy.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::Nearly(token) => write!(f, "which is nearly the crawler \"{token}\": write that"),
            Mistake::Brand(["*"]) => f.write_str("which is not a crawler's name: every crawler is \"*\""),
            Mistake::Brand(tokens) => {
                f.write_str("which is not a crawler's name: write ")?;
                for (index, token) in tokens.iter().enumerate() {
                    let before = match index {
                        0 => "",
                        _ if index + 1 == tokens.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{before}\"{token}\"")?;
                }
                Ok(())
            }
        }
    }
}

/// Returns the probable mistake in a name: the name of an operator or a product, or one that almost matches a known
/// crawler's. Such a name is still right for a robots.txt that contains it.
///
/// ```
/// use reptile_compiler::dialect::mistakes::{Mistake, mistake};
///
/// assert_eq!(mistake(b"Googelbot"), Some(Mistake::Nearly("Googlebot")));
/// let brand = mistake(b"ChatGPT").unwrap();
/// assert_eq!(brand.tokens(), ["GPTBot", "OAI-SearchBot", "ChatGPT-User"]);
/// assert_eq!(brand.to_string(), "which is not a crawler's name: write \"GPTBot\", \"OAI-SearchBot\" or \"ChatGPT-User\"");
/// assert_eq!(mistake(b"MyBot"), None);
/// ```
#[must_use]
pub fn mistake(name: &[u8]) -> Option<Mistake> {
    brand(name).map(Mistake::Brand).or_else(|| nearly(name).map(Mistake::Nearly))
}

/// Returns the product tokens that the name of an operator or a product probably means.
pub(crate) fn brand(name: &[u8]) -> Option<&'static [&'static str]> {
    BRANDS.iter().find(|(brand, _)| name.eq_ignore_ascii_case(brand.as_bytes())).map(|(_, tokens)| *tokens)
}

/// Names of operators and products that are not product tokens, in lower case, with the intended tokens. `*`
/// represents every crawler.
const BRANDS: &[(&str, &[&str])] = &[
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
    fn brands_are_unique() {
        let unique: std::collections::BTreeSet<&str> = BRANDS.iter().map(|(brand, _)| *brand).collect();
        assert_eq!(unique.len(), BRANDS.len());
    }

    #[test]
    fn messages_name_the_tokens_that_are_meant() {
        for (name, message) in [
            ("Googelbot", Some("which is nearly the crawler \"Googlebot\": write that")),
            (
                "anthropic",
                Some("which is not a crawler's name: write \"ClaudeBot\", \"Claude-SearchBot\" or \"Claude-User\""),
            ),
            ("Perplexity", Some("which is not a crawler's name: write \"PerplexityBot\" or \"Perplexity-User\"")),
            ("Bing", Some("which is not a crawler's name: write \"bingbot\"")),
            ("all", Some("which is not a crawler's name: every crawler is \"*\"")),
            ("GPTBot", None),
            ("MyBot", None),
        ] {
            assert_eq!(mistake(name.as_bytes()).map(|mistake| mistake.to_string()).as_deref(), message, "{name}");
        }
    }
}
