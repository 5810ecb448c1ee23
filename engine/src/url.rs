//! Splits a URL into the origin that a robots.txt governs and the path that its rules match.
//!
//! Works on borrowed bytes. It does not resolve dot segments, decode escapes, or change case inside the path, because
//! rules match the path as sent ([`crate::norm`] makes equivalent paths and patterns equal). Two entry points:
//! [`split`] for a URL whose origin matters, which rejects ambiguous origins, and [`path_at_any_origin`] for a URL or a
//! path that is matched against a given robots.txt. [`path_of`] is the reference implementation's reading of any text. The `origin` module has owned and borrowed origins, and `parts`
//! splits URLs into parts.

mod origin;
pub(crate) mod parts;

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;

use memchr::{memchr, memchr3};

pub use self::origin::{Origin, OriginOf, OwnedOrigin, RobotsUrlError, Scheme};
pub use self::parts::UrlParts;
use crate::host::MAX_HOST_BYTES;
use crate::norm::NormalForm;
use crate::platform::{UrlScan, as_chunks, scan_url};

/// Maximum length of a URL in bytes; a longer one is [`UrlError::TooLong`].
///
/// Bounds the work of a decision. Servers and browsers accept far less.
pub const MAX_URL_BYTES: usize = 64 * 1024;

/// A URL's origin and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlRef<'a> {
    /// The origin whose robots.txt decides.
    pub origin: Origin<'a>,
    /// Path, parameters and query, which the rules are matched against.
    pub path: Path<'a>,
}

/// The part of a URL that rules are matched against: path, parameters and query, without the fragment.
///
/// A path always reads as if it began with `/`. The borrowed bytes lack the slash if the URL does
/// (`http://host?query`), so read them through [`Path::with`].
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    bytes: &'a [u8],
    slash_missing: bool,
    /// Whether the bytes contain nothing that most normal forms change; see [`NormalForm::keeps_unescapable`]. May be
    /// false if this was not checked.
    is_unescapable: bool,
}

/// Compares the bytes, and ignores `is_unescapable`.
impl PartialEq for Path<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.bytes, self.slash_missing) == (other.bytes, other.slash_missing)
    }
}

impl Eq for Path<'_> {}

impl<'a> Path<'a> {
    /// Wraps the bytes of a whole path, which begins with a slash.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Path<'a> {
        Path { bytes, slash_missing: false, is_unescapable: false }
    }

    /// Wraps a path that begins with a slash. `is_unescapable` may be true only if [`NormalForm::keeps_unescapable`]
    /// applies to the bytes.
    #[inline]
    pub(crate) const fn ordinary(bytes: &'a [u8], is_unescapable: bool) -> Path<'a> {
        Path { bytes, slash_missing: false, is_unescapable }
    }

    /// Calls `look` with the path in a normal form. Copies the path only if its bytes must change.
    #[inline(always)]
    pub(crate) fn with_normal<R>(&self, form: NormalForm, look: impl FnOnce(&[u8]) -> R) -> R {
        let normal = match self.is_unescapable && form.keeps_unescapable() {
            true => Cow::Borrowed(self.bytes),
            false => self.normal(form),
        };
        // The only call, so that it is inlined.
        look(&normal)
    }

    /// Returns the path in a normal form.
    fn normal(&self, form: NormalForm) -> Cow<'a, [u8]> {
        if self.slash_missing {
            return Cow::Owned(form.path(&self.to_vec()).into_owned());
        }
        form.path(self.bytes)
    }

    /// Calls `look` with the path's bytes.
    ///
    /// Copies them only in the rare case that the slash is missing.
    #[inline]
    pub fn with<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        if self.slash_missing { look(&self.to_vec()) } else { look(self.bytes) }
    }

    /// Copies the path's bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let slash: &[u8] = if self.slash_missing { b"/" } else { b"" };
        [slash, self.bytes].concat()
    }
}

/// Why a text is not a URL that a robots.txt can govern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlError {
    /// The text is empty.
    Empty,
    /// The text is longer than [`MAX_URL_BYTES`].
    TooLong,
    /// A NUL, line break or tab follows the authority. No valid URL has one, and it would break a line or column of
    /// output.
    Control,
    /// The text does not begin with `scheme://`.
    NoScheme,
    /// The scheme is not http, https or ftp.
    OtherScheme,
    /// Clients and the reference implementation read different origins, because a backslash, a `;` or a control
    /// character comes before the path.
    Ambiguous,
    /// The user information has a byte that must be escaped there, or is followed by a second `@`.
    UserInfo,
    /// The host is empty, longer than [`MAX_HOST_BYTES`], or has a byte, escaped or not, that is invalid in a host
    /// name.
    Host,
    /// The decoded host is not UTF-8. Other encodings, such as Latin-1, would give its bytes other names.
    HostNotUtf8,
    /// The port is not a number from 0 to 65535.
    Port,
    /// A path, query or fragment is present where only an origin is expected.
    Path,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UrlError::Empty => "empty line",
            UrlError::TooLong => return write!(f, "longer than {MAX_URL_BYTES} bytes"),
            UrlError::Control => "contains a NUL, tab or line break",
            UrlError::NoScheme => "does not begin with scheme://",
            UrlError::OtherScheme => "its scheme is not http, https or ftp",
            UrlError::Ambiguous => {
                "its origin is ambiguous: a backslash, semicolon or control character before the path"
            }
            UrlError::UserInfo => "its user information has a second @ or a character that must be escaped",
            UrlError::Host => "no valid host after ://",
            UrlError::HostNotUtf8 => "its host is not UTF-8",
            UrlError::Port => "port is not a number from 0 to 65535",
            UrlError::Path => "an origin has no path, query or fragment",
        })
    }
}

