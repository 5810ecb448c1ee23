//! Origins as values: the scheme, host and port that a robots.txt governs.
//!
//! URLs are split in [`super`].

use std::fmt;
use std::str::FromStr;

use super::{UrlError, split};
use crate::host::canonical;
use crate::norm::NormalForm;

/// An origin's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Scheme {
    /// `http`, default port 80.
    Http = 0,
    /// `https`, default port 443.
    Https = 1,
    /// `ftp`, default port 21.
    Ftp = 2,
}

crate::named!(Scheme, "a scheme", as_str {
    Http => "http",
    Https => "https",
    Ftp => "ftp",
});

impl Scheme {
    /// Returns the port for URLs of this scheme that do not name one.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
            Scheme::Ftp => 21,
        }
    }

    /// Returns the scheme with this name, in any letter case.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| name.eq_ignore_ascii_case(scheme.as_str().as_bytes()))
    }

    /// Returns the scheme with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Scheme> {
        Scheme::ALL.get(usize::from(number)).copied()
    }
}

impl FromStr for Scheme {
    type Err = UrlError;

    fn from_str(name: &str) -> Result<Scheme, UrlError> {
        Scheme::from_name(name.as_bytes()).ok_or(UrlError::OtherScheme)
    }
}

crate::serde_as_text!(Scheme, "a scheme");
crate::serde_as_text!(OwnedOrigin, "an origin such as https://example.com");

/// The scope of one robots.txt: a scheme, a host and a port.
///
/// An [`Origin`] borrows its host from a URL, as written there. An [`OwnedOrigin`] has a canonical host. Origins are
/// displayed as URLs, without a port that the scheme implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginOf<H> {
    /// The host, without user information and port; never empty.
    pub host: H,
    /// The scheme.
    pub scheme: Scheme,
    /// The port, or the scheme's default port if the URL names none.
    pub port: u16,
}

/// An origin whose host is as written in a URL.
///
/// Its canonical form is [`crate::host::canonical`].
pub type Origin<'a> = OriginOf<&'a [u8]>;

/// An origin whose host is in its canonical form.
///
/// Names are in lower case, with A-labels for non-ASCII names, and addresses have one spelling. URLs are looked up in
/// this form, so they never match an origin with another spelling.
///
/// ```
/// use reptile_engine::url::OwnedOrigin;
/// let origin: OwnedOrigin = "https://user@Example.com.:8443".parse()?;
/// assert_eq!(origin.to_string(), "https://example.com:8443");
/// # Ok::<(), reptile_engine::url::UrlError>(())
/// ```
pub type OwnedOrigin = OriginOf<Box<[u8]>>;

impl<H: AsRef<[u8]>> OriginOf<H> {
    /// Returns the same origin with a borrowed host.
    #[must_use]
    pub fn borrowed(&self) -> Origin<'_> {
        Origin { host: self.host.as_ref(), scheme: self.scheme, port: self.port }
    }
}

impl OwnedOrigin {
    /// Converts an origin's host to its canonical form.
    ///
    /// # Errors
    /// Returns [`UrlError::Host`] if the host is invalid. Non-ASCII names need the feature `idna`.
    pub fn new(origin: &Origin<'_>) -> Result<OwnedOrigin, UrlError> {
        let host = canonical(origin.host).ok_or(UrlError::Host)?;
        Ok(OwnedOrigin { host: host.as_bytes().into(), scheme: origin.scheme, port: origin.port })
    }

    /// Returns a URL's origin, with a canonical host.
    ///
    /// # Errors
    /// Returns an error if the text is not an absolute http, https or ftp URL with a host.
    pub fn of_url(url: impl AsRef<[u8]>) -> Result<OwnedOrigin, UrlError> {
        OwnedOrigin::new(&split(url.as_ref())?.origin)
    }

    /// Returns the origin that the robots.txt at a URL governs.
    ///
    /// Source: RFC 9309 section 2.3 and Google's specification. Only the path `/robots.txt`, in this letter case,
    /// counts, also if it is written with `.` or `..` segments or with escapes of unreserved bytes (RFC 3986 section
    /// 6.2.2).
    ///
    /// # Errors
    /// Returns an error if the text is not a URL, or not the URL of a robots.txt.
    ///
    /// ```
    /// use reptile_engine::url::OwnedOrigin;
    /// let origin = OwnedOrigin::of_robots_url(b"https://user@www.EXAMPLE.com:443/robots.txt")?;
    /// assert_eq!((&*origin.host, origin.port), (&b"www.example.com"[..], 443));
    /// assert!(OwnedOrigin::of_robots_url(b"https://example.com/folder/../robots%2Etxt").is_ok());
    /// assert!(OwnedOrigin::of_robots_url(b"https://example.com/folder/robots.txt").is_err());
    /// # Ok::<(), reptile_engine::url::RobotsUrlError>(())
    /// ```
    pub fn of_robots_url(url: &[u8]) -> Result<OwnedOrigin, RobotsUrlError> {
        let url = split(url).map_err(RobotsUrlError::NoUrl)?;
        if !url.path.with(is_robots_path) {
            return Err(RobotsUrlError::OtherPath);
        }
        OwnedOrigin::new(&url.origin).map_err(RobotsUrlError::NoUrl)
    }
}

/// Returns whether a path is `/robots.txt` in normal form.
fn is_robots_path(path: &[u8]) -> bool {
    const NAME: &[u8] = b"robots.txt";
    let Some((folders, name)) = memchr::memrchr(b'/', path).map(|slash| path.split_at(slash + 1)) else { return false };
    let may_be_escaped = name.contains(&b'%') && name.len() <= 3 * NAME.len();
    let is_robots = name == NAME || (may_be_escaped && *NormalForm::Decoded.path(name) == *NAME);
    if !is_robots || folders == b"/" {
        return is_robots;
    }
    // A query ends the path.
    if folders.first() != Some(&b'/') || folders.contains(&b'?') {
        return false;
    }
    let segments = folders[1..folders.len() - 1].split(|&byte| byte == b'/');
    let depth = segments.fold(0_usize, |depth, segment| match &*NormalForm::Decoded.path(segment) {
        b"." => depth,
        b".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    depth == 0
}

impl<H: AsRef<[u8]>> fmt::Display for OriginOf<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, String::from_utf8_lossy(self.host.as_ref()))?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

/// Parses an origin's URL, with or without a slash at its end.
impl FromStr for OwnedOrigin {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<OwnedOrigin, UrlError> {
        let split = split(url.as_bytes())?;
        if url.contains('#') || !split.path.with(|path| path == b"/") {
            return Err(UrlError::Path);
        }
        OwnedOrigin::new(&split.origin)
    }
}

/// Why a URL does not identify a robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RobotsUrlError {
    /// The text is not an http, https or ftp URL with a host.
    NoUrl(UrlError),
    /// The path is not `/robots.txt`.
    OtherPath,
}

impl fmt::Display for RobotsUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RobotsUrlError::NoUrl(error) => error.fmt(f),
            RobotsUrlError::OtherPath => f.write_str("its path is not /robots.txt"),
        }
    }
}

impl std::error::Error for RobotsUrlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_have_the_numbers_of_their_places() {
        for number in 0..=u8::MAX {
            let expected =
                [Scheme::Http, Scheme::Https, Scheme::Ftp].into_iter().find(|scheme| *scheme as u8 == number);
            assert_eq!(Scheme::from_number(number), expected, "{number}");
        }
    }
}
