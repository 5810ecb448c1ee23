//! This crate's error, [`Error`], and the text of an error and its sources, [`text_of`].

use std::{fmt, io};

#[cfg(any(feature = "arrow", feature = "files"))]
use arrow_schema::ArrowError;
use reptile::{CrawlerError, CrawlerErrorKind};

/// The reason why crawlers could not be resolved, or rows could not be decided or written. The text is for people. See
/// [`Column::from_list`](crate::Column::from_list) for an example.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// The error of the destination, if it cannot be written.
    output: Option<io::Error>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A crawler's name cannot be resolved, is most likely misspelled, or occurs twice.
    Crawler,
    /// A column is unknown, occurs twice, does not fit the crawlers or the format, or none was chosen.
    Column,
    /// An array does not contain texts, lacks a URL or time column, or has inconsistent data.
    Array,
    /// The set is damaged.
    Set,
    /// There are times, but the set is not by time.
    NoTimes,
    /// The destination cannot be written.
    Output,
    /// A panic, which is a bug in this library.
    Panic,
}

impl Error {
    /// Returns the error kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), output: None }
    }

    /// Creates the error for a destination that cannot be written.
    #[cfg(feature = "files")]
    pub(crate) fn unwritable(error: io::Error) -> Error {
        Error { output: Some(error), ..Error::new(ErrorKind::Output, "cannot be written") }
    }

    /// Returns the error of the destination, if it cannot be written.
    #[must_use]
    pub fn output(&self) -> Option<&io::Error> {
        self.output.as_ref()
    }

    /// Creates the error for a caught panic, with its message.
    #[must_use]
    pub fn of_panic(panic: &(dyn std::any::Any + Send)) -> Error {
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Error::new(ErrorKind::Panic, format!("internal error, please report it: {said}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.output.as_ref()?)
    }
}

impl From<reptile::Error> for Error {
    fn from(error: reptile::Error) -> Error {
        let is_by_time = error.kind() != reptile::ErrorKind::NoTimes;
        Error::new(if is_by_time { ErrorKind::Set } else { ErrorKind::NoTimes }, text_of(&error))
    }
}

impl From<CrawlerError> for Error {
    fn from(error: CrawlerError) -> Error {
        let kind = if error.kind() == CrawlerErrorKind::Damaged { ErrorKind::Set } else { ErrorKind::Crawler };
        Error::new(kind, text_of(&error))
    }
}

#[cfg(any(feature = "arrow", feature = "files"))]
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Error {
        Error::new(ErrorKind::Array, text_of(&error))
    }
}

/// Converts the error for an Arrow stream. Escapes NUL, which the C stream interface cannot represent. The error about a
/// crawler in a row stays the source of the Arrow error, so that a binding can tell it from a damaged set.
#[cfg(feature = "arrow")]
impl From<Error> for ArrowError {
    fn from(error: Error) -> ArrowError {
        let message = error.message.replace('\0', "%00");
        match error.kind {
            ErrorKind::Array => ArrowError::InvalidArgumentError(message),
            ErrorKind::Crawler => ArrowError::ExternalError(Box::new(Error { message, ..error })),
            _ => ArrowError::ComputeError(message),
        }
    }
}

/// Returns the text of an error and all its sources, on one line: `cannot be opened: no such file`.
///
/// ```
/// use reptile_columns::text_of;
/// assert_eq!(text_of(&std::io::Error::other("no such file")), "no such file");
/// ```
#[must_use]
pub fn text_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