impl std::error::Error for UrlError {}

/// Splits a URL into origin and path.
///
/// One pass over the bytes, no allocation.
///
/// An ordinary URL has a path and a host name of lower-case letters, digits, `-` and `.`. It is classified with vector
/// instructions where the processor has them.
///
/// The path agrees with [`path_of`] on every URL that this function accepts.
///
/// # Ambiguous origins
/// If a URL could be fetched from one host and decided by another host's rules, the author of the URL could choose the
/// rules. The authority is the text from `://` to the first `/`, `?`, `#` or the end. It must therefore be valid by RFC
/// 3986 section 3.2 (except for non-ASCII names), and have the same origin by the WHATWG URL standard. These URLs are
/// invalid:
///
/// | URL | Why it is invalid | Error |
/// |---|---|---|
/// | `http://a\@b/`, `http://a\b/` | browsers connect to `a`, since `\` ends the authority; other clients to `b`, or nowhere | [`UrlError::Ambiguous`] |
/// | `http://a;@b/`, `http://a;b/` | clients connect to `b` and `a;b`; Google's library begins the path at `;` | [`UrlError::Ambiguous`] |
/// | tab, line break or other control before the path | browsers remove tabs and line breaks; RFC 3986 allows no control characters | [`UrlError::Ambiguous`] |
/// | `http://a%2Fb/`, and `%40`, `%3A`, `%5B`, `%20` ... | a name in RFC 3986, an error in browsers, `a` to a client that decodes first | [`UrlError::Host`] |
/// | `http://a@b@c/`, `http://[a]@b/`, `http://a b@c/`, `http://a%@b/` | browsers split at the last `@`; RFC 3986 allows only one, and requires these bytes to be escaped | [`UrlError::UserInfo`] |
/// | a host that is not UTF-8, escaped or not: `http://b%FCcher/` | an error in browsers; other clients guess an encoding | [`UrlError::HostNotUtf8`] |
/// | `http:///a` | browsers connect to `a`; in RFC 3986 the host is empty | [`UrlError::Host`] |
/// | `http:/a`, `http:a`, `http:\\a`, a space or control before `http` | browsers repair these and connect to `a`; RFC 3986 has no host there | [`UrlError::NoScheme`] |
///
/// An accepted host may still be invalid, such as `1.2.3.256`; see [`crate::host::canonical`]. No set contains such an
/// origin.
///
/// # Errors
/// Returns an error if the text is not an absolute http, https or ftp URL with one unambiguous host.
///
/// # Example
/// ```
/// use reptile_engine::url::{split, Scheme, UrlError};
/// let url = split(b"https://user@Example.com:8443/a?b#c")?;
/// assert_eq!((url.origin.scheme, url.origin.host, url.origin.port), (Scheme::Https, &b"Example.com"[..], 8443));
/// assert_eq!(url.path.to_vec(), b"/a?b");
/// assert_eq!(split(br"http://strict.example\@lax.example/private"), Err(UrlError::Ambiguous));
/// # Ok::<(), reptile_engine::url::UrlError>(())
/// ```
#[inline]
pub fn split(url: &[u8]) -> Result<UrlRef<'_>, UrlError> {
    match split_ordinary(url) {
        Some(url) => Ok(url),
        None => split_any(url),
    }
}

/// Implements [`split`] for an ordinary URL, whose host is plain by [`crate::host::is_plain`]. Returns `None` for any
/// other URL, or if [`scan_url`] does.
#[inline(always)]
pub(crate) fn split_ordinary(url: &[u8]) -> Option<UrlRef<'_>> {
    const HTTP: u64 = u64::from_le_bytes(*b"\0http://");
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    let start = u64::from_le_bytes(*url.first_chunk()?);
    let UrlScan { name, has_special, has_escapable } = scan_url(url)?;
    let is_https = start == HTTPS;
    let scheme = if is_https { Scheme::Https } else { Scheme::Http };
    let host_start = 7 + usize::from(is_https);
    // The last classified byte ends the name if no earlier byte does.
    let host_len = ((!name | 1 << 63) >> host_start).trailing_zeros() as usize;
    // Unknown schemes and special bytes are rare, so a single branch handles both.
    let is_known = is_https | (start << 8 == HTTP);
    if !is_known | has_special | (url.len() > MAX_URL_BYTES) {
        return None;
    }
    let (host, path) = url.get(host_start..)?.split_at_checked(host_len)?;
    // The name may continue after the classified bytes, or be followed by something other than a path.
    if path.first() != Some(&b'/') || host.first()?.is_ascii_digit() || host.last() == Some(&b'.') {
        return None;
    }
    let path = Path { bytes: path, slash_missing: false, is_unescapable: !has_escapable };
    Some(UrlRef { origin: Origin { scheme, host, port: scheme.default_port() }, path })
}

pub(crate) fn split_any(url: &[u8]) -> Result<UrlRef<'_>, UrlError> {
    if url.len() > MAX_URL_BYTES {
        return Err(UrlError::TooLong);
    }
    let (scheme, authority_start) = match url {
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => (Scheme::Http, 7),
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => (Scheme::Https, 8),
        _ => scheme_of(url)?,
    };
    let rest = &url[authority_start..];
    let (authority_len, kinds) = authority_len(rest);
    let (authority, tail) = rest.split_at(authority_len);
    let origin = if kinds == 0 && (1..=MAX_HOST_BYTES).contains(&authority.len()) {
        Origin { scheme, host: authority, port: scheme.default_port() }
    } else {
        origin_of_kinds(scheme, authority, kinds)?
    };
    let path = if has_special(tail) { path_with_special(tail)? } else { path_of_tail(tail) };
    Ok(UrlRef { origin, path })
}

