//! The two errors: of a set or of what was to be compiled ([`Error`]), and of a crawler's name ([`CrawlerError`]).
//!
//! Both are opaque: `kind` says what to match on, the other methods give the details, and the text is for people.

use std::fmt;
use std::io;

use reptile_engine::format::FormatError;
use reptile_engine::token::TokenError;

use crate::agent::Crawler;

/// Why a set could not be opened, checked, asked or made.
///
/// ```
/// use reptile::{ErrorKind, Set};
/// let error = Set::from_bytes(*b"not a set").unwrap_err();
/// assert_eq!((error.kind(), error.section()), (ErrorKind::Format, Some("header")));
/// ```
pub struct Error(Box<Inner>);

enum Inner {
    Io(io::Error),
    Format(FormatError),
    Other { kind: ErrorKind, message: String },
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be read or written; [`std::error::Error::source`] is the [`io::Error`].
    Io,
    /// The bytes are not a set of this format version, or they are damaged; see [`Error::section`], [`Error::offset`],
    /// [`Error::expected`] and [`Error::found`].
    Format,
    /// The set's automata were made by another compiler, so that they cannot be made again to be compared.
    OtherCompiler,
    /// Something is over a limit. The text names the limit and what was found.
    Limit,
    /// A URL is not that of a robots.txt.
    RobotsUrl,
    /// A capture has neither a body nor an outcome that does without one.
    NoBody,
    /// A buffer for verdicts has another length than the URLs times the crawlers.
    BufferLength,
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Inner::Io(_) => ErrorKind::Io,
            Inner::Format(_) => ErrorKind::Format,
            Inner::Other { kind, .. } => *kind,
        }
    }

    /// The section of the set that is damaged, for [`ErrorKind::Format`]; `header` for the part before all sections.
    #[must_use]
    pub fn section(&self) -> Option<&'static str> {
        self.format().map(FormatError::section)
    }

    /// The offset in the section at which it is damaged, in bytes, where that is known.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.format().and_then(FormatError::offset)
    }

    /// What should have been in the set, for [`ErrorKind::Format`].
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        self.format().map(FormatError::expected)
    }

    /// What is in the set instead, for [`ErrorKind::Format`].
    #[must_use]
    pub fn found(&self) -> Option<&str> {
        self.format().map(FormatError::found)
    }

    fn format(&self) -> Option<&FormatError> {
        match &*self.0 {
            Inner::Format(error) => Some(error),
            _ => None,
        }
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(Inner::Other { kind, message: message.into() }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Inner::Io(_) => f.write_str("the file cannot be read or written"),
            Inner::Format(error) => write!(f, "not a valid set: {error}"),
            Inner::Other { message, .. } => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug.field("kind", &self.kind());
        match &*self.0 {
            Inner::Io(error) => debug.field("source", error),
            Inner::Format(error) => debug.field("format", error),
            Inner::Other { message, .. } => debug.field("message", message),
        };
        debug.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Inner::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Error {
        Error(Box::new(Inner::Format(error)))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error(Box::new(Inner::Io(error)))
    }
}

/// Why a crawler could not be resolved. The text says what to write instead, where that can be told.
pub struct CrawlerError {
    crawler: String,
    why: Why,
}

enum Why {
    Token(TokenError),
    Damaged(Error),
}

/// What is wrong with a crawler's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CrawlerErrorKind {
    /// It is empty.
    Empty,
    /// It is a list of names; [`Set::agents`](crate::Set::agents) takes each by itself.
    List,
    /// It is the `User-Agent` header of a request.
    Header,
    /// It has a version, and the set's dialect does not cut it off.
    Version,
    /// No user-agent line can name it under the set's dialect.
    Unnameable,
    /// The name is fine, but the set is damaged.
    Damaged,
}

impl CrawlerError {
    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> CrawlerErrorKind {
        match &self.why {
            Why::Token(TokenError::Empty) => CrawlerErrorKind::Empty,
            Why::Token(TokenError::List { .. }) => CrawlerErrorKind::List,
            Why::Token(TokenError::Header { .. }) => CrawlerErrorKind::Header,
            Why::Token(TokenError::Version { .. }) => CrawlerErrorKind::Version,
            Why::Token(_) => CrawlerErrorKind::Unnameable,
            Why::Damaged(_) => CrawlerErrorKind::Damaged,
        }
    }

    /// The name that most likely is meant, where one stands out.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        match &self.why {
            Why::Token(TokenError::Header { token: Some(token) } | TokenError::Version { token }) => Some(token),
            Why::Token(TokenError::Unnameable { read_as, .. }) => Some(&**read_as).filter(|name| !name.is_empty()),
            _ => None,
        }
    }

    pub(crate) fn new(crawler: &Crawler, error: TokenError) -> CrawlerError {
        CrawlerError { crawler: crawler.to_string(), why: Why::Token(error) }
    }

    pub(crate) fn damaged(crawler: &Crawler, error: Error) -> CrawlerError {
        CrawlerError { crawler: crawler.to_string(), why: Why::Damaged(error) }
    }
}

impl fmt::Display for CrawlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "crawler {:?}: ", self.crawler)?;
        match &self.why {
            Why::Token(error) => error.fmt(f),
            Why::Damaged(_) => f.write_str("cannot be looked up in the set"),
        }
    }
}

impl fmt::Debug for CrawlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CrawlerError { crawler, .. } = self;
        let mut debug = f.debug_struct("CrawlerError");
        debug.field("kind", &self.kind()).field("crawler", crawler).field("suggestion", &self.suggestion()).finish()
    }
}

impl std::error::Error for CrawlerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            Why::Token(_) => None,
            Why::Damaged(error) => Some(error),
        }
    }
}
