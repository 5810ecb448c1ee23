//! Errors: [`Error`] for opening, querying or compiling a set, and [`CrawlerError`] for a crawler's name.
//!
//! Both are opaque: match on `kind`; the other methods give the details, and the text is for people.

use std::fmt;
use std::io;

use reptile_engine::format::FormatError;
use reptile_engine::spec::SpecError;
use reptile_engine::token::TokenError;

use crate::crawler::Crawler;

/// The reason why a set could not be opened, verified, queried or compiled.
///
/// ```
/// use reptile::{ErrorKind, Set};
/// let error = Set::from_bytes(*b"not a set").unwrap_err();
/// assert_eq!((error.kind(), error.section()), (ErrorKind::Format, Some("header")));
/// ```
pub struct Error(Box<ErrorDetail>);

enum ErrorDetail {
    Io(io::Error),
    Format(FormatError),
    #[cfg_attr(not(feature = "compile"), allow(dead_code, reason = "only compilers merge sets"))]
    AddedSet {
        number: usize,
        error: Error,
    },
    Other {
        kind: ErrorKind,
        message: String,
    },
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be read or written; [`std::error::Error::source`] is the [`io::Error`].
    Io,
    /// The bytes are not a set in this format version, or they are damaged; see [`Error::section`],
    /// [`Error::offset`], [`Error::expected`] and [`Error::found`].
    Format,
    /// The set's automata come from a compiler with another construction, so this version cannot compile them again
    /// for comparison.
    OtherCompiler,
    /// A size exceeds a limit. The text names the limit and the actual size.
    Limit,
    /// The rules in a robots.txt would take too many steps to decide a URL.
    Steps,
    /// A URL is not a robots.txt URL.
    RobotsUrl,
    /// Sets cannot be merged: they have different settings, or different files for one origin without times to choose
    /// by.
    Merge,
    /// A capture has no body, although its outcome requires one.
    NoBody,
    /// A text that was passed as a robots.txt is a URL, a path or a file name.
    NotRobots,
    /// The length of a verdict buffer is not the number of URLs times the number of crawlers, or the number of times
    /// is not the number of URLs.
    BufferLength,
    /// A query for a time, on a set that is not by time or has replaced sites.
    NoTimes,
    /// A question about all paths of an origin that has no robots.txt in the set.
    UnknownOrigin,
    /// The name of a crawler is invalid.
    Crawler,
}