/// Kind of bytes that end the authority.
const END: u8 = 1;
/// Kind of non-ASCII bytes.
const BEYOND_ASCII: u8 = 2;
/// Kind of bytes that make the origin ambiguous anywhere in the authority.
const AMBIGUOUS: u8 = 4;
/// Kind of bytes that RFC 3986 section 3.2 forbids in an authority.
const FORBIDDEN: u8 = 8;
/// Kind of the byte that ends the user information.
const AT: u8 = 16;
/// Kind of the byte before a port, or in a password or an IPv6 address.
const COLON: u8 = 32;
/// Kind of the bytes around an IPv6 address.
const BRACKET: u8 = 64;
/// Kind of the byte that begins an escape.
const PERCENT: u8 = 128;

/// Kind of each byte in an authority. Zero for ASCII bytes that names may contain.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'/' | b'?' | b'#' => END,
            0x80.. => BEYOND_ASCII,
            b'\\' | b';' | 0x7F | 0..b' ' => AMBIGUOUS,
            b' ' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}' => FORBIDDEN,
            b'@' => AT,
            b':' => COLON,
            b'[' | b']' => BRACKET,
            b'%' => PERCENT,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// Returns whether a byte may occur in a host name without an escape.
const fn is_name_byte(byte: u8) -> bool {
    KINDS[byte as usize] & !BEYOND_ASCII == 0
}

/// Returns the length of the authority at the start of a text, and its byte kinds. Most authorities are so short that
/// setting up a vector search would take longer than this simple pass.
#[inline(always)]
fn authority_len(text: &[u8]) -> (usize, u8) {
    let mut kinds = 0;
    for (at, &byte) in text.iter().enumerate() {
        let kind = KINDS[usize::from(byte)];
        if kind & END != 0 {
            return (at, kinds);
        }
        kinds |= kind;
    }
    (text.len(), kinds)
}

/// Returns whether a byte is invalid in a URL and would break a line or column of output.
const fn is_control(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | b'\r')
}

/// Returns whether a URL has a control byte or a `#` after its authority. Examines every byte, in blocks that compile
/// to vector instructions. The last block overlaps the one before it: reading the remaining bytes one by one would cost
/// more than all the blocks (6 ns of 65 per URL, including the search for `#`).
#[inline]
fn has_special(text: &[u8]) -> bool {
    let any = |bytes: &[u8]| bytes.iter().fold(false, |found, &byte| found | is_control(byte) | (byte == b'#'));
    let any_of_block = |block: &[u8; 16]| any(block);
    let (blocks, rest) = as_chunks(text);
    let found = blocks.iter().fold(false, |found, block| found | any_of_block(block));
    found | text.last_chunk().map_or_else(|| any(rest), any_of_block)
}

/// Returns the path of a text in which [`has_special`] found a byte, or an error if it was a control byte.
#[cold]
fn path_with_special(tail: &[u8]) -> Result<Path<'_>, UrlError> {
    if tail.iter().any(|&byte| is_control(byte)) {
        return Err(UrlError::Control);
    }
    Ok(path_from(tail))
}

/// Returns the scheme and the authority's offset, for spellings that [`split_any`] does not match directly.
fn scheme_of(url: &[u8]) -> Result<(Scheme, usize), UrlError> {
    if url.is_empty() {
        return Err(UrlError::Empty);
    }
    let name_len = url.iter().position(|&byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)));
    let name_len = name_len.filter(|&len| len > 0 && url[len..].starts_with(b"://")).ok_or(UrlError::NoScheme)?;
    let scheme = Scheme::from_name(&url[..name_len]).ok_or(UrlError::OtherScheme)?;
    Ok((scheme, name_len + 3))
}

/// Parses `[user@]host[:port]`.
///
/// [`split`] lists the rejected spellings. Linear; no allocation.
///
/// # Errors
/// Returns [`UrlError::Ambiguous`], [`UrlError::UserInfo`], [`UrlError::Host`], [`UrlError::HostNotUtf8`] or
/// [`UrlError::Port`] if that part is invalid.
#[inline]
pub fn origin_of(scheme: Scheme, authority: &[u8]) -> Result<Origin<'_>, UrlError> {
    origin_of_kinds(scheme, authority, authority.iter().fold(0, |kinds, &byte| kinds | KINDS[usize::from(byte)]))
}

/// Implements [`origin_of`] for an authority whose byte kinds are known.
#[inline]
fn origin_of_kinds(scheme: Scheme, authority: &[u8], kinds: u8) -> Result<Origin<'_>, UrlError> {
    if kinds & AMBIGUOUS != 0 {
        return Err(UrlError::Ambiguous);
    }
    let authority = if kinds & AT == 0 { authority } else { without_user(authority)? };
    let host_len = if authority.first() == Some(&b'[') {
        memchr(b']', authority).ok_or(UrlError::Host)? + 1
    } else {
        memchr(b':', authority).unwrap_or(authority.len())
    };
    let (host, port) = authority.split_at(host_len);
    // Without these kinds, the host consists of name bytes.
    let is_checked = kinds & (END | FORBIDDEN | BRACKET | PERCENT) == 0;
    if host.is_empty() || host.len() > MAX_HOST_BYTES || !(is_checked || is_host(host)) {
        return Err(UrlError::Host);
    }
    if kinds & (BEYOND_ASCII | PERCENT) != 0 && !crate::host::is_utf8(host) {
        return Err(UrlError::HostNotUtf8);
    }
    let port = match port {
        [] | [b':'] => scheme.default_port(),
        [b':', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(UrlError::Port)?
        }
        _ => return Err(UrlError::Port),
    };
    Ok(Origin { scheme, host, port })
}

