//! URLs in parts, as stored in web-archive indexes, and fast checks that need no joined URL.

use super::{MAX_URL_BYTES, Path, Scheme, has_special};
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
#[inline]
pub(crate) fn ordinary_path(text: &[u8]) -> Option<Path<'_>> {
    let (has_special, is_unescapable) = match scan_url(text) {
        Some(scan) => (scan.has_special, !scan.has_escapable),
        None => (has_special(text), false),
    };
    (!has_special).then_some(Path::ordinary(text, is_unescapable))
}
