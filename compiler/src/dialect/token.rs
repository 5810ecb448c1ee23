//! Which strings that a user gives are product tokens under a dialect, and what to write instead of the others.
//!
//! A crawler that no user-agent line can name obeys the default group, whatever the file says. That is hardly ever
//! what somebody meant who gave a list of crawlers, or the `User-Agent` header that a crawler sends.

use std::fmt;

use memchr::{memchr, memchr3};

use super::crawlers;
use super::{CallerVersion, Dialect};

/// Why a string is not a product token under a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// The string is empty, or nothing is left of it before its version.
    Empty,
    /// It is the `User-Agent` header of a request.
    Header {
        /// The product token that most likely is meant, if one stands out.
        token: Option<String>,
    },
    /// It lists several names.
    List {
        /// The names.
        tokens: Vec<String>,
    },
    /// It has a version, in a dialect that does not cut it off.
    Version {
        /// The name before the version.
        token: String,
    },
    /// No user-agent line can name it.
    Unnameable {
        /// The string.
        given: String,
        /// How a user-agent line that holds it is read; empty if such a line names no crawler.
        read_as: String,
    },
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenError::Empty => {
                f.write_str("empty product token: write a crawler's name, or \"*\" for the default group")
            }
            TokenError::Header { token: Some(token) } => {
                write!(f, "a User-Agent header is not a product token: write {token:?}")
            }
            TokenError::Header { token: None } => {
                f.write_str("a User-Agent header is not a product token: write the crawler's name alone")
            }
            TokenError::List { tokens } => {
                write!(f, "a list is not a product token: give each name by itself")?;
                tokens
                    .iter()
                    .enumerate()
                    .try_for_each(|(index, token)| write!(f, "{} {token:?}", if index == 0 { ":" } else { "," }))
            }
            TokenError::Version { token } => {
                write!(f, "a name with a version is not a product token in this dialect: write {token:?}")
            }
            TokenError::Unnameable { given, read_as } => {
                write!(f, "no group can name {given:?}: a user-agent line with it ")?;
                match &**read_as {
                    "" => f.write_str("names no crawler; write \"*\" for the default group"),
                    "*" => f.write_str("is for the default group; write \"*\""),
                    read_as => write!(f, "is read as {read_as:?}; write that for the groups that such lines begin"),
                }
            }
        }
    }
}

impl std::error::Error for TokenError {}

/// The product token that a string is under a dialect: the string itself, without its version where the dialect cuts
/// that off.
///
/// A string is a product token if a user-agent line can name it. Linear in the string, but for an error.
///
/// ```
/// use reptile_compiler::dialect::{GOOGLE_LIB, YANDEX, token::product_token};
///
/// assert_eq!(product_token("FooBot/2.1", &YANDEX), Ok(&b"FooBot"[..]));
/// let error = product_token("FooBot/2.1", &GOOGLE_LIB).unwrap_err();
/// assert!(error.to_string().ends_with("write \"FooBot\""));
/// let error = product_token("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", &YANDEX);
/// assert!(error.unwrap_err().to_string().ends_with("write \"Googlebot\""));
/// ```
///
/// # Errors
/// When the string is empty, a list of names, a `User-Agent` header, a name with a version that the dialect does not cut
/// off, or a name that the dialect reads from no user-agent line.
pub fn product_token<'n>(name: &'n (impl AsRef<[u8]> + ?Sized), dialect: &Dialect) -> Result<&'n [u8], TokenError> {
    let name = name.as_ref();
    let has_space = name.trim_ascii().iter().any(u8::is_ascii_whitespace);
    let slash = memchr(b'/', name);
    if memchr(b'(', name).is_some() || (slash.is_some() && has_space) {
        return Err(TokenError::Header { token: token_in_header(name) });
    }
    if memchr3(b',', b';', b'|', name).is_some() {
        let items = name.split(|byte| b",;|".contains(byte)).map(<[u8]>::trim_ascii);
        return Err(TokenError::List { tokens: items.filter(|item| !item.is_empty()).map(text).collect() });
    }
    let token = match (slash, dialect.caller_version) {
        (Some(slash), CallerVersion::Verbatim) if slash > 0 => {
            return Err(TokenError::Version { token: text(&name[..slash]) });
        }
        (_, version) => version.cut(name),
    };
    if token.is_empty() {
        return Err(TokenError::Empty);
    }
    let read_as = read_back(token, dialect);
    if dialect.default_token.is_named_by(token) || read_as != token {
        let read_as = if dialect.default_token.is_named_by(token) { b"*" } else { read_as };
        return Err(TokenError::Unnameable { given: text(token), read_as: text(read_as) });
    }
    Ok(token)
}

