//! Origins with a canonical host, from URLs.

use std::fmt;
use std::str::FromStr;

use super::error::UrlError;
use super::origin::{Origin, OwnedOrigin};
use super::split;
use crate::host::canonical;
use crate::norm::NormalForm;

crate::serde_as_text!(OwnedOrigin, "an origin such as https://example.com");

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
