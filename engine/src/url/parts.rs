//! URLs in parts, as indexes of web archives store them: what is known of an ordinary one without joining it.

use super::{MAX_HOST_BYTES, MAX_URL_BYTES, Path, Scheme, has_special};
use crate::host;
use crate::platform::scan_url;

/// A URL in the parts into which an index has split it. It means the text that [`UrlParts::join`] makes, whatever is in the
/// parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'u> {
    /// What comes before `://`.
    pub scheme: &'u [u8],
    /// What comes after it.
    pub host: &'u [u8],
    /// What comes after a `:`, if anything does.
    pub port: Option<&'u [u8]>,
    /// The path, which begins with a slash.
    pub path: &'u [u8],
    /// What comes after a `?`, if anything does.
    pub query: Option<&'u [u8]>,
    /// A number of this host among those of a table, such as a dictionary of hosts, so that it need not be looked up again;
    /// see [`KnownHosts`](crate::set::KnownHosts). A wrong number costs time and changes no verdict.
    pub host_number: Option<usize>,
}

impl<'u> UrlParts<'u> {
    /// Appends the URL as one text.
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

    /// What the joined text consists of: first what comes before the path, then the path and the query.
    #[inline]
    fn pieces(&self) -> [&'u [u8]; 8] {
        let with = |lead: &'static [u8], part: Option<&'u [u8]>| part.map_or([&b""[..]; 2], |part| [lead, part]);
        let ([colon, port], [mark, query]) = (with(b":", self.port), with(b"?", self.query));
        [self.scheme, b"://", self.host, colon, port, self.path, mark, query]
    }

    /// Bytes of the joined text.
    #[inline]
    pub(crate) fn joined_len(&self) -> usize {
        self.path_start() + self.path.len() + self.query.map_or(0, |query| 1 + query.len())
    }

    /// Bytes of the joined text before the path.
    #[inline]
    pub(crate) fn path_start(&self) -> usize {
        self.scheme.len() + b"://".len() + self.host.len() + self.port.map_or(0, |port| 1 + port.len())
    }

    /// The scheme, if neither that nor the length of the URL, its port or the start of its path make it unusual.
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

/// Room for URLs that are joined, one after the other.
pub(crate) struct Room<'t>(pub(crate) &'t mut [u8]);

impl<'t> Room<'t> {
    /// The joined text of a URL. There must be room for it.
    #[inline]
    pub(crate) fn join(&mut self, url: &UrlParts<'_>) -> &'t [u8] {
        let len = url.joined_len();
        debug_assert!(len <= self.0.len());
        let text = self.0.split_off_mut(..len).unwrap_or_default();
        let mut rest = &mut *text;
        for piece in url.pieces() {
            if let Some(to) = rest.split_off_mut(..piece.len()) {
                to.copy_from_slice(piece);
            }
        }
        text
    }
}

/// Whether a host is a name of lower-case letters, digits, `-` and `.` that is plain as [`crate::host::is_plain`] says. A URL in
/// which such a host comes after the scheme, and a slash after the host, has it as its host.
pub(crate) fn is_ordinary_host(host: &[u8]) -> bool {
    let is_name = |&byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (1..=MAX_HOST_BYTES).contains(&host.len()) && host.iter().all(is_name) && host::is_plain(host)
}

/// The path of a URL that has this text from its first slash on. `None` if a fragment begins in it, or if it has a byte that
/// makes the URL invalid.
#[inline]
pub(crate) fn ordinary_path(text: &[u8]) -> Option<Path<'_>> {
    let (has_special, is_unescapable) = match scan_url(text) {
        Some(scan) => (scan.has_special, !scan.has_escapable),
        None => (has_special(text), false),
    };
    (!has_special).then_some(Path::ordinary(text, is_unescapable))
}