/// Returns the authority without its user information, which must be valid by RFC 3986 section 3.2.1.
fn without_user(authority: &[u8]) -> Result<&[u8], UrlError> {
    let Some(end) = memchr(b'@', authority) else { return Ok(authority) };
    let (user, host_and_port) = (&authority[..end], &authority[end + 1..]);
    let is_user_byte = |&byte: &u8| matches!(byte, b':' | b'%') || (byte.is_ascii() && is_name_byte(byte));
    let is_user = user.iter().all(is_user_byte) && escapes(user).all(|byte| byte.is_some());
    if is_user && !host_and_port.contains(&b'@') { Ok(host_and_port) } else { Err(UrlError::UserInfo) }
}

/// Returns whether a host is an IPv6 address in brackets, or consists of name bytes, escaped or not.
fn is_host(host: &[u8]) -> bool {
    if let [b'[', address @ .., b']'] = host {
        return std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    host.iter().all(|&byte| byte == b'%' || is_name_byte(byte))
        && escapes(host).all(|byte| byte.is_some_and(is_name_byte))
}

/// Decodes a text's escapes. Yields `None` for a `%` that does not begin an escape.
fn escapes(text: &[u8]) -> impl Iterator<Item = Option<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    text.split(|&byte| byte == b'%').skip(1).map(move |part| match part {
        [high, low, ..] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    })
}

/// Returns the path of a URL, given the text after its authority.
#[inline]
fn path_from(tail: &[u8]) -> Path<'_> {
    path_of_tail(match memchr(b'#', tail) {
        Some(fragment) => &tail[..fragment],
        None => tail,
    })
}

/// Implements [`path_from`] for text without a fragment.
#[inline]
fn path_of_tail(tail: &[u8]) -> Path<'_> {
    match tail.first() {
        None => Path::new(b"/"),
        Some(b'/') => Path::new(tail),
        Some(_) => Path { slash_missing: true, ..Path::new(tail) },
    }
}

/// Returns the path of a URL, or of a path alone, to match it against a given robots.txt, whatever its origin.
///
/// A text that begins with `/` is a path, with or without a query. It is decided like a URL that has `http://host` before
/// the text, so `//a/b` is the path `//a/b`, as on a request line, and `a` is not a host. Any other text must be a URL by
/// [`split`]. Nothing is guessed: `private/notes` has no path. Linear in the text; no allocation.
///
/// ```
/// use reptile_engine::url::{path_at_any_origin, UrlError};
/// for (text, path) in [("/a?b#c", "/a?b"), ("//a/b", "//a/b"), ("https://example.com", "/")] {
///     assert_eq!(path_at_any_origin(text.as_bytes())?.to_vec(), path.as_bytes());
/// }
/// for text in ["private/notes", "http:/x", "?q", " /x", "mailto:a@b"] {
///     assert_eq!(path_at_any_origin(text.as_bytes()), Err(UrlError::NoScheme), "{text}");
/// }
/// # Ok::<(), UrlError>(())
/// ```
///
/// # Errors
/// Returns the errors of [`split`] for a text that does not begin with `/`, [`UrlError::TooLong`] for a path over
/// [`MAX_URL_BYTES`], and [`UrlError::Control`] for a path with a NUL, tab or line break.
#[inline]
pub fn path_at_any_origin(text: &[u8]) -> Result<Path<'_>, UrlError> {
    match text {
        [b'/', ..] if text.len() > MAX_URL_BYTES => Err(UrlError::TooLong),
        [b'/', ..] => parts::ordinary_path(text).map_or_else(|| path_with_special(text), Ok),
        _ => split(text).map(|url| url.path),
    }
}

/// Returns the path, parameters and query of any text, exactly like the reference implementation.
///
/// Scheme and host may be missing, a fragment is dropped, and a NUL byte ends the path.
///
/// Never fails. URLs that [`split`] rejects have a path too: the path of `http://a;@b/` is `/;@b/`. This reading is for
/// comparison with the reference; [`path_at_any_origin`] refuses text that is neither a URL nor a path.
///
/// Source: google/robotstxt, `GetPathParamsQuery`. Linear in the text.
///
/// ```
/// use reptile_engine::url::path_of;
/// for (url, path) in [("", "/"), ("a/b", "/b"), ("http://e.com;p", "/;p"), ("//a/b/c", "/b/c"),
///                     ("x://y://z/w", "//z/w"), ("http://e.com#/x", "/"), ("?q", "/?q")] {
///     assert_eq!(path_of(url.as_bytes()).to_vec(), path.as_bytes());
/// }
/// ```
#[inline]
#[must_use]
pub fn path_of(url: &[u8]) -> Path<'_> {
    let ordinary = match url {
        // The text after two slashes may begin with a host.
        [b'/', b'/', ..] => None,
        [b'/', ..] => parts::ordinary_path(url),
        [b'h', ..] => split_ordinary(url).map(|url| url.path),
        _ => None,
    };
    ordinary.unwrap_or_else(|| path_of_any(url))
}

