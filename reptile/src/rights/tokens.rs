//! Tokens in `X-Robots-Tag` fields, `<meta name="robots">` and the like.
//!
//! Source: Google's specification of robots meta tags and `X-Robots-Tag`
//! (developers.google.com/search/docs/crawling-indexing/robots-meta-tag). Tokens are separated by commas. A field may
//! name the crawler that its tokens are for: `googlebot: noindex, nofollow`.

/// The tokens that have a value after a colon, and are not crawlers' names.
const VALUED: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// The names before a colon that mean all crawlers. The second is the name of a `<meta>` element for all crawlers.
const EVERYONE: [&str; 2] = ["*", "robots"];

/// Returns the tokens of an `X-Robots-Tag` field in lower case, each with the crawler that it is for. An empty name
/// means all crawlers. White space separates tokens too, as in `noindex nofollow`.
///
/// A word before a colon is a crawler's name, unless it is a token with a value, or `is_known` as a token. Numbers are
/// values. The words after another crawler's name are for that crawler.
pub fn of_field(text: &[u8], is_known: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let (mut crawler, mut tokens) = (String::new(), Vec::new());
    for item in text.split(',') {
        let mut rest = item;
        // The last word before a colon may be a crawler's name.
        while let Some((before, after)) = rest.split_once(':') {
            let (first, last) = before.trim_end().rsplit_once(char::is_whitespace).unwrap_or(("", before.trim()));
            let has_number = after.trim_start().starts_with(|first: char| first != ',' && !first.is_alphabetic());
            let is_valued = VALUED.contains(&last) || is_known(last) || has_number && is_crawler(last);
            if !is_valued && !is_crawler(last) {
                // A date or another value.
                break;
            }
            tokens.extend(first.split_whitespace().map(|token| (crawler.clone(), token.to_owned())));
            rest = after;
            if is_valued {
                tokens.push((crawler.clone(), last.to_owned()));
                rest = "";
                break;
            }
            crawler = if EVERYONE.contains(&last) { String::new() } else { last.to_owned() };
        }
        tokens.extend(rest.split_whitespace().map(|token| (crawler.clone(), token.to_owned())));
    }
    tokens
}

/// Returns whether a name is a crawler's product token, in any letter case and with any version.
pub fn is_product(name: &[u8], token: &[u8]) -> bool {
    name.split(|&byte| byte == b'/').next().is_some_and(|product| product.eq_ignore_ascii_case(token))
}

/// Returns the tokens of a value that should be a single one.
pub fn of_malformed(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| letter.is_whitespace() || ",;\"'".contains(letter)).filter(|token| !token.is_empty())
}

/// Returns whether a word can be a crawler's name, unlike the parts of dates.
fn is_crawler(word: &str) -> bool {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*/".contains(&byte);
    word == "*" || (word.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic()) && word.bytes().all(is_inside))
}

/// Returns the tokens of a `<meta>` element in lower case. The element's name says which crawler they are for.
pub fn of_element(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let tokens = text.split(|letter: char| letter == ',' || letter.is_whitespace());
    tokens.filter(|token| !token.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_name_crawlers_and_tokens() {
        for (text, expected) in [
            ("noindex", &[("", "noindex")][..]),
            ("NoIndex, NOFOLLOW", &[("", "noindex"), ("", "nofollow")]),
            ("noindex nofollow", &[("", "noindex"), ("", "nofollow")]),
            ("googlebot: nofollow", &[("googlebot", "nofollow")]),
            ("otherbot: noindex, nofollow", &[("otherbot", "noindex"), ("otherbot", "nofollow")]),
            ("a: noindex, b: noai, noimageai", &[("a", "noindex"), ("b", "noai"), ("b", "noimageai")]),
            ("a: noindex, *: noai", &[("a", "noindex"), ("", "noai")]),
            ("unavailable_after: 25 Jun 2027 15:00:00 PST", &[("", "unavailable_after")]),
            ("googlebot: max-snippet:-1, noai", &[("googlebot", "max-snippet"), ("googlebot", "noai")]),
            ("max-snippet:20, noindex", &[("", "max-snippet"), ("", "noindex")]),
            ("noai, googlebot: noindex", &[("", "noai"), ("googlebot", "noindex")]),
            ("noai googlebot: noindex", &[("", "noai"), ("googlebot", "noindex")]),
            ("other, spawningbot:noai", &[("", "other"), ("spawningbot", "noai")]),
            ("a: noai, b: noai, spawningbot: all", &[("a", "noai"), ("b", "noai"), ("spawningbot", "all")]),
            (
                "unavailable_after: Friday, 25-Jun-27 15:00:00 PST, noai",
                &[("", "unavailable_after"), ("", "25-jun-27"), ("", "15:00:00"), ("", "pst"), ("", "noai")],
            ),
            ("gptbot/1.1: noai", &[("gptbot/1.1", "noai")]),
            ("robots: noai", &[("", "noai")]),
            ("noai: yes, otherbot: noai: 1", &[("", "noai"), ("otherbot", "noai")]),
            ("new-value: 5, other:-1, noai", &[("", "new-value"), ("", "other"), ("", "noai")]),
            ("unavailable_from: 2027-06-25, noai", &[("", "unavailable_from"), ("", "noai")]),
            ("gptbot (compatible): noai", &[("", "gptbot"), ("", "(compatible):"), ("", "noai")]),
            (":, :, ,;: -:: ", &[("", ":"), ("", ":"), ("", ";:"), ("", "-::")]),
            ("gptbot:", &[]),
            ("", &[]),
            (",,", &[]),
        ] {
            let found = of_field(text.as_bytes(), |word| word == "noai");
            let found: Vec<(&str, &str)> = found.iter().map(|(name, token)| (&**name, &**token)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn products_may_have_versions() {
        for (name, expected) in [
            ("gptbot", true),
            ("GPTBot/1.1", true),
            ("gptbot/", true),
            ("gptbot-2", false),
            ("x/gptbot", false),
            ("", false),
        ] {
            assert_eq!(is_product(name.as_bytes(), b"GPTBot"), expected, "{name}");
        }
    }

    #[test]
    fn elements_have_tokens() {
        for (text, expected) in [
            ("noindex, NoAI", &["noindex", "noai"][..]),
            ("noindex noai", &["noindex", "noai"]),
            ("max-image-preview:large,noai", &["max-image-preview:large", "noai"]),
            (" ,, ", &[]),
        ] {
            assert_eq!(of_element(text.as_bytes()), expected, "{text}");
        }
    }
}
