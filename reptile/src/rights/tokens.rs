//! Tokens in `X-Robots-Tag` fields, `<meta name="robots">` and the like.
//!
//! Source: Google's specification of robots meta tags and `X-Robots-Tag`
//! (developers.google.com/search/docs/crawling-indexing/robots-meta-tag). Tokens are separated by commas. A field may
//! name the crawler that its tokens are for: `googlebot: noindex, nofollow`.

/// The tokens that have a value after a colon, and are not crawlers' names.
const VALUED: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Returns the tokens of an `X-Robots-Tag` field in lower case, each with the crawler that it is for. An empty name
/// means all crawlers. White space separates tokens too, as in `noindex nofollow`.
pub fn of_field(text: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    let (mut crawler, mut tokens) = (String::new(), Vec::new());
    for item in text.split(',') {
        let mut rest = item;
        // The last word before a colon may be a crawler's name.
        while let Some((before, after)) = rest.split_once(':') {
            let (first, last) = before.trim_end().rsplit_once(char::is_whitespace).unwrap_or(("", before.trim()));
            let is_valued = VALUED.contains(&last);
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
            crawler = if last == "*" { String::new() } else { last.to_owned() };
        }
        tokens.extend(rest.split_whitespace().map(|token| (crawler.clone(), token.to_owned())));
    }
    tokens
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
            (":, :, ,;: -:: ", &[("", ":"), ("", ":"), ("", ";:"), ("", "-::")]),
            ("gptbot:", &[]),
            ("", &[]),
            (",,", &[]),
        ] {
            let found = of_field(text.as_bytes());
            let found: Vec<(&str, &str)> = found.iter().map(|(name, token)| (&**name, &**token)).collect();
            assert_eq!(found, expected, "{text}");
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