/// Implements [`path_of`] for any text.
fn path_of_any(url: &[u8]) -> Path<'_> {
    let start = if url.starts_with(b"//") { 2 } else { 0 };
    let find = |from: usize| memchr3(b'/', b'?', b';', &url[from..]).map(|at| from + at);
    let first = find(start);
    // The first `://` ends a scheme unless one of these bytes comes before it. Then it belongs to the path.
    let is_in_scheme = |&at: &usize| at > start && url[at - 1..].starts_with(b"://");
    let path_start = match first.filter(is_in_scheme) {
        Some(slash) => find(slash + 2),
        None => first,
    };
    let Some(path_start) = path_start else { return Path::new(b"/") };
    // A fragment that begins inside the authority leaves no path, so the search for it begins at the start.
    let path = match memchr(b'#', &url[start..]).map(|at| start + at) {
        Some(fragment) if fragment < path_start => return Path::new(b"/"),
        _ => path_from(&url[path_start..]),
    };
    // Done last, because a NUL before the path does not end it.
    match memchr(0, path.bytes) {
        Some(end) => Path { bytes: &path.bytes[..end], ..path },
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_match_the_reference_examples() {
        let table = [
            ("", "/"),
            ("http://www.example.com", "/"),
            ("http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"),
            ("http://www.example.com/a/b?c=d&e=f#fragment", "/a/b?c=d&e=f"),
            ("example.com/a", "/a"),
            ("example.com?a", "/?a"),
            ("example.com/a;b#c", "/a;b"),
            ("a", "/"),
            ("a/b", "/b"),
            ("?q", "/?q"),
            ("http://e.com;p", "/;p"),
            ("http://e.com#/x", "/"),
            ("http://e.com/#x", "/"),
            ("//a/b/c", "/b/c"),
            ("///a", "/a"),
            ("x://y://z/w", "//z/w"),
            ("http:/x", "/x"),
            ("mailto:a@b", "/"),
            ("http://e.com?u=/x", "/?u=/x"),
            ("http://e.com/a\0b", "/a"),
            ("http://e.com\0/a", "/a"),
        ];
        for (url, path) in table {
            assert_eq!(path_of(url.as_bytes()).to_vec(), path.as_bytes(), "{url:?}");
        }
    }

    /// Texts about one robots.txt, with the path that is decided, or the error.
    #[test]
    fn a_text_without_an_origin_is_a_url_or_a_path() {
        let long = |len: usize| format!("/{}", "a".repeat(len - 1));
        let (most, over) = (long(MAX_URL_BYTES), long(MAX_URL_BYTES + 1));
        let table: [(&str, Result<&str, UrlError>); 34] = [
            ("/", Ok("/")),
            ("/a;b?c", Ok("/a;b?c")),
            ("/a#b", Ok("/a")),
            ("/#", Ok("/")),
            ("/a b\\c", Ok("/a b\\c")),
            ("//a/b", Ok("//a/b")),
            ("//", Ok("//")),
            ("///a", Ok("///a")),
            ("/http://a/b", Ok("/http://a/b")),
            ("http://e.example", Ok("/")),
            ("http://e.example?u=/x", Ok("/?u=/x")),
            ("HTTPS://u:p@[::1]:8080//a#b", Ok("//a")),
            ("ftp://e.example/a", Ok("/a")),
            (&most, Ok(&most)),
            (&over, Err(UrlError::TooLong)),
            ("/a\0b", Err(UrlError::Control)),
            ("/a\tb", Err(UrlError::Control)),
            ("/a\n", Err(UrlError::Control)),
            ("/a\rb#c", Err(UrlError::Control)),
            ("", Err(UrlError::Empty)),
            ("a", Err(UrlError::NoScheme)),
            ("not a url", Err(UrlError::NoScheme)),
            ("private/notes", Err(UrlError::NoScheme)),
            ("e.example/a", Err(UrlError::NoScheme)),
            ("?q", Err(UrlError::NoScheme)),
            ("#", Err(UrlError::NoScheme)),
            (" /x", Err(UrlError::NoScheme)),
            (" http://e.example/a", Err(UrlError::NoScheme)),
            ("http:/x", Err(UrlError::NoScheme)),
            ("mailto:a@b", Err(UrlError::NoScheme)),
            ("gopher://e.example/a", Err(UrlError::OtherScheme)),
            ("https://", Err(UrlError::Host)),
            ("http:///a", Err(UrlError::Host)),
            ("http://e.example;p", Err(UrlError::Ambiguous)),
        ];
        for (text, expected) in table {
            let path = path_at_any_origin(text.as_bytes()).map(|path| path.to_vec());
            assert_eq!(path, expected.map(|path| path.as_bytes().to_vec()), "{text:.40?}");
            let in_url = format!("http://e.example{text}");
            if text.starts_with('/') && in_url.len() <= MAX_URL_BYTES {
                assert_eq!(split(in_url.as_bytes()).map(|url| url.path.to_vec()), path, "{text:?}");
            }
        }
    }

    #[test]
    fn split_returns_scheme_host_and_port() {
        let table = [
            ("http://a", "http a 80"),
            ("HTTPS://A.b:1", "https A.b 1"),
            ("ftp://u:p@h:/", "ftp h 21"),
            ("http://[::1]:8080/x", "http [::1] 8080"),
            ("http://@a/", "http a 80"),
            ("http://:@a?b@c", "http a 80"),
            ("http://u%40v:p:q@a:00081/", "http a 81"),
            ("http://a%2Eb/", "http a%2Eb 80"),
            ("http://b\u{fc}r:0", "http b\u{fc}r 0"),
        ];
        for (url, origin) in table {
            let split = split(url.as_bytes()).unwrap().origin;
            let host = std::str::from_utf8(split.host).unwrap();
            assert_eq!(format!("{} {host} {}", split.scheme.as_str(), split.port), origin);
        }
    }

    #[test]
    fn origins_round_trip_through_their_display_form() {
        for (url, expected) in [
            ("http://A.b", Ok("http://a.b")),
            ("https://a.b:443/", Ok("https://a.b")),
            ("HTTP://u@a.b.:443", Ok("http://a.b:443")),
            ("ftp://[0::1]:80", Ok("ftp://[::1]:80")),
            ("http://a/b", Err(UrlError::Path)),
            ("http://a?", Err(UrlError::Path)),
            ("http://a#", Err(UrlError::Path)),
            ("a", Err(UrlError::NoScheme)),
            ("http://1.2.3.4.5", Err(UrlError::Host)),
        ] {
            let origin = url.parse::<OwnedOrigin>();
            assert_eq!(origin.clone().map(|origin| origin.to_string()), expected.map(str::to_owned), "{url}");
            if let Ok(origin) = origin {
                assert_eq!(origin.to_string().parse(), Ok(origin.clone()));
                assert_eq!(origin.borrowed().to_string(), origin.to_string());
            }
        }
        for scheme in Scheme::ALL {
            assert_eq!(scheme.to_string().parse(), Ok(scheme));
        }
    }

    #[test]
    fn invalid_urls_have_specific_errors() {
        let table: [(&[u8], UrlError); 43] = [
            (b"", UrlError::Empty),
            (b"example.com/a", UrlError::NoScheme),
            (b"/a", UrlError::NoScheme),
            (b"//h/a", UrlError::NoScheme),
            (b"://h/a", UrlError::NoScheme),
            (b"mailto:a@b", UrlError::NoScheme),
            (b"gopher://h/", UrlError::OtherScheme),
            (b"http://", UrlError::Host),
            (b"http:///a", UrlError::Host),
            (b"http://a b/", UrlError::Host),
            (b"http://[::1/", UrlError::Host),
            (b"http://h:65536/", UrlError::Port),
            (b"http://h:8a/", UrlError::Port),
            (b"http://h:+8/", UrlError::Port),
            (b"http://[::1]8/", UrlError::Port),
            (b"http://[::1%25eth0]/", UrlError::Host),
            (b"http://[%3A:1]/", UrlError::Host),
            (b"http://a[b/", UrlError::Host),
            (b"http://a|b/", UrlError::Host),
            (b"http://a%2/", UrlError::Host),
            (b"http://a@/", UrlError::Host),
            (b"http://a\\@b/", UrlError::Ambiguous),
            (b"http://a;@b/", UrlError::Ambiguous),
            (b"http://a;b/", UrlError::Ambiguous),
            (b"http://a\tb@c/", UrlError::Ambiguous),
            (b"http://a:8\n0/", UrlError::Ambiguous),
            (b"http://a%2Fb/", UrlError::Host),
            (b"http://%5B%3A%3A1%5D/", UrlError::Host),
            (b"http://a@b@c/", UrlError::UserInfo),
            (b"http://a b@c/", UrlError::UserInfo),
            (b"http://a%4@c/", UrlError::UserInfo),
            (b"http://[a]@c/", UrlError::UserInfo),
            ("http://\u{fc}@c/".as_bytes(), UrlError::UserInfo),
            (b"http://h/a\0b", UrlError::Control),
            // Latin-1, a truncated character, a surrogate, an overlong encoding.
            (b"http://b\xFCcher.example/", UrlError::HostNotUtf8),
            (b"https://B\xFCcher.example:8080/a", UrlError::HostNotUtf8),
            (b"http://u@b\xFCcher/", UrlError::HostNotUtf8),
            (b"http://b%FCcher/", UrlError::HostNotUtf8),
            (b"http://b%C3/", UrlError::HostNotUtf8),
            (b"http://b%C3\xFC/", UrlError::HostNotUtf8),
            (b"http://b\xED\xA0\x80/", UrlError::HostNotUtf8),
            (b"http://b\xC0\xAE/", UrlError::HostNotUtf8),
            (b"http://\xE9", UrlError::HostNotUtf8),
        ];
        for (url, error) in table {
            assert_eq!(split(url), Err(error), "{:?}", url.escape_ascii().to_string());
        }
    }

    #[test]
    fn utf8_hosts_and_paths_with_arbitrary_bytes_are_valid() {
        for url in [
            "http://b\u{fc}cher.example/".as_bytes(),
            b"http://b%C3%BCcher.example/",
            // One character, partly escaped.
            b"http://b%C3\xBCcher.example/",
            b"http://h/\xFC?\xE9#\xFF",
        ] {
            assert!(split(url).is_ok(), "{}", url.escape_ascii());
        }
    }

    #[test]
    fn urls_and_hosts_may_be_exactly_as_long_as_the_limit() {
        for (len, fits) in [(MAX_URL_BYTES - 1, true), (MAX_URL_BYTES, true), (MAX_URL_BYTES + 1, false)] {
            for (start, end) in [("http://h/", ""), ("HTTP://h/", ""), ("http://h/", "#"), ("gopher://h/", "")] {
                let url = format!("{start}{}{end}", "a".repeat(len - start.len() - end.len()));
                let error = split(url.as_bytes()).err();
                assert_eq!(error == Some(UrlError::TooLong), !fits, "{start} {len}");
            }
        }
        for (len, fits) in [(MAX_HOST_BYTES - 1, true), (MAX_HOST_BYTES, true), (MAX_HOST_BYTES + 1, false)] {
            let host = vec![b'H'; len];
            assert_eq!(origin_of(Scheme::Http, &host).is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn special_bytes_are_found_at_every_position() {
        for byte in 0..=u8::MAX {
            assert_eq!(has_special(&[byte]), b"\0\t\n\r#".contains(&byte), "{byte}");
        }
        for len in 0..70 {
            let mut text = vec![b'a'; len];
            assert!(!has_special(&text), "{len}");
            for (at, byte) in (0..len).flat_map(|at| [(at, 0), (at, b'\t'), (at, b'\n'), (at, b'\r'), (at, b'#')]) {
                text[at] = byte;
                assert!(has_special(&text), "{byte} at {at} of {len}");
                text[at] = b'a';
            }
        }
    }

    #[test]
    fn two_special_bytes_are_found_at_every_position() {
        for (first, second) in (0..70).flat_map(|first| (first + 1..70).map(move |second| (first, second))) {
            let mut text = [b'a'; 100];
            (text[first], text[second]) = (b'#', b'#');
            assert!(has_special(&text), "{first}, {second}");
            text[second] = b'\n';
            assert!(has_special(&text), "{first}, {second}");
        }
    }

    #[test]
    fn an_authority_alone_has_the_same_origin_as_in_a_url() {
        for authority in [
            "a",
            "a:81",
            "u@a",
            "u:p@a:81",
            "[::1]:81",
            "a;b",
            "a;b;c",
            "u@a@b",
            "u@@a",
            "a b",
            "a b c",
            "a%2Eb%2Ec",
            "a%2",
            "[a]@b",
            "b\u{fc}r",
            "b\u{fc}r%C3%BC",
            "",
            "a:",
            "a:b",
            "a:8:1",
            "a|b|c",
            "[[",
            "a\tb\tc",
        ] {
            let url = format!("http://{authority}/");
            let origin = split(url.as_bytes()).map(|url| url.origin);
            assert_eq!(origin_of(Scheme::Http, authority.as_bytes()), origin, "{authority}");
        }
        for no_authority in ["a/b", "a?b?c", "a#", "a/ [%41"] {
            assert_eq!(origin_of(Scheme::Http, no_authority.as_bytes()), Err(UrlError::Host), "{no_authority}");
        }
    }

    #[test]
    fn only_the_url_of_a_robots_txt_has_an_origin_that_it_governs() {
        for (url, origin) in [
            ("https://u@WWW.a.example:443/robots.txt", Ok("https://www.a.example")),
            ("ftp://a:80/robots.txt#x", Ok("ftp://a:80")),
            ("http://a/./robots.txt", Ok("http://a")),
            ("http://a/robots%2Etxt", Ok("http://a")),
            ("http://a/%72obots.t%78t#x", Ok("http://a")),
            ("http://a/x/%2e%2E/%2e/../robots.txt", Ok("http://a")),
            ("http://a//../robots.txt", Ok("http://a")),
            ("http://a//robots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a/..//robots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a/x/./robots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a/%2Frobots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a/%52obots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a/robots%252Etxt", Err(RobotsUrlError::OtherPath)),
            ("http://a/robots.txt/.", Err(RobotsUrlError::OtherPath)),
            ("http://a/x?/../robots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a?/robots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a/robots.txt%3Fx", Err(RobotsUrlError::OtherPath)),
            ("http://a/robots%2Etxt?x", Err(RobotsUrlError::OtherPath)),
            ("http://a/robots.txt?x", Err(RobotsUrlError::OtherPath)),
            ("http://a/Robots.txt", Err(RobotsUrlError::OtherPath)),
            ("http://a/", Err(RobotsUrlError::OtherPath)),
            ("http://a", Err(RobotsUrlError::OtherPath)),
            ("/robots.txt", Err(RobotsUrlError::NoUrl(UrlError::NoScheme))),
            ("http://1.2.3.4.5/robots.txt", Err(RobotsUrlError::NoUrl(UrlError::Host))),
        ] {
            let found = OwnedOrigin::of_robots_url(url.as_bytes()).map(|origin| origin.to_string());
            assert_eq!(found, origin.map(String::from), "{url}");
        }
    }

    #[test]
    fn paths_are_equal_if_their_bytes_are() {
        let path = |url: &'static str| split(url.as_bytes()).unwrap().path;
        assert_eq!(path("http://a/x"), path("HTTPS://b/x"));
        assert_ne!(path("http://a/x"), path("http://a/y"));
        assert_ne!(Path::new(b"?x"), path("http://a?x"));
    }

    /// Generates mostly ordinary URLs, with a few bytes that are not.
    fn nearly_ordinary() -> impl Strategy<Value = Vec<u8>> {
        let byte = || {
            prop_oneof![
                60 => proptest::sample::select(b"abz019.-/".to_vec()),
                1 => any::<u8>(),
                1 => proptest::sample::select(b"#?%*$ \0\t:@;AZ\xE9".to_vec()),
            ]
        };
        let scheme =
            proptest::sample::select(vec!["http://", "https://", "https:/", "HTTP://", "ftp://", "xhttp://", ""]);
        let text = |max| proptest::collection::vec(byte(), 0..max);
        let slash = proptest::sample::select(vec!["/", "/", "/", ""]);
        (scheme, text(70), slash, text(200))
            .prop_map(|(scheme, host, slash, path)| [scheme.as_bytes(), &host, slash.as_bytes(), &path].concat())
    }

    /// Returns whether the fast path, if it applies, splits a URL as the general one does, and is right that the path
    /// is unescapable.
    fn is_split_as_any(url: &[u8]) -> bool {
        let Some(ordinary) = split_ordinary(url) else { return true };
        let keeps =
            |form: NormalForm| !form.keeps_unescapable() || ordinary.path.with(|path| *form.path(path) == *path);
        split_any(url) == Ok(ordinary)
            && path_of_any(url) == ordinary.path
            && crate::host::is_plain(ordinary.origin.host)
            && (!ordinary.path.is_unescapable || NormalForm::ALL.into_iter().all(keeps))
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn fast_and_general_splitting_agree() {
        for host_len in 0..80 {
            for path_len in 0..80 {
                let url = format!("https://{}/{}", "a".repeat(host_len), "b".repeat(path_len));
                assert!(is_split_as_any(url.as_bytes()), "{url}");
                assert!(is_split_as_any(&url.as_bytes()[..url.len() - path_len - 1]), "{url}");
                let url = format!("http://{}/{}/", "a".repeat(host_len), "b".repeat(path_len));
                assert!(is_split_as_any(url.as_bytes()), "{url}");
            }
        }
        for (at, byte) in (40..75).flat_map(|at| [b';', b'@', b'%', b'A'].map(|byte| (at, byte))) {
            let mut url = [b"http://", &[b'a'; 80][..], b"/b"].concat();
            url[at] = byte;
            assert!(split_ordinary(&url).is_none(), "{byte} at {at}");
        }
        // With vector instructions, ordinary URLs use the fast path.
        for url in ["http", "https"].map(|scheme| format!("{scheme}://www.example.com/products/lamp-17.html?page=2")) {
            assert_eq!(split_ordinary(url.as_bytes()).is_some(), scan_url(url.as_bytes()).is_some());
        }
        assert!(split_ordinary(b"http://www.example.com/products/lamp-17.html#page-2").is_none());
        for len in [MAX_URL_BYTES - 1, MAX_URL_BYTES, MAX_URL_BYTES + 1] {
            let mut url = b"http://h/".to_vec();
            url.resize(len, b'a');
            assert_eq!(split_ordinary(&url).is_some(), len <= MAX_URL_BYTES && scan_url(&url).is_some());
        }
    }

    /// Extracts the path step by step, in the reference implementation's order.
    fn path_by_steps(url: &[u8]) -> Vec<u8> {
        let position = |from: usize, wanted: &[u8]| {
            url[from..].windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
        };
        let first = |from: usize| (from..url.len()).find(|&at| matches!(url[at], b'/' | b'?' | b';'));
        let start = if url.starts_with(b"//") { 2 } else { 0 };
        let authority = match (position(start, b"://"), first(start)) {
            (Some(scheme_end), Some(early)) if early < scheme_end => start,
            (Some(scheme_end), _) => scheme_end + 3,
            (None, _) => start,
        };
        let fragment = position(start, b"#").unwrap_or(url.len());
        let Some(path_start) = first(authority).filter(|&at| at <= fragment) else { return b"/".to_vec() };
        let slash: &[u8] = if url[path_start] == b'/' { b"" } else { b"/" };
        let end = position(path_start, b"#").unwrap_or(url.len());
        let path = url[path_start..end].split(|&byte| byte == 0).next().unwrap_or_default();
        [slash, path].concat()
    }

    proptest! {
        #[test]
        fn paths_match_the_reference_steps(url in "(http|https|//|x|){1,2}[a/?;#:@.\0]{0,24}") {
            prop_assert_eq!(path_of(url.as_bytes()).to_vec(), path_by_steps(url.as_bytes()));
        }

        #[test]
        fn paths_of_nearly_ordinary_urls_match_the_reference_steps(url in nearly_ordinary()) {
            prop_assert_eq!(path_of(&url).to_vec(), path_by_steps(&url));
        }

        #[test]
        fn paths_without_origins_match_the_reference_steps(url in nearly_ordinary()) {
            let text = [b"/", &url[..]].concat();
            let path = path_of(&text);
            prop_assert_eq!(path.to_vec(), path_by_steps(&text));
            let keeps = |form: NormalForm| !form.keeps_unescapable() || path.with(|path| *form.path(path) == *path);
            prop_assert!(!path.is_unescapable || NormalForm::ALL.into_iter().all(keeps));
        }

        #[test]
        fn fast_and_general_splitting_agree_on_nearly_ordinary_urls(url in nearly_ordinary()) {
            prop_assert!(is_split_as_any(&url));
        }

        #[test]
        fn split_and_path_of_agree(url in "(http://|HTTPS://|)[a/?;#:@.\\[\\]\\\\%\u{e9}]{0,24}") {
            if let Ok(split) = split(url.as_bytes()) {
                prop_assert_eq!(split.path.to_vec(), path_of_any(url.as_bytes()).to_vec());
            }
        }
    }

    /// `;` is a `sub-delim`, but ends the authority in Google's library.
    #[test]
    fn unlisted_bytes_of_authorities_are_those_of_rfc_3986() {
        let lists: [(&[u8], u8); 6] =
            [(b"/?#", END), (b"\\;\x7F", AMBIGUOUS), (b"@", AT), (b":", COLON), (b"[]", BRACKET), (b"%", PERCENT)];
        for byte in 0..=u8::MAX {
            let listed = lists.iter().find(|(bytes, _)| bytes.contains(&byte)).map(|&(_, kind)| kind);
            let expected = listed.unwrap_or(match byte {
                0..32 => AMBIGUOUS,
                128.. => BEYOND_ASCII,
                _ if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,=".contains(&byte) => 0,
                _ => FORBIDDEN,
            });
            assert_eq!(KINDS[usize::from(byte)], expected, "{byte}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_escape_is_decoded_as_the_standard_library_does() {
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            let digits = std::str::from_utf8(&pair).ok().filter(|digits| !digits.starts_with('+'));
            let expected = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            // A second `%` begins another escape, which is incomplete.
            let count = pair.iter().filter(|&&byte| byte == b'%').count();
            let expected = std::iter::once(expected).chain(std::iter::repeat_n(None, count));
            assert!(escapes(&[b'%', pair[0], pair[1]]).eq(expected), "{pair:?}");
        }
    }
}
