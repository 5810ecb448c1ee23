//! Extracts product tokens from user-agent lines, and checks product tokens given by callers.
//!
//! A crawler that no user-agent line can name would obey the default group in every file. Callers hardly ever intend
//! that when they pass a list of crawlers or a crawler's whole `User-Agent` header. A set stores how its dialect reads
//! names, so that every reader rejects the same strings; see [`crate::format::crawlers`].

use std::fmt;

use memchr::{memchr, memchr3};

/// The part of a user-agent line's value that is the product token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum TokenSyntax {
    /// The letters, `-` and `_` at the start of the value.
    Letters = 0,
    /// The text before the first `/` or white space.
    BeforeVersion = 1,
    /// The whole value.
    WholeValue = 2,
}

impl TokenSyntax {
    /// Every syntax, by number.
    pub const ALL: [TokenSyntax; 3] = [TokenSyntax::Letters, TokenSyntax::BeforeVersion, TokenSyntax::WholeValue];

    /// Returns the product token in a user-agent line's value; it may be empty.
    ///
    /// Source for [`TokenSyntax::Letters`]: google/robotstxt, `ExtractUserAgent`.
    #[must_use]
    pub fn token_of(self, value: &[u8]) -> &[u8] {
        let in_token = |&byte: &u8| match self {
            TokenSyntax::Letters => byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_',
            TokenSyntax::BeforeVersion => byte != b'/' && !is_space(byte),
            TokenSyntax::WholeValue => true,
        };
        &value[..value.iter().position(|byte| !in_token(byte)).unwrap_or(value.len())]
    }
}

/// Returns whether C's `isspace` is true of a byte.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Why a string is not a product token in a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// The string is empty, or has nothing before its version.
    Empty,
    /// The string is a request's `User-Agent` header.
    Header {
        /// The product token that is probably meant, if one stands out.
        token: Option<String>,
    },
    /// The string lists several names.
    List {
        /// The names.
        tokens: Vec<String>,
    },
    /// The string has a version, and the dialect does not cut it off.
    Version {
        /// The name before the version.
        token: String,
    },
    /// No user-agent line can name the string.
    Unnameable {
        /// The string.
        given: String,
        /// The token in a user-agent line with the string; empty if such a line names no crawler.
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

/// Checks that a string is a product token in a dialect, and returns it.
///
/// If `cuts_version` is set, a version is accepted and removed. `known` are crawler names to search for in a
/// `User-Agent` header.
///
/// A string is a product token if a user-agent line can name it. Linear in the string, except for errors.
///
/// ```
/// use reptile_engine::token::{TokenSyntax, product_token};
///
/// let token = |name: &'static str, cuts_version| {
///     product_token(name.as_bytes(), TokenSyntax::Letters, cuts_version, [&b"Googlebot"[..]])
/// };
/// assert_eq!(token("FooBot/2.1", true), Ok(&b"FooBot"[..]));
/// assert!(token("FooBot/2.1", false).unwrap_err().to_string().ends_with("write \"FooBot\""));
/// let error = token("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", true);
/// assert!(error.unwrap_err().to_string().ends_with("write \"Googlebot\""));
/// ```
///
/// # Errors
/// Returns an error if the string is empty, a list of names, a `User-Agent` header, a name with a version that is not
/// cut off, or a name that no user-agent line can yield.
pub fn product_token<'n, 'k>(
    name: &'n [u8],
    syntax: TokenSyntax,
    cuts_version: bool,
    known: impl IntoIterator<Item = &'k [u8]>,
) -> Result<&'n [u8], TokenError> {
    let has_space = name.trim_ascii().iter().any(u8::is_ascii_whitespace);
    let slash = memchr(b'/', name);
    if memchr(b'(', name).is_some() || (slash.is_some() && has_space) {
        return Err(TokenError::Header { token: crawler_in_header(name, known) });
    }
    if memchr3(b',', b';', b'|', name).is_some() {
        let items = name.split(|byte| b",;|".contains(byte)).map(<[u8]>::trim_ascii);
        return Err(TokenError::List { tokens: items.filter(|item| !item.is_empty()).map(text).collect() });
    }
    let token = match slash {
        Some(slash) if slash > 0 && !cuts_version => {
            return Err(TokenError::Version { token: text(&name[..slash]) });
        }
        _ if cuts_version => without_version(name),
        _ => name,
    };
    if token.is_empty() {
        return Err(TokenError::Empty);
    }
    let names_default_group = match token {
        [b'*'] => true,
        [b'*', next, ..] => syntax != TokenSyntax::WholeValue && is_space(*next),
        _ => false,
    };
    let read_as = if names_default_group { b"*" } else { read_back(token, syntax) };
    if names_default_group || read_as != token {
        return Err(TokenError::Unnameable { given: text(token), read_as: text(read_as) });
    }
    Ok(token)
}

/// Removes a name's version, which begins at the first `/`.
#[must_use]
pub fn without_version(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == b'/').next().unwrap_or(name).trim_ascii_end()
}

