//! Origins: which URLs a robots.txt governs.
//!
//! An origin is a scheme, a host and a port. The form of the host is the engine's ([`reptile_engine::host`]); the
//! mapping of names beyond ASCII, UTS 46, is here, where its tables are.

use std::fmt;

use reptile_engine::host::canonical;
use reptile_engine::url::{Origin, Scheme, UrlError, split};

/// An origin that a robots.txt is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnedOrigin {
    /// The host, in the form that [`OwnedOrigin::new`] gives it. Another spelling is found by no URL.
    pub host: Box<[u8]>,
    /// The scheme.
    pub scheme: Scheme,
    /// The port.
    pub port: u16,
}

impl OwnedOrigin {
    /// The origin with its host in the form in which hosts are compared: an A-label for a name beyond ASCII, lower case,
    /// addresses in one spelling.
    ///
    /// # Errors
    /// [`UrlError::Host`] when nothing can be at such a host.
    pub fn new(origin: &Origin<'_>) -> Result<OwnedOrigin, UrlError> {
        let host = canonical(origin.host).ok_or(UrlError::Host)?;
        Ok(OwnedOrigin { host: host.as_bytes().into(), scheme: origin.scheme, port: origin.port })
    }

    /// The origin that the robots.txt at a URL governs.
    ///
    /// Source: RFC 9309 section 2.3, Google's specification of robots.txt: only `/robots.txt`, in this case, counts.
    ///
    /// # Errors
    /// When the text is no URL, or not that of a robots.txt.
    ///
    /// ```
    /// use reptile_compiler::set::origin::OwnedOrigin;
    /// let origin = OwnedOrigin::of_robots_url("https://user@www.EXÄMPLE.com:443/robots.txt".as_bytes())?;
    /// assert_eq!((&*origin.host, origin.port), (&b"www.xn--exmple-cua.com"[..], 443));
    /// assert!(OwnedOrigin::of_robots_url(b"https://example.com/folder/robots.txt").is_err());
    /// # Ok::<(), reptile_compiler::set::origin::RobotsUrlError>(())
    /// ```
    pub fn of_robots_url(url: &[u8]) -> Result<OwnedOrigin, RobotsUrlError> {
        let url = split(url).map_err(RobotsUrlError::NoUrl)?;
        if !url.path.with(|path| path == b"/robots.txt") {
            return Err(RobotsUrlError::OtherPath);
        }
        OwnedOrigin::new(&url.origin).map_err(RobotsUrlError::NoUrl)
    }
}

/// The URL of the robots.txt.
impl fmt::Display for OwnedOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = String::from_utf8_lossy(&self.host);
        write!(f, "{}://{host}", self.scheme.name())?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        f.write_str("/robots.txt")
    }
}

/// Why a URL is not that of a robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RobotsUrlError {
    /// It is no http, https or ftp URL with a host.
    NoUrl(UrlError),
    /// Its path is not `/robots.txt`.
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
