//! URLs in parts, as stored in web-archive indexes, and fast checks that need no joined URL.

use super::error::MAX_URL_BYTES;
use super::origin::Scheme;
use super::path::{Path, has_special};
use crate::host::{self, MAX_HOST_BYTES};
use crate::platform::scan_url;

/// A URL split into parts by an index.
///
/// Represents the text that [`UrlParts::join`] writes, even if the parts are malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'u> {
    /// Text before `://`.
    pub scheme: &'u [u8],
    /// Text after `://`.
    pub host: &'u [u8],
    /// Text after the `:` that follows the host, if present.
    pub port: Option<&'u [u8]>,
    /// The path, which begins with a slash.
    pub path: &'u [u8],
    /// Text after the `?`, if present.
    pub query: Option<&'u [u8]>,
    /// The host's number in a table, such as a dictionary of hosts, which lets lookups be cached; see
    /// [`KnownHosts`](crate::set::KnownHosts). A wrong number costs time but never changes a verdict.
    pub host_number: Option<usize>,
}

impl<'u> UrlParts<'u> {
    /// Appends the joined URL to `text`.
    ///
    /// ```
    /// use reptile_engine::url::UrlParts;
    /// let (port, query) = (Some(&b"8080"[..]), None);
    /// let url = UrlParts { scheme: b"http", host: b"a.example", port, path: b"/a", query, host_number: None };
    /// let mut text = Vec::new();
    /// url.join(&mut text);
    /// assert_eq!(text, b"http://a.example:8080/a");
    /// ```
    pub fn join(&self, text: &mut Vec<u8>) {
        self.pieces().iter().for_each(|piece| text.extend_from_slice(piece));
    }

    /// Returns the pieces of the joined URL, in order.
    #[inline]
    fn pieces(&self) -> [&'u [u8]; 8] {
        let with = |lead: &'static [u8], part: Option<&'u [u8]>| part.map_or([&b""[..]; 2], |part| [lead, part]);
        let ([colon, port], [mark, query]) = (with(b":", self.port), with(b"?", self.query));
        [self.scheme, b"://", self.host, colon, port, self.path, mark, query]
    }

    /// Returns the length of the joined URL in bytes.
    #[inline]
    pub(crate) fn joined_len(&self) -> usize {
        self.path_start() + self.path.len() + self.query.map_or(0, |query| 1 + query.len())
    }

    /// Returns the offset of the path in the joined URL.
    #[inline]
    pub(crate) fn path_start(&self) -> usize {
        self.scheme.len() + b"://".len() + self.host.len() + self.port.map_or(0, |port| 1 + port.len())
    }

    /// Returns the scheme, or `None` if the scheme, port, length or first byte of the path is unusual.
    #[inline]
    pub(crate) fn ordinary_scheme(&self) -> Option<Scheme> {
        let scheme = match self.scheme {
            b"http" => Scheme::Http,
            b"https" => Scheme::Https,
            _ => return None,
        };
        let is_ordinary =
            self.port.is_none() & (self.joined_len() <= MAX_URL_BYTES) & (self.path.first() == Some(&b'/'));
        is_ordinary.then_some(scheme)
    }
}

/// A buffer that URLs are joined in, one after another.
pub(crate) struct JoinBuffer<'t>(pub(crate) &'t mut [u8]);