/// Returns the product token in a user-agent line with this value, in which `#` and line breaks have their usual
/// meaning.
fn read_back(value: &[u8], syntax: TokenSyntax) -> &[u8] {
    let end = value.iter().position(|byte| matches!(byte, b'#' | b'\r' | b'\n' | 0)).unwrap_or(value.len());
    let value = &value[..end];
    let start = value.iter().position(|&byte| !is_space(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|&byte| !is_space(byte)).map_or(start, |last| last + 1);
    syntax.token_of(&value[start..end])
}

/// Returns the name of the crawler that probably sent a `User-Agent` header.
///
/// This is the longest known name in it, or else the first product with a version that is not typical of browsers.
/// Cost: compares each product in the header with each known name.
///
/// ```
/// use reptile_engine::token::crawler_in_header;
///
/// let crawler = |header: &'static str| crawler_in_header(header.as_bytes(), [&b"Googlebot"[..]]);
/// assert_eq!(crawler("Mozilla/5.0 (compatible; Googlebot/2.1)").as_deref(), Some("Googlebot"));
/// assert_eq!(crawler("Mozilla/5.0 (compatible; FooBot/1.0)").as_deref(), Some("FooBot"));
/// assert_eq!(crawler("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/120.0"), None);
/// ```
#[must_use]
pub fn crawler_in_header<'k>(header: &[u8], known: impl IntoIterator<Item = &'k [u8]>) -> Option<String> {
    /// Products in browser headers, which crawlers imitate.
    const OF_BROWSERS: [&str; 10] =
        ["Mozilla", "AppleWebKit", "KHTML", "Gecko", "Chrome", "Safari", "Version", "Mobile", "Edg", "Firefox"];
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.');
    let words = || header.split(|byte| !in_name(byte));
    // Every word is a product, with or without a version. After its scheme a URL begins with `//`, which yields an
    // empty name.
    let products = || {
        words().map(|word| word.split(|&byte| byte == b'/').next().unwrap_or_default()).filter(|name| !name.is_empty())
    };
    let found = known.into_iter().filter(|name| products().any(|product| product.eq_ignore_ascii_case(name)));
    if let Some(name) = found.max_by_key(|name| name.len()) {
        return Some(text(name));
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

    /// Every pair of bytes after a letter.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn tokens_end_at_the_first_byte_outside_their_syntax() {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
        let mut tried = 0;
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            let value = [b'a', pair[0], pair[1]];
            let len = |is_inside: &dyn Fn(u8) -> bool| match pair.map(is_inside) {
                [false, _] => 1,
                [true, false] => 2,
                [true, true] => 3,
            };
            let expected = [len(&|byte| letters.contains(&byte)), len(&|byte| !b"/ \t\n\x0B\x0C\r".contains(&byte)), 3];
            assert_eq!(TokenSyntax::ALL.map(|syntax| syntax.token_of(&value).len()), expected, "{value:?}");
            tried += 1;
        }
        assert_eq!(tried, 65_536);
    }

    /// Returns the token of a user-agent line's value, byte by byte.
    fn read_slowly(value: &[u8], syntax: TokenSyntax) -> Vec<u8> {
        let is_space = |byte: &u8| b" \t\n\x0B\x0C\r".contains(byte);
        let line = value.split(|byte| b"#\r\n\0".contains(byte)).next().unwrap();
        let mut token = Vec::new();
        for byte in line.iter().skip_while(|byte| is_space(byte)) {
            match syntax {
                TokenSyntax::Letters if !(byte.is_ascii_alphabetic() || b"-_".contains(byte)) => break,
                TokenSyntax::BeforeVersion if *byte == b'/' || is_space(byte) => break,
                _ => token.push(*byte),
            }
        }
        while token.last().is_some_and(is_space) {
            token.pop();
        }
        token
    }

    /// Every name of up to two bytes, in every syntax: a name is a token exactly if a line with it has this token.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn tokens_are_the_names_that_lines_can_have() {
        let pairs = (0..=u16::MAX).map(|pair| pair.to_be_bytes().to_vec());
        let names = pairs.chain((0..=u8::MAX).map(|byte| vec![byte])).chain([Vec::new()]);
        let (mut tried, mut accepted) = (0, 0);
        for (name, syntax) in names.flat_map(|name| TokenSyntax::ALL.map(|syntax| (name.clone(), syntax))) {
            // A slash after another byte begins a version, and the other bytes a header or a list.
            let is_special =
                name.iter().any(|byte| b"(,;|".contains(byte)) || name.iter().position(|&byte| byte == b'/') == Some(1);
            let is_default = match &name[..] {
                [b'*'] => true,
                [b'*', next] => syntax != TokenSyntax::WholeValue && b" \t\n\x0B\x0C\r".contains(next),
                _ => false,
            };
            let is_read = !name.is_empty() && read_slowly(&name, syntax) == name;
            let expected = is_read && !is_special && !is_default;
            let found = product_token(&name, syntax, false, []);
            assert_eq!(found.as_ref().ok(), expected.then_some(&&name[..]), "{syntax:?} {}", name.escape_ascii());
            (tried, accepted) = (tried + 1, accepted + usize::from(expected));
        }
        assert_eq!(tried, (65_536 + 256 + 1) * 3);
        assert!(accepted > 54 * 54 * 3, "{accepted}");
    }
}