/// The product token that is read from a user-agent line with this value, `#` and the ends of lines included.
fn read_back<'n>(value: &'n [u8], dialect: &Dialect) -> &'n [u8] {
    let ends_line = |&byte: &u8| matches!(byte, b'#' | b'\r' | b'\n') || (byte == 0 && dialect.nul_ends_line);
    let end = value.iter().position(ends_line).unwrap_or(value.len());
    dialect.token_syntax.token_of(dialect.white_space.trim(&value[..end]))
}

/// The crawler that a `User-Agent` header is most likely about: the longest name of a known crawler in it, or else the
/// first product that no browser has.
fn token_in_header(header: &[u8]) -> Option<String> {
    /// What the headers of browsers are made of, which crawlers imitate.
    const OF_BROWSERS: [&str; 10] =
        ["Mozilla", "AppleWebKit", "KHTML", "Gecko", "Chrome", "Safari", "Version", "Mobile", "Edg", "Firefox"];
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.');
    let words = || header.split(|byte| !in_name(byte));
    // A word is a product with or without a version; addresses are neither.
    let products = || {
        words().map(|word| word.split(|&byte| byte == b'/').next().unwrap_or_default()).filter(|name| !name.is_empty())
    };
    let known = crawlers::ALL.iter().map(|crawler| crawler.name);
    let found = known.filter(|name| products().any(|product| product.eq_ignore_ascii_case(name.as_bytes())));
    if let Some(name) = found.max_by_key(|name| name.len()) {
        return Some(name.into());
    }
    let has_version = words().filter_map(|word| {
        let slash = memchr(b'/', word)?;
        let version = word.get(slash + 1..)?;
        let digits = version.strip_prefix(b"v").unwrap_or(version);
        digits.first()?.is_ascii_digit().then(|| &word[..slash])
    });
    let is_of_browser = |name: &[u8]| OF_BROWSERS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    has_version.filter(|name| !name.is_empty()).find(|name| !is_of_browser(name)).map(text)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{ALL, GOOGLE, GOOGLE_LIB, KOSTER_1994, RFC9309, YANDEX};

    /// The token, or what to write instead, in short.
    fn short(name: &str, dialect: &Dialect) -> String {
        match product_token(name, dialect) {
            Ok(token) => text(token),
            Err(TokenError::Empty) => "empty".into(),
            Err(TokenError::Header { token }) => format!("header: {}", token.unwrap_or_default()),
            Err(TokenError::List { tokens }) => format!("list: {}", tokens.join("+")),
            Err(TokenError::Version { token }) => format!("version: {token}"),
            Err(TokenError::Unnameable { read_as, .. }) => format!("read as: {read_as}"),
        }
    }

    #[test]
    fn strings_that_users_give() {
        // The string, and what it is to Google's library, to Yandex and to the note of 1994.
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
    fn messages_say_what_to_write() {
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
    fn every_known_crawler_can_be_named_in_every_dialect() {
        for dialect in ALL {
            for crawler in &crawlers::ALL {
                for name in [crawler.name].iter().chain(crawler.tokens) {
                    assert_eq!(product_token(name, dialect), Ok(name.as_bytes()), "{name} in {dialect}");
                }
            }
        }
    }
}