impl<'t> JoinBuffer<'t> {
    /// Joins a URL. The remaining buffer must be large enough.
    #[inline]
    pub(crate) fn join(&mut self, url: &UrlParts<'_>) -> &'t [u8] {
        let len = url.joined_len();
        debug_assert!(len <= self.0.len());
        let (text, after) = std::mem::take(&mut self.0).split_at_mut_checked(len).unwrap_or_default();
        self.0 = after;
        let mut rest = &mut *text;
        for piece in url.pieces() {
            if let Some((to, after)) = std::mem::take(&mut rest).split_at_mut_checked(piece.len()) {
                to.copy_from_slice(piece);
                rest = after;
            }
        }
        text
    }
}

/// Returns whether a host is plain by [`crate::host::is_plain`] and consists of lower-case letters, digits, `-` and
/// `.`. Between `://` and a slash, such text is always the URL's host.
pub(crate) fn is_ordinary_host(host: &[u8]) -> bool {
    let is_name = |&byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (1..=MAX_HOST_BYTES).contains(&host.len()) && host.iter().all(is_name) && host::is_plain(host)
}

/// Returns the path of a URL, given its text from the first slash on. `None` if the text contains a fragment, or a byte
/// that makes the URL invalid.
#[inline(always)]
pub(crate) fn ordinary_path(text: &[u8]) -> Option<Path<'_>> {
    match scan_url(text) {
        Some(scan) => Some(Path::ordinary(text, !scan.has_escapable)),
        None => (!has_special(text)).then_some(Path::ordinary(text, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: UrlParts<'_> =
        UrlParts { scheme: b"http", host: b"a.example", port: None, path: b"/b", query: None, host_number: None };

    /// URLs in parts, their joined texts, and the offsets of their paths.
    const JOINED: [(UrlParts<'_>, &str, usize); 6] = [
        (PLAIN, "http://a.example/b", 16),
        (UrlParts { scheme: b"https", query: Some(b"c=d"), ..PLAIN }, "https://a.example/b?c=d", 17),
        (UrlParts { port: Some(b"8080"), ..PLAIN }, "http://a.example:8080/b", 21),
        (UrlParts { port: Some(b"81"), query: Some(b"?"), ..PLAIN }, "http://a.example:81/b??", 19),
        (UrlParts { port: Some(b""), query: Some(b""), ..PLAIN }, "http://a.example:/b?", 17),
        (UrlParts { scheme: b"", host: b"", path: b"", ..PLAIN }, "://", 3),
    ];

    #[test]
    fn urls_are_joined_in_the_order_of_their_parts() {
        for (url, expected, path_start) in JOINED {
            let mut text = b"before ".to_vec();
            url.join(&mut text);
            assert_eq!(text, [b"before ", expected.as_bytes()].concat());
            assert_eq!((url.joined_len(), url.path_start()), (expected.len(), path_start), "{expected}");
        }
    }

    #[test]
    fn a_buffer_holds_urls_one_after_another() {
        let len: usize = JOINED.iter().map(|(url, ..)| url.joined_len()).sum();
        let mut text = vec![b'-'; len + 1];
        let mut buffer = JoinBuffer(&mut text);
        for (url, expected, _) in &JOINED {
            assert_eq!(buffer.join(url), expected.as_bytes());
        }
        assert_eq!(buffer.0, b"-");
        assert_eq!(text, [&JOINED.map(|(_, expected, _)| expected.as_bytes()).concat()[..], b"-"].concat());
    }

    #[test]
    fn unusual_schemes_ports_lengths_and_paths_are_not_ordinary() {
        let long = vec![b'/'; MAX_URL_BYTES];
        let with_path = |len: usize| UrlParts { path: &long[..len], ..PLAIN };
        let most = MAX_URL_BYTES - PLAIN.path_start();
        for (url, expected) in [
            (PLAIN, Some(Scheme::Http)),
            (UrlParts { scheme: b"https", query: Some(b""), ..PLAIN }, Some(Scheme::Https)),
            (UrlParts { scheme: b"HTTP", ..PLAIN }, None),
            (UrlParts { scheme: b"ftp", ..PLAIN }, None),
            (UrlParts { scheme: b"", ..PLAIN }, None),
            (UrlParts { port: Some(b"80"), ..PLAIN }, None),
            (UrlParts { port: Some(b""), ..PLAIN }, None),
            (UrlParts { path: b"", ..PLAIN }, None),
            (UrlParts { path: b"b/", ..PLAIN }, None),
            (UrlParts { port: Some(b"80"), path: b"b", ..PLAIN }, None),
            (with_path(most - 1), Some(Scheme::Http)),
            (with_path(most), Some(Scheme::Http)),
            (with_path(most + 1), None),
            (UrlParts { query: Some(b""), ..with_path(most) }, None),
            (UrlParts { port: Some(b"80"), ..with_path(most) }, None),
            (UrlParts { host: &long[..MAX_URL_BYTES], path: b"b", ..PLAIN }, None),
        ] {
            assert_eq!(url.ordinary_scheme(), expected, "{:?}, {} bytes", url.port, url.joined_len());
        }
    }

    #[test]
    fn ordinary_hosts_are_names_of_lower_case_letters_and_digits() {
        for (host, expected) in [
            ("a", true),
            ("www.a-b.example", true),
            ("a1", true),
            ("-", true),
            ("", false),
            ("1a", false),
            ("a.", false),
            ("A", false),
            ("a_b", false),
            ("a/b", false),
            ("a:80", false),
            ("[::1]", false),
            ("a%2Eb", false),
            ("b\u{fc}r", false),
        ] {
            assert_eq!(is_ordinary_host(host.as_bytes()), expected, "{host}");
        }
        for (len, fits) in [(MAX_HOST_BYTES - 1, true), (MAX_HOST_BYTES, true), (MAX_HOST_BYTES + 1, false)] {
            assert_eq!(is_ordinary_host(&vec![b'a'; len]), fits, "{len}");
        }
    }

    /// Short texts, and those that are long enough for vector instructions.
    #[test]
    fn ordinary_paths_have_no_special_byte() {
        for (len, byte) in [0, 100].into_iter().flat_map(|len| (0..=u8::MAX).map(move |byte| (len, byte))) {
            let text = [b"/", &vec![b'a'; len][..], &[byte], b"b"].concat();
            let path = ordinary_path(&text);
            assert_eq!(path.is_none(), b"\0\t\n\r#".contains(&byte), "{byte}");
            let Some(path) = path else { continue };
            assert_eq!(path, Path::new(&text));
            let is_escapable = !byte.is_ascii() || b" %*$".contains(&byte);
            assert_eq!(path.is_unescapable, !is_escapable && scan_url(&text).is_some(), "{byte}");
        }
    }
}
