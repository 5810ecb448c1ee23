//! Checks whether user input is a product token under a dialect.
//!
//! The rules are the engine's ([`reptile_engine::token`]), and a set stores them as data. This module derives them from
//! a dialect's switches.

pub use reptile_engine::token::TokenError;

use super::crawlers;
use super::{CallerVersion, Dialect};

/// Returns the product token for a string: the string itself, without its version if the dialect cuts versions off.
///
/// ```
/// use reptile_compiler::dialect::{GOOGLE_LIB, YANDEX, token::product_token};
///
/// assert_eq!(product_token("FooBot/2.1", &YANDEX), Ok(&b"FooBot"[..]));
/// let error = product_token("FooBot/2.1", &GOOGLE_LIB).unwrap_err();
/// assert!(error.to_string().ends_with("write \"FooBot\""));
/// ```
///
/// # Errors
/// Returns the errors of [`reptile_engine::token::product_token`].
pub fn product_token<'n>(name: &'n (impl AsRef<[u8]> + ?Sized), dialect: &Dialect) -> Result<&'n [u8], TokenError> {
    let known = crawlers::ALL.iter().map(|crawler| crawler.name.as_bytes());
    let cuts_version = dialect.caller_version == CallerVersion::Cut;
    reptile_engine::token::product_token(name.as_ref(), dialect.token_syntax, cuts_version, known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{ALL, GOOGLE, GOOGLE_LIB, KOSTER_1994, RFC9309, YANDEX};

    /// Returns the token, or a short form of the error.
    fn short(name: &str, dialect: &Dialect) -> String {
        match product_token(name, dialect) {
            Ok(token) => String::from_utf8_lossy(token).into_owned(),
            Err(TokenError::Empty) => "empty".into(),
            Err(TokenError::Header { token }) => format!("header: {}", token.unwrap_or_default()),
            Err(TokenError::List { tokens }) => format!("list: {}", tokens.join("+")),
            Err(TokenError::Version { token }) => format!("version: {token}"),
            Err(TokenError::Unnameable { read_as, .. }) => format!("read as: {read_as}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn user_input_is_read_by_each_dialect() {
        // The string, and the result for Google's library, Yandex and the 1994 note.
        for (name, library, yandex, note) in [
            ("GPTBot", "GPTBot", "GPTBot", "GPTBot"),
            ("a_b-C", "a_b-C", "a_b-C", "a_b-C"),
            ("", "empty", "empty", "empty"),
            ("/", "read as: ", "empty", "empty"),
            ("/2.1", "read as: ", "empty", "empty"),
            (" ", "read as: ", "empty", "empty"),
            ("*", "read as: *", "read as: *", "read as: *"),
            ("* bot", "read as: *", "read as: *", "* bot"),
            ("GPTBot,CCBot", "list: GPTBot+CCBot", "list: GPTBot+CCBot", "list: GPTBot+CCBot"),
            ("GPTBot; CCBot, ", "list: GPTBot+CCBot", "list: GPTBot+CCBot", "list: GPTBot+CCBot"),
            (",", "list: ", "list: ", "list: "),
            ("Googlebot/2.1", "version: Googlebot", "Googlebot", "Googlebot"),
            ("MJ12bot", "read as: MJ", "MJ12bot", "MJ12bot"),
            ("360Spider", "read as: ", "360Spider", "360Spider"),
            ("Foo Bot", "read as: Foo", "read as: Foo", "Foo Bot"),
            (" GPTBot", "read as: GPTBot", "read as: GPTBot", "read as: GPTBot"),
            ("a#b", "read as: a", "read as: a", "read as: a"),
            ("a\nb", "read as: a", "read as: a", "read as: a"),
            ("Bücher", "read as: B", "Bücher", "Bücher"),
            (
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
                "header: Googlebot",
                "header: Googlebot",
                "header: Googlebot",
            ),
            (
                "Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)",
                "header: MJ12bot",
                "header: MJ12bot",
                "header: MJ12bot",
            ),
            (
                "Mozilla/5.0 (compatible; FooBot/1.0; +http://foo.example/Chrome/9)",
                "header: FooBot",
                "header: FooBot",
                "header: FooBot",
            ),
            ("FooBot/1.0 (+http://foo.example)", "header: FooBot", "header: FooBot", "header: FooBot"),
            ("curl/8.5.0 libcurl/8.5.0", "header: curl", "header: curl", "header: curl"),
            (
                "Googlebot-Image/1.0 (like Googlebot/2.1)",
                "header: Googlebot-Image",
                "header: Googlebot-Image",
                "header: Googlebot-Image",
            ),
        ] {
            assert_eq!(short(name, &GOOGLE_LIB), library, "{name:?}");
            assert_eq!(short(name, &GOOGLE), library, "{name:?}");
            assert_eq!(short(name, &RFC9309), library, "{name:?}");
            assert_eq!(short(name, &YANDEX), yandex, "{name:?}");
            assert_eq!(short(name, &KOSTER_1994), note, "{name:?}");
        }
    }

    #[test]
    fn error_messages_suggest_a_token() {
        for (name, message) in [
            ("", "empty product token: write a crawler's name, or \"*\" for the default group"),
            ("A,B", "a list is not a product token: give each name by itself: \"A\", \"B\""),
            (",", "a list is not a product token: give each name by itself"),
            ("A/1", "a name with a version is not a product token in this dialect: write \"A\""),
            ("x (y)", "a User-Agent header is not a product token: write the crawler's name alone"),
            ("x/1 (y)", "a User-Agent header is not a product token: write \"x\""),
            (
                "MJ12bot",
                "no group can name \"MJ12bot\": a user-agent line with it is read as \"MJ\"; write that for the groups \
                 that such lines begin",
            ),
            (
                "360Spider",
                "no group can name \"360Spider\": a user-agent line with it names no crawler; write \"*\" for the \
                 default group",
            ),
            ("* x", "no group can name \"* x\": a user-agent line with it is for the default group; write \"*\""),
        ] {
            assert_eq!(product_token(name, &GOOGLE_LIB).unwrap_err().to_string(), message, "{name:?}");
        }
    }

    #[test]
    fn known_crawlers_are_product_tokens_or_read_partially() {
        let mut in_part = 0;
        for dialect in ALL {
            for crawler in &crawlers::ALL {
                for name in [crawler.name].iter().chain(crawler.tokens) {
                    let expected = crawlers::read_as(name, dialect);
                    match product_token(name, dialect) {
                        Ok(token) => assert_eq!((token, expected), (name.as_bytes(), None), "{name} in {dialect}"),
                        Err(TokenError::Unnameable { read_as, .. }) if expected == Some(&*read_as) => in_part += 1,
                        Err(error) => panic!("{name} in {dialect}: {error}"),
                    }
                }
            }
        }
        // Five crawlers, each by a name and a token, in the dialects with letters only.
        assert_eq!(in_part, 5 * 2 * 5);
    }
}
