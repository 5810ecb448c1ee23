//! Splits a URL into the origin that a robots.txt governs and the path that its rules match.
//!
//! Works on borrowed bytes. It does not resolve dot segments, decode escapes, or change case inside the path, because
//! rules match the path as sent ([`crate::norm`] makes equivalent paths and patterns equal). Two entry points:
//! [`split`] for a URL whose origin matters, which rejects ambiguous origins, and [`path_at_any_origin`] for a URL or a
//! path that is matched against a given robots.txt. [`path_of`] is the reference implementation's reading of any text.
//!
//! `authority` reads the text before a path, and `path` the rest. `origin` defines origins as values, and `canonical`
//! their canonical spelling. `parts` accepts URLs that an index has already split.

mod authority;
mod canonical;
mod error;
mod origin;
pub(crate) mod parts;
mod path;

use memchr::{memchr, memchr3};

pub use self::authority::origin_of;
use self::authority::{authority_len, origin_of_kinds};
pub use self::canonical::RobotsUrlError;
pub use self::error::{MAX_URL_BYTES, UrlError};
pub use self::origin::{Origin, OriginOf, OwnedOrigin, Scheme};
pub use self::parts::UrlParts;
pub use self::path::Path;
use self::path::{has_special, path_from, path_of_tail, path_with_special};
use crate::host::MAX_HOST_BYTES;
use crate::platform::{UrlScan, scan_url};

/// A URL's origin and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlRef<'a> {
    /// The origin whose robots.txt decides.
    pub origin: Origin<'a>,
    /// Path, parameters and query, which the rules are matched against.
    pub path: Path<'a>,
}

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
    let UrlScan { name, has_escapable } = scan_url(url)?;
    let is_https = start == HTTPS;
    let scheme = if is_https { Scheme::Https } else { Scheme::Http };
    let host_start = 7 + usize::from(is_https);
    // The last classified byte ends the name if no earlier byte does.
    let host_len = ((!name | 1 << 63) >> host_start).trailing_zeros() as usize;
    // Unknown schemes and long URLs are rare, so a single branch handles both.
    let is_known = is_https | (start << 8 == HTTP);
    if !is_known | (url.len() > MAX_URL_BYTES) {
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
// Inlined, like all code between a URL and its walk; see *Stores* in `compiler/AUTOMATON.md`.
#[inline(always)]
pub fn path_at_any_origin(text: &[u8]) -> Result<Path<'_>, UrlError> {
    let ordinary = match text {
        [b'/', ..] if text.len() > MAX_URL_BYTES => None,
        [b'/', ..] => parts::ordinary_path(text),
        _ => split_ordinary(text).map(|url| url.path),
    };
    ordinary.map_or_else(|| path_of_unusual(text), Ok)
}

/// Implements [`path_at_any_origin`] for any text.
#[inline(never)]
fn path_of_unusual(text: &[u8]) -> Result<Path<'_>, UrlError> {
    match text {
        [b'/', ..] if text.len() > MAX_URL_BYTES => Err(UrlError::TooLong),
        [b'/', ..] if has_special(text) => path_with_special(text),
        [b'/', ..] => Ok(Path::new(text)),
        _ => split_any(text).map(|url| url.path),
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
    use crate::norm::NormalForm;
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
}
