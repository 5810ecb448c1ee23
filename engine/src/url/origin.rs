//! Origins as values: the scheme, host and port that a robots.txt governs.
//!
//! `canonical.rs` creates canonical origins.

use std::fmt;
use std::str::FromStr;

use super::error::UrlError;

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

impl<H: AsRef<[u8]>> fmt::Display for OriginOf<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, String::from_utf8_lossy(self.host.as_ref()))?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

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
