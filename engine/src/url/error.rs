//! Errors for texts that are not URLs, and the maximum URL length.

use std::fmt;

/// Maximum length of a URL in bytes; a longer one is [`UrlError::TooLong`].
///
/// Bounds the work of a decision. Servers and browsers accept far less.
pub const MAX_URL_BYTES: usize = 64 * 1024;

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
    /// The host is empty, longer than [`MAX_HOST_BYTES`](crate::host::MAX_HOST_BYTES), or has a byte, escaped or not,
    /// that is invalid in a host name.
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