impl Error {
    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            ErrorDetail::Io(_) => ErrorKind::Io,
            ErrorDetail::Format(_) => ErrorKind::Format,
            ErrorDetail::AddedSet { error, .. } => error.kind(),
            ErrorDetail::Other { kind, .. } => *kind,
        }
    }

    /// Returns the damaged section, for [`ErrorKind::Format`]; `header` for the part before all sections.
    #[must_use]
    pub fn section(&self) -> Option<&'static str> {
        self.format().map(FormatError::section)
    }

    /// Returns the damage's offset in the section in bytes, if it is known.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.format().and_then(FormatError::offset)
    }

    /// Returns the expected content, for [`ErrorKind::Format`].
    #[must_use]
    pub fn expected(&self) -> Option<&str> {
        self.format().map(FormatError::expected)
    }

    /// Returns the actual content, for [`ErrorKind::Format`].
    #[must_use]
    pub fn found(&self) -> Option<&str> {
        self.format().map(FormatError::found)
    }

    fn format(&self) -> Option<&FormatError> {
        match &*self.0 {
            ErrorDetail::Format(error) => Some(error),
            ErrorDetail::AddedSet { error, .. } => error.format(),
            _ => None,
        }
    }

    /// Returns the number of the set that cannot be merged, counted from 0 in the order of
    /// [`Compiler::add_set`](crate::Compiler::add_set); `None` if the error has another cause.
    /// [`std::error::Error::source`] is the reason.
    #[cfg(feature = "compile")]
    #[must_use]
    pub fn added_set(&self) -> Option<usize> {
        match &*self.0 {
            ErrorDetail::AddedSet { number, .. } => Some(*number),
            _ => None,
        }
    }

    /// Returns an error about the set that was added as number `number`, counted from 0.
    #[cfg(feature = "compile")]
    pub(crate) fn of_added_set(number: usize, error: Error) -> Error {
        Error(Box::new(ErrorDetail::AddedSet { number, error }))
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(ErrorDetail::Other { kind, message: message.into() }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            ErrorDetail::Io(_) => f.write_str("the file cannot be read or written"),
            ErrorDetail::Format(error) => write!(f, "not a valid set: {error}"),
            ErrorDetail::AddedSet { number, .. } => write!(f, "added set {}", number + 1),
            ErrorDetail::Other { message, .. } => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug.field("kind", &self.kind());
        match &*self.0 {
            ErrorDetail::Io(error) => debug.field("source", error),
            ErrorDetail::Format(error) => debug.field("format", error),
            ErrorDetail::AddedSet { number, error } => debug.field("added_set", number).field("error", error),
            ErrorDetail::Other { message, .. } => debug.field("message", message),
        };
        debug.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorDetail::Io(error) => Some(error),
            ErrorDetail::AddedSet { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Error {
        Error(Box::new(ErrorDetail::Format(error)))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error(Box::new(ErrorDetail::Io(error)))
    }
}

/// The reason why a crawler could not be resolved. The text says what to write instead, if that is known.
pub struct CrawlerError {
    crawler: String,
    why: CrawlerFault,
}

enum CrawlerFault {
    Spec(SpecError),
    Token(TokenError),
    Damaged(Error),
}

/// The kind of a [`CrawlerError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CrawlerErrorKind {
    /// The name is empty.
    Empty,
    /// The name is a list of names; [`Set::agents`](crate::Set::agents) takes several names.
    List,
    /// The name is a request's `User-Agent` header.
    Header,
    /// The name has a version, which the set's dialect does not cut off.
    Version,
    /// Under the set's dialect no user-agent line can contain this name.
    Unnameable,
    /// No group of crawlers has this name; see [`Set::crawlers_named`](crate::Set::crawlers_named).
    Group,
    /// A chain of product tokens has an empty name, or a `*` before its end.
    Chain,
    /// The name is valid, but the set is damaged.
    Damaged,
}

impl CrawlerError {
    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> CrawlerErrorKind {
        match &self.why {
            CrawlerFault::Spec(SpecError::UnknownGroup(_)) => CrawlerErrorKind::Group,
            CrawlerFault::Spec(_) => CrawlerErrorKind::Chain,
            CrawlerFault::Token(TokenError::Empty) => CrawlerErrorKind::Empty,
            CrawlerFault::Token(TokenError::List { .. }) => CrawlerErrorKind::List,
            CrawlerFault::Token(TokenError::Header { .. }) => CrawlerErrorKind::Header,
            CrawlerFault::Token(TokenError::Version { .. }) => CrawlerErrorKind::Version,
            CrawlerFault::Token(_) => CrawlerErrorKind::Unnameable,
            CrawlerFault::Damaged(_) => CrawlerErrorKind::Damaged,
        }
    }

    /// Returns the name that was most likely meant, if there is a clear one.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        match &self.why {
            CrawlerFault::Token(TokenError::Header { token: Some(token) } | TokenError::Version { token }) => {
                Some(token)
            }
            CrawlerFault::Token(TokenError::Unnameable { read_as, .. }) => {
                Some(&**read_as).filter(|name| !name.is_empty())
            }
            _ => None,
        }
    }

    pub(crate) fn of_spec(text: &str, error: SpecError) -> CrawlerError {
        CrawlerError { crawler: text.to_owned(), why: CrawlerFault::Spec(error) }
    }

    pub(crate) fn new(crawler: &Crawler, error: TokenError) -> CrawlerError {
        CrawlerError { crawler: crawler.to_string(), why: CrawlerFault::Token(error) }
    }

    pub(crate) fn damaged(crawler: &Crawler, error: Error) -> CrawlerError {
        CrawlerError { crawler: crawler.to_string(), why: CrawlerFault::Damaged(error) }
    }
}

impl fmt::Display for CrawlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let crawler = &self.crawler;
        match &self.why {
            CrawlerFault::Spec(error) => error.fmt(f),
            CrawlerFault::Token(error) => write!(f, "crawler {crawler:?}: {error}"),
            CrawlerFault::Damaged(_) => write!(f, "crawler {crawler:?}: cannot be looked up in the set"),
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
            CrawlerFault::Spec(_) | CrawlerFault::Token(_) => None,
            CrawlerFault::Damaged(error) => Some(error),
        }
    }
}
